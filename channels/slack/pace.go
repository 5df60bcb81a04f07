package slack

import (
	"context"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/channels/platform"
)

// messageRate is the platform's limit for new messages in one channel: "one message per
// second per channel" (docs.slack.dev/apis/web-api/rate-limits). It may accept more for a
// moment; we do not rely on that.
func messageRate() platform.Rate { return platform.Rate{Every: time.Second, AtOnce: 1} }

// pace keeps to the platform's limits. A pause that it asks for applies where the limit
// does: to a method, and to new messages in one channel, so that a busy channel does not
// slow down any other. The zero value is ready to use.
type pace struct {
	pauses   platform.Pauses[limit]
	messages platform.Pace[limit]
}

// limit is what the platform counts: calls of a method, or of a method in a channel.
type limit struct{ method, channel string }

// messages returns the limit of new messages in a channel.
func messages(channel string) limit { return limit{"chat.postMessage", channel} }

// turn waits until the channel accepts another message. If too many are already waiting, or
// the platform asked for a pause, it returns how long that will be.
func (p *pace) turn(ctx context.Context, channel string) error {
	left := p.pauses.Left(messages(channel))
	if left == 0 {
		left = p.messages.Turn(ctx, map[limit]platform.Rate{messages(channel): messageRate()})
	}
	if left > 0 {
		return &slackapi.RateLimitedError{RetryAfter: left}
	}
	return nil
}
