package slack

import (
	"context"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/channels/platform"
)

const (
	// messageEvery is the platform's limit for new messages in one channel: "one message
	// per second per channel" (docs.slack.dev/apis/web-api/rate-limits). It may refuse
	// more, so we send no more.
	messageEvery = time.Second
	// longestQueue is the longest time that a message waits for its turn before it is put
	// off.
	longestQueue = 5 * time.Second
)

// pace keeps to the platform's limits. A pause that it asks for applies where the limit
// does: to a method, and to new messages in one channel, so that a busy channel does not
// slow down any other. The zero value is ready to use.
type pace struct {
	pauses platform.Pauses[limit]

	mu sync.Mutex
	// turns are when each channel accepts another message.
	turns map[string]time.Time
}

// limit is what the platform counts: calls of a method, or of a method in a channel.
type limit struct{ method, channel string }

// messages returns the limit of new messages in a channel.
func messages(channel string) limit { return limit{"chat.postMessage", channel} }

// turn waits until the channel accepts another message. If others are already waiting, or
// the platform asked for a pause, it returns how long that will be.
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
		// Nothing was sent, and nobody needs to find out whether it was.
		return &slackapi.RateLimitedError{RetryAfter: messageEvery}
	}
	return nil
}
