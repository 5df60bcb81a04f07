package dispatcher_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
)

// TestAMonthOfDigests lets 30 agents live through a month with a clock change, restarts,
// days without a daemon, clocks that jump ahead and are set back, and chats in trouble.
// Each window is sent once, windows join, each has as many hours as its day, its contents
// agree with the audit log, and the history verifies against the checkpoints of all
// digests.
func TestAMonthOfDigests(t *testing.T) {
	race.Alone(t)
	for _, tt := range []struct {
		zone   string
		minute int
		begin  time.Time
		odd    time.Duration
	}{
		{"Europe/Rome", 480, time.Date(2000, 3, 10, 12, 0, 0, 0, time.UTC), 23 * time.Hour},
		{"Europe/Rome", 480, time.Date(2000, 10, 15, 12, 0, 0, 0, time.UTC), 25 * time.Hour},
		{"America/New_York", 480, time.Date(2000, 3, 15, 12, 0, 0, 0, time.UTC), 23 * time.Hour},
		{"America/New_York", 480, time.Date(2000, 10, 15, 12, 0, 0, 0, time.UTC), 25 * time.Hour},
		// Here half past midnight is skipped.
		{"America/Sao_Paulo", 30, time.Date(2000, 9, 20, 12, 0, 0, 0, time.UTC), 23 * time.Hour},
	} {
		t.Run(fmt.Sprintf("%s %s %d", strings.ReplaceAll(tt.zone, "/", " "), tt.begin.Month(), tt.minute), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && (tt.odd != 25*time.Hour || tt.zone != "Europe/Rome") {
				t.Skip("one change of the clock is enough for a short run")
			}
			zone, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			begin, days := tt.begin, 30
			if testing.Short() { // The days around the clock change are lived as the others are.
				begin, days = begin.AddDate(0, 0, 7), 10
			}
			m := newMonth(t, &report.Hours{Minute: tt.minute, Zone: zone}, begin)
			for end := begin.AddDate(0, 0, days); m.clock.Before(end); {
				m.life(m.at(70*time.Hour), m.agents)
				m.jump()
			}
			m.calm = true
			m.clock = m.latest // A clock that was set back delays what is due.
			m.life(50*time.Hour, m.agents)
			m.life(time.Minute, func(ctx context.Context, t *testing.T, d *dispatcher.Dispatcher) { m.check(ctx, t, d, days, tt.odd) })
		})
	}
}

// month is one month: lives of a daemon, one after the other, over one store, one audit log
// and the same chats. Each life has its own clock.
type month struct {
	t      *testing.T
	hours  *report.Hours
	store  *storetest.Memory
	papers []*paper
	audit  string
	key    history.Key

	// clock is when the next life begins, and latest the latest end of one.
	clock, latest time.Time
	// back holds the spans that happened twice because the clock was set back.
	back []report.Window
	// calm reports that chats have no trouble any more.
	calm bool

	mu    sync.Mutex
	rng   *rand.Rand
	saved string
	// judged are the verdicts that agents received.
	judged []verdictOf
}

// verdictOf is one verdict on a call of an agent.
type verdictOf struct {
	agent string
	ts    float64
	kind  string
}

// opsAgents is the number of agents whose calls go to a route's channel.
const opsAgents = 10

func newMonth(t *testing.T, hours *report.Hours, begin time.Time) *month {
	t.Helper()
	key, err := history.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	m := &month{
		t: t, hours: hours, store: storetest.NewMemory(), audit: t.TempDir(), key: key, clock: begin, latest: begin,
		papers: []*paper{newPaper("chat"), newPaper("other"), newPaper("chat:ops")},
		rng:    rand.New(rand.NewPCG(uint64(hours.Minute), uint64(begin.Unix()))),
	}
	for _, p := range m.papers {
		p.trouble = func(string) error {
			if !m.calm && m.dice(3) == 0 {
				return errors.New("no network")
			}
			return nil
		}
	}
	return m
}

func (m *month) dice(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rng.IntN(n)
}

// at returns a random duration below d.
func (m *month) at(d time.Duration) time.Duration {
	return time.Duration(m.dice(int(d/time.Second))) * time.Second
}

// jump sets the clock between two lives.
func (m *month) jump() {
	was := m.clock
	switch m.dice(6) {
	case 0: // the machine is off for a while, or its clock jumps ahead
		m.clock = m.clock.Add(m.at(40 * time.Hour))
	case 1: // the clock is set back
		m.clock = m.clock.Add(-m.at(20 * time.Hour))
		m.back = append(m.back, report.Window{From: m.clock, To: was})
	default: // a restart
		m.clock = m.clock.Add(time.Second)
	}
}

