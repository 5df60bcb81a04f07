package slack

import (
	"context"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/channels/platform"
)

const (
	// messageEvery is the platform's limit for new messages in one channel: "one
	// message per second per channel" (docs.slack.dev/apis/web-api/rate-limits).
	// More is refused at its discretion, so no more is sent.
	messageEvery = time.Second
	// longestQueue is how long a message waits for its turn before it is put off.
	longestQueue = 5 * time.Second
)

// pace keeps to the platform's limits. A pause that it asks for holds where the
// limit is: for a method, and for new messages in one channel, so that a busy
// channel slows down no other. The zero value is ready.
type pace struct {
	pauses platform.Pauses[limit]

	mu sync.Mutex
	// turns are when each channel takes another message.
	turns map[string]time.Time
}

// limit is what the platform counts: a method, or a method in a channel.
type limit struct{ method, channel string }

// messages is the limit of new messages in a channel.
func messages(channel string) limit { return limit{"chat.postMessage", channel} }

// turn waits until the channel takes another message. Where others wait already,
// or the platform asked for a pause, it says how long that will be.
func (p *pace) turn(ctx context.Context, channel string) error {
	if left := p.pauses.Left(messages(channel)); left > 0 {
		return &slackapi.RateLimitedError{RetryAfter: left}
	}
	now := time.Now()
	p.mu.Lock()
	at := p.turns[channel]
	if at.Before(now) {
		at = now
	}
	left := at.Sub(now)
	if left < longestQueue {
		if p.turns == nil {
			p.turns = map[string]time.Time{}
		}
		p.turns[channel] = at.Add(messageEvery)
	}
	p.mu.Unlock()
	if left >= longestQueue {
		return &slackapi.RateLimitedError{RetryAfter: left}
	}
	platform.Sleep(ctx, left)
	if ctx.Err() != nil {
		// Nothing was sent, and nobody has to ask whether it was.
		return &slackapi.RateLimitedError{RetryAfter: messageEvery}
	}
	return nil
}
