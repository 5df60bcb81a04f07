package web_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

// press posts a decision and returns the page that it leads to.
func (in *inbox) press(form url.Values) tree {
	in.Helper()
	rec := in.post("/inbox/decide", form)
	if rec.Code != http.StatusSeeOther {
		in.Fatalf("got %d: %s", rec.Code, rec.Body)
	}
	next := in.get(rec.Header().Get("Location"))
	if next.Code != http.StatusOK {
		in.Fatalf("the page behind: %d", next.Code)
	}
	return sound(in.T, next)
}

func tap(c approval.Choice) url.Values { return tapOf("rmbuild1", c) }

// pressed returns the form of a button of the desk, by its token.
func pressed(token string) url.Values {
	return url.Values{"token": {token}, "choice": {token[strings.LastIndex(token, "-")+1:]}}
}

func TestAllowOnce(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	doc := in.press(tap(approval.ChoiceAllow))
	notice := doc.id(t, "notice").words()
	for _, want := range []string{"Allowed once,", "Runs rm -rf ./build", "The permit lapses in about 9 minutes."} {
		if !strings.Contains(notice, want) {
			t.Errorf("the notice does not say %q: %q", want, notice)
		}
	}
	if n := doc.id(t, "cards").all("article"); len(n) != 1 || n[0].attr("data-ask") != "lookalike" {
		t.Errorf("the next card does not come up")
	}
	card := sound(t, in.get("/inbox/ask/rmbuild1")).id(t, "ask-rmbuild1")
	if len(card.tokens()) != 0 || !strings.Contains(card.class("fate")[0].words(), "Allowed once by owner (inbox)") {
		t.Errorf("the card is not final: %q", card.words())
	}
	got := d.lastTap()
	want := approval.Tap{
		Token: "TOKEN-rmbuild1-1-rmbuild1-allow", Ask: "rmbuild1", Choice: approval.ChoiceAllow, By: approval.Person{ID: "web:owner", Name: "owner"}, Channel: "web", Revealed: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDenyWithWords(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	form := tap(approval.ChoiceDeny)
	form.Set("from", "ask")
	form.Set("words", "  Only dist,\r\nplease.\x00\x1b[31m\x7f\xff ")
	doc := in.press(form)
	if got := d.lastTap().Words; got != "Only dist,\nplease.[31m\uFFFD" {
		t.Errorf("words: got %q", got)
	}
	if notice := doc.id(t, "notice").words(); !strings.Contains(notice, "Denied,") || !strings.Contains(notice, "Your words go to the agent.") {
		t.Errorf("notice: %q", notice)
	}
	if card := doc.id(t, "ask-rmbuild1").words(); !strings.Contains(card, "Words for the agentOnly dist, please.") {
		t.Errorf("card: %q", card)
	}
	if got := doc.all("h1")[0].words(); got != "One ask" {
		t.Errorf("an answer given on the ask's page leads to %q", got)
	}
}

// TestHowLongAYesHolds checks that the page says how long a yes holds, while it does and is
// not used.
func TestHowLongAYesHolds(t *testing.T) {
	permit := &approval.Permit{LapsesAt: time.Now().Add(time.Hour)}
	for _, row := range []struct {
		state  approval.State
		permit *approval.Permit
		told   bool
	}{{approval.Allowed, permit, true}, {approval.Allowed, nil, false}, {approval.Succeeded, permit, false}} {
		d := full()
		in := newInbox(t, d).signIn()
		rec := in.post("/inbox/decide", tap(approval.ChoiceAllow))
		d.change(func() {
			a := &d.asks[0].Approvals[0]
			a.State, a.Permit = row.state, row.permit
		})
		notice := sound(t, in.get(rec.Header().Get("Location"))).id(t, "notice")
		if told := strings.Contains(notice.words(), "The permit lapses in"); told != row.told {
			t.Errorf("%s, permit %v: %s", row.state, row.permit, notice.words())
		}
	}
}

// TestLateTapsAreToldTheTruth checks that a page that was open while somebody else decided
// says who did and what, and nothing that its own button said.
func TestLateTapsAreToldTheTruth(t *testing.T) {
	allow := &approval.Decision{Choice: approval.ChoiceAllow, By: approval.Person{ID: "telegram:1", Name: "Ada"}, Channel: "telegram", At: time.Now()}
	deny := *allow
	deny.Choice = approval.ChoiceDeny
	for _, row := range []struct {
		name     string
		state    approval.State
		decision *approval.Decision
		press    approval.Choice
		want     string
	}{
		{"denied_by_other", approval.Denied, &deny, approval.ChoiceAllow, "Your answer came second: already denied by Ada (telegram)"},
		{"allowed_by_other", approval.Allowed, allow, approval.ChoiceDeny, "Your answer came second: already allowed once by Ada (telegram)"},
		{"ran_already", approval.Succeeded, allow, approval.ChoiceDeny, "Your answer came second: already allowed once by Ada (telegram)"},
		{"expired", approval.Expired, nil, approval.ChoiceAllow, "Expired. No answer came in time."},
		{"withdrawn", approval.Withdrawn, nil, approval.ChoiceAllow, "Withdrawn. The agent withdrew it before anybody answered."},
		{"superseded", approval.Superseded, nil, approval.ChoiceAllow, "Replaced. The agent proposed a changed call"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := full()
			in := newInbox(t, d).signIn()
			d.change(func() {
				a := &d.asks[0].Approvals[0]
				a.State, a.Decision, a.EndedAt = row.state, row.decision, time.Now()
			})
			doc := in.press(tap(row.press))
			if got := doc.id(t, "notice").words(); !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if len(doc.id(t, "notice").class("late")) != 1 {
				t.Error("the notice does not look late")
			}
		})
	}
}

// TestLateWordsLeadToTheirCard checks that words which came too late lead to the card that they were
// written for, where the page keeps them, and a late press without words to the next one.
func TestLateWordsLeadToTheirCard(t *testing.T) {
	for words, want := range map[string]string{"": "lookalike", "Use dist": "rmbuild1"} {
		d := full()
		in := newInbox(t, d).signIn()
		d.change(func() {
			a := &d.asks[0].Approvals[0]
			a.State, a.EndedAt = approval.Allowed, time.Now()
			a.Decision = &approval.Decision{Choice: approval.ChoiceAllow, By: approval.Person{ID: "telegram:1", Name: "Ada"}, Channel: "telegram", At: time.Now()}
		})
		form := tap(approval.ChoiceDeny)
		form.Set("words", words)
		doc := in.press(form)
		if cards := doc.id(t, "cards").all("article"); len(cards) != 1 || cards[0].attr("data-ask") != want {
			t.Errorf("words %q do not lead to %s", words, want)
		}
		if got := doc.id(t, "notice").words(); !strings.Contains(got, "already allowed once by Ada") || strings.Contains(got, "words go") {
			t.Errorf("words %q: the notice says %q", words, got)
		}
	}
}

// TestAYesThatIsNotEnough checks that if more people must allow, a yes is kept and reported
// as such, also on the card.
func TestAYesThatIsNotEnough(t *testing.T) {
	d := full()
	r := approval.Routing{Routes: []approval.Route{{Name: "two", Approvers: []string{"web:owner", "telegram:1"}, Quorum: 2}}}
	d.voters = &approval.Electorate{
		Terms: []approval.Terms{r.Terms("two", "coder")},
		Human: func(id string) (string, bool) { return id, true },
	}
	in := newInbox(t, d).signIn()
	doc := in.press(tap(approval.ChoiceAllow))
	if got := doc.id(t, "notice").words(); !strings.Contains(got, "Your yes counts. More people must allow the call") {
		t.Errorf("notice: %q", got)
	}
	if len(doc.id(t, "notice").class("late")) != 0 {
		t.Error("a yes that counts looks like one that came too late")
	}
	card := doc.id(t, "ask-rmbuild1")
	if len(card.tokens()) == 0 || !strings.Contains(card.words(), "1 of 2 have allowed it: owner (web:owner)") {
		t.Errorf("card: %q", card.words())
	}
	if got := sound(t, in.get("/inbox/history")).words(); !strings.Contains(got, "The call has not run. Allowed so far by owner (web:owner); more people must allow it.") {
		t.Errorf("history: %q", got)
	}
	doc = in.press(tap(approval.ChoiceAllow))
	if got := doc.id(t, "notice").words(); !strings.Contains(got, "Waiting for you") || len(doc.id(t, "notice").class("late")) != 1 {
		t.Errorf("the same yes again: %q", got)
	}
}

// TestAReplacedButtonMeansNothing checks that a button of a replaced card decides nothing.
func TestAReplacedButtonMeansNothing(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	form := tap(approval.ChoiceAllow)
	d.change(func() {
		for i := range d.asks {
			d.asks[i].Repost("web", approval.NewTokens(d.asks[i].PostTokens()))
		}
	})
	rec := in.post("/inbox/decide", form)
	if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), "This button no longer works") {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	if got := d.asks[0].Approvals[0].State; got != approval.Pending {
		t.Errorf("it is %s", got)
	}
}

