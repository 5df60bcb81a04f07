package hook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio"
)

// dialect is how one coding agent speaks with its hooks. A new one is a
// variable of this type in [dialects].
type dialect struct {
	// name is what follows `vaglio hook`.
	name string
	// decode reads what the client writes before a tool call. Its error is for
	// the agent to read and holds no value of the input.
	decode func(data []byte) (call, error)
	// allow and deny write the client's answer. The texts fit it; said is what
	// the agent is told besides, if anything.
	allow func(reason, said string) []byte
	deny  func(reason string) []byte
	// settings returns what to install so that the client runs the hook.
	settings func(exe string) ([]byte, error)
	// maxText is the greatest length of a text, in UTF-16 units, which is how
	// most clients count.
	maxText int
}

// call is one tool call that a client is about to make.
type call struct {
	proposal vaglio.Proposal
	// key is the same whenever the client asks about the same call again.
	key string
}

// dialects are the clients whose hooks are understood, by name.
func dialects() []dialect { return []dialect{claudeCode()} }

// Clients returns the names of the coding agents whose hooks are understood.
func Clients() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.name)
	}
	slices.Sort(names)
	return names
}

// Settings returns what to install in the client's configuration so that it
// asks vaglio before every tool call; exe is vaglio's absolute path.
func Settings(client, exe string) ([]byte, error) {
	d, err := dialectOf(client)
	if err != nil {
		return nil, err
	}
	return d.settings(exe)
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

// fit makes a text one that the client takes whole: UTF-8, not too long.
func (d dialect) fit(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	const remark = " [cut]"
	length := 0
	room := 0 // where to cut so that the remark fits
	for i, r := range text {
		if length+len(remark) <= d.maxText {
			room = i
		}
		length++
		if r > 0xFFFF {
			length++
		}
		if length > d.maxText {
			return text[:room] + remark
		}
	}
	return text
}
