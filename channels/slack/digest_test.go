package slack_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/templates"
)

// open opens a digest's message, and returns its reference.
func (w *world) open(key string) string {
	w.t.Helper()
	ref, err := w.channel.OpenDigest(w.t.Context(), key, false)
	if err != nil {
		w.t.Fatal(err)
	}
	return ref
}

// last returns the newest message of the channel, threads aside.
func (w *world) last() slacktest.Message {
	w.t.Helper()
	synctest.Wait()
	all := slices.DeleteFunc(w.server.Messages(home), func(m slacktest.Message) bool { return m.ThreadTS != "" })
	return all[len(all)-1]
}

func TestADigestComesInItsMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref := w.open("2000-01-01T08:00:00Z")
		if m := w.last(); !strings.Contains(m.Shown(), "on its way") || !strings.Contains(m.Text, "on its way") {
			t.Errorf("opened with %+v", m)
		}
		for range 2 { // Showing it again changes nothing.
			if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(0)); err != nil {
				t.Fatal(err)
			}
		}
		m := w.last()
		w.wants(m.Shown(), "Digest, ", "Late:", "50 calls were judged: 9 passed, 5 refused by the guard, 36 by judges.", "path.auth 3, tree.root 2", "New since a week earlier: path.auth",
			"by other rules: 4", "ask0-1 bot: make", "and 3 more", "no-such-effect", "Ann decided 4 calls, 75% with Allow", "2 of them allowed within 2 seconds",
			"shell_exec (deletes something) was asked and allowed 5 times", "send_mail was asked and allowed 4 times", "bot went on after a no", "A week earlier: 1 judged", "Vetoed: deletes something: 99 (none")
		if n := len(w.server.Messages(home)); n != 2 || strings.Contains(m.Shown(), "[digest") || !strings.HasPrefix(m.Text, "📋 Digest, ") {
			t.Errorf("%d messages, notified as %q:\n%s", n, m.Text, m.Shown())
		}
	})
}

// TestTheFullestDigestFits shows the largest digests: the platform rejects what exceeds its
// limits, and so does the fake.
func TestTheFullestDigestFits(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	for _, lang := range templates.Langs() {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.config.Lang = lang
			w.build()
			w.start()
			defer w.stop()
			for n := range 9 {
				if testing.Short() && n != 8 {
					continue // each digest's picture takes its time
				}
				ref := w.open(strings.Repeat("x", n+1))
				err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(n))
				m := w.last()
				shown := m.Shown()
				if err != nil || n > 6 && !strings.Contains(shown, "vaglio digest") {
					t.Errorf("%s %d: %v\n%s", lang, n, err, shown)
				}
				if !strings.Contains(shown, payloads.CopiedCheckpoint) {
					t.Errorf("%s %d: the checkpoint is missing:\n%s", lang, n, shown)
				}
				if strings.Contains(shown, "[digest") || strings.Contains(shown, "\u202e") || len(slacktest.Links(m.Blocks)) > 0 {
					t.Errorf("%s %d:\n%s", lang, n, shown)
				}
			}
		})
	}
}

func TestDigestMeetsTrouble(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ref := w.open("day")
		w.server.Fail("chat.update", 1, slacktest.Fault{Error: "message_not_found"})
		if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(0)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("a deleted message: %v", err)
		}
		if err := w.channel.ShowDigest(t.Context(), "nonsense", payloads.Digest(0)); !errors.Is(err, approval.ErrGone) {
			t.Errorf("no reference: %v", err)
		}
		w.server.Archive(home, true)
		for _, err := range []error{
			w.channel.ShowDigest(t.Context(), ref, payloads.Digest(0)),
			func() error { _, err := w.channel.OpenDigest(t.Context(), "other", false); return err }(),
		} {
			if retry, ok := errors.AsType[*approval.RetryError](err); !ok || retry.After == 0 {
				t.Errorf("a closed channel: %v", err)
			}
		}
	})
}

