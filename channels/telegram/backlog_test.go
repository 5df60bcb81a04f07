package telegram_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestAPressWaitsForNoSpeech lets a bot come back to 3,000 messages, among them commands
// that are answered with a photo that hangs, and a press after them all: the press is
// decided and answered at once, and the commands are answered in their order.
func TestAPressWaitsForNoSpeech(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.ask(command("make"))
		w.stop()
		before := len(w.server.Messages(w.chat))
		for i := range 3000 {
			text := "hello"
			if i%100 == 0 {
				text = "/digest"
			}
			w.server.Say(ann(), w.chat, text)
		}
		id, err := w.server.Press(ann(), w.chat, w.shown(a).ID, "Allow once")
		if err != nil {
			t.Fatal(err)
		}
		w.server.Slow(1500*time.Millisecond, "sendMessage")
		w.server.Slow(20*time.Second, "sendPhoto")
		commits := w.memory.Saved
		began := time.Now()
		w.start()
		if got := w.answer(id); got.Text != "Allowed once." || w.desk.State(a) != approval.Allowed {
			t.Errorf("the press was answered %+v, the call is %s", got, w.desk.State(a))
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("the press waited %s", waited)
		}
		if commits = w.memory.Saved - commits; commits > 100 {
			t.Errorf("%d commits of the notes came before it", commits)
		}
		if w.server.Queued() > 0 {
			t.Errorf("%d updates were not confirmed", w.server.Queued())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if said := len(w.server.Messages(w.chat)) - before - 3000; said < 50 || said > 250 {
			t.Errorf("%d answers came to 3,000 messages", said)
		}
	})
}