// life runs a daemon for a duration, with do running meanwhile, in a bubble of its own:
// only in a new bubble can the clock be earlier than it was.
func (m *month) life(long time.Duration, do func(context.Context, *testing.T, *dispatcher.Dispatcher)) {
	synctest.Test(m.t, func(t *testing.T) {
		time.Sleep(time.Until(m.clock))
		m.store = m.store.Reopen()
		log, err := audit.Open(m.audit, nil)
		if err != nil {
			t.Fatal(err)
		}
		engine, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: &strict{}, MinScore: 0.5}}, Kind: "strict", Home: "/home/u", Log: log})
		if err != nil {
			t.Fatal(err)
		}
		var channels []dispatcher.Channel
		for _, p := range m.papers {
			channels = append(channels, p)
		}
		var ops []string
		for n := range opsAgents {
			ops = append(ops, fmt.Sprintf("ops-%d", n))
		}
		d := dispatcher.New(dispatcher.Config{
			Store: m.store, Engine: engine, Secret: approval.Secret{1},
			Deciders: dispatcher.Deciders{Approvers: []string{owner.ID}, Routing: approval.Routing{
				Routes: []approval.Route{
					{Name: "ops", Channels: []string{"chat:ops"}, Approvers: []string{approval.Anyone}},
					{Name: "rest", Channels: []string{"chat", "other"}, Approvers: []string{approval.Anyone}},
				},
				Rules: []approval.Rule{{Agents: ops, Route: "ops"}, {Route: "rest"}},
			}},
			Effects: dispatcher.Effects{Name: effect}, Hours: dispatcher.Hours{Digest: m.hours}, Log: slog.New(slog.DiscardHandler), Channels: channels,
			History: &dispatcher.History{Tree: m.store, Key: m.key, Save: func(text string) error { m.saved = text; return nil }},
		})
		if err := d.BeginHistory(t.Context(), m.saved); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		running := make(chan error)
		go func() { running <- d.Run(ctx) }()
		working, enough := context.WithTimeout(t.Context(), long)
		do(working, t, d)
		<-working.Done()
		enough()
		cancel()
		if err := errors.Join(<-running, log.Close(), m.store.Close()); err != nil {
			t.Error(err)
		}
		m.clock = time.Now()
		if m.clock.After(m.latest) {
			m.latest = m.clock
		}
	})
}

// agents lets 30 agents propose, and a person decide, until ctx ends.
func (m *month) agents(ctx context.Context, t *testing.T, d *dispatcher.Dispatcher) {
	var all sync.WaitGroup
	for n := range 30 {
		name := fmt.Sprintf("agent-%d", n)
		if n < opsAgents {
			name = fmt.Sprintf("ops-%d", n)
		}
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(m.at(50 * time.Hour)):
					m.propose(ctx, t, d, name)
				}
			}
		})
	}
	all.Wait()
}

// propose proposes a call, and lets what is asked be decided, run and reported, or not.
func (m *month) propose(ctx context.Context, t *testing.T, d *dispatcher.Dispatcher, agent string) {
	call := vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"path": "a"}}
	switch m.dice(4) {
	case 0:
		call = shell("rm -rf /")
	case 1, 2:
		call = shell(fmt.Sprintf("make %s %d", agent, m.dice(1<<30)))
	}
	a, err := d.Propose(context.WithoutCancel(ctx), agent, dispatcher.Request{Proposal: call})
	if err != nil {
		t.Error(err)
		return
	}
	v := verdictOf{agent, a.Verdict.TS, "approved"}
	if !a.Verdict.Approved {
		v.kind = string(a.Verdict.BlockedBy)
	}
	m.mu.Lock()
	m.judged = append(m.judged, v)
	m.mu.Unlock()
	if a.Approval == nil || m.dice(3) == 0 {
		return
	}
	channel := "chat"
	if strings.HasPrefix(agent, "ops-") {
		channel = "chat:ops"
	}
	choice := []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny}[m.dice(2)]
	time.Sleep(m.at(40 * time.Minute))
	_, err = d.Decide(context.WithoutCancel(ctx), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: choice, By: owner, Channel: channel})
	if err != nil {
		t.Errorf("Decide: %v", err)
	}
	time.Sleep(m.at(15 * time.Minute))
	got, err := d.Await(context.WithoutCancel(ctx), agent, a.Approval.ID, 0)
	if err != nil {
		t.Errorf("Await: %v", err)
	}
	if got.Permit == nil || m.dice(4) == 0 || d.Redeem(context.WithoutCancel(ctx), agent, got.Permit.Permit, call) != nil {
		return
	}
	time.Sleep(m.at(2 * time.Hour))
	if m.dice(4) > 0 {
		// It may be unknown by now, because too much time has passed.
		_ = d.Report(context.WithoutCancel(ctx), agent, a.Approval.ID, approval.Outcome{Succeeded: m.dice(2) == 0})
	}
}

// buckets are the counts for which a window is checked.
type buckets struct{ approved, guard, vetoed int }

func bucketsOf(c *report.Counts) buckets { return buckets{c.Approved, c.Guard, c.Vetoed} }

func (b *buckets) add(kind string) {
	switch kind {
	case "approved":
		b.approved++
	case "guard":
		b.guard++
	default:
		b.vetoed++
	}
}