// TestADigestsMessageIsFound checks that a message whose reference nobody stored is found.
func TestADigestsMessageIsFound(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.open("2000-01-01T08:00:00Z")
		w.server.Fail("chat.postMessage", 1, slacktest.Fault{Code: 500, After: true})
		if _, err := w.channel.OpenDigest(t.Context(), "2000-01-02T08:00:00Z", false); err == nil {
			t.Fatal("a message that was not answered is there")
		}
		want := home + ":" + w.last().TS
		for range 250 { // beyond one page of the channel's history
			w.server.Say(bob, home, "", "hello")
		}
		if ref, ok, err := w.channel.FindDigest(t.Context(), "2000-01-02T08:00:00Z"); ref != want || !ok || err != nil {
			t.Errorf("found %s, %t, %v; it is %s", ref, ok, err, want)
		}
		if ref, ok, err := w.channel.FindDigest(t.Context(), "2000-01-03T08:00:00Z"); ok || err != nil {
			t.Errorf("found %s of a digest that was not opened, %v", ref, err)
		}
		w.server.Fail("conversations.history", 1, slacktest.Fault{Code: 503})
		if _, _, err := w.channel.FindDigest(t.Context(), "2000-01-02T08:00:00Z"); err == nil {
			t.Error("a look that failed finds nothing")
		}
		w.server.Scope("channels:history", false)
		if _, ok, err := w.channel.FindDigest(t.Context(), "2000-01-02T08:00:00Z"); ok || err != nil {
			t.Errorf("without the right to look: %t, %v", ok, err)
		}
	})
}

// TestTheDigestIsAskedFor checks that only the person who asked gets the answer, wherever
// they asked.
func TestTheDigestIsAskedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		const elsewhere = "D0000000009"
		a := w.ask(command("make"))
		wait := make(chan struct{})
		w.desk.Hold(wait)
		for _, b := range w.shown(a).Buttons()[:1] { // A hanging tap delays nobody.
			w.server.PressButton(ann, home, ts(a), b)
		}
		for text, want := range map[string]string{
			"digest": "50 calls were judged", "digest 2000-01-01": "50 calls were judged", "digest yesterday": "/vaglio digest 2026-11-21",
		} {
			id := w.server.Command(ann, elsewhere, text)
			synctest.Wait()
			if d := w.server.Delivery(id); !strings.Contains(string(d.Answer), want) || len(d.Answer) > 20_000 || !strings.Contains(string(d.Answer), "ephemeral") {
				t.Errorf("%s: %d bytes, %s", text, len(d.Answer), d.Answer)
			}
		}
		close(wait)
		id := w.server.Command(eve, home, "digest")
		synctest.Wait()
		if d := w.server.Delivery(id); strings.Contains(string(d.Answer), "judged") {
			t.Errorf("a stranger is told %s", d.Answer)
		}
		// A digest that takes long is acknowledged in time, and sent later.
		w.desk.Account(payloads.Digest(3), 5*time.Second)
		id = w.server.Command(ann, elsewhere, "digest")
		time.Sleep(10 * time.Second)
		w.wants(w.whispered(ann), "50 calls were judged")
		if d := w.server.Delivery(id); d.Acked.Sub(d.Sent) > slacktest.AckWithin || len(w.server.Messages(home)) != 1 {
			t.Errorf("acknowledged after %v", d.Acked.Sub(d.Sent))
		}
		w.desk.Account(report.Digest{}, 0)
		w.desk.Fail(errors.New("no disk"))
		id = w.server.Command(ann, elsewhere, "digest")
		synctest.Wait()
		w.wants(string(w.server.Delivery(id).Answer), "Something went wrong")
	})
}

// TestTheHomeTabLeadsToTheDigest checks that the home tab links to the last digest, also
// after a restart.
func TestTheHomeTabLeadsToTheDigest(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		tab := func() string {
			w.server.OpenHome(ann)
			synctest.Wait()
			v, _ := w.server.Home(ann)
			return slacktest.Shown(v.Blocks) + strings.Join(slacktest.Links(v.Blocks), " ")
		}
		w.wants(tab(), "/vaglio digest")
		ref := w.open("day")
		if err := w.channel.ShowDigest(t.Context(), ref, payloads.Digest(0)); err != nil {
			t.Fatal(err)
		}
		address := "archives/" + home + "/p" + strings.ReplaceAll(w.last().TS, ".", "")
		w.wants(tab(), "Open the last digest", address)
		w.stop()
		w.build()
		w.start()
		w.wants(tab(), address)
	})
}

