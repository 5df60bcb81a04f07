package dispatcher_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/storetest"
)

// TestStatisticsAgreeWithDigests checks that over days with repeated calls, answers,
// restarts of agents and a clock change, the statistics of each day equal the digest's.
func TestStatisticsAgreeWithDigests(t *testing.T) {
	race.Alone(t)
	synctest.Test(t, func(t *testing.T) {
		rome, err := time.LoadLocation("Europe/Rome")
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Date(2000, 3, 24, 0, 0, 0, 0, rome)
		time.Sleep(time.Until(begin))
		p := printing(t, storetest.NewMemory(), &report.Hours{Zone: rome}, newPaper("chat"))
		rng := rand.New(rand.NewPCG(5, 6))
		made := map[string]int{}
		const days = 5
		for time.Now().Before(begin.AddDate(0, 0, days)) {
			time.Sleep(time.Duration(rng.IntN(40*60)) * time.Second)
			call := shell(fmt.Sprint("make ", rng.IntN(20)))
			call.TurnID, call.Step = fmt.Sprint("t-", time.Now().Hour()/3), rng.IntN(4)
			switch rng.IntN(6) {
			case 0:
				call.Args["command"] = "rm -rf /"
			case 1:
				call.Executor = "fs_read"
			}
			a, err := p.Propose(t.Context(), agent, dispatcher.Request{Proposal: call})
			if err != nil {
				t.Fatal(err)
			}
			made[string(a.Decision)]++
			if a.Approval == nil || a.Approval.State != approval.Pending || rng.IntN(3) == 0 {
				continue
			}
			time.Sleep(time.Duration(rng.IntN(4000)) * time.Second / time.Duration(1+rng.IntN(1000)))
			choice := []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny}[rng.IntN(2)]
			if _, err := p.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Choice: choice, By: owner, Channel: "chat"}); err != nil {
				t.Fatal(err)
			}
		}
		if len(made) != 3 {
			t.Fatalf("made %v", made)
		}
		time.Sleep(24 * time.Hour)
		judged := 0
		for n := range days {
			day, next := begin.AddDate(0, 0, n).Format(time.DateOnly), begin.AddDate(0, 0, n+1).Format(time.DateOnly)
			s, err := p.Statistics(t.Context(), report.Range{From: day, To: day})
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Digest(t.Context(), next)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Window.From.Equal(d.Window.From) || !s.Window.To.Equal(d.Window.To) {
				t.Fatalf("statistics of %v, digest of %v", s.Window, d.Window)
			}
			if diff := cmp.Diff(d.Counts, s.Counts); diff != "" {
				t.Errorf("%s:\n%s", day, diff)
			}
			judged += s.Counts.Judged
			span := s.Spans[slices.IndexFunc(s.Spans, func(p report.Span) bool { return p.Judged() > 0 })]
			page, err := p.History(t.Context(), approval.Filter{Before: span.Newest + 1, Limit: 1})
			if err != nil || len(page.Entries) != 1 || !span.Holds(page.Entries[0].Step.At) {
				t.Errorf("%s: the history of %v has %+v, %v", day, span.Window, page.Entries, err)
			}
		}
		all, err := p.Statistics(t.Context(), report.Range{
			From: begin.Format(time.DateOnly), To: begin.AddDate(0, 0, days-1).Format(time.DateOnly),
		})
		if err != nil || all.Counts.Judged != judged || judged < 100 || len(all.Spans) != days {
			t.Errorf("%d calls in all, %d on the days in %d spans: %v", all.Counts.Judged, judged, len(all.Spans), err)
		}
		if first := all.Since; first.Before(begin) || first.After(begin.Add(time.Hour)) || all.Window.From.Location() != rome {
			t.Errorf("the record begins at %v", first)
		}
	})
}

// heavy is a store whose listings wait until they may go on.
type heavy struct {
	dispatcher.Store

	begun, goOn chan struct{}
}

func (h *heavy) List(ctx context.Context, _ approval.Query) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		select {
		case h.begun <- struct{}{}:
		case <-ctx.Done():
			yield(approval.Record{}, ctx.Err())
			return
		}
		select {
		case <-h.goOn:
		case <-ctx.Done():
			yield(approval.Record{}, ctx.Err())
		}
	}
}

// TestOneAtATimeReadsStatistics checks that however many people look at statistics, one at
// a time reads them, and that somebody who goes away stops reading or waiting.
func TestOneAtATimeReadsStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heavy{storetest.NewMemory(), make(chan struct{}), make(chan struct{})}
		d := dispatcher.New(dispatcher.Config{Store: store, Engine: newEngine(t, &strict{}, nil), Secret: approval.Secret{1}, Log: slog.New(slog.DiscardHandler)})
		read := func() (chan error, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := d.Statistics(ctx, report.Range{Days: 7})
				done <- err
			}()
			return done, cancel
		}
		first, leaves := read()
		<-store.begun
		second, gone := read()
		third, _ := read()
		synctest.Wait()
		select {
		case <-store.begun:
			t.Fatal("two read at once")
		default:
		}
		gone()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("who waited and left: %v", err)
		}
		leaves()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("who read and left: %v", err)
		}
		go func() {
			for range 2 {
				store.goOn <- struct{}{}
				<-store.begun
			}
			store.goOn <- struct{}{}
		}()
		<-store.begun
		if err := <-third; err != nil {
			t.Errorf("who stayed: %v", err)
		}
	})
}

func TestStatisticsThatCannotBe(t *testing.T) {
	store := storetest.NewMemory()
	d := dispatcher.New(dispatcher.Config{Store: store, Engine: newEngine(t, &strict{}, nil), Secret: approval.Secret{1}, Log: slog.New(slog.DiscardHandler)})
	s, err := d.Statistics(t.Context(), report.Range{Days: 1})
	if err != nil || s.Counts != (report.Counts{}) || !s.Since.IsZero() || s.Night != report.DefaultNight() {
		t.Errorf("of nothing: %+v, %v", s, err)
	}
	_, err = d.Statistics(t.Context(), report.Range{From: "soon"})
	if e, ok := errors.AsType[*report.RangeError](err); !ok || e.Fault != report.RangeFrom {
		t.Errorf("got %v", err)
	}
	broken := errors.New("the disk is gone")
	store.Break(broken)
	if _, err := d.Statistics(t.Context(), report.Range{Days: 1}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	store = storetest.NewMemory()
	_, err = store.Update(t.Context(), approval.KindStep, "x", func(r approval.Record) (approval.Record, error) {
		r.Body = []byte(`{"v":99}`)
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d = dispatcher.New(dispatcher.Config{
		Store: store, Engine: newEngine(t, &strict{}, nil), Secret: approval.Secret{1}, Log: slog.New(slog.DiscardHandler),
		Hours: dispatcher.Hours{Quiet: dispatcher.Quiet{From: 60, To: 120}},
	})
	if s, err := d.Statistics(t.Context(), report.Range{Days: 1}); err != nil || s.Counts.Judged != 0 || len(d.Unread()) != 1 {
		t.Errorf("of a record of a newer program: %+v, %v, %d unread", s, err, len(d.Unread()))
	}
}
