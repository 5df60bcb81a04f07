package telegram_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// wire records every byte that is sent to the platform.
type wire struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent bytes.Buffer
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		w.sent.Write(body)
		w.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return w.next.RoundTrip(r)
}

// TestSecretsAreNeverSent checks that a call's secrets are never sent to the platform: not
// in a card, a file, a button or an answer, nor when the card is amended or asked about.
func TestSecretsAreNeverSent(t *testing.T) {
	inWorld(t, func(w *world) {
		secrets := []string{
			"hunter2hunter2", "gh" + "p_" + strings.Repeat("aB3dE5gH7", 4), "AK" + "IA" + strings.Repeat("A2B4C6D7", 2),
			"xo" + "xb-123456789012-1234567890123-" + strings.Repeat("aB3dE5", 4), "s3cr3tinquery", "c0nn3ctme",
		}
		all := "PGPASSWORD=" + secrets[0] + " curl -H 'Authorization: Bearer " + secrets[1] + "' --aws " + secrets[2] +
			" x " + secrets[3] + " https://api.test/?access_token=" + secrets[4] + " postgres://app:" + secrets[5] + "@db/app"
		w.stop()
		client := w.server.Client()
		sniffed := &wire{next: client.Transport}
		client.Transport = sniffed
		w.config.Client = client
		w.start()

		calls := []vaglio.Proposal{command(all), command(strings.Repeat("echo long; ", 900) + all), {
			Executor: "http_post", Args: vaglio.Args{"note": all, "password": secrets[0], all: "x", "deep": []any{map[string]any{"token": secrets[1]}}},
			Context: vaglio.Context{Cwd: "/srv/token=" + secrets[4], Mounts: []string{"/mnt/password=" + secrets[0]}},
		}}
		for _, c := range calls {
			c.Intent, c.TurnID = all, "token="+secrets[4]
			a := newAsk(w.t, c, c)
			a.Intent, a.TurnID = all, "token="+secrets[4]
			for i := range a.Approvals {
				ap := &a.Approvals[i]
				ap.Verdict.Reason, ap.Verdict.Results[0].Reasoning, ap.Verdict.Results[0].Signals[0].Message = all, all, all
				ap.Refusal = approval.Refuse(ap.Proposal, ap.Verdict)
			}
			ref, err := w.channel.Post(w.t.Context(), card(a))
			if err != nil {
				w.t.Fatal(err)
			}
			a.Cards[0].Ref = ref
			w.desk.Add(a)
			w.press(ann(), a, "Why?")
			w.press(ann(), a, "Deny with words…")
			w.say(ann(), 0, "/pending")
			w.say(ann(), 0, "/why "+string(a.ID))
			w.press(ann(), a, "Allow all 2 once")
			w.desk.Change(func() {
				a.Approvals[0].State, a.Approvals[0].Outcome = approval.Failed, &approval.Outcome{Detail: all, At: time.Now()}
			})
			if err := w.amend(a); err != nil {
				w.t.Fatal(err)
			}
		}
		w.stop()
		sent := sniffed.sent.String()
		if !strings.Contains(sent, "masked+14+chars") || !strings.Contains(sent, "‹masked 14 chars") {
			w.t.Error("nothing was masked in a card, or in a file")
		}
		for _, s := range secrets {
			if i := strings.Index(sent, s); i >= 0 {
				w.t.Errorf("%q was sent: …%s…", s, sent[max(0, i-200):min(len(sent), i+100)])
			}
		}
	})
}
