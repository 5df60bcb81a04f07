package wording

import "strings"

// OrSeveral separates what a message says of one thing from what it says of several: "removes
// the volume % / removes the volumes %".
const OrSeveral = " / "

// Number returns the form of a message for the given things, and these as a list if the
// message has a form for several.
func Number(message string, things []string) (form, several string) {
	one, many, ok := strings.Cut(message, OrSeveral)
	if !ok || len(things) < 2 {
		return one, ""
	}
	return many, strings.Join(things, ", ")
}
