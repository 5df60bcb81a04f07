package dispatcher

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/store/storetest"
)

// crier is a chat that delivers announcements when it can.
type crier struct {
	Channel
	name string
	fail error
	told []string
}

func (c *crier) Name() string { return c.name }

func (c *crier) Announce(_ context.Context, a approval.Announcement) error {
	if c.fail == nil {
		c.told = append(c.told, a.Detail)
	}
	return c.fail
}

// TestAnnouncementsReachEveryChatOnce announces while one chat is down, continues in
// another process, and checks the history.
func TestAnnouncementsReachEveryChatOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		well, away := &crier{name: "a"}, &crier{name: "b", fail: &approval.RetryError{After: time.Minute, Err: errors.New("away")}}
		var d *Dispatcher
		run := func(during func()) {
			d = New(Config{
				Store: store, Channels: []Channel{well, away}, Secret: approval.Secret{1}, Log: slog.New(slog.DiscardHandler),
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, a := range d.outlets.announcers[1:] {
					go func() { _ = a.run(ctx, d) }()
				}
				_ = d.outlets.announcers[0].run(ctx, d)
			}()
			during()
			synctest.Wait()
			cancel()
			<-done
			synctest.Wait()
		}
		run(func() {
			synctest.Wait()
			for _, detail := range []string{"one", "two"} {
				if err := d.Announce(t.Context(), approval.Announcement{Kind: approval.SignedIn, Detail: detail}); err != nil {
					t.Fatal(err)
				}
			}
		})
		if len(well.told) != 2 || well.told[0] != "one" || len(away.told) != 0 {
			t.Fatalf("told are %v and %v", well.told, away.told)
		}
		away.fail = nil
		run(func() {})
		if len(well.told) != 2 || len(away.told) != 2 || away.told[1] != "two" {
			t.Errorf("after a restart told are %v and %v", well.told, away.told)
		}
		n := 0
		for leaf, err := range store.Leaves(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			e, err := history.Decode(leaf.Value)
			if err != nil || string(e.Kind) != string(approval.SignedIn) || e.At.IsZero() {
				t.Errorf("leaf %d tells %+v, %v", leaf.Index, e, err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("the history has %d leaves, want 2", n)
		}
	})
}
