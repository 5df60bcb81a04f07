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

// Set is what is known of all clients, by their names. It is not changed after
// it is read.
type Set map[string]Client

// Client are the tools of one client by their names; one that ends with a star
// stands for all that begin so.
type Client map[string]*Tool

// Tool is what is known of one tool.
type Tool struct {
	// Read is what its arguments are.
	Read reading.Tool
	// keys are all arguments that the table lists.
	keys  []string
	lines []line
}

// Names are the names of the clients that are known, in order.
func Names() []string {
	files, err := fs.Glob(tables, folder+"*"+ending)
	if err != nil { // only a malformed pattern is one
		return nil
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, folder), ending)
	}
	return files
}

// Known says whether a client of that name is known.
func Known(name string) bool { return slices.Contains(Names(), name) }

// Load returns the tables that are built into the program, which are read once and
// not to be changed. An error names the file, the line and the column of the mistake.
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

// Tools are the tools of all clients as a [reading.Reader] takes them.
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

// Tool gives what is known of a client's tool, nil if that is nothing.
func (s Set) Tool(client, name string) *Tool {
	tool, ok := reading.ToolOf(s[client], name)
	if !ok {
		return nil
	}
	return tool
}

// Messages are all that the tables say of tools, as it is written there.
func (s Set) Messages() []string {
	var said []string
	for _, c := range s {
		for _, t := range c {
			for i := range t.lines {
				said = append(said, t.lines[i].does.Why)
			}
		}
	}
	return said
}

// Does says what a call of the tool with these arguments does.
func (t *Tool) Does(args map[string]any) commands.Outcome {
	for i := range t.lines {
		if t.lines[i].holds(args) {
			return t.lines[i].does
		}
	}
	return unknown()
}

// line says what calls do for which its tests hold.
type line struct {
	tests []test
	does  commands.Outcome
}

func (l *line) holds(args map[string]any) bool {
	return !slices.ContainsFunc(l.tests, func(t test) bool { return !t.holds(args) })
}

// test looks at one argument.
type test struct {
	key    string
	absent bool
	values []string // nil if any will do
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
