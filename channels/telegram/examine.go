package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Examine examines the state of the bot, and changes nothing. alone says that no Run
// receives updates, here or in another process of ours; Examine then also polls for a
// moment, which shows whether somebody else does. Its findings show no token.
func (c *Channel) Examine(ctx context.Context, alone bool) []approval.Finding {
	clock := &clock{next: c.api.client.Transport}
	if clock.next == nil {
		clock.next = http.DefaultTransport
	}
	e := &examiner{Channel: c, alone: alone, clock: clock, probe: newAPI(c.api.base, c.api.token, &http.Client{Transport: clock})}
	e.pairing()
	if !e.token(ctx) {
		for _, subject := range []string{"telegram clock", "telegram updates", "telegram chat"} {
			e.found(subject, approval.Unseen, "Not checked: it needs an answer from Telegram.", "")
		}
		return e.findings
	}
	e.time()
	e.updates(ctx)
	e.chat(ctx)
	return e.findings
}

// examiner is one examination of the bot.
type examiner struct {
	*Channel
	alone    bool
	probe    *api
	clock    *clock
	self     account
	findings []approval.Finding
}

const (
	// maxSkew is how far the clock may be off: cards say to the minute until when they
	// wait, and a press lives for 150 s. Half a minute distorts neither.
	maxSkew = 30 * time.Second
	// rivalPoll is how long another poller gets to show itself: most programs wait 3 s
	// before they poll again.
	rivalPoll = 4 * time.Second
	// examineWithin limits each call, so that a platform that does not answer does not hold
	// up a person at a terminal.
	examineWithin = 8 * time.Second
)

// account is who the bot is, and what it may do.
type account struct {
	user
	ReadsAll bool `json:"can_read_all_group_messages"`
}

// room is a chat as the bot sees it.
type room struct {
	chat
	Title string `json:"title"`
	Forum bool   `json:"is_forum"`
	// Members is what a group's members may do; it is given only for groups.
	Members *struct {
		Photos bool `json:"can_send_photos"`
	} `json:"permissions"`
}

func (e *examiner) found(subject string, g approval.Grade, text, remedy string) {
	e.findings = append(e.findings, approval.Finding{Subject: subject, Grade: g, Text: e.api.hide(text), Remedy: remedy})
}

// ask makes a call that changes nothing, and decodes the answer into v.
func (e *examiner) ask(ctx context.Context, method string, p tgbotapi.Params, v any) error {
	res, err := e.probe.call(ctx, method, p, examineWithin)
	if err != nil {
		return err
	}
	if err := strictjson.UnmarshalLoose(res, v); err != nil {
		return errors.New("telegram: " + method + ": the answer cannot be read")
	}
	return nil
}

// failed reports a call that did not answer the question.
func (e *examiner) failed(subject string, err error) {
	p, refused := errors.AsType[*PlatformError](err)
	_, unreached := errors.AsType[*reachError](err)
	text, remedy := "The answer does not come from Telegram: "+err.Error(), "Check the address of the Bot API, and what stands between."
	switch {
	case unreached:
		text, remedy = "Telegram cannot be reached: "+err.Error(), "Check the network, the name service and the proxy on the way to api.telegram.org."
	case refused && (p.Code == http.StatusUnauthorized || p.Code == http.StatusNotFound):
		text, remedy = "Telegram refuses the bot token.", "Take the current token from BotFather, put it where METNOS_TELEGRAM_TOKEN or its file is, and start vaglio again."
	case refused && p.Code == http.StatusTooManyRequests:
		text, remedy = "Telegram asks for a pause: "+err.Error(), fmt.Sprintf("Ask again in %s.", max(p.RetryAfter, platform.FirstPause))
	case refused && p.Code >= http.StatusInternalServerError:
		text, remedy = "Telegram answers with errors: "+err.Error(), "Ask again later: it is most likely down."
	}
	e.found(subject, approval.Wrong, text, remedy)
}

// token finds out who the bot is.
func (e *examiner) token(ctx context.Context) bool {
	err := e.ask(ctx, "getMe", nil, &e.self)
	if err == nil && e.self.ID == 0 {
		err = errors.New("telegram: getMe: the answer names no bot")
	}
	if err != nil {
		e.failed("telegram token", err)
		return false
	}
	e.found("telegram token", approval.Fine, "Telegram takes it: the bot is @"+e.self.Username+".", "")
	return true
}

// time compares the clocks.
func (e *examiner) time() {
	skew, ok := e.clock.skew()
	switch {
	case !ok:
		e.found("telegram clock", approval.Unseen, "Telegram's answers carry no time.", "")
	case skew > maxSkew || skew < -maxSkew:
		which := "ahead of"
		if skew < 0 {
			which = "behind"
		}
		e.found("telegram clock", approval.Wrong, fmt.Sprintf("The clock of this machine is %s %s Telegram's.", skew.Abs().Round(time.Second), which),
			"Let the system keep its time, with timedatectl set-ntp true or what your system has for it.")
	default:
		e.found("telegram clock", approval.Fine, "It agrees with Telegram's.", "")
	}
}

