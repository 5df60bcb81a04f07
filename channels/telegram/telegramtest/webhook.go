package telegramtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// webhook is where the bot wants its updates.
type webhook struct {
	url, secret string
	failedAt    time.Time
	failure     string
}

var hookSecrets = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// setWebhook checks the address as the platform does; s.mu must be held.
func (s *Server) setWebhook(p map[string]string) (any, *Fault) {
	u, err := url.Parse(p["url"])
	switch {
	case p["url"] == "":
		s.hook = webhook{}
		return true, nil
	case err != nil || u.Scheme != "https" || u.Host == "":
		return nil, bad("bad webhook: An HTTPS URL must be provided for webhook")
	case u.Port() != "" && !slices.Contains([]string{"443", "80", "88", "8443"}, u.Port()):
		return nil, bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
	case p["secret_token"] != "" && !hookSecrets.MatchString(p["secret_token"]):
		return nil, bad("secret token contains unallowed characters")
	}
	if fault := connections(p["max_connections"]); fault != nil {
		return nil, fault
	}
	if fault := s.allow(p["allowed_updates"]); fault != nil {
		return nil, fault
	}
	s.hook = webhook{url: p["url"], secret: p["secret_token"]}
	s.wake()
	return true, nil
}

func connections(most string) *Fault {
	if n, err := strconv.Atoi(most); most != "" && (err != nil || n < 1 || n > 100) {
		return bad("invalid max_connections")
	}
	return nil
}

// deleteWebhook goes back to polling; s.mu must be held.
func (s *Server) deleteWebhook(p map[string]string) {
	s.hook = webhook{}
	if p["drop_pending_updates"] == "true" {
		s.updates = nil
	}
	s.wake()
}

// hookInfo implements getWebhookInfo; s.mu must be held.
func (s *Server) hookInfo() map[string]any {
	s.expire()
	info := map[string]any{"url": s.hook.url, "has_custom_certificate": false, "pending_update_count": len(s.updates)}
	if s.hook.failure != "" {
		info["last_error_date"], info["last_error_message"] = s.hook.failedAt.Unix(), s.hook.failure
	}
	return info
}

// longestRetry is the longest pause between two attempts to deliver.
const longestRetry = time.Minute

// Deliver delivers updates to the bot's webhook until ctx ends, through rt whatever the
// address: one after the other, repeating each one until it is accepted or expires.
func (s *Server) Deliver(ctx context.Context, rt http.RoundTripper) {
	for failures := 0; ctx.Err() == nil; {
		s.mu.Lock()
		s.expire()
		hook, tick := s.hook, s.tick
		var next update
		if len(s.updates) > 0 && hook.url != "" {
			next = s.updates[0]
		}
		s.mu.Unlock()
		pause := time.Duration(1<<62 - 1)
		if next.body != nil {
			err := bring(ctx, rt, hook, next)
			s.brought(hook, next, err)
			if err == nil {
				failures = 0
				continue
			}
			// A new update does not shorten the pause.
			pause, tick = min(time.Second<<min(failures, 10), longestRetry), nil
			failures++
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-tick:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func bring(ctx context.Context, rt http.RoundTripper, hook webhook, u update) error {
	body, err := strictjson.Marshal(u.body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if hook.secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", hook.secret)
	}
	res, err := rt.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("Connection refused: %w", err) //nolint:staticcheck // The platform's words.
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // the body is ignored
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("Wrong response from the webhook: %s", res.Status) //nolint:staticcheck // The platform's words.
	}
	return nil
}

// brought records the result of a delivery.
func (s *Server) brought(hook webhook, u update, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.updates = slices.DeleteFunc(s.updates, func(one update) bool { return one.id == u.id })
	case s.hook.url == hook.url:
		s.hook.failedAt, s.hook.failure = time.Now(), err.Error()
	}
}
