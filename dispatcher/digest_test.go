package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
)

// paper is a channel that keeps the digests that its messages show.
type paper struct {
	*fakeChannel

	name   string
	opened int
	shown  map[string]report.Digest
	refs   []string
	keys   map[string]string
	// trouble decides how a call ends; it is given what was called.
	trouble func(what string) error
}

func newPaper(name string) *paper {
	return &paper{fakeChannel: newFakeChannel(), name: name, shown: map[string]report.Digest{}, keys: map[string]string{}}
}

func (p *paper) Name() string { return p.name }

func (p *paper) fails(what string) error {
	if p.trouble == nil {
		return nil
	}
	return p.trouble(what)
}

func (p *paper) OpenDigest(_ context.Context, key string, _ bool) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fails("open"); err != nil {
		return "", err
	}
	p.opened++
	ref := fmt.Sprintf("d-%d", p.opened)
	p.keys[key] = ref
	return ref, p.fails("opened")
}

// legible is a paper that can find what it opened.
type legible struct{ *paper }

func (p legible) FindDigest(_ context.Context, key string) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ref, ok := p.keys[key]
	return ref, ok, p.fails("find")
}

func (p *paper) ShowDigest(_ context.Context, ref string, d report.Digest) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fails("show"); err != nil {
		return err
	}
	if _, again := p.shown[ref]; !again {
		p.refs = append(p.refs, ref)
	}
	p.shown[ref] = d
	return nil
}

// all returns the digests in the order in which they were first shown.
func (p *paper) all() []report.Digest {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]report.Digest, 0, len(p.refs))
	for _, ref := range p.refs {
		all = append(all, p.shown[ref])
	}
	return all
}

// press is a dispatcher that sends digests, over a store that outlives it.
type press struct {
	*dispatcher.Dispatcher
	end func()
}

func printing(t *testing.T, store *storetest.Memory, hours *report.Hours, papers ...*paper) *press {
	t.Helper()
	channels := make([]dispatcher.Channel, 0, len(papers))
	for _, p := range papers {
		channels = append(channels, p)
	}
	return printingOn(t, store, hours, channels...)
}

// printingOn is like printing, on channels of any kind.
func printingOn(t *testing.T, store *storetest.Memory, hours *report.Hours, channels ...dispatcher.Channel) *press {
	t.Helper()
	return printed(t, store, func(c *dispatcher.Config) { c.Hours.Digest, c.Channels = hours, channels })
}

// printed runs a dispatcher with a configuration.
func printed(t *testing.T, store *storetest.Memory, configure func(*dispatcher.Config)) *press {
	t.Helper()
	c := dispatcher.Config{Store: store, Effects: dispatcher.Effects{Name: effect}, Log: slog.New(slog.DiscardHandler)}
	configure(&c)
	g := running(t, c)
	return &press{g.Dispatcher, g.end}
}

// morning is eight o'clock UTC.
var morning = &report.Hours{Minute: 480}

func TestADigestIsSentOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat := newPaper("chat")
		p := printing(t, storetest.NewMemory(), morning, chat)
		time.Sleep(8*time.Hour - time.Second)
		if n := len(chat.all()); n != 0 {
			t.Fatalf("%d digests came before the first window was over", n)
		}
		// The first window began at eight on the day before.
		if _, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("rm -rf /")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		all := chat.all()
		if len(all) != 1 || all[0].Counts.Guard != 1 || all[0].Late {
			t.Fatalf("at eight: %+v", all)
		}
		time.Sleep(23 * time.Hour)
		if n := len(chat.all()); n != 1 {
			t.Errorf("%d digests on one day", n)
		}
	})
}

func TestAMissedDigestIsCaughtUpOnceAndMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat, other := storetest.NewMemory(), newPaper("chat"), newPaper("other")
		down := true
		other.trouble = func(string) error {
			if down {
				return errors.New("no network")
			}
			return nil
		}
		p := printing(t, store, morning, chat, other)
		time.Sleep(9 * time.Hour)
		if len(chat.all()) != 1 || len(other.all()) != 0 {
			t.Fatal("one channel's trouble is another's")
		}
		other.mu.Lock()
		down = false
		other.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if all := other.all(); len(all) != 1 || !all[0].Late || len(chat.all()) != 1 {
			t.Fatalf("caught up with %+v", all)
		}
		// The daemon is down for two mornings, and then for a month.
		p.end()
		time.Sleep(48 * time.Hour)
		p = printing(t, store, morning, chat, other)
		time.Sleep(time.Minute)
		if all := chat.all(); len(all) != 3 || !all[2].Late || all[2].Window.From != all[1].Window.To {
			t.Fatalf("after two days: %+v", all)
		}
		p.end()
		time.Sleep(30 * 24 * time.Hour)
		printing(t, store, morning, chat, other)
		time.Sleep(time.Minute)
		all := chat.all()
		if len(all) != 10 || all[3].Window.To.Sub(all[3].Window.From) != 24*24*time.Hour {
			t.Fatalf("after a month there are %d, the fourth of %v", len(all), all[3].Window)
		}
		for i := 1; i < len(all); i++ {
			if all[i].Window.From != all[i-1].Window.To {
				t.Errorf("%v follows %v", all[i].Window, all[i-1].Window)
			}
		}
	})
}

