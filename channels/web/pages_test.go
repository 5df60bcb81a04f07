package web_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

func TestInboxShowsTheWholeCall(t *testing.T) {
	in := newInbox(t, full()).signIn()
	doc := sound(t, in.get("/inbox?ask=rmbuild1"))
	card := doc.id(t, "ask-rmbuild1")
	if votes := card.class("votes"); len(votes) != 0 {
		t.Errorf("a call that one person decides speaks of votes: %q", votes[0].words())
	}
	for _, want := range []string{
		"claude-code wants to run shell_exec", "rm -rf ./build", `"command": "rm -rf ./build"`, "/home/u/app",
		"rule-based-v1 said no", "Score 0.4 of 1, needs 0.75",
		"capability", "no word of the request names what is removed", "0.2", "Ask for a narrower call",
		"Your request, as the agent relays it", "clean the old build", "expires in about 29 minutes", "3 lines, 33 characters",
	} {
		if !strings.Contains(card.words(), want) {
			t.Errorf("the card does not show %q:\n%s", want, card.words())
		}
	}
	want := map[string]string{
		"TOKEN-rmbuild1-1-rmbuild1-allow": "Allow once: Runs rm -rf ./build",
		"TOKEN-rmbuild1-1-rmbuild1-deny":  "Deny and send words: Runs rm -rf ./build",
	}
	if diff := cmp.Diff(want, card.tokens()); diff != "" {
		t.Error(diff)
	}
	if n := len(doc.id(t, "cards").all("article")); n != 1 {
		t.Errorf("%d cards stand beside the list", n)
	}
	var order []string
	for _, row := range doc.id(t, "list").class("row") {
		order = append(order, row.attr("data-row"))
	}
	if diff := cmp.Diff([]string{"rmbuild1", "lookalike", "plan4711"}, order); diff != "" {
		t.Error(diff)
	}
}

// TestArgumentsBesideACommandMustBeSeen checks that the page folds the arguments away only
// where the command above them says all that they hold, and else asks that they be seen to
// their end.
func TestArgumentsBesideACommandMustBeSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		args vaglio.Args
		seen bool
	}{
		"a command":              {vaglio.Args{"command": "make"}, false},
		"a command and a folder": {vaglio.Args{"command": "make", "cwd": "/etc"}, true},
		"no command":             {vaglio.Args{"text": "make"}, true},
	} {
		d := newDesk()
		d.open("argument", vaglio.Proposal{Agent: "a", Executor: "shell_exec", Args: tt.args})
		card := sound(t, newInbox(t, d).signIn().get("/inbox/ask/argument")).id(t, "ask-argument")
		bare, folded := 0, 0
		for _, pre := range card.class("args") {
			if pre.attr("data-call") == "argument-1" {
				bare++
			}
		}
		for _, why := range card.class("why") {
			folded += len(why.class("args"))
		}
		if (bare == 1 && folded == 0) != tt.seen || (folded == 1 && bare == 0) == tt.seen {
			t.Errorf("%s: %d must be seen, %d are folded away", name, bare, folded)
		}
	}
}

