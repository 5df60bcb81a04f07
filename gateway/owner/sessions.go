package owner

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/terminal"
)

// Sessions manages the browsers that are signed in to the inbox.
type Sessions interface {
	List() []SessionAccount
	// End ends the sessions whose id begins with prefix; an empty prefix means all.
	End(ctx context.Context, prefix string) (ended int, err error)
}

// SessionAccount is what the owner sees of a session.
type SessionAccount struct {
	ID      string    `json:"id"`
	Made    time.Time `json:"made"`
	Until   time.Time `json:"until"`
	From    string    `json:"from"`
	Browser string    `json:"browser"`
}

// SessionList is a list of sessions.
type SessionList struct {
	Sessions []SessionAccount `json:"sessions"`
}

// EndedSessions counts the sessions that were ended.
type EndedSessions struct {
	Ended int `json:"ended"`
}

func (a *admin) sessionCalls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /sessions": func(*http.Request) (any, error) { return SessionList{a.Sessions.List()}, nil },
		"DELETE /sessions": func(r *http.Request) (any, error) {
			n, err := a.Sessions.End(r.Context(), "")
			return EndedSessions{n}, err
		},
		"DELETE /sessions/{id}": func(r *http.Request) (any, error) {
			n, err := a.Sessions.End(r.Context(), r.PathValue("id"))
			return EndedSessions{n}, err
		},
	}
}

// shownID is how much of a session's id the table shows, enough to identify it.
const shownID = 12

// WriteSessions writes a table of the sessions.
func WriteSessions(w io.Writer, all []SessionAccount) error {
	var b strings.Builder
	b.WriteString("SESSION\tMADE\tUNTIL\tFROM\tBROWSER\n")
	for i := range all {
		fmt.Fprintf(&b, "%.*s\t%s\t%s\t%s\t%s\n", shownID, all[i].ID, terminal.Stamp(all[i].Made), terminal.Stamp(all[i].Until),
			terminal.OneLine(all[i].From, 45), terminal.OneLine(all[i].Browser, 80))
	}
	return terminal.Table(w, b.String())
}