// logged counts the lines of the audit log by the window in which they fall, keyed by the
// window's end. It shares no code with what is tested.
func (m *month) logged(t *testing.T, ends []time.Time) map[time.Time]buckets {
	files, err := filepath.Glob(filepath.Join(m.audit, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log: %v", err)
	}
	all := map[time.Time]buckets{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var line struct {
				Approved  bool    `json:"approved"`
				TS        float64 `json:"ts"`
				BlockedBy string  `json:"blocked_by"`
			}
			if err := strictjson.UnmarshalLoose(lines.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			kind := line.BlockedBy
			if line.Approved {
				kind = "approved"
			}
			if end, ok := windowOf(ends, line.TS); ok {
				b := all[end]
				b.add(kind)
				all[end] = b
			}
		}
		file.Close()
	}
	return all
}

// windowOf returns the first end after an instant.
func windowOf(ends []time.Time, ts float64) (time.Time, bool) {
	for _, end := range ends {
		if ts < float64(end.UnixNano())/1e9 {
			return end, true
		}
	}
	return time.Time{}, false
}

// check compares what was sent with the log, the verdicts and the history.
func (m *month) check(ctx context.Context, t *testing.T, d *dispatcher.Dispatcher, days int, odd time.Duration) {
	chat := m.papers[0].all()
	if len(chat) < days {
		t.Fatalf("only %d digests came", len(chat))
	}
	// What came before the first window belongs to none.
	ends := []time.Time{chat[0].Window.From}
	for i := range chat {
		ends = append(ends, chat[i].Window.To)
	}
	logged, told := m.logged(t, ends), map[time.Time]buckets{}
	for _, v := range m.judged {
		if end, ok := windowOf(ends, v.ts); ok && strings.HasPrefix(v.agent, "ops-") {
			b := told[end]
			b.add(v.kind)
			told[end] = b
		}
	}
	var witnesses []history.Witness
	sum := 0
	for _, p := range m.papers {
		all, carried := p.all(), -1
		if len(all) != len(chat) {
			t.Errorf("%s has %d digests, and chat %d", p.name, len(all), len(chat))
		}
		odds := 0
		for i := range all {
			g := &all[i]
			if i > 0 && !g.Window.From.Equal(all[i-1].Window.To) {
				t.Errorf("%s: %v follows %v", p.name, g.Window, all[i-1].Window)
			}
			switch span := g.Window.To.Sub(g.Window.From); span {
			case odd:
				odds++
			case 24 * time.Hour:
			default:
				t.Errorf("%s: a window of %v", p.name, span)
			}
			want := logged[g.Window.To]
			if p.name == "chat:ops" {
				want = told[g.Window.To]
			}
			c := &g.Counts
			if got := bucketsOf(c); got != want && !m.twice(g.Window) {
				t.Errorf("%s: the digest of %v tells of %+v, and there were %+v", p.name, g.Window, got, want)
			}
			if c.Judged != c.Approved+c.Guard+c.Vetoed || c.Vetoed != c.Fates.Sum() || c.Fates.Allowed != c.Fates.Runs.Sum() {
				t.Errorf("%s: %+v does not add up", p.name, c)
			}
			if m.twice(g.Window) {
				carried = -1
			} else {
				if carried >= 0 && c.Carried.Sum() != carried {
					t.Errorf("%s: %v: %d were carried, and before %d waited", p.name, g.Window, c.Carried.Sum(), carried)
				}
				carried = c.Fates.Waiting + c.Carried.Waiting
			}
			witnesses = append(witnesses, history.Witness{Source: p.name, Text: g.Checkpoint})
			if p.name == "chat" {
				sum += c.Judged
			}
			// Calls that passed are forgotten after a month.
			if p.name == "chat" && m.latest.Sub(g.Window.From) < 29*24*time.Hour {
				again, err := d.Digest(ctx, d.DigestDay(g.Window))
				if err != nil || bucketsOf(&again.Counts) != logged[g.Window.To] || again.Window != g.Window {
					t.Errorf("now the digest of %v tells of %+v, %v, and the log of %+v", g.Window, again.Counts, err, logged[g.Window.To])
				}
			}
		}
		if odds != 1 {
			t.Errorf("%s: %d windows of %v", p.name, odds, odd)
		}
	}
	r, err := history.Verify(ctx, history.Case{Tree: m.store, Records: m.store, Verifier: m.key.Verifier(), Witnesses: witnesses})
	if err != nil || !r.Whole() || len(r.Proved) != len(witnesses) {
		t.Errorf("the history: %v; %d of %d checkpoints are proved; %v", err, len(r.Proved), len(witnesses), r.Findings)
	}
	t.Logf("%d digests on each of %d channels tell of %d of %d calls; the clock was set back %d times; %d leaves, %d approvals and %d checkpoints verify",
		len(chat), len(m.papers), sum, len(m.judged), len(m.back), r.Size, r.Approvals, len(r.Proved))
}

// twice reports whether part of a window's time, or the outcome of its calls, happened
// again after its digest was sent.
func (m *month) twice(w report.Window) bool {
	for _, b := range m.back {
		if !b.From.After(w.To) && w.From.Before(b.To) {
			return true
		}
	}
	return false
}
