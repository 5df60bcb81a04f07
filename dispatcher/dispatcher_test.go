package dispatcher_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/filetest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

const agent = "local"

var owner = approval.Person{ID: "web:owner", Name: "owner"}

// strict is a judge that denies every executor but one, and counts its calls.
type strict struct {
	mu    sync.Mutex
	calls int
}

func (s *strict) Kind() string { return "strict" }

func (s *strict) Grade(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	r := vaglio.GradientResult{Judge: "strict", Score: 0.2, Confidence: 1, Reasoning: "everything is asked"}
	if p.Executor == "fs_read" {
		r.Score, r.Reasoning = 0.9, "reading is fine"
	}
	return r, nil
}

// fakeChannel keeps what it shows, and fails on request.
type fakeChannel struct {
	mu     sync.Mutex
	posts  int
	amends int
	shows  map[string]approval.Card
	fail   func(call int) error
	calls  int
}

func newFakeChannel() *fakeChannel { return &fakeChannel{shows: make(map[string]approval.Card)} }

// failing makes deliveries fail as f decides; f is given the number of the attempt.
func (c *fakeChannel) failing(f func(call int) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = f
}

// tries returns the number of attempted deliveries and of posted cards.
func (c *fakeChannel) tries() (calls, posts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, c.posts
}

func (c *fakeChannel) Name() string { return "fake" }

func (c *fakeChannel) Post(_ context.Context, card approval.Card) (string, error) {
	ref := "m-" + string(card.Ask)
	return ref, c.show(ref, card, &c.posts)
}

func (c *fakeChannel) Amend(_ context.Context, ref string, card approval.Card) error {
	return c.show(ref, card, &c.amends)
}

func (c *fakeChannel) show(ref string, card approval.Card, n *int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.fail != nil {
		if err := c.fail(c.calls); err != nil {
			return err
		}
	}
	*n++
	c.shows[ref] = card
	return nil
}

func (c *fakeChannel) card(id approval.AskID) approval.Card {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shows["m-"+string(id)]
}

// gate is a dispatcher at work over a store that outlives it.
type gate struct {
	*dispatcher.Dispatcher
	store   *storetest.Memory
	channel *fakeChannel
	files   disk
	end     func()
}

// Await is the dispatcher's Await, but returns a value.
func (g *gate) Await(ctx context.Context, agent string, id approval.ID, wait time.Duration) (approval.Answer, error) {
	a, err := g.Dispatcher.Await(ctx, agent, id, wait)
	if err != nil {
		return approval.Answer{}, err
	}
	return *a, nil
}

// disk holds the files in the agent's directory by their paths.
type disk map[string]string

func (d disk) Read(_ []string, name string, _ int) ([]byte, error) {
	if text, ok := d[name]; ok {
		return []byte(text), nil
	}
	return nil, vaglio.ErrAbsent
}

// Look treats a name with a trailing slash as a directory, whose text is its real path.
func (d disk) Look(name string) (string, vaglio.FileKind) {
	if _, ok := d[name]; ok {
		return name, vaglio.RegularFile
	}
	if at, ok := d[name+"/"]; ok {
		return at, vaglio.Folder
	}
	for file := range d {
		if strings.HasPrefix(file, name+"/") {
			return name, vaglio.Folder
		}
	}
	return name, vaglio.NoFile
}

func (d disk) List(folder string, most int) ([]vaglio.Entry, bool) {
	return filetest.List(d, folder, most)
}

func newEngine(t testing.TB, judge vaglio.Judge, files disk) *vaglio.Engine {
	t.Helper()
	engine, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge, MinScore: 0.5}},
		Kind:   judge.Kind(),
		Home:   "/home/u",
		Files:  files,
	})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// start runs a dispatcher in the test's bubble.
func start(t *testing.T, store *storetest.Memory, channel *fakeChannel) *gate {
	t.Helper()
	files := disk{}
	g := running(t, dispatcher.Config{
		Store:    store,
		Channels: []dispatcher.Channel{channel},
		Engine:   newEngine(t, &strict{}, files),
		Deciders: dispatcher.Deciders{MayDecide: func(id string) bool { return id == "fake:paired" }},
		Effects:  dispatcher.Effects{Name: effect},
	})
	g.channel, g.files = channel, files
	return g
}

