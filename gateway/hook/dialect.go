package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// dialect is how one coding agent talks to its hooks. To support another agent, add a value
// of this type to [dialects].
type dialect struct {
	// name is the argument that follows `vaglio hook`.
	name string
	// decode parses the client's input. Its error is for the agent to read and contains no
	// value of the input.
	decode func(data []byte, getenv func(string) string) (event, error)
	// allow and deny encode the client's answer. Both texts are short enough for the client;
	// said is what else to tell the agent, if anything.
	allow func(reason, said string) reply
	deny  func(reason string) reply
	// edit allows the call with other arguments; nil if the client does not support that.
	edit func(reason, said string, args map[string]any) reply
	// again tells the model that it may repeat a call which the client itself refused; nil if
	// the client does not support that.
	again func() reply
	// settle answers a question that the client's own gate would ask its user; nil if the client
	// does not put such questions to its hooks.
	settle func(run bool, reason string) reply
	// skill answers for a command of a skill, which has an event of its own; nil if the client has
	// none.
	skill *dialect
	// passed is the answer that the client takes as no objection, and as the acknowledgement of
	// a report; empty for most clients.
	passed []byte
	// longest is how long the client waits at most, whatever its settings say; 0 means as long
	// as they say.
	longest time.Duration
}

// reply is what the client is told.
type reply struct {
	// out goes to stdout, err to stderr.
	out  []byte
	err  string
	code int
}

// dialects returns the clients whose hooks we understand.
func dialects() []dialect {
	return slices.Concat(claudes(), []dialect{gemini(), copilot(), cline(), hermes(), cursor(), windsurf(), kiro(), amp()}, plugins())
}

// Clients returns the names of the coding agents whose hooks we understand, sorted.
func Clients() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	slices.Sort(names)
	return names
}

// LimitOf returns how long the client waits for its hook as installed, or 0 for an unknown
// client.
func LimitOf(name string) time.Duration { return LimitWithin(name, 0) }

// LimitWithin returns how long the client waits for its hook if its settings say asked: a
// client's own cap wins. If asked is 0, it is what the installation writes by default.
func LimitWithin(name string, asked time.Duration) time.Duration {
	d, err := dialectOf(name)
	if err != nil {
		return 0
	}
	return d.limit(asked)
}

func dialectOf(name string) (dialect, error) {
	for _, d := range dialects() {
		if d.name == name {
			return d, nil
		}
	}
	return dialect{}, fmt.Errorf("vaglio does not understand the hooks of %q; it understands those of %s",
		name, strings.Join(Clients(), ", "))
}

// limit returns how long the client waits if its settings say asked; 0 means that they say
// what the installation writes by default.
func (d *dialect) limit(asked time.Duration) time.Duration {
	if asked <= 0 {
		asked = DefaultLimit
	}
	if d.longest > 0 {
		asked = min(asked, d.longest)
	}
	return asked
}

// pass answers that there is no objection, heard that a report was noted.
func (d *dialect) pass() reply  { return reply{out: d.passed} }
func (d *dialect) heard() reply { return reply{out: d.passed} }

// maxText is the maximum length of a text in UTF-16 code units, which is how most clients
// count. Claude Code drops an answer with a text above 10,000.
const maxText = 9500

// fit makes text acceptable to the client: valid UTF-8, and not too long.
func fit(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	const remark = " [cut]"
	length := 0
	room := 0 // where to cut so that the remark fits
	for i, r := range text {
		if length+len(remark) <= maxText {
			room = i
		}
		length++
		if r > 0xFFFF {
			length++
		}
		if length > maxText {
			return text[:room] + remark
		}
	}
	return text
}
