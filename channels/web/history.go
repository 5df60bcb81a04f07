package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// entryView is one line of the history in the form the templates read.
type entryView struct {
	Step   approval.Step
	Wanted string
	Args   string
	// Cut says that Head and Tail stand for arguments that are too long for a list; Whole
	// is the address of the page that shows all of them.
	Cut               bool
	Head, Tail, Whole string
	Stands            standing
	Judges            []judgeView
	Guard             *vaglio.GuardRule
	// Alternatives say what can be done instead.
	Alternatives []string
	// Moments are what happened to it, in order, on the page of its turn; empty if its
	// badge says everything.
	Moments []moment
	// OnTurn says that it is shown on its turn's page, which names the agent and the turn.
	OnTurn bool
	// Ask is the address of the ask's page, and Turn that of the turn's; empty if there is
	// none.
	Ask, Turn string
}

// historyView is what the page of the history shows.
type historyView struct {
	Filter approval.Filter
	// From and To are the first and the last day, as typed.
	From, To string
	// CSV and JSONL are the addresses of what the filter selects, as files.
	CSV, JSONL string
	Outcomes   []outcome
	Entries    []entryView
	// Unread are the parts of the turn log that cannot be read and that may hold more entries.
	Unread approval.UnreadParts
	// Older is the address of the next older page; empty on the last one.
	Older string
	// Live says that this is the newest page, which changes.
	Live bool
	// Filtered says that some filter is set.
	Filtered bool
	// Narrowed says that one is set besides the words that are searched for.
	Narrowed bool
}

// outcome is one choice of the filter.
type outcome struct {
	Value  string
	Word   text
	Chosen bool
}

const (
	// perPage is how many entries a page of the history shows.
	perPage = 50
	// maxListed is how many bytes of arguments an entry of a list shows; longer ones have a
	// page of their own.
	maxListed = 16 << 10
)

func (w *Web) history(rw http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f, err := w.filterOf(q)
	if err != nil {
		return err
	}
	outcomes, _ := outcomes(f.Outcome)
	// A page with one entry shows all of it.
	whole := q.Has("whole")
	if whole {
		f.Limit = 1
	}
	past, err := w.book.History(r.Context(), f)
	if err != nil {
		return err
	}
	kept := filterValues(q)
	v := historyView{
		Filter: f, From: kept.Get("from"), To: kept.Get("to"), Outcomes: outcomes, Entries: w.entries(past.Entries), Live: f.Before == 0, Unread: past.Unread,
		Filtered: len(kept) > 0, Narrowed: len(kept) > 1 || len(kept) == 1 && !kept.Has("q"), CSV: exportURL("csv", kept), JSONL: exportURL("jsonl", kept),
	}
	for i := range v.Entries {
		v.Entries[i].Cut = v.Entries[i].Cut && !whole
	}
	if past.Older != 0 {
		kept.Set("before", strconv.FormatUint(past.Older, 10))
		v.Older = "/inbox/history?" + kept.Encode()
	}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "history", Title: text{Key: "web.history"}, Nav: "history", Body: v})
}

// filterValues returns the non-empty values of an address that make up the filter.
func filterValues(q url.Values) url.Values {
	kept := url.Values{}
	for _, key := range []string{"q", "agent", "executor", "outcome", "from", "to"} {
		if value := strings.TrimSpace(q.Get(key)); value != "" {
			kept.Set(key, value)
		}
	}
	return kept
}

// filterOf reads the filter from an address.
func (w *Web) filterOf(q url.Values) (approval.Filter, error) {
	kept := filterValues(q)
	f := approval.Filter{
		Agent: kept.Get("agent"), Executor: kept.Get("executor"), Outcome: kept.Get("outcome"), Text: kept.Get("q"), Limit: perPage,
	}
	if _, ok := outcomes(f.Outcome); !ok {
		return f, badFilter("web.fault.filter.outcome")
	}
	for key, at := range map[string]*time.Time{"from": &f.Since, "to": &f.Until} {
		day := kept.Get(key)
		if day == "" {
			continue
		}
		t, err := time.ParseInLocation(time.DateOnly, day, w.zone)
		if err != nil {
			return f, badFilter("web.fault.filter.day")
		}
		*at = t
	}
	if !f.Until.IsZero() {
		if f.Until.Before(f.Since) {
			return f, badFilter("web.fault.filter.order")
		}
		f.Until = f.Until.AddDate(0, 0, 1) // the last day is included
	}
	text := q.Get("before")
	if text == "" {
		return f, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return f, badFilter("web.fault.filter.before")
	}
	f.Before = n
	return f, nil
}