// TestWhoSaidNoComesFirst checks the order of the judges, and the bar of each score.
func TestWhoSaidNoComesFirst(t *testing.T) {
	d := newDesk()
	d.open("judged01", proposal("make"))
	d.change(func() {
		v := &d.asks[0].Approvals[0].Verdict
		v.Results = append([]vaglio.GradientResult{{Judge: "mild", Score: 1.5, MinScore: 0.5}, {Judge: "milder", Score: 0.25}}, v.Results...)
	})
	card := sound(t, newInbox(t, d).signIn().get("/inbox/ask/judged01")).id(t, "ask-judged01")
	var got []string
	for _, m := range card.class("meter") {
		for _, r := range m.all("rect") {
			got = append(got, r.attr("class")+" "+r.attr("width")+" "+r.attr("x"))
		}
	}
	want := []string{
		"rail 200 ", "fill 80 ", "want 1.6 150", // it said no, at 0.4 of 1, and wants 0.75
		"rail 200 ", "fill 200 ", "want 1.6 100", "rail 200 ", "fill 50 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPlanSaysWhatFollowsFromEach checks that a call of a plan says what follows from it where that is not what the
// card says of the weightiest, and not otherwise.
func TestPlanSaysWhatFollowsFromEach(t *testing.T) {
	d := newDesk()
	d.open("plan", proposal("git push --force origin main"), proposal("sed -i s/a/b/ x"), proposal("git push -f origin dev"))
	d.change(func() {
		for i, follows := range [][2]string{{"irreversible", "shared"}, {"partial", "workspace"}, {"irreversible", "shared"}} {
			said := wording.Sentence{wording.Say("force-pushes %s to %s", "main", "origin")}
			d.asks[len(d.asks)-1].Approvals[i].Verdict.Results = []vaglio.GradientResult{{
				Judge: "effects", Score: 0.1, Signals: []vaglio.Signal{{Category: "publish", Score: 0.1, Message: said.String(), Said: said}},
				Metadata: map[string]any{"effects": []any{map[string]any{"kind": "publish", "reversibility": follows[0], "reach": follows[1]}}},
			}}
		}
	})
	card := parse(t, newInbox(t, d).signIn().get("/inbox/ask/plan")).id(t, "ask-plan").words()
	for text, times := range map[string]int{"Cannot be undone": 1, "touches what others use": 1, "Can be undone in part": 1, "stays in the workspace": 1} {
		if got := strings.Count(card, text); got != times {
			t.Errorf("%q stands %d times, not %d: %s", text, got, times, card)
		}
	}
}

func TestPlanIsAnsweredTogetherOrOneByOne(t *testing.T) {
	in := newInbox(t, full()).signIn()
	if whole := sound(t, in.get("/inbox/ask/plan4711")).words(); strings.Contains(whole, "of 3 waiting") {
		t.Errorf("a plan that waits as a whole is told to wait in part: %s", whole)
	}
	buttons := func() []string {
		card := sound(t, in.get("/inbox?ask=plan4711")).id(t, "ask-plan4711")
		return slices.Sorted(maps.Keys(card.tokens()))
	}
	want := []string{
		"TOKEN-all-plan4711-allow", "TOKEN-all-plan4711-deny", "TOKEN-plan4711-1-plan4711-allow", "TOKEN-plan4711-1-plan4711-deny",
		"TOKEN-plan4711-2-plan4711-allow", "TOKEN-plan4711-2-plan4711-deny", "TOKEN-plan4711-3-plan4711-allow", "TOKEN-plan4711-3-plan4711-deny",
	}
	if diff := cmp.Diff(want, buttons()); diff != "" {
		t.Error(diff)
	}
	in.post("/inbox/decide", pressed(want[4]))
	rec := in.post("/inbox/decide", pressed(want[3]))
	if diff := cmp.Diff([]string{"TOKEN-plan4711-3-plan4711-allow", "TOKEN-plan4711-3-plan4711-deny"}, buttons()); diff != "" {
		t.Error(diff)
	}
	card := parse(t, in.get(rec.Header().Get("Location"))).id(t, "ask-plan4711")
	for _, want := range []string{"1 of 3 waiting for you", "Allowed once", "Denied"} {
		if !strings.Contains(card.words(), want) {
			t.Errorf("the card does not say %q: %s", want, card.words())
		}
	}
	rec = in.post("/inbox/decide", pressed(want[0]))
	doc := parse(t, in.get(rec.Header().Get("Location")))
	if got := doc.id(t, "notice").words(); strings.Count(got, "Allowed once, ") != 1 {
		t.Errorf("the last that waited: %q", got)
	}
	rec = in.post("/inbox/decide", pressed(want[1]))
	doc = parse(t, in.get(rec.Header().Get("Location")))
	if got := doc.id(t, "notice").words(); strings.Count(got, "came second: already allowed once") != 2 || strings.Count(got, "came second: already denied") != 1 {
		t.Errorf("when all are answered: %q", got)
	}
	if !strings.Contains(doc.id(t, "ask-plan4711").words(), "All answered") {
		t.Error("a plan that is answered does not say so")
	}
}

// TestLongCallIsAllowedOnlyWhereItIsWhole checks that a call too long for the list offers
// Allow only where all of it is shown.
func TestLongCallIsAllowedOnlyWhereItIsWhole(t *testing.T) {
	race.Alone(t)
	d := newDesk()
	long := "echo BEGIN; " + strings.Repeat("echo ünïcode and more; ", 5000) + "echo END"
	d.open("longcall", proposal(long))
	in := newInbox(t, d).signIn()
	card := sound(t, in.get("/inbox")).id(t, "ask-longcall")
	if got := slices.Collect(maps.Keys(card.tokens())); len(got) != 1 || !strings.HasSuffix(got[0], "-deny") {
		t.Errorf("buttons: %v", got)
	}
	text := card.words()
	for _, want := range []string{"BEGIN", "END", "Only the beginning and the end are shown here", "Show all of it", "115,020 characters"} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not show %q", want)
		}
	}
	if len(text) > 20_000 {
		t.Errorf("the card shows %d characters among others", len(text))
	}
	card = sound(t, in.get("/inbox/ask/longcall")).id(t, "ask-longcall")
	if len(card.tokens()) != 2 || !strings.Contains(card.text(), long) {
		t.Errorf("the ask's own page shows %d characters and %v", len(card.text()), card.tokens())
	}
}

