package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// scene is a desk, and the pages on which to look at it.
type scene struct {
	name  string
	desk  *desk
	pages []string
}

// judgement is what a judge agent did, on the full desk.
const judgement = "j-1/../x"

// scenes returns everything that people can come across: what waits, of each kind and in each state,
// what ended, in each way, and every page with nothing, with much, and with hostile text on it.
func scenes(t *testing.T) []scene {
	t.Helper()
	filled := full()
	filled.open("longcall", proposal(script()))
	filled.look("byagent", "With it TestAdd fails: 2 + 3 is no longer 5.")
	endings, ended := endings(t)
	return []scene{
		{"full", filled, everyPage()},
		{"empty", newDesk(), []string{
			"/inbox", "/inbox/history",
			"/inbox/history?q=x", "/inbox/history?before=1", "/inbox/statistics", "/inbox/turn/nobody/t-0", "/inbox/passkeys", "/inbox/edit/none-1",
		}},
		{"everyday", everyday(t), []string{"/inbox", "/inbox?ask=push", "/inbox?ask=mail", "/inbox?ask=payment", "/inbox?ask=plan"}},
		{"asked", asked(t), []string{
			"/inbox", "/inbox?ask=talked", "/inbox?ask=handed", "/inbox?ask=grantable", "/inbox?ask=likeone",
			"/inbox?ask=voted", "/inbox?ask=sources", "/inbox?ask=masked",
			"/inbox/edit/grantable-1",
		}},
		{"passkey", needsPasskey(t), []string{"/inbox?ask=push", "/inbox/ask/push"}},
		{"digits", needsDigits(t), []string{"/inbox?ask=push", "/inbox?ask=plan"}},
		{"endings", endings, ended},
		{"braked", braked(t), []string{"/inbox", "/inbox?ask=push"}},
		{"long turn", longTurn(60), []string{"/inbox/turn/claude-code/t-long"}},
		{"a year", busy(4000, 365), []string{"/inbox/statistics?days=365"}},
		{"vetoes", vetoes(40), []string{"/inbox/digest"}},
		{"no vetoes", vetoes(0), []string{"/inbox/digest"}},
		{"wide", everywhere(hostile()["long_word"] + " " + hostile()["right_to_left"] + hostile()["bidi"]), []string{
			"/inbox", "/inbox?ask=waiting1", "/inbox/ask/answered", "/inbox/history",
		}},
	}
}

// judge opens an ask with calls as the effects judge answers them.
func (d *desk) judge(t *testing.T, id approval.AskID, ps ...vaglio.Proposal) *approval.Ask {
	t.Helper()
	j, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	d.open(id, ps...)
	a := &d.asks[len(d.asks)-1]
	for i := range a.Approvals {
		p := &a.Approvals[i]
		r, err := j.Grade(t.Context(), p.Proposal)
		if err != nil {
			t.Fatal(err)
		}
		r.MinScore = effects.Threshold
		p.Verdict = vaglio.Verdict{JudgeKind: r.Judge, Score: r.Score, BlockedBy: vaglio.PhaseJudge, Reason: r.Reasoning, Results: []vaglio.GradientResult{r}}
		p.Refusal = approval.Refuse(p.Proposal, p.Verdict)
		for n := range d.entries {
			if s := &d.entries[n].Step; s.Approval == p.ID {
				s.Verdict, s.Refusal = &p.Verdict, &p.Refusal
			}
		}
	}
	return a
}

// tool returns a call of a tool that is not a shell.
func tool(name, intent string, args vaglio.Args) vaglio.Proposal {
	p := proposal("")
	p.Executor, p.Intent, p.Args = name, intent, args
	return p
}

// wanted returns a shell call with an intent.
func wanted(command, intent string) vaglio.Proposal {
	p := proposal(command)
	p.Intent = intent
	return p
}

// everyday returns a desk as on a working day.
func everyday(t *testing.T) *desk {
	t.Helper()
	d := newDesk()
	d.judge(t, "push", wanted("git push --force origin main", "publish the fixed branch"))
	d.judge(t, "remove", wanted("rm -rf ../backups/2019", "free some space on the disk"))
	d.judge(t, "mail", tool("send_mail", "tell Ann about the new date", vaglio.Args{
		"to": "ann@example.com", "subject": "The date has moved", "body": strings.Repeat("We meet on Thursday at ten instead. ", 12),
	}))
	d.judge(t, "payment", tool("create_payment", "pay the invoice of October", vaglio.Args{
		"amount": 1250, "currency": "EUR", "iban": "IT60X0542811101000000123456", "name": "Studio Bianchi",
	}))
	d.judge(t, "table", wanted(`psql prod -c "DROP TABLE users"`, "clean up the test data"))
	d.judge(t, "cluster", wanted("kubectl delete deployment web --namespace prod", "restart the site"))
	d.judge(t, "plan", wanted("git tag -d v1.2", "take the broken release back"),
		wanted("git push origin :v1.2", "take the broken release back"), wanted("npm unpublish vaglio@1.2.0", "take the broken release back"))
	d.log(passed())
	d.log(guarded())
	return d
}

