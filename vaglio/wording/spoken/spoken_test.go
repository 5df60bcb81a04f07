package spoken

import (
	"strings"
	"testing"
)

func TestActsAndThingsOfNames(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, act string
		at, n     int
		thing     string
		plural    bool
		before    string
	}{
		{"delete user", "deletes %s", 0, 1, "the user %s", false, ""},
		{"delete users", "deletes %s", 0, 1, "the user %s", true, ""},
		{"create or update file", "creates or updates %s", 0, 3, "the file %s", false, ""},
		{"slack archive channel", "archives %s", 1, 1, "the channel %s", false, "slack archive"},
		{"close pull requests", "closes %s", 0, 1, "pull request %s", true, ""},
		{"remove policies", "removes %s", 0, 1, "the policy %s", true, ""},
		{"empty caches", "empties %s", 0, 1, "the cache %s", true, ""},
		{"delete customer address", "deletes %s", 0, 1, "the address %s", false, "customer"},
		{"create payment link", "creates %s", 0, 1, "the payment link %s", false, ""},
		{"cancella cliente", "deletes %s", 0, 1, "the customer %s", false, ""},
		{"frobnicate it", "", -1, 0, "", false, "frobnicate it"},
	} {
		words := strings.Fields(r.name)
		act, at, n := ActIn(words)
		phrase := ""
		if act != nil {
			phrase = string(act.Phrase)
		}
		thing, plural, before := ThingOf(words[max(0, at+n):])
		if r.act == "archives %s" {
			thing, plural, before = ThingOf(words)
		}
		one := ""
		if thing != nil {
			one = string(thing.One)
		}
		if phrase != r.act || at != r.at || n != r.n || one != r.thing || plural != r.plural || strings.Join(before, " ") != r.before {
			t.Errorf("%s: %q at %d of %d, %q %v behind %q", r.name, phrase, at, n, one, plural, before)
		}
	}
	if act, _, _ := ActIn([]string{"add"}); act.With != "to %s" || !act.Makes || !act.Partly {
		t.Errorf("marks of add: %+v", act)
	}
	if !Is("places bare", "repo") || !Is("targets named", "user") || Is("places named", "repo") {
		t.Error("a list holds other words")
	}
}

// TestEachWordIsSaidOnce holds that no word is on two lines, where the second would hide the
// first.
func TestEachWordIsSaidOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		_, rest, ok := strings.Cut(line, " = ")
		if !ok || strings.HasPrefix(line, "#") || section != "[acts]" && section != "[things]" {
			continue
		}
		words, _, _ := strings.Cut(rest, " ; ")
		for w := range strings.FieldsSeq(words) {
			if other := seen[section+w]; other != "" && w[0] != '+' {
				t.Errorf("%s stands in %q and in %q", w, other, line)
			}
			seen[section+w] = line
		}
	}
}

func TestLinesThatAreNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no words":         "[acts]\ndeletes % = ",
		"no sign":          "[acts]\ndeletes %",
		"unknown marks":    "[acts]\ndeletes % = delete ; gone away",
		"two forms only":   "[things]\nthe user % / the users % = user",
		"a thing's mark":   "[things]\nthe user % / the users % / a user = user ; turns",
		"a list of nobody": "[places]\nbare = ",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), "words.txt:2: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
