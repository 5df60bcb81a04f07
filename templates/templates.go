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

// Langs returns the languages, the reference language first.
func Langs() []Lang { return []Lang{English, Italian} }

// Language returns the language for a tag such as "it" or "it-CH", and reports whether
// there is one.
func Language(tag string) (Lang, bool) {
	base, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	lang := Lang(base)
	return lang, slices.Contains(Langs(), lang)
}

// Key names a text.
type Key string

// Values are the fields of a text by name: strings, ints, [time.Time] values or [Theirs].
type Values map[string]any

// Theirs is text that somebody else wrote.
type Theirs string

// Part is a piece of a filled text.
type Part struct {
	Text string
	// Theirs reports that somebody else wrote the text.
	Theirs bool
}

// Set holds the texts of every language. It does not change after [Load], and is safe for
// concurrent use.
type Set struct {
	langs   map[Lang]func() language
	told    func() map[string]Key
	form    Form
	builtIn map[Lang][]Key
}

// language holds the texts and phrases of one language.
type language struct {
	texts   *book
	phrases phraseBook
}

// Texts are the texts in one language, with times in one zone.
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

// ending is the extension of the files of texts, of which each language has one, such as
// it.tmpl. embeddedName marks the embedded files in mistakes, to tell them from a folder's.
const (
	ending       = ".tmpl"
	embeddedName = "embedded "
)

// Load returns the embedded texts, with those in the override folder in place of theirs. A
// nil folder overrides nothing. The folder holds a file for each language that it changes,
// with only the changed texts. The error is a [LoadError], which lists every mistake with
// its file and line.
func Load(override fs.FS) (*Set, error) {
	if override == nil {
		return embedded()
	}
	return load(override)
}

// embedded returns the texts without overrides.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var embedded = sync.OnceValues(func() (*Set, error) { return load(nil) })

func load(override fs.FS) (*Set, error) {
	set := &Set{langs: map[Lang]func() language{}, builtIn: map[Lang][]Key{}}
	for _, lang := range Langs() {
		set.langs[lang] = sync.OnceValue(func() language {
			c := checker{} // A test holds that the embedded texts have no mistakes.
			return language{embeddedIn(lang), c.phrases(lang)}
		})
	}
	set.told = sync.OnceValue(func() map[string]Key { return told(set.langs[English]().texts) })
	if override == nil {
		return set, nil
	}
	set.told() // What agents are told is the embedded English, whatever overrides it for people.
	c := checker{}
	c.reference()
	if c.overrides(override, set); len(c.mistakes) > 0 {
		return nil, &LoadError{c.mistakes}
	}
	return set, nil
}

// BuiltIn returns the keys of the texts that the folder's file for the language lacks, in
// order, and that therefore remain the embedded ones. It returns none if the folder has no
// such file.
func (s *Set) BuiltIn(lang Lang) []Key { return s.builtIn[lang] }

// Source returns the embedded file of a language, which is the starting point for an
// override.
func Source(lang Lang) ([]byte, error) { return builtin.ReadFile(string(lang) + ending) }

// In returns the texts in a language, with times in the zone. An unknown language means
// English.
func (s *Set) In(lang Lang, zone *time.Location) *Texts {
	if _, ok := s.langs[lang]; !ok {
		lang = English
	}
	l := s.langs[lang]()
	return &Texts{lang, zone, l.texts, l.phrases, s.told, s.form}
}

// Lang returns the language.
func (t *Texts) Lang() Lang { return t.lang }

// Score formats a judge's score with the language's decimal sign.
func (t *Texts) Score(f float64) string {
	s := wording.Score(f)
	if t.lang == Italian {
		s = strings.ReplaceAll(s, ".", ",")
	}
	return s
}

// Stamp formats a time to the second, with its day and zone.
func (t *Texts) Stamp(at time.Time) string {
	at = at.In(t.zone)
	if t.lang == Italian {
		return at.Format("2 ") + mese(at.Month())[:3] + at.Format(" 2006, 15:04:05 MST")
	}
	return at.Format("2 Jan 2006, 15:04:05 MST")
}

// Has reports whether there is a text under the key.
func (t *Texts) Has(key Key) bool { return t.texts.text(key) != nil }

// Word returns the text under a key, which has no fields, and reports whether there is one.
func (t *Texts) Word(key string) (string, bool) {
	if category, ok := strings.CutPrefix(key, "effect."); ok {
		name := t.EffectName(category)
		return name, name != category
	}
	return t.Plain(Key(key), nil), t.Has(Key(key))
}

// Say fills a text. It always returns something: a text that is missing or lacks its fields
// comes out as its name and the values given, so that a mistake of ours hides nothing from
// the person.
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

// Plain fills a text for a place that cannot tell its parts apart.
func (t *Texts) Plain(key Key, values Values) string {
	var b strings.Builder
	for _, p := range t.Say(key, values) {
		b.WriteString(p.Text)
	}
	return b.String()
}
