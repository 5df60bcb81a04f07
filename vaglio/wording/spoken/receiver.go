package spoken

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// madeOf says what a method that names nothing itself does to what it is called on, if that was made
// of one text: "deletes the bucket logs" for s3.Bucket("logs").delete(), and "deletes the objects that
// a filter selects in the bucket logs". It returns nil if that is not known; part says that it is done
// to something of that which it is called on.
func madeOf(name string, of, words, given []string, split func(string) []string) (said wording.Sentence, part bool) {
	act, at, n := ActIn(words)
	parts := strings.Split(name, ".")
	r := receiver{parts: parts[:len(parts)-1], of: of}
	switch {
	case at != 0 || n != len(words):
		return nil, false
	case len(given) > 0 && !strings.HasPrefix(given[0], "--"):
		return nil, r.text() != ""
	}
	return r.done(act, split), false
}

// done says what is done to what the method is called on, nil if that is not known.
func (r *receiver) done(act *Act, split func(string) []string) wording.Sentence {
	which := r.sifted()
	text := r.text()
	noun := split(r.pop())
	if len(noun) == 1 && slices.Contains(strings.Fields(getters), noun[0]) && text != "" {
		noun = split(r.pop())
	}
	thing, many, before := ThingOf(noun)
	if thing == nil || len(before) > 0 || slices.Equal(noun, []string{"client"}) {
		return nil
	}
	does := act.To(thing).Phrase
	if which == "" && text != "" {
		return wording.Sentence{{Phrase: does, Args: []wording.Clause{thing.called([]string{text}, false)}}}
	}
	if which == "" || !many {
		return nil
	}
	selected := wording.Clause{}
	if which == "some" {
		selected.Phrase = "that a filter selects"
	}
	return append(wording.Sentence{{Phrase: does, Args: []wording.Clause{{Phrase: thing.Several, Args: []wording.Clause{selected}}}}}, r.holder(split)...)
}

// holder says in what the things are, if that was made of a text.
func (r *receiver) holder(split func(string) []string) wording.Sentence {
	text := r.text()
	if text == "" {
		return nil
	}
	holder, _, _ := ThingOf(split(r.pop()))
	if holder == nil {
		return nil
	}
	return wording.Sentence{{Phrase: "in %s", Args: []wording.Clause{holder.called([]string{text}, false)}}}
}

// receiver is what a method is called on, part by part, with the texts that its calls were given.
type receiver struct{ parts, of []string }

// text returns what the last part was given, "" if that is not known.
func (r *receiver) text() string {
	if n := len(r.parts); n > 0 && strings.HasSuffix(r.parts[n-1], "()") && len(r.of) > 0 {
		return r.of[len(r.of)-1]
	}
	return ""
}

// pop takes the last part away and returns its name.
func (r *receiver) pop() string {
	n := len(r.parts)
	if n == 0 {
		return ""
	}
	name, called := strings.CutSuffix(r.parts[n-1], "()")
	if r.parts = r.parts[:n-1]; called && len(r.of) > 0 {
		r.of = r.of[:len(r.of)-1]
	}
	return name
}

// sifted takes away what chooses among several things, and returns "all" if it chooses all of them,
// "some" if it may leave some out, "" if nothing chooses.
func (r *receiver) sifted() (which string) {
	for len(r.parts) > 0 {
		name, called := strings.CutSuffix(r.parts[len(r.parts)-1], "()")
		switch {
		case !called || !Is("methods sift", strings.ToLower(name)):
			return which
		case name != "all":
			which = "some"
		case which == "":
			which = "all"
		}
		r.pop()
	}
	return which
}

// namespaced takes the word for it from the name of a method of Kubernetes' clients, whose second
// argument is the namespace: delete_namespaced_pod("web", "shop").
func namespaced(words, given []string) (of, with []string) {
	at := slices.Index(words, "namespaced")
	if at < 0 {
		return words, given
	}
	if len(given) > 1 && !strings.HasPrefix(given[0], "--") && !strings.HasPrefix(given[1], "--") {
		given = slices.Concat(given[:1], []string{"--namespace"}, given[1:])
	}
	return slices.Delete(slices.Clone(words), at, at+1), given
}

// message says to whom a message goes, if the method's name ends so and the options tell.
func message(words, options []string) wording.Sentence {
	n := len(words)
	if n < 2 || words[n-1] != "message" || words[n-2] != "post" && words[n-2] != "send" {
		return nil
	}
	to, text := behind(options, "--channel", "--chat-id", "--chat", "--to"), behind(options, "--text")
	if len(to) != 1 || len(text) != 1 || strings.Contains(to[0]+text[0], "$") {
		return nil
	}
	return wording.Sentence{wording.Say("sends a message to %s: %s", to[0], text[0])}
}
