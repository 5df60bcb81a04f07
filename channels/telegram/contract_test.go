package telegram_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// edits returns the address at which calls are edited.
func edits(ask approval.AskID, id approval.ID) string {
	return "https://vaglio.test/" + string(ask) + "/" + string(id)
}

// typed is an order as people type it.
func typed(verb string, of ...string) string {
	return "/" + strings.Join(append([]string{verb}, of...), " ")
}

func TestContract(t *testing.T) {
	t.Parallel()
	contract(t, 0, func(*telegramtest.Server) {})
}

// TestContractWithRichMessages runs the contract on a server that takes rich messages, and makes
// every other call so long that it needs one.
func TestContractWithRichMessages(t *testing.T) {
	t.Parallel()
	contract(t, 5000, func(s *telegramtest.Server) { s.Richer(true) })
}

func contract(t *testing.T, long int, prepare func(*telegramtest.Server)) {
	t.Helper()
	facts := channeltest.Facts{
		TextLimit: telegramtest.MaxText, Files: true, Delivers: true, Pairs: os.Getenv("VAGLIO_PAIRS"), Long: long, Order: typed, Edits: edits,
	}
	channeltest.Run(t, facts, func(t *testing.T, test func(*testing.T, channeltest.Harness)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			prepare(w.server)
			w.chat = w.server.Private(ann())
			w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
			desk := channeltest.NewDesk(func(id string) bool { return w.channel.Approves(id) })
			w.hands, w.config.Edits = desk, edits
			w.start()
			test(t, w.harness(desk))
		})
	})
}

