package slacktest

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// hookPath is where answers to commands are accepted after the acknowledgement.
const hookPath = "/hooks/"

// For how long and how often an answer is accepted.
const (
	hookWithin = 30 * time.Minute
	hookUses   = 5
)

// hook is the way in which one command can be answered.
type hook struct {
	user, channel string
	until         time.Time
	left          int
}

// hook makes the address through which the app can answer a command.
func (s *Server) hook(user, channelID string) string {
	id := s.id("H")
	s.hooks[id] = &hook{user, channelID, time.Now().Add(hookWithin), hookUses}
	return "http://" + cmp.Or(s.host, "slack.test") + hookPath + id
}

// serveHook shows an answer to the person who gave the command.
func (s *Server) serveHook(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Text   string  `json:"text"`
		Blocks []Block `json:"blocks"`
		Type   string  `json:"response_type"`
	}
	err := strictjson.ReadLoose(http.MaxBytesReader(w, r.Body, maxBody), &said)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Request{Method: "response_url", At: time.Now()})
	if f := s.Next("response_url"); f != nil {
		f.write(w)
		return
	}
	h := s.hooks[strings.TrimPrefix(r.URL.Path, hookPath)]
	w.Header().Set("Content-Type", "text/plain")
	switch {
	case h == nil || h.left == 0 || time.Now().After(h.until):
		http.Error(w, "used_url", http.StatusNotFound)
		return
	case err != nil || said.Type != "ephemeral":
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	if a := s.checkMessage(said.Blocks); a.err != "" {
		http.Error(w, a.err, http.StatusBadRequest)
		return
	}
	h.left--
	s.whispers = append(s.whispers, Ephemeral{h.channel, h.user, "", cmp.Or(Shown(said.Blocks), said.Text), said.Blocks, time.Now()})
	_, _ = w.Write([]byte("ok")) // a client that left needs no answer
}
