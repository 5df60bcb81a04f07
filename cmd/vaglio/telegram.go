package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
)

// telegramRecord is what the bot keeps of itself.
const telegramRecord = "telegram"

// telegramConfig is what the environment says of the bot.
type telegramConfig struct {
	Token secret
	// API is the Bot API's address; empty means Telegram's own.
	API         string
	Chat, Topic int64
	Approvers   []int64
	// Webhook is the public address of telegramPath; empty means polling.
	Webhook string
}

// telegramPath is where the platform's deliveries are taken.
const telegramPath = "/telegram"

// telegram reads the bot's settings.
func (m *mistakes) telegram(e *environment) telegramConfig {
	c := telegramConfig{
		Token: m.secret("METNOS_TELEGRAM_TOKEN", e.TelegramToken, e.TelegramTokenFile),
		Chat:  m.number("METNOS_TELEGRAM_CHAT", e.TelegramChat),
		Topic: m.number("METNOS_TELEGRAM_TOPIC", e.TelegramTopic),
	}
	if c.Topic != 0 && c.Chat == 0 {
		m.add("METNOS_TELEGRAM_TOPIC", "is set without METNOS_TELEGRAM_CHAT; a topic is one of a chat")
	}
	if c.Topic < 0 {
		m.add("METNOS_TELEGRAM_TOPIC", "%d is not a topic's number, which is positive", c.Topic)
	}
	c.Webhook = m.webhook("METNOS_TELEGRAM_WEBHOOK", e.TelegramWebhook)
	if c.Webhook != "" && c.Token == "" {
		m.add("METNOS_TELEGRAM_WEBHOOK", "is set without a bot: set METNOS_TELEGRAM_TOKEN too")
	}
	if !e.TelegramApprovers.set {
		return c
	}
	for one := range strings.SplitSeq(e.TelegramApprovers.value, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
		if err != nil || n <= 0 {
			m.add("METNOS_TELEGRAM_APPROVERS", "%q is not a person's number, such as 4711", one)
			continue
		}
		if slices.Contains(nobodys(), n) {
			m.add("METNOS_TELEGRAM_APPROVERS", "%d is no person: anonymous admins and channels share it", n)
			continue
		}
		c.Approvers = append(c.Approvers, n)
	}
	return c
}

// nobodys are the accounts that Telegram puts in the place of a sender whom it
// does not name: its own, the anonymous admin's, the channel's.
func nobodys() []int64 { return []int64{777000, 1087968824, 136817688} }

// webhook reads the public address of our deliveries.
func (m *mistakes) webhook(name string, t text) string {
	if !t.set {
		return ""
	}
	u, err := url.Parse(t.value)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		m.add(name, "is not an address such as https://vaglio.example.org%s", telegramPath)
	case !slices.Contains([]string{"", "443", "80", "88", "8443"}, u.Port()):
		m.add(name, "port %s is none to which Telegram delivers: those are 443, 80, 88 and 8443", u.Port())
	case !strings.HasSuffix(u.EscapedPath(), telegramPath):
		m.add(name, "%q must end in %s: that is where the proxy has to lead on METNOS_LISTEN", t.value, telegramPath)
	}
	return t.value
}

// number reads a number that may be unset.
func (m *mistakes) number(name string, t text) int64 {
	if !t.set {
		return 0
	}
	n, err := strconv.ParseInt(t.value, 10, 64)
	if err != nil || n == 0 {
		m.add(name, "%q is not a number, such as -1001234567890", t.value)
	}
	return n
}

// telegramAPI checks the address of another Bot API server.
func telegramAPI(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || strings.Contains(address, "%") {
		return &configError{fmt.Errorf("--telegram-api: %q is not an address such as https://api.telegram.org", address)}
	}
	return nil
}

// talk builds the bot, if there is a token.
func (d *daemon) talk(ctx context.Context) error {
	if d.config.Telegram.Token == "" {
		return nil
	}
	var err error
	d.bot, err = newBot(ctx, &d.config, botMemory{d.store}, d.log)
	return err
}

// newBot makes the bot of the configuration, over its notes.
func newBot(ctx context.Context, c *config, notes telegram.Memory, log *slog.Logger) (*telegram.Channel, error) {
	t := &c.Telegram
	bot, err := telegram.New(ctx, telegram.Config{
		Token: string(t.Token), API: t.API, Memory: notes, Chat: t.Chat, Topic: t.Topic,
		Webhook: t.Webhook, Approvers: t.Approvers, Zone: c.Zone, Log: log,
		Texts: c.Texts, Lang: c.Lang,
	})
	if errors.Is(err, telegram.ErrToken) {
		return nil, &configError{fmt.Errorf("METNOS_TELEGRAM_TOKEN: %w", err)}
	}
	return bot, err
}

// botMemory keeps the bot's notes in the store.
type botMemory struct{ store dispatcher.Store }

// botBody is the record of the bot's notes.
type botBody struct {
	Version int            `json:"v"`
	Notes   telegram.Notes `json:"notes"`
}

// Load returns the notes.
func (m botMemory) Load(ctx context.Context) (telegram.Notes, error) { return botNotes(ctx, m.store) }

// shelf is where records can be read.
type shelf interface {
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
}

// botNotes reads the bot's notes.
func botNotes(ctx context.Context, from shelf) (telegram.Notes, error) {
	r, err := from.Get(ctx, approval.KindMeta, telegramRecord)
	if errors.Is(err, approval.ErrNotFound) {
		return telegram.Notes{}, nil
	}
	if err != nil {
		return telegram.Notes{}, err
	}
	var body botBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return telegram.Notes{}, err
	}
	if body.Version != 1 {
		return telegram.Notes{}, errors.New("the record is from a newer vaglio")
	}
	return body.Notes, nil
}

// Save stores the notes.
func (m botMemory) Save(ctx context.Context, n telegram.Notes) error {
	body, err := strictjson.Marshal(botBody{1, n})
	if err != nil {
		return err
	}
	_, err = m.store.Update(ctx, approval.KindMeta, telegramRecord, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = telegramRecord, body
		return r, nil
	})
	return err
}

// pairing tells how to pair, when nobody has.
func (d *daemon) pairing() string {
	if d.bot == nil || d.bot.Status().Paired {
		return ""
	}
	code, _ := d.bot.NewCode()
	return fmt.Sprintf("  telegram  send your bot: /start %s\n          (good once, for %d minutes; 'vaglio pair' prints another)\n",
		code, telegram.CodeLives/time.Minute)
}
