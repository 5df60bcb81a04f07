package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// Digest returns the fullest digest, for one day.
func (d *desk) Digest(_ context.Context, day string) (approval.Digest, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if day != "" && day != "2000-01-01" {
		return approval.Digest{}, &approval.DayError{Day: day}
	}
	return fullDigest(3), d.fail
}

// fullDigest has every line that a digest can have, and so many of each.
func fullDigest(n int) approval.Digest {
	at := time.Date(2000, 1, 1, 8, 0, 0, 0, time.UTC)
	fates := approval.Fates{
		Allowed: 21, Denied: 2, Expired: 3, Withdrawn: 4, Superseded: 5, Waiting: 6, Repeated: 7, Unasked: 8,
		Runs: approval.Runs{Succeeded: 1, Failed: 2, Unknown: 3, Running: 4, Unused: 5, Lapsed: 6},
	}
	d := approval.Digest{
		Window: approval.Window{From: at.AddDate(0, 0, -1), To: at}, Late: true, WaitingMore: 3,
		Counts:  approval.Counts{Judged: 50, Approved: 9, Guard: 5, Vetoed: 36, Fates: fates, Carried: fates, Settled: fates.Runs, Errors: 2},
		WeekAgo: approval.Counts{Judged: 1, Guard: 2, Vetoed: 3},
	}
	states := []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
		approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	}
	var actions []approval.Veto
	for i := range n * len(states) {
		actions = append(actions, approval.Veto{
			ID: approval.ID(fmt.Sprintf("ask%d-1", i)), At: at, Agent: "<b>bot</b>", Wanted: "rm " + strings.Repeat("x", 300),
			State: states[i%len(states)], By: "Ann\u202e", After: 3 * time.Second, Words: "not <now>",
		})
	}
	d.Waiting = []approval.Waiting{{ID: "ask0-1", Agent: "bot", Wanted: "make", Until: at}}
	d.Rules = []approval.Tally{{Name: "path.auth", Count: 3, New: true}, {Name: "tree.root", Count: 2}, {Count: 4}}
	d.Spares = []approval.Tally{{Name: "shell_exec: delete", Count: 5}, {Count: 2}}
	d.Workarounds = []approval.Workaround{{ID: "ask1-1", Agent: "bot", Wanted: "rm a", Tries: 2}, {Tries: 1}}
	d.People = []approval.Habit{{Person: "telegram:1", Name: "Ann", Allows: 3, Denies: 1, Hasty: 2}, {Allows: 2}}
	d.Groups = []approval.VetoGroup{
		{Rule: "path.auth", Count: 9, Actions: []approval.Veto{{At: at, Agent: "bot", Wanted: "cat /etc/shadow"}}},
		{Effect: "delete", Count: 99, New: true, Actions: actions},
		{Effect: "no-such-effect", Count: 1},
		{Count: 7},
	}
	return d
}

func TestADigestComesInItsMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref, err := w.channel.OpenDigest(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		if m := w.last(); !m.Silent || !strings.Contains(m.Text, "being made") {
			t.Errorf("opened with %+v", m)
		}
		n := len(w.server.Messages(w.chat))
		for range 2 { // Showing it again changes nothing.
			if err := w.channel.ShowDigest(t.Context(), ref, fullDigest(0)); err != nil {
				t.Fatal(err)
			}
		}
		m := w.last()
		for _, want := range []string{
			"Digest, ", "comes late", "50 calls were judged: 9 passed, 5 refused by the guard, 36 by judges.", "path.auth: 3 (none a week before)",
			"other rules: 4", "ask0-1 bot: make", "and 3 more", "no-such-effect", "Ann decided 4 calls, 75% with Allow", "2 of them allowed within 2 seconds",
			"shell_exec: delete was asked and allowed 5 times", "bot went on after a no", "A week before: 1 judged", "Vetoed: deletes something: 99 (none",
		} {
			if !strings.Contains(m.Text, want) {
				t.Errorf("%q is missing from\n%s", want, m.Text)
			}
		}
		if len(w.server.Messages(w.chat)) != n || strings.Contains(m.Text, "[digest") {
			t.Errorf("%d messages, %s", len(w.server.Messages(w.chat))-n, m.Text)
		}
	})
}

// The platform refuses what is beyond its limits, and the fake does, too.
func TestTheFullestDigestFits(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		for _, lang := range []string{"en", "it"} {
			w.say(ann(), 0, "/lang "+lang)
			for n := range 6 {
				ref, err := w.channel.OpenDigest(t.Context(), false)
				if err == nil {
					err = w.channel.ShowDigest(t.Context(), ref, fullDigest(n))
				}
				m := w.last()
				if err != nil || n > 1 && !strings.Contains(m.Text, "vaglio digest") {
					t.Errorf("%s %d: %v\n%s", lang, n, err, m.Text)
				}
				if strings.Contains(m.Text, "[digest") || strings.Contains(m.Text, "\u202e") {
					t.Errorf("%s %d:\n%s", lang, n, m.Text)
				}
			}
		}
	})
}

func TestDigestMeetsTrouble(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref, err := w.channel.OpenDigest(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 400, Description: "Bad Request: message to edit not found"})
		if err := w.channel.ShowDigest(t.Context(), ref, fullDigest(0)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("a deleted message: %v", err)
		}
		if err := w.channel.ShowDigest(t.Context(), "nonsense", fullDigest(0)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("no reference: %v", err)
		}
	})
}

func TestTheDigestIsAskedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make")) // What waits does not keep it.
		for _, text := range []string{"/digest", "/digest 2000-01-01"} {
			if m := w.say(ann(), 0, text); !strings.Contains(m.Text, "50 calls were judged") {
				t.Errorf("%s: %s", text, m.Text)
			}
		}
		if m := w.say(ann(), 0, "/digest yesterday"); !strings.Contains(m.Text, "/digest 2026-11-21") {
			t.Errorf("a bad day: %s", m.Text)
		}
		if a.Approvals[0].State != approval.Pending {
			t.Error("a digest decided something")
		}
	})
}
