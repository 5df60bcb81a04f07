package read_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// library is a store in memory and its reader.
type library struct {
	*testing.T

	store *storetest.Memory
	*read.Reader
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	s := storetest.NewMemory()
	records := read.NewRecords(s, slog.New(slog.DiscardHandler))
	return &library{t, s, read.New(read.Config{Records: records, Masker: approval.NewMasker(approval.Secret{1}), Hours: report.Hours{Zone: time.UTC}})}
}

func (l *library) put(kind approval.Kind, r approval.Record) { //nolint:gocritic // It is a test's.
	l.Helper()
	if _, err := l.store.Update(l.Context(), kind, r.ID, func(approval.Record) (approval.Record, error) { return r, nil }); err != nil {
		l.Fatal(err)
	}
}

// ask stores an ask of one call, which was asked that long ago and waits for an hour.
func (l *library) ask(id string, state approval.State, ago time.Duration) {
	l.Helper()
	at := time.Now().UTC().Add(-ago)
	a := approval.Ask{ID: approval.AskID(id), Agent: "coder", OpenedAt: at, ExpiresAt: at.Add(time.Hour)}
	p := approval.Approval{ID: approval.ID(id + "-1"), State: state, Fingerprint: "f", Refusal: approval.Refusal{Phase: vaglio.PhaseJudge}}
	p.Verdict.BlockedBy = vaglio.PhaseJudge
	a.Approvals = []approval.Approval{p}
	body, err := approval.EncodeAsk(a)
	if err != nil {
		l.Fatal(err)
	}
	l.put(approval.KindAsk, approval.Record{ID: id, Open: !state.Final(), Body: body})
}

// step stores a refused step of a turn, and returns its id.
func (l *library) step(agent, turn string, n int, command string) string {
	l.Helper()
	s := approval.Step{
		ID: fmt.Sprintf("%s%08d", read.TurnPrefix(agent, turn), n), At: time.Now().UTC().Add(time.Duration(n) * time.Second),
		Proposal: vaglio.Proposal{Agent: agent, TurnID: turn, Step: n, Executor: "shell_exec", Args: vaglio.Args{"command": command}},
		Verdict:  &vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{ID: "tree.root"}},
	}
	body, err := approval.EncodeStep(s)
	if err != nil {
		l.Fatal(err)
	}
	l.put(approval.KindStep, approval.Record{ID: s.ID, Body: body})
	return s.ID
}

// pending returns the ids of the waiting asks, in the order of Pending, which Waiting has, too.
func (l *library) pending() (ids []string, err error) {
	var waiting []string
	for a, err := range l.Waiting(l.Context()) {
		if err == nil && a.Agent == "" {
			l.Errorf("%s waits for no agent", a.Ask)
		}
		if err == nil {
			waiting = append(waiting, string(a.Ask))
		}
	}
	defer func() {
		if !slices.Equal(ids, waiting) {
			l.Errorf("%v are pending, and %v wait", ids, waiting)
		}
	}()
	for c, err := range l.Pending(l.Context(), "web") {
		if err != nil {
			return ids, err
		}
		ids = append(ids, string(c.Ask))
	}
	return ids, nil
}

func TestAnAskIsFoundByWhatAPersonNames(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.ask("abcdefgh", approval.Pending, time.Minute)
	l.ask("abcdzzzz", approval.Pending, time.Minute)
	for named, want := range map[string]approval.AskID{
		"abcdefgh": "abcdefgh", "abcdefgh-1": "abcdefgh", "abcde": "abcdefgh", "abcdz-1": "abcdzzzz",
		"abcd": "", "abc": "", "": "", "zzzz": "", "abcdefghi": "", strings.Repeat("a", 20_000): "",
	} {
		a, err := l.Find(t.Context(), named)
		if a.ID != want && want != "" || (err == nil) != (want != "") || err != nil && !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("%.20q finds %q, %v; want %q", named, a.ID, err, want)
		}
	}
	alone := newLibrary(t)
	alone.ask("abcdefgh", approval.Pending, time.Minute)
	for named, found := range map[string]bool{"": false, "abc": false, "abcd": true} {
		if _, err := alone.Find(t.Context(), named); (err == nil) != found {
			t.Errorf("of a single ask %q finds it: %v", named, err)
		}
	}
}

