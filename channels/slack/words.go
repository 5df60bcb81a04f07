package slack

import (
	"context"
	"errors"
	"strings"

	slackapi "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
)

// wordsID names the modal for words that deny and, in every modal, the input and its block.
const wordsID = "words"

// prompt opens a modal for words. The platform allows that only within three seconds of the
// press, so it comes before all slow work.
func (l *loop) prompt(ctx context.Context, m place, who person, trigger, id string, kind modal) error {
	ask, err := l.desk.Find(ctx, id)
	switch {
	case errors.Is(err, approval.ErrNotFound):
		l.whisper(ctx, m, who, l.texts.Plain("tap.unknown", nil))
		return nil
	case err != nil:
		l.whisper(ctx, m, who, l.texts.Plain("failed", nil))
		return err
	case !ask.Waiting():
		l.whisper(ctx, m, who, l.texts.Plain("tap.over", nil))
		return nil
	}
	err = l.do(ctx, "views.open", func(ctx context.Context) error {
		_, err := l.api.OpenViewContext(ctx, trigger, l.modal(ask.ID, m.channel, kind))
		return err
	})
	if err != nil {
		l.whisper(ctx, m, who, l.texts.Plain("failed", nil))
		l.log.WarnContext(ctx, "the modal for words could not be opened", "error", err)
	}
	return nil
}

// modal asks for words. It carries the ask's id and the channel where it was opened, and
// nothing that an agent wrote.
func (l *loop) modal(id approval.AskID, channel string, kind modal) slackapi.ModalViewRequest {
	say := func(ph phrase, most int) *slackapi.TextBlockObject {
		return plain(cardtext.Clip(l.texts.Plain(ph, nil), most))
	}
	input := slackapi.NewPlainTextInputBlockElement(say(kind.placeholder, maxHeader), wordsID)
	input.Multiline, input.MaxLength, input.FocusOnLoad = true, approval.MaxWords, true
	return slackapi.ModalViewRequest{
		Type: slackapi.VTModal, CallbackID: kind.id, PrivateMetadata: string(id) + " " + channel,
		Title: say(kind.title, maxTitle), Submit: say(kind.submit, maxTitle), Close: say("confirm.no", maxTitle),
		Blocks: slackapi.Blocks{BlockSet: []slackapi.Block{
			slackapi.NewInputBlock(wordsID, say(kind.label, maxHeader), nil, input),
			slackapi.NewContextBlock("", plain(l.texts.Plain(kind.hint, nil))),
		}},
	}
}

// opened reads what a modal carries. One that an older program opened names no channel.
func (l *loop) opened(carried string) (approval.AskID, *Conversation) {
	id, channel, _ := strings.Cut(carried, " ")
	if at := l.conversation(channel); at != nil {
		return approval.AskID(id), at
	}
	return approval.AskID(id), l.own
}

// submit takes the words of the modal. It checks again who may decide, and whether
// something still waits: minutes may have passed.
func (l *loop) submit(ctx context.Context, a *act) error {
	q := a.press
	put := l.putter(q.View.CallbackID)
	if put == nil || q.View.State == nil {
		return nil
	}
	id, at := l.opened(q.View.PrivateMetadata)
	who, home := presser(q), place{channel: at.id}
	refuse := func(said string) {
		if !a.ack.give(map[string]any{"response_action": "errors", "errors": map[string]string{wordsID: cardtext.Clip(said, maxHeader)}}) {
			l.whisper(ctx, home, who, said)
		}
	}
	if !l.may(ctx, who) {
		refuse(l.texts.Plain("tap.stranger", nil))
		return nil
	}
	said, won, err := put(ctx, at, who, id, q.View.State.Values[wordsID][wordsID].Value)
	if err != nil || !won {
		refuse(said)
		return err
	}
	a.ack.give(nil)
	l.whisper(ctx, home, who, said)
	l.freshen(ctx, who)
	return nil
}

// deny denies an ask with words for the agent, and says what came of it. Nothing that is
// written allows anything.
func (l *loop) deny(ctx context.Context, at *Conversation, who person, id approval.AskID, words string) (said string, won bool, err error) {
	by := l.known(ctx, who)
	if strings.TrimSpace(words) == "" {
		return l.texts.Plain("words.text", nil), false, nil
	}
	receipt, err := l.desk.Decide(ctx, approval.Tap{Ask: id, Choice: approval.ChoiceDeny, By: by, Channel: at.name, Words: words})
	if bad, ok := errors.AsType[*approval.WordsError](err); ok {
		if bad.Have == 0 {
			return l.texts.Plain("words.text", nil), false, nil
		}
		return l.texts.Plain("words.long", map[string]any{"n": bad.Have, "most": approval.MaxWords}), false, nil
	}
	if err != nil {
		said, err := l.failed(err)
		return said, false, err
	}
	if receipt.Won {
		return l.texts.Plain("words.kept", nil), true, nil
	}
	return cardtext.Answer(l.texts, &receipt, by), false, nil
}