// asked returns a desk with asks that were discussed, escalated, or resemble others.
func asked(t *testing.T) *desk {
	t.Helper()
	now := time.Now()
	ann := approval.Person{ID: "web:owner", Name: "owner"}
	d := newDesk()
	a := d.judge(t, "talked", wanted("rm -rf ../backups/2019", "free some space on the disk"))
	a.Questions = []approval.Question{
		{
			By: ann, Channel: "web", At: now.Add(-9 * time.Minute), Words: "Is 2019 kept anywhere else?", Told: true,
			Answer: "Yes: on the tape of 2020-01-03, whose list I have read.", AnsweredAt: now.Add(-8 * time.Minute),
		},
		{By: ann, Channel: "web", At: now.Add(-time.Minute), Words: "Who says that the tape can be read?"},
	}
	a = d.judge(t, "handed", wanted("terraform apply -auto-approve", "bring the staging machines up"))
	a.Snoozed = &approval.Snoozed{Act: approval.Act{By: ann, Channel: "web", At: now}, Until: now.Add(10 * time.Minute)}
	a.Handed = []approval.Handed{{Act: approval.Act{By: ann, Channel: "web", At: now}, From: "ann", To: "bob"}}
	a = d.judge(t, "grantable", wanted("git push origin feature/login", "share the branch"))
	a.Approvals[0].Grantable, a.Approvals[0].Most = "k", 10
	a.Approvals[0].Again = &approval.Likeness{
		Approval: "x-1", At: now.Add(-2 * time.Minute),
		Differences: []approval.Difference{{Name: "branch", Was: "feature/menu", Now: "feature/login"}},
	}
	for _, c := range approval.GrantChoices() {
		a.Cards[0].Callbacks[token(a.Approvals[0].ID, a.ID, c)] = approval.Callback{Approval: a.Approvals[0].ID, Choice: c}
	}
	a = d.judge(t, "likeone", wanted("git push --force origin dev", "share the branch"))
	a.Approvals[0].Like = &approval.Likeness{
		Approval: "x-2", At: now.Add(-2 * time.Minute), Kind: approval.CallKind{System: "git", Verb: "push"},
		Differences: []approval.Difference{{Name: "branch", Was: "main", Now: "dev"}},
	}
	a.Cards[0].Callbacks[token(a.Approvals[0].ID, a.ID, approval.ChoiceDenyKind)] = approval.Callback{
		Approval: a.Approvals[0].ID, Choice: approval.ChoiceDenyKind,
	}
	a = d.judge(t, "voted", wanted("npm publish", "release 1.3"))
	a.Approvals[0].Votes = []approval.Vote{{By: approval.Person{ID: "telegram:4711", Name: "Ada"}, Channel: "telegram", At: now.Add(-time.Minute)}}
	a = d.judge(t, "sources", wanted("./deploy.sh", "roll the new version out"))
	for i := range 20 {
		a.Approvals[0].Verdict.Sources = append(a.Approvals[0].Verdict.Sources, vaglio.Source{
			Path:   fmt.Sprintf("/home/u/app/deploy/steps/%02d-of-the-roll-out.sh", i+1),
			SHA256: strings.Repeat(fmt.Sprintf("%02x", 17*(i+1)%256), 32), Lines: 12 + i, Bytes: 400 + i,
		})
		a.Approvals[0].Heads = append(a.Approvals[0].Heads, "#!/bin/sh\nset -e\nssh web"+fmt.Sprint(i)+" sudo systemctl restart app")
	}
	a.Approvals[0].Verdict.Sources[3].SHA256, a.Approvals[0].Verdict.Sources[3].Unread = "", "it is a pipe"
	a = d.judge(t, "masked", wanted(
		"curl -H 'Authorization: Bearer ghp_"+strings.Repeat("a1B2", 9)+"' https://api.example.com/deploy", "start the deployment",
	))
	a.Approvals[0].Obscured = []approval.Obscured{approval.ObscuredCommand}
	a = d.judge(t, "planning", wanted("rm -rf dist", "build anew"))
	a.Approvals[0].Proposal.Context.Mode = "plan"
	return d
}

