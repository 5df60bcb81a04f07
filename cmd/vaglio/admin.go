package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// The owner's side: what `vaglio inbox`, `pending` and `why` ask the daemon
// over a socket of its own. It can make logins, so agents must not reach it.

// desk is what the owner's side reads.
type desk interface {
	Pending(ctx context.Context, channel string) iter.Seq2[approval.Card, error]
	Why(ctx context.Context, id, channel string) (approval.Card, error)
	digests
}

// digests are what the owner's side does with digests.
type digests interface {
	Digest(ctx context.Context, day string) (report.Digest, error)
	SendDigest(ctx context.Context, day string) ([]dispatcher.DigestSending, error)
	Judgements(ctx context.Context, day string, each func(report.Judgement)) (report.Digest, error)
}

// linkAnswer is a one-time link into the inbox.
type linkAnswer struct {
	Link string `json:"link"`
}

// approvalsAnswer lists calls.
type approvalsAnswer struct {
	Approvals []account `json:"approvals"`
}

// account is everything about one call that a person may see: what a card
// shows, without its buttons.
type account struct {
	ID        approval.ID        `json:"id"`
	State     approval.State     `json:"state"`
	Agent     string             `json:"agent"`
	TurnID    string             `json:"turn_id"`
	Intent    string             `json:"intent"`
	Executor  string             `json:"executor"`
	Command   string             `json:"command,omitempty"`
	Args      string             `json:"args"`
	Cwd       string             `json:"cwd,omitempty"`
	Mounts    []string           `json:"mounts,omitempty"`
	Verdict   vaglio.Verdict     `json:"verdict"`
	Refusal   approval.Refusal   `json:"refusal"`
	OpenedAt  time.Time          `json:"opened_at"`
	ExpiresAt time.Time          `json:"expires_at"`
	Decision  *approval.Decision `json:"decision,omitempty"`
	Permit    *approval.Permit   `json:"permit,omitempty"`
	Outcome   *approval.Outcome  `json:"outcome,omitempty"`
}

// problemAnswer is what the daemon says when it cannot answer.
type problemAnswer struct {
	Error string `json:"error"`
}

// stateRefused stands for the state of a call that nobody was asked about.
const stateRefused approval.State = "refused"

// accounts returns one account for each call of the card.
func accounts(c approval.Card) []account {
	all := make([]account, 0, len(c.Items))
	for i := range c.Items {
		it := &c.Items[i]
		id := it.Approval
		if it.State == "" {
			id = approval.ID(c.Ask)
		}
		all = append(all, account{
			ID: id, State: cmp.Or(it.State, stateRefused),
			Agent: c.Agent, TurnID: c.TurnID, Intent: c.Intent,
			Executor: it.Executor, Command: it.Command, Args: it.Args, Cwd: it.Cwd, Mounts: it.Mounts,
			Verdict: it.Verdict, Refusal: it.Refusal,
			OpenedAt: c.OpenedAt, ExpiresAt: c.ExpiresAt,
			Decision: it.Decision, Permit: it.Permit, Outcome: it.Outcome,
		})
	}
	return all
}

// admin answers the owner.
type admin struct {
	desk     desk
	link     func() string
	pair     func() (pairAnswer, error)
	examine  func(context.Context) examination
	rehearse func(context.Context, string) (rehearsal, error)
	texts    *templates.Texts
	tree     history.Tree
	// checkpoint signs the history as it is.
	checkpoint func(context.Context) (string, error)
	// backup writes a copy of the store.
	backup func(io.Writer) (int64, error)
	log    *slog.Logger
}

// handler serves the owner's side.
func (a *admin) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(*http.Request) (any, error){
		"POST /inbox-link": func(*http.Request) (any, error) { return linkAnswer{a.link()}, nil },
		"POST /pair":       func(*http.Request) (any, error) { return a.pair() },
		"POST /doctor":     func(r *http.Request) (any, error) { return a.examine(r.Context()), nil },
		"POST /doctor/tap/{channel}": func(r *http.Request) (any, error) {
			return a.rehearse(r.Context(), r.PathValue("channel"))
		},
		"GET /digest": func(r *http.Request) (any, error) { return a.desk.Digest(r.Context(), r.FormValue("date")) },
		"GET /digest/picture": func(r *http.Request) (any, error) {
			return a.picture(r.Context(), r.FormValue("date"))
		},
		"POST /digest": func(r *http.Request) (any, error) { return a.sendDigest(r.Context(), r.FormValue("date")) },
		"GET /log":     func(r *http.Request) (any, error) { return a.readLog(r) },
		"GET /checkpoint": func(r *http.Request) (any, error) {
			text, err := a.checkpoint(r.Context())
			return checkpointAnswer{text}, err
		},
		"GET /pending":  func(r *http.Request) (any, error) { return a.pending(r.Context()) },
		"GET /why/{id}": func(r *http.Request) (any, error) { return a.why(r.Context(), r.PathValue("id")) },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer, err := serve(r)
			a.answer(w, r, answer, err)
		})
	}
	mux.HandleFunc("GET /store", a.store)
	mux.HandleFunc("GET /digest/judgements", a.judgements)
	return mux
}

// store hands out a copy of the store. One that is cut short must not look whole.
func (a *admin) store(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := a.backup(w); err != nil {
		a.log.ErrorContext(r.Context(), "a copy of the store was not handed out", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// pending lists what waits.
func (a *admin) pending(ctx context.Context) (approvalsAnswer, error) {
	waiting := approvalsAnswer{[]account{}}
	for card, err := range a.desk.Pending(ctx, webChannel) {
		if err != nil {
			return waiting, err
		}
		for _, one := range accounts(card) {
			if one.State == approval.Pending {
				waiting.Approvals = append(waiting.Approvals, one)
			}
		}
	}
	return waiting, nil
}

// why explains one approval, or all of an ask when the id is the ask's.
func (a *admin) why(ctx context.Context, id string) (approvalsAnswer, error) {
	card, err := a.desk.Why(ctx, id, webChannel)
	if err != nil {
		return approvalsAnswer{}, err
	}
	all := accounts(card)
	for _, one := range all {
		if one.ID == approval.ID(id) {
			return approvalsAnswer{[]account{one}}, nil
		}
	}
	return approvalsAnswer{all}, nil
}

// answer writes what the owner is told.
func (a *admin) answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	status := http.StatusOK
	switch {
	case errors.Is(err, approval.ErrNotFound):
		status, v = http.StatusNotFound, problemAnswer{
			"nothing that was asked or refused has this id, or several begin like it: give more of it, at least four characters",
		}
	case isDayError(err):
		status, v = http.StatusBadRequest, problemAnswer{err.Error()}
	case errors.Is(err, errNoBot), errors.Is(err, dispatcher.ErrNoDigester):
		status, v = http.StatusConflict, problemAnswer{err.Error()}
	case err != nil:
		a.log.ErrorContext(r.Context(), "the owner's side failed", "call", r.Pattern, "error", err)
		status, v = http.StatusInternalServerError, problemAnswer{"the daemon failed; its log says why"}
	}
	body, err := strictjson.Marshal(v)
	if err != nil {
		a.log.ErrorContext(r.Context(), "an answer could not be written", "call", r.Pattern, "error", err)
		status, body = http.StatusInternalServerError, []byte(`{"error":"the daemon failed; its log says why"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		a.log.DebugContext(r.Context(), "an answer was not taken", "call", r.Pattern, "error", err)
	}
}
