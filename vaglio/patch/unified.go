package patch

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// contextHunk begins a hunk of a context diff, a format that is not read.
const contextHunk = "***************"

// file is one file of a diff while its header and hunks are read.
type file struct {
	line     int
	git      bool     // the header is git's
	old, new []string // the names of its two sides
	others   []string // names that cannot be assigned to a side
	oldNull  bool     // the old side is /dev/null
	newNull  bool
	context  bool // the old name came from a context diff
	named    bool // a line of its own named a side
	deleted  bool
	created  bool
	from, to string // of a rename or copy
	copies   bool
	mode     uint32
	modeOnly bool
	link     bool
	hunks    bool
	added    strings.Builder
}

// header reads a line outside hunks. It skips lines that no program acts on, such as the text of a mail.
func (r *reader) header(line string) {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		r.begin(true)
		r.gitNames(line[len("diff --git "):])
	case strings.HasPrefix(line, "@@ -"):
		r.unifiedHunk(line)
	case strings.HasPrefix(line, contextHunk):
		r.fail(r.n, "begins a part of a context diff, which is not read: send a unified one")
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "*** "), strings.HasPrefix(line, "Index: "):
		r.name(line)
	case r.file != nil && r.file.git && !r.file.hunks && r.extended(line):
	default:
		r.odd(line)
	}
}

// odd fails for a line that patch could take for a diff in a format that is not read: an indented diff, an ed script, a normal diff.
func (r *reader) odd(line string) {
	trimmed := strings.TrimLeft(line, " \tX")
	for strings.HasPrefix(trimmed, "- ") {
		trimmed = trimmed[2:]
	}
	switch {
	case trimmed != line && (beginsHunk(trimmed) || strings.HasPrefix(trimmed, "diff --git ")):
		r.fail(r.n, "begins a part of a patch that is indented")
	case strings.HasPrefix(trimmed, "@@") && r.file != nil && r.file.named:
		r.fail(r.n, "begins a part of a patch that does not say how long it is")
	case edCommand.MatchString(trimmed):
		r.fail(r.n, "is a command of an ed script or a normal diff")
	}
}

// edCommand is a command of an ed script, or the first line of a hunk of a normal diff: numbers and one letter.
var edCommand = regexp.MustCompile(`^[0-9,]+([acdis][0-9,]*$|s/)`)

func (r *reader) begin(git bool) {
	r.flush()
	r.file = &file{line: r.n, git: git}
}

// name reads a header line that names one file.
func (r *reader) name(line string) {
	mark, rest, _ := strings.Cut(line, " ")
	f := r.headerOf(mark)
	f.named = f.named || mark != "Index:"
	names, null := namesIn(rest)
	switch {
	case mark == "Index:":
		f.others = append(f.others, names...)
	case mark == "***":
		f.context = true
		f.old, f.oldNull = append(f.old, names...), f.oldNull || null
	case mark == "+++", f.context:
		f.new, f.newNull = append(f.new, names...), f.newNull || null
	default:
		f.old, f.oldNull = append(f.old, names...), f.oldNull || null
	}
}

// headerOf returns the file whose header a line with a mark belongs to.
func (r *reader) headerOf(mark string) *file {
	if r.file == nil || r.file.hunks {
		r.begin(false)
	}
	if f := r.file; mark == "---" && !f.context && f.named && !f.git || mark == "***" && f.named {
		r.begin(false) // the lines before it were not a header
	}
	return r.file
}

// gitNames reads the two names of git's first line. Names may contain spaces, but then both are the same after their first folder.
func (r *reader) gitNames(rest string) {
	f := r.file
	if a, b, ok := quotedPair(rest); ok {
		f.others = []string{a, b}
		return
	}
	if half := len(rest) / 2; len(rest) > 0 && rest[half] == ' ' && strip(rest[:half], 1) == strip(rest[half+1:], 1) {
		f.others = []string{rest[:half], rest[half+1:]}
		return
	}
	if a, b, ok := strings.Cut(rest, " "); ok && !strings.Contains(b, " ") {
		f.others = []string{a, b}
	}
}

// extended reads a further line of git's header.
func (r *reader) extended(line string) bool {
	f := r.file
	for _, e := range []struct {
		prefix string
		set    func(rest string)
	}{
		{"old mode ", func(string) { f.modeOnly = true }},
		{"new mode ", r.setMode},
		{"deleted file mode ", func(string) { f.deleted = true }},
		{"new file mode ", func(s string) { f.created = true; r.setMode(s) }},
		{"rename from ", func(s string) { f.from = unquoted(s) }},
		{"rename old ", func(s string) { f.from = unquoted(s) }},
		{"rename to ", func(s string) { f.to = unquoted(s) }},
		{"rename new ", func(s string) { f.to = unquoted(s) }},
		{"copy from ", func(s string) { f.from, f.copies = unquoted(s), true }},
		{"copy to ", func(s string) { f.to = unquoted(s) }},
	} {
		if rest, ok := strings.CutPrefix(line, e.prefix); ok {
			e.set(rest)
			return true
		}
	}
	return saysNothing.MatchString(line)
}

// saysNothing matches the lines of git's header that change nothing.
var saysNothing = regexp.MustCompile(`^(?:index |(?:dis)?similarity index |GIT binary patch|Binary files )`)

