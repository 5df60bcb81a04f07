package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/answerstest"
	"github.com/metnos/vaglio/internal/strictjson"
)

// lifeCard is an ask of one call, about which people and agents race.
type lifeCard struct {
	n           int
	id, body    string
	allow, deny url.Values
}

// livesUnderFire lets people allow and deny, and agents withdraw, redeem, report and look, all about
// the same few asks.
func livesUnderFire(w *witness, dice *rand.Rand) {
	t := w.h.t
	s := w.h.serve()
	me := s.signIn(s.link)
	var cards []*lifeCard
	for n := range 3 * onlookers {
		c := &lifeCard{n: n}
		c.body = fmt.Sprintf(`{"turn_id":"life-%d","step":1,"intent":"publish","executor":"shell_exec","args":{"command":"git push --force origin life-%d"},"context":{"capability":"code:exec","cwd":"/srv/app"}}`, n, n)
		r := s.local(http.MethodPost, "/v1/proposals", c.body)
		var a approval.Answer
		if err := strictjson.Unmarshal([]byte(r.body), &a); err != nil || a.Approval == nil {
			t.Fatalf("%d %s: %v", r.status, r.body, err)
		}
		c.id = string(a.Approval.ID)
		on := buttons(t, me.get("/inbox/ask/"+string(a.Approval.ID.Ask())).body)
		if c.allow, c.deny = on["allow"], on["deny"]; c.allow == nil || c.deny == nil {
			t.Fatalf("the card of %s has the buttons %v", c.id, on)
		}
		cards = append(cards, c)
	}
	s.stop()
	// What leads on is done more often than what ends a life at once.
	deeds := []string{
		answerstest.Allow, answerstest.Allow, answerstest.Deny, answerstest.Withdraw, answerstest.Redeem, answerstest.Redeem, answerstest.Redeem,
		answerstest.Works, answerstest.Fails, answerstest.Look, answerstest.Look,
	}
	w.fires(dice, func(me *person, client int, dice *rand.Rand) answerstest.Outcome {
		d := answerstest.Deed{What: deeds[dice.IntN(len(deeds))], Card: dice.IntN(len(cards))}
		return w.saw(client, d, func() answerstest.Outcome { return w.lives(me, cards[d.Card], d.What) })
	})
	w.holds(answerstest.Lives())
	w.bites(answerstest.Lives(), dice)
}

// presses presses a button of a card, and reports whether the page that follows says that this decided.
func presses(me *person, button url.Values) answerstest.Outcome {
	r, err := me.tries("/inbox/decide", button)
	switch {
	case err != nil || r.status >= http.StatusInternalServerError || r.status == http.StatusUnauthorized:
		return answerstest.Lost
	case r.status == http.StatusNotFound:
		return void
	case strings.Contains(r.body, `<div class="notice" role="status" tabindex`):
		return answerstest.Did
	case strings.Contains(r.body, `<div class="notice late" role="status" tabindex`):
		return answerstest.Not
	default: // the page is of a daemon that cannot read the other's note
		return answerstest.Lost
	}
}

// lives does something about an ask.
func (w *witness) lives(me *person, c *lifeCard, what string) answerstest.Outcome {
	at := "/v1/approvals/" + c.id
	switch what {
	case answerstest.Allow:
		return presses(me, c.allow)
	case answerstest.Deny:
		return presses(me, c.deny)
	case answerstest.Withdraw:
		return w.agents(http.MethodDelete, at, "", nil)
	case answerstest.Works:
		return w.agents(http.MethodPost, at+"/outcome", `{"succeeded":true}`, nil)
	case answerstest.Fails:
		return w.agents(http.MethodPost, at+"/outcome", `{"succeeded":false}`, nil)
	}
	var a approval.Answer
	out := w.agents(http.MethodGet, at, "", &a)
	switch {
	case out != answerstest.Did || a.Approval == nil:
		return void // nobody was told anything, and nothing was done
	case what == answerstest.Look:
		return answerstest.SawState(a.Approval.State)
	case a.Permit == nil:
		return answerstest.Not
	}
	return w.agents(http.MethodPost, "/v1/permits/"+a.Permit.Permit+"/redeem", c.body, nil)
}

// agents sends a request as an agent, and reports whether it had an effect. The answer goes into told.
func (w *witness) agents(method, path, body string, told *approval.Answer) answerstest.Outcome {
	r, err := trySend(w.h.t.Context(), w.h.over("agent.sock"), method, "http://vaglio"+path, body, "")
	switch {
	case err != nil || r.status >= http.StatusInternalServerError:
		return answerstest.Lost
	case r.status == http.StatusConflict || r.status == http.StatusGone:
		return answerstest.Not
	case r.status != http.StatusOK && r.status != http.StatusNoContent:
		w.h.t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
	case told != nil:
		if err := strictjson.Unmarshal([]byte(r.body), told); err != nil {
			w.h.t.Errorf("%s: %v: %s", path, err, r.body)
		}
	}
	return answerstest.Did
}

// bites turns what was seen of one deed, of some in turn, into its opposite: the model must not
// explain all of these histories, or it would explain anything.
func (w *witness) bites(model porcupine.Model, dice *rand.Rand) {
	w.h.t.Helper()
	tried, noticed := 0, 0
	for range 40 {
		i := dice.IntN(len(w.history))
		was, _ := w.history[i].Output.(answerstest.Outcome)
		if was != answerstest.Did && was != answerstest.Not {
			continue
		}
		w.history[i].Output = answerstest.Saw(was == answerstest.Not)
		tried++
		if porcupine.CheckOperationsTimeout(model, w.history, time.Minute) == porcupine.Illegal {
			noticed++
		}
		w.history[i].Output = was
	}
	w.h.t.Logf("%d of %d changed histories are noticed", noticed, tried)
	if tried >= 10 && noticed == 0 {
		w.h.t.Errorf("round %d: none of %d changed histories is noticed", w.round, tried)
	}
}
