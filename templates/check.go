package templates

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/nearest"
)

// LoadError lists everything that is wrong with the texts of an override folder.
type LoadError struct {
	// Mistakes holds one mistake per entry, each prefixed with its file and, if known, its
	// line.
	Mistakes []string
}

func (e *LoadError) Error() string { return strings.Join(e.Mistakes, "\n") }

// kind is the type of value a field holds.
type kind string

const (
	aText  kind = "text"
	aCount kind = "number"
	aTime  kind = "time"
)

// checker collects the mistakes it finds in texts.
type checker struct {
	// fields holds the fields of every text, by name, as the embedded English uses them.
	fields   map[Key]map[string]kind
	mistakes []string
}

func (c *checker) add(where, format string, args ...any) {
	c.mistakes = append(c.mistakes, where+": "+fmt.Sprintf(format, args...))
}

// reference reads the embedded English, which defines which texts exist and their fields.
func (c *checker) reference() {
	c.fields = map[Key]map[string]kind{}
	f := c.read(builtin, English, embeddedName)
	for key, t := range f.texts {
		u := f.uses(t)
		c.fields[key] = u.kinds
		for _, m := range u.mistakes {
			c.add(m.where, "%s: %s", key, m.what)
		}
	}
}

// missing returns the keys of the texts that f lacks, in order.
func (c *checker) missing(f file) []Key {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.fields)), func(key Key) bool { return f.texts[key] != nil })
}

// overrides applies the files of the override folder to set.
func (c *checker) overrides(folder fs.FS, set *Set) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		c.add("the folder of texts", "cannot be read: %v", err)
		return
	}
	found := 0
	for _, e := range entries {
		base, texts := strings.CutSuffix(e.Name(), ending)
		base, phrases := strings.CutSuffix(base, phrasing)
		if !texts && !phrases || strings.HasPrefix(base, ".") {
			continue
		}
		found++
		lang := Lang(base)
		switch _, ok := set.langs[lang]; {
		case !ok:
			c.add(e.Name(), "there is no language %q; a file is named %s", base, listed(Langs(), ending))
		case texts:
			c.overrideTexts(folder, lang, set)
		case lang == English:
			c.add(e.Name(), "English is what the engine itself says; only other languages have phrases")
		default:
			c.overridePhrases(folder, lang, set.langs[lang]().phrases)
		}
	}
	if found == 0 {
		c.add("the folder of texts", "holds no texts; a file is named %s", listed(Langs(), ending))
	}
}

// overrideTexts replaces embedded texts with those in the folder's file for lang.
func (c *checker) overrideTexts(folder fs.FS, lang Lang, set *Set) {
	f := c.read(folder, lang, "")
	before := len(c.mistakes)
	c.check(f)
	if len(c.mistakes) > before {
		return
	}
	set.builtIn[lang] = c.missing(f)
	texts := set.langs[lang]().texts.all()
	maps.Copy(texts, f.texts)
	c.distinct(f.name, texts)
}

// file is one file of texts.
type file struct {
	name, body string
	texts      map[Key]*template.Template
}

const maxFile = 1 << 20 // bytes: many times the size of a language's texts