func TestWhatWaitsIsPending(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.ask("first", approval.Pending, 2*time.Minute)
	l.ask("lapsed", approval.Pending, 2*time.Hour) // That its time is over is not recorded yet.
	l.put(approval.KindAsk, approval.Record{ID: "broken", Open: true, Body: []byte(`{"v":`)})
	l.ask("second", approval.Pending, time.Minute)
	l.ask("denied", approval.Denied, time.Minute)
	got, err := l.pending()
	if err != nil || !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("pending are %v, %v", got, err)
	}
	unread := l.Unread()
	if len(unread) != 1 || unread[0].ID != "broken" || unread[0].Kind != approval.KindAsk {
		t.Errorf("unread are %v", unread)
	}
	l.ask("broken", approval.Pending, time.Minute)
	if got, err := l.pending(); err != nil || len(got) != 3 || len(l.Unread()) != 0 {
		t.Errorf("mended, pending are %v, %v, and unread %v", got, err, l.Unread())
	}
	down := errors.New("the disk is gone")
	l.store.Break(down)
	if got, err := l.pending(); !errors.Is(err, down) || len(got) != 0 {
		t.Errorf("of a store that fails pending are %v, %v", got, err)
	}
}

func TestATurnIsToldInOrder(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	for _, n := range []int{2, 10, 1} {
		l.step("coder", "t", n, "rm -rf / "+secret)
	}
	l.step("other", "t", 3, "rm -rf /")
	l.step("coder", "tt", 4, "rm -rf /")
	for name, tt := range map[string]struct {
		steps func(context.Context, approval.TurnQuery) (approval.TurnPage, error)
		shown bool
	}{"for people": {l.Steps, false}, "for the agent": {l.Turn, true}} {
		log, err := tt.steps(t.Context(), approval.TurnQuery{Agent: "coder", Turn: "t"})
		steps, more := log.Steps, log.Older != 0
		var got []int
		for i := range steps {
			got = append(got, steps[i].Proposal.Step)
			if strings.Contains(fmt.Sprint(steps[i].Proposal.Args), secret) != tt.shown {
				t.Errorf("%s: the secret is shown: %t", name, !tt.shown)
			}
		}
		if err != nil || more || !slices.Equal(got, []int{1, 2, 10}) {
			t.Errorf("%s: the steps are %v, %v", name, got, err)
		}
	}
	if log, err := l.Steps(t.Context(), approval.TurnQuery{Agent: "coder", Turn: "none"}); err != nil || len(log.Steps) != 0 {
		t.Errorf("of no turn people are told %v, %v", log, err)
	}
	if _, err := l.Turn(t.Context(), approval.TurnQuery{Agent: "coder", Turn: "none"}); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("of no turn the agent is told %v", err)
	}
}

// TestALongTurnIsReadFromItsEnd checks what a very long turn costs: only its newest steps
// are read, however many precede them, and fewer of them if they are large.
func TestALongTurnIsReadFromItsEnd(t *testing.T) {
	for _, row := range []struct {
		each, all, most int
		refused         bool // and so stored elsewhere
	}{{10, 2100, 2000, false}, {10, 2100, 2000, true}, {1 << 20, 40, 15, false}, {1 << 20, 40, 15, true}, {17 << 20, 2, 1, false}} {
		l := newLibrary(t)
		l.step("coder", "endless", 0, "rm -rf /") // older than the missing steps, and stored elsewhere
		for n := range row.all {
			if row.refused {
				l.step("coder", "endless", n+1, strings.Repeat("x", row.each))
				continue
			}
			s := approval.Step{At: time.Now(), Verdict: &vaglio.Verdict{Approved: true}, Proposal: vaglio.Proposal{
				Agent: "coder", TurnID: "endless", Step: n + 1, Executor: "write", Args: vaglio.Args{"content": strings.Repeat("x", row.each)},
			}}
			e, _, err := read.EncodePassed(nil, &s)
			if err := errors.Join(err, l.store.Append(t.Context(), &e)); err != nil {
				t.Fatal(err)
			}
		}
		log, err := l.Turn(t.Context(), approval.TurnQuery{Agent: "coder", Turn: "endless"})
		steps, more := log.Steps, log.Older != 0
		if err != nil || !more || len(steps) != row.most {
			t.Fatalf("%d steps, others %t: %v; want %d", len(steps), more, err, row.most)
		}
		for i := range steps {
			if want := row.all - len(steps) + i + 1; steps[i].Proposal.Step != want {
				t.Fatalf("the step at %d is %d, want %d: the newest, in order", i, steps[i].Proposal.Step, want)
			}
		}
	}
}

