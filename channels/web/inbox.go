package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// inboxView is what the first page shows: the list of what waits, and one of its asks in
// full.
type inboxView struct {
	Notice *notice
	List   *listView
	// Card is the ask next to the list; nil if none waits and none was chosen.
	Card *cardView
	// Chosen says that the reader chose the card, or was led to it by an answer: a narrow
	// screen shows it instead of the list.
	Chosen bool
	// Next is the address of the ask that comes after a card that is over; empty if none
	// waits.
	Next   string
	Recent []entryView
	// Holds is what people's answers hold now.
	Holds holdsView
}

// recent is how many entries of the history the first page shows.
const recent = 6

func (w *Web) inbox(rw http.ResponseWriter, r *http.Request) error {
	v := inboxView{Notice: w.noticeOf(r)}
	if err := w.choose(r, &v); err != nil {
		return err
	}
	who, _ := w.session(r)
	holds, err := w.holds(r.Context(), who.right())
	if err != nil {
		return err
	}
	v.Holds, v.Holds.Did = holds, w.didOf(r)
	past, err := w.book.History(r.Context(), approval.Filter{Limit: 3 * recent})
	if err != nil {
		return err
	}
	// What waits is already in the list.
	entries := slices.DeleteFunc(past.Entries, func(e approval.Entry) bool {
		return e.Approval != nil && e.Approval.State == approval.Pending
	})
	v.Recent = w.entries(entries[:min(len(entries), recent)])
	n := &waiting{v.List.Open}
	return w.render(rw, r, page{
		Status: http.StatusOK, Name: "inbox", Title: text{Key: "web.inbox"}, Nav: "inbox", Wide: true, Waiting: n, Body: v,
	})
}

// choose lists what waits, and shows the ask that the address names, whether it waits or
// not; without one, it shows the first in the list.
func (w *Web) choose(r *http.Request, v *inboxView) error {
	q := r.URL.Query()
	s := searchOf(q)
	p, err := w.pending(r.Context(), s.Agent)
	if err != nil {
		return err
	}
	list, found := listOf(&p, s)
	v.List = &list
	ask := approval.AskID(q.Get("ask"))
	c, ok, err := w.named(r.Context(), found, ask)
	if err != nil {
		return err
	}
	v.Chosen = ask != "" && ok || list.Open == 1
	if !ok && len(found) > 0 {
		c, ok = found[0], true
	}
	if !ok {
		return nil
	}
	card := w.view(c, "inbox", false)
	who, _ := w.session(r)
	card.limit(who.right())
	w.notePasskey(r, who, &card)
	card.beside(s.Query())
	v.Card = &card
	for i := range v.List.Rows {
		v.List.Rows[i].Chosen = v.List.Rows[i].Ask == c.Ask
	}
	if next := after(found, &c); next != "" && !card.Waiting {
		v.Next = inboxURL(next, s)
	}
	return nil
}

// named returns the card of an ask, from the list or else as it ended; none for an ask that
// is no longer kept, or an empty name.
func (w *Web) named(ctx context.Context, list []approval.Card, ask approval.AskID) (approval.Card, bool, error) {
	if c, ok := pick(list, ask); ok || ask == "" {
		return c, ok, nil
	}
	c, err := w.desk.Card(ctx, ask, Name)
	if errors.Is(err, approval.ErrNotFound) {
		return c, false, nil
	}
	return c, err == nil, err
}

// pending is what waits.
type pending struct {
	// Agents is how many asks of each agent wait.
	Agents map[string]int
	// Cards are those that were read, and Unread is how many others there are, of the agent
	// alone whose cards were wanted.
	Cards  []approval.Card
	Unread int
}

// pending reads the cards that wait, of one agent or, if it is empty, of all in turns.
func (w *Web) pending(ctx context.Context, agent string) (pending, error) {
	p := pending{Agents: map[string]int{}}
	var wanted []approval.Waiting
	for a, err := range w.desk.Waiting(ctx) {
		if err != nil {
			return p, err
		}
		p.Agents[a.Agent]++
		if agent == "" || a.Agent == agent {
			wanted = append(wanted, a)
		}
	}
	p.Unread = len(wanted)
	turns := approval.InTurns(wanted, func(a approval.Waiting) string { return a.Agent })
	for weight := 0; len(p.Cards) < maxRead && weight <= maxWeight; {
		a, ok := turns.Next()
		if !ok {
			break
		}
		c, err := w.desk.Card(ctx, a.Ask, Name)
		if err != nil && !errors.Is(err, approval.ErrNotFound) {
			return p, err
		}
		if p.Unread--; err != nil || !c.Waits() {
			p.Agents[a.Agent]-- // it was answered in the meantime
			continue
		}
		turns.Weigh(a.Agent, weigh(&c))
		weight += weigh(&c)
		p.Cards = append(p.Cards, c)
	}
	return p, nil
}