// overtaken is a desk whose asks of one agent are answered after they were counted.
type overtaken struct {
	*desk
	agent string
}

func (d overtaken) Card(ctx context.Context, id approval.AskID, channel string) (approval.Card, error) {
	c, err := d.desk.Card(ctx, id, channel)
	if c.Agent == d.agent {
		return approval.Card{}, approval.ErrNotFound
	}
	return c, err
}

func TestAgentsWhoseAsksWereJustAnsweredAreNoChoice(t *testing.T) {
	d := newDesk()
	for _, name := range []string{"ann", "bot", "cid", "dan", "eve", "fay", "gus"} {
		p := proposal("make " + name)
		p.Agent = name
		d.open(approval.AskID("ask-"+name), p)
	}
	c := config(d)
	c.Desk = overtaken{d, "ann"}
	doc := sound(t, inboxOf(t, d, c).signIn().get("/inbox"))
	var offered []string
	for _, o := range doc.id(t, "s-agent").all("option") {
		offered = append(offered, o.attr("value"))
	}
	if !slices.Equal(offered, []string{"", "bot", "cid", "dan", "eve", "fay", "gus"}) || len(doc.class("row")) != 6 {
		t.Errorf("the list offers %q and has %d rows", offered, len(doc.class("row")))
	}
}

