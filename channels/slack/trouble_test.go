package slack_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/templates"
)

// TestTwoSocketsAreKept exchanges and cuts the sockets.
func TestTwoSocketsAreKept(t *testing.T) {
	inWorld(t, func(w *world) {
		both := func() {
			w.t.Helper()
			if n := w.server.Sockets(); n != 2 || w.channel.Connections() != 2 || !w.channel.Health().OK() {
				w.t.Fatalf("%d sockets, %d known, %+v\n%s", n, w.channel.Connections(), w.channel.Health(), w.log)
			}
		}
		both()
		for _, reason := range []string{"warning", "refresh_requested", "link_disabled"} {
			w.server.Disconnect(reason)
			synctest.Wait()
			a := w.ask(command("make " + reason))
			if d := w.press(ann, a, "Allow once"); d.Lost || d.Acked.IsZero() {
				w.t.Errorf("%s: while a socket is exchanged a press is lost", reason)
			}
			time.Sleep(5 * time.Second)
			both()
		}
		w.server.Drop()
		time.Sleep(5 * time.Second)
		both()
		w.server.Garble("{")
		w.server.Garble(`{"type":"interactive","envelope_id":"x","payload":7}`)
		time.Sleep(5 * time.Second)
		w.press(ann, w.ask(command("make")), "Allow once")
		both()
	})
}

func TestSilenceIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		w.server.Mute(true)
		w.server.Fail("apps.connections.open", 1000, slacktest.Fault{Error: "internal_error"})
		time.Sleep(3 * time.Minute)
		if h := w.channel.Health(); h.OK() || w.channel.Connections() != 0 {
			w.t.Errorf("after minutes of silence all is well: %+v %d", h, w.channel.Connections())
		}
		a := w.ask(command("make"))
		w.server.Mute(false)
		w.server.Heal()
		time.Sleep(2 * time.Minute)
		if h := w.channel.Health(); !h.OK() || w.channel.Connections() != 2 {
			w.t.Errorf("afterwards: %+v %d\n%s", h, w.channel.Connections(), w.log)
		}
		if all := w.server.Messages(home); !strings.Contains(all[len(all)-1].Shown(), "I could not listen between") {
			w.t.Errorf("people are not told that presses are lost: %s", all[len(all)-1].Shown())
		}
		w.press(ann, a, "Allow once")
		if got := w.desk.State(a); got != approval.Allowed {
			w.t.Errorf("the call is %s", got)
		}
	})
}

func TestARestartTellsOfTheGap(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ask(command("make"))
		w.stop()
		time.Sleep(10 * time.Minute)
		w.build()
		w.start()
		time.Sleep(15 * time.Second)
		all := w.server.Messages(home)
		w.wants(all[len(all)-1].Shown(), "I could not listen between", "1 ask still waits")
	})
}

// TestEveryRefusalHasAnEnd answers a post and an amendment with each of the platform's
// errors.
func TestEveryRefusalHasAnEnd(t *testing.T) {
	for word, c := range map[string]struct {
		post, amend error
		problem     string
	}{
		"message_not_found": {nil, approval.ErrGone, ""},
		"is_archived":       {nil, nil, "archived"},
		"not_in_channel":    {nil, nil, "not in the channel"},
		"channel_not_found": {nil, nil, "not in the channel"},
		"token_revoked":     {nil, nil, "token"},
		"invalid_auth":      {nil, nil, "token"},
		"missing_scope":     {nil, nil, "scope"},
		"internal_error":    {nil, nil, ""},
		"new_word":          {nil, nil, ""},
	} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("make"))
				fail := func(method string) { w.server.Fail(method, 1, slacktest.Fault{Error: word}) }
				check := func(what string, err, want error) {
					w.t.Helper()
					if want != nil {
						if !errors.Is(err, want) {
							w.t.Errorf("%s: got %v, want %v", what, err, want)
						}
						return
					}
					if _, ok := errors.AsType[*approval.RetryError](err); !ok && !errors.Is(err, approval.ErrGone) {
						w.t.Errorf("%s: got %v, want a failure that passes", what, err)
					}
				}
				fail("chat.update")
				check("amend", w.amend(a), c.amend)
				fail("chat.postMessage")
				_, err := w.channel.Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command("x")), slack.Name))
				check("post", err, c.post)
				if h := w.channel.Health(); !strings.Contains(strings.ToLower(h.Problem), c.problem) || (c.problem == "") != h.OK() {
					w.t.Errorf("the health is %+v", h)
				}
				w.ask(command("make again"))
				if h := w.channel.Health(); !h.OK() {
					w.t.Errorf("after a success: %+v", h)
				}
			})
		})
	}
}

