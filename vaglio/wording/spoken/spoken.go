// Package spoken turns the words in names of tools, subcommands and methods into phrases:
// "delete_user" deletes a user.
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

// Act is what a verb does.
type Act struct {
	// Phrase describes it, with a placeholder for a thing.
	Phrase wording.Phrase
	// Turns says that another verb undoes it. Partly says that it can be undone in part,
	// unless the thing is final. Final says that it cannot be undone, unless the thing is
	// versioned. Ends says that it cannot be undone if the thing is final.
	Turns, Partly, Final, Ends bool
	// Makes says that it adds a thing, Sets that it starts one.
	Makes, Sets bool
	// Leads says that it is a verb only where it begins a tool's name: "place_order", but not
	// "find_place".
	Leads bool
	// Kept says that versioned things stay recoverable.
	Kept bool
	// Paid says that with a price, it is paid for.
	Paid bool
	// Lasts says that it cannot be undone where an argument adds it to another act.
	Lasts bool
	// bids says that an argument of one word has a tool do it that reads by its name.
	bids bool
	// Runs says that it lets a thing do what it is for.
	Runs bool
	// holders says that it empties a thing that holds others.
	holders bool
	// With is how a second thing follows the first: "to %s".
	With wording.Phrase
}

// Thing is what a noun names.
type Thing struct {
	// One, Several and Any are its phrases with one name, with several, and with none.
	One, Several, Any wording.Phrase
	// Words are its nouns in the singular, with compound words joined by a dash.
	Words []string
	// Keys are argument keys that name this thing and nothing else.
	Keys []string
	// Final says that it cannot be taken back once it exists, Versioned that its history is
	// kept, Titled that it has a title besides a name.
	Final, Versioned, Titled bool
	// Single says that nobody has more than one.
	Single bool
	// Given says that somebody has it, and can be given it again.
	Given bool
	// Held says that it is always something's, and can be given to that again.
	Held bool
	// holds says that it holds others, and remains when they are gone.
	holds bool
	// Anew says that another one comes in the place of one that is deleted.
	Anew bool
	// Runs says that it does something itself once it is run.
	Runs bool
	// Gathers says that what it contains is kept elsewhere: removed from it, it is not gone.
	Gathers bool
}

// To returns the act as done to a thing: purging a queue empties it, purging an account
// removes it, dispatching a workflow runs it, registering a domain buys it. An unknown thing is nil.
func (a *Act) To(t *Thing) *Act {
	if t == nil {
		return a
	}
	acts := known().acts
	switch is := func(noun string) bool { return slices.Contains(t.Words, noun) }; {
	case a.holders && t.holds:
		return acts["empty"]
	case a == acts["dispatch"] && t.Runs:
		return acts["run"]
	case a.Phrase == "terminates %s" && is("employee"):
		return acts["terminate-employment"]
	case a == acts["register"] && is("domain"):
		return acts["register=domain"] // it is paid for
	default:
		return a.method(t)
	}
}

// method returns what the method of a request does to a thing that is neither put somewhere nor posted.
func (a *Act) method(t *Thing) *Act {
	switch acts := known().acts; {
	case a == acts["reopen"] && Is("devices guards", t.Words[0]):
		return acts["open"]
	case a == acts["put"] && !Is("things-that contents", t.Words[0]):
		return acts["create-or-update"]
	case a == acts["post"] && !Is("things-that heard", t.Words[0]):
		return acts["create"]
	default:
		return a
	}
}

// Means reports whether a thing is one by means of which something is done, or where: it owns nothing.
func (t *Thing) Means() bool { return Is("things-that means", t.Words[0]) }

// Renews reports whether another one comes in the place of a thing that the act takes away or, of a
// thing that holds others, in the place of these.
func (t *Thing) Renews(a *Act) bool {
	if t.holds {
		return t.Anew && (a == known().acts["empty"] || a == known().acts["clear"])
	}
	return t.Anew && a.Kept
}

