package slack

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"time"

	slackapi "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// maxRequest is the largest delivery, in bytes: a press brings its message.
	maxRequest = 1 << 20
	// handWithin is how long a delivery waits for the loop; the platform gives three
	// seconds in all.
	handWithin = 2 * time.Second
)

// Handler takes the platform's deliveries, for a channel whose Config has a signing secret:
// interactivity, commands and events alike. It refuses whatever is not signed with the
// secret, over the raw body and within five minutes.
func (c *Channel) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := platform.Body(w, r, maxRequest, nil)
		if !ok {
			return
		}
		if !c.signed(r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		a, challenge, err := c.read(r, body)
		c.noteDelivery(&a)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case challenge != "":
			w.Header().Set("Content-Type", "application/json")
			_ = strictjson.MarshalWrite(w, map[string]string{"challenge": challenge}) // the platform asks again
		default:
			c.hand(w, r, a)
		}
	})
}

// read reads a signed delivery. A challenge is echoed.
func (c *Channel) read(r *http.Request, body []byte) (a act, challenge string, err error) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return act{}, "", err
	}
	if kind == "application/json" {
		e, err := slackevents.ParseEvent(body, slackevents.OptionNoVerifyToken())
		if v, ok := e.Data.(*slackevents.EventsAPIURLVerificationEvent); ok {
			return act{}, v.Challenge, nil
		}
		return act{event: &e}.named(), "", err
	}
	if err := r.ParseForm(); err != nil {
		return act{}, "", err
	}
	if r.PostForm.Has("command") {
		command, err := slackapi.SlashCommandParse(r)
		return act{command: &command}.named(), "", err
	}
	press, err := slackapi.InteractionCallbackParse(r)
	return act{press: &press}.named(), "", err
}

// hand gives an act to the loop and answers with its acknowledgement.
func (c *Channel) hand(w http.ResponseWriter, r *http.Request, a act) {
	answer := make(chan any, 1)
	a.ack = &ack{send: func(payload any) { answer <- payload }}
	ctx, cancel := context.WithTimeout(r.Context(), handWithin)
	defer cancel()
	select {
	case c.acts <- a:
	case <-ctx.Done():
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	timer := time.NewTimer(workWithin)
	defer timer.Stop()
	select {
	case payload := <-answer:
		if payload == nil {
			w.WriteHeader(http.StatusOK)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := strictjson.MarshalWrite(w, payload); err != nil {
			c.log.WarnContext(ctx, "an action on slack could not be answered; what it decided stands", "error", err)
		}
	case <-timer.C:
		w.WriteHeader(http.StatusServiceUnavailable)
	case <-r.Context().Done():
	}
}

// receive takes deliveries until ctx ends.
func (l *loop) receive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-l.acts:
			l.take(ctx, a)
		}
	}
}