// TestUnsentIsOnlySaidWhenSure tells refusals from failures that leave it open whether the
// message was sent.
func TestUnsentIsOnlySaidWhenSure(t *testing.T) {
	inWorld(t, func(w *world) {
		for name, c := range map[string]struct {
			fault  slacktest.Fault
			unsent bool
		}{
			"RateLimit": {slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: time.Second}, true}, "Refused": {slacktest.Fault{Error: "invalid_arguments"}, true},
			"Fatal": {slacktest.Fault{Error: "fatal_error", After: true}, false}, "Proxy": {slacktest.Fault{Code: 502, Body: "<html>", After: true}, false},
			"Garbage": {slacktest.Fault{Body: "<html>", After: true}, false},
		} {
			w.server.Fail("chat.postMessage", 1, c.fault)
			_, err := w.channel.Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command("x")), slack.Name))
			r, ok := errors.AsType[*approval.RetryError](err)
			if !ok || r.Unsent != c.unsent {
				w.t.Errorf("%s: %v", name, err)
			}
			time.Sleep(2 * time.Second)
		}
		w.server.Stop()
		_, err := w.channel.Post(w.t.Context(), card(newAsk(w.t, denial("partial"), command("x")), slack.Name))
		if r, ok := errors.AsType[*approval.RetryError](err); !ok || !r.Unsent {
			w.t.Errorf("refused connection: %v", err)
		}
		w.server.Start()
	})
}

func TestRevokedTokensAreTold(t *testing.T) {
	inWorld(t, func(w *world) {
		w.server.Revoke("token_revoked")
		w.server.Drop()
		time.Sleep(time.Minute)
		w.wants(w.channel.Health().Problem, "token")
		w.server.Revoke("")
		time.Sleep(3 * time.Minute)
		if h := w.channel.Health(); !h.OK() || w.channel.Connections() != 2 {
			w.t.Errorf("afterwards: %+v %d", h, w.channel.Connections())
		}
	})
}

func TestTheChannelIsLookedAtOnStart(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s *slacktest.Server)
		want string
	}{
		"NotInvited": {func(s *slacktest.Server) { s.Kick(home, true) }, "not in the channel"},
		"Archived":   {func(s *slacktest.Server) { s.Archive(home, true) }, "archived"},
		"NoScope":    {func(s *slacktest.Server) { s.Scope("channels:read", false) }, "scope channels:read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c.do(w.server)
				w.start()
				w.wants(w.channel.Health().Problem, c.want)
			})
		})
	}
}

