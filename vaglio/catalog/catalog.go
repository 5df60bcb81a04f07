// Package catalog knows executors: the schema of their arguments, the scope that they declared, and
// the operator's marks. It finds errors of shape and scope, which are answered before vaglio is
// asked.
package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Catalog holds what is known about executors. It is safe for concurrent use.
type Catalog struct {
	known  map[string]*entry
	closed bool
	home   string
}

// Config is a catalog in the form that an operator writes.
type Config struct {
	// Executors lists the known tools.
	Executors []Executor `json:"executors" yaml:"executors"`
	// Closed refuses every executor that is not listed.
	Closed bool `json:"closed" yaml:"closed"`
	// Home replaces ~ in hints and paths; empty makes such paths out of scope.
	Home string `json:"-" yaml:"-"`
}

// Executor is one named tool.
type Executor struct {
	// Name is the tool's name, as agents call it.
	Name string `json:"name" yaml:"name"`
	// ArgsSchema is a JSON Schema for the arguments, draft 2020-12 unless it names another; left
	// out, all arguments are accepted. It may not refer to other files.
	ArgsSchema any `json:"args_schema,omitzero" yaml:"args_schema,omitempty"`
	// Capabilities limit where the executor may reach.
	Capabilities []Capability `json:"capabilities,omitempty" yaml:"capabilities,omitempty"`
	// Critical says, when false, that the executor only reads; left out, the caller's word
	// counts.
	Critical *bool `json:"critical,omitempty" yaml:"critical,omitempty"`
	// SkipJudge skips the judges, but never the guard, the schema or the scope.
	SkipJudge bool `json:"skip_judge,omitzero" yaml:"skip_judge,omitempty"`
	// Shell marks an executor whose command is run by a shell.
	Shell bool `json:"shell,omitzero" yaml:"shell,omitempty"`
	// Annotations are the hints of the executor's maker, under their MCP names. They count only
	// where nothing better is known.
	Annotations *Annotations `json:"annotations,omitempty" yaml:"annotations,omitempty"`
}

// Annotations are an MCP server's hints about a tool, under the names of the MCP specification
// (2025-06-18). Nobody vouches for them: they only count if nothing better is known about an executor,
// and never make a call look better than its name and arguments do. Nil means that a hint was not
// given; the specification's defaults are not filled in.
type Annotations struct {
	// Title is the tool's name for people.
	Title string `json:"title,omitempty" yaml:"title,omitempty"`
	// ReadOnlyHint says that the tool changes nothing in its environment.
	ReadOnlyHint *bool `json:"readOnlyHint,omitempty" yaml:"readOnlyHint,omitempty"`
	// DestructiveHint says whether the tool's changes may destroy something.
	DestructiveHint *bool `json:"destructiveHint,omitempty" yaml:"destructiveHint,omitempty"`
	// IdempotentHint says that repeating a call with the same arguments changes nothing more. It
	// is stored but not used.
	IdempotentHint *bool `json:"idempotentHint,omitempty" yaml:"idempotentHint,omitempty"`
	// OpenWorldHint says whether the tool reaches beyond a closed set of things, for example to
	// the web. It is stored but not used.
	OpenWorldHint *bool `json:"openWorldHint,omitempty" yaml:"openWorldHint,omitempty"`
}

// Capability is one class of what an executor may do, such as "fs:read" or "network:http", with
// hints that limit it. Hints say where, not what: they cannot distinguish reading from writing. A
// capability without hints limits nothing.
//
// Hints of fs capabilities are globs over absolute paths: "*" and "?" stay within one path segment,
// "**" crosses segments, and a trailing "/**" means the folder and everything below it; ~ is the
// home folder. "arg:name" leaves that argument to the caller. Hints of network capabilities are
// hosts; "*.d" means d and all its subdomains.
type Capability struct {
	// Name is the class, such as fs:read or network:http.
	Name string `json:"name" yaml:"name"`
	// Hint limits how far the capability goes: globs over absolute paths, where ** crosses folders
	// and ~ is the home folder; arg:NAME for an argument that is left to the caller; or hosts.
	// Left out, there is no limit.
	Hint []string `json:"hint,omitempty" yaml:"hint,omitempty"`
}

