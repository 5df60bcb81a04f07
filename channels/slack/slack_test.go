package slack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/vaglio"
)

func TestAPressDecides(t *testing.T) {
	for name, c := range map[string]struct {
		user, label, told string
		state             approval.State
	}{
		"Allow":           {ann, "Allow once", "Allowed once.", approval.Allowed},
		"Deny":            {ann, "Deny", "Denied.", approval.Denied},
		"AMemberOfAGroup": {bob, "Allow once", "Allowed once.", approval.Allowed},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("rm -rf ./build"))
				if d := w.press(c.user, a, c.label); d.Acked.IsZero() {
					w.t.Errorf("the press was not acknowledged: %+v", d)
				}
				if got := w.desk.State(a); got != c.state {
					w.t.Errorf("the call is %s, want %s", got, c.state)
				}
				w.wants(w.whispered(c.user), c.told)
				by := w.desk.Taps()[0].By
				if by.ID != "slack:"+c.user || by.Name == "" || by.Name == c.user {
					w.t.Errorf("it was %+v", by)
				}
				if err := w.amend(a); err != nil {
					w.t.Fatal(err)
				}
				if m := w.shown(a); len(m.Buttons()) != 0 {
					w.t.Errorf("the final card has buttons: %+v", m.Buttons())
				}
			})
		})
	}
}

func TestOnlyApproversDecide(t *testing.T) {
	inWorld(t, func(w *world) {
		w.server.AddUser(slacktest.User{ID: "U0000000FA1", Name: "ann", RealName: "Ann", Team: "T0000000002"})
		a := w.ask(command("make"))
		w.press(eve, a, "Allow once")
		w.wants(w.whispered(eve), "You are not among those who may decide")
		w.server.AddUser(slacktest.User{ID: ann, Name: "ann", Team: "T0000000002"})
		w.press(ann, a, "Allow once")
		w.wants(w.whispered(ann), "You are not among those who may decide")
		w.server.Say(eve, home, ts(a), "yes, do it")
		w.wants(w.whispered(eve), "You are not among those who may decide")
		if len(w.desk.Taps()) != 0 {
			w.t.Errorf("the desk was told %+v", w.desk.Taps())
		}
		for _, id := range []string{"slack:" + eve, "telegram:" + ann, ann, "slack:", "slack:" + group, "slack:" + strings.ToLower(ann)} {
			if w.channel.Approves(id) {
				w.t.Errorf("%s may decide", id)
			}
		}
	})
}

// TestColleaguesOfTheOrganizationDecide checks that on Enterprise Grid a listed person
// decides from any workspace of the organization, and nobody else does: neither people of
// another organization, nor unlisted people of ours, nor anybody who cannot be looked up.
func TestColleaguesOfTheOrganizationDecide(t *testing.T) {
	const ours, theirs = "E0000000001", "E0000000002"
	t.Parallel()
	for _, wide := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.server.Grid(ours, wide)
			w.start()
			of := func(id, enterprise string) {
				w.server.AddUser(slacktest.User{ID: id, Name: id, Team: "T0000000002", Enterprise: enterprise})
			}
			for _, tt := range []struct {
				enterprise string
				fails      bool
				want       approval.State
			}{{theirs, false, approval.Pending}, {"", false, approval.Pending}, {ours, true, approval.Pending}, {ours, false, approval.Allowed}} {
				of(ann, tt.enterprise)
				if tt.fails {
					w.server.Fail("users.info", 100, slacktest.Fault{Error: "internal_error"})
				}
				a := w.ask(command("make"))
				w.press(ann, a, "Allow once")
				if got := w.desk.State(a); got != tt.want {
					t.Errorf("installed by all %t, of %q, unknown %t: the press gives %s, not %s", wide, tt.enterprise, tt.fails, got, tt.want)
				}
				w.server.Heal()
			}
			a := w.ask(command("make"))
			of(eve, ours)
			w.press(eve, a, "Allow once")
			w.wants(w.whispered(eve), "You are not among those who may decide")
			of(ann, theirs)
			w.server.Say(ann, home, ts(a), "no")
			w.wants(w.whispered(ann), "You are not among those who may decide")
			of(ann, ours)
			w.server.Say(ann, home, ts(a), "not now")
			time.Sleep(time.Second)
			if got := w.desk.State(a); got != approval.Denied {
				t.Errorf("installed by all %t: a colleague's words give %s", wide, got)
			}
			b := w.ask(command("make"))
			w.press(bob, b, "Allow once")
			if got := w.desk.State(b); got != approval.Allowed {
				t.Errorf("installed by all %t: the press of a group's member gives %s", wide, got)
			}
		})
	}
}

