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
	// session and agent say who makes the call; agent is empty for the main one.
	session, agent string
	// call is the client's own name of the call; some clients have none.
	call string
	// named says that the client itself tells which call its gate asks about.
	named bool
	// transcript is where the client writes down the session, "" if it is not known.
	transcript string
	// proposal is the call itself.
	proposal client.Proposal
	// outcome is how it ended, of an event after the call.
	outcome client.Outcome
	// later says that how it ended is told only at the end of the turn, by the
	// transcript.
	later bool
}

// kind tells events apart.
type kind int

const (
	// before asks whether a call may run; it is what an event is by default.
	before kind = iota
	// after tells that a call ran.
	after
	// rejected tells that the client's own gate refused a call.
	rejected
	// wondering asks whether a call may run about which the client's own gate would ask its
	// user now; before has passed it.
	wondering
	// ended tells that the agent's turn is over: of its calls none runs any more.
	ended
)

// errEvent says that the hook was installed for what it does not know.
var errEvent = errors.New("the hook is installed for an event that it does not know; run `vaglio install` again")

// finish checks what all clients' calls need and brings the arguments in.
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

// unreadable says where the input is not what was expected, and nothing of
// what stands there.
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

// key names the call as the client does, so that a resumed session that
// asks again gets the answer that was given. A call without a name is a new
// one each time: the daemon joins equal calls while they wait, and one yes
// serves one of them.
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

// digest is the SHA-256 of the parts, which no part can forge.
func digest(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strconv.Itoa(len(p)) + ":" + p)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
