package powershell

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
)

func (w *work) output() value {
	r, first := w.r, w.first()
	switch w.sp.out {
	case "in":
		return w.in
	case "some":
		return w.some()
	case "value":
		return r.list(first, w.words)
	case "line":
		return one(r.word(w.words))
	case "list":
		return w.listed()
	case "path":
		if len(w.took) == 0 {
			w.took = w.paths(first, false, false)
		}
		return value{items: w.took, files: true}
	case "join":
		below := lists.Each(strings.Fields("childpath additionalchildpath 1 2 3 9"), func(name string) value { return w.vals[name] })
		return r.combined(slices.Concat([]value{first}, below, []value{w.words})...)
	case "cwd", "variable", "environment", "parent":
		return w.state(first)
	}
	if w.out.isNothing() {
		return madeOf(w.in, w.name)
	}
	return w.out
}

// parent returns the folder of a path that is known, unless another part of it is asked for.
func (w *work) parent(of value) value {
	name, known := of.text()
	if dir := path.Dir(forward(name)); known && dir != "." && (len(w.on) == 0 || len(w.on) == 1 && w.on["parent"]) {
		return value{items: []shell.Word{shell.Text(dir)}, files: true}
	}
	return madeOf(of, w.name)
}

// state returns what PowerShell itself holds: its folder, or variables of the environment; or a path's folder.
func (w *work) state(named value) value {
	name, _ := named.text()
	switch w.sp.out {
	case "cwd":
		return w.r.variable("pwd")
	case "variable":
		return w.r.variable("env:" + strings.ToLower(name))
	case "parent":
		return w.parent(named)
	}
	w.r.environment("")
	return w.out
}

func (w *work) first() value {
	if len(w.sp.params) == 0 {
		return value{}
	}
	return w.take(&w.sp.params[0])
}

// some returns what a filter lets through; of files, that is unknown names.
func (w *work) some() value {
	out := w.in
	if !w.in.files || len(w.vals) == 1 && !w.vals["expandproperty"].isNothing() {
		return out
	}
	w.r.pay(len(w.in.items), weigh(w.in.items...))
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

// listed returns the names that Get-ChildItem finds.
func (w *work) listed() value {
	names, dirs, deep := slices.Concat(w.vals["filter"].items, w.vals["include"].items), w.took, w.on["recurse"]
	for i := range names {
		if names[i] = w.r.path(names[i], false); deep {
			names[i] = below(found(), names[i])
		}
	}
	if len(dirs) == 0 {
		dirs = []shell.Word{shell.Text(".")}
	}
	all := len(names) == 0
	if all {
		names = []shell.Word{shell.NewWord(shell.Part{Kind: shell.PartGlob, Text: "*"})}
	}
	out := value{files: true}
	for _, dir := range dirs {
		if all && !deep && dir.HasGlob() && !strings.HasSuffix(dir.Suffix(), "/") {
			out.items = append(out.items, dir)
			continue
		}
		if !all && dir.Is(".") {
			dir = shell.Text("./")
		}
		out.items = append(out.items, w.r.below(dir.AsFolder(), names)...)
	}
	return out
}

// combined joins path elements, each below the one before.
func (r *reader) combined(steps ...value) value {
	var parts []value
	for _, step := range steps {
		if step.isNothing() {
			continue
		}
		if len(parts) > 0 {
			parts = append(parts, text("/"))
		}
		parts = append(parts, step.element()) // each element of a list is put below each
	}
	v := r.glue(parts...)
	v.files = true
	return v
}
