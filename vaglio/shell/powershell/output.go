package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// output is what a cmdlet puts out.
func (w *work) output() value {
	switch w.sp.out {
	case "none":
		return value{}
	case "in":
		return w.in
	case "some":
		return w.some()
	case "value":
		return w.r.list([]value{w.r.list(w.r.values(w.b.vals)), w.b.rest, pipedOnly(w)})
	case "list":
		return w.listed()
	case "path":
		return value{items: w.paths(), files: true}
	case "join":
		return w.r.combined([]value{w.b.take(&w.sp.params[0], w.in, w.piped), w.b.vals["childpath"], w.b.vals["additionalchildpath"], w.b.rest})
	case "cwd":
		return w.r.folder()
	}
	return w.made()
}

// made is what a cmdlet puts out that is not made of paths.
func (w *work) made() value {
	switch w.sp.out {
	case "parent":
		return w.parent()
	case "bool":
		return truth()
	case "temp":
		return unknownValue("mktemp")
	case "number":
		return aNumber()
	}
	if !w.out.isNothing() {
		return w.out
	}
	return madeOf(w.in, w.sp.name)
}

// paths are those that the cmdlet works on.
func (w *work) paths() []shell.Word {
	if len(w.took) == 0 {
		w.took = w.r.paths(w.sp.name, w.b.take(&w.sp.params[0], w.in, w.piped), false, false)
	}
	return w.took
}

func pipedOnly(w *work) value {
	if w.piped && len(w.b.vals) == 0 {
		return w.in
	}
	return value{}
}

// some is what a filter lets through: of files, names that are not known.
func (w *work) some() value {
	_, expands := w.b.vals["expandproperty"]
	_, picks := w.b.vals["property"]
	if !w.in.files || w.sp.find("first") != nil && len(w.b.on) == 0 && len(w.b.vals) == 1 && (expands || picks) {
		return w.in
	}
	if !w.r.afford(len(w.in.items), weigh(w.in.items...)) {
		return unknownValue("")
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
	for i := range names {
		if names[i] = w.r.path(names[i], false); w.b.on["recurse"] {
			names[i] = below(found(), names[i])
		}
	}
	if !w.r.afford(len(dirs)*max(len(names), 1), len(dirs)*weigh(names...)+weigh(dirs...)*len(names)) {
		return unknownValue("")
	}
	out := value{files: true}
	star := shell.NewWord(shell.Part{Kind: shell.PartGlob, Text: "*"})
	for _, dir := range dirs {
		if len(names) == 0 {
			if !isPattern(dir) || w.b.on["recurse"] {
				dir = below(dir, star)
			}
			out.items = append(out.items, dir)
		}
		for _, name := range names {
			if dir.Is(".") {
				name = shell.Glue(shell.Text("./"), name)
			}
			out.items = append(out.items, below(dir, name))
		}
	}
	return out
}

// isPattern says that a path stands for names rather than for a folder.
func isPattern(path shell.Word) bool {
	parts := path.Parts()
	n := len(parts)
	return n > 0 && (parts[n-1].Kind == shell.PartGlob || path.HasGlob() && !strings.HasSuffix(path.Suffix(), "/"))
}

// combined puts the steps of paths below each other.
func (r *reader) combined(steps []value) value {
	var out value
	for i, step := range steps {
		if i == 0 || step.isNothing() {
			out.items, out.either = append(out.items, step.items...), out.either || step.either
			continue
		}
		ways := len(out.items) * len(step.items)
		if ways > maxChoices || !r.afford(ways, weigh(out.items...)*len(step.items)+weigh(step.items...)*len(out.items)) {
			return unknownValue("")
		}
		next := value{either: out.either || step.either && len(step.items) > 1}
		for _, dir := range out.items {
			for _, child := range step.items {
				next.items = append(next.items, below(r.path(dir, false), trimLeft(r.path(child, false))))
			}
		}
		out = next
	}
	out.files = true
	return out
}

// trimLeft takes the slashes off the beginning of a path that is put below
// another.
func trimLeft(w shell.Word) shell.Word {
	if s, ok := w.Text(); ok {
		return shell.Text(strings.TrimLeft(s, "/"))
	}
	return w
}

// parent is what Split-Path leaves of a path.
func (w *work) parent() value {
	v := w.b.take(&w.sp.params[0], w.in, w.piped)
	if !w.r.afford(len(v.items), 0) {
		return unknownValue("")
	}
	out := value{either: v.either, files: true}
	for _, item := range v.items {
		p := parentOf(w.r.path(item, false))
		if w.b.on["leaf"] || w.b.on["leafbase"] {
			p = shell.Text(baseOf(w.r.path(item, false)))
		}
		out.items = append(out.items, p)
	}
	return out
}
