package telegram

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// maxListed is the most asks that /pending lists.
const maxListed = 15

// read takes a message: a command, words for an agent, or nothing of ours. It reports
// whether it has an effect that is stored.
func (l *loop) read(ctx context.Context, m *message) (kept bool, err error) {
	name, rest, ok := l.command(m)
	pairs := name == "start" && rest != ""
	switch {
	case !l.listed(m.From.ID):
		return pairs, l.stranger(ctx, m, pairs, rest)
	case pairs:
		return true, l.start(ctx, m, rest)
	case ok:
		return l.obey(ctx, m, name, rest)
	case m.ReplyTo != nil && l.mine(m.ReplyTo):
		return true, l.words(ctx, m)
	case m.Chat.Type == private:
		l.reply(ctx, m, "words.hint", nil)
	}
	return false, nil
}

// private is the type of a chat between the bot and one person.
const private = "private"

// stranger takes a message from somebody who may do nothing but pair. In a group only a
// press can be answered privately, so a stranger's message there gets no answer.
func (l *loop) stranger(ctx context.Context, m *message, pairs bool, code string) error {
	alone := m.Chat.Type == private
	if !alone && !pairs || !l.strangers.admits(m.From.ID) {
		return nil
	}
	if !pairs {
		l.reply(ctx, m, "pair.stranger", nil)
		return nil
	}
	paired, err := l.pair(ctx, m, code)
	switch {
	case err != nil:
		return err
	case paired:
		l.reply(ctx, m, l.pairedHere(m), nil)
	case alone:
		l.reply(ctx, m, "pair.bad", nil)
	}
	return nil
}

// command splits a command that is meant for this bot.
func (l *loop) command(m *message) (name, rest string, ok bool) {
	if !strings.HasPrefix(m.Text, "/") {
		return "", "", false
	}
	first, rest, _ := strings.Cut(m.Text[1:], " ")
	name, bot, addressed := strings.Cut(first, "@")
	l.mu.Lock()
	defer l.mu.Unlock()
	if addressed && !strings.EqualFold(bot, l.self.Username) {
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(rest), true
}

func (l *loop) mine(m *message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return m.From != nil && m.From.ID == l.self.ID
}

// start pairs again: somebody who may decide moves the cards to this chat.
func (l *loop) start(ctx context.Context, m *message, code string) error {
	paired, err := l.pair(ctx, m, code)
	if err != nil {
		return err
	}
	ph := phrase("pair.already")
	if paired {
		ph = l.pairedHere(m)
	}
	l.reply(ctx, m, ph, nil)
	return nil
}

// pairedHere says what pairing in the message's chat did.
func (l *loop) pairedHere(m *message) phrase {
	if home, _ := l.place(); home != m.Chat.ID {
		return "pair.decide"
	}
	return "pair.done"
}

// obey runs a command of somebody who may give it, and reports whether it has an effect
// that is stored. Commands that only tell something assemble it when it is said.
func (l *loop) obey(ctx context.Context, m *message, name, rest string) (kept bool, err error) {
	var tell func() error
	switch name {
	case "pending":
		tell = func() error { return l.pending(ctx, m) }
	case "why":
		tell = func() error { return l.why(ctx, m, rest) }
	case "status":
		tell = func() error { return l.status(ctx, m) }
	case "digest":
		tell = func() error { return l.digest(ctx, m, rest) }
	case "lang":
		return true, l.speak(ctx, m, rest)
	default:
		return true, l.order(ctx, m, name, rest)
	}
	l.later(ctx, laneOf(m.Chat.ID), func() {
		if err := tell(); err != nil {
			l.log.ErrorContext(ctx, "a command could not be answered", "command", name, "error", err)
			l.reply(ctx, m, "failed", nil)
		}
	})
	return false, nil
}

// words denies the ask that the message replies to, with words for the agent, or asks the
// agent something. Nothing that is written allows anything.
func (l *loop) words(ctx context.Context, m *message) error {
	if id := l.promptOf(m.ReplyTo.Text, asking()); id != "" {
		return l.question(ctx, m, id)
	}
	id, err := l.meant(ctx, m.ReplyTo)
	switch {
	case err != nil:
		return err
	case id == "":
		l.reply(ctx, m, "words.lost", nil)
		return nil
	case strings.TrimSpace(m.said()) == "":
		l.reply(ctx, m, "words.text", nil)
		return nil
	}
	by := m.From.person()
	receipt, err := l.desk.Decide(ctx, approval.Tap{
		Ask: id, Choice: approval.ChoiceDeny, By: by, Channel: Name, Words: m.said(),
	})
	if bad, ok := errors.AsType[*approval.WordsError](err); ok {
		if bad.Have == 0 {
			l.reply(ctx, m, "words.text", nil)
			return nil
		}
		l.reply(ctx, m, "words.long", map[string]any{"n": bad.Have, "most": approval.MaxWords})
		return nil
	}
	switch {
	case errors.Is(err, approval.ErrNotFound), errors.Is(err, approval.ErrNotApprover):
		l.reply(ctx, m, "words.lost", nil)
		return nil
	case err != nil:
		return err
	}
	if receipt.Won {
		l.reply(ctx, m, "words.kept", nil)
		return nil
	}
	p := l.page(m)
	p.text(cardtext.Answer(p.texts, &receipt, by))
	l.replyPage(ctx, m, p, "")
	return nil
}

// meant returns the ask that a message of ours is about: a prompt names it, a card is
// looked up. Empty means none.
func (l *loop) meant(ctx context.Context, m *message) (approval.AskID, error) {
	if id := l.promptOf(m.Text, denying()); id != "" {
		return id, nil
	}
	if id := l.besides(m); id != "" {
		return id, nil
	}
	for card, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return "", err
		}
		ask, err := l.desk.Find(ctx, string(card.Ask))
		if err != nil {
			return "", err
		}
		if shown := ask.On(Name); shown != nil && shown.Ref == refOf(m) {
			return ask.ID, nil
		}
	}
	return "", nil
}

