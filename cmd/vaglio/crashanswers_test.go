package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/answerstest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// TestKilledWhileAnswersHold kills the daemon at random instants while agents use a grant and people
// end it or pull the brake, while people deny a kind and lift that, and while people decide, and agents
// withdraw, redeem and report, all about the same asks. What all of them saw across
// the kills must be explained by some sequence of these acts; an act that a kill interrupted may or
// may not have happened. `make ladder` runs more of it.
func TestKilledWhileAnswersHold(t *testing.T) {
	t.Parallel()
	rounds := 2
	if race.Detector || testing.Short() {
		rounds = 1
	}
	if *ladderKills > 0 {
		rounds = max(1, *ladderKills/6)
	}
	seed := chosenSeed()
	t.Logf("the seed is %d", seed)
	for name, run := range map[string]func(*witness, *rand.Rand){"grants and brakes": grantsUnderFire, "denied kinds": kindsUnderFire, "lives": livesUnderFire} {
		t.Run(name, func(t *testing.T) {
			w := &witness{}
			for n := range rounds {
				// A denied kind holds in every folder of a home. The calls get longer with their number,
				// and one of thousands of words is no longer covered by a grant.
				w.h, w.round, w.history = newHome(t), n, nil
				w.calls.Store(0)
				run(w, rand.New(rand.NewPCG(seed, uint64(n))))
			}
			t.Logf("%d kills, %d deeds, %d of them cut off", w.kills, w.deeds, w.lost)
		})
	}
}

// witness records what agents and people saw of a home's daemons.
type witness struct {
	h           *home
	round       int
	kills       int
	deeds, lost int
	calls       atomic.Int64
	clock       atomic.Int64

	mu      sync.Mutex
	history []porcupine.Operation
}

// killsARound is how often the daemon is killed in one history, deedsUntil about how many deeds
// precede each kill, and onlookers the number of clients.
const (
	killsARound = 3
	deedsUntil  = 24
	onlookers   = 4
)

// fires lets clients act until the daemon is killed, a few times over. Each client goes on with the
// next daemon, where the person has signed in.
func (w *witness) fires(dice *rand.Rand, act func(me *person, client int, dice *rand.Rand) answerstest.Outcome) {
	for kill := range killsARound {
		s := w.h.serve()
		me := s.signIn(s.link)
		fuse := int64(1 + dice.IntN(deedsUntil)) // All of them together do more.
		begun := w.clock.Load()
		var all sync.WaitGroup
		for client := range onlookers {
			own := rand.New(rand.NewPCG(dice.Uint64(), uint64(kill)))
			all.Go(func() {
				for range 2 * deedsUntil / onlookers {
					if act(me, client, own) == answerstest.Lost {
						return
					}
				}
			})
		}
		tick := time.NewTicker(200 * time.Microsecond)
		for w.clock.Load()-begun < 2*fuse && w.h.t.Context().Err() == nil {
			<-tick.C
		}
		tick.Stop()
		s.kill()
		all.Wait()
		w.kills++
	}
}

// saw records a client's deed, and its result.
func (w *witness) saw(client int, d answerstest.Deed, act func() answerstest.Outcome) answerstest.Outcome {
	called := w.clock.Add(1)
	out := act()
	returned := w.clock.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deeds++
	if out == void {
		return out
	}
	if out == answerstest.Lost {
		// It may still take effect; what the client does from now on counts as another's.
		w.lost++
		client, returned = onlookers+w.lost, 1<<62
	}
	w.history = append(w.history, porcupine.Operation{ClientId: client, Input: d, Output: out, Call: called, Return: returned})
	return out
}

// holds checks what was seen against the model.
func (w *witness) holds(model porcupine.Model) {
	w.h.t.Helper()
	if porcupine.CheckOperationsTimeout(model, w.history, time.Minute) == porcupine.Ok {
		return
	}
	for _, op := range w.history {
		w.h.t.Logf("%d: %v %v, %d to %d", op.ClientId, op.Input, op.Output, op.Call, op.Return)
	}
	w.h.t.Errorf("round %d: what they saw cannot have happened one after the other", w.round)
}

// proposes proposes a command in a turn of its own. lost reports that no answer came.
func (w *witness) proposes(command string) (a approval.Answer, lost bool) {
	n := w.calls.Add(1)
	body := fmt.Sprintf(`{"turn_id":"t-%d","step":1,"intent":"publish","executor":"shell_exec","args":{"command":%q},"context":{"capability":"code:exec","cwd":"/srv/app"}}`, n, command)
	r, err := trySend(w.h.t.Context(), w.h.over("agent.sock"), http.MethodPost, "http://vaglio/v1/proposals", body, "")
	if err != nil || r.status != http.StatusOK {
		return a, true
	}
	if err := strictjson.Unmarshal([]byte(r.body), &a); err != nil {
		w.h.t.Errorf("%s: %v: %s", command, err, r.body)
	}
	return a, false
}

