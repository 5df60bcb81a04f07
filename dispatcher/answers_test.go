package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/about"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// newcomer is a registered agent that has not asked for anything yet.
const newcomer = "newcomer"

// understanding runs a dispatcher that knows what calls are about, as the shipped one does.
func understanding(t *testing.T, store *storetest.Memory, channel *fakeChannel, others ...dispatcher.Channel) *gate {
	t.Helper()
	return understandingRouted(t, store, channel, approval.Routing{}, others...)
}

// releases says of a call with the word release that it publishes.
func releases(p vaglio.Proposal) (kinds, reaches []string) {
	if line, ok := p.Args["command"].(string); ok && strings.Contains(line, "release") {
		return []string{"publish"}, nil
	}
	return nil, nil
}

// understandingRouted is understanding with routes.
func understandingRouted(t *testing.T, store *storetest.Memory, channel *fakeChannel, routing approval.Routing, others ...dispatcher.Channel) *gate {
	t.Helper()
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	namer, err := about.New(judge, "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	files := disk{}
	engine := newEngine(t, judge, files)
	g := running(t, dispatcher.Config{
		Store: store, Channels: append([]dispatcher.Channel{channel}, others...), Engine: engine,
		Deciders: dispatcher.Deciders{Routing: routing, Known: func(agent string) bool { return agent == newcomer }},
		Effects: dispatcher.Effects{Traits: releases, Name: namer.Key, About: func(p vaglio.Proposal) approval.About {
			p.Context.Reading = engine.Read(p)
			a := namer.Of(p)
			a.Obscured = namer.Obscured(p, nil)
			return a
		}},
	})
	g.channel, g.files = channel, files
	return g
}

// inUnderstanding runs a test in a bubble with such a gate.
func inUnderstanding(t *testing.T, test func(t *testing.T, g *gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		g := understanding(t, store, newFakeChannel())
		test(t, g)
		g.end()
		storetest.Asks(t, store)
	})
}

// press answers the card of an approval with a choice.
func (g *gate) press(t *testing.T, id approval.ID, c approval.Choice) (approval.Receipt, error) {
	t.Helper()
	return g.Decide(t.Context(), approval.Tap{Ask: id.Ask(), Approval: id, Choice: c, By: owner, Channel: "fake"})
}

func (g *gate) order(t *testing.T, o approval.Order) (approval.Done, error) {
	t.Helper()
	o.By, o.Channel = owner, "fake"
	return g.Order(t.Context(), o)
}

func push(ref string) vaglio.Proposal { return shell("git push origin " + ref) }

func TestADenialAnswersWhatWouldDoTheSame(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		if a.Decision != approval.RulingPending {
			t.Fatalf("got %+v", a)
		}
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "not on a Friday")
		same := g.propose(t, shell("git push origin HEAD:main"), 0)
		text := same.Refusal.Text()
		if same.Decision != approval.RulingDeny || same.Approval.ID != a.Approval.ID || !strings.Contains(same.Refusal.Wanted, "HEAD:main") {
			t.Fatalf("the same thing: %+v", same)
		}
		for _, want := range []string{"Wanted: shell_exec {\"command\":\"git push origin HEAD:main\"}", "denied the same thing at 00:00 UTC", "git push origin main", "not on a Friday", "until 00:10 UTC"} {
			if !strings.Contains(text, want) {
				t.Errorf("the refusal lacks %q:\n%s", want, text)
			}
		}
		near := g.propose(t, push("dev"), 0)
		if near.Decision != approval.RulingPending {
			t.Fatalf("another branch: %+v", near)
		}
		synctest.Wait()
		like := g.channel.card(near.Approval.ID.Ask()).Items[0].Like
		if like == nil || like.Approval != a.Approval.ID || len(like.Differences) != 1 || like.Differences[0] != (approval.Difference{Name: "ref", Was: "main", Now: "dev"}) {
			t.Errorf("the card says that it is like %+v", like)
		}
		if _, err := g.Order(t.Context(), approval.Order{Verb: approval.VerbLift, ID: string(a.Approval.ID), By: approval.Person{ID: "fake:stranger"}}); !errors.Is(err, approval.ErrNotApprover) {
			t.Errorf("a stranger lifts: %v", err)
		}
		if _, err := g.order(t, approval.Order{Verb: approval.VerbLift, ID: string(a.Approval.ID)}); err != nil {
			t.Fatal(err)
		}
		if again := g.propose(t, push("main"), 0); again.Decision != approval.RulingPending {
			t.Errorf("after it was lifted: %+v", again)
		}
		if _, err := g.order(t, approval.Order{Verb: approval.VerbLift, ID: string(a.Approval.ID)}); err == nil {
			t.Error("lifted twice")
		}
	})
}

