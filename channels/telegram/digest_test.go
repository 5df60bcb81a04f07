package telegram_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
)

func TestADigestComesInItsMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref, err := w.channel.OpenDigest(t.Context(), "day", true)
		if err != nil {
			t.Fatal(err)
		}
		if m := w.last(); !m.Silent || !strings.Contains(m.Text, "on its way") {
			t.Errorf("opened with %+v", m)
		}
		all := w.server.Messages(w.chat)
		n := len(all)
		if head := all[n-2]; all[n-1].ReplyTo != head.ID || !strings.Contains(head.Text, "on its way") {
			t.Errorf("the text answers %+v", head)
		}
		for range 2 { // Showing it again changes nothing.
			if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(0)); err != nil {
				t.Fatal(err)
			}
		}
		m, head := w.last(), w.server.Messages(w.chat)[n-2]
		if head.Photo == nil || m.Photo != nil {
			t.Errorf("the picture is in %+v", head)
		}
		for _, want := range []string{"calls wait for you now.", "50 calls were judged: 9 passed", "\n\nIn the picture: Columns for the days of a week, calls stopped: "} {
			if !strings.Contains(head.Text, want) {
				t.Errorf("%q is missing below the picture: %s", want, head.Text)
			}
		}
		for _, want := range []string{
			"Digest, ", "Late:", "50 calls were judged: 9 passed, 5 refused by the guard, 36 by judges.", "path.auth 3, tree.root 2", "New since a week earlier: path.auth",
			"by other rules: 4", "ask0-1 bot: make", "and 3 more", "no-such-effect", "Ann decided 4 calls, 75% with Allow", "2 of them allowed within 2 seconds",
			"shell_exec (deletes something) was asked and allowed 5 times", "send_mail was asked and allowed 4 times", "bot went on after a no", "A week earlier: 1 judged", "Vetoed: deletes something: 99 (none",
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

// TestTheFullestDigestFits shows the largest digests: the platform rejects what exceeds its
// limits, and so does the fake.
func TestTheFullestDigestFits(t *testing.T) {
	race.Alone(t)
	inWorld(t, func(w *world) {
		t := w.t
		for _, lang := range []string{"en", "it"} {
			w.say(ann(), 0, "/lang "+lang)
			for n := range 6 {
				if testing.Short() && n != 5 {
					continue // each digest's picture takes its time
				}
				ref, err := w.channel.OpenDigest(t.Context(), "day", false)
				if err == nil {
					err = w.channel.ShowDigest(t.Context(), ref, payloads.Digest(n))
				}
				m := w.last()
				if err != nil || n > 1 && !strings.Contains(m.Text, "vaglio digest") {
					t.Errorf("%s %d: %v\n%s", lang, n, err, m.Text)
				}
				if strings.Contains(m.Text, "[digest") || strings.Contains(m.Text, "\u202e") || !strings.Contains(m.Text, payloads.CopiedCheckpoint) {
					t.Errorf("%s %d:\n%s", lang, n, m.Text)
				}
			}
		}
	})
}

func TestDigestMeetsTrouble(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref, err := w.channel.OpenDigest(t.Context(), "day", false)
		if err != nil {
			t.Fatal(err)
		}
		w.server.Fail("editMessageText", 1, telegramtest.Fault{Code: 400, Description: "Bad Request: message to edit not found"})
		if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(0)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("a deleted message: %v", err)
		}
		if err := w.channel.ShowDigest(t.Context(), "nonsense", payloads.Digest(0)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("no reference: %v", err)
		}
	})
}

func TestTheDigestIsAskedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ask(command("make")) // What waits does not delay it.
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
