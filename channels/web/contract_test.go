package web_test

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/html"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio"
)

// contractDesk is the contract's desk with what the inbox also reads.
type contractDesk struct{ *channeltest.Desk }

func (contractDesk) Watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{})
	context.AfterFunc(ctx, func() { close(c) })
	return c
}

func (contractDesk) Steps(context.Context, approval.TurnQuery) (approval.TurnPage, error) {
	return approval.TurnPage{}, nil
}

func (contractDesk) Edit(context.Context, approval.Editing) (approval.Edited, error) {
	return approval.Edited{}, approval.ErrNotFound // chats have none
}

func (contractDesk) Statistics(context.Context, report.Range) (report.Statistics, error) {
	return report.Statistics{}, nil
}

func (contractDesk) Propose(context.Context, string, vaglio.Proposal) (approval.Answer, error) {
	return approval.Answer{}, approval.ErrNotFound
}

func TestContract(t *testing.T) {
	// The inbox's pages show all of a call, so there is no limit and no file.
	channeltest.Run(t, channeltest.Facts{Pairs: os.Getenv("VAGLIO_PAIRS"), Order: onButton, Edits: edits}, func(t *testing.T, test func(*testing.T, channeltest.Harness)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c := &contractInbox{T: t, desk: contractDesk{channeltest.NewDesk(func(id string) bool { return id == web.Owner })}, deny: map[string]url.Values{}}
			c.start()
			test(t, channeltest.Harness{
				Channel: web.Channel{}, Desk: c.desk.Desk, Shown: c.shown, Revealed: c.revealed, Reply: c.reply, Grants: c.grants, Ask: c.ask, Command: c.command, Edit: c.edit,
				Match:   c.match,
				Restart: func() channeltest.Channel { c.start(); return web.Channel{} },
			})
		})
	})
}

// onButton returns the label of the button that gives an order.
func onButton(verb string, _ ...string) string {
	return map[string]string{"lift": "“Lift the denial”", "end": "“End the grant”", "go": "“Release”", "grants": "“Granted”"}[verb]
}

// edits returns the page of an edit. The page of an ask has a link for each of several
// calls.
func edits(ask approval.AskID, id approval.ID) string {
	return web.EditAddress("", ask, cmp.Or(id, approval.ID(ask+"-1")))
}

// contractInbox is an inbox with somebody signed in, and somebody who is not.
type contractInbox struct {
	*testing.T
	desk            contractDesk
	owner, stranger *inbox
	// deny holds the form that answers an ask with words.
	deny map[string]url.Values
}

