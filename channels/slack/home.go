package slack

import (
	"context"
	"errors"
	"slices"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

const (
	// maxRemembered is how many people's home tabs are kept up to date.
	maxRemembered = 200
	// historyPage is how many steps are read at a time, and maxHistory is where the home
	// tab stops reading, which it says.
	historyPage, maxHistory = 500, 10_000
	// longestAsk is the longest time that an ask waits.
	longestAsk = 24 * time.Hour
)

// day is what the home tab shows of a day, each call once.
type day struct {
	decided, vetoed []approval.Entry
	// cut says that there was more to read.
	cut bool

	seen map[approval.ID]bool
}

// take sorts in an entry.
func (d *day) take(e *approval.Entry, who person, morning time.Time) {
	p := e.Approval
	if p == nil {
		if e.Outcome() == "guard" && !e.Step.At.Before(morning) {
			d.vetoed = append(d.vetoed, *e)
		}
		return
	}
	if p.Decision == nil || p.Decision.At.Before(morning) || d.seen[p.ID] {
		return
	}
	d.seen[p.ID] = true
	if p.State == approval.Denied {
		d.vetoed = append(d.vetoed, *e)
	}
	if p.Decision.By.ID == who.qualified() {
		d.decided = append(d.decided, *e)
	}
}

// today reads back what the person has decided since the morning, and what was vetoed. What
// was proposed earlier may have been decided since.
func (l *loop) today(ctx context.Context, who person, morning time.Time) (d day, err error) {
	d.seen = map[approval.ID]bool{}
	f := approval.Filter{Limit: historyPage}
	for read := 0; ; {
		page, err := l.desk.History(ctx, f)
		if err != nil {
			return day{}, err
		}
		for i := range page.Entries {
			d.take(&page.Entries[i], who, morning)
		}
		read += len(page.Entries)
		f.Before = page.Older
		switch n := len(page.Entries); {
		case page.Older == 0, n > 0 && page.Entries[n-1].Step.At.Before(morning.Add(-longestAsk)):
			return d, nil
		case read >= maxHistory:
			d.cut = true
			return d, nil
		}
	}
}

// home shows a person what waits for them and how much for others, what they decided, and
// what was vetoed today.
func (l *loop) home(ctx context.Context, who person) error {
	p := &page{texts: l.texts}
	if !l.may(ctx, who) {
		p.line("stranger", nil)
		return l.publish(ctx, who, p)
	}
	p.header(l.texts.Plain("home.waiting", nil))
	_, others, err := l.pending(ctx, p, func(c approval.Card) bool { return l.desk.Awaits(c, who.qualified()) })
	if err != nil {
		return err
	}
	if others > 0 {
		p.line("home.others", map[string]any{"n": others})
	}
	now := time.Now().In(l.config.Zone)
	day, err := l.today(ctx, who, time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, l.config.Zone))
	if err != nil {
		return err
	}
	l.past(p, "home.decided", day.decided, day.cut)
	l.past(p, "home.vetoed", day.vetoed, day.cut)
	l.toDigest(p)
	if err := l.publish(ctx, who, p); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.homes) >= maxRemembered {
		clear(l.homes)
	}
	l.homes[who.id] = time.Now()
	return nil
}

// toDigest links to the last digest, or says how to ask for one.
func (l *loop) toDigest(p *page) {
	m, _ := parseRef(l.notes.Now().Digest)
	if url := l.linkTo(m); url != "" {
		p.link(url, l.texts.Plain("home.digest", nil))
		p.end()
		return
	}
	p.line("digest.slack.usage", nil)
}

// happened returns when what the home tab shows of an entry happened.
func happened(e *approval.Entry) time.Time {
	if e.Approval != nil && e.Approval.Decision != nil {
		return e.Approval.Decision.At
	}
	return e.Step.At
}

// past lists entries of the history, the latest first, and says how many more there are.
func (l *loop) past(p *page, head phrase, entries []approval.Entry, cut bool) {
	p.header(l.texts.Plain(head, nil))
	slices.SortStableFunc(entries, func(a, b approval.Entry) int { return happened(&b).Compare(happened(&a)) })
	for i := range entries[:min(len(entries), maxListed)] {
		e := &entries[i]
		p.write(l.wanted(e))
		p.text(" ")
		if e.Approval == nil {
			p.line("home.guard", nil)
			continue
		}
		values := map[string]any{"when": e.Approval.EndedAt}
		if d := e.Approval.Decision; d != nil {
			values = map[string]any{"when": d.At, "by": cardtext.Within(d.By.Name, 40)}
		}
		p.say(phrase("state."+approval.Fate(e.Approval.State, e.Approval.Outcome, e.Approval.Permit, e.Approval.EndedAt, e.Approval.ExpiresAt)), values)
		p.end()
	}
	if len(entries) == 0 {
		p.line("home.none", nil)
	}
	switch more := len(entries) - maxListed; {
	case cut:
		p.line("home.more.least", map[string]any{"n": max(more, 0)})
	case more > 0:
		p.line("home.more", map[string]any{"n": more})
	}
}

// wanted says who wanted what: the headline of the call's card or, if there is no call to
// read, its short form.
func (l *loop) wanted(e *approval.Entry) cardtext.Text {
	values := templates.Values{"when": e.Step.At, "agent": cardtext.Within(e.Step.Proposal.Agent, 40)}
	if e.Step.Proposal.Executor == "" {
		values["wanted"] = cardtext.Within(wantedOf(e), 100)
		return cardtext.Say(l.texts, "home.line", values)
	}
	h := e.Step.Headline()
	return cardtext.Wanting(l.texts, "home.line", values, &h)
}

// wantedOf returns a short form of a call in the history.
func wantedOf(e *approval.Entry) string {
	switch {
	case e.Approval != nil:
		return e.Approval.Refusal.Wanted
	case e.Step.Refusal != nil:
		return e.Step.Refusal.Wanted
	default:
		return e.Step.Proposal.Executor
	}
}

func (l *loop) publish(ctx context.Context, who person, p *page) error {
	err := l.do(ctx, "views.publish", func(ctx context.Context) error {
		_, err := l.api.PublishViewContext(ctx, slackapi.PublishViewContextRequest{
			UserID: who.id, View: slackapi.HomeTabViewRequest{Type: slackapi.VTHomeTab, Blocks: slackapi.Blocks{BlockSet: p.done()}},
		})
		return err
	})
	if err != nil {
		l.log.WarnContext(ctx, "a home tab could not be shown", "error", err)
	}
	return nil
}

// freshen updates the home tab of a person who has opened it.
func (l *loop) freshen(ctx context.Context, who person) {
	l.mu.Lock()
	_, open := l.homes[who.id]
	l.mu.Unlock()
	if !open {
		return
	}
	if err := l.home(ctx, who); err != nil && !errors.Is(err, context.Canceled) {
		l.log.WarnContext(ctx, "a home tab could not be brought up to date", "error", err)
	}
}
