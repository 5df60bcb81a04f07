package main

import (
	"cmp"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/strictjson"
)

const slackBob = "U00000000B1"

// everywhere is one ask in two Slack channels, on Telegram and in the inbox.
type everywhere struct {
	t     testing.TB
	team  *workspace
	chat  *chat
	s     *served
	owner *person
	ask   approval.ID
	// cards are the cards as first posted, with their buttons.
	cards []slacktest.Message
	card  telegramtest.Message
	forms map[string]url.Values
}

const policyEverywhere = `
approval:
  members: {owner: ["web:owner"], ann: ["telegram:4711", "slack:` + slackAnn + `"], bob: ["slack:` + slackBob + `"]}
  routes:
    - {name: all, channels: ["slack:` + slackOps + `", "slack:` + slackDeploy + `", telegram, web], approvers: [owner, ann, bob], quorum: 2}
  rules: [{route: all}]
`

// servedEverywhere starts a daemon whose asks go everywhere.
func servedEverywhere(t testing.TB) *everywhere {
	t.Helper()
	e := &everywhere{t: t, team: newWorkspace(t), chat: newChat(t)}
	e.team.AddUser(slacktest.User{ID: slackBob, Name: "bob", RealName: "Bob"})
	for _, id := range []string{slackOps, slackDeploy} {
		e.team.AddChannel(id, slackAnn, slackBob)
	}
	h := newHome(t, slackEnv("METNOS_SLACK_APP_TOKEN="+slacktest.AppToken, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711", "METNOS_TZ=UTC")...)
	h.policy(t, policyEverywhere)
	e.s = h.start(func(c *exec.Cmd) {
		c.Args = append(c.Args, "--telegram-api", e.chat.url, "--slack-api", e.team.url+"/api")
	})
	e.owner = e.s.signIn(e.s.link)
	e.team.await("a socket", func() bool { return e.team.Sockets() > 0 })
	return e
}

func newEverywhere(t *testing.T) *everywhere {
	t.Helper()
	e := servedEverywhere(t)
	e.ask = e.s.agent("POST", "/v1/proposals", forcePush).answer(t).Approval.ID
	for _, id := range []string{slackOps, slackDeploy} {
		e.cards = append(e.cards, e.team.message(id, hasButtons))
	}
	e.card = e.chat.await("with buttons", func(m telegramtest.Message) bool { return len(m.Buttons()) > 0 })
	e.forms = buttons(t, e.page())
	return e
}

func (e *everywhere) page() string {
	e.t.Helper()
	return e.owner.get("/inbox/ask/" + string(e.ask.Ask())).body
}

// show waits until every card contains the text, with or without buttons. The inbox uses a text of
// its own.
func (e *everywhere) show(said, inbox string, open bool) {
	e.t.Helper()
	for _, card := range e.cards {
		e.team.message(card.Channel, func(m slacktest.Message) bool {
			return m.TS == card.TS && strings.Contains(m.Shown(), said) && hasButtons(m) == open
		})
	}
	e.chat.await("that says "+said, func(m telegramtest.Message) bool {
		return m.ID == e.card.ID && strings.Contains(m.Text, said) && len(m.Buttons()) > 0 == open
	})
	e.team.await("the inbox to say "+inbox, func() bool {
		page := e.page()
		return strings.Contains(page, inbox) && len(buttons(e.t, page)) > 0 == open
	})
}

// onSlack presses a button of the card as first posted, and returns the reply.
func (e *everywhere) onSlack(user string, card slacktest.Message, label string) string {
	e.t.Helper()
	before := len(e.team.Ephemerals())
	for _, b := range card.Buttons() {
		if b.Text == label {
			e.team.PressButton(user, card.Channel, card.TS, b)
		}
	}
	e.team.await("an answer", func() bool { return len(e.team.Ephemerals()) > before })
	return e.team.Ephemerals()[before].Text
}

// onTelegram presses a button of the card as first posted, and returns the reply.
func (e *everywhere) onTelegram(label string) (said string) {
	e.t.Helper()
	for _, b := range e.card.Buttons() {
		if b.Text != label {
			continue
		}
		id := e.chat.pressData(e.card.ID, b.Data)
		e.team.await("an answer on Telegram", func() bool {
			for _, a := range e.chat.Answers() {
				if a.ID == id {
					said = cmp.Or(a.Text, "nothing")
				}
			}
			return said != ""
		})
	}
	return said
}

// onWeb presses a button of the page as first loaded, and returns the new page.
func (e *everywhere) onWeb(choice approval.Choice) string {
	e.t.Helper()
	r := e.owner.post("/inbox/decide", e.forms[string(choice)])
	if r.status != http.StatusOK && r.status != http.StatusConflict {
		e.t.Errorf("the inbox answers %d\n%s", r.status, r.body)
	}
	return r.body
}

// stale presses on every card as first posted, and checks each reply.
func (e *everywhere) stale(what, inbox, by string) {
	e.t.Helper()
	for where, said := range map[string]string{
		"Slack": e.onSlack(slackAnn, e.cards[0], "Deny"), "Slack, the other channel": e.onSlack(slackBob, e.cards[1], "Allow once"),
		"Telegram": e.onTelegram("Deny"), "the inbox": e.onWeb(approval.ChoiceDeny),
	} {
		wants := []string{what, by, e.decidedAt()}
		if where == "the inbox" {
			wants[0] = inbox
			_, said, _ = strings.Cut(said, `id="notice"`)
			said, _, _ = strings.Cut(said, "<article")
		}
		for _, want := range wants {
			if !strings.Contains(said, want) {
				e.t.Errorf("%s: a stale press is told %q, without %q", where, said, want)
			}
		}
	}
}

// decidedAt returns the minute of the decision as people are told it.
func (e *everywhere) decidedAt() string {
	e.t.Helper()
	var kept owner.Approvals
	r, err := trySend(e.t.Context(), e.s.h.over("admin.sock"), http.MethodGet, "http://vaglio/why/"+string(e.ask), "", "")
	if err == nil {
		err = strictjson.Unmarshal([]byte(r.body), &kept)
	}
	if err != nil || len(kept.Approvals) != 1 || kept.Approvals[0].Decision == nil {
		e.t.Fatalf("%v: %s", err, r.body)
	}
	return kept.Approvals[0].Decision.At.UTC().Format("15:04")
}

// TestOneAskEverywhere looks at every card after every step, and presses on each when it is too
// late.
func TestOneAskEverywhere(t *testing.T) {
	t.Parallel()
	e := newEverywhere(t)
	e.show("git push", "git push", true)
	if said := e.onSlack(slackAnn, e.cards[0], "Allow once"); !strings.Contains(said, "Your yes counts") {
		t.Errorf("the first yes is told %q", said)
	}
	e.show("1 of 2 have allowed it: Ann", "1 of 2 have allowed", true)
	// Her other ID is the same person.
	if said := e.onTelegram("Allow once"); strings.Contains(said, "Allowed once.") {
		t.Errorf("the same person elsewhere is told %q", said)
	}
	e.show("1 of 2 have allowed it: Ann", "1 of 2 have allowed", true)
	if got := e.s.agent("GET", "/v1/approvals/"+string(e.ask), "").answer(t); got.Decision != approval.RulingPending {
		t.Fatalf("one person is enough: %+v", got)
	}
	if said := e.onSlack(slackBob, e.cards[1], "Allow once"); !strings.Contains(said, "Allowed once.") {
		t.Errorf("the second yes is told %q", said)
	}
	e.show("Allowed once by Bob", "Bob", false)
	e.stale("llowed once by Bob (slack:"+slackBob+")", "allowed", "Bob (slack:")
	got := e.s.agent("GET", "/v1/approvals/"+string(e.ask), "").answer(t)
	if got.Decision != approval.RulingAllow || got.Permit == nil {
		t.Fatalf("the agent is told %+v", got)
	}
	if r := e.s.agent("POST", "/v1/permits/"+got.Permit.Permit+"/redeem", forcePush); r.status != http.StatusNoContent {
		t.Fatalf("redeeming is answered %d %s", r.status, r.body)
	}
	e.show("the call was started", "Started", false)
	if r := e.s.agent("POST", "/v1/approvals/"+string(e.ask)+"/outcome", `{"succeeded":true}`); r.status/100 != 2 {
		t.Fatalf("the report is answered %d %s", r.status, r.body)
	}
	e.show("it ran and worked", "Ran: worked", false)
	e.stale("it ran and worked", "allowed", "Bob (slack:")
	for _, card := range e.cards {
		e.team.message(card.Channel, func(m slacktest.Message) bool {
			return m.ThreadTS == card.TS && strings.Contains(m.Shown(), "it ran and worked")
		})
	}
}

// TestOneAskEverywhereIsDeniedInTheInbox denies with words, after somebody allowed.
func TestOneAskEverywhereIsDeniedInTheInbox(t *testing.T) {
	t.Parallel()
	e := newEverywhere(t)
	e.onTelegram("Allow once")
	e.show("1 of 2 have allowed it: Ann", "1 of 2 have allowed", true)
	e.forms["deny"].Set("words", "not on a Friday")
	e.onWeb(approval.ChoiceDeny)
	e.show("Denied by owner", "Denied", false)
	e.show("not on a Friday", "not on a Friday", false)
	e.stale("Denied by owner (web:owner)", "denied", "owner (web")
}