// harness is the world as the contract wants it.
func (w *world) harness(desk *channeltest.Desk) channeltest.Harness {
	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	return channeltest.Harness{
		Channel: w.channel, Desk: desk, Secret: secret, Shown: w.picture,
		Reply: func(who channeltest.Who, ref, words string) string {
			id := w.server.Reply(somebody(who), w.chat, number(ref), words)
			synctest.Wait()
			return w.text(func(m telegramtest.Message) bool { return m.ReplyTo == id })
		},
		Edit: func(ref string) (string, string) {
			m, _ := w.server.Message(w.chat, number(ref))
			for _, b := range m.Buttons() {
				if b.URL != "" {
					return b.Text, b.URL
				}
			}
			return "", ""
		},
		Grants: func(ref string) []channeltest.Button { return w.behind(ref, "Allow more…") },
		Match: func(ref, digits string) (told string) {
			for _, label := range append([]string{"Back", "Allow once", "Yes, allow: it cannot be undone"}, strings.Split(digits, "")...) {
				m, _ := w.server.Message(w.chat, number(ref))
				for _, b := range m.Buttons() {
					if b.Text == label {
						told = w.told(w.server.PressData(ann(), w.chat, m.ID, b.Data))
					}
				}
				synctest.Wait()
			}
			if m, _ := w.server.Message(w.chat, number(ref)); strings.Contains(told, "Tries left") && slices.Contains(labels(m), "5") {
				w.t.Errorf("after both digits the card offers %v", labels(m))
			}
			return told
		},
		Ask: func(who channeltest.Who, ref, words string) (string, bool) {
			m, _ := w.server.Message(w.chat, number(ref))
			for _, b := range m.Buttons() {
				if b.Text != "Ask…" {
					continue
				}
				if told := w.told(w.server.PressData(somebody(who), w.chat, m.ID, b.Data)); told != "" {
					return told, true
				}
				prompt := w.server.Messages(w.chat)
				id := w.server.Reply(somebody(who), w.chat, prompt[len(prompt)-1].ID, words)
				synctest.Wait()
				return w.text(func(m telegramtest.Message) bool { return m.ReplyTo == id }), true
			}
			return "", false
		},
		Command: func(who channeltest.Who, text string) string {
			w.server.Say(somebody(who), w.chat, "/"+text)
			synctest.Wait()
			return w.text(func(telegramtest.Message) bool { return true })
		},
		Restart: func() channeltest.Channel {
			w.restart()
			return w.channel
		},
		Limit: func(after time.Duration) {
			w.server.Fail("", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests", RetryAfter: int(after / time.Second)})
		},
		Down: func(down bool) {
			if down {
				w.server.Stop()
			} else {
				w.server.Start()
			}
		},
		Fail:   func() { w.server.Fail("", 1, telegramtest.Fault{Code: 502, Body: "<html>" + secret}) },
		Remove: func(ref string) { w.server.Delete(w.chat, number(ref)) },
		Misses: map[string]func(string){
			"/pending": func(string) {
				w.server.Say(ann(), w.chat, "/pending")
				synctest.Wait()
			},
		},
		Says: map[string]func(channeltest.Who, string, string) string{
			"a reply": w.says(w.server.Reply), "a reply with a picture": w.says(w.server.ReplyPhoto),
			"a voice message": w.says(w.server.ReplyVoice),
		},
		Decorate: map[string]func(bool){
			"a pause":  w.decorates(telegramtest.Fault{Code: 429, Description: "Too Many Requests", RetryAfter: 3600}),
			"an error": w.decorates(telegramtest.Fault{Code: 500, Description: "Internal Server Error"}),
		},
		Beside: func(ref string) string {
			return w.text(func(m telegramtest.Message) bool { return m.ReplyTo == number(ref) })
		},
		Forge: func(ref string) string { return w.told(w.server.PressData(ann(), w.chat, number(ref), "t1:x")) },
		Crowd: func(_ string, n int) {
			w.server.Slow(1500*time.Millisecond, "sendMessage")
			w.server.Slow(20*time.Second, "sendPhoto")
			for i := range n {
				w.server.Say(ann(), w.chat, map[bool]string{true: "/digest", false: "hello"}[i%100 == 0])
			}
		},
		Document: "../../docs/telegram.md",
		Proven: map[string]string{
			"Thousands of messages waited while vaglio was down": "TestAPressWaitsForNoSpeech",
			"Many cards come at once":                            "TestCardsComeAtThePlatformsPace",
			"It takes no rich messages":                          "TestAServerWithoutRichMessagesGetsFiles",
			"It refuses menus for an hour":                       "TestAMenuThatIsRefusedDelaysNoPress",
			"The topic is deleted or closed":                     "TestWithoutItsTopicACardGoesToTheChat",
			"The group becomes a supergroup":                     "TestAGroupThatBecameASupergroupIsFollowed",
			"A reminder finds its card deleted":                  "TestAReminderOfADeletedCardBringsItBack",
		},
		Rooms: map[string]func(bool){
			"blocked":     w.shuts("bot was blocked by the user"),
			"kicked":      w.shuts("bot was kicked from the group chat"),
			"deactivated": w.shuts("user is deactivated"),
		},
	}
}

// decorates returns a way in which the platform refuses menus, and accepts them again.
func (w *world) decorates(fault telegramtest.Fault) func(bool) {
	return func(refused bool) {
		if !refused {
			w.server.Heal()
			return
		}
		w.stop()                 // A channel that runs changes its notes.
		w.memory.Notes.Menu = "" // As before the menu was ever set.
		w.server.Fail("setMyCommands", 1_000, fault)
	}
}

// shuts returns a way in which the chat shuts the bot out, and lets it in again.
func (w *world) shuts(reason string) func(bool) {
	return func(shut bool) {
		w.server.Block(w.chat, map[bool]string{true: reason}[shut])
		synctest.Wait()
	}
}

// number returns the message number in a reference.
func number(ref string) (n int) {
	_, rest, _ := strings.Cut(ref, ":")
	_, _ = fmt.Sscan(rest, &n)
	return n
}

func somebody(who channeltest.Who) telegramtest.User {
	if who == channeltest.Owner {
		return ann()
	}
	return telegramtest.User{ID: 666, FirstName: "Eve"}
}

// text returns the text of the newest message that fits.
func (w *world) text(fits func(telegramtest.Message) bool) string {
	for _, m := range slices.Backward(w.server.Messages(w.chat)) {
		if m.From.IsBot && fits(m) {
			return m.Text
		}
	}
	return ""
}

// behind presses a button of a card and returns what the card then offers.
func (w *world) behind(ref, label string) []channeltest.Button {
	m, _ := w.server.Message(w.chat, number(ref))
	for _, b := range m.Buttons() {
		if b.Text == label {
			w.told(w.server.PressData(ann(), w.chat, m.ID, b.Data))
		}
	}
	synctest.Wait()
	m, _ = w.server.Message(w.chat, number(ref))
	var all []channeltest.Button
	for _, b := range m.Buttons() {
		choice := choiceOf(b.Text)
		if !choice.Grants() {
			continue
		}
		all = append(all, channeltest.Button{Choice: choice, Label: b.Text, Press: func(who channeltest.Who) string {
			return w.told(w.server.PressData(somebody(who), w.chat, m.ID, b.Data))
		}})
	}
	return all
}

// choiceOf returns the choice that a button's label names, or "" for any other button.
func choiceOf(label string) approval.Choice {
	switch {
	case strings.HasSuffix(label, "…"): // It leads to a second tap, or to words.
		return ""
	case strings.HasPrefix(label, "Allow up to ") && strings.HasSuffix(label, "in this turn"):
		return approval.ChoiceTurn
	case strings.HasPrefix(label, "Allow up to ") && strings.HasSuffix(label, "in an hour"):
		return approval.ChoiceHour
	case strings.HasPrefix(label, "Allow up to "):
		return approval.ChoiceEvening
	case strings.HasPrefix(label, "Deny this kind "):
		return approval.ChoiceDenyKind
	case strings.HasPrefix(label, "Allow"):
		return approval.ChoiceAllow
	case strings.HasPrefix(label, "Deny"):
		return approval.ChoiceDeny
	default:
		return ""
	}
}

// fileSum matches what a card says about its file, which names the ask.
var fileSum = regexp.MustCompile(`begins with [0-9a-f]{16}`)

func (w *world) picture(ref string) channeltest.Picture {
	m, _ := w.server.Message(w.chat, number(ref))
	p := channeltest.Picture{Text: fileSum.ReplaceAllString(m.Text, "begins with SUM")}
	for _, b := range m.Buttons() {
		one := channeltest.Button{Label: b.Text, Press: func(who channeltest.Who) string {
			return w.told(w.server.PressData(somebody(who), w.chat, m.ID, b.Data))
		}}
		if one.Choice = choiceOf(b.Text); one.Choice == "" {
			continue
		}
		p.Buttons = append(p.Buttons, one)
	}
	links := func(m telegramtest.Message) {
		for _, e := range m.Entities {
			switch e.Type {
			case "bold", "code", "pre", "expandable_blockquote", "details":
			default:
				p.Links = append(p.Links, e.Of(m.Text))
			}
		}
	}
	links(m)
	if f, ok := w.server.Message(w.chat, m.ReplyTo); ok && f.File != nil {
		p.Files = append(p.Files, string(f.File.Data))
	} else if ok && f.Rich {
		_, said, _ := strings.Cut(f.Text, "\n") // the first line has the sum
		p.Files = append(p.Files, said)
		links(f)
	}
	return p
}

// told waits for the answer to a press, as long as there can be one.
func (w *world) told(id string) string {
	for range telegramtest.AnswerWithin / time.Second {
		synctest.Wait()
		for _, a := range w.server.Answers() {
			if a.ID == id {
				return a.Text
			}
		}
		time.Sleep(time.Second)
	}
	return ""
}

// says returns a function that lets somebody reply to a card, and returns the answer to
// that.
func (w *world) says(reply func(u telegramtest.User, chat int64, to int, words string) int) func(channeltest.Who, string, string) string {
	return func(who channeltest.Who, ref, words string) string {
		id := reply(somebody(who), w.chat, number(ref), words)
		synctest.Wait()
		return w.text(func(m telegramtest.Message) bool { return m.ReplyTo == id })
	}
}