// needsPasskey returns a desk where the worst calls can only be allowed with a passkey.
func needsPasskey(t *testing.T) *desk {
	t.Helper()
	d := everyday(t)
	voters := approval.Everybody()
	voters.Holder = web.Owner
	d.voters = &voters
	return d
}

// needsDigits returns a desk where allowing takes the digits shown on the other side.
func needsDigits(t *testing.T) *desk {
	t.Helper()
	d := everyday(t)
	routing := approval.Routing{Routes: []approval.Route{{Name: "matched", Approvers: []string{approval.Anyone}, Match: true}}}
	voters := routing.Electorate([]approval.Active{{Route: "matched"}}, "coder", func(id string) (string, bool) { return id, true })
	voters.Match = approval.Match{Channel: web.Name, Reader: web.Owner, Reached: true}
	d.voters = &voters
	for i := range d.asks {
		d.asks[i].Cards = append(d.asks[i].Cards, approval.Shown{Channel: "telegram"})
	}
	return d
}

// endings returns a desk where everything has ended, each in another way, and the asks' addresses.
func endings(t *testing.T) (d *desk, pages []string) {
	t.Helper()
	d = newDesk()
	now := time.Now()
	owner := approval.Person{ID: "web:owner", Name: "owner"}
	decide := func(c approval.Choice, words string) *approval.Decision {
		return &approval.Decision{Choice: c, By: owner, Channel: "web", At: now.Add(-2 * time.Minute), Words: words}
	}
	permit := &approval.Permit{IssuedAt: now.Add(-2 * time.Minute), LapsesAt: now.Add(8 * time.Minute), SpentAt: now.Add(-time.Minute)}
	for name, end := range map[string]func(*approval.Approval){
		"allowed": func(a *approval.Approval) {
			a.State, a.Decision = approval.Allowed, decide(approval.ChoiceAllow, "")
			a.Permit = &approval.Permit{IssuedAt: now, LapsesAt: now.Add(10 * time.Minute)}
		},
		"granted": func(a *approval.Approval) {
			a.State, a.Decision, a.Permit = approval.Spent, decide(approval.ChoiceAllow, ""), permit
			a.Grant = &approval.Grant{
				By: owner, Channel: "web", At: now, Until: now.Add(time.Hour), Key: "k", Most: 10, Uses: []approval.Use{{Ask: "x", At: now}},
			}
		},
		"denied": func(a *approval.Approval) {
			a.State, a.EndedAt = approval.Denied, now.Add(-2*time.Minute)
			a.Decision = decide(approval.ChoiceDeny, "Not before the changelog is written.\nAsk Ann who has it.")
			a.StandsUntil = now.Add(8 * time.Minute)
		},
		"lifted": func(a *approval.Approval) {
			a.State, a.Decision, a.EndedAt = approval.Denied, decide(approval.ChoiceDeny, ""), now.Add(-2*time.Minute)
			a.Lifted = &approval.Act{By: owner, Channel: "web", At: now}
		},
		"edited": func(a *approval.Approval) {
			a.State, a.Decision, a.EndedAt = approval.Denied, decide(approval.ChoiceDeny, "not main"), now.Add(-2*time.Minute)
			a.Edit = &approval.Edit{Changed: []approval.Difference{{Name: "command", Was: "git push --force origin main", Now: "git push origin dev"}}}
		},
		"expired":    func(a *approval.Approval) { a.State, a.EndedAt = approval.Expired, now },
		"withdrawn":  func(a *approval.Approval) { a.State, a.EndedAt = approval.Withdrawn, now },
		"superseded": func(a *approval.Approval) { a.State, a.EndedAt = approval.Superseded, now },
		"lapsed": func(a *approval.Approval) {
			a.State, a.Decision, a.Permit = approval.Lapsed, decide(approval.ChoiceAllow, ""), &approval.Permit{IssuedAt: now, LapsesAt: now}
		},
		"revoked": func(a *approval.Approval) {
			a.State, a.Decision, a.EndedAt = approval.Lapsed, decide(approval.ChoiceAllow, ""), now
			a.Permit = &approval.Permit{IssuedAt: now, LapsesAt: now, Revoked: &approval.Act{By: owner, Channel: "web", At: now}}
		},
		"succeeded": func(a *approval.Approval) {
			a.State, a.Decision, a.Permit = approval.Succeeded, decide(approval.ChoiceAllow, ""), permit
			a.Outcome = &approval.Outcome{Succeeded: true, Detail: "exit status 0", At: now}
		},
		"failed": func(a *approval.Approval) {
			a.State, a.Decision, a.Permit = approval.Failed, decide(approval.ChoiceAllow, ""), permit
			a.Outcome = &approval.Outcome{Detail: "exit status 1: ! [rejected] main -> main (fetch first)", At: now}
		},
		"notrun": func(a *approval.Approval) {
			a.State, a.Decision, a.Permit = approval.Failed, decide(approval.ChoiceAllow, ""), permit
			a.Outcome = &approval.Outcome{NotRun: true, Detail: "the client's own rules deny Bash(git push:*)", At: now}
		},
		"unknown": func(a *approval.Approval) {
			a.State, a.Decision, a.Permit, a.EndedAt = approval.Unknown, decide(approval.ChoiceAllow, ""), permit, now
		},
		"dropped": func(a *approval.Approval) {
			a.State, a.Decision, a.EndedAt, a.ValuesDropped = approval.Denied, decide(approval.ChoiceDeny, ""), now, now
		},
	} {
		a := d.judge(t, approval.AskID(name), wanted("git push --force origin main", "publish the fixed branch"))
		end(&a.Approvals[0])
		if name == "expired" {
			a.ExpiresAt = now // before that, it is the clock that was set back
		}
		pages = append(pages, "/inbox?ask="+name)
	}
	two := d.judge(t, "mixed", wanted("git tag -d v1.2", "take the release back"),
		wanted("git push origin :v1.2", "take the release back"), wanted("npm publish", "take the release back"))
	_, _ = d.Decide(context.Background(), approval.Tap{Token: token("mixed-1", "mixed", approval.ChoiceAllow), By: owner, Channel: "web"})
	_, _ = d.Decide(context.Background(), approval.Tap{
		Token: token("mixed-2", "mixed", approval.ChoiceDeny), By: owner, Channel: "web", Words: "Leave the remote alone.",
	})
	return d, append(pages, "/inbox?ask="+string(two.ID), "/inbox/history", "/inbox")
}

