package owner

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/internal/lineage"
	"github.com/metnos/vaglio/internal/peers"
	"github.com/metnos/vaglio/templates"
)

// Showing is everything about an ask that a person must have seen to allow it.
type Showing struct {
	Ask approval.AskID `json:"ask"`
	// View identifies what is shown. It changes with anything that a card would show.
	View      approval.View `json:"view"`
	Approvals []Account     `json:"approvals"`
	// Seen says that this view has been shown before at the terminal that asks now.
	Seen bool `json:"seen"`
	// Sure, if not empty, is a warning for the person before they allow; they must then type
	// Name.
	Sure string `json:"sure,omitempty"`
	Name string `json:"name,omitempty"`
	// Match, if not empty, asks the person for the digits that a chat shows.
	Match string `json:"match,omitempty"`
}

// sight is where an ask was shown: a session on a terminal.
type sight struct {
	terminal, session int
	ask               approval.AskID
}

// sights remembers what was shown at terminals. It does not outlive the process: people must
// then look again.
type sights struct {
	mu   sync.Mutex
	seen map[sight]approval.View
}

// mostSights limits the sights. When it is reached, all are forgotten, and people look again.
const mostSights = 1000

func (s *sights) keep(at sight, v approval.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || len(s.seen) >= mostSights {
		s.seen = map[sight]approval.View{}
	}
	s.seen[at] = v
}

// has reports whether the view was shown there.
func (s *sights) has(at sight, v approval.View) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.seen[at]
	return ok && v != "" && seen == v
}

// person refuses a caller that runs below an agent's program. If that cannot be determined, it
// returns [lineage.ErrUnseen].
func (a *admin) person(ctx context.Context) (lineage.Line, error) {
	peer, known := peers.Of(ctx)
	if !known || peer.PID == 0 || a.Above == nil {
		return nil, lineage.ErrUnseen
	}
	line, err := a.Above(peer.PID)
	if err != nil {
		return nil, err
	}
	if program := line.Below(a.Programs); program != "" {
		return nil, &approval.OrderError{Key: approval.OrderCaller, Value: program}
	}
	return line, nil
}

// noAgent refuses a caller that can be seen to run below an agent's program.
func (a *admin) noAgent(r *http.Request, o *approval.Order) error {
	_, err := a.person(r.Context())
	if err == nil || errors.Is(err, lineage.ErrUnseen) {
		return nil
	}
	return a.undone(o, err)
}

// terminal returns where a person who may allow sits: at a terminal, with no agent's program
// above the process. For any other caller it returns an [*approval.OrderError].
func (a *admin) terminal(ctx context.Context) (sight, error) {
	line, err := a.person(ctx)
	if errors.Is(err, lineage.ErrUnseen) {
		a.Log.WarnContext(ctx, "it cannot be seen who is at the terminal", "error", err)
		return sight{}, &approval.OrderError{Key: approval.OrderLineage}
	}
	if err != nil {
		return sight{}, err
	}
	if line[0].Terminal == 0 {
		return sight{}, &approval.OrderError{Key: approval.OrderTerminal}
	}
	return sight{terminal: line[0].Terminal, session: line[0].Session}, nil
}

// meant returns the ask that an id names and, if the id names one approval of it, that approval.
func (a *admin) meant(ctx context.Context, id string) (approval.Ask, approval.ID, error) {
	ask, err := a.Orders.Find(ctx, id)
	if err != nil {
		return ask, "", err
	}
	_, number, one := strings.Cut(id, "-")
	if !one {
		return ask, "", nil
	}
	of := approval.ID(string(ask.ID) + "-" + number)
	if ask.Find(of) == nil {
		return ask, "", approval.ErrNotFound
	}
	return ask, of, nil
}

// show returns the whole ask, whichever of its approvals the id names.
func (a *admin) show(r *http.Request) (Showing, error) {
	ask, one, err := a.meant(r.Context(), r.PathValue("id"))
	if err != nil {
		return Showing{}, err
	}
	card, err := a.Desk.Why(r.Context(), string(ask.ID), a.Channel)
	if err != nil {
		return Showing{}, err
	}
	s := Showing{Ask: card.Ask, View: card.View, Approvals: accounts(card, a.Texts)}
	if grave(&card, one) {
		s.Name = card.Agent
		s.Sure = a.Texts.Plain("order.sure", templates.Values{"what": cardtext.Within(card.Agent, maxName)})
	}
	if takesDigits(&card, one) {
		s.Match = a.Texts.Plain("order.digits", nil)
	}
	if at, err := a.terminal(r.Context()); err == nil {
		at.ask = s.Ask
		s.Seen = a.sights.has(at, s.View)
	}
	return s, nil
}