func TestADigestThatCannotBeShownGetsAnotherMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat, gone := newPaper("chat"), false
		chat.trouble = func(what string) error {
			if what == "show" && !gone {
				gone = true
				return approval.ErrGone
			}
			return nil
		}
		printing(t, storetest.NewMemory(), morning, chat)
		time.Sleep(9 * time.Hour)
		if all := chat.all(); len(all) != 1 || chat.opened != 2 {
			t.Errorf("%d digests in %d messages", len(all), chat.opened)
		}
	})
}

// TestAMessageThatNobodyKeptIsFound checks that a message whose opening was interrupted, or
// was not confirmed, is found and filled: the next process does not open a second one.
func TestAMessageThatNobodyKeptIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat := storetest.NewMemory(), newPaper("chat")
		looks := 0
		chat.trouble = func(what string) error {
			if what == "find" {
				looks++
			}
			if what == "opened" && chat.opened == 2 || what == "find" && looks < 3 {
				return errors.New("no answer")
			}
			return nil
		}
		p := printingOn(t, store, morning, legible{chat})
		time.Sleep(33 * time.Hour) // the opening of the second digest's message is not confirmed
		synctest.Wait()
		if all := chat.all(); len(all) != 2 || chat.opened != 2 || looks != 3 {
			t.Errorf("%d digests in %d messages after %d looks", len(all), chat.opened, looks)
		}
		p.end()
		// A process that died had opened the third digest's message.
		_, err := store.Update(t.Context(), approval.KindMeta, "digest/chat", func(r approval.Record) (approval.Record, error) {
			r.Body = []byte(`{"v":1,"through":"2000-01-02T08:00:00Z","due":"2000-01-03T08:00:00Z","begun":true}`)
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chat.OpenDigest(t.Context(), "2000-01-03T08:00:00Z", false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		printingOn(t, store, morning, legible{chat})
		time.Sleep(time.Minute)
		if all := chat.all(); len(all) != 3 || chat.opened != 3 {
			t.Errorf("%d digests in %d messages", len(all), chat.opened)
		}
	})
}

func TestDigestsThatAreOffAreNotCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat := storetest.NewMemory(), newPaper("chat")
		for _, hours := range []*report.Hours{morning, nil, morning} {
			p := printing(t, store, hours, chat)
			time.Sleep(5 * 24 * time.Hour)
			synctest.Wait()
			p.end()
		}
		if n := len(chat.all()); n != 10 {
			t.Errorf("%d digests in ten days with and five without", n)
		}
	})
}

// TestAClockThatWasAheadStopsNoDigest sends a digest while the clock is a year ahead, and
// then corrects the clock.
func TestAClockThatWasAheadStopsNoDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat := storetest.NewMemory(), newPaper("chat")
		_, err := store.Update(t.Context(), approval.KindMeta, "digest/chat", func(r approval.Record) (approval.Record, error) {
			r.Body = []byte(`{"v":1,"through":"2001-01-01T08:00:00Z"}`)
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		printing(t, store, morning, chat)
		time.Sleep(9 * time.Hour)
		if n := len(chat.all()); n != 1 {
			t.Errorf("%d digests came", n)
		}
	})
}

func TestTheDigestOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := printing(t, storetest.NewMemory(), morning)
		time.Sleep(9 * time.Hour)
		d, err := p.Digest(t.Context(), "")
		day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		if err != nil || !d.Open || d.Before != "2000-01-01" || !d.Window.From.Equal(day.Add(8*time.Hour)) || !d.Window.To.Equal(day.Add(9*time.Hour)) ||
			!d.Next.Equal(day.Add(32*time.Hour)) {
			t.Errorf("so far: %v, %v", d, err)
		}
		d, err = p.Digest(t.Context(), d.Before)
		if err != nil || d.Open || p.DigestDay(d.Window) != "2000-01-01" {
			t.Errorf("the last one: %v, %v", d.Window, err)
		}
		for _, bad := range []string{"2000-01-02", "yesterday", "1999-12-01"} {
			if _, err := p.Digest(t.Context(), bad); err == nil {
				t.Errorf("%s has a digest", bad)
			} else if _, ok := errors.AsType[*report.DayError](err); !ok {
				t.Errorf("%s: %v", bad, err)
			}
		}
	})
}

// lastDay returns the day of the last digest whose window is over.
func lastDay(t *testing.T, d *dispatcher.Dispatcher) string {
	t.Helper()
	w, err := d.Window("")
	if err != nil {
		t.Fatal(err)
	}
	return d.DigestDay(w)
}