func TestAGrantCoversEqualCallsUntilItEnds(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		synctest.Wait()
		// It belongs to no turn, so no grant for a turn can be given.
		if n := len(g.channel.card(a.Approval.ID.Ask()).Items[0].Grants); n != 2 {
			t.Fatalf("the card offers %d grants", n)
		}
		if _, err := g.press(t, a.Approval.ID, approval.ChoiceTurn); !errors.Is(err, approval.ErrNoGrant) {
			t.Fatalf("a grant for no turn: %v", err)
		}
		if r, err := g.press(t, a.Approval.ID, approval.ChoiceHour); err != nil || !r.Won {
			t.Fatalf("granting: %+v %v", r, err)
		}
		redeem := func(id approval.ID, permit string, p vaglio.Proposal) {
			t.Helper()
			if err := g.Redeem(t.Context(), agent, permit, p); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		first, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil || first.Permit == nil {
			t.Fatalf("the first: %+v %v", first, err)
		}
		redeem(a.Approval.ID, first.Permit.Permit, push("main"))
		seen := map[approval.ID]bool{a.Approval.ID: true}
		for i := range approval.DefaultUses - 1 {
			if i == 4 { // The grant survives a restart.
				g.end()
				g = understanding(t, g.store, g.channel)
				synctest.Wait()
			}
			b := g.propose(t, push("main"), 0)
			if b.Decision != approval.RulingAllow || b.Permit == nil || seen[b.Approval.ID] {
				t.Fatalf("use %d: %+v", i+2, b)
			}
			seen[b.Approval.ID] = true
			redeem(b.Approval.ID, b.Permit.Permit, push("main"))
			if err := g.Redeem(t.Context(), agent, b.Permit.Permit, push("main")); !errors.Is(err, dispatcher.ErrSpent) {
				t.Errorf("spent twice: %v", err)
			}
		}
		synctest.Wait()
		if grant := g.channel.card(a.Approval.ID.Ask()).Items[0].Grant; grant == nil || grant.Used() != approval.DefaultUses {
			t.Errorf("the card counts %+v", grant)
		}
		if b := g.propose(t, push("main"), 0); b.Decision != approval.RulingPending {
			t.Errorf("after the last use: %+v", b)
		}
	})
}

// TestOnlyAGrantEnds orders the end of a call that was allowed once.
func TestOnlyAGrantEnds(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		_, err := g.order(t, approval.Order{Verb: approval.VerbEnd, ID: string(a.Approval.ID)})
		if bad, ok := errors.AsType[*approval.OrderError](err); !ok || bad.Key != approval.OrderNothing {
			t.Errorf("got %v", err)
		}
	})
}

