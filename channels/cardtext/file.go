package cardtext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/templates"
)

// File is a card as a document, for a message that cannot hold the whole card.
type File struct {
	Name string
	Data []byte
	// Sum is the SHA-256 of Data, in hex.
	Sum string
}

// Part is a text of a card in full, under a name of ours, or only a line of ours.
type Part struct {
	Name, Text string
	// Call says that the line begins a call.
	Call bool
}

// Parts returns everything that the card says of its calls, in full.
func (c *Card) Parts() (all []Part) {
	ours := func(key templates.Key, values templates.Values, call bool) {
		all = append(all, Part{Name: c.Texts.Plain(key, values), Call: call})
	}
	field := func(key templates.Key, t seen) {
		if t.runes > 0 {
			all = append(all, Part{Name: c.Texts.Plain(key, nil), Text: t.String()})
		}
	}
	field("file.agent", c.agent)
	field("file.turn", c.turn)
	field("file.intent", c.intent)
	for i := range c.Calls {
		call := &c.Calls[i]
		ours("file.call", templates.Values{"i": i + 1, "n": len(c.Calls)}, true)
		field("file.executor", call.executor)
		first, more := call.first()
		if call.brief() {
			first, more = nil, 0
		}
		for i := range first {
			all = append(all, Part{Name: call.tells(c.Texts, &first[i]), Text: first[i].text.String()})
		}
		if more > 0 {
			ours("line.more", templates.Values{"n": more}, false)
		}
		field("file.command", call.command)
		field("file.args", call.args)
		field("file.cwd", call.cwd)
		field("file.subagent", call.subAgent)
		if call.Planning {
			ours("planning", nil, false)
		}
		for _, m := range call.mounts {
			field("file.mount", m)
		}
		for i, s := range call.runs {
			field("file.runs", s)
			field("file.head", call.heads[i])
		}
		for _, s := range call.unbound {
			field("file.unbound", s)
		}
		field("file.why", call.why)
		if call.network.runes > 0 {
			ours("judge.network", templates.Values{"judges": templates.Theirs(call.network.String())}, false)
		}
	}
	return all
}

// File returns the card as a document: every text in full, with each of its lines indented
// so that it cannot be mistaken for one of ours. The document differs between languages, so
// a chat records the sum of the one that it sent.
func (c *Card) File() File {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Texts.Plain("file.ask", templates.Values{"id": templates.Theirs(c.Ask)}))
	for _, p := range c.Parts() {
		switch {
		case p.Call:
			fmt.Fprintf(&b, "\n%s\n", p.Name)
		case p.Text == "":
			fmt.Fprintf(&b, "%s\n", p.Name)
		default:
			fmt.Fprintf(&b, "%s:\n    %s\n", p.Name, strings.ReplaceAll(p.Text, "\n", "\n    "))
		}
	}
	data := []byte(b.String())
	sum := sha256.Sum256(data)
	return File{Name: "ask-" + string(c.Ask) + ".txt", Data: data, Sum: hex.EncodeToString(sum[:])}
}

// Caption names the file with the given sum, for the message that carries it.
func (c *Card) Caption(sum string) Text {
	return Say(c.Texts, "file.hash", templates.Values{"id": templates.Theirs(c.Ask), "hash": templates.Theirs(sum)})
}

// Attached says with one of our texts where the file with the given sum is, which has the
// whole card.
func (c *Card) Attached(where templates.Key, sum string) Text {
	return Say(c.Texts, where, templates.Values{"hash": templates.Theirs(firstRunes(sum, 16))})
}
