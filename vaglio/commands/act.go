package commands

import (
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
)

// act is one line of a section that says what is done to what.
type act struct {
	tests  []test
	where  []where
	verb   operation.Verb
	phrase string
}

// where says which words of a command name the objects.
type where struct {
	kind  whereKind
	from  int // the operand, or the first of several
	flags []flagTest
	key   string // of key=value
}

type whereKind uint8

const (
	whereWhole    whereKind = iota // no word: whatever the program is set up for
	whereOperands                  // the operands from one on
	whereOperand                   // one operand
	whereLast                      // the last operand
	whereSources                   // the operands before the target
	whereTarget                    // where the sources go
	whereWords                     // every word, and its parts
	whereValue                     // the values of options
	whereAt                        // what follows an @ in the values of options
	whereKey                       // the value of a key=value operand
)

func parseAct(tests, places, right string) (act, error) {
	verb, phrase, _ := strings.Cut(right, ";")
	a := act{verb: operation.Verb(strings.TrimSpace(verb)), phrase: strings.TrimSpace(phrase)}
	if !a.verb.Known() {
		return a, wrong(string(a.verb), "unknown verb %q", a.verb)
	}
	a.tests = parseTests(tests)
	for i := range a.tests {
		for j := range a.tests[i].flags {
			a.tests[i].flags[j].abbrev = true
		}
	}
	for p := range strings.FieldsSeq(places) {
		w, err := parseWhere(p)
		if err != nil {
			return a, err
		}
		a.where = append(a.where, w)
	}
	if len(a.where) == 0 {
		return a, wrong(right, "nothing is said of what is done by %q", right)
	}
	return a, nil
}

func parseWhere(p string) (where, error) {
	name, number, counted := strings.Cut(p, ":")
	n := 0
	if counted {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 0 {
			return where{}, wrong(p, "no number of an operand in %q", p)
		}
	}
	switch name {
	case "whole":
		return where{kind: whereWhole}, nil
	case "operands":
		return where{kind: whereOperands, from: n}, nil
	case "operand":
		return where{kind: whereOperand, from: n}, nil
	case "last":
		return where{kind: whereLast, from: n}, nil
	case "sources":
		return where{kind: whereSources}, nil
	case "target":
		return where{kind: whereTarget}, nil
	case "words":
		return where{kind: whereWords}, nil
	}
	switch {
	case strings.HasPrefix(p, "-"):
		return where{kind: whereValue, flags: flagList(strings.ReplaceAll(p, "|", ","))}, nil
	case strings.HasPrefix(p, "@-"):
		return where{kind: whereAt, flags: flagList(strings.ReplaceAll(p[1:], "|", ","))}, nil
	case strings.HasSuffix(p, "="):
		return where{kind: whereKey, key: p}, nil
	}
	return where{}, wrong(p, "unknown place %q", p)
}
