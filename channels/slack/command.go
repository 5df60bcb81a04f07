package slack

import (
	"context"
	"errors"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

const (
	// maxListed is the most asks in a list.
	maxListed = 15
	// maxAnswer is the most text in the answer to a command: it is part of the
	// acknowledgement, which may have 20 KB.
	maxAnswer = 3500
	// maxAckBytes is the largest size of an answer's blocks, in bytes, with room for what
	// surrounds them.
	maxAckBytes = 18_000
)

// obey runs a slash command. Its answer comes with the acknowledgement, so that only the
// person who asked sees it, and it needs no membership in the channel.
func (l *loop) obey(ctx context.Context, a *act) error {
	c := a.command
	who := person{id: c.UserID, team: c.TeamID, name: c.UserName}
	p, err := l.answer(ctx, who, c)
	if err != nil {
		p = l.page("failed")
	}
	notice := l.texts.Plain("menu.help", nil)
	answer := map[string]any{"response_type": "ephemeral", "text": notice, "blocks": p.done()}
	if !a.ack.give(answer) {
		l.reply(ctx, c, p, notice)
	}
	return err
}

// reply answers a command that is already acknowledged. It uses the address that came with
// the command, which needs no membership in the channel either.
func (l *loop) reply(ctx context.Context, c *slackapi.SlashCommand, p *page, notice string) {
	if err := l.back(ctx, c.ChannelID, c.ResponseURL, p, notice); err != nil {
		l.log.WarnContext(ctx, "a command could not be answered", "error", err)
	}
}

// back answers one person through the address that came with what they did.
func (l *loop) back(ctx context.Context, channel, address string, p *page, notice string) error {
	return l.do(ctx, "response_url", func(ctx context.Context) error {
		_, _, err := l.api.PostMessageContext(ctx, channel, append(message(p, cardtext.Clip(notice, maxNotice)),
			slackapi.MsgOptionResponseURL(address, slackapi.ResponseTypeEphemeral))...)
		return err
	})
}

// page returns a page with one text.
func (l *loop) page(ph phrase) *page {
	p := &page{texts: l.texts}
	p.say(ph, nil)
	return p
}

func (l *loop) answer(ctx context.Context, who person, c *slackapi.SlashCommand) (*page, error) {
	if !l.may(ctx, who) {
		return l.page("stranger"), nil
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch rest = strings.TrimSpace(rest); strings.ToLower(verb) {
	case "pending":
		p := &page{texts: l.texts}
		cards, _, err := l.pending(ctx, p, func(approval.Card) bool { return true })
		return p, errors.Join(err, l.lookForCards(ctx, cards))
	case "why":
		if rest == "" {
			return l.page("slack.why"), nil
		}
		p, err := l.reasons(ctx, rest, maxAnswer)
		if errors.Is(err, approval.ErrNotFound) {
			return l.page("why.none"), nil
		}
		return p, err
	case "digest":
		return l.digest(ctx, rest)
	default:
		return l.order(ctx, who, strings.ToLower(verb), rest)
	}
}

// pending lists what waits and meant accepts, each with a link to its card. It returns what
// it listed, and how many others wait.
func (l *loop) pending(ctx context.Context, p *page, meant func(approval.Card) bool) (cards []approval.Card, others int, err error) {
	waiting := approval.Listing{Most: maxListed}
	for card, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return nil, 0, err
		}
		if !meant(card) {
			others++
			continue
		}
		waiting.Add(card)
	}
	if waiting.N == 0 {
		p.line("pending.none", nil)
		return nil, others, nil
	}
	p.line("pending.some", map[string]any{"n": waiting.N})
	cards = waiting.Cards()
	for i := range cards {
		c := &cards[i]
		p.write(cardtext.Waiting(l.texts, c))
		if url := l.linkTo(placeOf(c)); url != "" {
			p.text(" ")
			p.link(url, l.texts.Plain("slack.open", nil))
		}
		p.end()
	}
	if more := waiting.N - len(cards); more > 0 {
		p.line("pending.more", map[string]any{"n": more})
	}
	return cards, others, nil
}

// lookForCards restores waiting cards that somebody deleted.
func (l *loop) lookForCards(ctx context.Context, cards []approval.Card) error {
	for i := range cards {
		if at := l.conversation(placeOf(&cards[i]).channel); at != nil {
			if err := l.desk.Look(ctx, cards[i].Ask, at.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkTo returns a message's address in the workspace, or "" if it is unknown.
func (l *loop) linkTo(m place) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !strings.HasPrefix(l.self.address, "https://") || m.ts == "" {
		return ""
	}
	return strings.TrimRight(l.self.address, "/") + "/archives/" + m.channel + "/p" + strings.ReplaceAll(m.ts, ".", "")
}

// reasons lists the judges' answers about an ask, as many as fit.
func (l *loop) reasons(ctx context.Context, id string, most int) (*page, error) {
	card, err := l.desk.Why(ctx, id, Name)
	if err != nil {
		return nil, err
	}
	p := &page{texts: l.texts}
	title, lines := cardtext.Reasons(l.texts, &card)
	p.write(title)
	p.end()
	for _, line := range lines {
		if p.units+len(line.String()) >= most {
			break
		}
		p.write(line)
		p.end()
	}
	return p, nil
}

// order carries out a command that stops, releases, lifts, ends or lists; any other command
// gets help.
func (l *loop) order(ctx context.Context, who person, verb, rest string) (*page, error) {
	said, known, err := cardtext.Obey(ctx, l.texts, l.desk, l.known(ctx, who), Name, verb, rest)
	if err != nil {
		return l.page("help.slack"), err
	}
	if !known {
		if said = cardtext.Unknown(l.texts, verb, []string{"pending", "why", "digest", "help"}); said == nil {
			return l.page("help.slack"), nil
		}
	}
	p := &page{texts: l.texts}
	p.write(said)
	p.end()
	return p, nil
}
