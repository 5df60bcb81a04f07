package telegram_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// TestAPressOnAReplacedMessageDecidesNothing presses a button of a message that a newer one
// replaced: the person is sent to the newer one, and the old one loses its buttons.
func TestAPressOnAReplacedMessageDecidesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		old := w.shown(a)
		w.stop()
		w.memory.Notes.Drafts = nil
		w.start()
		w.desk.Change(func() { a.Repost(telegram.Name, approval.NewTokens(a.PostTokens())) })
		ref, err := w.channel.Post(w.t.Context(), card(a))
		if err != nil || w.last().ID == old.ID {
			w.t.Fatal(ref, err)
		}
		w.desk.Change(func() { a.Cards[0].Ref = ref })
		got := w.answer(w.server.PressData(ann(), w.chat, old.ID, old.Buttons()[0].Data))
		if !got.Alert || !strings.Contains(got.Text, "A newer card has replaced this one") || w.desk.State(a) != approval.Pending {
			w.t.Errorf("it is answered %+v, and the call is %s", got, w.desk.State(a))
		}
		synctest.Wait()
		if m, _ := w.server.Message(w.chat, old.ID); len(m.Buttons()) != 0 {
			w.t.Errorf("the old message has %v", labels(m))
		}
		if got := w.press(ann(), a, "Allow once"); got.Text != "Allowed once." {
			w.t.Errorf("the newer one is answered %+v", got)
		}
	})
}

// TestAnAnswerThatComesTooLateIsNoTrouble has the platform refuse answers to presses: one that it
// no longer takes is nothing to look into.
func TestAnAnswerThatComesTooLateIsNoTrouble(t *testing.T) {
	for description, told := range map[string]bool{
		"Bad Request: query is too old and response timeout expired or query ID is invalid": false,
		"Bad Request: BUTTON_DATA_INVALID":                                                  true,
	} {
		t.Run(description, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("make"))
				w.server.Fail("answerCallbackQuery", 1, telegramtest.Fault{Code: 400, Description: description})
				if _, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Deny"); err != nil {
					w.t.Fatal(err)
				}
				synctest.Wait()
				if w.desk.State(a) != approval.Denied || strings.Contains(w.log.String(), "a press could not be answered") != told {
					w.t.Errorf("%s: the call is %s; %s", description, w.desk.State(a), w.log)
				}
			})
		})
	}
}

// TestWordsThatCannotBeKeptAreToldSo gives up a reply that the store does not take.
func TestWordsThatCannotBeKeptAreToldSo(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.desk.Fail(errors.New("disk full"))
		w.server.Reply(ann(), w.chat, w.shown(a).ID, "not on a Friday")
		time.Sleep(time.Minute)
		synctest.Wait()
		if m := w.last(); !strings.Contains(m.Text, "nothing was decided") || w.desk.State(a) != approval.Pending {
			w.t.Errorf("the person is told %q, and the call is %s", m.Text, w.desk.State(a))
		}
	})
}

// TestAPersonWithoutANameHasTheirUsername checks who is said to have decided.
func TestAPersonWithoutANameHasTheirUsername(t *testing.T) {
	inWorld(t, func(w *world) {
		for want, u := range map[string]telegramtest.User{"ann47": {ID: ann().ID, Username: "ann47"}, "Ann": {ID: ann().ID, FirstName: "Ann", Username: "ann47"}} {
			w.press(u, w.ask(command("make "+want)), "Deny")
			if taps := w.desk.Taps(); taps[len(taps)-1].By.Name != want {
				w.t.Errorf("it is decided by %+v, want %s", taps[len(taps)-1].By, want)
			}
		}
	})
}

// TestStrangersPressesLeaveRoomForWhoDecides has many strangers press while the platform is slow:
// who decides is answered at once all the same.
func TestStrangersPressesLeaveRoomForWhoDecides(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		m := w.shown(a)
		w.server.Slow(5*time.Second, "answerCallbackQuery")
		for i := range int64(20) {
			w.server.PressData(telegramtest.User{ID: 9000 + i, FirstName: "Nobody"}, w.chat, m.ID, m.Buttons()[0].Data)
		}
		synctest.Wait()
		id, err := w.server.Press(ann(), w.chat, m.ID, "Deny")
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		if got := w.answer(id); w.desk.State(a) != approval.Denied || got.Text != "Denied." {
			w.t.Errorf("answered %q, and the call is %s", got.Text, w.desk.State(a))
		}
	})
}

// TestTheWayBackHidesTheGrants opens the further answers of a card, and closes them.
func TestTheWayBackHidesTheGrants(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.askGrantable(command("make"))
		before := labels(w.shown(a))
		w.press(ann(), a, "Allow more…")
		open := labels(w.shown(a))
		w.press(ann(), a, "Back")
		if after := labels(w.shown(a)); slices.Equal(before, open) || !slices.Equal(before, after) {
			w.t.Errorf("first %q, then %q, in the end %q", before, open, after)
		}
	})
}

// TestAFileOfOtherCallsGivesNoYes has a call change while its card still has the file of the old one
// next to it, and opens further answers there: none of them allows what nobody could see.
func TestAFileOfOtherCallsGivesNoYes(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.askGrantable(command(long))
		if m := w.shown(a); w.files() != 1 || !slices.Contains(labels(m), "Allow once") {
			w.t.Fatalf("%d files, %v", w.files(), labels(m))
		}
		w.desk.Change(func() { a.Approvals[0].Proposal = command(long + " && make install") })
		w.press(ann(), a, "Allow more…")
		if m := w.shown(a); strings.Contains(strings.Join(labels(m), ", "), "Allow") || strings.Contains(m.Text, "attached") {
			w.t.Errorf("the card offers %v below %.200q", labels(m), m.Text)
		}
	})
}
