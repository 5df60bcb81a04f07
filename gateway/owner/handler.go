// Package owner is the owner's side of the daemon: it serves commands such as `vaglio inbox`,
// `pending` and `why` on a socket of its own. It can create logins, so agents must not reach it.
package owner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/doctor"
	"github.com/metnos/vaglio/internal/lineage"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// Desk is what the owner's side reads from.
type Desk interface {
	Pending(ctx context.Context, channel string) iter.Seq2[approval.Card, error]
	Why(ctx context.Context, id, channel string) (approval.Card, error)
	Digests
}

// Digests computes and sends digests.
type Digests interface {
	Digest(ctx context.Context, day string) (report.Digest, error)
	SendDigest(ctx context.Context, day string) ([]dispatcher.DigestSending, error)
	Judgements(ctx context.Context, day string, each func(report.Judgement)) (report.Digest, error)
}

// Doctor examines the daemon from within.
type Doctor interface {
	Examine(ctx context.Context) doctor.Examination
	Rehearse(ctx context.Context, channel string) (doctor.Rehearsal, error)
}

// Config is what the owner's side works with. Every field but Judgements is required.
type Config struct {
	Desk Desk
	// Orders does what the owner, who is By, orders.
	Orders Orders
	By     approval.Person
	// Judgements returns what the judge agents behind a verdict did; it may be nil.
	Judgements func(ctx context.Context, v *vaglio.Verdict) []vaglio.Judgement
	// History returns a page of proposals, newest first, with secrets masked.
	History func(ctx context.Context, f approval.Filter) (approval.Page, error)
	// Channel is the channel whose cards are shown, without their buttons.
	Channel string
	// Link creates a one-time link to the inbox.
	Link func() string
	// Pair creates a pairing code; [ErrNoBot] means that there is no bot to pair with.
	Pair   func() (Pairing, error)
	Doctor Doctor
	Agents Agents
	// Rotate creates new keys, and invalidates what the old ones signed.
	Rotate func(context.Context) (Rotation, error)
	// Sessions are the browsers that are signed in to the inbox.
	Sessions Sessions
	// Passkeys are the inbox's passkeys.
	Passkeys Passkeys
	// Above returns a process and its ancestors. Programs are the programs of agents, below
	// which no caller may decide or give orders.
	Above    func(pid int) (lineage.Line, error)
	Programs []string
	Texts    *templates.Texts
	Tree     history.Tree
	// Crashes returns the times when the daemon did not end properly.
	Crashes func(context.Context) ([]report.Crash, error)
	// Checkpoint signs the current history.
	Checkpoint func(context.Context) (string, error)
	// Backup writes a copy of the store.
	Backup func(io.Writer) (int64, error)
	Log    *slog.Logger
}

// admin serves the owner.
type admin struct {
	Config

	sights sights
}

// NewHandler returns the handler of the owner's side.
func NewHandler(c Config) http.Handler { return (&admin{Config: c}).handler() }

// handler returns the routes of the owner's side.
func (a *admin) handler() http.Handler {
	mux := http.NewServeMux()
	calls := a.agentCalls()
	maps.Copy(calls, a.sessionCalls())
	maps.Copy(calls, a.passkeyCalls())
	maps.Copy(calls, map[string]func(*http.Request) (any, error){
		"POST /inbox-link": func(*http.Request) (any, error) { return Link{a.Link()}, nil },
		"POST /rotate":     func(r *http.Request) (any, error) { return a.Rotate(r.Context()) },
		"POST /pair":       func(*http.Request) (any, error) { return a.Pair() },
		"POST /doctor":     func(r *http.Request) (any, error) { return a.Doctor.Examine(r.Context()), nil },
		"POST /doctor/tap/{channel}": func(r *http.Request) (any, error) {
			return a.Doctor.Rehearse(r.Context(), r.PathValue("channel"))
		},
		"GET /digest": func(r *http.Request) (any, error) { return a.Desk.Digest(r.Context(), r.FormValue("date")) },
		"GET /digest/text": func(r *http.Request) (any, error) {
			d, err := a.Desk.Digest(r.Context(), r.FormValue("date"))
			return Said{DigestText(a.Texts, &d)}, err
		},
		"GET /digest/picture": func(r *http.Request) (any, error) {
			return a.picture(r.Context(), r.FormValue("date"))
		},
		"POST /digest": func(r *http.Request) (any, error) { return a.sendDigest(r.Context(), r.FormValue("date")) },
		"GET /log":     func(r *http.Request) (any, error) { return a.readLog(r) },
		"GET /checkpoint": func(r *http.Request) (any, error) {
			text, err := a.Checkpoint(r.Context())
			return Checkpoint{text}, err
		},
		"POST /order":    func(r *http.Request) (any, error) { return a.order(r) },
		"POST /deny":     func(r *http.Request) (any, error) { return a.deny(r) },
		"GET /show/{id}": func(r *http.Request) (any, error) { return a.show(r) },
		"POST /shown":    func(r *http.Request) (any, error) { return Said{}, a.shown(r) },
		"POST /allow":    func(r *http.Request) (any, error) { return a.allow(r) },
		"GET /asked":     func(r *http.Request) (any, error) { return a.asked(r) },
		"GET /grants":    func(r *http.Request) (any, error) { return a.grants(r) },
		"GET /pending":   func(r *http.Request) (any, error) { return a.pending(r.Context()) },
		"GET /why/{id}":  func(r *http.Request) (any, error) { return a.why(r.Context(), r.PathValue("id")) },
	})
	for pattern, serve := range calls {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var answer any
			var err error
			if slices.Contains(rights(), pattern) {
				err = a.noAgent(r, &approval.Order{})
			}
			if err == nil {
				answer, err = serve(r)
			}
			a.answer(w, r, answer, err)
		})
	}
	mux.HandleFunc("GET /store", a.store)
	mux.HandleFunc("GET /digest/judgements", a.judgements)
	return mux
}