// running runs a dispatcher until the test ends or the gate is ended. What is not
// configured defaults to what most tests need: a store in memory, a judge that asks about
// everything, and the owner who answers.
func running(t testing.TB, c dispatcher.Config) *gate { //nolint:gocritic // As New takes it.
	t.Helper()
	c.Secret = approval.Secret{1}
	if c.Store == nil {
		c.Store = storetest.NewMemory()
	}
	if c.Engine == nil {
		c.Engine = newEngine(t, &strict{}, nil)
	}
	if c.Deciders.Approvers == nil {
		c.Deciders.Approvers = []string{owner.ID}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	d := dispatcher.New(c)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := d.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	g := &gate{Dispatcher: d, end: sync.OnceFunc(func() { cancel(); wg.Wait() })}
	g.store, _ = c.Store.(*storetest.Memory)
	t.Cleanup(g.end)
	return g
}

// in runs a test in a bubble with a new gate, and at its end checks every invariant of the
// store.
func in(t *testing.T, test func(t *testing.T, g *gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		g := start(t, store, newFakeChannel())
		test(t, g)
		g.end()
		storetest.Asks(t, store)
	})
}

// effect treats calls that differ only in blanks as the same.
func effect(p vaglio.Proposal) (string, bool) {
	command, ok := p.Args["command"].(string)
	return strings.Join(strings.Fields(command), " "), ok
}

func shell(command string) vaglio.Proposal {
	return vaglio.Proposal{
		Executor: "shell_exec", Args: vaglio.Args{"command": command}, Intent: "clean up",
		Context: vaglio.Context{Cwd: "/home/u/app"},
	}
}

func (g *gate) propose(t *testing.T, p vaglio.Proposal, wait time.Duration) approval.Answer {
	t.Helper()
	a, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: p, Wait: wait})
	if err != nil {
		t.Fatalf("Propose: %v", err)
	}
	return a
}

func (g *gate) decide(t *testing.T, id approval.ID, c approval.Choice, words string) approval.Receipt {
	t.Helper()
	r, err := g.Decide(t.Context(), approval.Tap{
		Ask: id.Ask(), Approval: id, Choice: c, By: owner, Channel: "fake", Words: words,
	})
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	return r
}

func TestAllowReachesTheWaitingTurn(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		got := make(chan approval.Answer, 1)
		go func() { got <- g.propose(t, shell("make clean"), time.Hour) }()
		synctest.Wait()
		card := g.onlyCard(t)
		tok := token(t, card, approval.ChoiceAllow)
		r, err := g.Decide(t.Context(), approval.Tap{Token: tok, By: owner, Channel: "fake"})
		if err != nil || !r.Won {
			t.Fatalf("Decide: won %v, %v", r.Won, err)
		}
		a := <-got
		if a.Decision != approval.RulingAllow || a.Permit == nil || a.Approval.State != approval.Allowed {
			t.Fatalf("waiting turn got %+v", a)
		}
		synctest.Wait()
		if c := g.channel.card(card.Ask); len(c.Buttons) != 0 || len(c.Items[0].Buttons) != 0 || c.Items[0].State != approval.Allowed {
			t.Errorf("the card did not follow the decision: %+v", c)
		}
		redeem(t, g, a.Permit.Permit, shell("make clean"), nil)
		redeem(t, g, a.Permit.Permit, shell("make clean"), dispatcher.ErrSpent)
		if err := g.Report(t.Context(), agent, a.Approval.ID, approval.Outcome{Succeeded: true}); err != nil {
			t.Errorf("Report: %v", err)
		}
		synctest.Wait()
		if c := g.channel.card(card.Ask); c.Items[0].State != approval.Succeeded {
			t.Errorf("the card shows %s after the report", c.Items[0].State)
		}
	})
}

func redeem(t *testing.T, g *gate, permit string, p vaglio.Proposal, want error) {
	t.Helper()
	if err := g.Redeem(t.Context(), agent, permit, p); !errors.Is(err, want) {
		t.Errorf("Redeem: got %v, want %v", err, want)
	}
}

