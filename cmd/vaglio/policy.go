package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/operation"
)

// maxPolicy bounds the policy file, in bytes.
const maxPolicy = 4 << 20

// policy is the structured part of the configuration.
type policy struct {
	// catalog is what is known of executors; nil knows none.
	catalog *catalog.Catalog
	// judges follow the judge that METNOS_JUDGE_KIND names, in order.
	judges []validation
	// routing says who may decide what, and where.
	routing approval.Routing
	// programs say what programs reach that vaglio does not know.
	programs map[string]operation.Reach
	// path is the file's, for the guard to keep; empty when there is none.
	path string
	// text is what the file holds, to find the place of a mistake in.
	text []byte
}

// defaultPolicy is what holds without a file, and for what a file leaves out:
// it knows no executor, is open, and has the effects judged.
func defaultPolicy() policy {
	return policy{judges: []validation{{Type: typeEffects}}}
}

// policyFile is the file as an operator writes it.
type policyFile struct {
	catalog.Config `yaml:",inline"`
	Approval       *routingFile `yaml:"approval"`
	// Programs teach what an unknown program reaches, by its name.
	Programs  map[string]operation.Reach `yaml:"programs"`
	Execution *struct {
		ToolValidation *[]validation `yaml:"tool_validation"`
	} `yaml:"execution"`
}

// loadPolicy reads the policy file; an empty path is the default policy.
func loadPolicy(path, home string) (policy, error) {
	if path == "" {
		return defaultPolicy(), nil
	}
	return readPolicy(path, home)
}

// readPolicy reads the policy file strictly: an unknown key is a mistake, and
// the mistake says where it is.
func readPolicy(path, home string) (policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %w", plain(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %w", plain(err))
	}
	if len(b) > maxPolicy {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s is longer than %d bytes", path, maxPolicy)
	}
	p, err := parsePolicy(path, b, home)
	if err != nil {
		return policy{}, err
	}
	if p.path, err = filepath.Abs(path); err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %w", plain(err))
	}
	return p, nil
}

// parsePolicy reads a policy. name is the file's, for the mistakes: all of them
// are told, in the order in which they stand.
func parsePolicy(name string, b []byte, home string) (policy, error) {
	found := policyMistakes{name: name, text: b}
	f, err := found.read()
	if err != nil {
		return policy{}, err
	}
	p := defaultPolicy()
	if f.Execution != nil && f.Execution.ToolValidation != nil {
		p.judges = *f.Execution.ToolValidation
	}
	found.validations(p.judges)
	f.Home = home
	p.routing, err = f.Approval.routing()
	found.routing(err)
	p.catalog, err = catalog.New(f.Config)
	found.catalog(err)
	p.programs, p.text = f.Programs, b
	_, err = newEffects(config{}, policy{programs: f.Programs})
	found.programs(err)
	if err := found.err(); err != nil {
		return policy{}, err
	}
	return p, nil
}
