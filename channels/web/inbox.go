package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// inboxView is what the first page shows.
type inboxView struct {
	Notice *notice
	// Cards are shown in full, oldest first: those that wait, and those that
	// the reader has just seen decided.
	Cards []cardView
	// Rest are the asks that wait behind them, in a line each.
	Rest []cardView
	// Open is how many asks wait, and Uncounted that more do.
	Open      int
	Uncounted bool
	Recent    []entryView
	// Holds is what people's answers hold now.
	Holds holdsView
}

const (
	// maxKept bounds the decided cards that stay in sight.
	maxKept = 20
	// recent is how many entries of the history the first page shows.
	recent = 10
)

func (w *Web) inbox(rw http.ResponseWriter, r *http.Request) error {
	v := inboxView{Notice: w.noticeOf(r)}
	if err := w.fill(r, &v); err != nil {
		return err
	}
	holds, err := w.holds(r.Context())
	if err != nil {
		return err
	}
	v.Holds, v.Holds.Did = holds, w.didOf(r)
	past, err := w.book.History(r.Context(), approval.Filter{Limit: 3 * recent})
	if err != nil {
		return err
	}
	// What waits stands above already.
	entries := slices.DeleteFunc(past.Entries, func(e approval.Entry) bool {
		return e.Approval != nil && e.Approval.State == approval.Pending
	})
	v.Recent = w.entries(entries[:min(len(entries), recent)])
	n := &waiting{v.Open, v.Uncounted}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "inbox", Title: text{Key: "web.inbox"}, Nav: "inbox", Waiting: n, Body: v})
}

// fill reads the cards that wait, and puts those among them that the reader
// still has in sight though they are decided.
func (w *Web) fill(r *http.Request, v *inboxView) error {
	seen, weight := map[approval.AskID]bool{}, 0
	for c, err := range w.desk.Pending(r.Context(), Name) {
		if err != nil {
			return err
		}
		if v.Open == maxWaiting || weight > maxWeight {
			v.Uncounted = true
			break
		}
		v.Open++
		weight += weigh(&c)
		seen[c.Ask] = true
		if len(v.Cards) < maxCards {
			v.Cards = append(v.Cards, w.view(c, "inbox", false))
		} else {
			v.Rest = append(v.Rest, w.view(c, "inbox", false))
		}
	}
	kept := r.URL.Query()["keep"]
	for _, id := range kept[:min(len(kept), maxKept)] {
		ask := approval.AskID(id)
		if seen[ask] {
			continue
		}
		seen[ask] = true
		c, err := w.desk.Card(r.Context(), ask, Name)
		if errors.Is(err, approval.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		v.Cards = append(v.Cards, w.view(c, "inbox", false))
	}
	slices.SortStableFunc(v.Cards, func(a, b cardView) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return nil
}

// weigh returns how many bytes a card's calls have.
func weigh(c *approval.Card) (bytes int) {
	for i := range c.Items {
		bytes += len(c.Items[i].Args) + len(c.Items[i].Command)
	}
	return bytes
}

// askView is what the page of one ask shows.
type askView struct {
	Notice *notice
	// Did says what an order did that was just given here.
	Did  string
	Card cardView
	// Turn is the address of the turn's page; empty without a turn.
	Turn string
}

// ask shows one ask as it stands, however long its calls are.
func (w *Web) ask(rw http.ResponseWriter, r *http.Request) error {
	if approval.IsVetoID(r.PathValue("id")) {
		return w.veto(rw, r)
	}
	a, err := w.book.Find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	c, err := w.desk.Card(r.Context(), a.ID, Name)
	if err != nil {
		return err
	}
	v := askView{Notice: w.noticeOf(r), Did: w.didOf(r), Card: w.view(c, "ask", true)}
	if c.TurnID != "" {
		v.Turn = turnURL(c.Agent, c.TurnID)
	}
	title := text{"web.title.ask", templates.Values{"id": plain(c.Ask)}}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "ask", Title: title, Body: v})
}

// veto leads to where the inbox tells of a call that was refused without an ask:
// its turn, or the history of its agent.
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
