// Package policyfile reads the policy file: what is known of executors, which
// judges follow the rules, and who may decide what. Every mistake is told with its
// place.
package policyfile

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// maxPolicy bounds the policy file, in bytes.
const maxPolicy = 4 << 20

// Policy is the structured part of the configuration.
type Policy struct {
	// Catalog is what is known of executors; nil knows none.
	Catalog *catalog.Catalog
	// Judges follow the judge that METNOS_JUDGE_KIND names, in order.
	Judges []Validation
	// Routing says who may decide what, and where.
	Routing approval.Routing
	// Programs say what programs reach that vaglio does not know.
	Programs map[string]operation.Reach
	// Thinking is what is said of judges that ask models.
	Thinking Thinking
	// Workspaces are the folders in which agents may work.
	Workspaces []string
	// ResumeURLs are what addresses may begin with that are told how a call ended.
	ResumeURLs []hosts.Prefix
	// Path is the file's, for the guard to keep; empty when there is none.
	Path string
	// text is what the file holds, to find the place of a mistake in.
	text []byte
}

// Default is what holds without a file, and for what a file leaves out:
// it knows no executor, is open, and has the effects judged.
func Default() Policy {
	return Policy{Judges: []Validation{{Type: TypeEffects}}}
}

// policyFile is the file as an operator writes it.
type policyFile struct {
	catalog.Config `yaml:",inline"`
	// Approval says who may decide what (docs/approvers.md); left out, each person who
	// may decide decides alone.
	Approval *routingFile `yaml:"approval"`
	// Programs teach what a program reaches that vaglio does not know, by its name:
	// workspace, user, system, shared or public.
	Programs map[string]operation.Reach `yaml:"programs"`
	// Workspaces are the folders in which agents may work, and that judge agents may
	// be shown; none leaves it to the client and to the first call of a session.
	Workspaces []string `yaml:"workspaces"`
	// ResumeURLs are what the addresses begin with that an agent may have told how a
	// call ended; none allows none.
	ResumeURLs []string `yaml:"resume_urls"`
	// Execution says which judges follow that of METNOS_JUDGE_KIND; left out, effects.
	Execution *execution `yaml:"execution"`
	// Spec may hold execution, as its origin writes it.
	Spec *struct {
		// Execution is the same.
		Execution *execution `yaml:"execution"`
	} `yaml:"spec"`
	Thinking Thinking `yaml:",inline"`
}

type execution struct {
	// ToolValidation are the judges, in order: all must pass, and the first that
	// rejects decides. An empty list leaves the first judge alone.
	ToolValidation *[]Validation `yaml:"tool_validation"`
}

// judging is the file's execution, and the path at which its judges stand.
func (f *policyFile) judging() (e *execution, at []string) {
	if f.Spec != nil && f.Spec.Execution != nil {
		return f.Spec.Execution, []string{"spec", "execution", "tool_validation"}
	}
	return f.Execution, []string{"execution", "tool_validation"}
}

// Text returns what the file holds; none without a file.
func (p *Policy) Text() []byte { return p.text }

// Load reads the policy file; an empty path is the default policy.
func Load(path, home string) (Policy, error) {
	if path == "" {
		return Default(), nil
	}
	return Read(path, home)
}

// Read reads the policy file strictly: an unknown key is a mistake, and
// the mistake says where it is.
func Read(path, home string) (Policy, error) {
	b, whole, err := regular.ReadTrusted(path, maxPolicy)
	if err != nil {
		return Policy{}, fmt.Errorf("METNOS_POLICY: %w", datafolder.Plain(err))
	}
	if !whole {
		return Policy{}, fmt.Errorf("METNOS_POLICY: %s is longer than %d bytes", path, maxPolicy)
	}
	p, err := Parse(path, b, home)
	if err != nil {
		return Policy{}, err
	}
	if p.Path, err = filepath.Abs(path); err != nil {
		return Policy{}, fmt.Errorf("METNOS_POLICY: %w", datafolder.Plain(err))
	}
	return p, nil
}

// Parse reads a policy. name is the file's, for the mistakes: all of them
// are told, in the order in which they stand.
func Parse(name string, b []byte, home string) (Policy, error) {
	found := mistakes{name: name, text: b}
	f, err := found.read()
	if err != nil {
		return Policy{}, err
	}
	p := Default()
	judging, at := f.judging()
	if judging != nil && judging.ToolValidation != nil {
		p.Judges = *judging.ToolValidation
	}
	if f.Execution != nil && judging != f.Execution {
		found.at("execution stands here and below spec; write it in one place", "execution")
	}
	found.validations(p.Judges, at)
	found.thinking(&f.Thinking, p.Judges, at, home)
	p.Thinking = f.Thinking
	f.Home = home
	p.Routing, err = f.Approval.routing()
	found.routing(err)
	p.Catalog, err = catalog.New(f.Config)
	found.executors(err)
	found.skips(f.Executors)
	p.Programs, p.text = f.Programs, b
	_, err = effects.New(effects.Options{Programs: f.Programs})
	found.programs(err)
	for i, folder := range f.Workspaces {
		if wrong := vaglio.WorkspaceMistake(folder, home, workfiles.Disk{}); wrong != "" {
			found.at(fmt.Sprintf("workspaces: %q %s", folder, wrong), "workspaces", strconv.Itoa(i))
		}
		p.Workspaces = append(p.Workspaces, place.Local(folder, home))
	}
	for i, text := range f.ResumeURLs {
		allowed, err := hosts.ParsePrefix(text)
		if err != nil {
			found.at(fmt.Sprintf("resume_urls: entry %d %v", i+1, err), "resume_urls", strconv.Itoa(i))
		}
		p.ResumeURLs = append(p.ResumeURLs, allowed)
	}
	if err := found.err(); err != nil {
		return Policy{}, err
	}
	return p, nil
}
