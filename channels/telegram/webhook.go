package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"mime"
	"net/http"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	// secretHeader is the header that proves that a delivery comes from the platform.
	secretHeader = "X-Telegram-Bot-Api-Secret-Token" //nolint:gosec // A header's name.
	// maxUpdate is the largest delivery, in bytes. The longest message and the one that it
	// replies to have 4096 characters each, for each of which JSON may use 12 bytes.
	maxUpdate = 256 << 10
	// deliverWithin is when a delivery is returned, to come again; the platform waits for a
	// minute.
	deliverWithin = 25 * time.Second
	// lookEvery is the pause between two checks of the webhook. It is far below the life of
	// a press.
	lookEvery = 30 * time.Second
	// errorLasts is how long the platform's last failure to deliver counts.
	errorLasts = 5 * time.Minute
)

// incoming is a delivered update, and the channel that reports whether it had its effect.
type incoming struct {
	update strictjson.Value
	taken  chan error
}

// errTaken says that somebody else set the bot's webhook.
var errTaken = errors.New("telegram: the bot's webhook is not the one that vaglio set")

// hookSecret returns a secret that only the platform and we can compute, because it needs
// the bot token. It is the same across restarts, so a delivery that began before one is
// accepted after it.
func hookSecret(token, address string) string {
	m := hmac.New(sha256.New, []byte(token))
	m.Write([]byte("webhook\n" + address))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// Webhook takes the platform's deliveries, for a channel whose Config has a Webhook. It
// answers 200 once an update has had its effect, and otherwise so that the platform
// delivers it again.
func (c *Channel) Webhook() http.Handler {
	want := []byte(hookSecret(c.api.token, c.webhook))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := platform.Body(w, r, maxUpdate, func(h http.Header) int {
			kind, _, _ := mime.ParseMediaType(h.Get("Content-Type")) // an unreadable type counts as none
			switch {
			case c.webhook == "" || subtle.ConstantTimeCompare([]byte(h.Get(secretHeader)), want) != 1:
				return http.StatusUnauthorized
			case kind != "application/json":
				return http.StatusUnsupportedMediaType
			default:
				return 0
			}
		})
		switch {
		case !ok: // it has been answered
		case !strictjson.Value(body).IsValid():
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.WriteHeader(c.deliver(r.Context(), body))
		}
	})
}

// deliver hands an update to the loop and returns the status to answer with.
func (c *Channel) deliver(ctx context.Context, update strictjson.Value) int {
	ctx, cancel := context.WithTimeout(ctx, deliverWithin)
	defer cancel()
	d := incoming{update, make(chan error, 1)}
	select {
	case c.deliveries <- d:
	case <-c.over: // nobody listens any more; the next process does
		return http.StatusServiceUnavailable
	case <-ctx.Done():
		return http.StatusServiceUnavailable
	}
	select {
	case err := <-d.taken:
		if err != nil {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	case <-ctx.Done():
		return http.StatusServiceUnavailable
	}
}

// receive takes deliveries, one after the other.
func (l *loop) receive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-l.deliveries:
			id, u, err := l.decode(ctx, d.update)
			if err == nil {
				_, err = l.effect(ctx, id, &u)
			}
			if err == nil {
				err = l.notes.Change(ctx, func(n *Notes) { n.add(id, time.Now()) })
			}
			if err != nil {
				l.log.ErrorContext(ctx, "a delivery has had no effect; the platform brings it again", "update", id, "error", err)
			} else {
				l.mu.Lock()
				l.delivered = time.Now()
				l.mu.Unlock()
			}
			d.taken <- err
		}
	}
}

// serveHook sets the webhook and checks on it until something fails.
func (l *loop) serveHook(ctx context.Context) error {
	// The note comes first: whatever we may have set is ours to delete later.
	if err := l.notes.Change(ctx, func(n *Notes) { n.Webhook = l.webhook }); err != nil {
		return err
	}
	if _, err := l.api.call(ctx, "setWebhook", tgbotapi.Params{
		"url": l.webhook, "secret_token": hookSecret(l.api.token, l.webhook), "allowed_updates": wantedUpdates,
		// One at a time, so that a person's taps and words keep their order.
		"max_connections": "1",
	}, callWithin); err != nil {
		return err
	}
	for {
		info, err := l.hook(ctx)
		switch {
		case err != nil:
			return err
		case info.URL != l.webhook:
			return errTaken
		case l.fails(&info):
			l.mu.Lock()
			l.hearing.Begin("trouble.hook", map[string]any{"error": cardtext.Within(l.api.hide(info.Error), 200)})
			l.mu.Unlock()
		default:
			if err := l.heard(ctx); err != nil {
				return err
			}
		}
		platform.Sleep(ctx, lookEvery)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// hookInfo is the state of the bot's webhook.
type hookInfo struct {
	URL     string `json:"url"`
	Pending int    `json:"pending_update_count"`
	ErrorAt int64  `json:"last_error_date"`
	Error   string `json:"last_error_message"`
}

func (l *loop) hook(ctx context.Context) (info hookInfo, err error) {
	res, err := l.api.call(ctx, "getWebhookInfo", nil, callWithin)
	if err == nil && strictjson.UnmarshalLoose(res, &info) != nil {
		err = errors.New("telegram: getWebhookInfo: the answer cannot be read")
	}
	return info, err
}

// fails reports whether deliveries currently fail. The platform reports its last failure
// for ever, so a failure counts until something was delivered after it or, if nothing waits
// to be delivered, for a while.
func (l *loop) fails(info *hookInfo) bool {
	if info.ErrorAt == 0 {
		return false
	}
	at := time.Unix(info.ErrorAt, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.delivered.After(at.Add(time.Second)) {
		return false
	}
	return info.Pending > 0 || time.Since(at) < errorLasts
}

// unhook deletes the webhook that an earlier run of ours set. One that somebody else set
// stays: whoever needs it must find out.
func (l *loop) unhook(ctx context.Context) error {
	ours := l.notes.Now().Webhook
	if ours == "" {
		return nil
	}
	info, err := l.hook(ctx)
	if err != nil {
		return err
	}
	if info.URL == ours {
		if _, err := l.api.call(ctx, "deleteWebhook", tgbotapi.Params{"drop_pending_updates": "false"}, callWithin); err != nil {
			return err
		}
	}
	return l.notes.Change(ctx, func(n *Notes) { n.Webhook = "" })
}