// onlyCard returns the one card that waits.
func (g *gate) onlyCard(t *testing.T) approval.Card {
	t.Helper()
	var cards []approval.Card
	for c, err := range g.Pending(t.Context(), "fake") {
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, c)
	}
	if len(cards) != 1 {
		t.Fatalf("%d cards wait, want 1", len(cards))
	}
	return cards[0]
}

func token(t *testing.T, c approval.Card, choice approval.Choice) approval.Token {
	t.Helper()
	for _, b := range append(c.Items[0].Buttons, c.Buttons...) {
		if b.Choice == choice {
			return b.Token
		}
	}
	t.Fatalf("no button %s on %+v", choice, c)
	return ""
}

func TestDenyCarriesTheWords(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		got := make(chan approval.Answer, 1)
		go func() { got <- g.propose(t, shell("make clean"), time.Hour) }()
		synctest.Wait()
		g.decide(t, g.onlyCard(t).Items[0].Approval, approval.ChoiceDeny, "use make tidy")
		a := <-got
		if a.Decision != approval.RulingDeny || a.Permit != nil || a.Refusal == nil || a.Refusal.Words != "use make tidy" {
			t.Errorf("got %+v", a)
		}
	})
}

func TestNobodyAnswersIsExpiredNotDenied(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		began := time.Now()
		a := g.propose(t, shell("make clean"), 2*time.Hour)
		if a.Decision != approval.RulingDeny || a.Approval.State != approval.Expired {
			t.Fatalf("got %+v", a)
		}
		if waited := time.Since(began); waited != dispatcher.DefaultAskFor {
			t.Errorf("waited %v", waited)
		}
		r := g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		if r.Won || r.Ask.Approvals[0].State != approval.Expired {
			t.Errorf("a late tap got %+v", r)
		}
	})
}

func TestWaitEndsPendingAndComesBackByID(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), time.Minute)
		if a.Decision != approval.RulingPending {
			t.Fatalf("got %+v", a)
		}
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		b, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil || b.Decision != approval.RulingAllow {
			t.Errorf("Await: %+v, %v", b, err)
		}
		if _, err := g.Await(t.Context(), "somebody", a.Approval.ID, 0); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("another agent's Await: %v", err)
		}
	})
}

func TestEqualAsksJoinAndADenialStands(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		b := g.propose(t, shell("make clean"), 0)
		if a.Approval.ID != b.Approval.ID {
			t.Fatalf("asked twice: %s and %s", a.Approval.ID, b.Approval.ID)
		}
		other := shell("make clean")
		other.Context.Cwd = "/home/u/other"
		if c := g.propose(t, other, 0); c.Approval.ID == a.Approval.ID {
			t.Error("another workspace joined")
		}
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "no")
		if c := g.propose(t, shell("make clean"), time.Hour); c.Decision != approval.RulingDeny || c.Refusal.Words != "no" {
			t.Errorf("right after the denial: %+v", c)
		}
		time.Sleep(dispatcher.DefaultDenialStands)
		if c := g.propose(t, shell("make clean"), 0); c.Decision != approval.RulingPending || c.Approval.ID == a.Approval.ID {
			t.Errorf("long after the denial: %+v", c)
		}
	})
}

func TestADenialStandsInEverySpelling(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a, b := g.propose(t, shell("make clean"), 0), g.propose(t, shell("make  clean"), 0)
		if a.Approval.ID == b.Approval.ID {
			t.Fatal("another call joined: only the call that was shown may be allowed")
		}
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "no")
		g.end()
		restarted := start(t, g.store, g.channel)
		defer restarted.end()
		synctest.Wait()
		c := restarted.propose(t, shell(" make\tclean"), time.Hour)
		if c.Decision != approval.RulingDeny || c.Permit != nil || c.Refusal.Words != "no" {
			t.Errorf("another spelling right after the denial: %+v", c)
		}
		if d := restarted.propose(t, shell("make all"), 0); d.Decision != approval.RulingPending {
			t.Errorf("another effect: %+v", d)
		}
		if d, err := restarted.Propose(t.Context(), "other", dispatcher.Request{Proposal: shell("make clean")}); err != nil || d.Decision != approval.RulingPending {
			t.Errorf("another agent: %+v, %v", d, err)
		}
		time.Sleep(dispatcher.DefaultDenialStands)
		if d := restarted.propose(t, shell("make   clean"), 0); d.Decision != approval.RulingPending {
			t.Errorf("long after the denial: %+v", d)
		}
	})
}