// void is a press on a card that was posted again, as a restart does with a card that was being
// posted. It decides nothing, and the answer says so.
const void = answerstest.Outcome(-1)

// posts sends a form of the inbox as the person.
func posts(me *person, path string, form url.Values) answerstest.Outcome {
	r, err := me.tries(path, form)
	switch {
	case err != nil || r.status >= http.StatusInternalServerError || r.status == http.StatusUnauthorized:
		return answerstest.Lost
	case r.status == http.StatusOK:
		return answerstest.Did
	case r.status == http.StatusNotFound:
		return void
	default:
		return answerstest.Not
	}
}

func grantsUnderFire(w *witness, dice *rand.Rand) {
	t := w.h.t
	s := w.h.serve()
	a, lost := w.proposes("git push origin main")
	if lost || a.Approval == nil {
		t.Fatalf("%+v", a)
	}
	me := s.signIn(s.link)
	id := string(a.Approval.ID)
	choice := buttons(t, me.get("/inbox/ask/"+string(a.Approval.ID.Ask())).body)["grant-hour"]
	if r := me.post("/inbox/decide", choice); r.status != http.StatusOK {
		t.Fatalf("granting: %d %s", r.status, r.body)
	}
	s.stop()
	others := [][]string{{"end"}, {"stop", "go"}, {"end", "stop", "go"}}[w.round%3]
	w.fires(dice, func(me *person, client int, dice *rand.Rand) answerstest.Outcome {
		what := "use"
		if dice.IntN(5) == 0 {
			what = others[dice.IntN(len(others))]
		}
		return w.saw(client, answerstest.Deed{What: what}, func() answerstest.Outcome {
			switch what {
			case "use":
				// Each is a different call; all are covered by the grant.
				a, lost := w.proposes("git push" + strings.Repeat(" -v", int(w.calls.Add(1))) + " origin main")
				if lost {
					return answerstest.Lost
				}
				return answerstest.Saw(a.Permit != nil)
			case "end":
				return posts(me, "/inbox/order", url.Values{"verb": {"end"}, "id": {id}})
			default:
				return posts(me, "/inbox/order", url.Values{"verb": {what}})
			}
		})
	})
	w.holds(answerstest.GrantsAndBrakes())
}

func kindsUnderFire(w *witness, dice *rand.Rand) {
	t := w.h.t
	s := w.h.serve()
	me := s.signIn(s.link)
	press := func(a approval.Answer, choice string) url.Values {
		form := buttons(t, me.get("/inbox/ask/"+string(a.Approval.ID.Ask())).body)[choice]
		if form == nil {
			t.Fatalf("the card of %+v has no button %s", a, choice)
		}
		return form
	}
	asks := func(command string) approval.Answer {
		a, lost := w.proposes(command)
		if lost || a.Approval == nil {
			t.Fatalf("%s: %+v", command, a)
		}
		return a
	}
	if r := me.post("/inbox/decide", press(asks("git push origin main"), "deny")); r.status != http.StatusOK {
		t.Fatalf("denying: %d %s", r.status, r.body)
	}
	// Each client has cards of its own to deny on, and lifts what it denied.
	type card struct {
		n              int
		id             string
		deny           url.Values
		denied, lifted bool
	}
	var own [onlookers][]*card
	for n := range 3 * onlookers {
		a := asks(fmt.Sprint("git push origin release/", n))
		own[n%onlookers] = append(own[n%onlookers], &card{n: n, id: string(a.Approval.ID), deny: press(a, "deny-kind")})
	}
	s.stop()
	w.fires(dice, func(me *person, client int, dice *rand.Rand) answerstest.Outcome {
		c := own[client][dice.IntN(len(own[client]))]
		switch {
		case dice.IntN(2) == 0 && !c.denied:
			c.denied = true
			return w.saw(client, answerstest.Deed{What: "deny", Card: c.n}, func() answerstest.Outcome { return posts(me, "/inbox/decide", c.deny) })
		case dice.IntN(2) == 0 && c.denied && !c.lifted:
			c.lifted = true
			return w.saw(client, answerstest.Deed{What: "lift", Card: c.n}, func() answerstest.Outcome {
				return posts(me, "/inbox/order", url.Values{"verb": {"lift"}, "id": {c.id}})
			})
		default:
			return w.saw(client, answerstest.Deed{What: "use"}, func() answerstest.Outcome {
				a, lost := w.proposes(fmt.Sprint("git push origin release/of-", w.calls.Add(1)))
				if lost {
					return answerstest.Lost
				}
				if a.Decision != approval.RulingPending && (a.Refusal == nil || a.Refusal.Standing == nil) {
					t.Errorf("refused, by no denial that stands: %+v %+v", a, a.Refusal)
				}
				return answerstest.Saw(a.Decision == approval.RulingPending)
			})
		}
	})
	w.holds(answerstest.DeniedKinds())
}
