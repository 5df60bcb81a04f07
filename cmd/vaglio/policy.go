package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/metnos/vaglio/vaglio/catalog"
)

// maxPolicy bounds the policy file, in bytes.
const maxPolicy = 4 << 20

// policy is the structured part of the configuration.
type policy struct {
	// catalog is what is known of executors; nil knows none.
	catalog *catalog.Catalog
	// judges follow the judge that METNOS_JUDGE_KIND names, in order.
	judges []validation
	// path is the file's, for the guard to keep; empty when there is none.
	path string
}

// defaultPolicy is what holds without a file, and for what a file leaves out:
// it knows no executor, is open, and has the effects judged.
func defaultPolicy() policy {
	return policy{judges: []validation{{Type: typeEffects}}}
}

// policyFile is the file as an operator writes it.
type policyFile struct {
	catalog.Config `yaml:",inline"`
	Execution      *struct {
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

// parsePolicy reads a policy. name is the file's, for the mistakes.
func parsePolicy(name string, b []byte, home string) (policy, error) {
	var f policyFile
	dec := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict())
	switch err := dec.Decode(&f); {
	case errors.Is(err, io.EOF):
		return policy{}, fmt.Errorf("METNOS_POLICY: %s is empty", name)
	case err != nil:
		return policy{}, fmt.Errorf("METNOS_POLICY: %s:%s", name, yamlMistake(err))
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s holds more than one document", name)
	}
	p := defaultPolicy()
	if f.Execution != nil && f.Execution.ToolValidation != nil {
		p.judges = *f.Execution.ToolValidation
	}
	if err := checkValidations(p.judges); err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s:%s", name, placeOf(b, err))
	}
	f.Home = home
	var err error
	if p.catalog, err = catalog.New(f.Config); err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s: %s", name, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return p, nil
}

// yamlMistake returns the library's error as "line:column: text", without the
// excerpt of the file that it adds.
func yamlMistake(err error) string {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		at := e.GetToken().Position
		return fmt.Sprintf("%d:%d: %s", at.Line, at.Column, e.GetMessage())
	}
	return " " + err.Error()
}
