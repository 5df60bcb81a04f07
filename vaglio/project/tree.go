package project

import (
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxTree bounds the files whose trees are read, in bytes, as it does those that are
// read from disk, maxNodes what such a tree holds when each alias stands for what it
// names: ten aliases of ten aliases, and so on, fill a disk from a line each.
const (
	maxTree  = 256 << 10
	maxNodes = 100_000
	maxDepth = 1000 // how deep it nests, for its reader calls itself
	// maxMoved is how often it moves what it has read: for each key of a map all the keys
	// behind it, and for each document those behind that.
	maxMoved = 8 << 20
)

// decode reads the tree of a file in YAML, of which JSON is a part. A file without one
// runs nothing; of one that is too large or grows too much, nobody knows what it runs.
func (v *visit) decode(file, text string, into any) bool {
	if len(text) > maxTree || isDeep(text) || isWide(text) || grows(text) {
		v.over(file, 1)
		return false
	}
	return yaml.Unmarshal([]byte(text), into) == nil
}

// isDeep reports whether a text may nest too deep, by all its brackets and marks in a row.
func isDeep(text string) bool {
	open, marks := 0, 0
	for i := 0; i < len(text) && max(open, marks) <= maxDepth; i++ {
		switch text[i] {
		case '[', '{':
			open, marks = open+1, 0
		case ']', '}':
			open, marks = max(open-1, 0), 0
		case '-', '?':
			marks++
		case ' ', '\t':
		default:
			marks = 0
		}
	}
	return max(open, marks) > maxDepth
}

// isWide reports whether the maps of a text may have so many keys, or the text so many
// documents, that its reader moves more than [maxMoved]. Keys are of one map where no line
// between them stands further to the left.
func isWide(text string) bool {
	var keys []int // by the columns in which they begin
	documents, moved := 0, 0
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		at := len(line) - len(rest)
		if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...") {
			documents++
			moved += documents
		}
		if strings.TrimSpace(rest) != "" && rest[0] != '#' {
			keys = keys[:min(at+1, len(keys))]
		}
		for strings.HasPrefix(rest, "- ") {
			inner := strings.TrimLeft(rest[1:], " ")
			at, rest = at+len(rest)-len(inner), inner
		}
		if strings.Contains(rest, ":") || strings.HasPrefix(rest, "?") {
			keys = append(keys, make([]int, max(0, at+1-len(keys)))...)
			keys[at]++
			moved += keys[at]
		}
		if moved > maxMoved {
			return true
		}
	}
	return false
}

// grows reports whether the aliases of a text make more than [maxNodes] of it.
func grows(text string) bool {
	if !strings.Contains(text, "*") || !strings.Contains(text, "&") {
		return false
	}
	f, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return false
	}
	anchors, nodes := anchors{}, 0
	for _, doc := range f.Docs {
		nodes += anchors.nodes(doc.Body)
	}
	return nodes > maxNodes
}

// anchors are how many nodes stand behind each name.
type anchors map[string]int

// nodes counts those of a tree, one more than [maxNodes] at most.
func (a anchors) nodes(n ast.Node) int {
	count := 1
	switch n := n.(type) {
	case *ast.AnchorNode:
		count = a.nodes(n.Value)
		a[n.Name.String()] = count
	case *ast.AliasNode:
		count = a[n.Value.String()]
	case *ast.TagNode:
		count += a.nodes(n.Value)
	case *ast.MappingNode:
		for _, e := range n.Values {
			count = min(count+a.nodes(e), maxNodes+1)
		}
	case *ast.MappingValueNode:
		count += a.nodes(n.Key) + a.nodes(n.Value)
	case *ast.MappingKeyNode:
		count += a.nodes(n.Value)
	case *ast.SequenceNode:
		for _, e := range n.Values {
			count = min(count+a.nodes(e), maxNodes+1)
		}
	}
	return min(count, maxNodes+1)
}
