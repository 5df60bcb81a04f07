package clients

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/reading"
)

//go:embed tables/*.txt
var tables embed.FS

const (
	folder = "tables/"
	ending = ".txt"
)

// The rules that a line can name.
const (
	RuleShape   = "shape"
	RuleRuns    = "runs"
	RuleFetches = "fetches"
	RuleWrites  = "writes"
)

// Set is what is known of all clients, by name. It is read-only.
type Set map[string]Client

// Client holds the tools of one client by name. A name that ends with a star stands for all tools that begin like it.
type Client map[string]*Tool

// Tool is what is known of one tool.
type Tool struct {
	// Read describes its arguments.
	Read reading.Tool
	// keys are all arguments that the table lists.
	keys  []string
	lines []line
}

// Names returns the names of the known clients, sorted.
func Names() []string {
	files, err := fs.Glob(tables, folder+"*"+ending)
	if err != nil { // only for a malformed pattern
		return nil
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, folder), ending)
	}
	return files
}

// Load returns the built-in tables. They are read once and must not be changed. An error names the file, line and column of a mistake.
func Load() (Set, error) { return builtIn() }

var builtIn = sync.OnceValues(func() (Set, error) { //nolint:gochecknoglobals // It is read once and never changed.
	set := Set{}
	for _, name := range Names() {
		data, err := tables.ReadFile(folder + name + ending)
		if err != nil {
			return nil, fmt.Errorf("clients: read table: %w", err)
		}
		if set[name], err = parse(name+ending, string(data)); err != nil {
			return nil, fmt.Errorf("clients: %w", err)
		}
	}
	return set, nil
})

// Tools returns the tools of all clients for a [reading.Reader].
func (s Set) Tools() map[string]map[string]reading.Tool {
	out := map[string]map[string]reading.Tool{}
	for name, c := range s {
		out[name] = map[string]reading.Tool{}
		for tool, t := range c {
			out[name][tool] = t.Read
		}
	}
	return out
}

// Tool returns what is known of a client's tool, or nil.
func (s Set) Tool(client, name string) *Tool {
	tool, ok := reading.ToolOf(s[client], name)
	if !ok {
		return nil
	}
	return tool
}

// Messages returns everything that the tables say of tools, as written there.
func (s Set) Messages() (said []string) {
	for _, c := range s {
		for _, t := range c {
			for i := range t.lines {
				said = append(said, t.lines[i].does.Why)
			}
		}
	}
	return said
}

// Does returns what a call of the tool with these arguments does.
func (t *Tool) Does(args map[string]any) commands.Outcome {
	for i := range t.lines {
		if !slices.ContainsFunc(t.lines[i].tests, func(t test) bool { return !t.holds(args) }) {
			return t.lines[i].does
		}
	}
	return unknown()
}

// line says what calls do that pass its tests.
type line struct {
	tests []test
	does  commands.Outcome
}

type test struct {
	key    string
	absent bool
	values []string // nil accepts any value
}

func (t *test) holds(args map[string]any) bool {
	v, given := args[t.key]
	given = given && v != nil && v != ""
	switch {
	case t.absent || !given:
		return t.absent != given
	case t.values == nil:
		return true
	default:
		return slices.Contains(t.values, fmt.Sprint(v))
	}
}
