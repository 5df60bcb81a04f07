package project

import (
	"path"
	"slices"
	"strings"
)

// named finds the rows that name a file. Every file that an agent writes is looked up, and most
// have a name that says nothing, so each row is found by a part of its names.
type named struct {
	rows []row
	// always are the rows that may name any file. The others are found by what follows the last slash of a name, the extension that one stands for, or the
	// first folder of those whose files it stands for.
	always                  []int
	last, extension, folder map[string][]int
}

func namedIn(rows []row) *named {
	n := &named{rows: rows, last: map[string][]int{}, extension: map[string][]int{}, folder: map[string][]int{}}
	for i := range rows {
		for _, name := range rows[i].files {
			n.add(i, name)
		}
	}
	return n
}

func (n *named) add(row int, name string) {
	in, key := n.last, name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case strings.HasPrefix(name, "@/"): // any file below the folder
		var whole bool
		in = n.folder
		if key, _, whole = strings.Cut(name[len("@/"):], "/"); !whole {
			n.always = append(n.always, row)
			return
		}
	case strings.HasPrefix(name, "@."):
		in, key = n.extension, path.Ext(name)
	}
	in[key] = append(in[key], row)
}

// rowsOf returns the rows that name a file, in the table's order.
func (n *named) rowsOf(file string) (all []*row) {
	base := file[strings.LastIndexByte(file, '/')+1:]
	var room [16]int
	may := append(append(append(room[:0], n.always...), n.last[base]...), n.extension[path.Ext(base)]...)
	for folder := range strings.SplitSeq(file, "/") {
		may = append(may, n.folder[folder]...)
	}
	slices.Sort(may)
	for _, i := range slices.Compact(may) {
		if n.rows[i].names(file) {
			all = append(all, &n.rows[i])
		}
	}
	return all
}

// names reports whether a row's files include one, judging by its name.
func (r *row) names(file string) bool {
	return slices.ContainsFunc(r.files, func(name string) bool { return isNamed(file, name) })
}

// namedAs returns those of a row's files that match a file's own name.
func (r *row) namedAs(file string) (files []string) {
	for _, name := range r.files {
		switch {
		case !isNamed(file, name):
		case name[0] == '@':
			files = append(files, name)
		default:
			files = append(files, file)
		}
	}
	return files
}

// isNamed reports whether a row's file matches a file's own name.
func isNamed(file, name string) bool {
	if strings.HasPrefix(name, "@/") && strings.Contains(file, name[1:]) || strings.HasPrefix(name, "@.") && strings.HasSuffix(file, name[1:]) {
		return true
	}
	before, ends := strings.CutSuffix(file, name)
	return ends && strings.HasSuffix(before, "/")
}
