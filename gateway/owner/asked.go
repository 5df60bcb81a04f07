package owner

import (
	"fmt"
	"net/http"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Asked is a call that people were asked about, with secrets masked.
type Asked struct {
	ID       approval.ID     `json:"id"`
	At       time.Time       `json:"at"`
	State    approval.State  `json:"state"`
	Proposal vaglio.Proposal `json:"proposal"`
	// Allowed says that a person allowed the call, Ran that it was then run.
	Allowed bool `json:"allowed"`
	Ran     bool `json:"ran"`
}

// AskedCalls are the calls of a period, newest first.
type AskedCalls struct {
	Calls []Asked `json:"calls"`
	// Dropped counts further calls whose values are no longer kept. More says that there are
	// more calls than listed.
	Dropped int  `json:"dropped"`
	More    bool `json:"more"`
}

// mostAsked is the maximum number of calls listed, the newest ones.
const mostAsked = 5000

// asked lists the calls that people were asked about since a given time.
func (a *admin) asked(r *http.Request) (AskedCalls, error) {
	since, err := time.Parse(time.RFC3339Nano, r.FormValue("since"))
	if err != nil {
		return AskedCalls{}, fmt.Errorf("list what was asked: %w", err)
	}
	all := AskedCalls{Calls: []Asked{}}
	for f := (approval.Filter{Since: since}); ; {
		page, err := a.History(r.Context(), f)
		if err != nil {
			return AskedCalls{}, err
		}
		for i := range page.Entries {
			all.take(&page.Entries[i])
		}
		if f.Before = page.Older; page.Older == 0 || all.More {
			return all, nil
		}
	}
}

// take adds an entry if people were asked about it.
func (l *AskedCalls) take(e *approval.Entry) {
	p := e.Approval
	switch {
	case p == nil:
	case !p.ValuesDropped.IsZero():
		l.Dropped++
	case len(l.Calls) == mostAsked:
		l.More = true
	default:
		allowed := p.Decision != nil && p.Decision.Choice == approval.ChoiceAllow
		l.Calls = append(l.Calls, Asked{p.ID, e.Step.At, p.State, p.Proposal, allowed, p.Outcome != nil || p.State == approval.Spent})
	}
}
