package web

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// cardView is a card in the form the templates read.
type cardView struct {
	approval.Card
	// Open is how many calls wait, and Waiting says that some do.
	Open    int
	Waiting bool
	// Whole says that the page shows every call in full, so Allow may be there.
	Whole bool
	// Obscured says that something that waits can be allowed only where its masked values
	// are shown, which is not here.
	Obscured bool
	// PasskeyNote says that Allow requires a passkey; zero if nothing does.
	PasskeyNote text
	// Askable says that the agent may first be asked something.
	Askable bool
	// Later says that the reminder can be postponed and the ask handed over; Notes say that
	// somebody did.
	Later bool
	Notes []saying
	// Editable says that the session may change a call.
	Editable bool
	Badge    standing
	// Harm says whether the weightiest call can be undone.
	Harm  harm
	Items []itemView
	// Act holds the buttons below the card; nil if nothing waits.
	Act *actView
}

// itemView is one call of a card in the form the templates read.
type itemView struct {
	approval.Item
	// N counts from 1; 0 on a card of one call.
	N      int
	Stands standing
	// Quorum says who must still allow a call that waits; nil if one answer is enough.
	Quorum chatLine
	Judges []judgeView
	// Lines are the lines of the command that people are asked about.
	Lines []lineView
	// Said says that the arguments hold nothing but the command, so that they are evidence
	// and not something else to read.
	Said bool
	// Moved says that the call runs in another folder than the one before it.
	Moved bool
	// Cut says that Head and Tail stand for arguments that are shown in full elsewhere.
	Cut        bool
	Head, Tail string
	// Harm says whether this call of several can be undone; empty if the card says so already.
	Harm harm
	// Act holds the buttons of this call alone; nil if the card's are enough.
	Act *actView
	// Answers say what answers still hold.
	Answers []answerView
}

// Led are the lines that the page leads to.
func (v *itemView) Led() []lineView { return v.Lines[:min(len(v.Lines), maxLed)] }

// Unled is how many lines follow those.
func (v *itemView) Unled() int { return len(v.Lines) - len(v.Led()) }

// Lined says that whoever opened these lines has seen all that they are asked about.
func (v *itemView) Lined() bool { return len(v.Lines) > 0 && v.Unled() == 0 && !v.Unplaced }

// maxLed is how many lines of a command the page leads to.
const maxLed = 8

// lineView leads to a line of a command that people are asked about.
type lineView struct {
	Approval approval.ID
	N, Of    int
}

// linesOf returns the lines of a call that people are asked about.
func linesOf(it *approval.Item) []lineView {
	out, of := make([]lineView, len(it.Lines)), strings.Count(strings.TrimRight(it.Command, "\n"), "\n")+1
	for i, n := range it.Lines {
		out[i] = lineView{it.Approval, n, of}
	}
	return out
}

// actView is a row of buttons. An empty token means that there is no button.
type actView struct {
	Ask         approval.AskID
	Allow, Deny approval.Token
	// AllowText and DenyText are the buttons' labels, and Label says for screen readers what
	// they are about: the headline.
	AllowText, DenyText text
	Label               saying
	// ID distinguishes the rows of a page.
	ID string
	// From names the page that has the forms, to which an answer leads back, and List is
	// the search of the list there.
	From, List string
	// Of are the calls that the buttons stand for, which are read before they are allowed.
	Of []approval.ID
	// Lined says that the lines that people are asked about may be read instead of all.
	Lined bool
	// Grants are the choices that allow the call and more like it, Unfolded if one was just
	// allowed. DenyKind denies everything of the call's kind.
	Grants   []grantView
	Unfolded bool
	DenyKind approval.Token
	// Match says that allowing requires the digits of a chat.
	Match bool
	// All says that the row is for all waiting calls of a plan; Open is their number.
	All  bool
	Open int
	// Limited says that the session may not do all of it, and Limit says why, on the card's
	// own row.
	Limited bool
	Limit   text
}

// judgeView is one judge's answer in the form the templates read.
type judgeView struct {
	vaglio.GradientResult
	// Wants is the least score that the judge requires, if known.
	Wants    float64
	HasWants bool
	// Decided says that this is the judge that said no.
	Decided bool
}

const (
	// maxShown is how many bytes of arguments a card shows next to others; a longer call is
	// shown in full on its own page.
	maxShown = 64 << 10
	// headShown and tailShown are how much of a longer call is shown there.
	headShown, tailShown = 4 << 10, 2 << 10
)

