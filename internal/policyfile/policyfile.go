// Package policyfile reads the policy file: what is known about executors, which judges follow
// METNOS_JUDGE_KIND's, and who may decide what. Every mistake is reported with its position.
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

// maxPolicy is the maximum size of the policy file, in bytes.
const maxPolicy = 4 << 20

// Policy is the structured part of the configuration.
type Policy struct {
	// Catalog is what is known about executors; nil knows none.
	Catalog *catalog.Catalog
	// Judges follow the judge that METNOS_JUDGE_KIND names, in order.
	Judges []Validation
	// Routing says who may decide what, and where.
	Routing approval.Routing
	// Programs say what programs reach that vaglio does not know.
	Programs map[string]operation.Reach
	// Thinking configures the judges that ask models.
	Thinking Thinking
	// Workspaces are the folders in which agents may work.
	Workspaces []string
	// ResumeURLs are the permitted prefixes of addresses that are told how a call ended.
	ResumeURLs []hosts.Prefix
	// Path is the file's path, which the guard protects; empty if there is no file.
	Path string
	// text is the file's content, used to find the position of a mistake.
	text []byte
}

// Default returns the policy that applies without a file, and to what a file leaves out: it knows no
// executor, accepts any, and has effects judged.
func Default() Policy {
	return Policy{Judges: []Validation{{Type: TypeEffects}}}
}

// policyFile is the file as an operator writes it.
type policyFile struct {
	catalog.Config `yaml:",inline"`
	// Approval says who may decide what (docs/approvers.md); left out, everyone who may decide can
	// decide alone.
	Approval *routingFile `yaml:"approval"`
	// Programs says how far programs that vaglio does not know reach, each by its name: workspace,
	// user, system, shared or public.
	Programs map[string]operation.Reach `yaml:"programs"`
	// Workspaces are the folders that agents may work in and judge agents may be shown; left out,
	// the client and the first call of a session decide.
	Workspaces []string `yaml:"workspaces"`
	// ResumeURLs are the permitted prefixes of the addresses to which an agent may have the end of
	// a call reported; left out, none is permitted.
	ResumeURLs []string `yaml:"resume_urls"`
	// Execution says which judges follow the one of METNOS_JUDGE_KIND; left out, effects.
	Execution *execution `yaml:"execution"`
	// Spec is another place for execution, for files that nest it here.
	Spec *struct {
		// Execution is the same as at the top.
		Execution *execution `yaml:"execution"`
	} `yaml:"spec"`
	Thinking Thinking `yaml:",inline"`
}

type execution struct {
	// ToolValidation is the list of judges, in order: all must pass, and the first that rejects
	// decides. An empty list leaves only the first judge.
	ToolValidation *[]Validation `yaml:"tool_validation"`
}

// judging returns the file's execution, and the path of its list of judges.
func (f *policyFile) judging() (e *execution, at []string) {
	if f.Spec != nil && f.Spec.Execution != nil {
		return f.Spec.Execution, []string{"spec", "execution", "tool_validation"}
	}
	return f.Execution, []string{"execution", "tool_validation"}
}

// Text returns the file's content; nil without a file.
func (p *Policy) Text() []byte { return p.text }

// Load reads the policy file; an empty path means the default policy.
func Load(path, home string) (Policy, error) {
	if path == "" {
		return Default(), nil
	}
	return Read(path, home)
}

// Read reads the policy file strictly: an unknown key is an error, and the error says where it is.
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

// Parse parses a policy. name is the file's name for errors. Parse reports all mistakes, in the
// order of the file.
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
		found.at("execution is given here and below spec; write it in one place", "execution")
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
