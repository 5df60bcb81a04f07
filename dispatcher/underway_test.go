package dispatcher_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// slow is a judge that takes its time.
type slow struct{ strict }

func (s *slow) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	time.Sleep(10 * time.Second)
	return s.strict.Grade(ctx, p)
}

// TestCallsThatAreJudgedAtTheTimeAreTold checks a plan whose first call gets its verdict on
// the day that ends while the second is judged: the digest waits for both, and each is told
// once.
func TestCallsThatAreJudgedAtTheTimeAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat := newPaper("chat")
		p := printed(t, storetest.NewMemory(), func(c *dispatcher.Config) {
			c.Engine, c.Hours.Digest, c.Channels = newEngine(t, &slow{}, nil), morning, []dispatcher.Channel{chat}
			c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
		})
		time.Sleep(8*time.Hour - 15*time.Second)
		read := vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"path": "a"}}
		got, err := p.ProposePlan(t.Context(), agent, []dispatcher.Request{{Proposal: read}, {Proposal: shell("make")}})
		if err != nil || !got[0].Verdict.Approved || got[1].Verdict.Approved {
			t.Fatalf("%+v, %v", got, err)
		}
		time.Sleep(25 * time.Hour)
		all := chat.all()
		if len(all) != 2 || all[0].Counts.Approved != 1 || all[0].Counts.Judged != 1 || all[1].Counts.Vetoed != 1 || all[1].Counts.Judged != 1 || all[0].Late {
			t.Errorf("the digests tell %+v", all)
		}
	})
}