// view prepares a card for a page. A whole card shows everything however long it is; any
// other may be cut, and then offers no Allow.
func (w *Web) view(c approval.Card, from string, whole bool) cardView {
	v := cardView{Card: c, Whole: true}
	long := len(c.Intent)
	for i := range c.Items {
		long += len(c.Items[i].Args) + len(c.Items[i].Command)
	}
	cut := !whole && long > maxShown
	for i := range c.Items {
		it := w.item(&c, i, cut)
		v.Whole = v.Whole && !it.Cut
		if it.State == approval.Pending {
			v.Open++
			v.Obscured = v.Obscured || len(it.Obscured) > 0 && !c.Revealed
		}
		v.Items = append(v.Items, it)
	}
	v.Waiting = v.Open > 0
	v.Badge, v.Askable, v.Editable = v.badge(), c.MayAsk(), true
	v.Later, v.Notes = v.Waiting, notesOf(&c)
	v.Harm = harmOf(&c)
	v.differ()
	v.offer(from)
	return v
}

func (w *Web) item(c *approval.Card, i int, cut bool) itemView {
	it := c.Items[i]
	v := itemView{
		Item: it, Stands: fate{it.State, it.Decision, it.Permit, it.Outcome, it.EndedAt, c.ExpiresAt, it.Votes}.standing(),
		Judges: w.judges(it.Verdict), Answers: answersOf(&it),
	}
	if len(c.Items) > 1 {
		v.N = i + 1
	}
	quorum := func(texts *templates.Texts) cardtext.Text { return cardtext.Quorum(texts, c.Routes, it.Votes) }
	if it.State == approval.Pending && (len(it.Votes) > 0 || len(c.Routes) > 1 || slices.ContainsFunc(c.Routes, func(on approval.Active) bool { return on.Quorum > 1 })) {
		v.Quorum = quorum
	}
	v.Moved = i == 0 || it.Cwd != c.Items[i-1].Cwd
	v.Said, v.Lines = saidBy(it.Command, it.Args), linesOf(&it)
	if cut {
		v.Head, v.Tail = ends(it.Args)
		v.Cut = v.Tail != "" || it.Command != ""
	}
	return v
}

// saidBy reports whether the arguments hold nothing but a command line.
func saidBy(command, args string) bool {
	return command != "" && args == approval.CommandArgs(command)
}

// badge sums up how the calls of a card stand.
func (v *cardView) badge() standing {
	word, tone, _ := words(approval.Pending)
	if v.Waiting && v.Open < len(v.Items) {
		return standing{Word: text{"web.some.wait", templates.Values{"open": v.Open, "n": len(v.Items)}}, Tone: tone}
	}
	if len(v.Items) == 0 {
		return standing{Word: word, Tone: tone}
	}
	first := v.Items[0].Stands
	for i := range v.Items {
		if v.Items[i].Stands.Word.Key != first.Word.Key {
			return standing{Word: text{Key: "web.all.answered"}, Tone: "quiet"}
		}
	}
	return standing{Word: first.Word, Tone: first.Tone}
}

// offer lays out the buttons: for a plan, those for everything that waits below it and
// those for each call next to the call; for a single waiting call, one row. It offers no
// button that the card does not have.
func (v *cardView) offer(from string) {
	if !v.Waiting {
		return
	}
	for i := range v.Items {
		it := &v.Items[i]
		if it.State != approval.Pending {
			continue
		}
		own := it.Buttons
		if len(own) == 0 && v.Open == 1 {
			own = v.Buttons
		}
		it.Act = v.row(own, string(it.Approval), it.label(), from, !it.Cut)
		it.Act.Of, it.Act.Match = []approval.ID{it.Approval}, it.Match
		it.Act.Lined = it.Lined()
		if !it.Cut {
			it.Act.Grants, it.Act.Unfolded = grantsOf(&it.Item), it.Again != nil
		}
		if it.DenyKind != nil {
			it.Act.DenyKind = it.DenyKind.Token
		}
		if v.Open == 1 {
			v.Act, it.Act = it.Act, nil
		}
	}
	if v.Open > 1 {
		v.Act = v.row(v.Buttons, string(v.Ask), v.label(), from, v.Whole)
		n := templates.Values{"n": v.Open}
		v.Act.AllowText, v.Act.DenyText = text{"button.allow.all", n}, text{"button.deny.all", n}
		v.Act.All = true
		v.Act.decides(v.Items)
	}
}