func badFilter(what templates.Key) error {
	return &pageError{
		Status: http.StatusBadRequest, Title: text{Key: "web.fault.filter.title"}, Text: text{Key: what}, Link: "/inbox/history",
	}
}

// outcomes returns the choices of the filter, and whether the chosen one is among them.
func outcomes(chosen string) ([]outcome, bool) {
	all := []outcome{
		{Value: "", Word: text{Key: "web.outcome.any"}},
		{Value: "approved", Word: text{Key: "web.outcome.approved"}},
		{Value: string(vaglio.PhaseGuard), Word: text{Key: "web.ruled.guard"}},
		{Value: string(vaglio.PhaseJudge), Word: text{Key: "web.ruled.judge"}},
		{Value: "error", Word: text{Key: "web.ruled.error"}},
	}
	for _, s := range []approval.State{
		approval.Pending, approval.Allowed, approval.Spent, approval.Succeeded, approval.Failed, approval.Unknown,
		approval.Lapsed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
	} {
		word, _, _ := words(s)
		all = append(all, outcome{Value: string(s), Word: word})
	}
	known := false
	for i := range all {
		all[i].Chosen = all[i].Value == chosen
		known = known || all[i].Chosen
	}
	return all, known
}

// turnView is what the page of a turn shows.
type turnView struct {
	Agent, Turn, Intent string
	Steps               []entryView
	Tally               []tally
	// Older is the address of the page with the steps before these; empty if there are none.
	Older string
	// Unread are the parts of the turn log that cannot be read and that may hold more of its steps.
	Unread approval.UnreadParts
}

// tally is how many steps of a turn stand in one way.
type tally struct {
	Word text
	Tone string
	N    int
}

// count adds a step to the tally of those that stand as it does.
func (v *turnView) count(s *standing) {
	i := slices.IndexFunc(v.Tally, func(t tally) bool { return t.Word.Key == s.Word.Key })
	if i < 0 {
		i, v.Tally = len(v.Tally), append(v.Tally, tally{Word: s.Word, Tone: s.Tone})
	}
	v.Tally[i].N++
}

// moment is something that happened to a step: it was proposed, answered, run.
type moment struct {
	At   time.Time
	Word text
	Tone string
	// By is who did it; empty if nobody decided.
	By string
}

// momentsOf returns what happened to a step that somebody was asked about, in order.
func momentsOf(e *approval.Entry) []moment {
	var all []moment
	add := func(at time.Time, word text, tone, by string) {
		all = append(all, moment{At: at, Word: word, Tone: tone, By: by})
	}
	became := func(at time.Time, s approval.State, by string) {
		word, tone, _ := words(s)
		add(at, word, tone, by)
	}
	a := e.Approval
	if a == nil || a.State == approval.Pending {
		return nil
	}
	add(e.Step.At, text{Key: "web.turn.asked"}, "waiting", "")
	if d := a.Decision; d != nil {
		answered := approval.Denied
		if d.Choice == approval.ChoiceAllow || d.Choice.Grants() {
			answered = approval.Allowed
		}
		became(d.At, answered, d.By.Name)
	}
	if a.Permit != nil && !a.Permit.SpentAt.IsZero() {
		became(a.Permit.SpentAt, approval.Spent, "")
	}
	switch {
	case a.Outcome != nil:
		became(a.Outcome.At, a.State, "")
	case a.State != approval.Denied && a.State.Final() && !a.EndedAt.IsZero():
		became(a.EndedAt, a.State, "")
	}
	return all
}

// stepsAtOnce is how many steps a turn's page shows.
const stepsAtOnce = 500