// words takes a message: what an approver writes in the thread of a waiting card is words
// for the agent. Other messages are ignored.
func (l *loop) words(ctx context.Context, e *slackevents.MessageEvent) error {
	if !spoken(e) || e.ThreadTimeStamp == "" || e.BotID != "" || e.User == "" {
		return nil
	}
	at := l.conversation(e.Channel)
	if at == nil {
		return nil
	}
	m, who := place{channel: e.Channel, ts: e.ThreadTimeStamp}, person{id: e.User, team: e.UserTeam}
	id, err := l.meant(ctx, m)
	if err != nil || id == "" {
		return err
	}
	l.mu.Lock()
	ours := e.User == l.self.user
	l.mu.Unlock()
	switch {
	case ours:
		return nil
	case !l.may(ctx, who):
		l.whisper(ctx, m, who, l.texts.Plain("tap.stranger", nil))
		return nil
	}
	said, won, err := l.deny(ctx, at, who, id, unescape(e.Text))
	l.whisper(ctx, m, who, said)
	if won {
		l.freshen(ctx, who)
	}
	return err
}

// spoken reports whether a message is something that a person says, with a picture or a
// recording or as a /me message included.
func spoken(e *slackevents.MessageEvent) bool {
	switch e.SubType {
	case "", "thread_broadcast", "file_share", "me_message":
		return true
	default:
		return false
	}
}

// deleted returns the message that somebody deleted, or "" for other news about messages.
// The platform leaves a tombstone in place of a message with a thread.
func deleted(e *slackevents.MessageEvent) string {
	switch {
	case e.SubType == "message_deleted":
		return e.DeletedTimeStamp
	case e.SubType == "message_changed" && e.Message != nil && e.Message.SubType == "tombstone":
		return e.Message.Timestamp
	default:
		return ""
	}
}

// lost restores a card whose message somebody deleted, as long as it waits.
func (l *loop) lost(ctx context.Context, m place) error {
	at := l.conversation(m.channel)
	if at == nil {
		return nil
	}
	id, err := l.meant(ctx, m)
	if err != nil || id == "" {
		return err
	}
	return l.desk.Look(ctx, id, at.name)
}

// unescape undoes the platform's escaping of people's texts.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// meant returns the ask whose card the message is, if it waits; empty means none.
func (l *loop) meant(ctx context.Context, m place) (approval.AskID, error) {
	for card, err := range l.desk.Pending(ctx, Name) {
		if err != nil {
			return "", err
		}
		if shows(&card, m) {
			return card.Ask, nil
		}
	}
	return "", nil
}

// actionAsk is the verb of the button that opens the modal for a question.
const actionAsk = "ask"

// modal is a window that asks for words: its name and its texts.
type modal struct {
	id                                      string
	title, label, placeholder, hint, submit phrase
}

// The modals: for words that deny, and for a question, which decides nothing.
func denying() modal {
	return modal{wordsID, "modal.title", "modal.label", "prompt.placeholder", "modal.hint", "button.deny"}
}

func asking() modal {
	return modal{"question", "modal.ask.title", "modal.ask.label", "prompt.ask.placeholder", "modal.ask.hint", "button.ask.send"}
}

// question passes a question on to the agent of an ask, and says what came of it.
func (l *loop) question(ctx context.Context, at *Conversation, who person, id approval.AskID, words string) (said string, done bool, err error) {
	o := approval.Order{Verb: approval.VerbAsk, ID: string(id), Words: words, By: l.known(ctx, who), Channel: at.name}
	_, err = l.desk.Order(ctx, o)
	text, done, err := cardtext.Question(l.texts, &o, err)
	if err != nil {
		return l.texts.Plain("tap.failed", nil), false, err
	}
	return text.String(), done, nil
}

// putter returns what is done with the words of a modal; nil if the modal is not ours.
func (l *loop) putter(id string) func(context.Context, *Conversation, person, approval.AskID, string) (string, bool, error) {
	switch id {
	case denying().id:
		return l.deny
	case asking().id:
		return l.question
	default:
		return nil
	}
}
