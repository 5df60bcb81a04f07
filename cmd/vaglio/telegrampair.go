package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// pairAnswer is a fresh pairing code.
type pairAnswer struct {
	Code  string    `json:"code"`
	Until time.Time `json:"until"`
	// Bot is the bot's user name; empty until the platform told it.
	Bot string `json:"bot,omitempty"`
}

var errNoBot = errors.New("the daemon has no Telegram bot: start it with METNOS_TELEGRAM_TOKEN or METNOS_TELEGRAM_TOKEN_FILE")

// pair makes a pairing code.
func (d *daemon) pair() (pairAnswer, error) {
	if d.bot == nil {
		return pairAnswer{}, errNoBot
	}
	code, until := d.bot.NewCode()
	return pairAnswer{code, until, d.bot.Status().Bot}, nil
}

func newPair() *cobra.Command {
	return &cobra.Command{
		Use:   "pair",
		Short: "Print a code that pairs you with the daemon's Telegram bot",
		Long: `Print a code that pairs you with the running daemon's Telegram bot. It is good
once, for a quarter of an hour, and voids the code before it.

Whoever sends it may decide from then on, in place of the one who paired before,
and the chat that it came from is the one that cards go to. The people of
METNOS_TELEGRAM_APPROVERS and the chat of METNOS_TELEGRAM_CHAT stay what they
are.

Exit codes: 0 printed, 1 no daemon or no bot, 2 a mistake in the command line or
in the configuration.`,
		Example: "  vaglio pair",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var a pairAnswer
			if err := askDaemon(cmd.Context(), http.MethodPost, "/pair", &a); err != nil {
				return err
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), a.text())
			return err
		},
	}
}

// text tells what to do with the code.
func (a *pairAnswer) text() string {
	who, link := "your bot", ""
	if a.Bot != "" {
		who, link = "@"+a.Bot, "or open: https://t.me/"+a.Bot+"?start="+a.Code+"\n"
	}
	return fmt.Sprintf("Send %s: /start %s\n%sGood once, until %s.\n", who, a.Code, link, stamp(a.Until))
}