func TestWhyOfAVeto(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	id := string(approval.VetoID(l.step("coder", "t", 1, "rm -rf /")))
	l.step("coder", "t", 2, "rm -rf /usr")
	for named, want := range map[string]bool{
		id: true, id[:len(approval.VetoMark)+6]: true,
		id + "a": false, id[:len(approval.VetoMark)+3]: false, approval.VetoMark: false, approval.VetoMark + "zzzzzzzzzz": false,
	} {
		c, err := l.Why(t.Context(), named, "web")
		if (err == nil) != want || err != nil && !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("%s: %v, want one: %t", named, err, want)
		}
		if want && (len(c.Items) != 1 || c.Agent != "coder" || len(c.Buttons) != 0) {
			t.Errorf("%s: %+v", named, c)
		}
	}
}

// TestAVetoIsNamedWithoutDoubt checks that a few characters name a veto only if no other
// begins with them.
func TestAVetoIsNamedWithoutDoubt(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	const shortest = len(approval.VetoMark) + 4
	turns := map[string]string{} // by the first characters of their veto
	for n := range 100_000 {
		turn := fmt.Sprint(n)
		id := string(approval.VetoID(read.TurnPrefix("coder", turn) + "00000001"))
		other, both := turns[id[:shortest]]
		if turns[id[:shortest]] = turn; !both {
			continue
		}
		l.step("coder", turn, 1, "rm -rf /")
		if _, err := l.Why(t.Context(), id[:shortest], "web"); err != nil {
			t.Errorf("alone: %v", err)
		}
		l.step("coder", other, 1, "rm -rf /usr")
		if _, err := l.Why(t.Context(), id[:shortest], "web"); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("beside another: %v", err)
		}
		if c, err := l.Why(t.Context(), id, "web"); err != nil || !strings.Contains(fmt.Sprint(c), "rm -rf /\"") {
			t.Errorf("by its whole name: %+v, %v", c, err)
		}
		return
	}
	t.Error("no two names begin with the same characters")
}

