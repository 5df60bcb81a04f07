package templates

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// book are the texts of a language. The embedded are parsed one by one, each when it is
// first asked for: of a thousand, most instances say few. It is safe for concurrent use.
type book struct {
	mu     sync.Mutex
	parsed map[Key]*template.Template
	// unread are the definitions that nobody asked for yet, from their names on, and root
	// is what they are parsed into.
	unread map[Key]string
	root   *template.Template
}

// definition is how a text begins in an embedded file, at the beginning of a line.
const definition = `{{define "`

// rootOf is an empty text of that name in a language, into which others can be parsed.
func rootOf(name string, lang Lang) *template.Template {
	return template.New(name).Funcs(functions(lang)).Option("missingkey=error")
}

// embeddedIn are the embedded texts of a language, which have no mistakes: a test holds it.
func embeddedIn(lang Lang) *book {
	b := &book{parsed: map[Key]*template.Template{}, unread: map[Key]string{}, root: rootOf(embeddedName+string(lang), lang)}
	body, _ := builtin.ReadFile(string(lang) + ending)
	for _, text := range strings.Split("\n"+string(body), "\n"+definition)[1:] {
		name, _, _ := strings.Cut(text, `"`)
		b.unread[Key(name)] = text
	}
	return b
}

// text returns the text under a key, nil if there is none.
func (b *book) text(key Key) *template.Template {
	b.mu.Lock()
	defer b.mu.Unlock()
	if body, ok := b.unread[key]; ok {
		delete(b.unread, key)
		if _, err := b.root.Parse(definition + body); err == nil {
			b.parsed[key] = b.root.Lookup(string(key))
		}
	}
	return b.parsed[key]
}

// keys returns the names of all texts that begin so, in no order.
func (b *book) keys(prefix string) []Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.AppendSeq(slices.Collect(maps.Keys(b.parsed)), maps.Keys(b.unread))
	return slices.DeleteFunc(all, func(key Key) bool { return !strings.HasPrefix(string(key), prefix) })
}

// all returns every text. Whoever loads the book may change what it returns, and with it
// the book.
func (b *book) all() map[Key]*template.Template {
	for _, key := range b.keys("") {
		b.text(key)
	}
	return b.parsed
}
