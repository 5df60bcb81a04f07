package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

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
		vals := []value{w.b.rest}
		for i := range w.sp.params {
			vals = append(vals, w.b.take(&w.sp.params[i], w.in, w.piped))
		}
		return r.list(vals)
	case "list":
		return w.listed()
	case "path":
		if len(w.took) == 0 {
			w.took = r.paths(w.sp.name, w.first(), false, false)
		}
		return value{items: w.took, files: true}
	case "join":
		return r.combined([]value{w.first(), w.b.vals["childpath"], w.b.vals["additionalchildpath"], w.b.rest})
	case "cwd":
		return r.folder()
	}
	if !w.out.isNothing() {
		return w.out
	}
	return madeOf(w.in, w.sp.name)
}

// first is what the first parameter was given.
func (w *work) first() value {
	if len(w.sp.params) == 0 {
		return value{}
	}
	return w.b.take(&w.sp.params[0], w.in, w.piped)
}

// some is what a filter lets through: of files, names that are not known.
func (w *work) some() value {
	if !w.in.files || len(w.b.vals) == 1 && !w.b.vals["expandproperty"].isNothing() {
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
	names := slices.Concat(w.b.vals["filter"].items, w.b.vals["include"].items)
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
	var parts []value
	for _, step := range steps {
		if step.isNothing() {
			continue
		}
		if len(parts) > 0 {
			parts = append(parts, text("/"))
		}
		step.either = true // each of a list is put below each
		parts = append(parts, step)
	}
	v := r.glue(parts)
	v.files = true
	return v
}
