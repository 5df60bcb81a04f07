package hook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/strictjson"
)

// event is one thing that a client tells its hook.
type event struct {
	kind kind
	// session and agent say who makes the call; agent is empty for the session's main agent.
	session, agent string
	// call is the client's own ID of the call; some clients have none.
	call string
	// named says that the client tells which call its own gate asks about.
	named bool
	// transcript is the path of the client's record of the session, "" if unknown.
	transcript string
	// proposal is the call itself.
	proposal client.Proposal
	// outcome is how the call ended, for events after it.
	outcome client.Outcome
	// skill says that a skill's own text runs the command, so that no tool reports its end.
	skill bool
	// later says that the outcome becomes known only at the end of the turn, from the transcript.
	later bool
}

// kind distinguishes events.
type kind int

const (
	// before asks whether a call may run; it is the zero value.
	before kind = iota
	// after reports that a call ran.
	after
	// rejected reports that the client's own gate refused a call.
	rejected
	// wondering asks about a call that passed before, but that the client's own gate would ask
	// its user about now.
	wondering
	// ended reports that the agent's turn is over: none of its calls is still running.
	ended
)

// errEvent means that the hook was installed for an event it does not know.
var errEvent = errors.New("the hook is installed for an event that it does not know; run `vaglio install` again")

// finish checks what every client's call must have, and decodes the arguments.
func (e *event) finish(name, tool string, input strictjson.Value) (event, error) {
	e.proposal.Context.Client, e.proposal.Executor = name, tool
	if e.proposal.TurnID == "" {
		e.proposal.TurnID = e.session
	}
	if e.kind == ended {
		return *e, nil
	}
	if tool == "" {
		return event{}, errors.New("the hook's input names no tool")
	}
	if input.Kind() != '{' {
		return event{}, errors.New("the hook's input has no arguments of the tool that are an object")
	}
	if err := strictjson.Unmarshal(input, &e.proposal.Args); err != nil {
		return event{}, unreadable(name, err)
	}
	return *e, nil
}

// unreadable says where the input is not what the client should write, without quoting it.
func unreadable(name string, err error) error {
	what := "the hook's input is not the JSON that " + name + " writes before a tool call"
	if at, syntax, _ := strictjson.Mistake(err); syntax {
		return fmt.Errorf("%s: byte %d cannot be read", what, at)
	}
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		return fmt.Errorf("%s: %s", what, e.Msg)
	}
	return errors.New(what)
}

// key returns the call's idempotency key. It is made of the client's own ID of the call, so
// that a resumed session that asks again gets the earlier answer. A call without an ID is a
// new one each time: the daemon joins equal calls while they wait, and one yes serves one of
// them.
func (e *event) key() string {
	if e.session == "" || e.call == "" {
		return "once:" + rand.Text()
	}
	key := e.session + ":" + e.call
	invisible := func(r rune) bool { return r < '!' || r > '~' }
	if len(key) > ask.LongestKey || strings.ContainsFunc(key, invisible) {
		return "sha256:" + digest(key)
	}
	return key
}

// digest returns the SHA-256 of the parts. Each part carries its length, so that no two
// different lists collide.
func digest(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strconv.Itoa(len(p)) + ":" + p)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