// start starts a new process.
func (c *contractInbox) start() {
	c.Helper()
	w, err := web.New(context.Background(), web.Config{
		Desk: c.desk, Book: c.desk, Propose: c.desk.Propose, Samples: samples(), Secret: [32]byte{1}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(w.Stop)
	c.stranger = &inbox{T: c.T, web: w, h: w.Handler()}
	c.owner = (&inbox{T: c.T, web: w, h: w.Handler()}).signIn()
}

// shown returns the ask's card on its own page.
func (c *contractInbox) shown(ref string) channeltest.Picture { return c.picture(ref, "") }

// revealed returns the card with its masked values, after the link that leads there.
func (c *contractInbox) revealed(ref string) channeltest.Picture {
	c.Helper()
	offered := slices.ContainsFunc(sound(c.T, c.owner.get("/inbox/ask/"+ref)).id(c.T, "ask-"+ref).all("form"),
		func(f tree) bool { return f.attr("action") == "/inbox/reveal" })
	led := c.owner.post("/inbox/reveal", url.Values{"ask": {ref}})
	to, ok := strings.CutPrefix(led.Header().Get("Location"), "/inbox/ask/"+ref+"?")
	if !ok || !offered {
		c.Fatalf("nothing leads to what is masked: %d", led.Code)
	}
	return c.picture(ref, "?"+to)
}

// picture returns the ask's card on its own page for a query.
func (c *contractInbox) picture(ref, search string) channeltest.Picture {
	c.Helper()
	rec := c.owner.get("/inbox/ask/" + ref + search)
	if rec.Code != http.StatusOK {
		c.Fatalf("the page of ask %s: %d", ref, rec.Code)
	}
	card := sound(c.T, rec).id(c.T, "ask-"+ref)
	p := channeltest.Picture{Text: card.text()}
	seen, unfolded := map[string]bool{}, false
	for _, fold := range card.all("details") {
		open := slices.ContainsFunc(fold.Attr, func(a html.Attribute) bool { return a.Key == "open" })
		unfolded = unfolded || open && strings.HasPrefix(fold.attr("id"), "grant-")
	}
	for _, form := range card.all("form") {
		values := url.Values{}
		for _, field := range form.all("input", "button") {
			if field.attr("name") != "" {
				values.Set(field.attr("name"), field.attr("value"))
			}
		}
		// A denial with words has the token of the one without.
		token := values.Get("token")
		if token == "" || seen[token] {
			continue
		}
		seen[token] = true
		b := form.all("button")[0]
		if approval.Choice(b.attr("data-choice")).Grants() && !unfolded {
			continue // It comes after a second tap.
		}
		one := channeltest.Button{
			Choice: approval.Choice(b.attr("data-choice")), Label: b.name(),
			Press: func(who channeltest.Who) string { return c.tap(who, values) },
		}
		p.Buttons = append(p.Buttons, one)
		if one.Choice == approval.ChoiceDeny {
			c.deny[ref] = values
		}
	}
	for _, a := range card.all("a", "form", "img", "script") {
		for _, key := range []string{"href", "action", "src"} {
			if to := a.attr(key); to != "" && !strings.HasPrefix(to, "/inbox/") {
				p.Links = append(p.Links, to)
			}
		}
	}
	return p
}

// match allows with digits.
func (c *contractInbox) match(ref, digits string) string {
	c.Helper()
	for _, form := range sound(c.T, c.owner.get("/inbox/ask/"+ref)).id(c.T, "ask-"+ref).all("form") {
		values := url.Values{}
		for _, field := range form.all("input", "button") {
			values.Set(field.attr("name"), field.attr("value"))
		}
		if values.Get("choice") != string(approval.ChoiceAllow) {
			continue
		}
		if values.Has("digits") {
			values.Set("digits", digits)
		}
		return c.tap(channeltest.Owner, values)
	}
	return ""
}

// edit returns the label and address of the ask's link to an edit.
func (c *contractInbox) edit(ref string) (label, address string) {
	for _, a := range sound(c.T, c.owner.get("/inbox/ask/"+ref)).id(c.T, "ask-"+ref).all("a") {
		if a.attr("class") == "edit" {
			return a.name(), a.attr("href")
		}
	}
	return "", ""
}

// grants returns the choices that the page folds away.
func (c *contractInbox) grants(ref string) []channeltest.Button {
	c.Helper()
	card := sound(c.T, c.owner.get("/inbox/ask/"+ref)).id(c.T, "ask-"+ref)
	var all []channeltest.Button
	for _, form := range card.all("form") {
		buttons := form.all("button")
		if len(buttons) == 0 || !approval.Choice(buttons[0].attr("data-choice")).Grants() {
			continue
		}
		values := url.Values{}
		for _, field := range form.all("input", "button") {
			if field.attr("name") != "" {
				values.Set(field.attr("name"), field.attr("value"))
			}
		}
		all = append(all, channeltest.Button{
			Choice: approval.Choice(buttons[0].attr("data-choice")), Label: buttons[0].name(), Press: func(who channeltest.Who) string { return c.tap(who, values) },
		})
	}
	return all
}

// command gives an order by its form, and returns what the next page says.
func (c *contractInbox) command(who channeltest.Who, line string) string {
	c.Helper()
	in := c.owner
	if who == channeltest.Stranger {
		in = c.stranger
	}
	words := strings.Fields(line)
	form := url.Values{"verb": words[:1]}
	for i, w := range words[1:] {
		switch {
		case words[0] == "snooze" && i == 1:
			form.Set("for", w)
		case words[0] == "hand" && i == 1:
			form.Set("to", w)
		case words[0] != "stop" && words[0] != "go":
			form.Set("id", w)
		case strings.HasSuffix(w, "h"):
			form.Set("for", w)
		default:
			form.Set("agent", w)
		}
	}
	if words[0] == "grants" {
		said := sound(c.T, in.get("/inbox")).all("main")[0].words()
		if !strings.Contains(said, "Granted") {
			return "No grant" // There is no list if there is nothing to list.
		}
		return said
	}
	return c.ordered(who, form)
}

// ordered sends an order, and returns what the next page says.
func (c *contractInbox) ordered(who channeltest.Who, form url.Values) string {
	c.Helper()
	in := c.owner
	if who == channeltest.Stranger {
		in = c.stranger
	}
	rec := in.post("/inbox/order", form)
	if rec.Code == http.StatusSeeOther {
		return sound(c.T, in.get(rec.Header().Get("Location"))).all("main")[0].words()
	}
	return sound(c.T, rec).all("main")[0].words()
}

// ask asks the agent something with the form of the ask's page.
func (c *contractInbox) ask(who channeltest.Who, ref, words string) (told string, offered bool) {
	c.Helper()
	for _, form := range sound(c.T, c.owner.get("/inbox/ask/"+ref)).id(c.T, "ask-"+ref).all("form") {
		values := url.Values{"words": {words}}
		for _, field := range form.all("input") {
			values.Set(field.attr("name"), field.attr("value"))
		}
		if values.Get("verb") != string(approval.VerbAsk) {
			continue
		}
		return c.ordered(who, values), true
	}
	return "", false
}

func (c *contractInbox) reply(who channeltest.Who, ref, words string) string {
	c.Helper()
	values := url.Values{"words": {words}}
	maps.Copy(values, c.deny[ref])
	return c.tap(who, values)
}

// tap sends a form, and returns what the next page says.
func (c *contractInbox) tap(who channeltest.Who, form url.Values) string {
	c.Helper()
	in := c.owner
	if who == channeltest.Stranger {
		in = c.stranger
	}
	rec := in.post("/inbox/decide", form)
	if rec.Code == http.StatusSeeOther {
		rec = in.get(rec.Header().Get("Location"))
		return sound(c.T, rec).id(c.T, "notice").words()
	}
	return sound(c.T, rec).all("main")[0].words()
}