func TestOfManyTapsOneIsToldThatItDecided(t *testing.T) {
	in := newInbox(t, full()).signIn()
	var wg sync.WaitGroup
	notices := make([]string, 40)
	for i := range notices {
		choice := approval.ChoiceAllow
		if i%2 == 0 {
			choice = approval.ChoiceDeny
		}
		wg.Go(func() {
			rec := in.post("/inbox/decide", tap(choice))
			notices[i] = parse(t, in.get(rec.Header().Get("Location"))).id(t, "notice").words()
		})
	}
	wg.Wait()
	won := 0
	for _, n := range notices {
		if !strings.HasPrefix(n, "Your answer came second: already ") {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d taps are told that they decided: %q", won, notices)
	}
}

// TestAnswerOutlivesItsPage checks that an answer that arrived counts even if its sender
// left.
func TestAnswerOutlivesItsPage(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := in.do(in.request(http.MethodPost, "/inbox/decide", tap(approval.ChoiceDeny)).WithContext(ctx))
	if rec.Code != http.StatusSeeOther || d.state("rmbuild1-1") != approval.Denied {
		t.Errorf("got %d, and the call is %s", rec.Code, d.state("rmbuild1-1"))
	}
}

// blind is a desk that cannot read its list or its cards, but still decides.
type blind struct {
	*desk

	lists, cards error
}

func (b blind) Waiting(ctx context.Context) iter.Seq2[approval.Waiting, error] {
	if b.lists == nil {
		return b.desk.Waiting(ctx)
	}
	return func(yield func(approval.Waiting, error) bool) { yield(approval.Waiting{}, b.lists) }
}

func (b blind) Card(ctx context.Context, id approval.AskID, channel string) (approval.Card, error) {
	c, err := b.desk.Card(ctx, id, channel)
	return c, errors.Join(err, b.cards)
}

// TestAnAnswerOutlivesTheList checks that if what comes next cannot be read, a stored
// answer leads to its own ask.
func TestAnAnswerOutlivesTheList(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		lists, cards error
		want         string
	}{{nil, nil, "/inbox?"}, {broken, nil, "/inbox/ask/rmbuild1?"}, {nil, broken, "/inbox/ask/rmbuild1?"}} {
		d := full()
		c := config(d)
		c.Desk = blind{d, row.lists, row.cards}
		in := inboxOf(t, d, c).signIn()
		form := tap(approval.ChoiceDeny)
		form.Set("from", "inbox")
		rec := in.post("/inbox/decide", form)
		if to := rec.Header().Get("Location"); rec.Code != http.StatusSeeOther || !strings.HasPrefix(to, row.want) || d.state("rmbuild1-1") != approval.Denied {
			t.Errorf("lists: %v, cards: %v: %d %s, %s", row.lists, row.cards, rec.Code, to, d.state("rmbuild1-1"))
		}
	}
}

