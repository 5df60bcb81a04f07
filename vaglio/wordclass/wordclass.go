// Package wordclass keeps the longer lists of words that the readers of code look
// up by the name of their class: names of programs, of variables, of verbs.
// They are data, so that the code that uses them says only what follows.
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

// Is says whether a word is of a class of words.txt. Upper and lower case
// differ.
func Is(class, word string) bool { return classes()[class].has[word] }

// Of are the words of a class, in their order.
func Of(class string) []string { return classes()[class].list }

// Any says whether one of some words is of a class.
func Any(class string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return Is(class, w) })
}

// Within says whether a text holds a word of a class.
func Within(class, text string) bool {
	return slices.ContainsFunc(Of(class), func(w string) bool { return strings.Contains(text, w) })
}

// Kind gives which kind of a class a word is: the first that has it, "" for none.
func Kind(class, word string) string { return classes()[class].kind[word] }

// Kinds are the words of each kind of a class, in their order.
func Kinds(class string) map[string][]string { return classes()[class].kinds }

// words are those of one class.
type words struct {
	list []string
	has  map[string]bool
	// kinds are the words by their kind, kind is the first kind of a word.
	kinds map[string][]string
	kind  map[string]string
}

// classes are the lists, which are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var classes = sync.OnceValue(func() map[string]words { return parse(text) })

// parse reads lines of a class and its words; a class may have several.
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