// maxName is how many characters of an agent's name are shown.
const maxName = 60

// grave reports whether a waiting approval, the given one or any, may be impossible to undo.
func grave(c *approval.Card, one approval.ID) bool {
	return someWaits(c, one, func(it *approval.Item) bool { return !it.Headline.Consequence.Undoable() })
}

// takesDigits reports whether a waiting approval, the given one or any, needs a chat's digits.
func takesDigits(c *approval.Card, one approval.ID) bool {
	return someWaits(c, one, func(it *approval.Item) bool { return it.Match })
}

func someWaits(c *approval.Card, one approval.ID, is func(*approval.Item) bool) bool {
	for i := range c.Items {
		it := &c.Items[i]
		if it.State == approval.Pending && (one == "" || it.Approval == one) && is(it) {
			return true
		}
	}
	return false
}

// shown records that the whole ask was written to a terminal.
func (a *admin) shown(r *http.Request) error {
	id, view := r.FormValue("id"), approval.View(r.FormValue("view"))
	at, err := a.terminal(r.Context())
	if err != nil {
		return a.undone(&approval.Order{ID: id}, err)
	}
	ask, _, err := a.meant(r.Context(), id)
	if err != nil {
		return err
	}
	at.ask = ask.ID
	a.sights.keep(at, view)
	return nil
}

// allow allows once what waits of an ask, or one approval of it, if its current view has been
// shown at the same terminal.
func (a *admin) allow(r *http.Request) (Said, error) {
	id := r.FormValue("id")
	at, err := a.terminal(r.Context())
	if err != nil {
		return Said{}, a.undone(&approval.Order{ID: id}, err)
	}
	ask, one, err := a.meant(r.Context(), id)
	if err != nil {
		return Said{}, err
	}
	card, err := a.Desk.Why(r.Context(), string(ask.ID), a.Channel)
	if err != nil {
		return Said{}, err
	}
	at.ask = ask.ID
	switch over := !ask.Waiting(); {
	case over: // Decide's receipt says who was first.
	case !a.sights.has(at, card.View):
		err = &approval.OrderError{Key: approval.OrderUnseen, Value: id}
	case grave(&card, one) && r.FormValue("name") != card.Agent:
		err = &approval.OrderError{Key: approval.OrderName, Value: card.Agent}
	}
	if err != nil {
		return Said{}, a.undone(&approval.Order{ID: id}, err)
	}
	return a.decide(r.Context(), id, approval.Tap{
		Ask: ask.ID, Approval: one, Choice: approval.ChoiceAllow, Seen: card.View, Digits: r.FormValue("digits"),
	})
}

// deny denies what waits of an ask, or one approval of it, optionally with words. A denial needs
// no terminal, but no agent may give it in a person's name.
func (a *admin) deny(r *http.Request) (Said, error) {
	id := r.FormValue("id")
	if err := a.noAgent(r, &approval.Order{ID: id}); err != nil {
		return Said{}, err
	}
	ask, one, err := a.meant(r.Context(), id)
	if err != nil {
		return Said{}, err
	}
	return a.decide(r.Context(), id, approval.Tap{Ask: ask.ID, Approval: one, Choice: approval.ChoiceDeny, Words: r.FormValue("words")})
}

// decide records the owner's decision.
func (a *admin) decide(ctx context.Context, id string, t approval.Tap) (Said, error) {
	t.By, t.Channel = a.By, terminalChannel
	receipt, err := a.Orders.Decide(ctx, t)
	switch {
	case errors.Is(err, approval.ErrOtherView):
		err = &approval.OrderError{Key: approval.OrderUnseen, Value: id}
	case errors.Is(err, approval.ErrObscured):
		err = &approval.OrderError{Key: approval.OrderObscured, Value: id}
	case errors.Is(err, approval.ErrPasskey):
		err = &approval.OrderError{Key: approval.OrderPasskey, Value: id}
	}
	if match, ok := errors.AsType[*approval.MatchError](err); ok {
		return Said{}, &undoneError{cardtext.Digits(a.Texts, match, "", false)}
	}
	if err != nil {
		return Said{}, a.undone(&approval.Order{ID: id}, err)
	}
	said := cardtext.Answer(a.Texts, &receipt, a.By)
	if !receipt.Won && !receipt.Voted {
		return Said{}, &undoneError{said}
	}
	return Said{said}, nil
}