func TestDecideRefuses(t *testing.T) {
	for _, row := range []struct {
		name string
		form url.Values
		code int
		want string
	}{
		{"no_token", url.Values{"ask": {"rmbuild1"}, "choice": {"deny"}}, http.StatusNotFound, "no longer works"},
		{"no_choice", url.Values{"ask": {"rmbuild1"}, "token": tap(approval.ChoiceDeny)["token"]}, http.StatusNotFound, "no longer works"},
		{"other_choice", url.Values{"ask": {"rmbuild1"}, "choice": {"deny"}, "token": tap(approval.ChoiceAllow)["token"]}, http.StatusNotFound, "no longer works"},
		{"other_ask", url.Values{"ask": {"plan4711"}, "choice": {"deny"}, "token": tap(approval.ChoiceDeny)["token"]}, http.StatusNotFound, "no longer works"},
		{"unknown_token", url.Values{"token": {"TOKEN"}, "ask": {"rmbuild1"}, "choice": {"deny"}}, http.StatusNotFound, "no longer works"},
		{"choice_without_token", url.Values{"choice": {"allow"}, "ask": {"rmbuild1"}}, http.StatusNotFound, "Nothing was decided"},
		{"long_words", url.Values{"choice": {"deny"}, "token": tap(approval.ChoiceDeny)["token"], "words": {strings.Repeat("ü", 2001)}}, http.StatusUnprocessableEntity, "the words have 2,001 characters; at most 2000 are taken"},
		{"long_form", url.Values{"token": {strings.Repeat("x", 5<<20)}}, http.StatusRequestEntityTooLarge, "at most 4 MiB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := full()
			in := newInbox(t, d).signIn()
			before := d.asks[0].View()
			rec := in.post("/inbox/decide", row.form)
			if doc := sound(t, rec); rec.Code != row.code || !strings.Contains(doc.id(t, "failure").words(), row.want) {
				t.Errorf("got %d: %s", rec.Code, doc.words())
			}
			if d.asks[0].View() != before {
				t.Error("it decided something")
			}
		})
	}
}