// pictures returns the files below a digest's message.
func (w *world) pictures(ref string) (all []*slacktest.File) {
	w.t.Helper()
	synctest.Wait()
	for _, m := range w.server.Messages(home) {
		if m.File != nil && m.ThreadTS == strings.Split(ref, ":")[1] {
			all = append(all, m.File)
		}
	}
	return all
}

// TestADigestsPicture checks that the picture comes once, whatever is repeated, and never
// holds up a digest.
func TestADigestsPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws many pictures; the plain run has it")
	}
	inWorld(t, func(w *world) {
		t := w.t
		d := payloads.Digest(1)
		d.Window.To = time.Now()
		show := func(ref string) error { return w.channel.ShowDigest(t.Context(), ref, d) }
		ref := w.open("a")
		w.server.Fail("files.completeUploadExternal", 1, slacktest.Fault{Code: 500, After: true})
		if err := show(ref); err == nil {
			t.Error("a picture that was not answered is there")
		}
		for range 2 {
			if err := show(ref); err != nil {
				t.Fatal(err)
			}
		}
		all := w.pictures(ref)
		if len(all) != 1 || all[0].Name != "digest.png" || !strings.HasPrefix(string(all[0].Data), "\x89PNG") || all[0].Alt == "" {
			t.Fatalf("pictures: %+v", all)
		}
		// One that did not arrive is sent again.
		ref = w.open("b")
		w.server.Fail("upload", 1, slacktest.Fault{Code: 503})
		if err := show(ref); err == nil {
			t.Error("a picture that could not be uploaded is there")
		}
		for word, wants := range map[string]int{"missing_scope": 1, "internal_error": 0} {
			ref := w.open("c" + word)
			w.server.Fail("conversations.replies", 1, slacktest.Fault{Error: word})
			if err := show(ref); (err == nil) != (wants == 1) || len(w.pictures(ref)) != wants {
				t.Errorf("a look that ends with %s: %v", word, err)
			}
		}
		// Files are not allowed, or an hour has passed.
		ref = w.open("d")
		w.server.Scope("files:write", false)
		if err := show(ref); err != nil || len(w.pictures(ref)) != 0 {
			t.Errorf("without the right to upload: %v", err)
		}
		w.server.Scope("files:write", true)
		w.server.Fail("upload", 9, slacktest.Fault{Code: 503})
		d.Window.To = time.Now().Add(-2 * time.Hour)
		if err := show(ref); err != nil {
			t.Errorf("a late picture keeps the digest: %v", err)
		}
		w.wants(w.log.String(), "a digest is sent without its picture")
	})
}

// TestAChannelOfARouteShowsItsDigest checks that a route's channel has digests of its own,
// and that the home tab links to the one that covers everything.
func TestAChannelOfARouteShowsItsDigest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.Others = []string{other}
		w.build()
		w.start()
		defer w.stop()
		at := w.channel.Conversations()[0]
		ref, err := at.OpenDigest(t.Context(), "day", false)
		if err == nil {
			d := payloads.Digest(0)
			d.Routes = []string{"ops"}
			err = at.ShowDigest(t.Context(), ref, d)
		}
		found, ok, looked := at.FindDigest(t.Context(), "other day")
		if err != nil || ok || looked != nil {
			t.Errorf("%v; found %s, %v", err, found, looked)
		}
		all := w.server.Messages(other)
		if len(all) != 2 || len(w.server.Messages(home)) != 0 || !strings.Contains(all[0].Shown(), "Only the calls that go to ops.") {
			t.Errorf("%d messages: %+v", len(all), all)
		}
		w.server.OpenHome(ann)
		synctest.Wait()
		v, _ := w.server.Home(ann)
		w.wants(slacktest.Shown(v.Blocks), "/vaglio digest")
	})
}
