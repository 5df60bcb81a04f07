package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
)

// problemError is a problem document (RFC 9457), the answer to every failure.
type problemError struct {
	// Type identifies the kind of problem. It is sent as "/problems/" and this word.
	Type  string `json:"type"`
	Title string `json:"title"`
	// Status repeats the HTTP status.
	Status int `json:"status"`
	// Detail says in one sentence what went wrong, without values or secrets.
	Detail string `json:"detail"`
	// Field is the JSON pointer to the offending value in the body.
	Field string `json:"field,omitempty"`
	// Line is the line with the mistake, counted from 1, in the body or in the text that Field
	// points to.
	Line int `json:"line,omitzero"`
	// Rule is the guard rule that denied the call when its permit was redeemed.
	Rule string `json:"rule,omitempty"`

	// retryAfter is in seconds.
	retryAfter int
	challenge  string
	// ours marks a failure on our side, which must be logged.
	ours bool
}

func (p *problemError) Error() string { return p.Detail }

// problemOf returns the problem document for err. It is the only place that maps errors.
func problemOf(err error) *problemError {
	if p, ok := errors.AsType[*problemError](err); ok {
		return p
	}
	for _, known := range []func(error) *problemError{shapeProblem, permitProblem, stateProblem, storeProblem} {
		if p := known(err); p != nil {
			return p
		}
	}
	return ours(http.StatusInternalServerError)
}

// shapeProblem maps mistakes in the request. Those that the catalog finds come before the
// judging and are not verdicts.
func shapeProblem(err error) *problemError {
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		return &problemError{
			Type: "body", Title: "The body cannot be read", Status: http.StatusBadRequest,
			Detail: e.Error(), Field: e.Path,
		}
	}
	if e, ok := errors.AsType[*dispatcher.PlanError](err); ok {
		return &problemError{
			Type: "body", Title: "The plan is invalid", Status: http.StatusBadRequest,
			Detail: e.Error(), Field: fmt.Sprintf("/calls/%d/%s", e.Index, e.Field),
		}
	}
	p := argsProblem(err)
	if p == nil {
		return nil
	}
	if in, ok := errors.AsType[*dispatcher.CallError](err); ok {
		p.Field = fmt.Sprintf("/calls/%d%s", in.Index, p.Field)
	}
	return p
}

// argsProblem maps the reasons why arguments were not judged.
func argsProblem(err error) *problemError {
	if e, ok := errors.AsType[*vaglio.ShapeError](err); ok {
		return &problemError{
			Type: "unreadable", Title: "The arguments cannot be read", Status: http.StatusUnprocessableEntity,
			Detail: e.Error(), Field: "/args" + e.Field, Line: e.Line,
		}
	}
	e, ok := errors.AsType[*catalog.Error](err)
	if !ok {
		return nil
	}
	p := &problemError{
		Type: "schema", Title: "The arguments do not fit the executor", Status: http.StatusUnprocessableEntity,
		Detail: e.Error(), Field: "/args" + e.Field,
	}
	switch e.Kind {
	case catalog.KindScope:
		p.Type, p.Title = "scope", "The arguments are outside the executor's scope"
	case catalog.KindUnknown:
		p.Type, p.Title, p.Field = "unknown-executor", "The executor is unknown", "/executor"
	default:
	}
	return p
}

// permitProblem maps the reasons why a permit cannot be redeemed.
func permitProblem(err error) *problemError {
	if e, ok := errors.AsType[*dispatcher.GuardError](err); ok {
		p := &problemError{
			Type: "guard", Title: "The guard denies this call", Status: http.StatusForbidden,
			Detail: "the guard denies this call now, for good: " + e.Verdict.Reason,
		}
		if e.Verdict.Rule != nil {
			p.Rule = e.Verdict.Rule.ID
		}
		return p
	}
	if e, ok := errors.AsType[*dispatcher.FileChangedError](err); ok {
		return &problemError{
			Type: "file-changed", Title: "A file is not the one that was shown", Status: http.StatusUnprocessableEntity, Detail: e.Error(),
		}
	}
	switch {
	case errors.Is(err, dispatcher.ErrSpent):
		return &problemError{Type: "spent", Title: "The permit is spent", Status: http.StatusConflict, Detail: dispatcher.ErrSpent.Error()}
	case errors.Is(err, dispatcher.ErrLapsed):
		return &problemError{Type: "lapsed", Title: "The permit has lapsed", Status: http.StatusGone, Detail: dispatcher.ErrLapsed.Error()}
	case errors.Is(err, dispatcher.ErrOtherCall):
		return &problemError{
			Type: "other-call", Title: "Not the call that was shown", Status: http.StatusUnprocessableEntity,
			Detail: dispatcher.ErrOtherCall.Error(),
		}
	default:
		return nil
	}
}