// entry is an executor with its schema and scopes compiled.
type entry struct {
	Executor
	schema *jsonschema.Schema
	paths  *pathScope
	hosts  *hostScope
}

// Kind is the class of an [Error].
type Kind string

// The classes of errors.
const (
	KindSchema  Kind = "schema"
	KindScope   Kind = "scope"
	KindUnknown Kind = "unknown_executor"
)

// Error says why a call's arguments are refused. It contains names and limits, never a value from
// the arguments.
type Error struct {
	Kind Kind
	// Executor is the requested name.
	Executor string
	// Field is the JSON pointer into the arguments to the first failure.
	Field string
	// Msg lists all failures, each with its field.
	Msg string
}

// Error lists all failures.
func (e *Error) Error() string { return e.Msg }

// MistakeError is a mistake in one executor of a [Config].
type MistakeError struct {
	// Index is the executor's index, from 0.
	Index int
	// Field is the executor's field by its name in the file, followed by a JSON pointer into the
	// field's value; empty means the executor itself.
	Field string
	Err   error
}

// Error says what is wrong and what would be right.
func (m *MistakeError) Error() string { return m.Err.Error() }

// Unwrap returns the cause.
func (m *MistakeError) Unwrap() error { return m.Err }

// New returns a catalog. Its error joins all mistakes in all executors, each a [*MistakeError].
func New(c Config) (*Catalog, error) {
	cat := &Catalog{known: make(map[string]*entry, len(c.Executors)), closed: c.Closed, home: c.Home}
	var errs []error
	for i, ex := range c.Executors {
		if strings.TrimSpace(ex.Name) == "" {
			errs = append(errs, &MistakeError{i, "", fmt.Errorf("catalog: executor %d has no name; give it one", i+1)})
			continue
		}
		if cat.known[ex.Name] != nil {
			errs = append(errs, &MistakeError{i, "name", fmt.Errorf("catalog: executor %q is listed twice; list it once", ex.Name)})
			continue
		}
		e, faults := prepare(ex, c.Home)
		for _, f := range faults {
			errs = append(errs, &MistakeError{i, f.field, fmt.Errorf("catalog: executor %q: %s", ex.Name, f.msg)})
		}
		cat.known[ex.Name] = e
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return cat, nil
}

// Find returns what is known about an executor. A nil catalog knows none.
func (c *Catalog) Find(name string) (Executor, bool) {
	if c == nil {
		return Executor{}, false
	}
	e, ok := c.known[name]
	if !ok {
		return Executor{}, false
	}
	return e.Executor, true
}

// Names returns the names of the known executors, sorted. A nil catalog knows none.
func (c *Catalog) Names() []string {
	if c == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.known))
}

// Closed reports whether unknown executors are refused.
func (c *Catalog) Closed() bool { return c != nil && c.closed }

// Check returns an error unless a call has the declared shape and stays inside the declared scope.
// cwd is where relative paths start; if it is empty, they are out of any scope. Errors are of type
// [*Error].
func (c *Catalog) Check(executor string, args map[string]any, cwd string) error {
	if c == nil {
		return nil
	}
	e, ok := c.known[executor]
	if !ok {
		if c.closed {
			return &Error{
				Kind: KindUnknown, Executor: executor,
				Msg: "executor " + strconv.Quote(shorten(executor)) + " is not in the catalog, which is closed; use a listed executor",
			}
		}
		return nil
	}
	if e.schema != nil {
		if err := e.schema.Validate(args); err != nil {
			return schemaError(executor, err)
		}
	}
	return e.checkScope(args, places{home: c.home, cwd: cwd})
}

// prepare compiles an executor, or returns what is wrong with it.
func prepare(ex Executor, home string) (*entry, []failure) {
	e := &entry{Executor: ex}
	var faults []failure
	e.schema, faults = compile(ex.ArgsSchema)
	bad := func(err error) {
		if err != nil {
			faults = append(faults, failure{"capabilities", err.Error()})
		}
	}
	for i, capability := range ex.Capabilities {
		if capability.Name == "" {
			bad(fmt.Errorf("capability %d has no name; give it one such as fs:read", i+1))
		}
	}
	var err error
	e.paths, err = newPathScope(ex.Capabilities, home)
	bad(err)
	e.hosts, err = newHostScope(ex.Capabilities)
	bad(err)
	return e, faults
}

func shorten(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
