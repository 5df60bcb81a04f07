package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// dialect is how one coding agent speaks with its hooks. A new one is a value of
// this type in [dialects].
type dialect struct {
	// name is what follows `vaglio hook`.
	name string
	// decode reads what the client writes. Its error is for the agent to read and
	// holds no value of the input.
	decode func(data []byte, getenv func(string) string) (event, error)
	// allow and deny write the client's answer. The texts fit it; said is what
	// the agent is told besides, if anything.
	allow func(reason, said string) reply
	deny  func(reason string) reply
	// edit allows the call with other arguments; nil where the client has no means of
	// that.
	edit func(reason, said string, args map[string]any) reply
	// again says that the model may make a call once more that the client itself
	// refused; nil where the client has no means of that.
	again func() reply
	// settle answers what the client's own gate would ask its user; nil where the client is
	// not asked by its hooks.
	settle func(run bool, reason string) reply
	// passed is what the client takes for no objection, and for having heard what is
	// no question; mostly nothing.
	passed []byte
	// longest is how long the client waits at most, whatever its settings say; 0 is
	// as long as they say.
	longest time.Duration
}

// reply is what the client is told.
type reply struct {
	// out goes to stdout, err to stderr.
	out  []byte
	err  string
	code int
}

// dialects are the clients whose hooks are understood.
func dialects() []dialect {
	return slices.Concat(claudes(), []dialect{gemini(), copilot(), cline(), hermes(), cursor(), windsurf(), kiro(), amp()}, plugins())
}

// Clients returns the names of the coding agents whose hooks are understood.
func Clients() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	slices.Sort(names)
	return names
}

// LimitOf is how long the client waits for its hook as it is installed, 0 for a
// client that is not known.
func LimitOf(name string) time.Duration { return LimitWithin(name, 0) }

// LimitWithin is how long the client waits for its hook where its settings say
// asked: a client's own cap wins. 0 is what the installation writes by itself.
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
	return dialect{}, fmt.Errorf("%q is no coding agent whose hooks vaglio understands; it understands %s",
		name, strings.Join(Clients(), ", "))
}

// limit is how long the client waits where its settings say asked; 0 is that they
// say what the installation writes.
func (d *dialect) limit(asked time.Duration) time.Duration {
	if asked <= 0 {
		asked = DefaultLimit
	}
	if d.longest > 0 {
		asked = min(asked, d.longest)
	}
	return asked
}

// pass says that there is no objection, and heard that something was noted.
func (d *dialect) pass() reply  { return reply{out: d.passed} }
func (d *dialect) heard() reply { return reply{out: d.passed} }

// maxText is the greatest length of a text, in UTF-16 units, which is how most
// clients count: Claude Code drops an answer with a text above 10,000.
const maxText = 9500

// fit makes a text one that the client takes whole: UTF-8, not too long.
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