// braked returns a desk where all agents are stopped, one of them for good, and grants exist.
func braked(t *testing.T) *desk {
	t.Helper()
	d := everyday(t)
	now := time.Now()
	owner := approval.Person{ID: "web:owner", Name: "owner"}
	d.brakes = []approval.Brake{
		{Agent: approval.Everyone, By: owner, Channel: "web", At: now, Until: now.Add(time.Hour), All: true, Words: "I am on the train."},
		{Agent: "claude-code", By: owner, Channel: "telegram", At: now},
	}
	for i := range 3 {
		a := d.asks[i].Approvals[0]
		a.Grant = &approval.Grant{By: owner, Channel: "web", At: now, Until: now.Add(time.Hour), Key: "k", Most: 10, Uses: make([]approval.Use, i)}
		d.granted = append(d.granted, a)
	}
	return d
}

// longTurn returns a desk with one turn of that many steps.
func longTurn(steps int) *desk {
	d := newDesk()
	for n := range steps {
		s := passed()
		if n%7 == 3 {
			s = guarded()
		}
		s.Proposal.TurnID, s.Proposal.Step = "t-long", n+1
		s.Proposal.Args = vaglio.Args{"path": fmt.Sprintf("/home/u/app/src/part-%03d.go", n)}
		d.log(s)
	}
	return d
}

// vetoes returns a desk whose digest has that many refusals.
func vetoes(n int) *desk {
	d := newDesk()
	day, _ := d.Digest(context.Background(), "")
	day.Counts, day.Groups = report.Counts{Judged: 120 + n, Approved: 120}, nil
	for i := range n {
		f := report.VetoGroup{Effect: []string{"delete", "publish", "send", "overwrite"}[i%4], Count: 1}
		v := report.Veto{
			ID: approval.ID(fmt.Sprintf("ask%d-1", i)), At: day.Window.From.Add(time.Duration(i) * 20 * time.Minute), Agent: "claude-code",
			Wanted: fmt.Sprintf("git push --force origin release/%d", i), State: approval.Denied, By: "Ann",
		}
		at := -1
		for g := range day.Groups {
			if day.Groups[g].Effect == f.Effect {
				at = g
			}
		}
		if at < 0 {
			day.Groups, at = append(day.Groups, f), len(day.Groups)
		} else {
			day.Groups[at].Count++
		}
		day.Groups[at].Actions = append(day.Groups[at].Actions, v)
	}
	day.Counts.Fates, day.Counts.Vetoed = report.Fates{Denied: n}, n
	day.Week[6].Counts = day.Counts
	if n == 0 {
		day.Rules = nil
	}
	d.digest = &day
	return d
}
