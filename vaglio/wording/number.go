package wording

import (
	"slices"
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

// List names things one after the other: "a, b and c".
func List(things []string) Clause {
	switch last := len(things) - 1; last {
	case -1:
		return Clause{}
	case 0:
		return Clause{Text: things[0]}
	default:
		list := Say("%s and %s", things[last-1], things[last])
		for _, thing := range slices.Backward(things[:last-1]) {
			list = Clause{Phrase: "%s, %s", Args: []Clause{{Text: thing}, list}}
		}
		return list
	}
}
