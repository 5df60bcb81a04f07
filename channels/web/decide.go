package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// decideWithin limits one decision, which continues even if its reader leaves.
const decideWithin = 15 * time.Second

// decide hands in a tap. What it then tells the person comes from the receipt, so a stale
// page gets the truth and not an echo.
func (w *Web) decide(rw http.ResponseWriter, r *http.Request, who Session, f url.Values) error {
	tap := approval.Tap{
		Token: approval.Token(f.Get("token")), Ask: approval.AskID(f.Get("ask")), Choice: approval.Choice(f.Get("choice")),
		By: who.by(), Channel: Name, Words: cleanWords(f.Get("words")),
		// The token that allows something obscured is only on the page that reveals it.
		Revealed: true,
		Passkey:  who.asserted,
		Digits:   f.Get("digits"),
	}
	back := askURL(tap.Ask)
	if tap.Token == "" || tap.Choice == "" {
		return unknownButton(back, nil)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), decideWithin)
	defer cancel()
	receipt, err := w.desk.Decide(ctx, tap)
	if err != nil {
		return undecided(err, back)
	}
	if receipt.Replaced {
		return unknownButton(back, nil)
	}
	if receipt.Mismatch != nil {
		return mismatched(receipt.Mismatch, true, back)
	}
	return w.tell(rw, r, receipt, f)
}

// denies reports whether a form of decide only says no, without words to the agent.
func denies(f url.Values) bool {
	choice := approval.Choice(f.Get("choice"))
	return (choice == approval.ChoiceDeny || choice == approval.ChoiceDenyKind) && f.Get("words") == ""
}

// undecided says why a tap has no receipt.
func undecided(err error, back string) error {
	if errors.Is(err, approval.ErrNotFound) || errors.Is(err, approval.ErrOtherChoice) {
		return unknownButton(back, err)
	}
	if bad, ok := errors.AsType[*approval.WordsError](err); ok {
		return &pageError{
			Status: http.StatusUnprocessableEntity, Title: text{Key: "web.fault.words.title"},
			Text: text{"web.fault.words", templates.Values{"n": bad.Have, "most": approval.MaxWords}}, Link: back, Err: err,
		}
	}
	if errors.Is(err, approval.ErrNotAskable) {
		return &pageError{
			Status: http.StatusForbidden, Title: text{Key: "web.fault.final.title"},
			Text: text{Key: "web.fault.final"}, Link: back, Err: err,
		}
	}
	if errors.Is(err, approval.ErrNoGrant) {
		return &pageError{
			Status: http.StatusUnprocessableEntity, Title: text{Key: "web.fault.order.title"}, Text: text{Key: "tap.no.grant"}, Link: back, Err: err,
		}
	}
	if errors.Is(err, approval.ErrObscured) {
		return &pageError{
			Status: http.StatusForbidden, Title: text{Key: "web.fault.order.title"}, Text: text{Key: "tap.obscured"}, Link: back, Err: err,
		}
	}
	if errors.Is(err, approval.ErrPasskey) {
		return wantsPasskey(back)
	}
	if match, ok := errors.AsType[*approval.MatchError](err); ok {
		return mismatched(match, false, back)
	}
	if errors.Is(err, approval.ErrNotApprover) {
		return &pageError{
			Status: http.StatusForbidden, Title: text{Key: "web.fault.stranger.title"},
			Text: text{Key: "web.fault.stranger"}, Link: back, Err: err,
		}
	}
	return &pageError{
		Status: http.StatusInternalServerError, Title: text{Key: "web.fault.unsure.title"},
		Text: text{Key: "web.fault.unsure"},
		Link: back, Err: err,
	}
}

// mismatched says that a yes required digits that were missing or wrong.
func mismatched(e *approval.MatchError, wrong bool, back string) error {
	key, values := cardtext.DigitsKey(e, "", wrong)
	return &pageError{Status: http.StatusForbidden, Title: text{Key: "web.fault.match.title"}, Text: text{key, values}, Link: back, Err: e}
}

func unknownButton(back string, err error) error {
	return &pageError{
		Status: http.StatusNotFound, Title: text{Key: "web.fault.button.title"},
		Text: text{Key: "web.fault.button"}, Link: back, Err: err,
	}
}

