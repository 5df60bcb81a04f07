package project

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/shell"
)

// unaskedRows names the table's lines about files from which an agent's client runs commands without asking the gate.
const unaskedRows = "(client)"

// buildRows names those about files that a build server runs.
const buildRows = "(build)"

// errCarried says why what a client runs by itself is not known, errSets that a file sets a variable that the gate's hook obeys.
var (
	errCarried = &shell.ClosedError{Why: "%s has the agent's client run something that is not known"}
	errSets    = &shell.ClosedError{Why: "%s sets a variable that the gate's hook obeys"}
)

// IsUngated reports whether a client that loads a file may run what it carries without asking the gate.
func (r *Reader) IsUngated(file string) bool {
	return slices.ContainsFunc(r.ungatedAs(file), func(row *row) bool { return row.name != "sets" })
}

// TellsClient reports whether [Reader.Ungated] may find anything in a file of this name.
func (r *Reader) TellsClient(file string) bool { return len(r.ungatedAs(file)) > 0 }

// Ungated returns what the client of an agent runs, without asking the gate, because a file holds a text. The text may be a part of what the file holds.
func (r *Reader) Ungated(file, text string) []shell.Task {
	return r.runs(r.ungatedAs(file), file, text)
}

// IsBuild reports whether a build server runs a file of this name.
func (r *Reader) IsBuild(file string) bool { return len(r.builds.rowsOf(file)) > 0 }

// taken matches what a build server takes from elsewhere, and where it runs.
var taken = regexp.MustCompile(`\b(?:uses|runs-on)["']?\s*:\s*["'[]*\s*([^/\s"',\]]*)`)

// Build returns what a build server runs because a file holds a text, and the makers of what it takes from elsewhere with
// the machines that it asks for; nothing if the text is not all that it runs.
func (r *Reader) Build(file, text string) (tasks []shell.Task, from []string) {
	var tree map[string]any
	if whole, _ := settings.Decode(file, text, &tree); !whole || tree["include"] != nil {
		return nil, nil
	}
	from = lists.Each(taken.FindAllStringSubmatch(strings.ToLower(text), -1), func(m []string) string { return m[1] })
	return r.runs(r.builds.rowsOf(file), file, text), from
}

// runs returns what rows find in a file with this text.
func (r *Reader) runs(rows []*row, file, text string) []shell.Task {
	v := r.visit(file, text)
	v.c.Changed, v.all = []string{file}, false
	for _, row := range rows {
		row.read(v, row)
	}
	return v.tasks
}

func (r *Reader) ungatedAs(file string) []*row {
	return r.clients.rowsOf(strings.ToLower(file)) // as on a file system that folds case
}

// frontMatter matches the settings before a text, lineEnds what readers take for the end of a line.
var (
	frontMatter = regexp.MustCompile(`(?s)^---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|$)`)
	lineEnds    = regexp.MustCompile(`\r\n?|[\x{85}\x{2028}\x{2029}]`)
)

// readFront adds the commands below the row's keys in the settings before a text, or in a file
// that is all settings. In anything else, as in a part of such a text, the key alone counts.
func readFront(v *visit, r *row) {
	file, text, _ := v.content(v.words[0])
	text = lineEnds.ReplaceAllString(text, "\n")
	front := ""
	if m := frontMatter.FindStringSubmatch(text); m != nil {
		front = m[1]
	} else if strings.HasPrefix(strings.TrimSpace(text), "{") {
		front = text
	}
	var tree any
	keys := strings.Fields(r.language)
	if front != "" && v.decode(file, front, &tree) {
		if top, ok := tree.(map[string]any); ok && top["<<"] == nil {
			for _, key := range keys {
				v.carried(file, text, top[key])
			}
			return
		}
	}
	for _, key := range append(keys, `[^"\n]*\\[xuU\n][^"]*`, `<<`) { // escapes may spell any key
		if at := regexp.MustCompile(`(?m)(?:^|[{,])[ \t?]*["']?(?:` + key + `)["']?\s*:`).FindStringIndex(text); at != nil {
			v.shut(file, lineOf(text, at[0]), errCarried)
		}
	}
}

// carried adds the commands of a setting. A name or a list of names refers to what is set elsewhere.
func (v *visit) carried(file, text string, set any) {
	before := len(v.tasks)
	if v.started(file, text, set) && len(v.tasks) == before {
		v.shut(file, 1, errCarried)
	}
}

// started adds the commands in a tree, and reports whether it sets anything.
func (v *visit) started(file, text string, tree any) (sets bool) {
	switch t := tree.(type) {
	case []any:
		for _, e := range t {
			sets = v.started(file, text, e) || sets
		}
	case map[string]any:
		args, _ := t["args"].([]any)
		for _, key := range slices.Sorted(maps.Keys(t)) {
			command, named := t[key].(string)
			switch list, _ := t[key].([]any); {
			case !slices.Contains([]string{"command", "bash", "powershell", "run", "script"}, key):
				v.started(file, text, t[key])
			case named && len(args) > 0:
				v.addFrom(file, text, command, quoted(command)+quoted(texts(args)...))
			case named:
				v.addFrom(file, text, command, command)
			default:
				v.addFrom(file, text, "", quoted(texts(list)...))
			}
		}
		return len(t) > 0
	}
	return sets
}

// spelledRune matches a character that a text in quotes spells by its number, or a line that goes on with the next.
var spelledRune = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|[ \t]*\n\s*)`)

// readShown adds the commands whose output a client puts in their place: those between the row's marks, such as !{ and }.
func readShown(v *visit, r *row) {
	file, text, _ := v.content(v.words[0])
	plain := spelledRune.ReplaceAllStringFunc(lineEnds.ReplaceAllString(text, "\n"), func(s string) string {
		m := spelledRune.FindStringSubmatch(s)
		n, err := strconv.ParseInt(m[1]+m[2]+m[3], 16, 32)
		if err != nil {
			return ""
		}
		return string(rune(n))
	})
	for marks := range strings.FieldsSeq(r.language) {
		begin, end, _ := strings.Cut(marks, "~")
		for at, rest := 0, plain; !v.seen["more"]; {
			before, after, found := strings.Cut(rest, begin)
			if !found {
				break
			}
			at += len(before)
			command, behind, closed := strings.Cut(after, end)
			if strings.TrimSpace(command) == "" || !closed {
				v.shut(file, lineOf(plain, at), errCarried)
			}
			v.add(file, lineOf(plain, at), "sh", command)
			at, rest = at+len(begin)+len(command)+len(end), behind
			if !closed {
				break
			}
		}
	}
}

// readSets finds lines that give a value to a variable whose name begins with one of the row's texts.
func readSets(v *visit, r *row) {
	file, text, _ := v.content(v.words[0])
	for _, l := range settings.Lines(text) {
		for name := range strings.FieldsSeq(r.language) {
			_, after, found := strings.Cut(l.Text, name)
			if comment := strings.TrimSpace(l.Text); found && comment[0] != '#' && !strings.HasPrefix(comment, "//") && strings.ContainsAny(after, "=:, ") {
				v.shut(file, l.Number, errSets)
			}
		}
	}
}
