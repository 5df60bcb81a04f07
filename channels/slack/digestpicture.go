package slack

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/chart"
)

const (
	// pictureName is the picture's file name, by which its message is recognized.
	pictureName = "digest.png"
	// pictureFor is how long after its time a digest still waits for its picture. The text
	// is there, and says the same.
	pictureFor = time.Hour
	// maxAlt is the most characters in a picture's description.
	maxAlt = 1000
	// maxReplies is how many messages of a thread are examined: ours is among the first.
	maxReplies = 200
)

// showPicture puts the digest's picture into the thread of its message, unless it is
// already there, which is possible even if nobody was told. An error means that it can be
// tried again.
func (c *Channel) showPicture(ctx context.Context, m place, d *report.Digest) error {
	drawn := chart.OfDigest(d, c.texts)
	data, err := drawn.PNG()
	if err != nil {
		c.log.ErrorContext(ctx, "a digest's picture cannot be drawn", "error", err)
		return nil
	}
	there, err := c.hasPicture(ctx, m)
	if there {
		return nil
	}
	if err == nil {
		err = c.do(ctx, "files.upload", func(ctx context.Context) error {
			_, err := c.api.UploadFileContext(ctx, slackapi.UploadFileParameters{
				Reader: bytes.NewReader(data), FileSize: len(data), Filename: pictureName, Title: cardtext.Clip(drawn.Title, maxHeader),
				AltTxt: cardtext.Clip(drawn.Alt(), maxAlt), Channel: m.channel, ThreadTimestamp: m.ts,
			})
			return err
		})
	}
	switch {
	case err == nil:
		return nil
	case passes(err) && time.Since(d.Window.To) < pictureFor:
		return err
	default:
		c.log.WarnContext(ctx, "a digest is sent without its picture", "error", err)
		return nil
	}
}

// hasPicture reports whether the message's thread has the picture. If the app may not look,
// it reports false.
func (c *Channel) hasPicture(ctx context.Context, m place) (bool, error) {
	var all []slackapi.Message
	err := c.do(ctx, "conversations.replies", func(ctx context.Context) (err error) {
		all, _, _, err = c.api.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
			ChannelID: m.channel, Timestamp: m.ts, Limit: maxReplies,
		})
		return err
	})
	if means(err) == meansToken {
		return false, nil
	}
	c.mu.Lock()
	us := c.self.user
	c.mu.Unlock()
	return slices.ContainsFunc(all, func(m slackapi.Message) bool {
		return m.User == us && slices.ContainsFunc(m.Files, func(f slackapi.File) bool { return f.Name == pictureName })
	}), err
}

// passes reports whether what failed may work after a while.
func passes(err error) bool {
	if _, limited := errors.AsType[*slackapi.RateLimitedError](err); limited {
		return true
	}
	switch means(err) {
	case meansNothing, meansUnsure:
		return true
	default:
		return false
	}
}