// TestTheListIsSortedAndSearched checks that the list has a row for each ask: first what
// cannot be undone, and among equals what ends first. Its search finds what the cards show,
// and an answer leads to the next result.
func TestTheListIsSortedAndSearched(t *testing.T) {
	d := newDesk()
	for i, undo := range []string{"reversible", "irreversible", "", "partial", "irreversible", "nonsense"} {
		p := proposal(fmt.Sprintf("make target-%d", i))
		p.Agent = fmt.Sprintf("bot-%d", i%2)
		d.open(approval.AskID(fmt.Sprintf("ask%04d", i)), p)
		d.change(func() {
			a := &d.asks[i]
			a.ExpiresAt = time.Now().Add(time.Duration(60-i) * time.Minute)
			a.Approvals[0].Verdict.Results[0].Metadata = vaglio.Args{"effects": []any{
				map[string]any{"kind": "capability", "reversibility": undo}, map[string]any{"kind": "intent", "reversibility": undo},
			}}
		})
	}
	in := newInbox(t, d).signIn()
	rows := func(query string) (asks []string, current string) {
		for _, row := range sound(t, in.get("/inbox"+query)).class("row") {
			asks = append(asks, strings.TrimPrefix(row.attr("data-row"), "ask000"))
			if row.all("a")[0].attr("aria-current") == "true" {
				current = asks[len(asks)-1]
			}
		}
		return asks, current
	}
	for query, chosen := range map[string]bool{"": false, "?ask=ask0003": true, "?ask=gone": false, "?q=TARGET-2": false} { // on a phone, the card instead of the list
		if got := slices.Contains(strings.Fields(sound(t, in.get("/inbox"+query)).id(t, "split").attr("class")), "chosen"); got != chosen {
			t.Errorf("%q: a card is chosen: %t", query, got)
		}
	}
	for _, tt := range []struct{ query, want, current string }{
		{"", "4 1 5 2 3 0", "4"},
		{"?ask=ask0003", "4 1 5 2 3 0", "3"},
		{"?ask=gone", "4 1 5 2 3 0", "4"},
		{"?q=TARGET-2", "2", "2"},
		{"?q=bot-1", "1 5 3", "1"},
		{"?q=clean+the+old", "4 1 5 2 3 0", "4"},
		{"?agent=bot-0", "4 2 0", "4"},
		{"?agent=bot-0&harm=irreversible", "4", "4"},
		{"?harm=unknown", "5 2", "5"},
		{"?harm=wrong", "4 1 5 2 3 0", "4"},
		{"?q=nothing", "", ""},
	} {
		if got, current := rows(tt.query); strings.Join(got, " ") != tt.want || current != tt.current {
			t.Errorf("%q: got %v with %q chosen, want %q with %q", tt.query, got, current, tt.want, tt.current)
		}
	}
	doc := sound(t, in.get("/inbox?agent=bot-0&ask=ask0002"))
	if got := doc.all("title")[0].text(); got != "(6) Inbox · vaglio" {
		t.Errorf("title: %q", got)
	}
	form := url.Values{}
	for _, f := range doc.id(t, "ask-ask0002").class("dock")[0].all("form")[0].all("input", "button") {
		form.Set(f.attr("name"), f.attr("value"))
	}
	rec := in.post("/inbox/decide", form)
	doc = sound(t, in.get(rec.Header().Get("Location")))
	if n := doc.all("article"); len(n) != 1 || n[0].attr("data-ask") != "ask0000" {
		t.Errorf("after the answer %s comes up", rec.Header().Get("Location"))
	}
	if got := len(doc.class("row")); got != 2 {
		t.Errorf("the search did not stay: %d rows", got)
	}
}

// TestTheNextCardComesUp checks that an answer in the list leads to the next ask, and the
// last one to the previous.
func TestTheNextCardComesUp(t *testing.T) {
	d := newDesk()
	for i := range 3 {
		d.open(approval.AskID(fmt.Sprintf("ask%d", i)), proposal("make"), proposal("make test"))
		d.change(func() { d.asks[i].ExpiresAt = d.asks[i].ExpiresAt.Add(time.Duration(i) * time.Minute) })
	}
	in := newInbox(t, d).signIn()
	for _, tt := range []struct{ token, next string }{
		{"TOKEN-ask1-1-ask1-deny", "ask1"}, // The plan still waits.
		{"TOKEN-all-ask1-deny", "ask2"},
		{"TOKEN-all-ask2-deny", "ask0"},
		{"TOKEN-all-ask0-deny", ""},
	} {
		form := pressed(tt.token)
		form.Set("from", "inbox")
		form.Set("list", "%zz")
		rec := in.post("/inbox/decide", form)
		doc := sound(t, in.get(rec.Header().Get("Location")))
		next := ""
		for _, c := range doc.all("article") {
			next = c.attr("data-ask")
		}
		if next != tt.next || !strings.HasPrefix(doc.id(t, "notice").words(), "Denied, ") {
			t.Errorf("%s: %q comes up, the note says %q", tt.token, next, doc.id(t, "notice").words())
		}
	}
}

func TestEmptyInboxHelps(t *testing.T) {
	in := newInbox(t, newDesk()).signIn()
	doc := sound(t, in.get("/inbox"))
	text := doc.id(t, "list").words()
	if !strings.Contains(text, "Nothing waits for you") || !strings.Contains(text, "Try it") {
		t.Errorf("got %q", text)
	}
	if got := doc.all("title")[0].text(); got != "Inbox · vaglio" {
		t.Errorf("title: %q", got)
	}
}

