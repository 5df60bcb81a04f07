package slack

import (
	"context"
	"errors"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

const (
	// maxRemembered is how many people's home tabs are kept up to date.
	maxRemembered = 200
	// maxHistory is how far back the home tab looks.
	maxHistory = 500
)

// home shows a person what waits for them, what they decided, and what was
// vetoed today.
func (l *loop) home(ctx context.Context, who person) error {
	p := &page{texts: l.texts}
	if !l.may(ctx, who) {
		p.line("stranger", nil)
		return l.publish(ctx, who, p)
	}
	p.header(l.texts.Plain("home.waiting", nil))
	if err := l.pending(ctx, p); err != nil {
		return err
	}
	page, err := l.desk.History(ctx, approval.Filter{Limit: maxHistory})
	if err != nil {
		return err
	}
	l.past(p, "home.decided", page.Entries, func(e *approval.Entry) bool {
		return e.Approval != nil && e.Approval.Decision != nil && e.Approval.Decision.By.ID == who.qualified()
	})
	now := time.Now().In(l.config.Zone)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, l.config.Zone)
	vetoed := func(e *approval.Entry) bool {
		return !e.Step.At.Before(today) && (e.Outcome() == "guard" || e.Outcome() == string(approval.Denied))
	}
	l.past(p, "home.vetoed", page.Entries, vetoed)
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

// toDigest leads to the last digest, or says how to ask for one.
func (l *loop) toDigest(p *page) {
	l.mu.Lock()
	ref := l.notes.Digest
	l.mu.Unlock()
	m, _ := parseRef(ref)
	if url := l.linkTo(m); url != "" {
		p.link(url, l.texts.Plain("home.digest", nil))
		p.end()
		return
	}
	p.line("digest.slack.usage", nil)
}

// past lists entries of the history.
func (l *loop) past(p *page, head phrase, entries []approval.Entry, fits func(*approval.Entry) bool) {
	p.header(l.texts.Plain(head, nil))
	n := 0
	for i := range entries {
		e := &entries[i]
		if !fits(e) || n == maxListed {
			continue
		}
		n++
		p.say("home.line", map[string]any{"when": e.Step.At, "agent": cardtext.Within(e.Step.Proposal.Agent, 40), "wanted": cardtext.Within(wantedOf(e), 100)})
		p.text(" ")
		if e.Approval == nil {
			p.line("home.guard", nil)
			continue
		}
		values := map[string]any{"when": e.Approval.EndedAt}
		if d := e.Approval.Decision; d != nil {
			values = map[string]any{"when": d.At, "by": cardtext.Within(d.By.Name, 40)}
		}
		p.say(phrase("state."+string(e.Approval.State)), values)
		p.end()
	}
	if n == 0 {
		p.line("home.none", nil)
	}
}

// wantedOf is a call of the history in short.
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

// freshen brings the home tab of a person who opened it up to date.
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