// updates finds out whether presses reach us.
func (e *examiner) updates(ctx context.Context) {
	const subject = "telegram updates"
	if !e.alone {
		e.mu.Lock()
		t := e.hearing
		e.mu.Unlock()
		if h := t.In(e.locale.English()); !h.OK() {
			e.found(subject, approval.Wrong, h.Problem, h.Remedy)
			return
		}
	}
	var info hookInfo
	if err := e.ask(ctx, "getWebhookInfo", nil, &info); err != nil {
		e.failed(subject, err)
		return
	}
	if e.webhook != "" {
		e.hooked(&info)
		return
	}
	ours := e.notes.Now().Webhook
	switch {
	case info.URL != "" && info.URL != ours:
		e.found(subject, approval.Wrong, "The bot has a webhook at "+host(info.URL)+", so presses go there.",
			"Delete the webhook where it was set, or use a bot of vaglio's own.")
	case info.URL != "" && e.alone:
		e.found(subject, approval.Noted, "The webhook of an earlier start still stands; the next start deletes it.", "")
	case !e.alone:
		e.found(subject, approval.Fine, "The daemon polls, and hears presses at once."+waiting(info.Pending), "")
	default:
		e.rival(ctx, info.Pending)
	}
}

// hooked finds out whether the platform can deliver to the webhook.
func (e *examiner) hooked(info *hookInfo) {
	const subject = "telegram updates"
	switch {
	case info.URL == "" && e.alone:
		e.found(subject, approval.Noted, "The webhook is not set yet; the next start sets it.", "")
	case info.URL != e.webhook && e.alone:
		e.found(subject, approval.Noted, "The bot has a webhook at "+host(info.URL)+"; the next start replaces it.", "")
	case info.URL != e.webhook:
		e.found(subject, approval.Wrong, "The bot's webhook is not the one that the daemon set.", "Stop the program that sets it, or use a bot of vaglio's own.")
	case (&loop{Channel: e.Channel}).fails(info):
		e.found(subject, approval.Wrong, "Telegram cannot deliver to the webhook: "+cardtext.Clip(info.Error, 200)+"."+waiting(info.Pending),
			"Check that METNOS_TELEGRAM_WEBHOOK leads to vaglio from outside, with a certificate that Telegram trusts.")
	default:
		e.found(subject, approval.Fine, "Telegram delivers to the webhook."+waiting(info.Pending), "")
	}
}

func waiting(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " One update waits to be fetched."
	default:
		return fmt.Sprintf(" %d updates wait to be fetched.", n)
	}
}

// host returns the part of an address that is not secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "another address"
	}
	return u.Host
}

// rival polls for a moment. Another program's poll ends ours, or is ended by it and comes
// again. Without an offset nothing is confirmed, and nothing lost.
func (e *examiner) rival(ctx context.Context, pending int) {
	const subject = "telegram updates"
	_, err := e.probe.call(ctx, "getUpdates", tgbotapi.Params{
		"timeout": strconv.Itoa(int(rivalPoll / time.Second)), "limit": "1",
	}, rivalPoll+examineWithin)
	p, refused := errors.AsType[*PlatformError](err)
	switch {
	case refused && p.Code == http.StatusConflict:
		e.found(subject, approval.Wrong, "Another program polls with this bot's token, and takes presses away.",
			"Stop that program, or use a bot of vaglio's own.")
	case err != nil:
		e.failed(subject, err)
	default:
		e.found(subject, approval.Fine, "Nobody else fetches them."+waiting(pending), "")
	}
}

// clock reads the time in the platform's answers.
type clock struct {
	next http.RoundTripper

	mu            sync.Mutex
	theirs, ours  time.Time
	uncertain     time.Duration
	roundTripSeen bool
}

// RoundTrip makes the request and notes when it was answered.
func (c *clock) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	res, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.roundTripSeen || took/2 < c.uncertain {
			c.theirs, c.ours, c.uncertain, c.roundTripSeen = at, began.Add(took/2), took/2, true
		}
	}
	return res, nil
}

// skew returns how far our clock is ahead, at the least: it allows for the time on the way
// and the second that a date is truncated to. ok is false without a date.
func (c *clock) skew() (d time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d = c.ours.Round(0).Sub(c.theirs)
	switch {
	case !c.roundTripSeen:
		return 0, false
	case d > 0:
		return max(0, d-c.uncertain-time.Second), true
	default:
		return min(0, d+c.uncertain), true
	}
}
