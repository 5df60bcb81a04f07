package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
)

// api makes calls of the Bot API. It uses the library for the requests, and reads the
// answers itself: the library's client has neither contexts nor time limits, and its errors
// show the token.
type api struct {
	base, token string
	client      *http.Client
	// quiet holds back messages to chats that accept none for a while.
	quiet platform.Pauses[int64]
	// unpaced says that the platform has no limits; pace spreads new messages.
	unpaced bool
	pace    platform.Pace[int64]
}

// rates returns the limits of new messages in a chat, and in all of them (0). The platform's
// FAQ for bots has them (core.telegram.org/bots/faq): one a second in a chat, with short
// bursts, 20 a minute in a group, and 30 a second. Groups have negative numbers.
func rates(chat int64) map[int64]platform.Rate {
	own := platform.Rate{Every: time.Second, AtOnce: 20}
	if chat < 0 {
		own = platform.Rate{Every: 4 * time.Second, AtOnce: 5}
	}
	return map[int64]platform.Rate{chat: own, 0: {Every: 40 * time.Millisecond, AtOnce: 5}}
}

const (
	callWithin   = 20 * time.Second
	uploadWithin = 2 * time.Minute
	// maxAnswer is the most that is read of an answer; the platform cuts at 4 MB.
	maxAnswer = 16 << 20
)

// PlatformError is a refusal by the platform.
type PlatformError struct {
	Method      string
	Code        int
	Description string
	// RetryAfter is set for code 429.
	RetryAfter time.Duration
	// MigrateTo is the chat's new id if it became a supergroup.
	MigrateTo int64
}

func (e *PlatformError) Error() string {
	return fmt.Sprintf("telegram: %s: %d %s", e.Method, e.Code, e.Description)
}

// reachError says that the platform did not answer.
type reachError struct {
	method string
	err    error
}

func (e *reachError) Error() string { return "telegram: " + e.method + ": " + e.err.Error() }

func (e *reachError) Unwrap() error { return e.err }

// says reports whether the description contains one of the texts.
func (e *PlatformError) says(texts ...string) bool {
	for _, t := range texts {
		if strings.Contains(strings.ToLower(e.Description), strings.ToLower(t)) {
			return true
		}
	}
	return false
}

// shut reports whether the chat accepts nothing from the bot.
func (e *PlatformError) shut() bool {
	return e.Code == http.StatusForbidden || e.Code == http.StatusBadRequest && e.says("not enough rights", "CHAT_WRITE_FORBIDDEN", "have no rights to send")
}

// topicless reports whether the forum topic does not exist, or is closed.
func (e *PlatformError) topicless() bool {
	return e.Code == http.StatusBadRequest && e.says("message thread not found", "TOPIC_DELETED", "TOPIC_CLOSED", "TOPIC_ID_INVALID")
}

// buttonless reports whether the server does not know one of the kinds of buttons.
func (e *PlatformError) buttonless() bool {
	return e.Code == http.StatusBadRequest && e.says("buttons are unallowed in the inline keyboard", "BUTTON_TYPE_INVALID")
}

// foreign is the description of an answer that is not the platform's: a proxy's page, most
// likely.
const foreign = "the answer is not the platform's"

// richless reports whether the server refuses a rich message as such: it does not know the
// method, or not this content. It does not say so of a chat or a topic that is not there.
func (e *PlatformError) richless() bool {
	switch {
	case e.Code != http.StatusNotFound && e.Code != http.StatusBadRequest, e.Description == foreign, e.MigrateTo != 0:
		return false
	default:
		return !e.gone() && !e.topicless() && !e.shut()
	}
}

// gone reports whether the message, or its chat, is out of reach.
func (e *PlatformError) gone() bool {
	switch e.Code {
	case http.StatusForbidden:
		return true
	case http.StatusBadRequest:
		return e.uneditable() || e.says("message to edit not found", "MESSAGE_ID_INVALID", "chat not found", "PEER_ID_INVALID")
	default:
		return false
	}
}

// uneditable reports whether the message exists but cannot be changed.
func (e *PlatformError) uneditable() bool {
	return e.Code == http.StatusBadRequest && e.says("message can't be edited", "no text in the message to edit")
}

// unanswerable reports whether there is no message to reply to.
func (e *PlatformError) unanswerable() bool {
	return e.Code == http.StatusBadRequest && e.says("message to be replied not found", "replied message not found")
}