// pending lists what waits, and restores cards that somebody deleted.
func (l *loop) pending(ctx context.Context, m *message) error {
	waiting := approval.Listing{Most: maxListed}
	for card, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return err
		}
		waiting.Add(card)
	}
	if waiting.N == 0 {
		l.reply(ctx, m, "pending.none", nil)
		return nil
	}
	p, cards := l.page(m), waiting.Cards()
	p.say("pending.some", map[string]any{"n": waiting.N})
	for i := range cards {
		p.text("\n")
		p.write(cardtext.Waiting(p.texts, &cards[i]))
		if err := l.desk.Look(ctx, cards[i].Ask, Name); err != nil {
			return err
		}
	}
	if more := waiting.N - len(cards); more > 0 {
		p.text("\n")
		p.say("pending.more", map[string]any{"n": more})
	}
	l.replyPage(ctx, m, p, "")
	return nil
}

// join appends a page.
func (p *page) join(q *page) {
	p.b.WriteString(q.b.String())
	p.units, p.entities = p.units+q.units, p.entities+q.entities
}

// why shows the judges' signals of an ask.
func (l *loop) why(ctx context.Context, m *message, id string) error {
	if id == "" {
		l.reply(ctx, m, "why.usage", nil)
		return nil
	}
	card, err := l.desk.Why(ctx, id, Name)
	if errors.Is(err, approval.ErrNotFound) {
		l.reply(ctx, m, "why.none", nil)
		return nil
	}
	if err != nil {
		return err
	}
	l.replyPage(ctx, m, reasons(l.page(m), &card), "")
	return nil
}

// reasons lists the judges' answers, as many as fit.
func reasons(p *page, card *approval.Card) *page {
	title, lines := cardtext.Reasons(p.texts, card)
	p.write(title)
	for _, l := range lines {
		line := &page{texts: p.texts}
		line.text("\n")
		line.write(l)
		if p.units+line.units <= maxText-1 && p.entities+line.entities <= maxEntities {
			p.join(line)
		}
	}
	return p
}

// status says how the bot is doing.
func (l *loop) status(ctx context.Context, m *message) error {
	n, next := 0, time.Time{}
	for card, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return err
		}
		if n++; next.IsZero() || card.ExpiresAt.Before(next) {
			next = card.ExpiresAt
		}
	}
	chat, _ := l.place()
	p := l.page(m)
	p.line("status", map[string]any{"chat": fmt.Sprint(chat), "n": n, "when": l.Status().Heard})
	if n > 0 {
		p.line("status.next", map[string]any{"when": next})
	}
	who := l.deciders()
	p.line("status.who", map[string]any{"n": len(who), "who": theirs(strings.Join(who, ", "))})
	way := phrase("status.poll")
	if l.webhook != "" {
		way = "status.hook"
	}
	p.line(way, nil)
	if h := l.wrong().In(p.texts); !h.OK() {
		p.line("status.trouble", map[string]any{"since": h.Since, "problem": theirs(h.Problem), "remedy": theirs(h.Remedy)})
	}
	l.replyPage(ctx, m, p, "")
	return nil
}

// deciders returns the numbers of those who may decide.
func (c *Channel) deciders() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.approvers)
	if person := c.notes.Now().Person; person != 0 {
		all = append(all, person)
	}
	slices.Sort(all)
	var who []string
	for _, n := range slices.Compact(all) {
		who = append(who, strconv.FormatInt(n, 10))
	}
	return who
}

// dataAsk is the callback data that opens a reply for a question to the agent.
const dataAsk = "q1:"

// prompt is a message of ours that people reply to with words: its text, and the
// placeholder of the reply.
type prompt struct{ says, placeholder phrase }

// The prompts: for words that deny, and for a question, which decides nothing.
func denying() prompt { return prompt{"prompt", "prompt.placeholder"} }
func asking() prompt  { return prompt{"prompt.ask", "prompt.ask.placeholder"} }

// askButtons returns the buttons that lead to a question to the agent; none if nothing can
// be asked.
func (v *cardView) askButtons() []button {
	if !v.MayAsk {
		return nil
	}
	return []button{{Text: v.Texts.Plain("button.ask", nil), Data: dataAsk + string(v.Ask)}}
}

// question passes a reply to the prompt on to the agent of the ask.
func (l *loop) question(ctx context.Context, m *message, id approval.AskID) error {
	p := l.page(m)
	o := approval.Order{Verb: approval.VerbAsk, ID: string(id), Words: m.said(), By: m.From.person(), Channel: Name}
	_, err := l.desk.Order(ctx, o)
	said, _, err := cardtext.Question(p.texts, &o, err)
	if err != nil {
		return err
	}
	p.write(said)
	l.replyPage(ctx, m, p, "")
	return nil
}
