package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/instance"
)

// slackPath is the path, with everything below it, to which the platform delivers.
const slackPath = "/slack"

// slackConfig is the configuration of the app.
type slackConfig struct {
	BotToken, AppToken, SigningSecret datafolder.Secret
	// API is the Web API's address; empty means Slack's own.
	API       string
	Channel   string
	Approvers []string
	// Others are further channels, those that the policy's routes name.
	Others []string
}

// on reports whether the app is configured.
func (c *slackConfig) on() bool { return c.BotToken != "" }

// slack reads the app's settings.
func (m *mistakes) slack(e *environment) slackConfig {
	c := slackConfig{
		BotToken:      m.secret("METNOS_SLACK_BOT_TOKEN", e.SlackBotToken, e.SlackBotTokenFile),
		AppToken:      m.secret("METNOS_SLACK_APP_TOKEN", e.SlackAppToken, e.SlackAppTokenFile),
		SigningSecret: m.secret("METNOS_SLACK_SIGNING_SECRET", e.SlackSigningSecret, e.SlackSigningSecretFile),
		Channel:       e.SlackChannel.value,
	}
	if e.SlackApprovers.set {
		for one := range strings.SplitSeq(e.SlackApprovers.value, ",") {
			c.Approvers = append(c.Approvers, strings.TrimSpace(one))
		}
	}
	if !c.on() {
		set := e.SlackAppToken.set || e.SlackAppTokenFile.set || e.SlackSigningSecret.set || e.SlackSigningSecretFile.set
		if set || e.SlackChannel.set || e.SlackApprovers.set {
			m.add("METNOS_SLACK_BOT_TOKEN", "is not set, and other settings of Slack are; docs/slack.md says where it comes from")
		}
		return c
	}
	m.slackApp(&c)
	return c
}

// slackApp checks the settings of an app that is on.
func (m *mistakes) slackApp(c *slackConfig) {
	joined, _ := c.check().(interface{ Unwrap() []error })
	if joined == nil {
		return
	}
	for _, err := range joined.Unwrap() {
		for name, mistake := range map[string]error{
			"METNOS_SLACK_BOT_TOKEN": slack.ErrBotToken, "METNOS_SLACK_APP_TOKEN": slack.ErrAppToken, "METNOS_SLACK_SIGNING_SECRET": slack.ErrSigningSecret,
			"METNOS_SLACK_CHANNEL": slack.ErrChannel, "METNOS_SLACK_APPROVERS": slack.ErrApprover,
		} {
			if errors.Is(err, mistake) {
				m.add(name, "%w", err)
			}
		}
		if errors.Is(err, slack.ErrMode) {
			m.add("METNOS_SLACK_APP_TOKEN", "set it for Socket Mode, or METNOS_SLACK_SIGNING_SECRET for HTTP, and not both")
		}
	}
}

// check returns what is wrong with the settings.
func (c *slackConfig) check() error {
	s := slack.Config{
		BotToken: string(c.BotToken), AppToken: string(c.AppToken), SigningSecret: string(c.SigningSecret), Channel: c.Channel, Approvers: c.Approvers,
	}
	return s.Check()
}

// slackAPI checks the address of another Web API server.
func slackAPI(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" {
		return &configError{fmt.Errorf("--slack-api: %q is not an address such as https://slack.com/api", address)}
	}
	return nil
}

// openSlack builds the Slack app, if there is a token.
func (d *daemon) openSlack(ctx context.Context) (err error) {
	if d.config.Slack.on() {
		d.slack, err = newSlack(ctx, &d.config, instance.SlackNotes{Store: d.store}, d.log)
	}
	return err
}

// newSlack builds the Slack app.
func newSlack(ctx context.Context, conf *config, notes slack.Memory, log *slog.Logger) (*slack.Channel, error) {
	c := &conf.Slack
	if len(c.Approvers) == 0 {
		return nil, &configError{errors.New("METNOS_SLACK_APPROVERS: nobody may decide on Slack; name people (U…) or user groups (S…), with commas between")}
	}
	app, err := slack.New(ctx, slack.Config{
		BotToken: string(c.BotToken), AppToken: string(c.AppToken), SigningSecret: string(c.SigningSecret), API: c.API,
		Channel: c.Channel, Others: c.Others, Approvers: c.Approvers, Memory: notes, Edits: conf.edits(),
		Locale: platform.Locale{Texts: conf.Texts, Lang: conf.Lang, Zone: conf.Zone}, Log: log,
	})
	if errors.Is(err, slack.ErrApprover) {
		// Those from the environment have been checked, so this one is from the policy.
		return nil, &configError{fmt.Errorf("METNOS_POLICY: approval: %w", err)}
	}
	return app, err
}

// slackFront returns the handler of the platform's requests; nil if it delivers over a socket.
func (d *daemon) slackFront() http.Handler {
	if d.slack == nil || d.config.Slack.SigningSecret == "" {
		return nil
	}
	return d.slack.Handler()
}

// isSlackPath reports whether the platform delivers to the path.
func isSlackPath(path string) bool {
	return path == slackPath || strings.HasPrefix(path, slackPath+"/")
}
