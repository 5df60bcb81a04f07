package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

func (l *look) does(ops []operation.Operation) {
	l.ops, l.search, l.alias = ops, nil, nil
	aliases := 0
	for i := range ops {
		switch o := &ops[i]; o.Verb {
		case operation.Search:
			if l.search == nil {
				l.search = o
			}
		case operation.Alias:
			aliases, l.alias = aliases+1, o
		default:
		}
	}
	if aliases > 1 {
		l.alias = nil
	}
}

// searched records where a search begins, and whether its tests leave out most files.
func (l *look) searched(o *operation.Operation, spot string) string {
	if l.search == o {
		l.s.find = findCall{limited: l.narrows(o), bare: l.takesAll(o), at: l.s.at}
	}
	l.s.find.starts = append(l.s.find.starts, place.Variants(spot)...)
	return ""
}

// takesAll reports whether a search leaves out nothing below its start, or only by when it was changed: what the gate keeps is as new as it is old.
func (l *look) takesAll(o *operation.Operation) bool {
	for test, value := range commands.Tests(o.With) {
		all := []string{"run", "print", "new", "age"}
		if class := reading.Spot(test); !slices.Contains(all, class) && (class != "type" || !strings.Contains(reading.Spot(value), "f")) {
			return false
		}
	}
	return true
}

// straight reports whether the command gets what the line's search finds on this machine, unchanged: no command between them takes it or asks about it.
func (l *look) straight() bool {
	from := min(l.s.find.at+1, l.s.at)
	return l.s.find.bare && !l.elsewhere() && !slices.ContainsFunc(l.s.script.Commands[from:l.s.at], func(c shell.Command) bool {
		return !c.Wrapper && c.Name != "read"
	})
}

// testsIn returns the tests of a search. It reads them once, for all operations of the search.
func (l *look) testsIn(o *operation.Operation) tests {
	if l.tests == nil {
		t := l.g.testsOf(o)
		l.tests = &t
	}
	return *l.tests
}

// swept checks a folder below which a search deletes. The search's tests may spare most of a tree.
func (l *look) swept(o *operation.Operation, spot string) string {
	if id := l.touch(place.Empties, spot); id != "" && (!slices.Contains([]string{treeRoot, treeHome, treeSystem, adminRule, ownID}, id) || !l.narrows(o)) {
		return id
	}
	below := strings.TrimRight(spot, "/") + "/"
	for _, name := range l.testsIn(o).names {
		for _, where := range [...]string{below + name, below + place.AnyFolders + "/" + name} {
			if id := l.touch(place.Removes, where); id != "" {
				return id
			}
		}
	}
	return ""
}

// narrows reports whether the tests of a search leave out most files, and do not select a whole tree by its path.
func (l *look) narrows(o *operation.Operation) bool {
	_, few := commands.Narrowed(o.With, l.g.leavesFew, func(class string, _ shell.Word) bool {
		return (class == "delete") == (o.Verb == operation.Sweep) && slices.Contains([]string{"delete", "run", "print"}, class)
	})
	return few && !slices.ContainsFunc(l.testsIn(o).paths, func(p string) bool {
		where := strings.TrimRight(p, "*.+?$"+place.Marks)
		return where != p && strings.HasPrefix(where, "/") && l.isTree(where)
	})
}

// tests are what a search looks for: names, and patterns that are matched against the whole path.
type tests struct{ names, paths []string }

func (g *Guard) testsOf(o *operation.Operation) (t tests) {
	for test, word := range commands.Tests(o.With) {
		class, value := reading.Spot(test), reading.Spot(word)
		whole := class == "path" || class == "regex"
		if whole {
			t.paths = append(t.paths, value)
		}
		if isTelling(value) && (whole && !g.table.Rebuilt(value) || class == "name" || class == "link") {
			t.names = append(t.names, globSpot(value))
		}
	}
	return t
}

// leavesFew reports whether a test leaves out most files.
func (g *Guard) leavesFew(class string, value shell.Word) bool {
	spot := reading.Spot(value)
	switch class {
	case "path", "regex":
		return g.table.Rebuilt(spot) || isTelling(spot)
	case "name", "link":
		return isTelling(spot)
	default:
		return commands.IsRare(class, spot)
	}
}

// isTelling reports whether a name pattern leaves out most names.
func isTelling(pattern string) bool {
	return place.IsTelling(strings.ReplaceAll(pattern, string(place.Perhaps), "x"))
}

// globSpot converts a pattern that find expands itself.
func globSpot(pattern string) string {
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 {
		pattern = pattern[i+1:]
	}
	return strings.ReplaceAll(strings.ReplaceAll(pattern, "*", string([]byte{place.AnyText})), "?", string([]byte{place.AnyByte}))
}

type findCall struct {
	starts  []string
	limited bool
	// bare says that it leaves out nothing; at is its place in the line.
	bare bool
	at   int
}

// leftOut reports whether an operand is passed on by a search that leaves out most files, and so is not everything below its start.
func (l *look) leftOut(operand string) bool { return l.s.find.limited && l.foundBelow(operand) != "" }

// foundBelow returns the start of the search that passes an operand on, or "" if none does.
func (l *look) foundBelow(operand string) string {
	c := l.c
	if !c.InLoop {
		return ""
	}
	fed := slices.ContainsFunc(c.Via, func(v string) bool {
		return strings.HasPrefix(v, "find") || strings.HasPrefix(v, "xargs") || strings.HasPrefix(v, "parallel")
	}) || c.Stdin.Piped
	at := slices.IndexFunc(l.s.find.starts, func(start string) bool {
		rest, ok := strings.CutPrefix(operand, strings.TrimRight(start, "/"))
		return ok && (rest == "" || rest == "/" || place.IsOpaque(strings.TrimPrefix(rest, "/")))
	})
	if !fed || at < 0 {
		return ""
	}
	return l.s.find.starts[at]
}
