package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// session is an agent working behind a real daemon, and its person in both chats and the inbox.
type session struct {
	t     *testing.T
	s     *served
	chat  *chat
	team  *workspace
	owner *person
	turns int
	// panels are the picture's panels, in order.
	panels []panel
}

// calls proposes a command, in a turn of its own.
func (w *session) calls(command, more string) approval.Answer {
	w.t.Helper()
	w.turns++
	body := fmt.Sprintf(`{"turn_id":"t-%d","step":1,"intent":"release it","executor":"shell_exec","args":{"command":%q},"context":{"capability":"code:exec","cwd":"/srv/app"}%s}`, w.turns, command, more)
	return w.s.agent("POST", "/v1/proposals", body).answer(w.t)
}

// card returns the ask's message on Telegram, once it contains says.
func (w *session) card(a approval.Answer, says string) telegramtest.Message {
	w.t.Helper()
	return w.chat.await(says, func(m telegramtest.Message) bool {
		return strings.Contains(m.Text, string(a.Approval.ID.Ask())) && strings.Contains(m.Text, says)
	})
}

// post returns the ask's message in Slack, once it contains says.
func (w *session) post(a approval.Answer, says string) slacktest.Message {
	w.t.Helper()
	return w.team.card(func(m slacktest.Message) bool {
		return strings.Contains(m.Shown(), string(a.Approval.ID.Ask())) && strings.Contains(m.Shown(), says)
	})
}

// inbox waits until the ask's page contains says.
func (w *session) inbox(a approval.Answer, says string) {
	w.t.Helper()
	w.team.await("the inbox to say "+says, func() bool {
		return strings.Contains(w.owner.get("/inbox/ask/"+string(a.Approval.ID.Ask())).body, says)
	})
}

