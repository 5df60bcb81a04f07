// Package spoken says how the words are said of which names of tools and of
// subcommands are made: "delete_user" deletes a user.
package spoken

import (
	_ "embed" // The words.
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/wording"
)

//go:embed words.txt
var text string

// Act is what is done, as a verb says it.
type Act struct {
	// Phrase says it of a thing.
	Phrase wording.Phrase
	// Turns says that another verb takes it back, Partly that it can be undone in
	// part where it is done to a thing that is not final, Final that it cannot, but
	// where that is versioned.
	Turns, Partly, Final bool
	// Makes says that there is one thing more for it, Sets that it sets one going.
	Makes, Sets bool
	// Kept says that what is versioned is kept where it is done.
	Kept bool
	// holders says that what holds others is emptied by it.
	holders bool
	// With is how a second thing goes with the first: "to %s".
	With wording.Phrase
}

// Thing is what something is done to, as a noun says it.
type Thing struct {
	// One, Several and Any say it with a name, with several, and with none.
	One, Several, Any wording.Phrase
	// Words are its nouns, in the singular, with words of two joined by a dash.
	Words []string
	// Keys are keys of arguments that name it, and nothing else of it.
	Keys []string
	// Final says that it cannot be taken back once it is there, Versioned that its
	// history keeps it, Titled that it has a title besides a name.
	Final, Versioned, Titled bool
	// Single says that whoever has one has no second.
	Single bool
	// holds says that it holds others, and stays when they are gone.
	holds bool
	// Gathers says that what is in it is kept elsewhere: taken out, it is not gone.
	Gathers bool
}

// To is how what is done is said of a thing: a queue that is purged is emptied, an
// account that is purged is gone. A thing that is not known is nil.
func (a *Act) To(t *Thing) *Act {
	if a.holders && t != nil && t.holds {
		return known().acts["empty"]
	}
	return a
}

// words are what words.txt says.
type words struct {
	acts   map[string]*Act
	things map[string]*Thing
	// keys are the things of keys that are no words, nil where that may be several.
	keys  map[string]*Thing
	kinds map[string]wording.Phrase
	lists map[string][]string
	all   []wording.Phrase
}

// known are the words, which are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var known = sync.OnceValue(func() *words {
	w, err := parse(text)
	if err != nil {
		panic(err) // It is built in, and a test reads it.
	}
	return w
})

// longest is how many words a verb or a noun is made of at most.
const longest = 3

// ActIn finds the first verb among the words of a name, where it begins, and how many
// words it is made of.
func ActIn(name []string) (act *Act, at, n int) {
	for at := range name {
		for n := min(longest, len(name)-at); n > 0; n-- {
			if act := known().acts[strings.Join(name[at:at+n], "-")]; act != nil {
				return act, at, n
			}
		}
	}
	return nil, -1, 0
}

// ThingOf finds the noun with which some words end, in the singular or the plural,
// whether it is the plural, and the words before it; nil if it is not listed.
func ThingOf(name []string) (thing *Thing, plural bool, before []string) {
	for n := min(longest, len(name)); n > 0; n-- {
		before, noun := name[:len(name)-n], strings.Join(name[len(name)-n:], "-")
		if t := known().things[noun]; t != nil {
			return t, false, before
		}
		for _, one := range Singular(noun)[1:] {
			if t := known().things[one]; t != nil {
				return t, true, before
			}
		}
	}
	return nil, false, name
}

// Singular is a noun, and those of which it may be the plural.
func Singular(noun string) []string {
	out := []string{noun}
	for _, ends := range [][2]string{{"ies", "y"}, {"es", ""}, {"s", ""}} {
		if one, ok := strings.CutSuffix(noun, ends[0]); ok {
			out = append(out, one+ends[1])
		}
	}
	return out
}

// ThingAt finds the thing that stands under a key of arguments, nil where that is not
// listed or may be several.
func ThingAt(key string) *Thing {
	if t, _, rest := ThingOf([]string{strings.TrimSuffix(strings.TrimSuffix(key, "id"), "name")}); t != nil && len(rest) == 0 {
		return t
	}
	return known().keys[key]
}

// Kind says what an effect of a kind does, empty if it is not listed.
func Kind(kind string) wording.Phrase { return known().kinds[kind] }

// Is says whether a word is of one of the lists, such as "places bare".
func Is(list, word string) bool { return Rank(list, word) >= 0 }

// Rank is where a word stands in one of the lists, of which some begin with what says
// most; -1 if it is not in it.
func Rank(list, word string) int { return slices.Index(known().lists[list], word) }

// Phrases are all that is said.
func Phrases() []wording.Phrase { return known().all }