// TestGuardDenialHasNoAllow checks that a guard's denial is shown, says that it is final,
// and has nothing to press.
func TestGuardDenialHasNoAllow(t *testing.T) {
	d := newDesk()
	s := guarded()
	s.ID = "guarded"
	d.log(s)
	in := newInbox(t, d).signIn()
	for _, p := range []string{"/inbox", "/inbox/history", "/inbox/turn/claude-code/t-81"} {
		doc := sound(t, in.get(p))
		entry := doc.id(t, "step-guarded")
		wants := []string{"Refused by the guard", "This is final: the call did not run, and nobody can allow it."}
		if p != "/inbox" { // The inbox is brief, and links to the full turn.
			wants = append(wants, "path.ssh", "SSH keys open other machines", "name a path outside that folder")
		}
		for _, want := range wants {
			if !strings.Contains(entry.words(), want) {
				t.Errorf("%s does not say %q: %s", p, want, entry.words())
			}
		}
		if n := len(entry.all("form", "button", "input", "textarea")); n != 0 {
			t.Errorf("%s: the entry holds %d things to press", p, n)
		}
		for _, b := range doc.all("button", "input", "a") {
			if strings.HasPrefix(b.name(), "Allow") || b.attr("name") == "token" || strings.Contains(b.attr("href"), "/ask/") {
				t.Errorf("%s holds %q", p, b.name())
			}
		}
	}
}

func TestHistoryFiltersAndPages(t *testing.T) {
	d := newDesk()
	for i := range 120 {
		s := passed()
		s.ID = fmt.Sprintf("s%d", i)
		if i%2 == 0 {
			s.Proposal.Agent = "other agent&co"
		}
		d.log(s)
	}
	in := newInbox(t, d).signIn()
	var seen []string
	next := "/inbox/history?agent=other+agent%26co&executor=fs_read&outcome=approved"
	for range 5 {
		doc := sound(t, in.get(next))
		for _, e := range doc.class("entry") {
			seen = append(seen, e.attr("id"))
		}
		next = ""
		for _, a := range doc.all("a") {
			if a.attr("rel") == "next" {
				next = a.attr("href")
			}
		}
		if next == "" {
			break
		}
	}
	if len(seen) != 60 || seen[0] != "step-s118" || seen[59] != "step-s0" {
		t.Errorf("got %d entries: %v", len(seen), seen)
	}
	doc := sound(t, in.get("/inbox/history?outcome=guard"))
	if !strings.Contains(doc.words(), "Nothing matches this filter") {
		t.Error("an empty page does not say why")
	}
}

func TestTurnsWithOddNames(t *testing.T) {
	race.Alone(t)
	for _, turn := range []string{"t-1", "a/b", "..", ".", "a b?c=d#e", "%2e%2e", "türn", "//"} {
		t.Run(url.PathEscape(turn), func(t *testing.T) {
			d := newDesk()
			s := passed()
			s.Proposal.TurnID = turn
			s.ID = "odd"
			d.log(s)
			in := newInbox(t, d).signIn()
			links := sound(t, in.get("/inbox")).id(t, "step-odd").all("a")
			rec := in.get(links[0].attr("href"))
			if rec.Code != http.StatusOK {
				t.Fatalf("%s: got %d", links[0].attr("href"), rec.Code)
			}
			sound(t, rec).id(t, "step-odd")
		})
	}
}

func TestTurnShowsHowItsStepsEnded(t *testing.T) {
	in := newInbox(t, full()).signIn()
	text := sound(t, in.get("/inbox/turn/claude-code/t-81")).id(t, "steps").words()
	for _, want := range []string{"Approved", "Waiting for you", "Refused by the guard", "Denied", "Ran: worked", "Not before the changelog is written."} {
		if !strings.Contains(text, want) {
			t.Errorf("the turn does not show %q: %s", want, text)
		}
	}
}

// TestATurnIsTold checks that a turn lists each step once, with what happened to it in
// order of time: who was asked, who answered, and how it ended. A step that nobody was
// asked about has only a badge.
func TestATurnIsTold(t *testing.T) {
	in := newInbox(t, full()).signIn()
	doc := sound(t, in.get("/inbox/turn/claude-code/t-81"))
	var said []string
	seen := map[string]bool{}
	for _, entry := range doc.id(t, "steps").class("entry") {
		if id := entry.attr("id"); seen[id] {
			t.Errorf("%s stands there twice", id)
		} else {
			seen[id] = true
		}
		for _, list := range entry.class("moments") {
			var at []string
			for _, m := range list.all("time") {
				at = append(at, m.attr("datetime"))
			}
			if len(at) < 2 || !slices.IsSorted(at) {
				t.Errorf("the moments are not in the order of time: %v", at)
			}
			said = append(said, list.words())
		}
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"Asked", "Denied", "Allowed once", "Ran: worked"} {
		if !strings.Contains(text, want) {
			t.Errorf("the moments lack %q: %s", want, text)
		}
	}
}

