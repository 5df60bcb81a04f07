package wording

import (
	"slices"
	"strconv"
	"strings"
)

// OrSeveral separates what a message says of one thing from what it says of several: "removes
// the volume % / removes the volumes %".
const OrSeveral = " / "

// Number returns the form of a message for the given things, and whether it is the form for
// several.
func Number(message string, things []string) (form string, several bool) {
	one, many, ok := strings.Cut(message, OrSeveral)
	if !ok || len(things) < 2 {
		return one, false
	}
	return many, true
}

// mostListed limits how many things a list names.
const mostListed = 100

// List names things one after the other, "a, b and c", and counts those beyond the first hundred.
func List(things []string) Clause {
	if len(things) < 2 {
		return Clause{Text: strings.Join(things, "")}
	}
	rest, last := things[:len(things)-1], Say("%s and %s", things[len(things)-2], things[len(things)-1])
	if more := len(things) - mostListed; more > 0 {
		rest, last = things[:mostListed], Say("%s and %s more", things[mostListed-1], strconv.Itoa(more))
	}
	for _, thing := range slices.Backward(rest[:len(rest)-1]) {
		last = Clause{Phrase: "%s, %s", Args: []Clause{{Text: thing}, last}}
	}
	return last
}

// Template returns the phrase of a table's message, and what each of its placeholders stands
// for: "" for the target, "=" for the operands after the matched ones, a digit for one of them,
// "^" for the matched operands, "!" for the word that a test found, "#" for the program, "&" for
// all operands, "+" for the program and all operands, "*" for the whole command, "|" for where its
// input comes from, "@" for whom it runs as, or options for their value.
func Template(message string) (Phrase, []string) {
	var b strings.Builder
	var of []string
	for {
		before, after, found := strings.Cut(message, "%")
		b.WriteString(before)
		if !found {
			return Phrase(b.String()), of
		}
		b.WriteString(Placeholder)
		what := ""
		switch {
		case after != "" && strings.Contains("*=^!#+&|@0123456789", after[:1]):
			what, after = after[:1], after[1:]
		case strings.HasPrefix(after, "("):
			what, after, _ = strings.Cut(after[1:], ")")
		}
		message, of = after, append(of, what)
	}
}
