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

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
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
	if p.routing, err = f.Approval.routing(); err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s: approval: %w", name, err)
	}
	if p.catalog, err = catalog.New(f.Config); err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s", catalogMistakes(name, b, err))
	}
	p.programs = f.Programs
	if _, err := newEffects(config{}, p); err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s", programMistakes(name, b, err))
	}
	return p, nil
}

// yamlMistake returns the library's error as "line:column: text", without the
// excerpt of the file that it adds.
func yamlMistake(err error) string {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		at := e.GetToken().Position
		return fmt.Sprintf("%d:%d: %s", at.Line, at.Column, plainYAML(e.GetMessage()))
	}
	return " " + err.Error()
}

// catalogMistakes tells what is wrong with the executors, each with its place.
func catalogMistakes(name string, text []byte, err error) string {
	var all []string
	for _, one := range joined(err) {
		m, ok := errors.AsType[*catalog.MistakeError](one)
		if !ok {
			all = append(all, name+": "+one.Error())
			continue
		}
		path := fmt.Sprintf("$.executors[%d]", m.Index)
		if m.Field != "" {
			path += "." + m.Field
		}
		place := name + ":"
		if at, ok := position(text, path); ok {
			place += at + ":"
		}
		all = append(all, place+" "+strings.TrimPrefix(m.Error(), "catalog: "))
	}
	return strings.Join(all, "; ")
}

// programMistakes tells what is wrong with the taught programs, each with its
// place.
func programMistakes(name string, text []byte, err error) string {
	var all []string
	for _, one := range joined(err) {
		place := name + ":"
		if m, ok := errors.AsType[*effects.ProgramError](one); ok {
			if at, ok := position(text, "$.programs.'"+m.Name+"'"); ok {
				place += at + ":"
			}
		}
		all = append(all, place+" programs: "+one.Error())
	}
	return strings.Join(all, "; ")
}

// joined takes an error apart that errors.Join made.
func joined(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// plainYAML says a message of the library without the names of Go.
func plainYAML(message string) string {
	if field, ok := strings.CutPrefix(message, "unknown field "); ok {
		if best := nearestKey(strings.Trim(field, `"`)); best != "" {
			message += fmt.Sprintf("; did you mean %q?", best)
		}
		return message
	}
	if got, want, ok := strings.Cut(message, " was used where "); ok {
		return fmt.Sprintf("this is %s; %s is wanted", kindWords(got), kindWords(strings.TrimSuffix(want, " is expected")))
	}
	rest, ok := strings.CutPrefix(message, "cannot unmarshal ")
	if !ok {
		return message
	}
	got, rest, _ := strings.Cut(rest, " into ")
	want := rest[strings.LastIndexByte(rest, ' ')+1:]
	return fmt.Sprintf("this is %s; %s is wanted", kindWords(got), kindWords(want))
}

// kindWords says a type of Go or YAML to a person.
func kindWords(kind string) string {
	switch {
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"), kind == "number":
		return "a number"
	case strings.HasPrefix(kind, "[]"), kind == "sequence", kind == "array", kind == "Array":
		return "a list"
	case strings.HasPrefix(kind, "map"), kind == "object", kind == "mapping", strings.Contains(kind, "."):
		return "a mapping"
	}
	return kind
}

// nearestKey returns the key of a policy that one slip or two turn into what
// was written, empty when there is none.
func nearestKey(written string) string {
	best, least := "", 3
	for _, key := range []string{
		"executors", "closed", "programs", "execution", "tool_validation", "type", "judge_agent", "criteria", "min_score", "min_confidence", "timeout_seconds",
		"name", "args_schema", "capabilities", "hint", "critical", "skip_judge", "shell", "annotations", "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint",
	} {
		if d := distance(strings.ToLower(written), strings.ToLower(key)); d < least && d < len(key)/2 {
			best, least = key, d
		}
	}
	return best
}
