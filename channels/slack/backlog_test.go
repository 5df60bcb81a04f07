package slack_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

const (
	rooms   = 20
	perRoom = 50
	// outage is how long the platform is down while the asks come in.
	outage = 3 * time.Minute
	// burst is how many calls every fifth turn makes in parallel.
	burst = 3
)

// denier asks a person about everything.
type denier struct{}

func (denier) Kind() string { return "denier" }

func (denier) Grade(context.Context, vaglio.Proposal) (vaglio.GradientResult, error) {
	return vaglio.GradientResult{Judge: "denier", Confidence: 1, Reasoning: "everything is asked"}, nil
}

// backlog is a dispatcher whose routes send each agent's asks to a channel of its own.
type backlog struct {
	*world
	*dispatcher.Dispatcher
	ids []approval.ID
}

func roomID(i int) string { return fmt.Sprintf("C00000001%02d", i) }

func agentOf(i int) string { return fmt.Sprintf("agent-%d", i) }

func newBacklog(t *testing.T) *backlog {
	t.Helper()
	b := &backlog{world: newWorld(t)}
	routing := approval.Routing{}
	for i := range rooms {
		b.server.AddChannel(roomID(i), ann)
		b.config.Others = append(b.config.Others, roomID(i))
		name := fmt.Sprintf("room-%d", i)
		routing.Routes = append(routing.Routes, approval.Route{Name: name, Channels: []string{slack.Name + ":" + roomID(i)}, Approvers: []string{approval.Anyone}})
		routing.Rules = append(routing.Rules, approval.Rule{Agents: []string{agentOf(i)}, Route: name})
	}
	routing.Rules = append(routing.Rules, approval.Rule{Route: "room-0"})
	b.build()
	channels := []dispatcher.Channel{b.channel}
	for _, at := range b.channel.Conversations() {
		channels = append(channels, at)
	}
	engine, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: denier{}, MinScore: 0.5}}, Kind: "denier", Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	b.Dispatcher = dispatcher.New(dispatcher.Config{
		Store: storetest.NewMemory(), Channels: channels, Engine: engine, Secret: approval.Secret{1},
		Deciders: dispatcher.Deciders{MayDecide: b.channel.Approves, Routing: routing}, Deadlines: dispatcher.Deadlines{AskFor: 12 * time.Hour}, Log: slog.New(slog.NewTextHandler(b.log, nil)),
	})
	b.hands = b.Dispatcher
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	b.start()
	stop := b.stop
	b.stop = func() { stop(); cancel(); <-done }
	return b
}

// propose opens the asks, every fifth of them with several calls.
func (b *backlog) propose() (calls int) {
	b.t.Helper()
	for i := range rooms {
		for n := range perRoom {
			side := 1
			if n%5 == 0 {
				side = burst
			}
			for k := range side {
				p := command(fmt.Sprintf("make room-%d.%d.%d.", i, n, k))
				p.TurnID, p.Step = fmt.Sprintf("t-%d", n), k
				a, err := b.Propose(b.t.Context(), agentOf(i), dispatcher.Request{Proposal: p})
				if err != nil || a.Approval == nil {
					b.t.Fatalf("got %+v, %v", a, err)
				}
				b.ids = append(b.ids, a.Approval.ID)
				calls++
			}
		}
	}
	return calls
}

// heap returns the bytes in use on the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cards returns the messages of a channel that show asks, in their order.
func (b *backlog) cards(i int) []slacktest.Message {
	return slices.DeleteFunc(b.server.Messages(roomID(i)), func(m slacktest.Message) bool {
		return m.ThreadTS != "" || !strings.Contains(m.Shown(), "agent-")
	})
}

// until lets time pass until a condition holds, and returns how much time passed.
func (b *backlog) until(what string, is func() bool) time.Duration {
	b.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > time.Hour {
			b.t.Fatalf("after an hour there is no end: %s\n%.3000s", what, b.log)
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
	return time.Since(began)
}

// TestAThousandAsks lets a thousand asks wait in twenty channels, while the platform
// accepts one message per second in each. They come in while it is down, and trouble
// continues after that. The test runs alone, because other tests would affect what it
// measures.
func TestAThousandAsks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(t)
		b.server.Pace(time.Second)
		b.server.Stop()
		empty := heap()
		calls := b.propose()
		synctest.Wait()
		full := heap()
		time.Sleep(outage)
		synctest.Wait()
		waited := heap()
		if grown := int64(waited) - int64(full); grown > 4<<20 {
			t.Errorf("while nothing could be sent, memory grew by %d bytes", grown)
		}
		b.server.Start()
		b.server.Fail("chat.postMessage", 10, slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: 3 * time.Second})
		drained := b.until("the cards are shown", func() bool {
			n := 0
			for i := range rooms {
				n += len(b.cards(i))
			}
			return n >= rooms*perRoom
		})
		b.each()
		b.paced()
		pressed := b.decide()
		over := b.until("the cards are final", func() bool {
			for i := range rooms {
				if slices.ContainsFunc(b.cards(i), func(m slacktest.Message) bool { return len(m.Buttons()) > 0 }) {
					return false
				}
			}
			return true
		})
		b.ordered()
		t.Logf("%d calls in %d asks, %d channels: all cards after %s, final %s after %d presses; heap %.1f MB, with the asks %.1f MB, after %s without the platform %.1f MB",
			calls, rooms*perRoom, rooms, drained, over, pressed, mega(empty), mega(full), outage, mega(waited))
		b.stop()
		b.discreet()
	})
}