func TestWhatEndsAGrant(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *gate, approval.ID){
		"a tap": func(t *testing.T, g *gate, id approval.ID) {
			if d, err := g.order(t, approval.Order{Verb: approval.VerbEnd, ID: string(id)}); err != nil || d.Ended != 1 {
				t.Errorf("%+v %v", d, err)
			}
		},
		"its time": func(*testing.T, *gate, approval.ID) { time.Sleep(time.Hour) },
		"a denial of what is like it": func(t *testing.T, g *gate, _ approval.ID) {
			b := g.propose(t, push("develop"), 0)
			g.decide(t, b.Approval.ID, approval.ChoiceDeny, "")
		},
		"the brake": func(t *testing.T, g *gate, _ approval.ID) {
			if d, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: agent}); err != nil || d.Ended != 1 {
				t.Errorf("%+v %v", d, err)
			}
			if _, err := g.order(t, approval.Order{Verb: approval.VerbGo, Agent: agent}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				a := g.propose(t, push("main"), 0)
				if _, err := g.press(t, a.Approval.ID, approval.ChoiceHour); err != nil {
					t.Fatal(err)
				}
				first, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
				if err != nil {
					t.Fatal(err)
				}
				if err := g.Redeem(t.Context(), agent, first.Permit.Permit, push("main")); err != nil {
					t.Fatal(err)
				}
				if b := g.propose(t, push("main"), 0); b.Decision != approval.RulingAllow {
					t.Fatalf("before: %+v", b)
				} else if err := g.Redeem(t.Context(), agent, b.Permit.Permit, push("main")); err != nil {
					t.Fatal(err)
				}
				end(t, g, a.Approval.ID)
				if b := g.propose(t, push("main"), 0); b.Decision == approval.RulingAllow {
					t.Errorf("afterwards: %+v", b)
				}
				if live, err := g.Granted(t.Context(), ""); err != nil || len(live) != 0 {
					t.Errorf("still live: %+v %v", live, err)
				}
			})
		})
	}
}

// TestNeighboursOfAGrantAreAsked varies what a grant is bound to, in one respect at a time
// and in two.
func TestNeighboursOfAGrantAreAsked(t *testing.T) {
	race.Alone(t)
	inUnderstanding(t, func(t *testing.T, g *gate) {
		base := push("main")
		base.TurnID = "t-1"
		a := g.propose(t, base, 0)
		if _, err := g.press(t, a.Approval.ID, approval.ChoiceTurn); err != nil {
			t.Fatal(err)
		}
		first, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Redeem(t.Context(), agent, first.Permit.Permit, base); err != nil {
			t.Fatal(err)
		}
		n, slipped := 0, 0
		try := func(name, who string, p vaglio.Proposal) {
			n++
			b, err := g.Propose(t.Context(), who, dispatcher.Request{Proposal: p})
			if err != nil {
				return // It is rejected as malformed.
			}
			if b.Approval != nil && b.Decision == approval.RulingAllow {
				slipped++
				t.Errorf("%s slipped in: %v", name, p.Args)
			}
		}
		refs := strings.Fields("master develop production release/1 staging main:master main:production +main :main HEAD:develop refs/tags/v1 v1.2.3 main~1:main dev:main")
		flags := strings.Fields("--force -f --force-with-lease --no-verify --delete -d --tags --all --mirror --prune --follow-tags --atomic --push-option=x --signed --recurse-submodules=on-demand")
		remotes := strings.Fields("upstream prod heroku backup https://x.example/r.git git@x.example:r.git ../other")
		around := []string{
			"GIT_SSH_COMMAND=x %s", "GIT_DIR=/tmp/x %s", "%s; git push origin develop", "%s && npm publish", "sudo %s", "ssh box %s", "docker exec c %s",
			"git -C /tmp/x push origin main", "git --git-dir=/tmp/x/.git push origin main", "git -c core.sshCommand=x push origin main",
			"cd /tmp && %s", "%s > /tmp/log", "env HOME=/tmp %s", "bash -c '%s'", "%s < /etc/hosts", "echo main | xargs git push origin",
		}
		for _, ref := range refs {
			for _, flag := range append([]string{""}, flags[:6]...) {
				p := base
				p.Args = vaglio.Args{"command": strings.Join(strings.Fields("git push "+flag+" origin "+ref), " ")}
				try("ref "+ref, agent, p)
			}
		}
		for _, flag := range flags {
			for _, ref := range []string{"main", "HEAD:main"} {
				p := base
				p.Args = vaglio.Args{"command": "git push " + flag + " origin " + ref}
				try("flag "+flag, agent, p)
			}
		}
		for _, remote := range remotes {
			for _, ref := range []string{"main", "master", "develop"} {
				p := base
				p.Args = vaglio.Args{"command": "git push " + remote + " " + ref}
				try("remote "+remote, agent, p)
			}
		}
		for _, line := range around {
			p := base
			command := line
			if strings.Contains(line, "%s") {
				command = fmt.Sprintf(line, "git push origin main")
			}
			p.Args = vaglio.Args{"command": command}
			try(line, agent, p)
		}
		for _, change := range []struct {
			name string
			of   func(*vaglio.Proposal)
		}{
			{"folder", func(p *vaglio.Proposal) { p.Context.Cwd = "/home/u/other" }},
			{"subfolder", func(p *vaglio.Proposal) { p.Context.Cwd = "/home/u/app/sub" }},
			{"mount", func(p *vaglio.Proposal) { p.Context.Mounts = []string{"/srv"} }},
			{"turn", func(p *vaglio.Proposal) { p.TurnID = "t-2" }},
			{"no turn", func(p *vaglio.Proposal) { p.TurnID = "" }},
			{"argument", func(p *vaglio.Proposal) { p.Args = vaglio.Args{"command": "git push origin main", "env": "X=1"} }},
		} {
			for _, who := range []string{agent, "other", "another"} {
				p := base
				change.of(&p)
				if change.name == "argument" && who == agent {
					continue // An argument that a shell executor does not take does not change a git push.
				}
				try(change.name+" of "+who, who, p)
			}
		}
		for i := range 20 {
			try("agent", fmt.Sprintf("agent-%d", i), base)
		}
		time.Sleep(approval.MaxGrant)
		for _, ref := range []string{"main", "HEAD:main", "main:main", "refs/heads/main"} {
			p := base
			p.Args = vaglio.Args{"command": "git push origin " + ref}
			try("after the end", agent, p)
		}
		t.Logf("%d neighbours, %d slipped in", n, slipped)
		if n < 200 {
			t.Errorf("only %d neighbours were tried", n)
		}
	})
}