// TestNoticeCannotBeForged checks that only the outcome of a real tap is told: a link
// cannot make the page claim that something was decided.
func TestNoticeCannotBeForged(t *testing.T) {
	in := newInbox(t, full()).signIn()
	session, _, _ := strings.Cut(in.cookie.Value, ".")
	to, err := url.Parse(in.post("/inbox/decide", tap(approval.ChoiceAllow)).Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	kept := to.Query().Get("told")
	if sound(t, in.get("/inbox?told="+url.QueryEscape(kept))).id(t, "notice").words() == "" {
		t.Error("a real tap is not told")
	}
	note, seal, _ := strings.Cut(kept, ".")
	for _, told := range []string{
		"", "x", "e30.", `{"ask":"answered","won":true}`, in.cookie.Value, session + ".AAAA",
		"eyJhc2siOiJhbnN3ZXJlZCIsIndvbiI6dHJ1ZSwiaWRzIjpbImFuc3dlcmVkLTEiXX0.AAAA",
		note, note + ".", "." + seal, note + "!." + seal, "!" + kept, kept + "!", kept + ".", note + "." + seal[:len(seal)-2],
	} {
		doc := sound(t, in.get("/inbox?told="+url.QueryEscape(told)))
		if got := doc.id(t, "notice").words(); got != "" {
			t.Errorf("%q: the page says %q", told, got)
		}
	}
}

// TestATapThatDecidesNothingSaysWhy checks that a tap that fails says why, and decides
// nothing.
func TestATapThatDecidesNothingSaysWhy(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		code int
		want string
	}{
		"final":        {approval.ErrNotAskable, http.StatusForbidden, "Nobody can allow this call, so nothing was allowed."},
		"no grant":     {approval.ErrNoGrant, http.StatusUnprocessableEntity, "This cannot be granted for more than one call."},
		"a stranger":   {approval.ErrNotApprover, http.StatusForbidden, "not among those who may"},
		"unknown":      {approval.ErrNotFound, http.StatusNotFound, ""},
		"other choice": {approval.ErrOtherChoice, http.StatusNotFound, ""},
		"long words":   {&approval.WordsError{Have: 5000}, http.StatusUnprocessableEntity, "5,000"},
		"obscured":     {approval.ErrObscured, http.StatusForbidden, "A masked value decides what this call does"},
		"passkey":      {approval.ErrPasskey, http.StatusForbidden, "it needs your passkey"},
		"unsure":       {errors.New("the disk is away"), http.StatusInternalServerError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := full()
			in := newInbox(t, d).signIn()
			d.change(func() { d.fail = fmt.Errorf("decide: %w", row.err) })
			rec := in.post("/inbox/decide", tap(approval.ChoiceAllow))
			d.change(func() { d.fail = nil })
			said := sound(t, rec).id(t, "failure").words()
			if rec.Code != row.code || !strings.Contains(said, row.want) || strings.Contains(said, "the disk is away") || d.state("rmbuild1-1") != approval.Pending {
				t.Errorf("%d, %s: %s", rec.Code, d.state("rmbuild1-1"), said)
			}
		})
	}
}
