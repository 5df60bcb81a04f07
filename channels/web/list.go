package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// listView is what waits, one row per ask, the worst and most urgent first.
type listView struct {
	Rows []rowView
	// Open is how many asks wait, Found is how many of those that were read match the
	// search, and Unread is how many were not read.
	Open, Found, Unread int
	Search              search
	Agents              []choice
	Harms               []choice
}

// Narrowed reports whether there is more than fits a glance, or a search is active.
func (l *listView) Narrowed() bool { return l.Open >= manyRows || l.Search.on() }

// Left returns how many rows match the search and are not listed.
func (l *listView) Left() int { return l.Found - len(l.Rows) }

// choice is one choice of a filter. If Word is zero, Value is a name, of which N asks wait.
type choice struct {
	Value  string
	Word   text
	N      int
	Chosen bool
}

// rowView is one ask in the list.
type rowView struct {
	*approval.Card
	Harm harm
	// Link opens the ask next to the list, keeping the search.
	Link   string
	Chosen bool
}

const (
	// maxRows is the most rows of the list; the search brings up the others.
	maxRows = 200
	// manyRows is how many rows make a search useful.
	manyRows = 6
)

// harm says whether what waits can be undone; it orders the list and is the chip of a row.
// In addition to the effects judge's words it has one for what no judge described.
type harm string

const harmUnknown harm = "unknown"

// harms returns all of them, worst first. The unknown comes before what can be partly
// undone: it may be the worst.
func harms() []harm { return []harm{"irreversible", harmUnknown, "partial", "reversible"} }

// Word returns the chip's word.
func (h harm) Word() text {
	if h == harmUnknown {
		return text{Key: "web.harm.unknown"}
	}
	return text{Key: templates.Key("undo." + string(h))}
}

// rank orders harms; 0 is the worst.
func (h harm) rank() int { return slices.Index(harms(), h) }

// harmOf returns the harm of a card's weightiest call.
func harmOf(c *approval.Card) harm {
	lead, _, _ := c.Lead()
	if lead == nil {
		return harmUnknown
	}
	return harmIn(lead)
}

// harmIn returns the harm of a call.
func harmIn(call *approval.Item) harm {
	follows := &call.Headline.Consequence
	h := harm(follows.Undo)
	switch {
	case follows.Reads:
		return "reversible"
	case follows.Unknown || follows.Unsure || h.rank() < 0:
		return harmUnknown
	default:
		return h
	}
}

// differ has the calls of a plan say what follows from them where that is not what the card says of the weightiest.
func (v *cardView) differ() {
	lead, _, _ := v.Lead()
	for i := range v.Items {
		if it := &v.Items[i]; it.State == approval.Pending && it.Headline.Consequence != lead.Headline.Consequence {
			it.Harm = harmIn(&it.Item)
		}
	}
}

// urgency is what decides an ask's place in the list.
type urgency struct {
	harm    harm
	expires time.Time
	ask     approval.AskID
}

func urgencyOf(c *approval.Card) urgency { return urgency{harmOf(c), c.ExpiresAt, c.Ask} }

// compare orders by consequence, then by deadline; ids make the order total.
func (u urgency) compare(o urgency) int {
	return cmp.Or(cmp.Compare(u.harm.rank(), o.harm.rank()), u.expires.Compare(o.expires), strings.Compare(string(u.ask), string(o.ask)))
}

// search narrows the list.
type search struct {
	// Text occurs in what the card shows of the calls, ignoring case.
	Text  string
	Agent string
	Harm  harm
}

// searchOf reads the search from an address or a form; an invalid harm counts as none.
func searchOf(q url.Values) search {
	s := search{strings.TrimSpace(q.Get("q")), strings.TrimSpace(q.Get("agent")), harm(q.Get("harm"))}
	if s.Harm.rank() < 0 {
		s.Harm = ""
	}
	return s
}

func (s search) on() bool { return s != search{} }

// Query returns the search as an address has it; empty without one.
func (s search) Query() string { return s.values().Encode() }

func (s search) values() url.Values {
	q := url.Values{}
	for key, value := range map[string]string{"q": s.Text, "agent": s.Agent, "harm": string(s.Harm)} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return q
}

// fits reports whether a card matches the search.
func (s search) fits(c *approval.Card) bool {
	if s.Agent != "" && c.Agent != s.Agent || s.Harm != "" && harmOf(c) != s.Harm {
		return false
	}
	if s.Text == "" {
		return true
	}
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), strings.ToLower(s.Text)) }
	return has(c.Agent) || has(c.Intent) || has(string(c.Ask)) || slices.ContainsFunc(c.Items, func(it approval.Item) bool {
		return has(it.Executor) || has(it.Command) || has(it.Args) || has(it.Cwd)
	})
}

// inboxURL returns the address of an ask next to the list, or of the list alone if ask is
// empty.
func inboxURL(ask approval.AskID, s search) string {
	q := s.values()
	if ask != "" {
		q.Set("ask", string(ask))
	}
	if len(q) == 0 {
		return "/inbox"
	}
	return "/inbox?" + q.Encode()
}

// listOf lists the matching cards that wait, and returns them in the list's order.
func listOf(p *pending, s search) (listView, []approval.Card) {
	l := listView{Search: s, Unread: p.Unread}
	for _, n := range p.Agents {
		l.Open += n
	}
	var found []approval.Card
	for i := range p.Cards {
		if s.fits(&p.Cards[i]) {
			found = append(found, p.Cards[i])
		}
	}
	slices.SortFunc(found, func(a, b approval.Card) int { return urgencyOf(&a).compare(urgencyOf(&b)) })
	l.Found = len(found)
	// Where there are more than rows, the worst of one agent do not hide the others'.
	for _, i := range approval.Shared(found, maxRows, func(c approval.Card) string { return c.Agent }) {
		l.Rows = append(l.Rows, rowView{Card: &found[i], Harm: harmOf(&found[i]), Link: inboxURL(found[i].Ask, s)})
	}
	l.offer(p.Agents)
	return l, found
}

// offer lists the choices of the filters.
func (l *listView) offer(agents map[string]int) {
	for name, n := range agents {
		if n > 0 {
			l.Agents = append(l.Agents, choice{Value: name, N: n, Chosen: name == l.Search.Agent})
		}
	}
	if s := l.Search.Agent; s != "" && agents[s] == 0 {
		l.Agents = append(l.Agents, choice{Value: s, Chosen: true})
	}
	slices.SortFunc(l.Agents, func(a, b choice) int { return strings.Compare(a.Value, b.Value) })
	for _, h := range harms() {
		l.Harms = append(l.Harms, choice{Value: string(h), Word: h.Word(), Chosen: h == l.Search.Harm})
	}
}