func TestABrakeDeniesUntilItIsLetGo(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		for what, o := range map[string]approval.Order{
			"an unknown agent": {Verb: approval.VerbStop, Agent: "nobody"},
			"a time too long":  {Verb: approval.VerbStop, Agent: agent, For: approval.MaxBrake + 1},
			"a negative time":  {Verb: approval.VerbStop, For: -1},
			"one that runs":    {Verb: approval.VerbGo, Agent: agent},
		} {
			if _, err := g.order(t, o); err == nil {
				t.Errorf("%s: it was done", what)
			}
		}
		if b, err := g.Await(t.Context(), agent, a.Approval.ID, 0); err != nil || b.Decision != approval.RulingPending {
			t.Fatalf("a bad order changed something: %+v %v", b, err)
		}
		done, err := g.order(t, approval.Order{Verb: approval.VerbStop, Words: "I am on the bus"})
		if err != nil || done.Denied != 1 || len(done.Brakes) != 1 {
			t.Fatalf("stop: %+v %v", done, err)
		}
		stopped := func(p vaglio.Proposal) {
			t.Helper()
			b := g.propose(t, p, time.Minute)
			if b.Decision != approval.RulingDeny || b.Refusal.Words != "I am on the bus" || !strings.Contains(b.Refusal.Text(), "A person stopped the agent") {
				t.Errorf("while stopped: %+v", b)
			}
		}
		stopped(push("main"))
		stopped(push("master"))
		if b := g.propose(t, shell("ls"), 0); b.Decision != approval.RulingAllow {
			t.Errorf("what needs nobody: %+v", b)
		}
		g.end()
		g = understanding(t, g.store, g.channel)
		synctest.Wait()
		stopped(push("develop"))
		if _, err := g.order(t, approval.Order{Verb: approval.VerbGo}); err != nil {
			t.Fatal(err)
		}
		if b := g.propose(t, push("main"), 0); b.Decision != approval.RulingPending {
			t.Errorf("after it was let go: %+v", b)
		}
	})
}

// TestAnAgentIsStoppedBeforeItAsks applies the brake to an agent of which only the name is
// known.
func TestAnAgentIsStoppedBeforeItAsks(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: newcomer}); err != nil {
			t.Fatal(err)
		}
		answer, err := g.Propose(t.Context(), newcomer, dispatcher.Request{Proposal: push("main")})
		if err != nil || answer.Decision != approval.RulingDeny || !strings.Contains(answer.Refusal.Text(), "A person stopped the agent") {
			t.Errorf("what it asks first: %+v %v", answer, err)
		}
		if b := g.propose(t, push("main"), 0); b.Decision != approval.RulingPending {
			t.Errorf("another agent: %+v", b)
		}
	})
}