func (r *reader) setMode(s string) {
	m, err := strconv.ParseUint(strings.TrimSpace(s), 8, 32)
	if err != nil {
		r.fail(r.n, "gives a mode that is none")
		return
	}
	const kind, symlink, bits = 0o170000, 0o120000, 0o7777
	r.file.link, r.file.mode = m&kind == symlink, uint32(m&bits)
}

// hunkOf starts a hunk and returns its file.
func (r *reader) hunkOf() *file {
	if r.file == nil {
		r.begin(false)
		if r.o.File == "" {
			r.fail(r.n, "changes a file that it does not name")
		}
	}
	r.file.hunks = true
	return r.file
}

// unifiedHunk reads a hunk of the length that its first line states.
func (r *reader) unifiedHunk(line string) {
	f := r.hunkOf()
	start := r.n
	olds, news, ok := hunkSize(line)
	if !ok {
		r.fail(start, "begins a part of a patch and does not say how long it is")
		return
	}
	plus := byte('+')
	if r.o.Reverse {
		plus = '-'
	}
	for olds > 0 || news > 0 {
		line, ok := r.peek()
		if !ok {
			if olds != news { // missing context lines may be empty ones
				r.fail(start, "begins a part of a patch that is cut off")
			}
			return
		}
		o, n, ok := sides(line)
		if !ok {
			r.fail(r.n+1, "is not a line of the part of the patch in which it stands")
			return
		}
		olds, news = olds-o, news-n
		r.next()
		if firstByte(line) == plus {
			addLine(&f.added, line[1:])
		}
		if olds < 0 || news < 0 {
			r.fail(r.n, "is one line more than its part of the patch says")
			return
		}
	}
}

// sides returns how many lines of each side a line of a hunk counts for, and whether it is a line of a hunk at all.
func sides(line string) (olds, news int, ok bool) {
	switch firstByte(line) {
	case ' ', '\t', 0:
		return 1, 1, true
	case '-':
		return 1, 0, true
	case '+':
		return 0, 1, true
	case '\\':
		return 0, 0, true
	}
	return 0, 0, false
}

// addLine appends a line that the file has afterwards.
func addLine(added *strings.Builder, line string) {
	added.WriteString(line)
	added.WriteByte('\n')
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// hunkRange are the numbers of @@ -1,2 +3,4 @@.
var hunkRange = regexp.MustCompile(`^@@\s+-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s+@@`)

// hunkSize is how many lines a hunk has of either side.
func hunkSize(line string) (olds, news int, ok bool) {
	var n [4]int
	m := hunkRange.FindStringSubmatch(line)
	for i := 0; m != nil && i < len(n); i++ {
		size, err := strconv.ParseUint(cmp.Or(m[i+1], "1"), 10, 31)
		if n[i] = int(size); err != nil {
			return 0, 0, false
		}
	}
	return n[1], n[3], m != nil
}

// beginsHunk reports whether a line is the first line of a hunk.
func beginsHunk(line string) bool {
	return strings.HasPrefix(line, "@@ -") || strings.HasPrefix(line, contextHunk)
}

// flush records the changes to the file that was read.
func (r *reader) flush() {
	f := r.file
	r.file = nil
	if f == nil || !f.git && !f.hunks {
		return // it only looked like a header
	}
	if r.o.Reverse {
		f.old, f.new, f.from, f.to = f.new, f.old, f.to, f.from
		f.oldNull, f.newNull, f.deleted, f.created = f.newNull, f.oldNull, f.created, f.deleted
	}
	base := Change{Line: f.line, Mode: f.mode, Added: f.added.String()}
	before := len(r.out)
	if r.o.File == "" && (f.from != "" || f.to != "") {
		r.moved(f, base)
	}
	for _, p := range r.candidates(f) {
		base.Path = p
		r.out = append(r.out, f.verbed(base))
	}
	if len(r.out) == before {
		r.fail(f.line, "changes a file that it does not name")
	}
}

// moved records a rename or a copy. Git writes these names without the folder that it puts before others.
func (r *reader) moved(f *file, c Change) {
	c.Verb = shell.VerbMove
	if f.copies {
		c.Verb = shell.VerbCopy
	}
	n := max(r.o.Strip-1, 0)
	if c.Path, c.To = strip(f.from, n), strip(f.to, n); c.Path == "" || c.To == "" {
		r.fail(f.line, "names only one side of a file that it moves")
	}
	r.change(c)
}

// candidates returns the paths by which a program may know the file, without those of a rename.
func (r *reader) candidates(f *file) []string {
	if r.o.File != "" {
		return []string{r.o.File}
	}
	var out []string
	seen := map[string]bool{"": true, f.from: true, f.to: true}
	for _, n := range slices.Concat(f.old, f.new, f.others) {
		for _, p := range r.stripped(n) {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// verbed gives a change its verb. A side that is said to be missing but is named counts as present.
func (f *file) verbed(c Change) Change {
	created := (f.created || f.oldNull) && len(f.old) == 0
	deleted := (f.deleted || f.newNull) && len(f.new) == 0
	c.Verb = Create
	switch {
	case f.link && !deleted:
		c.Verb, c.To = shell.VerbLink, strings.TrimSuffix(c.Added, "\n")
	case created == deleted && f.modeOnly && !f.hunks:
		c.Verb = shell.VerbPermissions
	case created == deleted:
		c.Verb = shell.VerbWrite
	case deleted:
		c.Verb = shell.VerbDelete
	}
	return c
}
