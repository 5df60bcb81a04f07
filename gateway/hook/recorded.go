package hook

import (
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Recorded is a call as recorded in the client's own transcript.
type Recorded struct {
	// Client is the coding agent; Session, Turn and Call are IDs that it assigned.
	Client, Session, Turn, Call string
	// Cwd is the folder in which the call would run. Tool and Input are the call.
	Cwd, Tool string
	Input     strictjson.Value
}

// Proposal returns what the client's hook would have proposed for the recorded call. Its error
// contains no value of the call.
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

// UserWords returns what the user wrote in a line of Claude Code's transcript, cut to the
// length of an intent, or "" if the line is not the user's.
func UserWords(line []byte) string { return bounded(userWords(line)) }