// TestAGroupIsLookedUpAtAYes checks that somebody removed from a group a moment ago can no
// longer allow anything, and that if a group cannot be looked up, its latest known members
// count.
func TestAGroupIsLookedUpAtAYes(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.server.SetGroup(group, eve)
		time.Sleep(3 * time.Second)
		w.press(bob, a, "Allow once")
		w.wants(w.whispered(bob), "You are not among those who may decide")
		if got := w.desk.State(a); got != approval.Pending {
			w.t.Errorf("a former member's press gives %s", got)
		}
		w.server.Fail("usergroups.users.list", 100, slacktest.Fault{Error: "internal_error"})
		time.Sleep(3 * time.Second)
		w.press(eve, a, "Allow once")
		if got := w.desk.State(a); got != approval.Allowed {
			w.t.Errorf("the press of a member who was looked up of late gives %s", got)
		}
	})
}

func TestAGroupIsLookedUp(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.server.SetGroup(group, eve)
		time.Sleep(time.Minute)
		w.press(eve, a, "Allow once")
		if got := w.desk.State(a); got != approval.Allowed {
			w.t.Errorf("a new member's press gives %s", got)
		}
		if w.channel.Approves("slack:" + bob) {
			w.t.Error("a former member may decide")
		}
		w.server.Fail("usergroups.users.list", 100, slacktest.Fault{Error: "internal_error"})
		time.Sleep(20 * time.Minute)
		if w.channel.Approves("slack:" + eve) {
			w.t.Error("members may decide though the group cannot be looked up for long")
		}
		if !w.channel.Approves("slack:" + ann) {
			w.t.Error("who is listed may not decide")
		}
	})
}

func TestAPressElsewhereDecidesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		b := w.shown(a).Buttons()[0]
		w.server.PressButton(ann, other, ts(a), b)
		w.wants(w.whispered(ann), "another chat")
		b.Value = "no-such-token"
		w.server.PressButton(ann, home, ts(a), b)
		w.wants(w.whispered(ann), "no longer works")
		b.ActionID = "else"
		w.server.PressButton(ann, home, ts(a), b)
		if w.desk.Won() != 0 {
			w.t.Error("something was decided")
		}
	})
}

// TestWhoIsNotInTheChannelIsAnswered checks that an approver who sees the channel without
// being a member gets an answer by the way the press came, as does everybody after the app
// was removed from the channel.
func TestWhoIsNotInTheChannelIsAnswered(t *testing.T) {
	for name, leave := range map[string]func(w *world){
		"the person": func(w *world) { w.server.Leave(home, ann) },
		"the app":    func(w *world) { w.server.Kick(home, true) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("make"))
				leave(w)
				w.press(ann, a, "Allow once")
				if w.desk.Won() != 1 {
					w.t.Errorf("%d were decided", w.desk.Won())
				}
				w.wants(w.whispered(ann), "Allowed once")
				w.press(ann, a, "Deny")
				w.wants(w.whispered(ann), "You have already answered this")
			})
		})
	}
}

func TestADuplicateActsOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.server.Duplicate()
		w.press(ann, a, "Allow once")
		if len(w.desk.Taps()) != 1 || len(w.server.Ephemerals()) != 1 {
			w.t.Errorf("%d taps, %d answers", len(w.desk.Taps()), len(w.server.Ephemerals()))
		}
		w.press(bob, a, "Deny")
		w.wants(w.whispered(bob), "Allowed once by Ann", "Your answer changed nothing")
		w.press(ann, a, "Deny")
		w.wants(w.whispered(ann), "You have already answered this")
	})
}

// TestAllowedIsToldAfterTheCommit delays the commit: the press is still acknowledged in
// time, and nobody is told anything before the commit.
func TestAllowedIsToldAfterTheCommit(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		held := make(chan struct{})
		w.desk.Hold(held)
		d := w.press(ann, a, "Allow once")
		if !d.Acked.IsZero() {
			w.t.Error("acknowledged before the commit, though there was time")
		}
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if d := w.server.Delivery(d.ID); d.Acked.IsZero() {
			w.t.Error("not acknowledged within three seconds")
		}
		if said := w.whispered(ann); said != "" {
			w.t.Errorf("told before the commit: %s", said)
		}
		close(held)
		w.wants(w.whispered(ann), "Allowed once.")
	})
}

