package powershell

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

func values(table map[string]value) []value {
	out := make([]value, 0, len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		out = append(out, table[name])
	}
	return out
}

// output is what a cmdlet puts out.
func (w *work) output() value {
	r := w.r
	switch w.sp.out {
	case "none":
		return value{}
	case "in":
		return w.in
	case "some":
		return w.some()
	case "value":
		return list([]value{list(values(w.b.vals)), w.b.rest, pipedOnly(w)})
	case "list":
		return w.listed()
	case "path":
		if len(w.took) == 0 {
			w.took = r.paths(w.sp.name, w.b.take(&w.sp.params[0], w.in, w.piped), false, false)
		}
		return value{items: w.took, files: true}
	case "join":
		return w.joinPath()
	case "parent":
		return w.splitPath()
	case "bool":
		return value{items: []shell.Word{shell.Text("True"), shell.Text("False")}, either: true}
	case "cwd":
		return value{items: []shell.Word{r.cwd}, files: true}
	case "temp":
		return unknownValue("mktemp")
	case "number":
		return one(shell.NewWord(shell.Part{Kind: shell.PartUnknown, Name: "number"}))
	}
	if !w.out.isNothing() {
		return w.out
	}
	return r.unknownFrom(w.sp.name, w.in)
}

func pipedOnly(w *work) value {
	if w.piped && len(w.b.vals) == 0 {
		return w.in
	}
	return value{}
}

// unknownFrom is the output of a command: downloaded if its input was.
func (r *reader) unknownFrom(name string, in value) value {
	for _, w := range in.items {
		if w.Remote() {
			return remoteValue(name)
		}
	}
	return unknownValue(name)
}

// some is what a filter lets through: of files, names that are not known.
func (w *work) some() value {
	if w.sp.find("first") != nil && len(w.b.on) == 0 && len(w.b.vals) <= 1 {
		for _, name := range [...]string{"expandproperty", "property"} {
			if _, ok := w.b.vals[name]; ok {
				return w.in
			}
		}
	}
	if !w.in.files {
		return w.in
	}
	out := w.in
	out.items = nil
	for _, item := range w.in.items {
		parts := slices.Clone(item.Parts())
		if n := len(parts); n > 0 && parts[n-1].Kind == shell.PartGlob {
			parts[n-1] = shell.Part{Kind: shell.PartUnknown, From: "Get-ChildItem"}
		}
		out.items = append(out.items, shell.NewWord(parts...))
	}
	return out
}

// listed are the names that Get-ChildItem finds.
func (w *work) listed() value {
	dirs := w.took
	if len(dirs) == 0 {
		dirs = []shell.Word{shell.Text(".")}
	}
	names := append(slices.Clone(w.b.vals["filter"].items), w.b.vals["include"].items...)
	star := shell.NewWord(shell.Part{Kind: shell.PartGlob, Text: "*"})
	out := value{files: true}
	for _, dir := range dirs {
		last := dir.Parts()
		if n := len(last); n > 0 && (last[n-1].Kind == shell.PartGlob || dir.HasGlob() && !strings.HasSuffix(dir.Suffix(), "/")) && len(names) == 0 &&
			!w.b.on["recurse"] {
			out.items = append(out.items, dir)
			continue
		}
		found := shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "find"})
		switch {
		case len(names) == 0:
			out.items = append(out.items, below(dir, star))
		default:
			for _, n := range names {
				name := w.r.path(n, false)
				if w.b.on["recurse"] {
					name = below(found, name)
				}
				if dir.Is(".") {
					name = shell.Glue(shell.Text("./"), name)
				}
				out.items = append(out.items, below(dir, name))
			}
		}
	}
	return out
}

func (w *work) joinPath() value {
	r := w.r
	base := w.b.take(&w.sp.params[0], w.in, w.piped)
	parts := []value{base, w.b.vals["childpath"], w.b.vals["additionalchildpath"], w.b.rest}
	out := value{items: base.items, either: base.either, files: true}
	for _, p := range parts[1:] {
		if p.isNothing() {
			continue
		}
		next := value{either: out.either || p.either && len(p.items) > 1, files: true}
		for _, dir := range out.items {
			for _, child := range p.items {
				if len(next.items) < maxChoices {
					next.items = append(next.items, below(r.path(dir, false), trimLeft(r.path(child, false))))
				}
			}
		}
		out = next
	}
	return r.bounded(out)
}

// trimLeft takes the slashes off the beginning of a path that is put below
// another.
func trimLeft(w shell.Word) shell.Word {
	if s, ok := w.Text(); ok {
		return shell.Text(strings.TrimLeft(s, "/"))
	}
	return w
}

func (w *work) splitPath() value {
	v := w.b.take(&w.sp.params[0], w.in, w.piped)
	out := value{either: v.either, files: true}
	leaf := w.b.on["leaf"] || w.b.on["leafbase"]
	for _, item := range v.items {
		p := w.r.path(item, false)
		if leaf {
			out.items = append(out.items, shell.Text(baseOf(p)))
		} else {
			out.items = append(out.items, parentOf(p))
		}
	}
	return out
}