// permitted returns the answer to a push that a person allowed, with its permit.
func permitted(t *testing.T, g *gate) approval.Answer {
	t.Helper()
	a := g.propose(t, push("main"), 0)
	g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
	b, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
	if err != nil || b.Permit == nil {
		t.Fatalf("%+v %v", b, err)
	}
	return b
}

func TestABrakeForAllStopsWhatTheJudgesApprove(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		b := permitted(t, g)
		done, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: agent, All: true, For: time.Hour})
		if err != nil || done.Revoked != 1 {
			t.Fatalf("stop: %+v %v", done, err)
		}
		if err := g.Redeem(t.Context(), agent, b.Permit.Permit, push("main")); err == nil {
			t.Error("a permit that was taken back was spent")
		}
		if c := g.propose(t, shell("ls"), 0); c.Decision != approval.RulingDeny || c.Refusal == nil {
			t.Errorf("what needs nobody: %+v", c)
		}
		if c, err := g.Propose(t.Context(), "other", dispatcher.Request{Proposal: shell("ls")}); err != nil || c.Decision != approval.RulingAllow {
			t.Errorf("another agent: %+v %v", c, err)
		}
		time.Sleep(time.Hour)
		if c := g.propose(t, shell("ls"), 0); c.Decision != approval.RulingAllow {
			t.Errorf("when its time is over: %+v", c)
		}
	})
}

// TestABrakeLeavesWhatWasAllowed pulls a brake, for as long as one may be, that is not for all: what
// a person allowed before can still run, and its ask is not written again.
func TestABrakeLeavesWhatWasAllowed(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		b := permitted(t, g)
		version := func() uint64 {
			r, err := g.store.Get(t.Context(), approval.KindAsk, string(b.Approval.ID.Ask()))
			if err != nil {
				t.Fatal(err)
			}
			return r.Seq
		}
		synctest.Wait()
		before := version()
		if done, err := g.order(t, approval.Order{Verb: approval.VerbStop, For: approval.MaxBrake}); err != nil || done.Denied+done.Revoked != 0 {
			t.Fatalf("stop: %+v %v", done, err)
		}
		if version() != before {
			t.Error("the ask was written again")
		}
		if err := g.Redeem(t.Context(), agent, b.Permit.Permit, push("main")); err != nil {
			t.Errorf("the permit: %v", err)
		}
	})
}

// TestAnInterruptedStopIsFinished leaves what a crash behind the brake's record leaves: the grant
// that the stop was to end does not come back with go.
func TestAnInterruptedStopIsFinished(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		if r, err := g.press(t, a.Approval.ID, approval.ChoiceHour); err != nil || !r.Won {
			t.Fatalf("granting: %+v %v", r, err)
		}
		first, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil || first.Permit == nil {
			t.Fatalf("the first: %+v %v", first, err)
		}
		if err := g.Redeem(t.Context(), agent, first.Permit.Permit, push("main")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		g.end()
		body, err := approval.EncodeBrake(approval.Brake{Agent: agent, By: approval.Person{ID: "u1"}, Channel: "c", At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.store.Update(t.Context(), approval.KindBrake, agent, func(r approval.Record) (approval.Record, error) {
			r.Body = body
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		g = understanding(t, g.store, g.channel)
		synctest.Wait()
		if _, err := g.order(t, approval.Order{Verb: approval.VerbGo}); err != nil {
			t.Fatal(err)
		}
		if b := g.propose(t, push("main"), 0); b.Permit != nil {
			t.Errorf("the grant came back: %+v", b)
		}
		g.end()
	})
}

// TestABrakeIsToldEverywhere checks that a brake is announced once on every channel with
// notices, also after an outage and a restart.
func TestABrakeIsToldEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat := storetest.NewMemory(), &told{}
		g := understanding(t, store, newFakeChannel(), chat)
		chat.fail(errors.New("no network"))
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, Words: "wait"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		g.end()
		chat.fail(nil)
		g = understanding(t, store, newFakeChannel(), chat)
		time.Sleep(time.Minute)
		g.end()
		g = understanding(t, store, newFakeChannel(), chat)
		time.Sleep(time.Minute)
		if all := chat.notices(); len(all) != 1 || all[0].Brake == nil || all[0].Brake.Released != nil || all[0].Brake.Words != "wait" {
			t.Errorf("people were told %+v", all)
		}
		if _, err := g.order(t, approval.Order{Verb: approval.VerbGo}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if all := chat.notices(); len(all) != 2 || all[1].Brake == nil || all[1].Brake.Released == nil {
			t.Errorf("people were told %+v", all)
		}
		g.end()
	})
}

// told is a channel that keeps the notices it gets.
type told struct {
	mu   sync.Mutex
	all  []approval.Notice
	with error
}

func (c *told) Name() string { return "told" }

func (c *told) Post(context.Context, approval.Card) (string, error) { return "ref", nil }

func (c *told) Amend(context.Context, string, approval.Card) error { return nil }

func (c *told) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.with = err
}