func TestTroubleOfTheStore(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.desk.Fail(errors.New("the disk is full"))
		w.press(ann, a, "Allow once")
		w.wants(w.whispered(ann), "could not be saved")
		_, id := w.server.Say(ann, home, ts(a), "no")
		synctest.Wait()
		if d := w.server.Delivery(id); !d.Acked.IsZero() && d.Acked.Sub(d.Sent) < time.Second {
			w.t.Error("words that had no effect were acknowledged at once")
		}
		w.server.Command(ann, home, "pending")
		synctest.Wait()
		w.desk.Fail(nil)
		w.press(ann, a, "Allow once")
		if got := w.desk.State(a); got != approval.Allowed {
			w.t.Errorf("after the trouble a press gives %s", got)
		}
	})
}

func TestReplyDeniesWithWords(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.press(ann, a, "Deny with words…")
		v, ok := w.server.Modal(ann)
		if !ok || v.Metadata != string(a.ID)+" "+home || strings.Contains(v.Shown(), "make") {
			w.t.Fatalf("the modal is %+v", v)
		}
		if _, err := w.server.Submit(ann, map[string]string{"words": " "}); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		v, _ = w.server.Modal(ann)
		w.wants(v.Errors["words"], "Only text can be passed on")
		id, err := w.server.Submit(ann, map[string]string{"words": "use make clean"})
		if err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		if _, open := w.server.Modal(ann); open || w.server.Delivery(id).Acked.IsZero() {
			w.t.Error("the modal is still open")
		}
		w.wants(w.whispered(ann), "Your words go to the agent")
		if p := a.Approvals[0]; p.State != approval.Denied || p.Decision.Words != "use make clean" {
			w.t.Errorf("the call is %+v", p.Decision)
		}
		if w.press(bob, a, "Deny with words…"); w.whispered(bob) != "Nothing in this ask is waiting any more." {
			w.t.Errorf("told %q", w.whispered(bob))
		}
	})
}

func TestAModalIsCheckedWhenItIsSent(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.press(bob, a, "Deny with words…")
		w.server.SetGroup(group)
		time.Sleep(10 * time.Minute)
		if _, err := w.server.Submit(bob, map[string]string{"words": "no"}); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		v, _ := w.server.Modal(bob)
		w.wants(v.Errors["words"], "not among those who may decide")
		w.press(ann, a, "Deny with words…")
		w.press(ann, a, "Allow once")
		if _, err := w.server.Submit(ann, map[string]string{"words": "no"}); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		v, _ = w.server.Modal(ann)
		w.wants(v.Errors["words"], "You have already answered this")
		if got := w.desk.State(a); got != approval.Allowed {
			w.t.Errorf("the call is %s", got)
		}
	})
}

func TestWordsInTheThreadDeny(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.server.Say(ann, home, "", "good morning")
		w.server.Event(map[string]any{"type": "message", "subtype": "message_changed", "channel": home, "thread_ts": ts(a), "user": ann, "text": "edited", "ts": "1.000002"})
		w.server.Event(map[string]any{"type": "message", "bot_id": "B2", "channel": home, "thread_ts": ts(a), "user": ann, "text": "beep", "ts": "1.000003"})
		w.server.Say(ann, other, ts(a), "elsewhere")
		synctest.Wait()
		if len(w.desk.Taps()) != 0 {
			w.t.Fatalf("talk was taken for words: %+v", w.desk.Taps())
		}
		w.server.Duplicate()
		w.server.Say(ann, home, ts(a), "no: a &lt;b&gt; &amp;lt; c")
		w.wants(w.whispered(ann), "Your words go to the agent")
		if p := a.Approvals[0]; p.State != approval.Denied || p.Decision.Words != "no: a <b> &lt; c" || len(w.desk.Taps()) != 1 {
			w.t.Errorf("the call is %+v", p.Decision)
		}
		said := len(w.server.Ephemerals())
		w.server.Say(ann, home, ts(a), "they talk on")
		synctest.Wait()
		if len(w.server.Ephemerals()) != said {
			w.t.Error("talk below a card that is over is answered")
		}
	})
}

func TestWhyAnswersInTheThread(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.press(ann, a, "Why?")
		time.Sleep(time.Second) // The card was the channel's message of this second.
		all := w.thread(a)
		if len(all) != 1 || len(all[0].Buttons()) != 0 {
			w.t.Fatalf("the thread is %+v", all)
		}
		w.wants(all[0].Shown(), string(a.ID), "0.2", "removes ./build")
	})
}