// tell sends the person back with a sealed note of what the tap did. The note names the
// ask; the sentence is made from the ask's state when it is shown. From the list it leads
// to the next ask, unless there are words that came too late: the page keeps them on the
// card that they were written for.
func (w *Web) tell(rw http.ResponseWriter, r *http.Request, receipt approval.Receipt, f url.Values) error {
	note, err := w.told.Load().seal(told{Ask: receipt.Ask.ID, Won: receipt.Won, Voted: receipt.Voted, IDs: receipt.Approvals})
	if err != nil {
		return err
	}
	to := askURL(receipt.Ask.ID) + "?"
	if unsent := f.Get("words") != "" && !receipt.Won && !receipt.Voted; f.Get("from") == "inbox" {
		to = w.next(r.Context(), receipt.Ask.ID, f.Get("list"), to, unsent)
	}
	//nolint:gosec // It begins with /inbox, and what a form sent of a search is encoded.
	http.Redirect(rw, r, to+url.Values{"told": {note}}.Encode(), http.StatusSeeOther)
	return nil
}

// next returns the address of the ask that comes up after an answer, in the list that a
// search produced, ready for another value, or that of the same ask. The answer is stored
// whatever happens here: if the list cannot be read, it returns otherwise.
func (w *Web) next(ctx context.Context, answered approval.AskID, list, otherwise string, same bool) string {
	q, _ := url.ParseQuery(list) // of a form that was changed by hand, what can be read
	s := searchOf(q)
	c, err := w.desk.Card(ctx, answered, Name)
	if err != nil {
		return otherwise
	}
	p, err := w.pending(ctx, s.Agent)
	if err != nil {
		return otherwise
	}
	_, found := listOf(&p, s)
	ask := after(found, &c)
	if same {
		ask = answered
	}
	to := inboxURL(ask, s)
	if strings.Contains(to, "?") {
		return to + "&"
	}
	return to + "?"
}

// cleanWords prepares what the person wrote for the agent. The approval limits its length.
func cleanWords(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text))
}

// told is the sealed note between a tap and the page that follows it.
type told struct {
	Ask   approval.AskID `json:"ask"`
	Won   bool           `json:"won"`
	Voted bool           `json:"voted,omitempty"`
	IDs   []approval.ID  `json:"ids"`
}

// notice is what the person is told about a tap.
type notice struct {
	Won   bool
	Lines []noticeLine
}

// noticeLine says how one call stands.
type noticeLine struct {
	Call approval.Item
	Text saying
	// More is a sentence after it, if there is one.
	More saying
	At   time.Time
	// By is who decided, if it was not this tap.
	By string
	// Until is when the permit lapses.
	Until time.Time
	// Words says that words go to the agent.
	Words bool
}

// noticeOf reads the note of the tap that led here, and says how its calls stand now. A
// note that we did not seal says nothing.
func (w *Web) noticeOf(r *http.Request) *notice {
	var t told
	if !w.told.Load().open(r.URL.Query().Get("told"), &t) {
		return nil
	}
	c, err := w.desk.Card(r.Context(), t.Ask, Name)
	if err != nil {
		return nil // the card below, or its absence, says all there is to say
	}
	n := &notice{Won: t.Won || t.Voted}
	for i := range c.Items {
		for _, id := range t.IDs {
			if c.Items[i].Approval == id {
				n.Lines = append(n.Lines, line(&c.Items[i], t))
			}
		}
	}
	if len(n.Lines) == 0 {
		return nil
	}
	return n
}

func line(it *approval.Item, t told) noticeLine {
	l := noticeLine{Call: *it, At: it.EndedAt}
	d := it.Decision
	if d == nil && t.Voted {
		l.Text = text{Key: "web.voted"}
		return l
	}
	if d == nil {
		word, _, says := words(it.State)
		l.Text = text{"web.stands", templates.Values{"word": word, "says": says}}
		return l
	}
	l.At = d.At
	l.Text = verb(d)
	if !t.Won {
		l.By = d.By.Name + " (" + d.Channel + ")"
		switch {
		case t.Voted:
		case d.Choice == approval.ChoiceAllow:
			l.Text = text{Key: "web.second.allowed"}
		default:
			l.Text = text{Key: "web.second.denied"}
		}
		return l
	}
	if it.Grant != nil {
		l.Text = chatLine(func(texts *templates.Texts) cardtext.Text { return cardtext.Granted(texts, it.Grant) })
		l.More = chatLine(cardtext.GrantsWhere)
	}
	l.Words = d.Words != ""
	if it.State == approval.Allowed && it.Permit != nil {
		l.Until = it.Permit.LapsesAt
	}
	return l
}

// askURL returns the address of an ask's page.
func askURL(id approval.AskID) string { return "/inbox/ask/" + url.PathEscape(string(id)) }
