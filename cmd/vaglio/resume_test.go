package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/gateway/client"
)

// An agent that does not wait is told a person's decision over a webhook, signed with the key that
// its receiver was given.
func TestResumeURL(t *testing.T) {
	t.Parallel()
	type told struct {
		header http.Header
		body   string
	}
	got := make(chan told, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- told{r.Header, string(body)}
	}))
	defer receiver.Close()
	h := newHome(t)
	h.policy(t, "resume_urls: ["+receiver.URL+"/hooks]\n")
	s := h.serve()
	me := s.signIn(s.link)
	agent := client.Unix(h.data("agent.sock"), "")
	defer agent.Close()
	propose := func(path string) (client.Answer, error) {
		return agent.Propose(t.Context(), client.Request{ResumeURL: receiver.URL + path, Proposal: client.Proposal{
			Executor: "shell_exec", Args: map[string]any{"command": "git push --force origin main"},
			Context: client.Context{Capability: []string{"code:exec"}, Cwd: "/w"},
		}})
	}
	if _, err := propose("/other"); err == nil || !strings.Contains(err.Error(), "resume_urls") {
		t.Error(err)
	}
	if a, err := propose("/hooks/7"); err != nil || a.Decision != client.Pending {
		t.Fatalf("%+v, %v", a, err)
	}
	id := s.waiting(1)[0].ID
	me.decide("allow", "")
	w := <-got
	if !strings.Contains(w.body, `"approval":"`+string(id)+`"`) || !strings.Contains(w.body, `"state":"allowed"`) {
		t.Error(w.body)
	}
	text, err := os.ReadFile(h.data("resume.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(text)), "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(w.header.Get("Webhook-Id") + "." + w.header.Get("Webhook-Timestamp") + "." + w.body))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); w.header.Get("Webhook-Signature") != want {
		t.Errorf("%v", w.header)
	}
}
