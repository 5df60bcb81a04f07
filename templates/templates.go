// Package templates holds the texts that people read: of cards, notices,
// buttons, answers and pages, in every language. They are templates in the
// sense of text/template, embedded, and single ones can be overridden from a
// folder. Those of a folder are checked when they are loaded, and the embedded by
// tests: what has passed can be shown. A text is read when it is asked for: most
// instances speak one language, and say little of it.
//
// A template makes words, never markup. What somebody else wrote is handed in
// as [Theirs] and comes out as a part of its own, so that a channel can set it
// in its own way, and nothing in it can pass for ours.
//
// What agents read is not here: it is English everywhere, because the models
// behind agents follow English instructions best, and because one wording is
// what hooks and logs can be searched for.
package templates

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Lang is a language that people read.
type Lang string

// The languages.
const (
	English Lang = "en"
	Italian Lang = "it"
)

// Langs returns the languages, the reference first.
func Langs() []Lang { return []Lang{English, Italian} }

// Language returns the language of a tag such as "it" or "it-CH", and false
// when there is none for it.
func Language(tag string) (Lang, bool) {
	base, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	lang := Lang(base)
	return lang, slices.Contains(Langs(), lang)
}

// Key names a text.
type Key string

// Values are what a text is filled with: by the name of the field a string, an
// int, a [time.Time] or [Theirs].
type Values map[string]any

// Theirs is a text that somebody else wrote.
type Theirs string

// Part is a piece of a filled text.
type Part struct {
	Text string
	// Theirs says that somebody else wrote it.
	Theirs bool
}

// Set holds the texts of every language. It is never written after [Load], and
// safe for concurrent use.
type Set struct {
	langs   map[Lang]func() language
	told    func() map[string]Key
	form    Form
	builtIn map[Lang][]Key
}

// language is what is said in one.
type language struct {
	texts   *book
	phrases phraseBook
}

// Texts are the texts in one language and time zone.
type Texts struct {
	lang    Lang
	zone    *time.Location
	texts   *book
	phrases phraseBook
	told    func() map[string]Key
	form    Form
}

//go:embed *.tmpl *.phrases
var builtin embed.FS

// ending is that of the files: one for each language, such as it.tmpl. What is
// embedded is told from a folder's files by embeddedName.
const (
	ending       = ".tmpl"
	embeddedName = "embedded "
)

// Load returns the embedded texts, and those of the override folder in place of
// theirs; nil means none. A folder holds a file for each language in which
// something is changed, with the changed texts only. The error lists every
// mistake with its file and line.
func Load(override fs.FS) (*Set, error) {
	if override == nil {
		return embedded()
	}
	return load(override)
}

// embedded are the texts that nothing overrides.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var embedded = sync.OnceValues(func() (*Set, error) { return load(nil) })

func load(override fs.FS) (*Set, error) {
	set := &Set{langs: map[Lang]func() language{}, builtIn: map[Lang][]Key{}}
	for _, lang := range Langs() {
		set.langs[lang] = sync.OnceValue(func() language {
			c := checker{} // The embedded have no mistakes: a test holds it.
			return language{embeddedIn(lang), c.phrases(lang)}
		})
	}
	set.told = sync.OnceValue(func() map[string]Key { return told(set.langs[English]().texts) })
	if override == nil {
		return set, nil
	}
	set.told() // The engine's own words are the embedded, whatever stands in their place.
	c := checker{}
	c.reference()
	if c.overrides(override, set); len(c.mistakes) > 0 {
		return nil, &LoadError{c.mistakes}
	}
	return set, nil
}

// BuiltIn returns the texts that a folder's file of the language lacks, in order, so
// that the embedded ones stand; none where the folder has no such file.
func (s *Set) BuiltIn(lang Lang) []Key { return s.builtIn[lang] }

// Source returns the embedded file of a language, which is what an override
// begins with.
func Source(lang Lang) ([]byte, error) { return builtin.ReadFile(string(lang) + ending) }

// In returns the texts in a language; times are told in the zone.
func (s *Set) In(lang Lang, zone *time.Location) *Texts {
	if _, ok := s.langs[lang]; !ok {
		lang = English
	}
	l := s.langs[lang]()
	return &Texts{lang, zone, l.texts, l.phrases, s.told, s.form}
}

// Lang returns the language.
func (t *Texts) Lang() Lang { return t.lang }

// Score writes a score of a judge, with the language's decimal sign.
func (t *Texts) Score(f float64) string {
	s := wording.Score(f)
	if t.lang == Italian {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

// Stamp writes a time to the second, with its day and zone.
func (t *Texts) Stamp(at time.Time) string {
	at = at.In(t.zone)
	if t.lang == Italian {
		return at.Format("2 ") + mese(at.Month())[:3] + at.Format(" 2006, 15:04:05 MST")
	}
	return at.Format("2 Jan 2006, 15:04:05 MST")
}

// Has reports whether there is a text under the key.
func (t *Texts) Has(key Key) bool { return t.texts.text(key) != nil }

// Word returns the text under a key, if there is one; it is one without fields.
func (t *Texts) Word(key string) (string, bool) { return t.Plain(Key(key), nil), t.Has(Key(key)) }

// Say fills a text. It always says something: a text that is not there, or is
// not given its fields, is shown by its name and with what was given, so that a
// mistake of ours hides nothing from the person.
func (t *Texts) Say(key Key, values Values) []Part {
	var theirs []string
	data := make(map[string]any, len(values))
	for name, v := range values {
		switch v := v.(type) {
		case Theirs:
			data[name] = mark(len(theirs))
			theirs = append(theirs, string(v))
		case string:
			data[name] = unmarked(v)
		case time.Time:
			data[name] = moment{v.In(t.zone), time.Now().In(t.zone)}
		default:
			data[name] = v
		}
	}
	var b strings.Builder
	if tmpl := t.texts.text(key); tmpl == nil || tmpl.Execute(&b, data) != nil {
		return bare(key, values)
	}
	return split(strings.TrimSpace(b.String()), theirs)
}

// Plain fills a text for a place where parts cannot be told apart.
func (t *Texts) Plain(key Key, values Values) string {
	var b strings.Builder
	for _, p := range t.Say(key, values) {
		b.WriteString(p.Text)
	}
	return b.String()
}