func TestEveryStateIsSaid(t *testing.T) {
	race.Alone(t)
	for _, s := range []approval.State{
		approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded, approval.Spent,
		approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	} {
		d := newDesk()
		d.open("oneask", proposal("make"))
		d.change(func() {
			a := &d.asks[0].Approvals[0]
			a.State, a.EndedAt = s, time.Now()
		})
		in := newInbox(t, d).signIn()
		doc := sound(t, in.get("/inbox/ask/oneask"))
		card := doc.id(t, "ask-oneask")
		if len(card.tokens()) != 0 {
			t.Errorf("%s: a final card holds buttons", s)
		}
		if text := card.words(); strings.Contains(text, "Unclear") || strings.Contains(text, "Waiting") {
			t.Errorf("%s: got %q", s, text)
		}
	}
}

// TestDroppedValuesAreSaid checks that a page says that a call's values are gone, and shows
// nothing in their place.
func TestDroppedValuesAreSaid(t *testing.T) {
	d := newDesk()
	d.open("oneask", proposal("make secret-plan"))
	d.change(func() {
		ask, day := &d.asks[0], time.Now().Add(48*time.Hour)
		if err := ask.Withdraw(ask.Approvals[0].ID, time.Now()); err != nil {
			t.Error(err)
		}
		if !ask.DropValues(day, day) {
			t.Error("nothing was dropped")
		}
	})
	in := newInbox(t, d).signIn()
	text := sound(t, in.get("/inbox/ask/oneask")).words()
	if !strings.Contains(text, "The values of this call are no longer kept.") || strings.Contains(text, "secret-plan") || strings.Contains(text, "Arguments") {
		t.Errorf("got %q", text)
	}
}

// TestLongCallsInLists checks that lists stay short however long an agent's calls are, that
// what they omit is one link away, and that they say so.
func TestLongCallsInLists(t *testing.T) {
	race.Alone(t)
	d := newDesk()
	half := 200 << 10
	if testing.Short() {
		half = 40 << 10 // a page of whole calls would still be too large
	}
	long := strings.Repeat("x", half) + "MIDDLE" + strings.Repeat("y", half)
	for i := range 30 {
		verdict := vaglio.Verdict{Approved: true, JudgeKind: "rule-based-v1", Score: .7}
		d.entries = append(d.entries, approval.Entry{Cursor: uint64(i + 1), Step: approval.Step{
			ID: fmt.Sprint("s", i), Verdict: &verdict,
			Proposal: vaglio.Proposal{Agent: "a", Executor: "run", Args: vaglio.Args{"command": long}},
		}})
	}
	in := newInbox(t, d).signIn()
	for _, address := range []string{"/inbox", "/inbox/history"} {
		rec := in.get(address)
		if n := rec.Body.Len(); rec.Code != http.StatusOK || n > 1<<20 {
			t.Errorf("%s: %d, %d bytes", address, rec.Code, n)
		}
		if doc := sound(t, rec); address != "/inbox" && !strings.Contains(doc.words(), "Only the beginning and the end are shown here.") {
			t.Errorf("%s does not say that it cut", address)
		}
	}
	rec := in.get("/inbox/history?whole&before=31")
	if n := strings.Count(rec.Body.String(), "MIDDLE"); rec.Code != http.StatusOK || n != 1 {
		t.Errorf("the page of one entry: %d, the middle stands there %d times", rec.Code, n)
	}
}

