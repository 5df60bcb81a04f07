package dispatcher_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
)

// forbid proposes a call that the guard denies.
func (h *house) forbid(who, args string) {
	h.t.Helper()
	a, err := h.Propose(h.t.Context(), who, dispatcher.Request{Proposal: shell("rm -rf / " + args)})
	if err != nil || a.Refusal == nil || !a.Refusal.Final {
		h.t.Fatalf("Propose: %+v, %v", a, err)
	}
}

func (h *house) notices() []approval.Notice {
	synctest.Wait()
	n, _ := h.chat.told()
	return n
}

// counts returns the notices' counts.
func counts(ns []approval.Notice) (all []int) {
	for _, n := range ns {
		all = append(all, n.Count)
	}
	return all
}

func (h *house) told(step string, want ...int) {
	h.t.Helper()
	if got := counts(h.notices()); fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Errorf("%s: the notices tell of %v denials, want %v", step, got, want)
	}
}

func TestGuardNoticesAreFewAndAddUp(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		h.forbid("a", "--token=hunter2hunter2")
		h.told("the first, at once", 1)
		n := h.notices()[0]
		if n.Agent != "a" || n.Rule == "" || !n.Refusal.Final || n.Refusal.Phase != vaglio.PhaseGuard || n.First != n.Last || n.First.IsZero() {
			t.Errorf("the notice is %+v", n)
		}
		if text := fmt.Sprintf("%+v", n); strings.Contains(text, "hunter2") {
			t.Errorf("the notice shows a secret: %s", text)
		}
		for range 9 {
			time.Sleep(5 * time.Second)
			h.forbid("a", "")
		}
		h.told("within the minute", 1)
		h.forbid("b", "")
		h.told("another agent", 1, 1)
		time.Sleep(time.Minute)
		h.told("a minute later", 1, 1, 9)
		if n := h.notices()[2]; n.Last.Sub(n.First) != 40*time.Second {
			t.Errorf("the nine came within %v", n.Last.Sub(n.First))
		}
		time.Sleep(time.Hour)
		h.told("nothing happened", 1, 1, 9)
		h.forbid("a", "")
		h.told("the next one, at once", 1, 1, 9, 1)
		for range h.store.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
			t.Error("a guard denial left an ask")
		}
	})
}

// TestGuardNoticesSurviveARestart checks that a restart loses no count and repeats no
// notice.
func TestGuardNoticesSurviveARestart(t *testing.T) {
	housed(t, func(_ *testing.T, h *house) {
		h.forbid("a", "")
		h.told("the first", 1)
		h.restart()
		settle()
		h.told("told before the restart", 1)
		h.forbid("a", "")
		h.forbid("a", "x")
		settle()
		h.restart()
		settle()
		h.forbid("a", "y")
		h.told("within the minute", 1)
		time.Sleep(time.Minute)
		h.told("what was denied before and after", 1, 3)
		h.restart()
		time.Sleep(time.Hour)
		h.told("all was told", 1, 3)
	})
}

func TestGuardNoticesSurviveAnOutage(t *testing.T) {
	housed(t, func(_ *testing.T, h *house) {
		h.chat.failingOn("notify", errors.New("no network"))
		for range 5 {
			h.forbid("a", "")
			time.Sleep(10 * time.Second)
		}
		h.chat.failing(nil)
		time.Sleep(time.Minute)
		h.told("after the outage", 5)
	})
}

// P1: a notice has no place for a button.
func TestANoticeCannotHoldAButton(t *testing.T) {
	buttons := []reflect.Type{
		reflect.TypeFor[approval.Button](), reflect.TypeFor[approval.Token](), reflect.TypeFor[approval.Callback](),
		reflect.TypeFor[approval.Choice](), reflect.TypeFor[approval.ID](), reflect.TypeFor[approval.AskID](),
	}
	var look func(reflect.Type)
	looked := map[reflect.Type]bool{}
	look = func(in reflect.Type) {
		if looked[in] {
			return
		}
		looked[in] = true
		for _, b := range buttons {
			if in == b {
				t.Errorf("a notice holds a %s", b)
			}
		}
		switch in.Kind() {
		case reflect.Struct:
			for f := range in.Fields() {
				look(f.Type)
			}
		case reflect.Slice, reflect.Pointer, reflect.Array, reflect.Map:
			look(in.Elem())
		case reflect.Interface, reflect.Func, reflect.Chan:
			t.Errorf("a notice may hold anything: a %s", in)
		default:
		}
	}
	for f := range reflect.TypeFor[approval.Notice]().Fields() {
		if f.Type != reflect.TypeFor[time.Time]() {
			look(f.Type)
		}
	}
}