func mega(n uint64) float64 { return float64(n) / (1 << 20) }

// each checks that each ask is one message in its channel, with all of its calls and
// buttons.
func (b *backlog) each() {
	b.t.Helper()
	for i := range rooms {
		all := b.cards(i)
		if len(all) != perRoom {
			b.t.Errorf("channel %d has %d messages", i, len(all))
		}
		seen := map[int]bool{}
		for _, m := range all {
			var room, n int
			_, text, _ := strings.Cut(m.Shown(), "make room-")
			if _, err := fmt.Sscanf(text, "%d.%d.", &room, &n); err != nil || room != i || seen[n] || len(m.Buttons()) == 0 {
				b.t.Errorf("channel %d shows %d.%d, %v: %s", i, room, n, seen[n], m.Shown())
			}
			seen[n] = true
			if n%5 != 0 {
				continue
			}
			for k := range burst {
				if !strings.Contains(m.Shown(), fmt.Sprintf("room-%d.%d.%d.", i, n, k)) {
					b.t.Errorf("call %d of the burst %d.%d is not on its card", k, i, n)
				}
			}
		}
	}
}

// paced checks that no channel was sent more than it accepts.
func (b *backlog) paced() {
	b.t.Helper()
	last := map[string]time.Time{}
	for _, c := range b.server.Calls("chat.postMessage") {
		channel := c.Args["channel"]
		if gap := c.At.Sub(last[channel]); gap < time.Second {
			b.t.Errorf("%s after a message, %s was sent another", gap, channel)
		}
		last[channel] = c.At
	}
}

// decide presses on every card, as several people at once would.
func (b *backlog) decide() (pressed int) {
	b.t.Helper()
	var all sync.WaitGroup
	for i := range rooms {
		cards := b.cards(i)
		pressed += len(cards)
		all.Go(func() {
			for n, m := range cards {
				label := []string{"Allow once", "Deny"}[n%2]
				if several := !slices.ContainsFunc(m.Buttons(), func(b slacktest.Button) bool { return b.Text == label }); several {
					label = map[string]string{"Allow once": fmt.Sprintf("Allow all %d once", burst), "Deny": fmt.Sprintf("Deny all %d", burst)}[label]
				}
				if _, err := b.server.Press(ann, roomID(i), m.TS, label); err != nil {
					b.t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	return pressed
}

// ordered checks that each card showed its ask's states in their order, and that every
// agent is told what the card says.
func (b *backlog) ordered() {
	b.t.Helper()
	ended := map[string]bool{} // by channel and timestamp
	for _, c := range b.server.Calls("chat.update") {
		key := c.Args["channel"] + " " + c.Args["ts"]
		open := strings.Contains(c.Args["blocks"], `"action_id":"deny`)
		if open && ended[key] {
			b.t.Errorf("%s was open again after its end", key)
		}
		ended[key] = ended[key] || !open
	}
	said := map[approval.State]int{}
	for _, id := range b.ids {
		var room int
		ask, err := b.Find(b.t.Context(), string(id.Ask()))
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := fmt.Sscanf(ask.Agent, "agent-%d", &room); err != nil {
			b.t.Fatal(err)
		}
		_, ts := stands(&ask, slack.Name+":"+roomID(room))
		m, _ := b.server.Message(roomID(room), ts)
		state := ask.Find(id).State
		said[state]++
		if want := map[approval.State]string{approval.Allowed: "Allowed once by Ann", approval.Denied: "Denied by Ann"}[state]; want == "" || !strings.Contains(m.Shown(), want) {
			b.t.Errorf("%s is %s, and its card says %s", id, state, m.Shown())
		}
	}
	if len(said) != 2 {
		b.t.Errorf("the calls are %v", slices.Collect(maps.Keys(said)))
	}
}
