package hook

import (
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Recorded is a call as the client's own transcript tells of it.
type Recorded struct {
	// Client is the coding agent; Session, Turn and Call are its own names.
	Client, Session, Turn, Call string
	// Cwd is where the call would run, Tool and Input what it is.
	Cwd, Tool string
	Input     strictjson.Value
}

// Proposal is what the client's hook would have proposed of a call that only its
// transcript tells of. Its error holds no value of the call.
func (r Recorded) Proposal() (client.Proposal, error) {
	data, err := strictjson.Marshal(claudeEvent{
		Session: r.Session, Turn: r.Turn, Cwd: r.Cwd, Event: "PreToolUse", Tool: r.Tool, Input: r.Input, ToolUse: r.Call,
		Error: strictjson.Value("null"),
	})
	if err != nil {
		return client.Proposal{}, err //nolint:wrapcheck // It says what is wrong.
	}
	e, err := decodeClaude(r.Client, data)
	e.proposal.Session = e.session
	return e.proposal, err
}

// UserWords returns what the user wrote in a line of Claude Code's transcript, as
// far as an intent holds it, or "".
func UserWords(line []byte) string { return bounded(userWords(line)) }