// turn shows what one turn of an agent proposed, in order. Agent and turn come from the
// path, or from the query if an id cannot be part of a path.
func (w *Web) turn(rw http.ResponseWriter, r *http.Request) error {
	v := turnView{Agent: r.PathValue("agent"), Turn: r.PathValue("turn")}
	if v.Agent == "" {
		v.Agent, v.Turn = r.URL.Query().Get("agent"), r.URL.Query().Get("turn")
	}
	q := approval.TurnQuery{Agent: v.Agent, Turn: v.Turn, Limit: stepsAtOnce}
	q.Before, _ = strconv.ParseUint(r.URL.Query().Get("before"), 10, 64) // anything else is the newest page
	log, err := w.book.Steps(r.Context(), q)
	if err != nil {
		return err
	}
	steps := log.Steps
	if len(steps)+len(log.Unread) == 0 {
		return &pageError{
			Status: http.StatusNotFound, Title: text{Key: "web.fault.turn.title"},
			Text: text{Key: "web.fault.turn"},
			Link: "/inbox/history",
		}
	}
	if v.Unread = log.Unread; log.Older != 0 {
		v.Older = "/inbox/turn?" + url.Values{"agent": {v.Agent}, "turn": {v.Turn}, "before": {strconv.FormatUint(log.Older, 10)}}.Encode()
	}
	for i := range steps {
		e := approval.Entry{Step: steps[i]}
		if id := steps[i].Approval; id != "" {
			e.Approval = w.standsAs(r.Context(), id)
		}
		if v.Intent == "" {
			v.Intent = steps[i].Proposal.Intent
		}
		step := w.entry(&e)
		step.Moments, step.OnTurn = momentsOf(&e), true
		v.Steps = append(v.Steps, step)
		v.count(&step.Stands)
	}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "turn", Title: text{"web.title.turn", templates.Values{"id": plain(v.Turn)}}, Nav: "history", Body: v})
}

// standsAs returns an approval from its card, where secrets are masked; nil if it is no
// longer kept.
func (w *Web) standsAs(ctx context.Context, id approval.ID) *approval.Approval {
	a, err := w.book.Find(ctx, string(id))
	if err != nil {
		return nil
	}
	c, err := w.desk.Card(ctx, a.ID, Name)
	if err != nil {
		return nil
	}
	for _, it := range c.Items {
		if it.Approval == id {
			return &approval.Approval{
				ID: id, State: it.State, Decision: it.Decision, Permit: it.Permit, Outcome: it.Outcome,
				EndedAt: it.EndedAt, ExpiresAt: c.ExpiresAt,
			}
		}
	}
	return nil
}

// turnURL returns the address of a turn's page. Ids that a browser would take for steps in
// the path go into the query.
func turnURL(agent, turn string) string {
	dots := func(s string) bool { return s == "" || s == "." || s == ".." }
	if dots(agent) || dots(turn) {
		return "/inbox/turn?" + url.Values{"agent": {agent}, "turn": {turn}}.Encode()
	}
	return "/inbox/turn/" + url.PathEscape(agent) + "/" + url.PathEscape(turn)
}

func (w *Web) entries(es []approval.Entry) []entryView {
	all := make([]entryView, 0, len(es))
	for i := range es {
		all = append(all, w.entry(&es[i]))
	}
	return all
}

func (w *Web) entry(e *approval.Entry) entryView {
	s := e.Step
	v := entryView{Step: s, Args: approval.ArgsText(s.Proposal.Args), Stands: ruled(&s)}
	if s.Refusal != nil {
		v.Alternatives = s.Refusal.Alternatives
	}
	v.Wanted = wantedOf(&s)
	if e.Cursor != 0 && len(v.Args) > maxListed {
		v.Cut = true
		v.Head, v.Tail = ends(v.Args)
		v.Whole = "/inbox/history?whole&before=" + strconv.FormatUint(e.Cursor+1, 10)
	}
	if s.Verdict != nil {
		v.Judges, v.Guard = w.judges(approval.Agreed(*s.Verdict, s.Headline())), s.Verdict.Rule
	}
	if a := e.Approval; a != nil {
		v.Stands = fate{a.State, a.Decision, a.Permit, a.Outcome, a.EndedAt, a.ExpiresAt, a.Votes}.standing()
	}
	if s.Approval != "" {
		v.Ask = "/inbox/ask/" + url.PathEscape(string(s.Approval))
	}
	if s.Proposal.TurnID != "" {
		v.Turn = turnURL(s.Proposal.Agent, s.Proposal.TurnID)
	}
	return v
}

// wantedOf returns the call of a step in one line; of a long command, its beginning.
func wantedOf(s *approval.Step) string {
	line := ""
	if s.Refusal != nil {
		line = s.Refusal.Wanted
	}
	command, _ := s.Proposal.Args["command"].(string)
	if head, tail := ends(command); tail != "" {
		command = head + " …"
	}
	return wanted(s.Proposal.Executor, command, line, s.Proposal.Args)
}

// indented formats a value as readable JSON, with its members sorted and its numbers as
// they were written.
func indented(v any) string {
	b, err := strictjson.MarshalIndent(v)
	if err != nil {
		return "(this cannot be shown: it is not JSON)"
	}
	return string(b)
}
