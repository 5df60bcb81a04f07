package reading

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// maxBatch is how many calls one call may hold to be read as these.
const maxBatch = 50

// Nested is a call that another one holds.
type Nested struct {
	Executor string
	Args     map[string]any
}

// Batch returns the calls that a call makes and nothing else; nil if it is no such call, judging by its executor's name and the shape of its arguments, or
// holds anything besides. So whoever judges all that Batch returns has judged the call. A batch of an MCP server is none: the proxy's concerns about the
// tools in it, such as a changed description, are not known.
func Batch(executor string, args map[string]any) []Nested {
	if !NamesBatch(executor) {
		return nil
	}
	list := listed(args)
	if list == nil {
		return nil
	}
	all := make([]Nested, 0, len(list))
	for _, e := range list {
		n, ok := nestedOf(e)
		if !ok || Batch(n.Executor, n.Args) != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// Decoded returns the arguments of a batch in one form, in which no call's arguments are JSON in a
// text; those of any other call as they are. So the batch is read, bounded and bound with all in it.
func Decoded(executor string, args map[string]any) map[string]any {
	all := Batch(executor, args)
	if all == nil {
		return args
	}
	calls := make([]any, len(all))
	for i, n := range all {
		calls[i] = map[string]any{"tool": n.Executor, "parameters": n.Args}
	}
	return map[string]any{"calls": calls}
}

// NamesBatch reports whether an executor's name says that it makes calls, and nothing else.
func NamesBatch(executor string) bool {
	words := nameWords(executor)
	return !strings.HasPrefix(executor, MCPPrefix) && wordclass.Any("batches", words) &&
		!slices.ContainsFunc(words, func(w string) bool { return !wordclass.Is("batches", w) && !wordclass.Is("about-batches", w) })
}

// listed returns the list that the arguments are; nil if they are no list of calls, or more.
func listed(args map[string]any) (list []any) {
	for key, v := range args {
		of, is := v.([]any)
		switch {
		case is && list == nil && len(of) <= maxBatch && wordclass.Is("batch-calls", Normal(key)):
			list = append([]any{}, of...)
		case !besides(key, v):
			return nil
		}
	}
	return list
}

// MCPPrefix is how clients begin the names of the tools of MCP servers.
const MCPPrefix = "mcp__"

// besides reports whether an argument only accompanies calls: a number of theirs, or words about them.
func besides(key string, v any) bool {
	_, text := v.(string)
	return text && wordclass.Is("beside-batches", Normal(key))
}

// nestedOf reads one element of a batch: a tool's name and its arguments, which may be JSON in a text.
func nestedOf(e any) (n Nested, ok bool) {
	call, _ := e.(map[string]any)
	for key, v := range call {
		switch normal := Normal(key); {
		case wordclass.Is("batch-tool", normal):
			name, text := v.(string)
			if n.Executor != "" || !text || name == "" {
				return n, false
			}
			n.Executor = strings.TrimPrefix(name, "functions.")
		case wordclass.Is("batch-args", normal):
			if n.Args != nil {
				return n, false
			}
			if n.Args, ok = argsOf(v); !ok {
				return n, false
			}
		case !besides(key, v):
			return n, false
		}
	}
	return n, n.Executor != "" && n.Args != nil
}

func argsOf(v any) (args map[string]any, ok bool) {
	if text, is := v.(string); is {
		return args, strictjson.Unmarshal([]byte(text), &args) == nil && args != nil
	}
	args, ok = v.(map[string]any)
	return args, ok && args != nil
}