func TestManyEqualAsksAtOnceOpenOne(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		var wg sync.WaitGroup
		ids := make([]approval.ID, 50)
		for i := range ids {
			wg.Go(func() { ids[i] = g.propose(t, shell("make clean"), 0).Approval.ID })
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("two approvals of one call: %s and %s", ids[0], id)
			}
		}
	})
}

func TestChangedCallUnderTheSameKeySupersedes(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		p := shell("make clean")
		p.TurnID, p.Step = "t-1", 3
		a := g.propose(t, p, 0)
		again := g.propose(t, p, 0)
		if again.Approval.ID != a.Approval.ID {
			t.Fatal("the repeat did not join")
		}
		p.Args = vaglio.Args{"command": "make distclean"}
		b := g.propose(t, p, 0)
		if b.Approval.ID == a.Approval.ID || b.Decision != approval.RulingPending {
			t.Fatalf("got %+v", b)
		}
		old, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
		if err != nil || old.Approval.State != approval.Superseded {
			t.Errorf("the old approval: %+v, %v", old.Approval, err)
		}
		if r := g.decide(t, a.Approval.ID, approval.ChoiceAllow, ""); r.Won {
			t.Error("a superseded approval was allowed")
		}
		g.decide(t, b.Approval.ID, approval.ChoiceAllow, "")
		if c := g.propose(t, p, 0); c.Decision != approval.RulingAllow || c.Approval.ID != b.Approval.ID {
			t.Errorf("the repeat after the decision: %+v", c)
		}
	})
}

func TestTwoHundredTapsOneDecision(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		synctest.Wait()
		card := g.onlyCard(t)
		tokens := map[bool]approval.Token{
			true:  token(t, card, approval.ChoiceAllow),
			false: token(t, card, approval.ChoiceDeny),
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for i := range 200 {
			wg.Go(func() {
				r, err := g.Decide(t.Context(), approval.Tap{Token: tokens[i%2 == 0], By: owner, Channel: "fake"})
				if err != nil {
					t.Errorf("tap %d: %v", i, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if r.Won {
					won++
				}
				if d := r.Ask.Find(a.Approval.ID).Decision; d == nil || d.By != owner || d.At.IsZero() {
					t.Errorf("tap %d was not told who decided: %+v", i, d)
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d taps decided", won)
		}
	})
}

func TestOnlyApproversDecide(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		for _, who := range []approval.Person{{}, {ID: "web:guest", Name: "owner"}, {ID: "WEB:OWNER"}} {
			_, err := g.Decide(t.Context(), approval.Tap{
				Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceAllow, By: who, Channel: "fake",
			})
			if !errors.Is(err, approval.ErrNotApprover) {
				t.Errorf("%+v: %v", who, err)
			}
		}
	})
}

func TestWhoPairedLaterMayDecide(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		r, err := g.Decide(t.Context(), approval.Tap{
			Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceDeny, By: approval.Person{ID: "fake:paired"}, Channel: "fake",
		})
		if err != nil || !r.Won {
			t.Errorf("got %v %v", r.Won, err)
		}
	})
}

func TestRestartKeepsDeadlineAndDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, channel := storetest.NewMemory(), newFakeChannel()
		g := start(t, store, channel)
		p := shell("make clean")
		p.TurnID, p.Step = "t-1", 1
		q := shell("make distclean")
		a, b := g.propose(t, p, 0), g.propose(t, q, 0)
		time.Sleep(10 * time.Minute)
		g.end()
		time.Sleep(10 * time.Minute)

		g = start(t, store, channel)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		if again := g.propose(t, p, 0); again.Decision != approval.RulingAllow {
			t.Errorf("the repeated call got %+v", again)
		}
		at := time.Now()
		got, err := g.Await(t.Context(), agent, b.Approval.ID, time.Hour)
		if err != nil || got.Approval.State != approval.Expired {
			t.Fatalf("Await: %+v, %v", got.Approval, err)
		}
		if left := time.Since(at); left != 10*time.Minute {
			t.Errorf("the deadline moved: expired after %v", left)
		}
		g.end()
		storetest.Asks(t, store)
	})
}

