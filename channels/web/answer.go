package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/metnos/vaglio/approval"
)

// pageError is a failure as a person reads it.
type pageError struct {
	Status      int
	Title, Text text
	// Link leads to where the person can go on; empty means to the inbox.
	Link string
	// Err is the cause, for the log.
	Err error
}

func (e *pageError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("web: %s: %v", e.Title.Key, e.Err)
	}
	return "web: " + string(e.Title.Key)
}

func (e *pageError) Unwrap() error { return e.Err }

// handler answers a request, or returns the error that is to be shown.
type handler func(http.ResponseWriter, *http.Request) error

// open serves h to everybody.
func (w *Web) open(h handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := h(rw, r); err != nil {
			w.fail(rw, r, err)
		}
	})
}

// signedIn serves h to people with a session, and to others the page that says
// how to get one.
func (w *Web) signedIn(h handler) http.Handler {
	return w.open(func(rw http.ResponseWriter, r *http.Request) error {
		who, ok := w.session(r)
		if !ok {
			return w.render(rw, r, page{Status: http.StatusUnauthorized, Name: "signin", Title: text{Key: "web.signin"}})
		}
		if err := w.sessions.used(context.WithoutCancel(r.Context()), &who); err != nil {
			w.log.WarnContext(r.Context(), "a session could not be stretched; it ends when it would have", "error", err)
		}
		return h(rw, r)
	})
}

// fail shows the error. What is ours goes to the log, and only there.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // The tab was closed: nobody reads this.
	}
	shown, ok := errors.AsType[*pageError](err)
	switch {
	case ok:
	case errors.Is(err, approval.ErrNotFound):
		shown = &pageError{
			Status: http.StatusNotFound, Title: text{Key: "web.fault.unknown.title"},
			Text: text{Key: "web.fault.unknown"},
		}
	default:
		shown = &pageError{
			Status: http.StatusInternalServerError, Title: text{Key: "web.fault.ours.title"},
			Text: text{Key: "web.fault.ours"}, Err: err,
		}
	}
	if shown.Status >= http.StatusInternalServerError && shown.Err != nil {
		w.log.LogAttrs(r.Context(), slog.LevelError, "inbox request failed",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Any("error", shown.Err))
	}
	if shown.Link == "" {
		shown.Link = "/inbox"
	}
	p := page{Status: shown.Status, Name: "error", Title: shown.Title, Body: shown}
	if err := w.render(rw, r, p); err != nil {
		w.log.LogAttrs(r.Context(), slog.LevelError, "inbox page failed",
			slog.String("path", r.URL.Path), slog.Any("error", err))
		http.Error(rw, w.textsFor(r).Plain(shown.Title.Key, nil), http.StatusInternalServerError)
	}
}
