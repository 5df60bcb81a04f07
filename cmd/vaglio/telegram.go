package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/terminal"
)

// telegramConfig is the configuration of the bot.
type telegramConfig struct {
	Token datafolder.Secret
	// API is the Bot API's address; empty means Telegram's own.
	API         string
	Chat, Topic int64
	Approvers   []int64
	// Webhook is the public address of telegramPath; empty means polling.
	Webhook string
}

// telegramPath is the path to which the platform delivers.
const telegramPath = "/telegram"

// telegram reads the bot's settings.
func (m *mistakes) telegram(e *environment) telegramConfig {
	c := telegramConfig{
		Token: m.secret("METNOS_TELEGRAM_TOKEN", e.TelegramToken, e.TelegramTokenFile),
		Chat:  m.number("METNOS_TELEGRAM_CHAT", e.TelegramChat),
		Topic: m.number("METNOS_TELEGRAM_TOPIC", e.TelegramTopic),
	}
	if c.Token != "" {
		if err := telegram.CheckToken(string(c.Token)); err != nil {
			m.add("METNOS_TELEGRAM_TOKEN", "%w", err)
		}
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
	c.Approvers = m.approvers("METNOS_TELEGRAM_APPROVERS", e.TelegramApprovers)
	return c
}

// approvers reads the numbers of the people who may decide.
func (m *mistakes) approvers(name string, t text) []int64 {
	if !t.set {
		return nil
	}
	var people []int64
	for one := range strings.SplitSeq(t.value, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
		switch {
		case err != nil || n <= 0:
			m.add(name, "%q is not a person's number, such as 4711", one)
		case slices.Contains(nobodys(), n):
			m.add(name, "%d is not a person: anonymous admins and channels share it", n)
		default:
			people = append(people, n)
		}
	}
	return people
}

// nobodys returns the accounts that Telegram shows in place of an anonymous sender: its own, the
// anonymous admin's, the channel's.
func nobodys() []int64 { return []int64{777000, 1087968824, 136817688} }

// webhook reads the public address to which Telegram delivers.
func (m *mistakes) webhook(name string, t text) string {
	if !t.set {
		return ""
	}
	u, err := url.Parse(t.value)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		m.add(name, "is not an address such as https://vaglio.example.org%s", telegramPath)
	case !slices.Contains([]string{"", "443", "80", "88", "8443"}, u.Port()):
		m.add(name, "Telegram does not deliver to port %s, only to 443, 80, 88 and 8443", u.Port())
	case !strings.HasSuffix(u.EscapedPath(), telegramPath):
		m.add(name, "%q must end in %s: that is where the proxy has to lead on METNOS_LISTEN", t.value, telegramPath)
	}
	return t.value
}

// number reads a number that may be unset, in which case it is 0.
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

// openTelegram builds the bot, if there is a token.
func (d *daemon) openTelegram(ctx context.Context) error {
	if d.config.Telegram.Token == "" {
		return nil
	}
	var err error
	d.bot, err = newBot(ctx, &d.config, instance.TelegramNotes{Store: d.store}, d.log)
	return err
}

// newBot builds the configured bot with its notes.
func newBot(ctx context.Context, c *config, notes telegram.Memory, log *slog.Logger) (*telegram.Channel, error) {
	t := &c.Telegram
	return telegram.New(ctx, telegram.Config{
		Token: string(t.Token), API: t.API, Unpaced: t.API != "", Memory: notes, Chat: t.Chat, Topic: t.Topic,
		Webhook: t.Webhook, Approvers: t.Approvers, Edits: c.edits(),
		Locale: platform.Locale{Texts: c.Texts, Lang: c.Lang, Zone: c.Zone}, Log: log,
	})
}

// pairing says how to pair, if nobody has paired yet.
func (d *daemon) pairing() string {
	if d.bot == nil || d.bot.Status().Paired {
		return ""
	}
	code, _ := d.bot.NewCode()
	return fmt.Sprintf("  telegram  send your bot: /start %s\n          (good once, for %d minutes; 'vaglio pair' prints another)\n",
		code, telegram.CodeLives/time.Minute)
}

// pair creates a pairing code.
func (d *daemon) pair() (owner.Pairing, error) {
	if d.bot == nil {
		return owner.Pairing{}, owner.ErrNoBot
	}
	code, until := d.bot.NewCode()
	return owner.Pairing{Code: code, Until: until, Bot: d.bot.Status().Bot}, nil
}

func newPair() *cobra.Command {
	return &cobra.Command{
		Use:   "pair",
		Short: "Print a code that pairs you with the daemon's Telegram bot",
		Long: `Print a code that pairs you with the running daemon's Telegram bot. It works once,
within 15 minutes, and voids the code before it.

Whoever sends it may decide from then on, in place of the person who paired before, and
cards go to the chat that it came from. METNOS_TELEGRAM_APPROVERS and
METNOS_TELEGRAM_CHAT keep their effect.

Exit codes: 0 printed, 1 no daemon or no bot, 2 a mistake in the command line or
in the configuration.`,
		Example: "  vaglio pair",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a owner.Pairing
			if err := askDaemon(cmd.Context(), http.MethodPost, "/pair", &a); err != nil {
				return err
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), pairingText(&a))
			return err
		},
	}
}

// pairingText says what to do with the code.
func pairingText(a *owner.Pairing) string {
	who, link := "your bot", ""
	if a.Bot != "" {
		who, link = "@"+a.Bot, "or open: https://t.me/"+a.Bot+"?start="+a.Code+"\n"
	}
	return fmt.Sprintf("Send %s: /start %s\n%sIt works once, until %s.\n", who, a.Code, link, terminal.Stamp(a.Until))
}