// rights are the calls that give somebody rights or take them away. No agent may make them for a
// person: whoever has a link to the inbox, or a paired chat, answers as the owner.
func rights() []string {
	return []string{
		"POST /inbox-link", "POST /pair", "POST /rotate", "POST /agents", "POST /agents/{name}/rotate", "DELETE /agents/{name}",
		"DELETE /sessions", "DELETE /sessions/{id}",
	}
}

// store sends a copy of the store. It aborts on failure, so that a partial copy does not look
// complete.
func (a *admin) store(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := a.Backup(w); err != nil {
		a.Log.ErrorContext(r.Context(), "a copy of the store was not handed out", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// pending lists the calls that wait.
func (a *admin) pending(ctx context.Context) (Approvals, error) {
	waiting := Approvals{[]Account{}}
	for card, err := range a.Desk.Pending(ctx, a.Channel) {
		if err != nil {
			return waiting, err
		}
		for _, one := range accounts(card, a.Texts) {
			if one.State == approval.Pending {
				waiting.Approvals = append(waiting.Approvals, one)
			}
		}
	}
	return waiting, nil
}

// why explains one approval, or all of an ask if the id is the ask's.
func (a *admin) why(ctx context.Context, id string) (Approvals, error) {
	card, err := a.Desk.Why(ctx, id, a.Channel)
	if err != nil {
		return Approvals{}, err
	}
	all := accounts(card, a.Texts)
	for i := range all {
		if a.Judgements != nil {
			all[i].Judgements = a.Judgements(ctx, &all[i].Verdict)
		}
	}
	for _, one := range all {
		if one.ID == approval.ID(approval.Typed(id)) {
			return Approvals{[]Account{one}}, nil
		}
	}
	return Approvals{all}, nil
}

// answer writes the answer, or what to tell the owner about an error.
func (a *admin) answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	status := http.StatusOK
	undone, _ := errors.AsType[*undoneError](err)
	mistake, mistaken := agentMistake(err)
	switch {
	case undone != nil:
		status, v = http.StatusConflict, Problem{undone.said}
	case mistaken:
		status, v = http.StatusConflict, mistake
	case errors.Is(err, approval.ErrNotFound):
		status, v = http.StatusNotFound, Problem{
			"nothing that was asked or refused has this id, or several begin like it: give more of it, at least four characters",
		}
	case isDayError(err):
		status, v = http.StatusBadRequest, Problem{err.Error()}
	case errors.Is(err, ErrNoBot), errors.Is(err, dispatcher.ErrNoDigester):
		status, v = http.StatusConflict, Problem{err.Error()}
	case errors.Is(err, approval.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		status, v = http.StatusInsufficientStorage, Problem{"the daemon's disk is full, and nothing was changed: make room, then try again"}
	case err != nil:
		a.Log.ErrorContext(r.Context(), "a request of the owner failed", "call", r.Pattern, "error", err)
		status, v = http.StatusInternalServerError, Problem{"the daemon failed; its log says why"}
	}
	body, err := strictjson.Marshal(v)
	if err != nil {
		a.Log.ErrorContext(r.Context(), "an answer could not be written", "call", r.Pattern, "error", err)
		status, body = http.StatusInternalServerError, []byte(`{"error":"the daemon failed; its log says why"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil { //nolint:gosec // JSON, which commands read and no browser.
		a.Log.DebugContext(r.Context(), "the client did not read an answer", "call", r.Pattern, "error", err)
	}
}

func isDayError(err error) bool {
	_, ok := errors.AsType[*report.DayError](err)
	return ok
}

// readLog returns a part of the history.
func (a *admin) readLog(r *http.Request) (history.Page, error) {
	from, err := strconv.ParseInt(r.FormValue("from"), 10, 64)
	f := history.Filter{Turn: r.FormValue("turn"), Agent: r.FormValue("agent")}
	if since := r.FormValue("since"); since != "" && err == nil {
		f.Since, err = time.Parse(time.RFC3339Nano, since)
	}
	if err != nil {
		return history.Page{}, fmt.Errorf("read the log: %w", err)
	}
	return history.Read(r.Context(), a.Tree, from, f)
}
