package cardtext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/templates"
)

// File is a card as a document, for a message that cannot hold it.
type File struct {
	Name string
	Data []byte
	// Sum is the SHA-256 of Data, in hex.
	Sum string
}

// File returns the card as a document: every text whole, each of its lines
// indented so that it cannot pass for one of ours.
func (c *Card) File() File {
	var b strings.Builder
	field := func(name string, t seen) {
		if t.runes > 0 {
			fmt.Fprintf(&b, "%s:\n    %s\n", name, strings.ReplaceAll(t.String(), "\n", "\n    "))
		}
	}
	fmt.Fprintf(&b, "ask %s\n", c.Ask)
	field("agent", c.agent)
	field("turn", c.turn)
	field("intent", c.intent)
	for i := range c.Calls {
		call := &c.Calls[i]
		fmt.Fprintf(&b, "\ncall %d of %d\n", i+1, len(c.Calls))
		field("executor", call.executor)
		field("command", call.command)
		field("arguments", call.args)
		field("working folder", call.cwd)
		for _, m := range call.mounts {
			field("mount", m)
		}
		field("why it asks", call.why)
	}
	data := []byte(b.String())
	sum := sha256.Sum256(data)
	return File{Name: "ask-" + string(c.Ask) + ".txt", Data: data, Sum: hex.EncodeToString(sum[:])}
}

// Caption names the file with that sum where it stands.
func (c *Card) Caption(sum string) Text {
	return Say(c.Texts, "file.hash", templates.Values{"id": templates.Theirs(c.Ask), "hash": templates.Theirs(sum)})
}

// Attached says that all of the card is in the file with that sum.
func (c *Card) Attached(sum string) Text {
	return Say(c.Texts, "file", templates.Values{"hash": templates.Theirs(firstRunes(sum, 16))})
}
