package slack_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	facts := channeltest.Facts{TextLimit: slacktest.MaxBlocksText, Files: true, Delivers: true}
	channeltest.Run(t, facts, func(t *testing.T, test func(*testing.T, channeltest.Harness)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			desk := channeltest.NewDesk(func(id string) bool { return w.channel.Approves(id) })
			w.hands = desk
			w.start()
			test(t, w.harness(desk))
		})
	})
}

// harness is the world as the contract wants it.
func (w *world) harness(desk *channeltest.Desk) channeltest.Harness {
	return channeltest.Harness{
		Channel: w.channel, Desk: desk, Secret: slacktest.BotToken, Shown: w.picture, Reply: w.reply,
		Restart: func() channeltest.Channel {
			w.stop()
			w.build()
			w.start()
			return w.channel
		},
		Limit: func(after time.Duration) {
			w.server.Fail("chat.postMessage", 1, slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: after})
			w.server.Fail("chat.update", 1, slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: after})
		},
		Down: func(down bool) {
			if down {
				w.server.Stop()
			} else {
				w.server.Start()
				time.Sleep(2 * time.Minute)
			}
		},
		Fail: func() {
			w.server.Fail("chat.update", 1, slacktest.Fault{Code: 502, Body: "<html>" + slacktest.BotToken})
		},
		Remove: func(ref string) { w.server.Delete(home, at(ref)) },
	}
}

// at is the message's timestamp in a reference.
func at(ref string) string { return strings.Split(ref, ":")[1] }

func somebody(who channeltest.Who) string {
	if who == channeltest.Owner {
		return ann
	}
	return eve
}

// fileSum is what a card says of its file, which names the ask.
var fileSum = regexp.MustCompile(`begins with [0-9a-f]{16}`)

func (w *world) picture(ref string) channeltest.Picture {
	m, _ := w.server.Message(home, at(ref))
	p := channeltest.Picture{Text: fileSum.ReplaceAllString(m.Shown(), "begins with SUM"), Links: slacktest.Links(m.Blocks)}
	for _, b := range m.Buttons() {
		one := channeltest.Button{Label: b.Text, Press: func(who channeltest.Who) string {
			before := len(w.server.Ephemerals())
			w.server.PressButton(somebody(who), home, m.TS, b)
			return w.told(before)
		}}
		switch b.ActionID {
		case "allow":
			one.Choice = approval.ChoiceAllow
		case "deny":
			one.Choice = approval.ChoiceDeny
		default:
			continue
		}
		p.Buttons = append(p.Buttons, one)
	}
	for _, below := range w.server.Messages(home) {
		if below.ThreadTS == m.TS && below.File != nil {
			p.Files = append(p.Files, string(below.File.Data))
		}
	}
	return p
}

// reply answers a card through its modal, and returns what the person is told:
// by the modal, or beside the card.
func (w *world) reply(who channeltest.Who, ref, words string) string {
	before := len(w.server.Ephemerals())
	if _, err := w.server.Press(somebody(who), home, at(ref), "Reply…"); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	if _, open := w.server.Modal(somebody(who)); !open {
		return w.told(before)
	}
	if _, err := w.server.Submit(somebody(who), map[string]string{"words": words}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	if v, open := w.server.Modal(somebody(who)); open {
		return fmt.Sprint(v.Errors)
	}
	return w.told(before)
}

// told waits for what a person is told beside a card, as long as that can take.
func (w *world) told(before int) string {
	for range 30 {
		synctest.Wait()
		if all := w.server.Ephemerals(); len(all) > before {
			return all[len(all)-1].Text
		}
		time.Sleep(time.Second)
	}
	return ""
}