func TestPermitIsBoundAndLapses(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		redeem(t, g, a.Permit.Permit, shell("make cleaner"), dispatcher.ErrOtherCall)
		redeem(t, g, a.Permit.Permit+"x", shell("make clean"), approval.ErrNotFound)
		if err := g.Redeem(t.Context(), "somebody", a.Permit.Permit, shell("make clean")); err == nil {
			t.Error("another agent redeemed the permit")
		}
		other := shell("make clean")
		other.Executor = "Bash"
		redeem(t, g, a.Permit.Permit, other, dispatcher.ErrOtherCall)
		time.Sleep(dispatcher.DefaultPermitFor + time.Second)
		redeem(t, g, a.Permit.Permit, shell("make clean"), dispatcher.ErrLapsed)
		if b, _ := g.Await(t.Context(), agent, a.Approval.ID, 0); b.Decision != approval.RulingDeny || b.Approval.State != approval.Lapsed {
			t.Errorf("after the lapse: %+v", b)
		}
	})
}

// TestAPermitOfAFormerKeyIsVoid checks that a permit from before a rotation is void from
// the moment of the new key, even before the allowed approvals are revoked.
func TestAPermitOfAFormerKeyIsVoid(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		g.Rekey(approval.Permits{Secret: approval.Secret{2}, Former: approval.Secret{1}})
		redeem(t, g, a.Permit.Permit, shell("make clean"), dispatcher.ErrLapsed)
		if err := g.Redeem(t.Context(), "other", a.Permit.Permit, shell("make clean")); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("another agent's is answered %v", err)
		}
	})
}

// TestALapsedPermitIsRefusedBeforeItsAlarm redeems a permit whose time is over before that
// is recorded: no alarm rings any more, and the first read of the ask, which would record
// it, fails.
func TestALapsedPermitIsRefusedBeforeItsAlarm(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		g.end()
		time.Sleep(dispatcher.DefaultPermitFor)
		g.store.Fail(2, errors.New("the disk is slow"))
		redeem(t, g, a.Permit.Permit, shell("make clean"), dispatcher.ErrLapsed)
		r, err := g.store.Get(t.Context(), approval.KindAsk, string(a.Approval.ID.Ask()))
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := approval.DecodeAsk(r.Body); err != nil || kept.Find(a.Approval.ID).State != approval.Lapsed {
			t.Errorf("the store has %s, %v", kept.Find(a.Approval.ID).State, err)
		}
		redeem(t, g, a.Permit.Permit, shell("make clean"), dispatcher.ErrLapsed)
	})
}

// TestALapseOfAnotherSparesThePermit redeems a permit while another call of the same ask
// has waited too long and that is not recorded yet.
func TestALapseOfAnotherSparesThePermit(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		calls := []vaglio.Proposal{shell("make clean"), shell("make install")}
		as, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{{Proposal: calls[0]}, {Proposal: calls[1]}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(dispatcher.DefaultAskFor - time.Minute)
		g.decide(t, as[0].Approval.ID, approval.ChoiceAllow, "")
		allowed, err := g.Await(t.Context(), agent, as[0].Approval.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		g.end()
		time.Sleep(time.Minute)
		g.store.Fail(2, errors.New("the disk is slow")) // The first read of the ask would record it.
		redeem(t, g, allowed.Permit.Permit, calls[0], nil)
	})
}

// TestAPermitIsForNoCallThatCannotBeRead checks that a malformed call neither matches a
// permit nor spends one.
func TestAPermitIsForNoCallThatCannotBeRead(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		for _, command := range []string{"make 'clean", "make clean\xff"} {
			err := g.Redeem(t.Context(), agent, a.Permit.Permit, shell(command))
			if _, ok := errors.AsType[*vaglio.ShapeError](err); !ok {
				t.Errorf("Redeem %q: %v", command, err)
			}
		}
		redeem(t, g, a.Permit.Permit, shell("make clean"), nil)
	})
}

