package telegram_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// busy is a memory whose store asks who may decide while it saves.
type busy struct {
	memory
	t       *testing.T
	channel *telegram.Channel
	saved   int
}

func (b *busy) Save(ctx context.Context, n telegram.Notes) error {
	asked := make(chan bool, 1)
	go func() { asked <- b.channel.Approves("telegram:4711") }()
	select {
	case may := <-asked:
		if !may {
			b.t.Error("Ann may not decide")
		}
	case <-time.After(10 * time.Second):
		b.t.Error("who may decide waits for the disk: a tap and a card would wait for each other")
	}
	b.saved++
	return b.memory.Save(ctx, n)
}

func TestWhoMayDecideWaitsForNoDisk(t *testing.T) {
	t.Parallel()
	server := telegramtest.New()
	server.Start()
	t.Cleanup(server.Stop)
	b := &busy{t: t, memory: memory{Notes: telegram.Notes{Chat: server.Private(ann()), Person: ann().ID}}}
	var err error
	b.channel, err = telegram.New(t.Context(), telegram.Config{
		Token: telegramtest.Token, API: "http://telegram.test", Client: server.Client(), Memory: b, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	a := newAsk(t, command("make"))
	if _, err := b.channel.Post(t.Context(), approval.NewCard(*a, telegram.Name, approval.NewMasker(approval.Secret{1}))); err != nil || b.saved == 0 {
		t.Errorf("posting: %v, saved %d times", err, b.saved)
	}
}