// pick returns the card of an ask.
func pick(cards []approval.Card, ask approval.AskID) (approval.Card, bool) {
	i := slices.IndexFunc(cards, func(c approval.Card) bool { return c.Ask == ask })
	if i < 0 {
		return approval.Card{}, false
	}
	return cards[i], true
}

// after returns the ask that comes up when a card was answered: the card's own while some
// of its calls wait, else the one that was below it in the list, else the last one. It is
// empty if none waits.
func after(list []approval.Card, c *approval.Card) approval.AskID {
	if len(list) == 0 {
		return ""
	}
	if _, ok := pick(list, c.Ask); ok {
		return c.Ask
	}
	at := urgencyOf(c)
	for i := range list {
		if urgencyOf(&list[i]).compare(at) > 0 {
			return list[i].Ask
		}
	}
	return list[len(list)-1].Ask
}

// weigh returns what it takes to show a card: the size of its calls in bytes, and something for
// the card itself.
func weigh(c *approval.Card) (bytes int) {
	bytes = 1 << 10
	for i := range c.Items {
		bytes += len(c.Items[i].Args) + len(c.Items[i].Command)
	}
	return bytes
}

// askView is what the page of one ask shows.
type askView struct {
	Notice *notice
	// Did says what an order given here just did.
	Did  string
	Card cardView
}

// ask shows one ask as it stands, however long its calls are. If its address asks for that,
// it shows the masked values that decide what they do.
func (w *Web) ask(rw http.ResponseWriter, r *http.Request) error {
	if approval.IsVetoID(r.PathValue("id")) {
		return w.veto(rw, r)
	}
	a, err := w.book.Find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	who, _ := w.session(r)
	card := w.desk.Card
	if w.reveals(r, who, a.ID) {
		card = w.desk.Revealed
	}
	c, err := card(r.Context(), a.ID, Name)
	if err != nil {
		return err
	}
	v := askView{Notice: w.noticeOf(r), Did: w.didOf(r), Card: w.view(c, "ask", true)}
	v.Card.limit(who.right())
	w.notePasskey(r, who, &v.Card)
	title := text{"web.title.ask", templates.Values{"id": plain(c.Ask)}}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "ask", Title: title, Body: v})
}

// revealFor is how long an address shows masked values.
const revealFor = 10 * time.Minute

// revealing is sealed in the address that shows a session the masked values of an ask.
type revealing struct {
	Session string         `json:"session"`
	Ask     approval.AskID `json:"ask"`
	Until   time.Time      `json:"until"`
}

// reveal leads to the page of an ask with the masked values that decide what its calls do.
// They are secrets, which a session's cookie alone must not be able to read; the history
// records who asked for them.
func (w *Web) reveal(rw http.ResponseWriter, r *http.Request, who Session, f url.Values) error {
	ask := approval.AskID(f.Get("ask"))
	if w.passkeys.Any() && !who.asserted {
		return wantsPasskey(askURL(ask))
	}
	if err := w.desk.Reveal(r.Context(), ask, who.by(), Name); err != nil {
		return err
	}
	to, err := w.told.Load().seal(revealing{who.ID, ask, time.Now().Add(revealFor)})
	if err != nil {
		return err
	}
	http.Redirect(rw, r, askURL(ask)+"?"+url.Values{"reveal": {to}}.Encode(), http.StatusSeeOther) //nolint:gosec // a path of ours, which the id is escaped in
	return nil
}

// reveals reports whether the address was recently made for the session to show the ask's
// masked values.
func (w *Web) reveals(r *http.Request, who Session, ask approval.AskID) bool {
	var v revealing
	return w.told.Load().open(r.URL.Query().Get("reveal"), &v) && v.Session == who.ID && v.Ask == ask && time.Now().Before(v.Until)
}

// veto leads to where the inbox shows a call that was refused without an ask: its turn, or
// the history of its agent.
func (w *Web) veto(rw http.ResponseWriter, r *http.Request) error {
	c, err := w.book.Why(r.Context(), r.PathValue("id"), Name)
	if err != nil {
		return err
	}
	to := "/inbox/history?" + url.Values{"agent": {c.Agent}, "outcome": {string(c.Items[0].Verdict.BlockedBy)}}.Encode()
	if c.TurnID != "" {
		to = turnURL(c.Agent, c.TurnID)
	}
	http.Redirect(rw, r, to, http.StatusSeeOther)
	return nil
}
