package commands

import (
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/operation"
)

// act is a line of a section that says what is done to which objects.
type act struct {
	tests  []test
	where  []where
	with   []where // what the objects are given
	verb   operation.Verb
	phase  operation.Phase // overrides the section's
	phrase string
}

// where says which words of a command name the objects.
type where struct {
	kind  whereKind
	from  int // the operand, or the first of several
	flags []flagTest
	key   string // of key=value
	below string // a folder below what is named
}

type whereKind uint8

const (
	whereWhole    whereKind = iota // no word: whatever the program is configured for
	whereOperands                  // the operands from one on
	whereOperand                   // one operand
	whereLast                      // the last operand
	whereSources                   // the operands before the target
	whereTarget                    // where the sources go
	whereWords                     // every word and its parts
	whereValue                     // the values of options
	whereAt                        // what follows a mark, the key, in the values of options
	whereKey                       // the value of a key=value operand
	whereBefore                    // what stands before a colon in the values of options
	whereField                     // the value of key=value in any word
	whereOption                    // the first option: its value, or how it is written
	wherePairs                     // every second operand, with the one before it
	whereRest                      // an operand, with all words after it
	whereHere                      // the folder in which the program works
	wherePaths                     // every word that can only be meant as a path
	whereStarts                    // where a search begins
	whereTests                     // the tests of a search
	whereScript                    // what the words name as programs in a language
	whereInput                     // the names before a colon in the lines of the input
	whereVariable                  // the value of a variable set for the command
)

func parseAct(tests, places, right string) (act, error) {
	head, phrase, _ := strings.Cut(right, ";")
	verb, phase, _ := strings.Cut(strings.TrimSpace(head), " ")
	a := act{verb: operation.Verb(verb), phase: operation.Phase(phase), phrase: strings.TrimSpace(phrase)}
	if !a.verb.Known() {
		return a, rows.Wrong(verb, "unknown verb %q", verb)
	}
	if a.phase != operation.Both && a.phase != operation.Final && a.phase != operation.Graded {
		return a, rows.Wrong(phase, "unknown word %q behind the verb", phase)
	}
	var err error
	if a.tests, err = parseTests(tests, true); err != nil {
		return a, err
	}
	if slices.ContainsFunc(a.tests, func(t test) bool { return t.fact != "" }) {
		return a, rows.Wrong(tests, "what is done to what asks for no fact: %q", tests)
	}
	objects, given, _ := strings.Cut(places, " with ")
	if a.where, err = parsePlaces(objects); err != nil {
		return a, err
	}
	if a.with, err = parsePlaces(given); err != nil {
		return a, err
	}
	if len(a.where) == 0 {
		return a, rows.Wrong(right, "nothing is said of what is done by %q", right)
	}
	return a, nil
}

func parsePlaces(places string) ([]where, error) {
	var out []where
	for p := range strings.FieldsSeq(places) {
		place, below, _ := strings.Cut(p, "/")
		w, err := parseWhere(place)
		if err != nil {
			return nil, err
		}
		w.below = below
		out = append(out, w)
	}
	return out, nil
}

// plainPlaces are the places written as a word.
func plainPlaces() map[string]whereKind {
	return map[string]whereKind{
		"whole": whereWhole, "operands": whereOperands, "operand": whereOperand, "last": whereLast, "sources": whereSources,
		"target": whereTarget, "words": whereWords, "option": whereOption, "pairs": wherePairs, "rest": whereRest, "here": whereHere,
		"paths": wherePaths, "starts": whereStarts, "tests": whereTests, "input": whereInput,
	}
}

func parseWhere(p string) (where, error) {
	if w, ok := parseMarked(p); ok {
		return w, nil
	}
	name, number, counted := strings.Cut(p, ":")
	n := 0
	if counted {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 0 {
			return where{}, rows.Wrong(p, "no number of an operand in %q", p)
		}
	}
	if kind, ok := plainPlaces()[name]; ok {
		return where{kind: kind, from: n}, nil
	}
	return where{}, rows.Wrong(p, "unknown place %q", p)
}

// parseMarked parses a place that is identified by a mark at its beginning or end.
func parseMarked(p string) (where, bool) {
	for _, m := range [...]struct {
		mark, key string
		kind      whereKind
	}{{"-", "", whereValue}, {":-", "", whereBefore}, {"@-", "@", whereAt}, {"@:-", ":", whereAt}, {"@=-", "=", whereAt}} {
		if strings.HasPrefix(p, m.mark) {
			return where{kind: m.kind, key: m.key, flags: flagList(strings.ReplaceAll(p[len(m.mark)-1:], "|", ","))}, true
		}
	}
	if name, ok := strings.CutPrefix(p, "$"); ok {
		return where{kind: whereVariable, key: name}, true
	}
	if name, ok := strings.CutPrefix(p, "field:"); ok {
		return where{kind: whereField, key: name + "="}, true
	}
	if language, ok := strings.CutPrefix(p, "in:"); ok {
		_, known := readers()[language]
		return where{kind: whereScript, key: language}, known
	}
	return where{kind: whereKey, key: p}, strings.HasSuffix(p, "=")
}