// presses presses a button of the ask's message on Telegram, once it is there, and returns the
// message as it was then.
func (w *session) presses(a approval.Answer, label string) telegramtest.Message {
	w.t.Helper()
	m := w.chat.await("with "+label, func(m telegramtest.Message) bool {
		for _, b := range m.Buttons() {
			if b.Text == label {
				return strings.Contains(m.Text, string(a.Approval.ID.Ask()))
			}
		}
		return false
	})
	if _, err := w.chat.press(m.ID, label); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// seenIn finds the hidden value that an edit's page sends back.
var seenIn = regexp.MustCompile(`name="seen" value="([^"]+)"`)

// TestAWholeSession goes through a card, a grant, a near miss, a question, an edit, the brake and
// the digest, in both chats and the inbox. All show the same, in their own words.
func TestAWholeSession(t *testing.T) {
	t.Parallel()
	w := &session{t: t, chat: newChat(t), team: newWorkspace(t)}
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711",
		"METNOS_TELEGRAM_APPROVERS=4711", "METNOS_TZ="+sceneZone)...)
	w.s = h.start(func(c *exec.Cmd) {
		c.Args = append(c.Args, "--telegram-api", w.chat.url, "--slack-api", w.team.url+"/api")
	})
	w.owner = w.s.signIn(w.s.link)
	w.team.await("a socket", func() bool { return w.team.Sockets() > 0 })

	// A card, and a grant behind the second tap.
	first := w.calls("git push origin main", "")
	w.post(first, "git push origin main")
	w.presses(first, "Allow more…")
	w.shows("A card, and what its second tap offers", chatPage(), w.presses(first, "Allow up to 10 times in an hour"))
	id := string(first.Approval.ID)
	w.card(first, "/end "+id)
	w.post(first, "/vaglio end "+id)
	w.inbox(first, "“End the grant” ends it")
	if a := w.calls("git push -v origin main", ""); a.Decision != approval.RulingAllow || a.Permit == nil {
		t.Fatalf("the granted call is %+v", a)
	}
	w.shows("A grant, counted", chatPage(), w.card(first, "2 of 10"))
	w.inbox(first, "2 of 10")

	// A call similar to the grant is not covered; denying it ends the grant.
	near := w.calls("git push origin release", "")
	if near.Decision != approval.RulingPending {
		t.Fatalf("what is near the grant is %+v", near)
	}
	card := w.post(near, "git push origin release")
	if _, err := w.team.Press(slackAnn, card.Channel, card.TS, "Deny"); err != nil {
		t.Fatal(err)
	}
	w.card(near, "/lift "+string(near.Approval.ID))
	w.shows("Near the grant is not in it: denied", slackPage(), w.post(near, "/vaglio lift "+string(near.Approval.ID)))
	w.inbox(near, "“Lift the denial” undoes that")
	w.card(first, "The grant is over")
	if a := w.calls("git  push 'origin' release", ""); a.Decision != approval.RulingDeny || a.Approval != nil && a.Approval.ID != near.Approval.ID {
		t.Errorf("the same in another spelling is %+v", a)
	}

	// A call similar to the denied one is asked about, and gets a question back.
	like := w.calls("git push origin release/2", "")
	w.card(like, "Like what you denied")
	w.inbox(like, "Like what you denied")
	w.chat.Say(w.chat.ann, w.chat.chat, "/ask "+string(like.Approval.ID)+" which release is it?")
	w.post(like, "which release is it?")
	w.turns--
	if a := w.calls("git push origin release/2", `,"answer":"the second"`); a.Decision != approval.RulingPending {
		t.Errorf("with an answer the call is %+v", a)
	}
	w.card(like, "The agent answered")
	w.shows("Like what was denied: a question, and the agent's answer", slackPage(), w.post(like, "the second"))

	// Edited in the inbox, it is denied in its old form and runs in the new one.
	form := url.Values{"id": {string(like.Approval.ID)}, "arg.command": {"git push origin topic"}}
	page := w.owner.post("/inbox/edit", form)
	seen := seenIn.FindStringSubmatch(page.body)
	if page.status != http.StatusOK || !strings.Contains(page.body, "git push origin topic") {
		t.Fatalf("the edit is shown as %d %s", page.status, page.body)
	}
	w.shows("Edited, before it is allowed", w.inboxPage(), page.body)
	if seen != nil {
		form.Set("seen", seen[1])
		if done := w.owner.post("/inbox/edit", form); done.status != http.StatusOK {
			t.Fatalf("the edit: %d %s", done.status, done.body)
		}
	}
	w.card(like, "Given back to the agent, changed")
	edited := w.s.agent("GET", "/v1/approvals/"+string(like.Approval.ID), "").answer(t)
	if edited.Decision != approval.RulingDeny || edited.Form == nil || edited.Form.Args["command"] != "git push origin topic" {
		t.Fatalf("the edited call is %+v", edited)
	}
	if a := w.calls("git push origin topic", ""); a.Decision != approval.RulingAllow {
		t.Errorf("in its new form the call is %+v", a)
	}

	// The brake is reported in each chat, and released there.
	waits := w.calls("git push --force origin main", "")
	w.card(waits, "git push --force")
	w.team.Command(slackAnn, slackHome, "stop")
	w.card(waits, "Denied")
	braked := w.chat.await("the brake", func(m telegramtest.Message) bool {
		return strings.Contains(m.Text, "Every agent is stopped") && strings.Contains(m.Text, "until /go")
	})
	w.shows("The brake", chatPage(), braked)
	if page := w.owner.get("/inbox").body; !strings.Contains(page, "until “Release”") {
		t.Errorf("the inbox does not tell of the brake: %s", page)
	}
	if a := w.calls("git push origin other", ""); a.Decision != approval.RulingDeny {
		t.Errorf("braked, a call is %+v", a)
	}
	w.chat.Say(w.chat.ann, w.chat.chat, "/go")
	w.chat.await("that they go on", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "Every agent may go on") })
	if a := w.calls("git push origin another", ""); a.Decision != approval.RulingPending {
		t.Errorf("let go, a call is %+v", a)
	}

	// The digest has all of it, and adds up.
	w.chat.Say(w.chat.ann, w.chat.chat, "/digest")
	digest := w.chat.await("a digest", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "so far") })
	w.shows("What the day came to", chatPage(), digest)
	for _, args := range [][]string{{"digest"}, {"digest", "--check"}} {
		if r := h.run("", args...); r.code != exitOK {
			t.Errorf("%v: %d %s%s", args, r.code, r.out, r.err)
		}
	}
	w.draw(filepath.Join("..", "..", "docs", "pictures", "session-en.png"))
}