// read parses a file, which may hold nothing but definitions.
func (c *checker) read(from fs.FS, lang Lang, prefix string) file {
	name := string(lang) + ending
	f := file{name: prefix + name, texts: map[Key]*template.Template{}}
	raw, err := fs.ReadFile(from, name)
	switch {
	case err != nil:
		c.add(f.name, "cannot be read: %v", err)
		return f
	case len(raw) > maxFile:
		c.add(f.name, "has %d bytes; %d are the most", len(raw), maxFile)
		return f
	}
	raw = bytes.ReplaceAll(bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF")), []byte("\r\n"), []byte("\n"))
	f.body = string(raw)
	if at := strings.IndexFunc(f.body, unfit); at >= 0 || !utf8.ValidString(f.body) {
		c.add(f.line(max(at, 0)), "holds a character that cannot be seen, or is not UTF-8")
		return f
	}
	root, err := rootOf(f.name, lang).Parse(f.body)
	if err != nil {
		c.mistakes = append(c.mistakes, strings.ReplaceAll(err.Error(), "template: ", ""))
		return f
	}
	for _, t := range root.Templates() {
		if t.Name() != f.name {
			f.texts[Key(t.Name())] = t
		} else if t.Tree != nil && !parse.IsEmptyTree(t.Root) {
			c.add(f.line(outside(t.Root)), `only definitions may stand in a file: {{define "title.one"}}…{{end}}`)
		}
	}
	return f
}

// outside returns the position of the first thing that is not a definition.
func outside(l *parse.ListNode) int {
	for _, n := range l.Nodes {
		if t, ok := n.(*parse.TextNode); !ok || len(bytes.TrimSpace(t.Text)) > 0 {
			at := int(n.Position())
			if ok {
				at += len(t.Text) - len(bytes.TrimLeft(t.Text, " \t\n"))
			}
			return at
		}
	}
	return int(l.Position())
}

// line formats a position in the file as name:line.
func (f file) line(at int) string {
	return fmt.Sprintf("%s:%d", f.name, 1+strings.Count(f.body[:min(at, len(f.body))], "\n"))
}

// unfit reports whether our texts must not hold the character: invisible ones can deceive,
// and the package reserves its marks. The invisible ones that emoji are made of are
// allowed.
func unfit(r rune) bool {
	const variation, joiner = '\uFE0F', '\u200D'
	if r == '\n' || r == '\t' || r == variation || r == joiner || r == '\u00A0' || r == '\u202F' {
		return false
	}
	return isMark(r) || !unicode.IsPrint(r)
}

// check compares the texts of a file with the reference.
func (c *checker) check(f file) {
	for _, key := range slices.Sorted(maps.Keys(f.texts)) {
		t := f.texts[key]
		where := f.line(int(t.Root.Position()))
		want, ok := c.fields[key]
		if !ok {
			c.add(where, "there is no text %q%s", key, meant(key, c.fields))
			continue
		}
		u := f.uses(t)
		for _, m := range u.mistakes {
			c.add(m.where, "%s: %s", key, m.what)
		}
		sound := len(u.mistakes) == 0
		for _, name := range slices.Sorted(maps.Keys(u.kinds)) {
			switch is, known := want[name], u.kinds[name]; {
			case is == "":
				c.add(where, "%s: there is no field .%s; it has %s", key, name, fieldList(want))
				sound = false
			case is != known && known != aText:
				c.add(where, "%s: the field .%s is a %s, not a %s", key, name, is, known)
				sound = false
			}
		}
		if sound {
			c.fill(where, key, t, want)
		}
	}
}

// fill executes a text on sample values. The text must not be empty, must keep within its
// limits, and must show every field.
func (c *checker) fill(where string, key Key, t *template.Template, fields map[string]kind) {
	for n := range samples {
		base, err := sample(t, fields, n, "")
		switch {
		case err != nil:
			c.add(where, "%s: %v", key, err)
			return
		case strings.TrimSpace(base) == "":
			c.add(where, "%s: the text is empty; it must say something", key)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if other, err := sample(t, fields, n, name); err != nil || other == base {
				c.add(where, "%s: the field .%s does not show; a person needs it", key, name)
				return
			}
		}
		if most, have := limit(key), utf8.RuneCountInString(base); have > most {
			c.add(where, "%s: the text has about %d characters; at most %d are allowed here", key, have, most)
			return
		}
		if strings.Contains(strings.TrimSpace(base), "\n") && limit(key) < maxTalk {
			c.add(where, "%s: the text has several lines; it must have one", key)
			return
		}
	}
}

// samples is the number of sets of values on which a text is tried.
const samples = 3

// sample executes a text on the nth set of values, giving the field named changed a
// different value.
func sample(t *template.Template, fields map[string]kind, n int, changed string) (string, error) {
	data := map[string]any{}
	for name, k := range fields {
		add := 0
		if name == changed {
			add = 1
		}
		now := time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)
		switch k {
		case aText:
			data[name] = [...]string{"x", "y"}[add]
		case aCount:
			data[name] = [...]int{1, 2, 1000}[n] + 3*add
		case aTime:
			data[name] = moment{now.AddDate(0, 0, -n).Add(time.Duration(add) * time.Minute), now}
		}
	}
	var b strings.Builder
	err := t.Execute(&b, data)
	return b.String(), err
}

// distinct finds texts that read the same but must not, such as the states of calls or the
// labels of buttons.
func (c *checker) distinct(file string, texts map[Key]*template.Template) {
	read := map[string]Key{}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		group, _, _ := strings.Cut(string(key), ".")
		if !slices.Contains([]string{"state", "button", "tap", "effect", "undo", "reach"}, group) || c.fields[key] == nil {
			continue
		}
		text, err := sample(texts[key], c.fields[key], 1, "")
		if err != nil {
			continue
		}
		text = group + " " + strings.ToLower(strings.Join(strings.Fields(text), " "))
		if other, ok := read[text]; ok {
			c.add(file, "%s reads the same as %s; a person must tell them apart", key, other)
		}
		read[text] = key
	}
}

// The limits on a text's length, in characters, with one-character fields.
const (
	maxTalk  = 2000
	maxCard  = 160
	maxRule  = 400
	maxState = 100
	maxLabel = 40 // a button, or what precedes other people's words
)

// limit returns the most characters that a text may have, which depends on where it is
// shown: Telegram takes 4096 in a message, 200 in the answer to a button press, and 64 in
// an empty field.
func limit(key Key) int {
	group, _, _ := strings.Cut(string(key), ".")
	switch {
	case group == "button", key == "words", key == "detail", key == "calls.ended":
		return maxLabel
	case key == "prompt.placeholder":
		return 64
	case group == "guard", group == "told":
		return maxRule
	case group == "state", group == "menu", group == "title":
		return maxState
	case slices.Contains([]string{"prompt", "words", "help", "away", "pair", "web", "status", "lang"}, group):
		return maxTalk
	default:
		return maxCard
	}
}

func fieldList(fields map[string]kind) string {
	if len(fields) == 0 {
		return "none"
	}
	return "." + strings.Join(slices.Sorted(maps.Keys(fields)), ", .")
}

func listed(langs []Lang, ending string) string {
	var names []string
	for _, l := range langs {
		names = append(names, string(l)+ending)
	}
	return strings.Join(names, " or ")
}

// meant proposes the key of which the one that was written is a slip, if there is one.
func meant(key Key, among map[Key]map[string]kind) string {
	var names []string
	for _, known := range slices.Sorted(maps.Keys(among)) {
		names = append(names, string(known))
	}
	if near := nearest.Slip(string(key), names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