// Subcommand says what a command line of nouns and a verb does to the one thing that it
// names by an operand or an option, nil where it names none or several, or the words are
// not known: "stops the instance i-1". The operands are some of its words; split finds
// the words of a name.
func Subcommand(operands, words []string, split func(string) []string) wording.Sentence {
	for i, operand := range operands[:min(verbStands, len(operands))] {
		name := split(operand)
		act, at, n := ActIn(name)
		if at != 0 {
			continue
		}
		nouns := name[n:]
		if len(nouns) == 0 { // They stand before it, behind that of the service.
			nouns = split(strings.Join(operands[max(0, i-longest+1):i], " "))
		}
		thing, _, before := ThingOf(nouns)
		if thing == nil || len(before) > 0 && len(name) > n {
			continue // It may be the name of a service.
		}
		option := "--" + strings.TrimSuffix(strings.Join(nouns[len(before):], "-"), "s")
		named := behind(words, option, option+"s", option+"-name", option+"-id", option+"-ids", option+"-identifier", option+"-url", option+"-arn")
		if len(named) == 0 {
			named = alone(operands[i+1:], words)
		}
		if len(named) == 0 {
			named = behind(words, "--name", "-n")
		}
		if len(named) == 1 {
			return wording.Sentence{{Phrase: act.To(thing).Phrase, Args: []wording.Clause{wording.Say(thing.One, named[0])}}}
		}
		return nil
	}
	return nil
}

// alone are the operands that stand behind no option, of which they may be the value.
func alone(operands, words []string) []string {
	return slices.DeleteFunc(slices.Clone(operands), func(operand string) bool {
		at := slices.Index(words, operand)
		return at > 0 && strings.HasPrefix(words[at-1], "-")
	})
}

// verbStands is how many operands of a command line may be the verb or stand before it.
const verbStands = 5

// behind are the words behind one of some options, up to the next one: it may take
// several.
func behind(words []string, options ...string) []string {
	for at, w := range words {
		if option, value, ok := strings.Cut(w, "="); ok && slices.Contains(options, option) {
			return []string{value}
		}
		if slices.Contains(options, w) {
			words = words[at+1:]
			if end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }); end >= 0 {
				words = words[:end]
			}
			return words
		}
	}
	return nil
}

// parse reads the lines of the sections.
func parse(text string) (*words, error) {
	w := &words{acts: map[string]*Act{}, things: map[string]*Thing{}, keys: map[string]*Thing{}, kinds: map[string]wording.Phrase{}, lists: map[string][]string{}}
	section := ""
	for n, line := range rows.Of(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		said, rest, ok := strings.Cut(line, " = ")
		list, marks, _ := strings.Cut(rest, " ; ")
		if !ok || !w.take(section, said, strings.Fields(list), strings.Fields(marks)) {
			return nil, fmt.Errorf("words.txt:%d: this is no line of the section [%s]: %q", n, section, line)
		}
	}
	return w, nil
}

// take takes a line, and says whether it is one of its section.
func (w *words) take(section, said string, list, marks []string) bool {
	parts := strings.Split(said, " / ")
	phrases := make([]wording.Phrase, len(parts))
	for i, f := range parts {
		phrases[i] = wording.Phrase(strings.ReplaceAll(f, "%", wording.Placeholder))
	}
	switch section {
	case "acts":
		a := &Act{
			Phrase: phrases[0],
			Turns:  mark(&marks, "turns"), Partly: mark(&marks, "partly"), Final: mark(&marks, "final"), Kept: mark(&marks, "kept"),
			Makes: mark(&marks, "makes"), Sets: mark(&marks, "sets"), holders: mark(&marks, "holders"),
			With: "in " + wording.Placeholder,
		}
		if len(marks) == 1 {
			a.With, marks = wording.Phrase(marks[0]+" "+wording.Placeholder), nil
		}
		for _, word := range list {
			w.acts[word] = a
		}
		w.all = append(w.all, a.Phrase, a.With)
	case "things":
		if len(phrases) != forms {
			return false
		}
		w.thing(phrases, list, &marks)
	case "kinds":
		for _, kind := range list {
			w.kinds[kind] = phrases[0]
		}
		w.all = append(w.all, phrases...)
	default:
		w.lists[strings.TrimSpace(section+" "+said)] = list
	}
	return len(list) > 0 && len(marks) == 0
}

// forms are the ways in which a thing is said: with one name, with several, with none.
const forms = 3

// thing takes the line of a thing.
func (w *words) thing(said []wording.Phrase, list []string, marks *[]string) {
	t := &Thing{
		One: said[0], Several: said[1], Any: said[2],
		Final: mark(marks, "final"), Versioned: mark(marks, "versioned"), Titled: mark(marks, "titled"), Single: mark(marks, "single"),
		holds: mark(marks, "holds"), Gathers: mark(marks, "gathers"),
	}
	for _, word := range list {
		if key, ok := strings.CutPrefix(word, "+"); ok {
			t.Keys = append(t.Keys, key)
			_, several := w.keys[key]
			if w.keys[key] = t; several {
				w.keys[key] = nil
			}
			continue
		}
		w.things[word] = t
		t.Words = append(t.Words, word)
	}
	w.all = append(w.all, said...)
}

// mark says whether a mark stands among some, and takes it out.
func mark(marks *[]string, name string) bool {
	at := slices.Index(*marks, name)
	if at >= 0 {
		*marks = slices.Delete(*marks, at, at+1)
	}
	return at >= 0
}