// TestAFloodHidesNobody checks that an agent that floods the inbox, with long asks or with many,
// keeps its owner from nothing: each page counts truly what waits, and the list has what
// other agents ask, however late they did and whatever the flood would do.
func TestAFloodHidesNobody(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	for name, flood := range map[string]struct{ n, size int }{"long": {60, 1 << 20}, "many": {1000, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			for i := range flood.n {
				d.open(approval.AskID(fmt.Sprintf("flood%04d", i)), vaglio.Proposal{Agent: "mallory", Executor: "run", Args: vaglio.Args{"text": strings.Repeat("x", flood.size)}})
			}
			for i := range 3 {
				d.open(approval.AskID(fmt.Sprintf("quiet%04d", i)), vaglio.Proposal{Agent: "ann", Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/a"}})
			}
			in := newInbox(t, d).signIn()
			rec := in.get("/inbox")
			doc := sound(t, rec)
			if rec.Code != http.StatusOK || rec.Body.Len() > 1<<20 || len(doc.class("row")) == 0 {
				t.Errorf("got %d, %d bytes, %d rows", rec.Code, rec.Body.Len(), len(doc.class("row")))
			}
			if n := len(doc.class("row")); n > 200 || name == "many" && n < 200 {
				t.Errorf("%d of %d are listed", n, flood.n+3)
			}
			for i := range 3 {
				if !strings.Contains(rec.Body.String(), fmt.Sprintf("row-quiet%04d", i)) {
					t.Errorf("ask %d of the other agent is not in the list", i)
				}
			}
			if n := fmt.Sprint(flood.n + 3); doc.id(t, "waiting-count").words() != n || !strings.HasPrefix(sound(t, in.get("/inbox/history")).words(), "("+n+") ") {
				t.Errorf("the pages do not count %s: %s", n, doc.words()[:100])
			}
			if said := doc.id(t, "list").words(); !strings.Contains(said, "beyond this list") {
				t.Errorf("the page does not say that more wait: %s", said[max(0, len(said)-300):])
			}
			if own := sound(t, in.get("/inbox?agent=ann")); len(own.class("row")) != 3 || strings.Contains(own.words(), "beyond this list") {
				t.Errorf("of the other agent alone %d rows are listed", len(own.class("row")))
			}
			if own := sound(t, in.get("/inbox?q=%2Ftmp%2Fa")); len(own.class("row")) != 3 {
				t.Errorf("the search finds %d rows of the other agent", len(own.class("row")))
			}
		})
	}
}

// TestATurnTellsWhatIsNotOnItsPage checks that the page of a long turn leads to its earlier steps, and
// that it names what cannot be read, even if nothing else is known of the turn.
func TestATurnTellsWhatIsNotOnItsPage(t *testing.T) {
	d := full()
	at := time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)
	in := newInbox(t, d).signIn()
	if body := in.get("/inbox/turn/claude-code/t-81").Body.String(); strings.Contains(body, "Earlier steps") || strings.Contains(body, "cannot be read") {
		t.Errorf("of a whole turn the page says %s", body)
	}
	d.change(func() {
		d.unread = approval.UnreadParts{{Part: "000000000000002a.seg", From: at, To: at.Add(time.Hour)}}
		first := d.entries[0]
		first.Step.Proposal.Agent, first.Step.Proposal.TurnID = "long & slow", "a/b?"
		for n := range 150 {
			first.Cursor, first.Step.ID = uint64(n+1), fmt.Sprint("long-", n)
			d.entries = append(d.entries, first)
		}
	})
	for page, steps := range map[string]int{"/inbox/turn?agent=long+%26+slow&turn=a%2Fb%3F": 150, "/inbox/turn/claude-code/none": 0} {
		doc := sound(t, in.get(page))
		if text := doc.id(t, "main").words(); !strings.Contains(text, "Steps from between 20 Nov, 09:00 UTC and 20 Nov, 10:00 UTC may be missing: 000000000000002a.seg cannot be read.") {
			t.Errorf("%s: not told is what is missing: %s", page, text)
		}
		if got := len(doc.id(t, "steps").class("entry")); got != steps {
			t.Errorf("%s: %d steps, want %d", page, got, steps)
		}
		var earlier []string
		for _, a := range doc.all("a") {
			if a.attr("rel") == "prev" {
				earlier = append(earlier, a.attr("href"))
			}
		}
		if (len(earlier) == 1) != (steps > 0) {
			t.Fatalf("%s leads to %v", page, earlier)
		}
		for _, href := range earlier {
			if got := len(sound(t, in.get(href)).id(t, "steps").class("entry")); got != 99 {
				t.Errorf("%s: %d steps, want 99", href, got)
			}
		}
	}
}
