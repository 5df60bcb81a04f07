// Package wordclass holds the longer word lists of the code that reads calls: names of programs, of variables, of verbs. They are looked up by the name of
// their class. As data, they keep the code free of them.
package wordclass

import (
	"cmp"
	_ "embed" // The lists.
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

//go:embed words.txt
var text string

// Is reports whether a word belongs to a class of words.txt. Case matters.
func Is(class, word string) bool { return classes()[class].has[word] }

// Of returns the words of a class, in order.
func Of(class string) []string { return classes()[class].list }

// Bare returns the name of a program without its version.
func Bare(program string) string { return strings.TrimRight(program, "0123456789.") }

// Any reports whether one of the words belongs to a class.
func Any(class string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return Is(class, w) })
}

// Within reports whether a text contains a word of a class.
func Within(class, text string) bool {
	return slices.ContainsFunc(Of(class), func(w string) bool { return strings.Contains(text, w) })
}

// Kind returns the kind of a word within a class: the first that lists it, or "".
func Kind(class, word string) string { return classes()[class].kind[word] }

// Kinds returns the words of a class by kind, in order.
func Kinds(class string) map[string][]string { return classes()[class].kinds }

// words holds one class.
type words struct {
	list []string
	has  map[string]bool
	// kinds are the words by kind; kind is the first kind of each word.
	kinds map[string][]string
	kind  map[string]string
}

// classes returns the lists. They are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var classes = sync.OnceValue(func() map[string]words { return parse(text) })

// parse reads lines that each give a class and its words. A class may have several lines.
func parse(text string) map[string]words {
	all := map[string]words{}
	for _, line := range rows.Of(text) {
		list := strings.Fields(line)
		class, kind, _ := strings.Cut(strings.TrimSuffix(list[0], ":"), "/")
		c := all[class]
		if c.has == nil {
			c = words{has: map[string]bool{}, kinds: map[string][]string{}, kind: map[string]string{}}
		}
		for _, w := range list[1:] {
			c.has[w], c.kind[w] = true, cmp.Or(c.kind[w], kind)
		}
		c.kinds[kind] = append(c.kinds[kind], list[1:]...)
		c.list = append(c.list, list[1:]...)
		all[class] = c
	}
	return all
}