// TestADeadlineIsTriedAgain checks that a deadline that the store failed to record is
// recorded as soon as possible.
func TestADeadlineIsTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		id := g.propose(t, shell("make clean"), 0).Approval.ID
		time.Sleep(dispatcher.DefaultAskFor - time.Second)
		g.store.Fail(1, errors.New("the disk is slow"))
		time.Sleep(10 * time.Second)
		r, err := g.store.Get(t.Context(), approval.KindAsk, string(id.Ask()))
		if err != nil {
			t.Fatal(err)
		}
		if ask, err := approval.DecodeAsk(r.Body); err != nil || ask.Find(id).State != approval.Expired {
			t.Errorf("it is %s, %v", ask.Find(id).State, err)
		}
	})
}

func TestWithdrawn(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		for range 2 {
			b, err := g.Withdraw(t.Context(), agent, a.Approval.ID)
			if err != nil || b.Approval.State != approval.Withdrawn {
				t.Fatalf("Withdraw: %+v, %v", b.Approval, err)
			}
		}
		if r := g.decide(t, a.Approval.ID, approval.ChoiceAllow, ""); r.Won {
			t.Error("a withdrawn approval was allowed")
		}
		b := g.propose(t, shell("make clean"), 0)
		g.decide(t, b.Approval.ID, approval.ChoiceAllow, "")
		if _, err := g.Withdraw(t.Context(), agent, b.Approval.ID); !isMove(err) {
			t.Errorf("withdraw after allow: %v", err)
		}
	})
}

// TestAnotherAgentMovesNothing checks that only the agent that proposed a call can withdraw
// it or report how it ran.
func TestAnotherAgentMovesNothing(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		if _, err := g.Withdraw(t.Context(), "somebody", a.Approval.ID); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("another agent's Withdraw: %v", err)
		}
		g.decide(t, a.Approval.ID, approval.ChoiceAllow, "")
		a, _ = g.Await(t.Context(), agent, a.Approval.ID, 0)
		redeem(t, g, a.Permit.Permit, shell("make clean"), nil)
		err := g.Report(t.Context(), "somebody", a.Approval.ID, approval.Outcome{Succeeded: true})
		if !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("another agent's Report: %v", err)
		}
		if b, _ := g.Await(t.Context(), agent, a.Approval.ID, 0); b.Approval.State != approval.Spent {
			t.Errorf("another agent made it %s", b.Approval.State)
		}
	})
}

// TestAnAlarmEndsAnAskBeforeTheWallClock checks that an alarm of the monotonic clock ends
// an ask even if the wall clock, which was set back, says that it is too early. An alarm
// for an earlier deadline does not end it.
func TestAnAlarmEndsAnAskBeforeTheWallClock(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		expires := g.onlyCard(t).ExpiresAt
		for _, tt := range []struct {
			deadline time.Time
			want     approval.State
		}{{expires.Add(-time.Second), approval.Pending}, {expires, approval.Expired}} {
			if err := g.Ring(t.Context(), a.Approval.ID.Ask(), tt.deadline); err != nil {
				t.Fatal(err)
			}
			if b, _ := g.Await(t.Context(), agent, a.Approval.ID, 0); b.Approval.State != tt.want {
				t.Errorf("an alarm for %v left it %s, want %s", tt.deadline, b.Approval.State, tt.want)
			}
		}
	})
}

// TestADeadlineThatPassedIsExpiredInEveryRead checks that an overdue call has expired for
// whoever reads it first, even if no alarm rang: the answer, the list, the card and the
// store agree.
func TestADeadlineThatPassedIsExpiredInEveryRead(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a, b := g.propose(t, shell("make a"), 0), g.propose(t, shell("make b"), 0)
		g.decide(t, b.Approval.ID, approval.ChoiceAllow, "")
		synctest.Wait()
		g.end() // No deadlines are enforced any more.
		time.Sleep(dispatcher.DefaultAskFor)
		for card, err := range g.Pending(t.Context(), "fake") {
			t.Errorf("it is listed: %+v, %v", card, err)
		}
		card, err := g.Card(t.Context(), a.Approval.ID.Ask(), "fake")
		if err != nil || card.Items[0].State != approval.Expired {
			t.Errorf("Card: %+v, %v", card, err)
		}
		for id, want := range map[approval.ID]approval.State{a.Approval.ID: approval.Expired, b.Approval.ID: approval.Lapsed} {
			got, err := g.Await(t.Context(), agent, id, 0)
			if err != nil || got.Approval.State != want {
				t.Errorf("Await: %+v, %v, want %s", got.Approval, err, want)
			}
			r, err := g.store.Get(t.Context(), approval.KindAsk, string(id.Ask()))
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := approval.DecodeAsk(r.Body); err != nil || kept.Find(id).State != want {
				t.Errorf("the store has %s, %v", kept.Find(id).State, err)
			}
		}
	})
}

