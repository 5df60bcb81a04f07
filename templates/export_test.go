package templates

import (
	"maps"
	"slices"
	"testing/fstest"
	"time"
)

// Fields returns the names of the fields of every text.
func Fields() map[Key][]string {
	c := checker{}
	c.reference()
	all := map[Key][]string{}
	for key, fields := range c.fields {
		all[key] = []string{}
		for name := range fields {
			all[key] = append(all[key], name)
		}
		slices.Sort(all[key])
	}
	return all
}

// Samples returns values for every text.
func Samples() map[Key]Values {
	c := checker{}
	c.reference()
	all := map[Key]Values{}
	for key, fields := range c.fields {
		all[key] = Values{}
		for name, k := range fields {
			all[key][name] = map[kind]any{aText: Theirs("x"), aCount: 3, aTime: time.Unix(1e9, 0)}[k]
		}
	}
	return all
}

// Overrider returns a function that does what [Load] does with one file of a folder, but
// reads the reference only once. It returns the texts, and the mistakes.
func Overrider() func(body string) (*Texts, []string) {
	reference := checker{}
	reference.reference()
	return func(body string) (*Texts, []string) {
		c := checker{fields: reference.fields}
		f := c.read(fstest.MapFS{"it.tmpl": {Data: []byte(body)}}, Italian, "")
		c.check(f)
		return &Texts{lang: Italian, zone: time.UTC, texts: &book{parsed: f.texts}}, c.mistakes
	}
}

// Differing are the embedded texts that are not the same where each is read by itself as
// where all of its language are read at once.
func Differing() (keys []Key) {
	for _, lang := range Langs() {
		c := checker{}
		one, whole := embeddedIn(lang), c.read(builtin, lang, embeddedName).texts
		for _, key := range one.keys("") {
			if t := one.text(key); t == nil || whole[key] == nil || t.Root.String() != whole[key].Root.String() {
				keys = append(keys, key)
			}
			delete(whole, key)
		}
		keys = slices.AppendSeq(keys, maps.Keys(whole))
	}
	return keys
}

// Embedded returns the mistakes of the embedded texts and phrases.
func Embedded() []string {
	c := checker{}
	c.reference()
	for _, lang := range Langs() {
		f := c.read(builtin, lang, embeddedName)
		for _, key := range c.missing(f) {
			c.add(f.name, "the text %s is missing", key)
		}
		c.check(f)
		c.distinct(f.name, f.texts)
		c.phrases(lang)
	}
	return c.mistakes
}

// Timed calls the function of a language's templates that formats a time.
func Timed(lang Lang, function string, at, now time.Time) string {
	return functions(lang)[function].(func(moment) string)(moment{at, now})
}

// Limits and samples that a test holds against what platforms take.
var (
	Limit = limit
)
