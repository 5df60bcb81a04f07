package owner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/agents"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/terminal"
)

// Agents manages the agents that may propose calls.
type Agents interface {
	List() []agents.Agent
	Add(ctx context.Context, a agents.Agent) (datafolder.Secret, error)
	Rotate(ctx context.Context, name string) (datafolder.Secret, error)
	Remove(ctx context.Context, name string) error
}

// AgentList lists the agents.
type AgentList struct {
	Agents []agents.Agent `json:"agents"`
}

// NewToken is a token, shown only this once.
type NewToken struct {
	Agent string `json:"agent"`
	Token string `json:"token"`
}

// agentCalls returns the owner's calls about agents.
func (a *admin) agentCalls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /agents": func(*http.Request) (any, error) { return AgentList{a.Agents.List()}, nil },
		"POST /agents": func(r *http.Request) (any, error) {
			if err := r.ParseForm(); err != nil {
				return nil, err
			}
			one, err := AgentOf(r.Form)
			if err != nil {
				return nil, err
			}
			token, err := a.Agents.Add(r.Context(), one)
			return NewToken{one.Name, string(token)}, err
		},
		"POST /agents/{name}/rotate": func(r *http.Request) (any, error) {
			token, err := a.Agents.Rotate(r.Context(), r.PathValue("name"))
			return NewToken{r.PathValue("name"), string(token)}, err
		},
		"DELETE /agents/{name}": func(r *http.Request) (any, error) {
			return AgentList{}, a.removeAgent(r.Context(), r.PathValue("name"))
		},
	}
}

// removeAgent removes an agent, denies what it waits for, and takes back its permits and grants:
// whoever gets the name next must not inherit them. The brake that does this ends at once.
func (a *admin) removeAgent(ctx context.Context, name string) error {
	if err := a.Agents.Remove(ctx, name); err != nil {
		return err //nolint:wrapcheck // It is the owner's mistake, in words.
	}
	_, err := a.Orders.Order(ctx, approval.Order{
		Verb: approval.VerbStop, Agent: name, All: true, For: time.Nanosecond, Words: "this agent was removed", By: a.By, Channel: terminalChannel,
	})
	if _, unheard := errors.AsType[*approval.OrderError](err); unheard { // It never asked for anything.
		return nil
	}
	return err //nolint:wrapcheck // It is logged.
}

// AgentOf parses the agent that a form describes.
func AgentOf(form url.Values) (agents.Agent, error) {
	one := agents.Agent{Name: form.Get("name"), Route: form.Get("route"), Workspaces: form["workspace"]}
	if given := form.Get("uid"); given != "" {
		uid, err := strconv.ParseUint(given, 10, 32)
		if err != nil {
			return one, &agents.MistakeError{Field: "--uid", Problem: strconv.Quote(given) + " is not the number of a user"}
		}
		number := uint32(uid)
		one.UID = &number
	}
	return one, nil
}

// agentMistake returns what to tell the owner about a mistake in an agent's description.
func agentMistake(err error) (told Problem, ok bool) {
	bad, ok := errors.AsType[*agents.MistakeError](err)
	if !ok {
		return told, false
	}
	return Problem{bad.Error()}, true
}

// WriteAgents writes a table of the agents.
func WriteAgents(w io.Writer, all []agents.Agent) error {
	var b strings.Builder
	b.WriteString("NAME\tUSER\tROUTE\tMADE\tWORKSPACES\n")
	for i := range all {
		uid := "-"
		if all[i].UID != nil {
			uid = strconv.FormatUint(uint64(*all[i].UID), 10)
		}
		route := all[i].Route
		if route == "" {
			route = "-"
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", all[i].Name, uid, terminal.OneLine(route, 30),
			terminal.Stamp(all[i].Made), terminal.OneLine(strings.Join(all[i].Workspaces, " "), 200))
	}
	return terminal.Table(w, b.String())
}