func (c *told) Notify(_ context.Context, n approval.Notice) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.with == nil {
		c.all = append(c.all, n)
	}
	return c.with
}

func (c *told) notices() []approval.Notice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

func TestARevokedPermitIsVoid(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		b, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := g.order(t, approval.Order{Verb: approval.VerbRevoke, ID: string(a.Approval.ID.Ask())}); err != nil || d.Revoked != 1 || d.Ended != 0 {
			t.Fatalf("%+v %v", d, err)
		}
		if err := g.Redeem(t.Context(), agent, b.Permit.Permit, push("main")); !errors.Is(err, dispatcher.ErrLapsed) {
			t.Errorf("redeemed: %v", err)
		}
		c, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil || !strings.Contains(c.Refusal.Text(), "took the permit back") {
			t.Errorf("the agent is told %+v %v", c.Refusal, err)
		}
		if _, err := g.order(t, approval.Order{Verb: approval.VerbRevoke, ID: string(a.Approval.ID)}); err == nil {
			t.Error("taken back twice")
		}
	})
	inUnderstanding(t, func(t *testing.T, g *gate) { // of several calls that share an ask, the one that has a permit
		as, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{{Proposal: push("main")}, {Proposal: push("next")}})
		if err != nil {
			t.Fatal(err)
		}
		id := as[1].Approval.ID
		g.decide(t, as[0].Approval.ID, approval.ChoiceDeny, "")
		g.decide(t, id, approval.ChoiceAllow, "")
		if d, err := g.order(t, approval.Order{Verb: approval.VerbRevoke, ID: string(id.Ask())}); err != nil || d.Revoked != 1 || d.Approval == nil || d.Approval.ID != id {
			t.Errorf("%+v %v", d, err)
		}
	})
}

// TestTheDigestAddsUpWithGrantsAndBrakes checks that every act has its place in the digest
// and that its buckets add up: calls that a grant allowed or a brake denied count with
// people's answers.
func TestTheDigestAddsUpWithGrantsAndBrakes(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		a := g.propose(t, push("main"), 0)
		if _, err := g.press(t, a.Approval.ID, approval.ChoiceHour); err != nil {
			t.Fatal(err)
		}
		first, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Redeem(t.Context(), agent, first.Permit.Permit, push("main")); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			b := g.propose(t, push("main"), 0)
			if b.Permit == nil {
				t.Fatalf("the grant does not cover it: %+v", b)
			}
			if err := g.Redeem(t.Context(), agent, b.Permit.Permit, push("main")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []string{"develop", "master"} {
			g.propose(t, push(ref), 0)
			time.Sleep(time.Second)
		}
		g.propose(t, shell("ls"), 0)
		time.Sleep(24 * time.Hour)
		day, err := g.Digest(t.Context(), lastDay(t, g.Dispatcher))
		if err != nil {
			t.Fatal(err)
		}
		c := day.Counts
		if c.Judged != 7 || c.Judged != c.Approved+c.Guard+c.Vetoed || c.Approved != 1 || c.Vetoed != 6 || c.Fates.Sum() != c.Vetoed {
			t.Errorf("the digest counts %+v", c)
		}
		if c.Fates.Denied != 2 {
			t.Errorf("two calls were denied by the brake: %+v", c.Fates)
		}
	})
}
