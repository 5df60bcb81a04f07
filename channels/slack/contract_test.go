package slack_test

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
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// edits returns the address at which calls are edited.
func edits(ask approval.AskID, id approval.ID) string {
	return "https://vaglio.test/" + string(ask) + "/" + string(id)
}

// typed is an order as people type it.
func typed(verb string, of ...string) string {
	return "/vaglio " + strings.Join(append([]string{verb}, of...), " ")
}

// TestContract runs the contract against the app's own channel and against a route's
// channel.
func TestContract(t *testing.T) {
	t.Parallel()
	facts := channeltest.Facts{TextLimit: slacktest.MaxBlocksText, Files: true, Delivers: true, Pairs: os.Getenv("VAGLIO_PAIRS"), Order: typed, Edits: edits}
	for title, name := range map[string]string{"ItsOwnChannel": slack.Name, "AChannelOfARoute": slack.Name + ":" + ops} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			channeltest.Run(t, facts, func(t *testing.T, test func(*testing.T, channeltest.Harness)) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t).routed()
					desk := channeltest.NewDesk(func(id string) bool { return w.channel.Approves(id) })
					w.hands = desk
					w.start()
					test(t, w.harness(desk, name))
				})
			})
		})
	}
}

// harness is the world as the contract wants it, with the app's channel of the given name.
func (w *world) harness(desk *channeltest.Desk, name string) channeltest.Harness {
	want := home
	if _, id, ok := strings.Cut(name, ":"); ok {
		want = id
	}
	return channeltest.Harness{
		Channel: w.at(name), Desk: desk, Secret: slacktest.BotToken, Reply: w.reply,
		Shown: func(ref string) channeltest.Picture {
			if channel, _ := split(ref); channel != want {
				w.t.Errorf("the card %s is not in %s", ref, want)
			}
			return w.picture(ref)
		},
		Grants: w.behind,
		Match: func(ref, digits string) string {
			channel, ts := split(ref)
			before := len(w.server.Ephemerals())
			if _, err := w.server.Press(ann, channel, ts, "Allow once"); err != nil {
				return err.Error()
			}
			told := w.told(before)
			for _, d := range digits {
				all := w.server.Ephemerals()
				for _, b := range (slacktest.Message{Blocks: all[len(all)-1].Blocks}).Buttons() {
					if b.Text == string(d) {
						w.server.PressButton(ann, channel, ts, b)
						told = w.told(len(all))
					}
				}
			}
			return told
		},
		Edit: func(ref string) (string, string) {
			m, _ := w.server.Message(split(ref))
			for _, b := range m.Buttons() {
				if b.URL != "" {
					return b.Text, b.URL
				}
			}
			return "", ""
		},
		Ask: func(who channeltest.Who, ref, words string) (string, bool) {
			return w.write(who, ref, "Ask…", words)
		},
		Command: func(who channeltest.Who, text string) string {
			id := w.server.Command(somebody(who), want, text)
			synctest.Wait()
			var said strings.Builder
			for _, part := range pieceOfText.FindAllStringSubmatch(string(w.server.Delivery(id).Answer), -1) {
				said.WriteString(part[1])
			}
			return said.String()
		},
		Restart: func() channeltest.Channel {
			w.stop()
			w.build()
			w.start()
			return w.at(name)
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
		Remove: func(ref string) { w.server.Delete(split(ref)) },
		Misses: map[string]func(string){
			"/vaglio pending": func(string) {
				w.server.Command(ann, want, "pending")
				synctest.Wait()
			},
			"message_deleted": func(ref string) {
				_, ts := split(ref)
				w.server.Event(map[string]any{
					"type": "message", "subtype": "message_deleted", "hidden": true, "channel": want, "deleted_ts": ts, "ts": "1700000000.000009",
					"event_ts": "1700000000.000009", "previous_message": map[string]any{"type": "message", "ts": ts, "text": "x"},
				})
				synctest.Wait()
			},
			"tombstone": func(ref string) {
				_, ts := split(ref)
				w.server.Event(map[string]any{
					"type": "message", "subtype": "message_changed", "hidden": true, "channel": want, "ts": "1700000000.000010", "event_ts": "1700000000.000010",
					"message": map[string]any{"type": "message", "subtype": "tombstone", "ts": ts, "text": "This message was deleted."},
				})
				synctest.Wait()
			},
		},
		Says: map[string]func(channeltest.Who, string, string) string{
			"in the thread": w.says(""), "with a picture": w.says("file_share"), "by /me": w.says("me_message"),
		},
		Decorate: map[string]func(bool){
			"a pause":  w.decorates(slacktest.Fault{Error: "ratelimited", Code: 429, RetryAfter: time.Hour}),
			"an error": w.decorates(slacktest.Fault{Code: 500, Body: "no"}),
		},
		Beside: func(ref string) string {
			channel, ts := split(ref)
			said := ""
			for _, m := range w.server.Messages(channel) {
				if m.ThreadTS == ts {
					said = m.Shown()
				}
			}
			return said
		},
		Forge: func(ref string) string {
			channel, ts := split(ref)
			before := len(w.server.Ephemerals())
			w.server.PressButton(ann, channel, ts, slacktest.Button{Text: "It is here", ActionID: "test", Value: "x"})
			return w.told(before)
		},
		Crowd: func(ref string, n int) {
			_, ts := split(ref)
			w.server.Slow(1500*time.Millisecond, "chat.postMessage", "chat.postEphemeral")
			w.server.Slow(20*time.Second, "files.getUploadURLExternal")
			for i := range n {
				if i%100 == 0 {
					w.server.Command(ann, want, "digest")
				} else {
					w.server.Say(eve, want, ts, "hello")
				}
			}
		},
		Document: "../../docs/slack.md",
		Proven: map[string]string{
			"Somebody presses who is not in the channel, or the app is no longer in it":         "TestWhoIsNotInTheChannelIsAnswered",
			"Somebody joins or leaves a user group":                                             "TestAGroupIsLookedUp",
			"Somebody presses who is not listed, or whose workspace is another (Slack Connect)": "TestOnlyApproversDecide",
			"Somebody acts from another workspace of the same organization (Enterprise Grid)":   "TestColleaguesOfTheOrganizationDecide",
		},
		Rooms: map[string]func(bool){
			"archived": func(shut bool) { w.server.Archive(want, shut) },
			"kicked":   func(shut bool) { w.server.Kick(want, shut) },
		},
	}
}

// decorates returns a way in which the platform refuses home tabs, and accepts them again.
func (w *world) decorates(fault slacktest.Fault) func(bool) {
	return func(refused bool) {
		if !refused {
			w.server.Heal()
			return
		}
		w.server.Fail("views.publish", 1_000, fault)
		w.server.OpenHome(ann)
	}
}

// says returns a way to write words in a card's thread: a message of the given subtype.
func (w *world) says(subtype string) func(channeltest.Who, string, string) string {
	return func(who channeltest.Who, ref, words string) string {
		before := len(w.server.Ephemerals())
		channel, ts := split(ref)
		e := map[string]any{
			"type": "message", "channel": channel, "channel_type": "channel", "user": somebody(who), "text": words, "thread_ts": ts,
			"ts": "1700000000.000011", "event_ts": "1700000000.000011", "team": slacktest.TeamID,
		}
		if subtype != "" {
			e["subtype"] = subtype
		}
		w.server.Event(e)
		return w.told(before)
	}
}

// pieceOfText matches one piece of an answer's text.
var pieceOfText = regexp.MustCompile(`"type":"text","text":"([^"]*)"`)

// split returns the platform's channel and the timestamp of a reference.
func split(ref string) (channel, ts string) {
	parts := strings.Split(ref, ":")
	return parts[0], parts[1]
}

func somebody(who channeltest.Who) string {
	if who == channeltest.Owner {
		return ann
	}
	return eve
}

// fileSum matches what a card says about its file, which names the ask.
var fileSum = regexp.MustCompile(`begins with [0-9a-f]{16}`)

func (w *world) picture(ref string) channeltest.Picture {
	channel, ts := split(ref)
	m, _ := w.server.Message(channel, ts)
	p := channeltest.Picture{Text: fileSum.ReplaceAllString(m.Shown(), "begins with SUM"), Links: slacktest.Links(m.Blocks)}
	for _, b := range m.Buttons() {
		one := channeltest.Button{Label: b.Text, Press: func(who channeltest.Who) string {
			before := len(w.server.Ephemerals())
			w.server.PressButton(somebody(who), channel, m.TS, b)
			return w.toldTo(somebody(who), before)
		}}
		switch b.ActionID {
		case "allow":
			one.Choice = approval.ChoiceAllow
		case "deny":
			one.Choice = approval.ChoiceDeny
		case "deny-kind":
			one.Choice = approval.ChoiceDenyKind
		default:
			choice, ok := strings.CutPrefix(b.ActionID, "grant-")
			if !ok {
				continue
			}
			one.Choice = approval.Choice(choice)
		}
		p.Buttons = append(p.Buttons, one)
	}
	for _, below := range w.server.Messages(channel) {
		if below.ThreadTS == m.TS && below.File != nil {
			p.Files = append(p.Files, string(below.File.Data))
		}
	}
	return p
}

// behind presses a button of a card, and returns what that person alone is then offered.
func (w *world) behind(ref string) []channeltest.Button {
	channel, ts := split(ref)
	before := len(w.server.Ephemerals())
	if _, err := w.server.Press(ann, channel, ts, "Allow more…"); err != nil {
		return nil
	}
	w.told(before)
	all := w.server.Ephemerals()
	if len(all) == before {
		return nil
	}
	var offered []channeltest.Button
	for _, b := range (slacktest.Message{Blocks: all[len(all)-1].Blocks}).Buttons() {
		choice, ok := strings.CutPrefix(b.ActionID, "grant-")
		if !ok {
			continue
		}
		offered = append(offered, channeltest.Button{Choice: approval.Choice(choice), Label: b.Text, Press: func(who channeltest.Who) string {
			before := len(w.server.Ephemerals())
			w.server.PressButton(somebody(who), channel, ts, b)
			return w.told(before)
		}})
	}
	return offered
}

// reply answers a card through its modal, and returns what the person is told by the modal
// or beside the card.
func (w *world) reply(who channeltest.Who, ref, words string) string {
	told, offered := w.write(who, ref, "Deny with words…", words)
	if !offered {
		w.t.Fatal("the card offers no reply")
	}
	return told
}

// write presses a button that opens a modal, and writes there. offered is false if the card
// has no such button.
func (w *world) write(who channeltest.Who, ref, label, words string) (told string, offered bool) {
	before := len(w.server.Ephemerals())
	channel, ts := split(ref)
	if _, err := w.server.Press(somebody(who), channel, ts, label); err != nil {
		return "", false
	}
	synctest.Wait()
	if _, open := w.server.Modal(somebody(who)); !open {
		return w.told(before), true
	}
	if _, err := w.server.Submit(somebody(who), map[string]string{"words": words}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	if v, open := w.server.Modal(somebody(who)); open {
		return fmt.Sprint(v.Errors), true
	}
	return w.told(before), true
}

// told waits, as long as that can take, for what a person is told beside a card.
func (w *world) told(before int) string { return w.toldTo("", before) }

// toldTo is told for one person; an empty name means anybody.
func (w *world) toldTo(user string, before int) string {
	for range 300 {
		synctest.Wait()
		for _, e := range slices.Backward(w.server.Ephemerals()[before:]) {
			if user == "" || e.User == user {
				return e.Text
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ""
}
