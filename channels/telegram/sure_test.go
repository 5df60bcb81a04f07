package telegram_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/channeltest"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/vaglio"
)

// finally asks about a call that cannot be undone.
func (w *world) finally(line string) *approval.Ask {
	w.t.Helper()
	v := channeltest.Denial()
	v.Results[0].Metadata = vaglio.Args{"effects": []any{map[string]any{"kind": "delete", "reversibility": "irreversible", "reach": "shared"}}}
	a := channeltest.Open(w.t, telegram.Name, v, command(line))
	ref, err := w.channel.Post(w.t.Context(), card(a))
	if err != nil {
		w.t.Fatal(err)
	}
	a.Cards[0].Ref = ref
	w.desk.Add(a)
	return a
}

// styleOf returns the style of the button with the label.
func styleOf(t *testing.T, m telegramtest.Message, label string) string {
	t.Helper()
	all := m.Buttons()
	i := slices.IndexFunc(all, func(b telegramtest.Button) bool { return b.Text == label })
	if i < 0 {
		t.Fatalf("%q is not among %v", label, labels(m))
	}
	return all[i].Style
}

// TestWhatCannotBeUndoneIsAskedTwice checks that the first press on a call that cannot be
// undone decides nothing, and that there is a way back.
func TestWhatCannotBeUndoneIsAskedTwice(t *testing.T) {
	inWorld(t, func(w *world) {
		const yes = "Yes, allow: it cannot be undone"
		plain, a := w.ask(command("make")), w.finally("drop it")
		if style := styleOf(t, w.shown(plain), "Allow once"); style != "success" {
			t.Errorf("an Allow of every day looks %q", style)
		}
		m := w.shown(a)
		if style := styleOf(t, m, "Allow once"); style != "danger" || !strings.HasPrefix(m.Text, "⚠️ ") {
			t.Errorf("an Allow of what cannot be undone looks %q below %q", style, m.Text)
		}
		if second, _, _ := strings.Cut(strings.SplitAfterN(m.Text, "\n", 2)[1], "\n"); second != "Cannot be undone · touches what others use" {
			t.Errorf("the second line is %q", second)
		}
		if got := w.press(ann(), a, "Allow once"); got.Text != "" {
			t.Errorf("the first press was answered %+v", got)
		}
		if s := w.desk.State(a); s != approval.Pending {
			t.Fatalf("after one press the call is %s", s)
		}
		if got := labels(w.shown(a)); !slices.Equal(got, []string{yes, "Back"}) {
			t.Fatalf("the question has the buttons %q", got)
		}
		w.press(ann(), a, "Back")
		if got := labels(w.shown(a)); got[0] != "Allow once" {
			t.Fatalf("the way back leads to %q", got)
		}
		w.press(ann(), a, "Allow once")
		if got := w.press(ann(), a, yes); got.Text != "Allowed once." {
			t.Errorf("the second press was answered %+v", got)
		}
		if s := w.desk.State(a); s != approval.Allowed {
			t.Errorf("after two presses the call is %s", s)
		}
	})
}

// TestAQuestionThatComesLateLeavesTheEnd checks that a card that was decided while its
// question waited for its turn in the chat shows the end, and that nothing brings the
// question back.
func TestAQuestionThatComesLateLeavesTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.finally("drop it")
		m := w.shown(a)
		w.server.Slow(5*time.Second, "sendMessage")
		w.server.Say(ann(), w.chat, "/help")
		synctest.Wait()
		edits := len(w.server.Calls("editMessageText"))
		for _, label := range []string{"Allow once", "Deny"} {
			if _, err := w.server.Press(ann(), w.chat, m.ID, label); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := w.amend(a); err != nil || w.desk.State(a) != approval.Denied || len(w.server.Calls("editMessageText")) != edits+1 {
			t.Fatalf("the call is %s, %d edits: %v", w.desk.State(a), len(w.server.Calls("editMessageText"))-edits, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if m := w.shown(a); len(m.Buttons()) != 0 || !strings.Contains(m.Text, "Denied by Ann") || len(w.server.Calls("editMessageText")) < edits+3 {
			t.Errorf("%d edits later it shows %q %v", len(w.server.Calls("editMessageText"))-edits, m.Text, labels(m))
		}
	})
}

// TestAForgedQuestionOffersNothing asks the question with the token of another card, or
// with none: it offers only what the ask's own card does.
func TestAForgedQuestionOffersNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		a, other := w.finally("drop it"), w.finally("drop more")
		token := ""
		for _, b := range w.shown(other).Buttons() {
			if _, behind, ok := strings.Cut(b.Data, ":"); ok && b.Text == "Allow once" {
				_, token, _ = strings.Cut(behind, ":")
			}
		}
		m := w.shown(a)
		for _, data := range []string{"s1:" + string(a.ID) + ":" + token, "s1:" + string(a.ID), "s1:" + string(a.ID) + ":", "s1::", "s1:nobody:" + token} {
			w.answer(w.server.PressData(ann(), m.Chat, m.ID, data))
			if got := labels(w.shown(a)); got[0] != "Allow once" {
				t.Errorf("%s offers %q", data, got)
			}
		}
		if w.desk.State(a) != approval.Pending || w.desk.State(other) != approval.Pending {
			t.Error("a forged question decided something")
		}
	})
}

// TestADecidedCardKeepsDeadButtons checks that a finished card keeps its choices as buttons
// without effect, and that its id can still be copied. A server that does not know such
// buttons gets none, and is not asked again.
func TestADecidedCardKeepsDeadButtons(t *testing.T) {
	for name, older := range map[string]bool{"today's server": false, "an older server": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if older {
					w.server.Older()
				}
				for choice, want := range map[string]string{
					"Allow once": "Allow once: success dead, Deny: dead, Copy ID: copies", "Deny": "Allow once: dead, Deny: danger dead, Copy ID: copies",
				} {
					a := w.ask(command("make"))
					if older {
						want = ""
					}
					if got := keyboard(w.shown(a)); older == strings.Contains(got, "copies") {
						t.Errorf("a card that waits has %s", got)
					}
					w.press(ann(), a, choice)
					if err := w.amend(a); err != nil {
						t.Fatal(err)
					}
					if m := w.shown(a); keyboard(m) != want || len(m.Buttons()) != 0 {
						t.Errorf("after %s it has %q, want %q", choice, keyboard(m), want)
					}
				}
				refused := 0
				for _, c := range w.server.Calls("editMessageText") {
					if older && strings.Contains(c.Params["reply_markup"], "copy_text") {
						refused++
					}
				}
				if older && refused != 1 {
					t.Errorf("%d edits were refused", refused)
				}
			})
		})
	}
}

// keyboard describes each button of a message, except those that send something.
func keyboard(m telegramtest.Message) string {
	var all []string
	for _, b := range slices.Concat(m.Keyboard...) {
		switch {
		case b.Dead != nil:
			all = append(all, b.Text+": "+strings.TrimSpace(b.Style+" dead"))
		case b.Copies != nil && strings.Contains(m.Text, b.Copies.Text):
			all = append(all, b.Text+": copies")
		}
	}
	return strings.Join(all, ", ")
}
