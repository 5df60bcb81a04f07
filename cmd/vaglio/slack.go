package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
)

// slackRecord is what the app keeps of itself.
const slackRecord = "slack"

// slackPath is where the platform's deliveries are taken, and below it.
const slackPath = "/slack"

// slackConfig is what the environment says of the app.
type slackConfig struct {
	BotToken, AppToken, SigningSecret secret
	// API is the Web API's address; empty means Slack's own.
	API       string
	Channel   string
	Approvers []string
	// Others are further channels, which the policy's routes name.
	Others []string
}

// on reports whether the app is to be served.
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
	err := c.check()
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

// check returns what is wrong with the settings.
func (c *slackConfig) check() error {
	s := slack.Config{
		BotToken: string(c.BotToken), AppToken: string(c.AppToken), SigningSecret: string(c.SigningSecret), Channel: c.Channel, Approvers: c.Approvers,
	}
	return s.Check()
}

// slackAPI checks the address of another Web API.
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

// team builds the Slack app, if there is a token.
func (d *daemon) team(ctx context.Context) (err error) {
	if d.config.Slack.on() {
		d.slack, err = newTeam(ctx, &d.config, slackMemory{d.store}, d.log)
	}
	return err
}

// newTeam builds the Slack app.
func newTeam(ctx context.Context, conf *config, notes slack.Memory, log *slog.Logger) (*slack.Channel, error) {
	c := &conf.Slack
	if len(c.Approvers) == 0 {
		return nil, &configError{errors.New("METNOS_SLACK_APPROVERS: nobody may decide on Slack; name people (U…) or user groups (S…), with commas between")}
	}
	app, err := slack.New(ctx, slack.Config{
		BotToken: string(c.BotToken), AppToken: string(c.AppToken), SigningSecret: string(c.SigningSecret), API: c.API,
		Channel: c.Channel, Others: c.Others, Approvers: c.Approvers, Memory: notes,
		Texts: conf.Texts, Lang: conf.Lang, Zone: conf.Zone, Log: log,
	})
	if errors.Is(err, slack.ErrApprover) {
		// Those of the environment were checked; this one is the policy's.
		return nil, &configError{fmt.Errorf("METNOS_POLICY: approval: %w", err)}
	}
	return app, err
}

// slackFront takes the platform's requests; nil when it delivers over sockets.
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

// slackIDs returns the people who decide on Slack by a route.
func slackIDs(r *approval.Routing) []string {
	var ids []string
	add := func(all []string) {
		for _, id := range all {
			if one, ok := strings.CutPrefix(id, slack.Name+":"); ok && !slices.Contains(ids, one) {
				ids = append(ids, one)
			}
		}
	}
	for i := range r.Members {
		add(r.Members[i].IDs)
	}
	for i := range r.Routes {
		add(r.Routes[i].Approvers)
		add(r.Routes[i].Groups)
	}
	return ids
}

// slackMemory keeps the app's notes in the store.
type slackMemory struct{ store dispatcher.Store }

// slackBody is the record of the app's notes.
type slackBody struct {
	Version int         `json:"v"`
	Notes   slack.Notes `json:"notes"`
}

// Load returns the notes.
func (m slackMemory) Load(ctx context.Context) (slack.Notes, error) {
	r, err := m.store.Get(ctx, approval.KindMeta, slackRecord)
	if errors.Is(err, approval.ErrNotFound) {
		return slack.Notes{}, nil
	}
	if err != nil {
		return slack.Notes{}, err
	}
	var body slackBody
	if err := strictjson.Unmarshal(r.Body, &body); err != nil {
		return slack.Notes{}, err
	}
	if body.Version != 1 {
		return slack.Notes{}, errors.New("the record is from a newer vaglio")
	}
	return body.Notes, nil
}

// Save stores the notes.
func (m slackMemory) Save(ctx context.Context, n slack.Notes) error {
	body, err := strictjson.Marshal(slackBody{1, n})
	if err != nil {
		return err
	}
	_, err = m.store.Update(ctx, approval.KindMeta, slackRecord, func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = slackRecord, body
		return r, nil
	})
	return err
}
