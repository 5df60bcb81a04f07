package slack_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// TestLongArgumentsFold checks that long arguments are folded if the workspace supports
// that, and shown open if it does not, which is tried once.
func TestLongArgumentsFold(t *testing.T) {
	for name, older := range map[string]bool{"today": false, "a workspace of before": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if older {
					w.server.Older()
				}
				mail := func(words int) *approval.Ask {
					body := strings.Repeat("a word more ", words)
					return w.ask(vaglio.Proposal{Executor: "send_mail", Args: vaglio.Args{"to": "ann@example.com", "body": body}})
				}
				for _, a := range []*approval.Ask{mail(100), mail(101), mail(3)} {
					m := w.shown(a)
					w.wants(m.Shown(), "Arguments", "a word more a word more", `"to": "ann@example.com"`)
					folds := strings.Contains(m.Raw(), `"default_collapsed": true`)
					if long := strings.Count(m.Shown(), "a word more") > 20; folds != (long && !older) || len(m.Buttons()) == 0 {
						t.Errorf("it folds: %v, long: %v, buttons: %d: %s", folds, long, len(m.Buttons()), m.Raw())
					}
				}
				if refused := strings.Count(w.log.String(), "no block that folds"); refused != map[bool]int{true: 1}[older] {
					t.Errorf("it was refused %d times", refused)
				}
			})
		})
	}
}

// TestLongArgumentsOfPlansFold checks that the long arguments of every call of a plan are
// folded, each next to its own call, and that nothing is if that takes more blocks than the
// platform accepts.
func TestLongArgumentsOfPlansFold(t *testing.T) {
	mail := func(words int) vaglio.Proposal {
		body := strings.Repeat("a word more ", words)
		return vaglio.Proposal{Executor: "send_mail", Args: vaglio.Args{"to": "ann@example.com", "body": body}}
	}
	plan := func(long, short int) []vaglio.Proposal {
		return append(slices.Repeat([]vaglio.Proposal{mail(33)}, long), slices.Repeat([]vaglio.Proposal{mail(2)}, short)...)
	}
	for _, tt := range []struct {
		name        string
		plan        []vaglio.Proposal
		older       bool
		folded, all int
	}{
		{"one of three", plan(1, 2), false, 1, 3},
		{"all three", plan(3, 0), false, 3, 3},
		{"eleven", plan(11, 0), false, 11, 11},
		{"more than there are blocks for", plan(18, 0), false, 0, 18},
		{"few among many", plan(2, 15), false, 2, 17},
		{"a workspace of before", plan(3, 0), true, 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if tt.older {
					w.server.Older()
				}
				a := w.ask(tt.plan...)
				m := w.shown(a)
				if got := strings.Count(m.Raw(), `"default_collapsed": true`); got != tt.folded {
					t.Errorf("%d fold, want %d, of %d blocks", got, tt.folded, len(m.Blocks))
				}
				if got := strings.Count(m.Shown(), `"to": "ann@example.com"`); got != tt.all {
					t.Errorf("the arguments of %d calls are there, want %d", got, tt.all)
				}
				if len(m.Blocks) > 50 || len(m.Buttons()) < 2*tt.all {
					t.Errorf("%d blocks, %d buttons", len(m.Blocks), len(m.Buttons()))
				}
				w.press(ann, a, "Deny all "+strconv.Itoa(tt.all))
				if err := w.amend(a); err != nil {
					t.Fatal(err)
				}
				if m = w.shown(a); len(m.Buttons()) != 0 || len(m.Blocks) > 50 {
					t.Errorf("it is not final: %d buttons, %d blocks", len(m.Buttons()), len(m.Blocks))
				}
			})
		})
	}
}