// TestWhySaysAsMuchAsFits has an ask of which the judges said more than any message holds.
func TestWhySaysAsMuchAsFits(t *testing.T) {
	inWorld(t, func(w *world) {
		v := denial("partial")
		for i := range 60 {
			message := fmt.Sprintf("reason-%d %s", i, strings.Repeat("z", 280))
			v.Results[0].Signals = append(v.Results[0].Signals, vaglio.Signal{Category: "delete", Score: 0.2, Message: message})
		}
		a := w.post(newAsk(w.t, v, command("make")))
		id := w.server.Command(ann, other, "why "+string(a.ID))
		w.press(ann, a, "Why?")
		time.Sleep(time.Second)
		all := w.thread(a)
		if len(all) != 1 {
			w.t.Fatalf("the thread is %+v", all)
		}
		for name, said := range map[string]struct {
			text string
			most int
		}{"the command": {string(w.server.Delivery(id).Answer), 3500}, "the thread": {all[0].Shown(), 10000}} {
			w.wants(said.text, "reason-0 ")
			if n := strings.Count(said.text, "z"); n > said.most || n < said.most*4/5 {
				w.t.Errorf("%s is answered with %d characters of reasons, of %d that fit", name, n, said.most)
			}
		}
	})
}

func TestWhyMeetsTrouble(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.desk.Fail(errors.New("the disk is full"))
		w.press(ann, a, "Why?")
		w.wants(w.whispered(ann), "Something went wrong")
		w.desk.Fail(nil)
		all := w.shown(a).Buttons()
		why := all[slices.IndexFunc(all, func(b slacktest.Button) bool { return b.Text == "Why?" })]
		why.Value = strings.Replace(why.Value, string(a.ID), "nosuchask", 1)
		w.server.PressButton(ann, home, ts(a), why)
		synctest.Wait()
		w.wants(w.whispered(ann), "no longer")
		if len(w.thread(a)) != 0 {
			w.t.Errorf("the thread is %+v", w.thread(a))
		}
		w.server.Fail("chat.postEphemeral", 1, slacktest.Fault{Error: "fatal_error"})
		w.server.PressButton(ann, home, ts(a), why)
		synctest.Wait()
		w.wants(w.log.String(), "a person could not be answered")
	})
}

func TestCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		say := func(user, text string) string {
			id := w.server.Command(user, other, text)
			synctest.Wait()
			d := w.server.Delivery(id)
			w.wants(string(d.Answer), `"response_type":"ephemeral"`)
			return string(d.Answer)
		}
		w.wants(say(ann, "pending"), "Nothing waits for you")
		a := w.ask(command("rm -rf ./build"))
		w.wants(say(ann, "pending"), "1 ask waits", string(a.ID), "rm -rf ./build", "https://team.slack.test/archives/"+home+"/p")
		w.wants(say(ann, "why "+string(a.ID)), "removes ./build")
		w.wants(say(ann, "why"), "/vaglio why")
		w.wants(say(ann, "why zzzzzz"), "No ask has this id")
		for _, text := range []string{"", "help", "HELP", "nonsense"} {
			w.wants(say(ann, text), "Allow once lets exactly the call shown run")
		}
		for i := range 14 {
			w.ask(command(fmt.Sprint("make ", i)))
		}
		if got := say(ann, "pending"); !strings.Contains(got, "15 asks wait") || !strings.Contains(got, "make 13") || strings.Contains(got, " more") {
			w.t.Errorf("as many as are listed: %s", got)
		}
		w.ask(command("make the last"))
		if got := say(ann, "pending"); !strings.Contains(got, "16 asks wait") || !strings.Contains(got, "and 1 more") || strings.Contains(got, "make the last") {
			w.t.Errorf("one more than is listed: %s", got)
		}
		if got := say(eve, "pending"); strings.Contains(got, "build") || !strings.Contains(got, "not among those who may decide") {
			w.t.Errorf("a stranger is told %s", got)
		}
	})
}