// words is the content of words.txt.
type words struct {
	acts   map[string]*Act
	things map[string]*Thing
	// keys are the things of keys that are no words; nil if a key may mean several.
	keys       map[string]*Thing
	kinds      map[string]wording.Phrase
	statements map[string]wording.Phrase
	properties map[string]wording.Phrase
	labels     map[string]wording.Phrase
	lists      map[string][]string
	all        []wording.Phrase
}

// known returns the words. They are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var known = sync.OnceValue(func() *words {
	w, err := parse(text)
	if err != nil {
		panic(err) // it is built in, and a test reads it
	}
	return w
})

// longest is the largest number of words in a verb or a noun.
const longest = 3

// ActIn returns the first verb in the words of a name, its position, and how many words it
// has.
func ActIn(name []string) (act *Act, at, n int) {
	for at := range name {
		if act, n := Begins(name[at:]); act != nil {
			return act, at, n
		}
	}
	return nil, -1, 0
}

// Begins returns the verb with which the words of a name begin, and how many words it has.
func Begins(name []string) (act *Act, n int) {
	for n := min(longest, len(name)); n > 0; n-- {
		if act := known().acts[strings.Join(name[:n], "-")]; act != nil {
			return act, n
		}
	}
	return nil, 0
}

// Afterwards returns the verb of an argument that has a tool do something lasting to what it only reads by its name:
// purge, delete_after. It is nil if the words of the argument's key may just choose what is read.
func Afterwards(key []string) *Act {
	act, at, n := ActIn(key)
	if at != 0 || !act.Lasts && !act.Kept && !act.Final && !act.Runs && !act.bids || n < len(key) && key[n] != "after" {
		return nil
	}
	return act
}

// ThingOf returns the thing whose noun ends the words, whether the noun is a plural, and the
// words before it; nil if it is not listed.
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

// Several returns the phrase that names several things for one that names one, or the phrase
// itself if it is not listed.
func Several(one wording.Phrase) wording.Phrase {
	for _, t := range known().things {
		if t.One == one {
			return t.Several
		}
	}
	return one
}

// Singular returns a noun, and the nouns of which it may be the plural.
func Singular(noun string) []string {
	out := []string{noun}
	for _, ends := range [][2]string{{"ies", "y"}, {"es", ""}, {"s", ""}} {
		if one, ok := strings.CutSuffix(noun, ends[0]); ok {
			out = append(out, one+ends[1])
		}
	}
	return out
}

// ThingAt returns the thing that an argument key names; nil if it is not listed or may be
// several.
func ThingAt(key string) *Thing {
	if t, _, rest := ThingOf([]string{strings.TrimSuffix(strings.TrimSuffix(key, "id"), "name")}); t != nil && len(rest) == 0 {
		return t
	}
	return known().keys[key]
}

// Kind returns the phrase for a kind of effect; empty if it is not listed.
func Kind(kind string) wording.Phrase { return known().kinds[kind] }

// Statement returns the phrase for a statement of a database; empty if it is not listed.
func Statement(word string) wording.Phrase { return known().statements[strings.ToLower(word)] }

// Property returns the phrase for a property whose value an argument may hold; empty if it is not
// listed.
func Property(word string) wording.Phrase { return known().properties[word] }

// Label returns the phrase for a value behind the words of its key; empty if it is not listed. Languages have that of a thing or
// a property by the thing or property itself, and put what belongs to a thing together: "customer email".
func Label(words string) wording.Phrase {
	label, dashed := wording.Phrase(words+": "+wording.Placeholder), strings.ReplaceAll(words, " ", "-")
	if known().labels[words] != "" || names(dashed) || Property(dashed) == wording.Phrase("the "+words) && !Is("texts homonyms", words) {
		return label
	}
	for at := range words { // "agent phone number": what belongs to a thing may have two words, too
		if words[at] == ' ' && (names(dashed[:at]) || Label(words[:at]) != "" && strings.Contains(words[:at], " ")) && !Is("texts headless", words[at+1:]) && Label(words[at+1:]) != "" {
			return label
		}
	}
	return ""
}

