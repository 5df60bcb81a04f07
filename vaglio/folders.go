package vaglio

import (
	_ "embed" // The table.
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
)

//go:embed folders.txt
var bringsText string

// brings is a row of the table: the files that a program takes from folders.
type brings struct {
	with                    []string // words of which one must be present; if empty, none need be
	named, here, beside, up bool
	files                   []string
}

// bringing returns the table by program name.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var bringing = rows.Once("vaglio", func() (map[string][]brings, error) { return parseBrings(bringsText) })

// parseBrings reads lines of the form "programs | words | where | files".
func parseBrings(text string) (map[string][]brings, error) {
	const columns = 4
	t := map[string][]brings{}
	return t, rows.Read("folders.txt", text, func(line string) error {
		parts := strings.Split(line, "|")
		if len(parts) != columns {
			return rows.Wrong(line, "want programs | words | where | files, got %q", line)
		}
		r := brings{with: strings.Fields(parts[1]), files: strings.Fields(parts[3])}
		for where := range strings.FieldsSeq(parts[2]) {
			known := map[string]*bool{"named": &r.named, "here": &r.here, "beside": &r.beside, "up": &r.up}
			if known[where] == nil {
				return rows.Wrong(where, "want named, here, beside or up, got %q", where)
			}
			*known[where] = true
		}
		for _, f := range r.files {
			if _, err := path.Match(f, ""); err != nil {
				return rows.Wrong(f, "%q is not a pattern", f)
			}
		}
		for program := range strings.FieldsSeq(parts[0]) {
			t[program] = append(t[program], r)
		}
		return nil
	})
}

// applies reports whether the words of a command meet the row's condition.
func (r *brings) applies(words []shell.Word) bool {
	return len(r.with) == 0 || slices.ContainsFunc(words, func(w shell.Word) bool {
		text, _ := w.Text()
		return slices.ContainsFunc(r.with, func(with string) bool {
			rest, ok := strings.CutPrefix(text, with)
			short := len(with) == len("-k") && with[0] == '-'
			return ok && (rest == "" || rest[0] == '=' || short)
		})
	})
}

// takes reports whether the row takes a file, given by its path within the folder.
func (r *brings) takes(rel string) bool {
	return slices.ContainsFunc(r.files, func(pattern string) bool {
		name := path.Base(rel)
		switch {
		case strings.HasSuffix(pattern, "/"):
			return strings.HasPrefix(rel, pattern)
		case pattern[0] == '/':
			name = "/" + rel
		}
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// enters reports whether a folder below may hold something that the row takes.
func (r *brings) enters(rel string) bool {
	return slices.ContainsFunc(r.files, func(pattern string) bool {
		return pattern[0] != '/' && (!strings.HasSuffix(pattern, "/") || strings.HasPrefix(rel+"/", pattern))
	})
}

// brought binds the contents of the folders that a command takes as a whole.
func (b *binding) brought(c *shell.Command, cwd string) {
	if len(c.Argv) == 0 {
		return
	}
	program, _ := c.Argv[0].Text()
	rows := bringing()[path.Base(program)]
	folders, files := slices.Clone(b.named[Folder]), slices.Clone(b.named[RegularFile])
	for i := range rows {
		r := &rows[i]
		if !r.applies(c.Argv[1:]) {
			continue
		}
		var from []string
		if r.named {
			from = slices.Clip(folders)
		}
		if r.beside {
			for _, f := range files {
				from = append(from, path.Dir(f))
			}
		}
		if r.here || r.beside {
			from = append(from, cwd)
		}
		v := walk{b: b, row: r, seen: map[string]bool{}}
		for len(from) > 0 {
			clear(b.named)
			for _, folder := range from {
				v.folder(folder)
			}
			from = b.named[Folder] // those that the bound files name
		}
	}
}

// walk binds the files that a row takes, folder by folder.
type walk struct {
	b    *binding
	row  *brings
	seen map[string]bool // folders by their real path
}

// maxEntries is how many folder entries are looked at for one call.
const maxEntries = 5000

// folder binds what the row takes from a folder and from those below it. If there are too
// many files to bind by content, it binds the names of all.
func (v *walk) folder(folder string) {
	at, kind := v.b.e.files.Look(folder)
	if kind != Folder || v.seen[at] {
		return
	}
	all := Source{Path: path.Join(folder, "*"), Kind: SourceHanded, Unread: "holds more files than can be bound"}
	if !place.Inside(v.b.folders, at) {
		v.seen[at], all.Unread = true, "lies outside the workspace"
		v.b.list = append(v.b.list, all)
		return
	}
	b := v.b
	l := lister{files: b.e.files, folders: b.folders, left: &b.left, seen: v.seen, takes: v.row.takes, enters: v.row.enters}
	files, whole := l.below(folder, "")
	if !whole {
		v.b.list = append(v.b.list, all)
		return
	}
	room := min(len(files), max(maxBound-len(v.b.list), 0))
	for _, rel := range files[:room] {
		v.file(path.Join(folder, rel))
	}
	if room < len(files) {
		all.SHA256 = digestOf(strings.Join(files, "\x00"))
		v.b.list = append(v.b.list, all)
	}
}

// lister finds files below folders. It looks into none outside the allowed folders.
type lister struct {
	files         Files
	folders       []string
	left          *int            // folder entries that may still be looked at
	seen          map[string]bool // folders by their real path
	takes, enters func(rel string) bool
}

// below returns the paths of the wanted files in a folder, in order. whole is false if there
// was more than may be looked at.
func (l *lister) below(folder, rel string) (out []string, whole bool) {
	at, kind := l.files.Look(path.Join(folder, rel))
	if kind != Folder || l.seen[at] || !place.Inside(l.folders, at) {
		return nil, true
	}
	l.seen[at] = true
	entries, whole := l.files.List(path.Join(folder, rel), *l.left)
	*l.left -= len(entries)
	for _, e := range entries {
		name := path.Join(rel, e.Name)
		if e.Kind == OtherFile { // usually a link
			_, e.Kind = l.files.Look(path.Join(folder, name))
		}
		switch {
		case e.Kind == Folder && e.Name != ".git" && l.enters(name):
			below, all := l.below(folder, name)
			out, whole = append(out, below...), whole && all
		case e.Kind == RegularFile && l.takes(name):
			out = append(out, name)
		}
	}
	return out, whole
}

// upwards finds the relative paths in a file that begin with "..".
var upwards = regexp.MustCompile(`(?:\.\./)+[\w./-]*|\.\.(?:["'\s]|$)`)

// file binds a file, and if the row says so, what the file names by "../".
func (v *walk) file(name string) {
	var text string
	switch _, met := v.b.seen[name]; {
	case !met:
		v.b.seen[name] = RegularFile
		text = v.b.file(name)
	case v.row.up:
		data, _ := v.b.e.files.Read(v.b.folders, name, maxSource) // it is bound already
		text = string(data)
	}
	if !v.row.up {
		return
	}
	for _, up := range upwards.FindAllString(text, -1) {
		v.b.path(path.Dir(name), strings.Trim(up, "\"' \t\r\n"))
	}
}