func TestTheHomeTab(t *testing.T) {
	inWorld(t, func(w *world) {
		w.server.OpenHome(eve)
		w.server.OpenHome(ann)
		synctest.Wait()
		v, _ := w.server.Home(eve)
		w.wants(v.Shown(), "not among those who may decide")
		v, _ = w.server.Home(ann)
		w.wants(v.Shown(), "Nothing waits for you", "What you decided today", "What was vetoed today")
		a := w.ask(command("rm -rf ./build"))
		denied := vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{ID: "rm-root"}}
		step := approval.Step{At: time.Now(), Proposal: command("rm -rf /"), Verdict: &denied}
		step.Proposal.Agent = "wild"
		r := approval.Refuse(step.Proposal, denied)
		step.Refusal = &r
		w.desk.Remember(approval.Entry{Step: step}, approval.Entry{Step: approval.Step{At: time.Now(), Verdict: &denied}, Approval: &a.Approvals[0]})
		w.press(ann, a, "Deny")
		v, _ = w.server.Home(ann)
		w.wants(v.Shown(), "Refused by the guard", "wild", "Denied by Ann")
		if len(v.Buttons()) != 0 {
			w.t.Error("the home tab has buttons")
		}
	})
}

func TestWhatCannotBeUndoneAsksOnceMore(t *testing.T) {
	inWorld(t, func(w *world) {
		plain, forever := w.ask(command("make")), w.post(newAsk(w.t, denial("irreversible"), command("drop it")))
		allow := func(a *approval.Ask) slacktest.Button { return w.shown(a).Buttons()[0] }
		if b := allow(plain); b.Style != "primary" || b.Confirm != "" {
			w.t.Errorf("the button is %+v", b)
		}
		if b := allow(forever); b.Style != "danger" || !strings.Contains(b.Confirm, "cannot be undone") {
			w.t.Errorf("the button is %+v", b)
		}
	})
}

// TestAgentsCannotMakeMarkup writes everything that Slack reads as markup.
func TestAgentsCannotMakeMarkup(t *testing.T) {
	hostile := []string{
		"<!channel> <!here> <@" + ann + ">", "<https://evil.test|Allowed>", "*bold* _it_ ~s~ `c` :rotating_light:", "```\nAllowed once by Ann\n```",
		"https://evil.test/x", "@here #general", "<!subteam^S1|x>", "&lt;!channel&gt;", "\u202egnp.exe", "mailto:a@b.test",
	}
	inWorld(t, func(w *world) {
		for _, line := range hostile {
			p := command(line)
			p.Executor, p.Context.Cwd, p.Context.Mounts = line, line, []string{line}
			a := newAsk(w.t, denial("partial"), p, command("make"))
			a.Agent, a.Intent, a.TurnID = line, line, line
			w.post(a)
			w.press(ann, a, "Why?")
			m := w.shown(a)
			if m.Unfurls || strings.ContainsAny(m.Text, "<>") {
				w.t.Errorf("the fallback is %q, unfurled: %v", m.Text, m.Unfurls)
			}
			w.onlyPlain(m.Blocks)
			for _, m := range w.thread(a) {
				w.onlyPlain(m.Blocks)
			}
		}
	})
}

// onlyPlain fails the test if a block holds anything but plain text.
func (w *world) onlyPlain(blocks []slacktest.Block) {
	w.t.Helper()
	kinds := []string{"container", "header", "rich_text", "context", "actions", "button", "plain_text", "rich_text_section", "rich_text_preformatted", "text"}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if kind, ok := v["type"].(string); ok && !slices.Contains(kinds, kind) {
				w.t.Errorf("there is a %s", kind)
			}
			if v["type"] == "plain_text" && v["emoji"] != false {
				w.t.Errorf("emoji are read in %v", v)
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	for _, b := range blocks {
		walk(map[string]any(b))
	}
}

func TestRemindersAndNotices(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		if err := w.channel.Remind(w.t.Context(), a.Cards[0].Ref, card(a, slack.Name)); err != nil {
			w.t.Fatal(err)
		}
		all := w.thread(a)
		if len(all) != 1 || len(all[0].Buttons()) != 0 {
			w.t.Fatalf("the thread is %+v", all)
		}
		w.wants(all[0].Shown(), "Still waiting for you", "Runs make")
		denied := vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Reason: "no", Rule: &vaglio.GuardRule{ID: "rm-root", Why: "it is all", Instead: "less"}}
		n := approval.Notice{Agent: "coder", Rule: "rm-root", Count: 3, First: time.Now(), Last: time.Now(), Refusal: approval.Refuse(command("rm -rf /"), denied)}
		if err := w.channel.Notify(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
		last := w.server.Messages(home)[2]
		w.wants(last.Shown(), "rm -rf /", "rm-root", "3 such calls", "nobody can allow it")
		if len(last.Buttons()) != 0 || last.ThreadTS != "" {
			w.t.Errorf("the notice is %+v", last)
		}
	})
}
