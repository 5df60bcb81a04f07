package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/store/bolt"
)

// TestARecordOfANewerVaglioIsNamed stores an ask as a newer program would, as after a downgrade.
func TestARecordOfANewerVaglioIsNamed(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	h.serve().stop()
	db, err := bolt.Open(h.data("vaglio.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []approval.Kind{approval.KindAsk, approval.KindStep} {
		_, err = db.Update(t.Context(), kind, "newer", func(r approval.Record) (approval.Record, error) {
			r.Body, r.Open = []byte(`{"v":99}`), true
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	names := func(wrong []string, what string) bool {
		return strings.Contains(strings.Join(wrong, "\n"), "records: "+what+" newer cannot be read: stored "+what+" has form 99")
	}
	if wrong := h.doctor(); len(wrong) != 2 || !names(wrong, "ask") || !names(wrong, "step") {
		t.Errorf("without a daemon: %q", wrong)
	}
	s := h.serve()
	waits := s.propose()
	s.waiting(1)
	s.signIn(s.link).decide("allow", "")
	if a := waits.answer(t); a.Decision != approval.RulingAllow {
		t.Errorf("a proposal beside it got %+v", a)
	}
	r := s.send(http.DefaultClient, "GET", s.base+"/readyz", "", "")
	if r.status != http.StatusOK || !strings.Contains(r.body, `"degraded"`) || !strings.Contains(r.body, "a newer vaglio wrote them") {
		t.Errorf("/readyz: %d %s", r.status, r.body)
	}
	if wrong := h.doctor(); !names(wrong, "ask") {
		t.Errorf("beside a daemon: %q", wrong)
	}
	if r := s.agent("GET", "/v1/approvals/newer-1", ""); r.status != http.StatusInternalServerError || !strings.Contains(r.body, "/problems/unreadable") {
		t.Errorf("the approval itself: %d %s", r.status, r.body)
	}
	s.stop()
}

// TestADamagedSegmentIsNamed damages an entry of the journal while no daemon runs. Its turn says on
// every front that something is missing.
func TestADamagedSegmentIsNamed(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	const steps = 20
	for n := range steps {
		s.local(http.MethodPost, "/v1/proposals", string(writes(-1, int64(n), int64(n))))
	}
	s.stop()
	segments, err := filepath.Glob(h.data("vaglio.journal/*"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments: %v, %v", segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(segments[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Base(segments[0])
	named := "records: step " + file + " cannot be read: its bytes are not those that were written"
	if wrong := h.doctor(); len(wrong) != 1 || !strings.Contains(wrong[0], named) {
		t.Errorf("without a daemon: %q", wrong)
	}
	s = h.serve()
	approve(t, h.agents(), 1, aCall)
	var log struct {
		Steps  []approval.Step   `json:"steps"`
		Unread []approval.Unread `json:"unread"`
	}
	for turn, want := range map[string]int{"turn--1": steps - 1, "turn-of-nothing": 0} {
		r := s.agent(http.MethodGet, "/v1/turns/"+turn, "")
		if err := strictjson.UnmarshalLoose([]byte(r.body), &log); err != nil || r.status != http.StatusOK || len(log.Steps) != want {
			t.Errorf("%s: %d, %d steps, %v", turn, r.status, len(log.Steps), err)
		}
		if len(log.Unread) != 1 || log.Unread[0].Part != file || log.Unread[0].To.Before(log.Unread[0].From) || time.Since(log.Unread[0].From) > time.Hour {
			t.Errorf("%s: missing is %+v", turn, log.Unread)
		}
	}
	me := s.signIn(s.link)
	for page, want := range map[string]string{
		"/inbox/turn/default/turn--1":         "may be missing: " + file + " cannot be read.",
		"/inbox/turn/default/turn-of-nothing": "may be missing: " + file + " cannot be read.",
		"/inbox/history":                      "may be missing: " + file + " cannot be read.",
		"/inbox/history?agent=default":        "may be missing: " + file + " cannot be read.",
		"/inbox/history/export?format=csv":    "may be missing: " + file + " cannot be read,",
		"/inbox/history/export?format=jsonl":  `{"unread":{"part":"` + file + `",`,
		"/inbox/digest":                       "are not counted: " + file + " cannot be read.",
		"/inbox/statistics?days=30":           "are not counted: " + file + " cannot be read.",
	} {
		if r := me.get(page); r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d, without %q", page, r.status, want)
		}
	}
	r := s.send(http.DefaultClient, "GET", s.base+"/readyz", "", "")
	if r.status != http.StatusOK || !strings.Contains(r.body, `"degraded"`) || !strings.Contains(r.body, "cannot be read: 1; they are damaged") {
		t.Errorf("/readyz: %d %s", r.status, r.body)
	}
	if wrong := h.doctor(); !strings.Contains(strings.Join(wrong, "\n"), named) {
		t.Errorf("beside a daemon: %q", wrong)
	}
	s.logs(file)
}
