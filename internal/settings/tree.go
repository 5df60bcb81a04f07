package settings

import (
	"path"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2"

	"github.com/metnos/vaglio/internal/memo"
)

// maxTree limits the files whose trees are read, in bytes, like those that are read from
// disk. maxNodes limits the nodes of a tree with its aliases expanded: ten aliases of ten
// aliases, and so on, grow without bound.
const (
	maxTree  = 256 << 10
	maxNodes = 100_000
	maxDepth = 1000 // how deep it may nest, because the parser recurses
	// maxMoved limits how often the parser moves what it has read: for each key of a map, all
	// the keys after it, and for each document, all the later ones.
	maxMoved = 8 << 20
)

// IsTOML reports whether a file of this name is in TOML.
func IsTOML(file string) bool { return path.Ext(file) == ".toml" || path.Base(file) == "Pipfile" }

// Decode decodes a file in TOML, or in YAML, of which JSON is a subset, into what a pointer leads to. It says so if a
// file is too large or expands too much to be decoded. A text is decoded once for several calls, so nobody may change
// the maps and lists in what it gives.
func Decode(file, text string, into any) (ok, over bool) {
	if len(text) > maxTree {
		return false, true
	}
	to := reflect.ValueOf(into).Elem()
	key := source{to.Type(), IsTOML(file), text}
	was, known := trees.Get(key)
	if !known {
		is := reflect.New(key.as)
		was.ok, was.over = key.decode(is.Interface())
		was.is = is.Elem()
		trees.Put(key, was, len(text))
	}
	if was.ok {
		to.Set(was.is)
	}
	return was.ok, was.over
}

// source is a text that is decoded, with the form in which it is wanted.
type source struct {
	as   reflect.Type
	toml bool
	text string
}

// tree is what that gives.
type tree struct {
	is       reflect.Value
	ok, over bool
}

var trees = memo.New[source, tree](maxTree) //nolint:gochecknoglobals // It guards what it keeps.

func (s *source) decode(into any) (ok, over bool) {
	switch {
	case isDeep(s.text) || isWide(s.text) || grows(s.text):
		return false, true
	case s.toml:
		return toml.Unmarshal([]byte(s.text), into) == nil, false
	}
	return yaml.Unmarshal([]byte(s.text), into) == nil, false
}

// isDeep reports whether a text may nest too deep, counting its open brackets and consecutive
// marks.
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

// isWide reports whether a text's maps may have so many keys, or the text so many documents,
// that the parser moves more than [maxMoved]. Keys belong to one map if no line between them
// is indented less.
func isWide(text string) bool {
	var keys []int // by the column where they begin
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

// grows reports whether a text's aliases expand it to more than [maxNodes].
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

// anchors is how many nodes each name stands for.
type anchors map[string]int

// nodes counts the nodes of a tree, up to [maxNodes] plus one.
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
			count += a.nodes(e)
		}
	case *ast.MappingValueNode:
		count += a.nodes(n.Key) + a.nodes(n.Value)
	case *ast.MappingKeyNode:
		count += a.nodes(n.Value)
	case *ast.SequenceNode:
		for _, e := range n.Values {
			count += a.nodes(e)
		}
	}
	return min(count, maxNodes+1)
}