// decides makes the row decide what waits among some calls.
func (a *actView) decides(items []itemView) {
	for i := range items {
		if items[i].State == approval.Pending {
			a.Of, a.Match = append(a.Of, items[i].Approval), a.Match || items[i].Match
		}
	}
}

// beside records which list the card is shown next to, by its search: an answer leads to
// the next ask of that list.
func (v *cardView) beside(list string) {
	for _, a := range v.acts() {
		a.List = list
	}
}

// limit removes from the card what the session may not do.
func (v *cardView) limit(may right) {
	if may == mayDecide {
		return
	}
	v.Askable, v.Editable, v.Later, v.Digits = false, false, false, ""
	for i := range v.Items {
		it := &v.Items[i]
		it.Answers = slices.DeleteFunc(it.Answers, func(a answerView) bool { return a.Says == nil })
		for j := range it.Answers {
			it.Answers[j].Verb = ""
		}
	}
	for _, a := range v.acts() {
		a.Limited, a.Allow, a.Grants = true, "", nil
	}
	if v.Act != nil {
		v.Act.Limit = may.limit()
	}
}

// acts returns the rows of buttons on the card.
func (v *cardView) acts() []*actView {
	var all []*actView
	if v.Act != nil {
		all = append(all, v.Act)
	}
	for i := range v.Items {
		if a := v.Items[i].Act; a != nil {
			all = append(all, a)
		}
	}
	return all
}

// row lays out one row of buttons; it allows only what is shown in full.
func (v *cardView) row(bs []approval.Button, id string, label saying, from string, whole bool) *actView {
	a := &actView{Ask: v.Ask, AllowText: text{Key: "button.allow"}, DenyText: text{Key: "button.deny"}, Label: label, ID: id, From: from, Open: v.Open}
	for _, b := range bs {
		switch {
		case b.Choice == approval.ChoiceAllow && whole:
			a.Allow = b.Token
		case b.Choice == approval.ChoiceDeny:
			a.Deny = b.Token
		}
	}
	return a
}

// judges lists the answers behind a verdict, the one that decided first.
func (w *Web) judges(v vaglio.Verdict) []judgeView {
	all := make([]judgeView, 0, len(v.Results))
	for _, r := range v.Results {
		j := judgeView{GradientResult: r, Decided: !v.Approved && r.Judge == v.JudgeKind}
		j.Wants, j.HasWants = w.thresholds[r.Judge]
		if r.MinScore > 0 { // the score it was held to, whatever applies now
			j.Wants, j.HasWants = r.MinScore, true
		}
		if r.Says(r.Reasoning) {
			j.Reasoning = "" // the signal stands below, with its score
		}
		all = append(all, j)
	}
	slices.SortStableFunc(all, func(a, b judgeView) int {
		switch {
		case a.Decided == b.Decided:
			return 0
		case a.Decided:
			return -1
		default:
			return 1
		}
	})
	return all
}

// wanted returns the call in one line: the command if there is one, else the refusal's
// line, else the arguments.
func wanted(executor, command, line string, args vaglio.Args) string {
	switch {
	case command != "":
		return executor + " " + command
	case line != "":
		return line
	case len(args) == 0:
		return executor
	}
	text, err := strictjson.Marshal(args)
	if err != nil {
		return executor
	}
	return executor + " " + string(text)
}

// ends returns the beginning and the end of a text, cut between characters.
func ends(text string) (head, tail string) {
	if len(text) <= headShown+tailShown {
		return text, ""
	}
	i, j := headShown, len(text)-tailShown
	for !utf8.RuneStart(text[i]) {
		i--
	}
	for !utf8.RuneStart(text[j]) {
		j--
	}
	return text[:i], text[j:]
}

// label is the headline of the calls that wait, for a place without markup.
func (v *cardView) label() saying {
	return chatLine(func(texts *templates.Texts) cardtext.Text { return labelOf(0, cardtext.CardHeadline(texts, &v.Card)) })
}

// label is the call's headline, with its number in a plan, for a place without markup.
func (v *itemView) label() saying {
	return chatLine(func(texts *templates.Texts) cardtext.Text { return labelOf(v.N, cardtext.Headline(texts, &v.Headline)) })
}

// Bar returns the score as a length on a scale of 200.
func (v judgeView) Bar() float64 { return 200 * min(max(v.Score, 0), 1) }

// Mark returns the position of the required score on that scale.
func (v judgeView) Mark() float64 { return 200 * min(max(v.Wants, 0), 1) }
