package owner

import (
	"cmp"
	"errors"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// Link is a one-time link into the inbox.
type Link struct {
	Link string `json:"link"`
}

// Approvals is a list of calls.
type Approvals struct {
	Approvals []Account `json:"approvals"`
}

// Account is everything about one call that a person may see: what a card shows, without its
// buttons.
type Account struct {
	ID     approval.ID    `json:"id"`
	State  approval.State `json:"state"`
	Agent  string         `json:"agent"`
	TurnID string         `json:"turn_id"`
	Intent string         `json:"intent"`
	// Headline says what the call would do, worst first, and Consequence what follows from it,
	// both in the reader's language.
	Headline    string   `json:"headline,omitempty"`
	Consequence string   `json:"consequence,omitempty"`
	Executor    string   `json:"executor"`
	Command     string   `json:"command,omitempty"`
	Args        string   `json:"args"`
	Cwd         string   `json:"cwd,omitempty"`
	Mounts      []string `json:"mounts,omitempty"`
	// Obscured says which decision depends on a masked value, and where the call can be allowed.
	Obscured  string           `json:"obscured,omitempty"`
	Verdict   vaglio.Verdict   `json:"verdict"`
	Refusal   approval.Refusal `json:"refusal"`
	OpenedAt  time.Time        `json:"opened_at"`
	ExpiresAt time.Time        `json:"expires_at"`
	// ValuesDropped is when arguments and other values were dropped; those fields are then empty.
	ValuesDropped time.Time          `json:"values_dropped_at,omitzero"`
	Decision      *approval.Decision `json:"decision,omitempty"`
	Permit        *approval.Permit   `json:"permit,omitempty"`
	Outcome       *approval.Outcome  `json:"outcome,omitempty"`
	// Questions are the questions that people asked the agent about the ask, with its answers.
	Questions []approval.Question `json:"questions,omitempty"`
	// Because says why a call is asked about that its headline does not explain, Noticed what
	// each judge of the verdict noticed, and Instead what the agent is told to do instead, all
	// in the reader's language.
	Because string     `json:"because,omitempty"`
	Noticed [][]string `json:"noticed,omitempty"`
	Instead []string   `json:"instead,omitempty"`
	// Judgements are what the judge agents behind the verdict did.
	Judgements []vaglio.Judgement `json:"judgements,omitempty"`
}

// Problem is the daemon's answer when it fails.
type Problem struct {
	Error string `json:"error"`
}

// StateRefused is the state of a call that nobody was asked about.
const StateRefused approval.State = "refused"

// accounts returns one Account for each call of the card.
func accounts(c approval.Card, texts *templates.Texts) []Account {
	all := make([]Account, 0, len(c.Items))
	for i := range c.Items {
		it := &c.Items[i]
		id := it.Approval
		if it.State == "" {
			id = approval.ID(c.Ask)
		}
		one := Account{
			ID: id, State: cmp.Or(it.State, StateRefused),
			Agent: c.Agent, TurnID: c.TurnID, Intent: c.Intent,
			Headline: cardtext.Headline(texts, &it.Headline).String(), Consequence: cardtext.Consequence(texts, &it.Headline.Consequence),
			Executor: it.Executor, Command: it.Command, Args: it.Args, Cwd: it.Cwd, Mounts: it.Mounts,
			Obscured: cardtext.ObscuredLine(texts, it.Obscured),
			Verdict:  it.Verdict, Refusal: it.Refusal,
			OpenedAt: c.OpenedAt, ExpiresAt: c.ExpiresAt, ValuesDropped: it.ValuesDropped,
			Decision: it.Decision, Permit: it.Permit, Outcome: it.Outcome, Questions: c.Questions,
			Because: cardtext.Why(texts, it),
		}
		for j := range it.Verdict.Results {
			one.Noticed = append(one.Noticed, cardtext.Noticed(texts, &it.Verdict.Results[j]))
		}
		for _, instead := range it.Refusal.Alternatives {
			said, _ := texts.Told(instead)
			one.Instead = append(one.Instead, said)
		}
		all = append(all, one)
	}
	return all
}

// Sending lists the channels to which a digest was sent, and why it failed on the others.
type Sending struct {
	Channels []string  `json:"channels"`
	Failed   []Failure `json:"failed"`
}

// Failure says why something failed on a channel.
type Failure struct {
	Channel string `json:"channel"`
	Problem string `json:"problem"`
}

// Picture is a digest's picture.
type Picture struct {
	PNG []byte `json:"png"`
	// Alt describes the picture in words.
	Alt string `json:"alt"`
}

// Pairing is a new pairing code.
type Pairing struct {
	Code  string    `json:"code"`
	Until time.Time `json:"until"`
	// Bot is the bot's user name; empty until the platform has reported it.
	Bot string `json:"bot,omitempty"`
}

// Rotation counts what the new keys invalidated.
type Rotation struct {
	Sessions int `json:"sessions"`
	Permits  int `json:"permits"`
}

// Checkpoint is a signed checkpoint of the current history.
type Checkpoint struct {
	Checkpoint string `json:"checkpoint"`
}

// ErrNoBot means that the daemon was started without a bot.
var ErrNoBot = errors.New("the daemon has no Telegram bot: start it with METNOS_TELEGRAM_TOKEN or METNOS_TELEGRAM_TOKEN_FILE")