// stateProblem maps what does not exist, and what is not possible in the current state.
func stateProblem(err error) *problemError {
	if errors.Is(err, approval.ErrNotFound) {
		return &problemError{
			Type: "not-found", Title: "Not found", Status: http.StatusNotFound,
			Detail: "this agent has nothing of that name",
		}
	}
	if errors.Is(err, dispatcher.ErrStopping) {
		return stopping()
	}
	if _, unread := errors.AsType[*approval.UnreadError](err); unread {
		return &problemError{ // The dispatcher has logged it.
			Type: "unreadable", Title: "The record cannot be read", Status: http.StatusInternalServerError,
			Detail: "the stored record of this call cannot be read: the call must not run; 'vaglio doctor' says why",
		}
	}
	if e, ok := errors.AsType[*dispatcher.LimitError](err); ok {
		return &problemError{
			Type: "too-many-asks", Title: "Too many calls wait", Status: http.StatusTooManyRequests,
			Detail: e.Error() + "; this call was not asked and must not run", retryAfter: 60,
		}
	}
	e, ok := errors.AsType[*approval.MoveError](err)
	if !ok {
		return nil
	}
	p := &problemError{Type: "state", Title: "Not possible in this state", Status: http.StatusConflict, Detail: e.Error()}
	if e.Event == approval.Redeem && (e.State == approval.Lapsed || e.State == approval.Expired) {
		p.Status = http.StatusGone
	}
	return p
}

// storeProblem maps the ways in which a disk fails. Nothing was acknowledged, so nothing is
// half done. Only the log says which file it was.
func storeProblem(err error) *problemError {
	switch {
	case errors.Is(err, approval.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &problemError{
			Type: "store-full", Title: "The store is full", Status: http.StatusInsufficientStorage,
			Detail: "vaglio's disk is full: the call was not recorded and must not run", ours: true, retryAfter: 10,
		}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EIO):
		return &problemError{
			Type: "store", Title: "The store cannot be written", Status: http.StatusServiceUnavailable,
			Detail: "vaglio cannot write its store: the call was not recorded and must not run", ours: true, retryAfter: 10,
		}
	case errors.Is(err, context.DeadlineExceeded):
		return &problemError{
			Type: "late", Title: "Not answered in time", Status: http.StatusServiceUnavailable,
			Detail: "vaglio did not finish in time: the call must not run; come back with it", ours: true, retryAfter: 1,
		}
	default:
		return nil
	}
}

// ours returns an internal failure whose details only the log tells.
func ours(status int) *problemError {
	return &problemError{
		Type: "internal", Title: "vaglio failed", Status: status,
		Detail: "vaglio failed while it handled the call: the call must not run; the log says why", ours: true,
	}
}

// stopping tells an agent to come back when the next process is up.
func stopping() *problemError {
	return &problemError{
		Type: "stopping", Title: "vaglio is restarting", Status: http.StatusServiceUnavailable,
		Detail: dispatcher.ErrStopping.Error(), retryAfter: 1,
	}
}

// tooMany tells an agent that no more requests can wait or connect.
func tooMany() *problemError {
	return &problemError{
		Type: "busy", Title: "Too many wait", Status: http.StatusServiceUnavailable,
		Detail: "too many requests wait for a person at the moment: come back later", retryAfter: 2,
	}
}