func isMove(err error) bool {
	_, ok := errors.AsType[*approval.MoveError](err)
	return ok
}

func TestPlanSharesOneCard(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		calls := []vaglio.Proposal{
			{Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/x"}, Intent: "clean up"},
			{Executor: "fs_read", Args: vaglio.Args{"path": "~/.ssh/id_rsa"}, Intent: "clean up"},
			shell("make clean"), shell("make install"), shell("make clean"),
		}
		rs := make([]dispatcher.Request, len(calls))
		for i, p := range calls {
			rs[i] = dispatcher.Request{Proposal: p, Key: "plan-1"}
		}
		as, err := g.ProposePlan(t.Context(), agent, rs)
		if err != nil {
			t.Fatal(err)
		}
		want := []approval.Ruling{approval.RulingAllow, approval.RulingDeny, approval.RulingPending, approval.RulingPending, approval.RulingPending}
		for i, a := range as {
			if a.Decision != want[i] {
				t.Errorf("call %d: %s, want %s", i, a.Decision, want[i])
			}
		}
		if as[2].Approval.ID != as[4].Approval.ID {
			t.Error("the same call twice was asked twice")
		}
		card := g.onlyCard(t)
		if len(card.Items) != 2 {
			t.Fatalf("the card lists %d calls", len(card.Items))
		}
		g.decide(t, as[3].Approval.ID, approval.ChoiceDeny, "not yet")
		r, err := g.Decide(t.Context(), approval.Tap{Ask: card.Ask, Choice: approval.ChoiceAllow, By: owner, Channel: "fake"})
		if err != nil || !r.Won {
			t.Fatalf("allow the rest: %+v, %v", r, err)
		}
		as, err = g.ProposePlan(t.Context(), agent, rs)
		if err != nil {
			t.Fatal(err)
		}
		if as[2].Decision != approval.RulingAllow || as[3].Decision != approval.RulingDeny {
			t.Errorf("the repeated plan got %s and %s", as[2].Decision, as[3].Decision)
		}
	})
}

func TestGuardDenialOpensNothing(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("rm -rf /"), time.Hour)
		if a.Decision != approval.RulingDeny || a.Approval != nil || a.Permit != nil || !a.Refusal.Final {
			t.Fatalf("got %+v", a)
		}
		for range g.store.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
			t.Fatal("a guard denial left an ask")
		}
		synctest.Wait()
		if calls, _ := g.channel.tries(); calls != 0 {
			t.Error("a guard denial was posted")
		}
		page, err := g.History(t.Context(), approval.Filter{})
		if err != nil || len(page.Entries) != 1 || page.Entries[0].Outcome() != "guard" || page.Older != 0 {
			t.Errorf("history: %+v, %v", page, err)
		}
	})
}

// TestHistoryGoesOnWhereItStopped checks that a search for a text that occurs rarely stops
// after a while, and that the page says there is more. What is sought by its executor is found
// at once.
func TestHistoryGoesOnWhereItStopped(t *testing.T) {
	race.Alone(t)
	in(t, func(t *testing.T, g *gate) {
		g.propose(t, shell("make clean"), 0)
		for range 18 {
			g.propose(t, vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"path": strings.Repeat("x", 1<<20)}}, 0)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if page, err := g.History(t.Context(), approval.Filter{Executor: "shell_exec"}); err != nil || len(page.Entries) != 1 || page.Older != 0 {
			t.Errorf("by its executor: %+v, %v", page, err)
		}
		f, pages := approval.Filter{Text: "make clean", Limit: 1}, 0
		for {
			page, err := g.History(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if pages++; len(page.Entries) == 1 {
				if page.Older != 0 {
					t.Errorf("something is older than the first step: %d", page.Older)
				}
				break
			}
			if page.Older == 0 || f.Before != 0 && page.Older >= f.Before {
				t.Fatalf("page %d ends at %d after %d, and the entry was not found", pages, page.Older, f.Before)
			}
			f.Before = page.Older
		}
		if pages < 2 {
			t.Error("eighteen calls of a megabyte were read at once")
		}
	})
}