func TestLongCards(t *testing.T) {
	long := command("echo " + strings.Repeat("word ", 4000) + "END")
	inWorld(t, func(w *world) {
		a := w.ask(long)
		m := w.shown(a)
		if m.Edits != 1 || m.Buttons()[0].ActionID != "allow" || !strings.Contains(m.Shown(), "attached file") {
			w.t.Errorf("the card is %+v", m.Buttons())
		}
		file := w.thread(a)[0]
		w.wants(string(file.File.Data), "END")
		w.wants(file.Text, "SHA-256")
		posts := w.server.Calls("chat.postMessage")
		if strings.Contains(posts[len(posts)-1].Args["blocks"], `"allow"`) {
			w.t.Error("Allow was offered before the file was there")
		}
		w.press(ann, a, "Deny")
		if err := w.amend(a); err != nil || len(w.shown(a).Buttons()) != 0 {
			w.t.Errorf("final: %v", err)
		}
		// The file stays the card's when the app speaks another language.
		kept := w.ask(long)
		data := w.thread(kept)[0].File.Data
		sum := sha256.Sum256(data)
		w.stop()
		w.config.Lang = templates.Italian
		w.build()
		w.start()
		if err := w.amend(kept); err != nil {
			w.t.Error(err)
		}
		w.wants(w.shown(kept).Shown(), "comincia con "+hex.EncodeToString(sum[:])[:16])
		if w.shown(kept).Buttons()[0].ActionID != "allow" {
			w.t.Error("beside its file in another language the card lost Allow")
		}
		w.wants(string(w.thread(w.ask(long))[0].File.Data), "\ncomando:\n    ")
		w.config.Lang = templates.English
		w.stop()
		w.build()
		w.start()
		// Without files the call cannot be allowed, whatever is amended later.
		w.server.Scope("files:write", false)
		b := w.ask(long)
		if err := w.amend(b); err != nil {
			w.t.Error(err)
		}
		for _, one := range w.shown(b).Buttons() {
			if one.ActionID == "allow" {
				w.t.Error("Allow is offered though not all is visible")
			}
		}
		w.wants(w.shown(b).Shown(), "cannot be allowed here")
		w.wants(w.channel.Health().Problem, "files")
		w.server.Scope("files:write", true)
		// A temporary failure takes the message back.
		w.server.Fail("files.completeUploadExternal", 1, slacktest.Fault{Error: "internal_error"})
		before := len(w.server.Messages(home))
		_, err := w.channel.Post(w.t.Context(), card(newAsk(w.t, denial("partial"), long), slack.Name))
		if r, ok := errors.AsType[*approval.RetryError](err); !ok || !r.Unsent || len(w.server.Messages(home)) != before {
			w.t.Errorf("got %v, and %d messages more", err, len(w.server.Messages(home))-before)
		}
	})
}

// TestPlansOfEverySize checks that cards keep within the platform's limits, which the fake
// enforces, whatever is on them and whatever their state.
func TestPlansOfEverySize(t *testing.T) {
	for _, n := range []int{1, 2, 20, 21, 100} {
		for _, size := range []int{1, 400, 9000} {
			if n*size > 50_000 {
				continue // It differs from the others only in the time it takes.
			}
			t.Run(fmt.Sprint(n, "x", size), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.plan(n, size)
				})
			})
		}
	}
}

func (w *world) plan(n, size int) {
	w.t.Helper()
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("call %d %s", i, strings.Repeat("✓", size))
	}
	a := w.ask(commands(lines...)...)
	m := w.shown(a)
	if m.Buttons()[len(m.Buttons())-1].ActionID != "why" {
		w.t.Errorf("the buttons are %+v", m.Buttons())
	}
	if before := w.server.Calls("chat.postMessage"); len(before) != 1 {
		w.t.Errorf("%d posts", len(before))
	}
	for i := range a.Approvals {
		w.desk.Change(func() {
			tap := approval.Tap{
				Ask: a.ID, Approval: a.Approvals[i].ID, Choice: []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny}[i%2],
				By:      approval.Person{ID: "slack:" + ann, Name: strings.Repeat("Ann", 50)},
				Channel: slack.Name, Words: strings.Repeat("w", 2000),
			}
			if _, err := a.Decide(tap, time.Now(), time.Minute); err != nil {
				w.t.Fatal(err)
			}
		})
		if i < 2 || i == n-1 {
			if err := w.amend(a); err != nil {
				w.t.Errorf("after %d answers: %v", i+1, err)
			}
		}
	}
	if m := w.shown(a); len(m.Buttons()) != 0 {
		w.t.Errorf("the final card offers %+v", m.Buttons())
	}
	if strings.Contains(w.log.String(), "refuses the card's blocks") {
		w.t.Error("the platform refused blocks")
	}
}