// envelope is the outer part of every answer.
type envelope struct {
	OK          *bool            `json:"ok"`
	Result      strictjson.Value `json:"result"`
	Code        int              `json:"error_code"`
	Description string           `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// doer adapts a function to the library's client interface.
type doer func(*http.Request) (*http.Response, error)

// Do makes the request.
func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// bot returns the library's bot, whose requests end with ctx.
func (a *api) bot(ctx context.Context, method string) *tgbotapi.BotAPI {
	b := &tgbotapi.BotAPI{Token: a.token, Client: doer(func(r *http.Request) (*http.Response, error) {
		return a.exchange(r.WithContext(ctx), method)
	})}
	b.SetAPIEndpoint(a.base + "/bot%s/%s")
	return b
}

// call makes one call, within a time limit.
func (a *api) call(ctx context.Context, method string, p tgbotapi.Params, within time.Duration) (strictjson.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res, err := a.bot(ctx, method).MakeRequest(method, p)
	if err != nil {
		return nil, a.clean(method, err)
	}
	return strictjson.Value(res.Result), nil
}

// upload makes a call that also sends a file, in the given field.
func (a *api) upload(ctx context.Context, method string, p tgbotapi.Params, field string, file tgbotapi.FileBytes, within time.Duration) (strictjson.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	res, err := a.bot(ctx, method).UploadFiles(method, p, []tgbotapi.RequestFile{{Name: field, Data: file}})
	if err != nil {
		return nil, a.clean(method, err)
	}
	return strictjson.Value(res.Result), nil
}

// exchange makes the request and reads the whole answer. Anything but the platform's
// success is an error.
func (a *api) exchange(r *http.Request, method string) (*http.Response, error) {
	res, err := a.client.Do(r) //nolint:gosec // The address is the operator's.
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var e envelope
	if err := strictjson.UnmarshalLoose(body, &e); err != nil || e.OK == nil {
		// Quoting it would help nobody.
		return nil, &PlatformError{Method: method, Code: max(res.StatusCode, http.StatusBadRequest), Description: foreign}
	}
	if !*e.OK {
		return nil, &PlatformError{
			Method: method, Code: e.Code, Description: a.hide(e.Description),
			RetryAfter: time.Duration(e.Parameters.RetryAfter) * time.Second, MigrateTo: e.Parameters.MigrateTo,
		}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// clean removes the address, and with it the token, from an error.
func (a *api) clean(method string, err error) error {
	if p, ok := errors.AsType[*PlatformError](err); ok {
		return p
	}
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			break
		}
		err = u.Err
	}
	if text := err.Error(); a.hide(text) != text {
		err = errors.New(a.hide(text))
	}
	return &reachError{method, err}
}

// hide removes the token from a text, and its secret part even if the rest is written
// differently, as in an escaped address.
func (a *api) hide(s string) string {
	_, secret, _ := strings.Cut(a.token, ":")
	return strings.ReplaceAll(strings.ReplaceAll(s, a.token, "[token]"), secret, "[token]")
}

// newAPI returns an api that uses a client. It follows no redirects: the address contains
// the token, which nobody else may get.
func newAPI(base, token string, client *http.Client) *api {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &api{base: strings.TrimRight(base, "/"), token: token, client: &own}
}

// busy says that a chat accepts no message for a while.
func busy(wait time.Duration) error {
	return &PlatformError{
		Method: "send", Code: http.StatusTooManyRequests, Description: "the chat takes no message yet", RetryAfter: wait,
	}
}

// turn waits until the chat accepts another new message, or says how long that will be. An
// answer to a person waits for no turn.
func (a *api) turn(ctx context.Context, chat int64, answer bool) error {
	wait := a.quiet.Left(chat)
	if wait == 0 && (answer || a.unpaced) {
		a.pace.Ahead(rates(chat))
		return nil
	}
	if wait == 0 {
		wait = a.pace.Turn(ctx, rates(chat))
	}
	if wait > 0 {
		return busy(wait)
	}
	return nil
}

// hush makes a call, unless the chat's rate limit still holds it back.
func (a *api) hush(chat int64, call func() (strictjson.Value, error)) (strictjson.Value, error) {
	if wait := a.quiet.Left(chat); wait > 0 {
		return nil, busy(wait)
	}
	v, err := call()
	if p, ok := errors.AsType[*PlatformError](err); ok && p.Code == http.StatusTooManyRequests {
		a.quiet.Begin(chat, p.RetryAfter)
	}
	return v, err
}

// delivery says what a failure means for a card.
func delivery(err error) error {
	p, ok := errors.AsType[*PlatformError](err)
	switch {
	case err == nil, ok && p.says("message is not modified"):
		return nil
	case ok && p.gone():
		return fmt.Errorf("%w: %w", approval.ErrGone, err)
	case ok:
		// The platform refused it, unless the fault was its own.
		return &approval.RetryError{After: p.RetryAfter, Unsent: p.Code < http.StatusInternalServerError, Err: err}
	default:
		return &approval.RetryError{Err: err}
	}
}