// TestWhoKeepsNoGoroutineIsCalled checks that a watcher is called once its call may have another
// answer, or the daemon stops, and only as long as it wants to be.
func TestWhoKeepsNoGoroutineIsCalled(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		calls := 0
		watch := func(id approval.ID) (*approval.Answer, func()) {
			t.Helper()
			synctest.Wait() // what changed before has been followed
			a, leave, err := g.AwaitChange(t.Context(), agent, id, func() { calls++ })
			if err != nil {
				t.Fatal(err)
			}
			return a, leave
		}
		called := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			if calls != want {
				t.Errorf("%s: called %d times, want %d", when, calls, want)
			}
		}
		id := g.propose(t, shell("make clean"), 0).Approval.ID
		_, left := watch(id)
		left()
		a, leave := watch(id)
		if called("before", 0); a.Decision != approval.RulingPending {
			t.Errorf("got %+v", a)
		}
		if err := g.askBack(t, id, "Why?"); err != nil {
			t.Fatal(err)
		}
		called("asked", 1)
		leave()
		if a, leave := watch(id); leave != nil || a.Question == nil || a.Question.Repeated {
			t.Errorf("the question: %+v, waits: %t", a.Question, leave != nil)
		}
		_, leave = watch(id)
		g.decide(t, id, approval.ChoiceDeny, "")
		called("denied", 2)
		leave()
		if a, leave := watch(id); leave != nil || a.Decision != approval.RulingDeny {
			t.Errorf("decided: %+v, waits: %t", a, leave != nil)
		}
		if _, _, err := g.AwaitChange(t.Context(), "somebody", id, nil); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("another agent's: %v", err)
		}
		id = g.propose(t, shell("make distclean"), 0).Approval.ID
		_, leave = watch(id)
		defer leave()
		g.Stop()
		called("stopped", 3)
		if a, leave := watch(id); leave != nil || a.Decision != approval.RulingPending {
			t.Errorf("once stopped: %+v, waits: %t", a, leave != nil)
		}
	})
}

func TestStopLetsWaitersGo(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		got := make(chan approval.Answer, 1)
		go func() { got <- g.propose(t, shell("make clean"), time.Hour) }()
		synctest.Wait()
		g.Stop()
		if a := <-got; a.Decision != approval.RulingPending {
			t.Errorf("got %+v", a)
		}
		if _, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("x")}); !errors.Is(err, dispatcher.ErrStopping) {
			t.Errorf("after Stop: %v", err)
		}
	})
}

func TestCardsCatchUpWithTheState(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		g.channel.failing(func(call int) error {
			switch {
			case call == 1:
				return errors.New("network is down")
			case call == 2:
				return &approval.RetryError{After: 5 * time.Minute, Err: errors.New("too many requests")}
			case call%2 == 0:
				return errors.New("bad gateway")
			}
			return nil
		})
		began := time.Now()
		a := g.propose(t, shell("make clean"), 0)
		for g.channel.card(a.Approval.ID.Ask()).Ask == "" {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if waited := time.Since(began); waited < 5*time.Minute {
			t.Errorf("the platform asked for 5m, the card came after %v", waited)
		}
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "")
		for g.channel.card(a.Approval.ID.Ask()).Items[0].State != approval.Denied {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if _, posts := g.channel.tries(); posts != 1 {
			t.Errorf("posted %d times", posts)
		}
	})
}

func TestGoneCardEndsItsDelivery(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		a := g.propose(t, shell("make clean"), 0)
		synctest.Wait()
		g.channel.failing(func(int) error { return approval.ErrGone })
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "")
		time.Sleep(time.Hour)
		synctest.Wait()
		if calls, _ := g.channel.tries(); calls != 2 {
			t.Errorf("a message that is gone was tried %d times", calls-1)
		}
	})
}
