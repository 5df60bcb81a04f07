package telegram

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/internal/strictjson"
)

// maxCaption is the longest caption of a photo, counted like the length of a text.
const maxCaption = 1024

// showPicture makes a message show the digest's picture. If the chat accepts no photos, or
// an upload fails twice, the message shows the text of the caption instead: a picture must
// not hold up the next digest.
func (c *Channel) showPicture(ctx context.Context, chat int64, id int, d *report.Digest) error {
	caption, photo, err := c.draw(chat, d)
	if err == nil {
		err = c.editPhoto(ctx, chat, id, caption, photo)
		if p, refused := errors.AsType[*PlatformError](err); err != nil && (!refused || p.Code >= http.StatusInternalServerError) {
			err = c.editPhoto(ctx, chat, id, caption, photo)
		}
	}
	if p, refused := errors.AsType[*PlatformError](err); err == nil || refused && (p.gone() || p.Code == http.StatusTooManyRequests) {
		return err
	}
	c.log.WarnContext(ctx, "a digest's picture cannot be shown; text replaces it", "error", err)
	return c.edit(ctx, chat, id, caption, "")
}

// draw returns the picture of a digest, and what goes below it: a headline, and the picture
// in words.
func (c *Channel) draw(chat int64, d *report.Digest) (*page, tgbotapi.FileBytes, error) {
	texts := c.textsFor(chat)
	p := chart.OfDigest(d, texts)
	photo, err := p.PNG()
	return captionPage(&page{texts: texts}, d, p.Alt()), tgbotapi.FileBytes{Name: "digest.png", Bytes: photo}, err
}

// captionPage writes what waits, what was counted, and what the picture shows, as far as it
// fits.
func captionPage(p *page, d *report.Digest, alt string) *page {
	if n := len(d.Waiting) + d.WaitingMore; n > 0 {
		p.line("digest.caption.waiting", map[string]any{"n": n})
	}
	if c := &d.Counts; c.Judged == 0 {
		p.say("digest.none", nil)
	} else {
		p.say("digest.judged", map[string]any{"n": c.Judged, "approved": c.Approved, "guard": c.Guard, "vetoed": c.Vetoed})
	}
	said := &page{texts: p.texts}
	said.text("\n\n")
	said.say("digest.caption.picture", map[string]any{"alt": alt})
	if p.units+said.units <= maxCaption {
		p.join(said)
	}
	return p
}

// editPhoto makes a message a photo, whether it was one or not.
func (c *Channel) editPhoto(ctx context.Context, chat int64, id int, caption *page, photo tgbotapi.FileBytes) error {
	const field = "digest"
	params := tgbotapi.Params{
		"chat_id": strconv.FormatInt(chat, 10), "message_id": strconv.Itoa(id),
		"media": marshal(map[string]any{"type": "photo", "media": "attach://" + field, "caption": caption.b.String(), "parse_mode": "HTML"}),
	}
	_, err := c.api.hush(chat, func() (strictjson.Value, error) {
		return c.api.upload(ctx, "editMessageMedia", params, field, photo, callWithin)
	})
	return err
}

// replyPicture answers a message with the digest's picture. If that fails, the text is
// already there.
func (l *loop) replyPicture(ctx context.Context, m *message, d *report.Digest) {
	caption, photo, err := l.draw(m.Chat.ID, d)
	if err == nil {
		params := l.params(m.Chat.ID, caption, note{reply: m.ID, thread: m.topic(), silent: true})
		params["caption"] = params["text"]
		delete(params, "text")
		delete(params, "link_preview_options")
		l.api.pace.Ahead(rates(m.Chat.ID))
		_, err = l.api.hush(m.Chat.ID, func() (strictjson.Value, error) {
			return l.api.upload(ctx, "sendPhoto", params, "photo", photo, callWithin)
		})
	}
	if err != nil {
		l.log.WarnContext(ctx, "a digest's picture could not be sent", "error", err)
	}
}
