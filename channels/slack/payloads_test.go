package slack_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// TestPayloads sends everything that the channel can say, in every language, and collects
// what was sent. If VAGLIO_PAYLOADS is set, the test writes it there for tsc.
func TestPayloads(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it draws many pictures; the plain run has it")
	}
	var all []payloads.Payload
	for _, lang := range templates.Langs() {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.config.Lang = lang
			w.build()
			w.start()
			w.sayAll()
			all = append(all, w.sent()...)
		})
	}
	payloads.Write(t, os.Getenv("VAGLIO_PAYLOADS"), "slack.ts", `import type { HomeView, KnownBlock, ModalView } from "@slack/types";`, all)
}

// sayAll makes the channel say everything.
func (w *world) sayAll() {
	w.t.Helper()
	ctx := w.t.Context()
	payloads.Show(w.t, w.channel, slack.Name)
	for _, kind := range payloads.Cards(w.t, slack.Name) {
		ref, err := w.channel.Post(ctx, kind[0])
		for i := 0; i < len(kind) && err == nil; i++ {
			err = w.channel.Tell(ctx, ref, kind[i], payloads.Digest(1).Counts, i > 0)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	for n := range 4 {
		if err := w.channel.ShowDigest(ctx, w.open(strconv.Itoa(n)), payloads.Digest(n)); err != nil {
			w.t.Fatal(err)
		}
	}
	a, b := w.ask(command("make")), w.ask(command("make b"))
	refusal, denied := payloads.Guarded()
	w.desk.Remember(
		approval.Entry{Step: approval.Step{At: time.Now(), Verdict: &denied, Refusal: &refusal}},
		approval.Entry{Step: approval.Step{At: time.Now(), Verdict: &denied}, Approval: &a.Approvals[0]},
	)
	act := func(action, user string) {
		for _, one := range w.shown(a).Buttons() {
			if one.ActionID == action {
				w.server.PressButton(user, home, ts(a), one)
				synctest.Wait()
			}
		}
	}
	for _, user := range []string{eve, ann} {
		w.server.OpenHome(user)
		for _, text := range []string{"help", "pending", "why", "why " + string(b.ID), "digest", "digest x"} {
			w.server.Command(user, home, text)
		}
		synctest.Wait()
	}
	act("why", ann)
	act("reply", ann)
	act("allow", eve)
	act("allow", ann)
	act("deny", ann)
	w.server.OpenHome(ann)
	w.server.Say(ann, home, ts(b), "no")
	// A restart after a while announces the gap; a file that came too late makes another
	// card replace this one.
	w.ask(command("make c"))
	w.stop()
	time.Sleep(10 * time.Minute)
	w.build()
	w.start()
	grown := payloads.Cards(w.t, slack.Name)[6][0]
	ref, err := w.channel.Post(ctx, grown)
	if err != nil {
		w.t.Fatal(err)
	}
	grown.Posted = 1
	if err := w.channel.Amend(ctx, ref, grown); err == nil {
		w.t.Error("a card whose file lacks calls stays")
	}
	synctest.Wait()
}

// sent returns what the platform was sent.
func (w *world) sent() []payloads.Payload {
	var all []payloads.Payload
	seen := map[string]int{}
	add := func(what, kind, raw string) {
		if raw != "" {
			seen[what]++
			all = append(all, payloads.Payload{Type: kind, JSON: raw})
		}
	}
	for _, c := range w.server.Calls("") {
		add(c.Method, "KnownBlock[]", c.Args["blocks"])
		add(c.Method, map[string]string{"views.open": "ModalView", "views.publish": "HomeView"}[c.Method], c.Args["view"])
	}
	for _, d := range w.server.Deliveries() {
		var answer struct {
			Blocks strictjson.Value `json:"blocks"`
		}
		if len(d.Answer) > 0 && strictjson.UnmarshalLoose(d.Answer, &answer) == nil {
			add("answers", "KnownBlock[]", string(answer.Blocks))
		}
	}
	for _, method := range []string{"chat.postMessage", "chat.update", "chat.postEphemeral", "views.open", "views.publish", "answers"} {
		if seen[method] == 0 {
			w.t.Errorf("nothing was sent by %s", method)
		}
	}
	if !strings.Contains(w.server.Calls("chat.update")[0].Args["blocks"], "rich_text") {
		w.t.Error("the cards are empty")
	}
	return all
}