// TestJudgementsBehindAVerdict checks that those that are kept are told, in order.
func TestJudgementsBehindAVerdict(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for _, id := range []string{"first", "second"} {
		body, err := approval.EncodeJudgement(vaglio.Judgement{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		l.put(approval.KindJudgement, approval.Record{ID: id, Body: body})
	}
	var got []string
	for _, j := range l.JudgementsOf(t.Context(), &vaglio.Verdict{Results: []vaglio.GradientResult{{Judgement: "second"}, {}, {Judgement: "gone"}, {Judgement: "first"}}}) {
		got = append(got, j.ID)
	}
	if !slices.Equal(got, []string{"second", "first"}) {
		t.Errorf("the judgements are %v", got)
	}
}

// TestAStepIsToldOnce checks that the same step, judged again, is one with a repeat, and
// that steps without a turn are told apart.
func TestAStepIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for n := range 3 {
		for _, turn := range []string{"t", ""} {
			s := approval.Step{At: time.Now().UTC(), Verdict: &vaglio.Verdict{Approved: true, TS: float64(n + 1)}, Proposal: vaglio.Proposal{Agent: "coder", TurnID: turn, Step: 1}}
			e, _, err := read.EncodePassed(nil, &s)
			if err := errors.Join(err, l.store.Append(t.Context(), &e)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if log, err := l.Steps(t.Context(), approval.TurnQuery{Agent: "coder", Turn: "t"}); err != nil || len(log.Steps) != 1 || log.Steps[0].Repeats != 2 {
		t.Errorf("the turn is %+v, %v", log, err)
	}
	ids := map[string]int{}
	for range 2 { // a step keeps its name
		page, err := l.History(t.Context(), approval.Filter{})
		if err != nil || len(page.Entries) != 6 {
			t.Errorf("the history is %+v, %v", page, err)
		}
		for i := range page.Entries {
			ids[page.Entries[i].Step.ID]++
		}
	}
	if len(ids) != 4 {
		t.Errorf("the ids are %v", ids)
	}
}

// TestATurnCountsEachCallOnce checks a plan of two calls, which is one ask.
func TestATurnCountsEachCallOnce(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	at := time.Now().UTC()
	a := approval.Ask{ID: "abcdefgh", Agent: "coder", TurnID: "t", OpenedAt: at, ExpiresAt: at.Add(time.Hour)}
	for n := range 2 {
		p := approval.Approval{ID: approval.ID(fmt.Sprint("abcdefgh-", n+1)), State: approval.Pending, Fingerprint: "f", Verdict: vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, TS: float64(at.Unix() + int64(n))}}
		a.Approvals = append(a.Approvals, p)
		s := approval.Step{ID: read.TurnPrefix("coder", "t") + fmt.Sprint(n), At: at, Approval: p.ID, Verdict: &p.Verdict, Proposal: vaglio.Proposal{Agent: "coder", TurnID: "t", Step: n + 1}}
		body, err := approval.EncodeStep(s)
		if err != nil {
			t.Fatal(err)
		}
		l.put(approval.KindStep, approval.Record{ID: s.ID, Body: body})
	}
	body, err := approval.EncodeAsk(a)
	if err != nil {
		t.Fatal(err)
	}
	l.put(approval.KindAsk, approval.Record{ID: "abcdefgh", Open: true, Body: body})
	if c, err := l.TurnCounts(t.Context(), &a); err != nil || c.Judged != 2 || c.Fates.Waiting != 2 {
		t.Errorf("the turn counts %+v, %v", c, err)
	}
	a.TurnID = ""
	if c, err := l.TurnCounts(t.Context(), &a); err != nil || c != (report.Counts{}) {
		t.Errorf("no turn counts %+v, %v", c, err)
	}
}

// TestAStepIsNamedByWhatItSays checks that an agent cannot write over what it did: only the
// same step with the same answer has the same name.
func TestAStepIsNamedByWhatItSays(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range []approval.Step{
		{},
		{Error: "no such executor"},
		{Approval: "abcdefgh-1"},
		{Verdict: &vaglio.Verdict{BlockedBy: vaglio.PhaseJudge}},
		{Verdict: &vaglio.Verdict{BlockedBy: vaglio.PhaseGuard}},
		{Proposal: vaglio.Proposal{Step: 1}},
		{Proposal: vaglio.Proposal{Intent: "x"}},
		{Proposal: vaglio.Proposal{Agent: "other"}},
		{Proposal: vaglio.Proposal{Executor: "x"}},
	} {
		s.Proposal.TurnID = "t"
		id, err := read.StepID(&s)
		again, _ := read.StepID(&s)
		if err != nil || id != again || names[id] || !strings.HasPrefix(id, read.TurnPrefix(s.Proposal.Agent, "t")) {
			t.Errorf("%+v is named %s, then %s: %v", s, id, again, err)
		}
		names[id] = true
		s.Proposal.TurnID = ""
		if id, err := read.StepID(&s); err != nil || names[id] {
			t.Errorf("without a turn %+v is named %s: %v", s, id, err)
		}
	}
}

// TestATurnKeepsItsKey checks the form under which steps are stored: another one would lose
// the turns of an older program.
func TestATurnKeepsItsKey(t *testing.T) {
	t.Parallel()
	if got := read.TurnPrefix("coder", "t"); got != "d2bab23972b235da6d9dc1ba/" {
		t.Errorf("the key is %s", got)
	}
}

func TestTheHistoryIsPaged(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for n := range 5 {
		l.step([]string{"coder", "other"}[n%2], "t", n, "rm -rf /")
	}
	for name, tt := range map[string]struct {
		of   approval.Filter
		want []string // the steps of each page
	}{
		"all at once":  {approval.Filter{}, []string{"4 3 2 1 0"}},
		"two by two":   {approval.Filter{Limit: 2}, []string{"4 3", "2 1", "0"}},
		"of one agent": {approval.Filter{Agent: "other"}, []string{"3 1"}},
		"of nobody":    {approval.Filter{Agent: "nobody"}, []string{""}},
	} {
		var pages []string
		for {
			page, err := l.History(t.Context(), tt.of)
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for i := range page.Entries {
				steps = append(steps, fmt.Sprint(page.Entries[i].Step.Proposal.Step))
			}
			pages = append(pages, strings.Join(steps, " "))
			if tt.of.Before = page.Older; page.Older == 0 {
				break
			}
		}
		if !slices.Equal(pages, tt.want) {
			t.Errorf("%s: %q, want %q", name, pages, tt.want)
		}
	}
}

func TestTheDayOfADigest(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	gone, last := time.Now().UTC().AddDate(0, 0, -40).Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	for day, want := range map[string]report.DayError{"yesterday": {}, "2026-13-01": {}, "2999-01-01": {Early: true}, gone: {Kept: 30}} {
		_, err := l.Window(day)
		want.Day = day
		if e, ok := errors.AsType[*report.DayError](err); !ok || *e != want {
			t.Errorf("%q: %+v", day, err)
		}
		if _, err := l.Judgements(t.Context(), day, func(report.Judgement) {}); err == nil {
			t.Errorf("%q has verdicts", day)
		}
	}
	w, err := l.Window(last)
	if err != nil || l.DigestDay(w) != last || w.To.Sub(w.From) != 24*time.Hour {
		t.Errorf("the window is %+v, %v", w, err)
	}
}
