package telegram_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// TestAMenuThatIsRefusedDelaysNoPress starts a bot whose menu the platform refuses for an
// hour, with a press waiting: the press is decided and answered at once, no trouble is
// reported, and the menu comes later.
func TestAMenuThatIsRefusedDelaysNoPress(t *testing.T) {
	for name, fault := range map[string]telegramtest.Fault{
		"Flood":    {Code: 429, Description: "Too Many Requests: retry after 3600", RetryAfter: 3600},
		"Internal": {Code: 500, Description: "Internal Server Error"},
		"Unknown":  {Code: 404, Description: "Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.ask(command("make"))
				w.stop()
				w.memory.Notes.Menu = "" // As before the menu was ever set.
				w.server.Fail("setMyCommands", 1, fault)
				id, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once")
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				w.start()
				if got := w.answer(id); got.Text != "Allowed once." || w.desk.State(a) != approval.Allowed {
					t.Errorf("the press was answered %+v, the call is %s", got, w.desk.State(a))
				}
				if waited := time.Since(began); waited > time.Second {
					t.Errorf("the press waited %s of the platform's time", waited)
				}
				if trouble := w.channel.Health(); trouble != (approval.Health{}) {
					t.Errorf("the menu is told as trouble: %v", trouble)
				}
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if w.memory.Notes.Menu == "" {
					t.Error("the menu was never set")
				}
			})
		})
	}
}

// TestAMenuIsSetOnce checks that a restart does not repeat the calls for a menu that is
// already set, and that another bot gets its own menu.
func TestAMenuIsSetOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		menu := w.memory.Notes.Menu
		if menu == "" {
			t.Fatal("the menu was not set")
		}
		w.stop()
		w.server.Fail("setMyCommands", 1, telegramtest.Fault{Code: 500, Description: "it was called"})
		w.start()
		if w.server.Next("setMyCommands") == nil {
			t.Error("the menu was set again though nothing changed")
		}
		w.stop()
		w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID, Menu: "another bot's"}
		w.start()
		if w.memory.Notes.Menu != menu {
			t.Error("the menu of another bot was taken for this one's")
		}
	})
}