// names reports whether a noun, or a plural, is said as it stands, and means nothing else as a key.
func names(noun string) bool {
	one := wording.Phrase("the " + strings.ReplaceAll(noun, "-", " ") + " " + wording.Placeholder)
	thing, _, rest := ThingOf(strings.Split(noun, "-"))
	return thing != nil && len(rest) == 0 && !Is("texts homonyms", noun) && (thing.One == one || thing.Several == one)
}

// Is reports whether a word is in a list, such as "places bare".
func Is(list, word string) bool { return Rank(list, word) >= 0 }

// List returns the words of a list.
func List(list string) []string { return known().lists[list] }

// IsEnd reports whether a word ends with one of a list.
func IsEnd(list, word string) bool {
	return slices.ContainsFunc(known().lists[list], func(end string) bool { return strings.HasSuffix(word, end) })
}

// Rank returns the position of a word in a list, or -1. Some lists begin with the most
// telling words.
func Rank(list, word string) int { return slices.Index(known().lists[list], word) }

// Phrases returns all phrases.
func Phrases() []wording.Phrase { return known().all }

// parse parses the lines of the sections.
func parse(text string) (*words, error) {
	w := &words{acts: map[string]*Act{}, things: map[string]*Thing{}, keys: map[string]*Thing{}, kinds: map[string]wording.Phrase{}, statements: map[string]wording.Phrase{}, properties: map[string]wording.Phrase{}, labels: map[string]wording.Phrase{}, lists: map[string][]string{}}
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
			return nil, fmt.Errorf("words.txt:%d: this is not a line of the section [%s]: %q", n, section, line)
		}
	}
	return w, nil
}

// take parses a line, and reports whether it is valid in its section.
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
			Turns:  mark(&marks, "turns"), Partly: mark(&marks, "partly"), Final: mark(&marks, "final"), Ends: mark(&marks, "ends"), Kept: mark(&marks, "kept"),
			Makes: mark(&marks, "makes"), Sets: mark(&marks, "sets"), Leads: mark(&marks, "leads"), Lasts: mark(&marks, "lasts"), Runs: mark(&marks, "runs"), bids: mark(&marks, "bids"), Paid: mark(&marks, "paid"), holders: mark(&marks, "holders"),
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
	case "kinds", "statements", "properties":
		into := map[string]map[string]wording.Phrase{"kinds": w.kinds, "statements": w.statements, "properties": w.properties}[section]
		for _, word := range list {
			into[word] = phrases[0]
		}
		w.all = append(w.all, phrases...)
	case "labels":
		w.label(list)
	default:
		w.lists[strings.TrimSpace(section+" "+said)] = list
	}
	return len(list) > 0 && len(marks) == 0
}

// label adds keys of arguments.
func (w *words) label(keys []string) {
	for _, key := range keys {
		key = strings.ReplaceAll(key, "-", " ")
		label := wording.Phrase(key + ": " + wording.Placeholder)
		w.labels[key], w.all = label, append(w.all, label)
	}
}

// forms is the number of phrases of a thing: with one name, with several, with none.
const forms = 3

// thing adds a thing.
func (w *words) thing(said []wording.Phrase, list []string, marks *[]string) {
	t := &Thing{
		One: said[0], Several: said[1], Any: said[2],
		Final: mark(marks, "final"), Versioned: mark(marks, "versioned"), Titled: mark(marks, "titled"), Single: mark(marks, "single"), Given: mark(marks, "given"), Held: mark(marks, "held"),
		holds: mark(marks, "holds"), Gathers: mark(marks, "gathers"), Anew: mark(marks, "anew"), Runs: mark(marks, "runs"),
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
		if key := strings.ReplaceAll(word, "-", ""); w.things[key] == nil {
			w.things[key] = t // as in keys of arguments
		}
		t.Words = append(t.Words, word)
	}
	w.all = append(w.all, said...)
}

// mark removes a mark from marks, and reports whether it was there.
func mark(marks *[]string, name string) bool {
	at := slices.Index(*marks, name)
	if at >= 0 {
		*marks = slices.Delete(*marks, at, at+1)
	}
	return at >= 0
}
