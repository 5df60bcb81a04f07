package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kelseyhightower/envconfig"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/nearest"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/templates"
)

// minToken is the minimum length of a token that an operator chooses.
const minToken = 24

// prefix is the prefix of all our variables.
const prefix = "METNOS"

// config is the checked configuration from the environment.
type config struct {
	// Threshold is the minimum score in [0,1] by the rules.
	Threshold float64
	// Kind is the kind of the first judge.
	Kind string
	// Home is the user's home folder; the guard and the audit log need it.
	Home string
	// DataDir holds the store, the token of the agent default and the sockets.
	DataDir string
	// Listen is a loopback address with a port.
	Listen string
	// PublicURL is the inbox's address behind a proxy; may be empty.
	PublicURL string
	// Deadline is how long an approval waits for a person.
	Deadline time.Duration
	// DenialStands is how long a denial answers calls that would do the same.
	DenialStands time.Duration
	// Quiet are the hours in which people do not want to be disturbed.
	Quiet dispatcher.Quiet
	// Zone is the time zone of the people.
	Zone *time.Location
	// Digest is when the daily digest is sent; nil sends none.
	Digest *report.Hours
	// QuietDays says not to send a digest that has nothing to report.
	QuietDays bool
	// HistoryFor is how long the history keeps the contents of its leaves; 0 means forever.
	HistoryFor time.Duration
	// KeepValues is how long the values of calls that have ended are kept.
	KeepValues time.Duration
	// Policy is the path of the policy file; may be empty.
	Policy string
	// AgentToken is the token of the agent default if the operator chose it; empty if it is
	// generated at the first start.
	AgentToken datafolder.Secret
	// AgentSocket is the path of the agents' socket, and AgentGroup the ID of the group that may
	// connect to it; [datafolder.Owner] admits the owner alone.
	AgentSocket string
	AgentGroup  int
	// Remote is the listener for agents on other machines.
	Remote remoteConfig
	// Lang is the language of people who chose none, and Texts are the texts that people read.
	Lang  templates.Lang
	Texts *templates.Set
	// Telegram is the bot that asks people; off without a token.
	Telegram telegramConfig
	// Slack is the app that asks a team; off without a token.
	Slack slackConfig
}

// environment is the environment as envconfig reads it. All fields are texts, so that reading never
// fails and all mistakes can be reported at once. The variables' names come from the fields, the
// help from the tags.
type environment struct {
	JudgeThreshold   text `split_words:"true" default:"0.30" desc:"the score in [0,1] that a call needs to pass the rules"`
	JudgeKind        text `split_words:"true" default:"rule-based-v1" desc:"the first judge: rule-based-v1, or llm-v1, which asks a model from the policy file (docs/judges.md)"`
	DataDir          text `split_words:"true" desc:"folder for the store, the token of the agent default and the sockets (~/.local/share/metnos); the audit log's place is not configurable"`
	Listen           text `split_words:"true" default:"127.0.0.1:8787" desc:"loopback address and port of the API and the inbox; to serve other machines, put a reverse proxy with TLS in front"`
	PublicURL        text `split_words:"true" desc:"address of the inbox behind a proxy, such as https://vaglio.example.org"`
	DenialStands     text `split_words:"true" default:"10m" desc:"how long a denial also answers later calls that would do the same, between 1m and 24h"`
	ApprovalDeadline text `split_words:"true" default:"30m" desc:"how long a call waits for a person, between 1m and 24h"`
	Quiet            text `desc:"hours in which cards arrive silently and nobody is reminded, such as 22:00-07:00; deadlines keep running"`
	DigestAt         text `split_words:"true" default:"08:00" desc:"when the daily digest is sent, such as 08:00, or off (docs/digest.md)"`
	DigestEmpty      text `split_words:"true" default:"say" desc:"what to send on a day without vetoes: say sends one line, silent sends nothing, which looks the same as a fault"`
	HistoryDays      text `split_words:"true" default:"forever" desc:"days after which the history keeps only the hashes of what happened, such as 365, or forever (docs/history.md)"`
	KeepValues       text `split_words:"true" default:"30" desc:"days for which arguments and other values of finished calls are kept; after that only their hashes (docs/history.md)"`
	TZ               text `desc:"time zone of the people who are asked, such as Europe/Rome (the system's)"`
	Policy           text `split_words:"true" desc:"path of the policy file (YAML): executors with their schemas and scopes, where agents may work, and who may decide"`
	AgentToken       text `split_words:"true" desc:"token of the agent default, instead of one generated at the first start; for a hook or a proxy, the token of its agent (docs/agentnames.md)"`
	AgentTokenFile   text `split_words:"true" desc:"file that holds METNOS_AGENT_TOKEN"`
	AgentSocket      text `split_words:"true" desc:"path of the agents' socket, such as /run/vaglio/agent.sock (agent.sock in the data folder)"`
	TLSListen        text `split_words:"true" desc:"address and port for agents on other machines, such as 192.0.2.1:8443; needs METNOS_TLS_CERT, METNOS_TLS_KEY and METNOS_TLS_FROM (docs/agentnames.md)"`
	TLSCert          text `split_words:"true" desc:"file with the certificate chain (PEM) for METNOS_TLS_LISTEN"`
	TLSKey           text `split_words:"true" desc:"file with the certificate's key (PEM)"`
	TLSFrom          text `split_words:"true" desc:"addresses and networks that may connect to METNOS_TLS_LISTEN, such as 192.0.2.7,198.51.100.0/24"`
	AgentGroup       text `split_words:"true" desc:"group (name or number) whose users may connect to METNOS_AGENT_SOCKET as well as you"`

	Lang      text `default:"en" desc:"language of cards, pages and what commands say of a call, en or it; a Telegram chat can switch its own with /lang, the inbox follows the browser"`
	Templates text `desc:"folder with your own texts, in en.tmpl and it.tmpl (docs/texts.md)"`

	TelegramToken     text `split_words:"true" desc:"token of the Telegram bot that asks you; serve then prints how to pair with it (docs/telegram.md)"`
	TelegramTokenFile text `split_words:"true" desc:"file that holds METNOS_TELEGRAM_TOKEN"`
	TelegramChat      text `split_words:"true" desc:"number of the chat that gets the cards, if not the paired one"`
	TelegramTopic     text `split_words:"true" desc:"number of the forum topic in METNOS_TELEGRAM_CHAT"`
	TelegramWebhook   text `split_words:"true" desc:"public https address, ending in /telegram, to which Telegram delivers instead of being polled"`
	TelegramApprovers text `split_words:"true" desc:"numbers of the people who may decide in addition to the paired one, separated by commas"`

	SlackBotToken          text `split_words:"true" desc:"bot token (xoxb-…) of the Slack app that asks your team (docs/slack.md)"`
	SlackBotTokenFile      text `split_words:"true" desc:"file that holds METNOS_SLACK_BOT_TOKEN"`
	SlackAppToken          text `split_words:"true" desc:"app-level token (xapp-…) for Socket Mode, which needs no public address"`
	SlackAppTokenFile      text `split_words:"true" desc:"file that holds METNOS_SLACK_APP_TOKEN"`
	SlackSigningSecret     text `split_words:"true" desc:"signing secret, for HTTP instead of Socket Mode: Slack delivers to /slack/ behind your proxy"`
	SlackSigningSecretFile text `split_words:"true" desc:"file that holds METNOS_SLACK_SIGNING_SECRET"`
	SlackChannel           text `split_words:"true" desc:"id of the Slack channel that gets the cards, such as C0123456789"`
	SlackApprovers         text `split_words:"true" desc:"ids of the people (U…) and user groups (S…) who may decide on Slack, separated by commas"`
}

// text is a variable as envconfig sets it. Unset is not the same as empty.
type text struct {
	value string
	set   bool
}

func (t text) setting() datafolder.Setting { return datafolder.Setting{Value: t.value, Set: t.set} }

// Set sets the value; envconfig calls it with the variable or its default.
//
//nolint:unparam // The signature is envconfig's.
func (t *text) Set(v string) error {
	t.value, t.set = v, true
	return nil
}

// mistakes collects the mistakes in the configuration, one line each.
type mistakes struct{ errs []error }

func (m *mistakes) add(name, format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...)))
}

// configError means that nothing may start with the configuration.
type configError struct{ err error }

func (e *configError) Error() string { return e.err.Error() }

// Unwrap returns the joined mistakes.
func (e *configError) Unwrap() error { return e.err }

func (m *mistakes) err() error {
	if len(m.errs) == 0 {
		return nil
	}
	return &configError{errors.Join(m.errs...)}
}

// loadConfig reads and checks the whole environment. Its error is a [*configError] that lists all
// mistakes and never contains a secret.
func loadConfig() (config, error) {
	var e environment
	var m mistakes
	if err := envconfig.Process(prefix, &e); err != nil {
		return config{}, err
	}
	m.errs = append(m.errs, unknownNames(os.Environ(), knownNames())...)
	c := config{Home: m.home()}
	c.DataDir = m.folder(e.DataDir, c.Home)
	c.Threshold = m.threshold("METNOS_JUDGE_THRESHOLD", e.JudgeThreshold.value)
	c.Kind = m.kind("METNOS_JUDGE_KIND", e.JudgeKind.value)
	c.Listen = m.listen("METNOS_LISTEN", e.Listen.value)
	c.PublicURL = m.publicURL("METNOS_PUBLIC_URL", e.PublicURL)
	c.Deadline = m.deadline("METNOS_APPROVAL_DEADLINE", e.ApprovalDeadline.value)
	c.DenialStands = m.deadline("METNOS_DENIAL_STANDS", e.DenialStands.value)
	c.Zone = m.zone("METNOS_TZ", e.TZ)
	c.Quiet = m.quiet("METNOS_QUIET", e.Quiet, c.Zone)
	c.Digest = m.digest("METNOS_DIGEST_AT", e.DigestAt.value, c.Zone)
	c.QuietDays = m.quietDays("METNOS_DIGEST_EMPTY", e.DigestEmpty.value)
	c.HistoryFor = m.historyDays("METNOS_HISTORY_DAYS", e.HistoryDays.value)
	c.KeepValues = m.days("METNOS_KEEP_VALUES", e.KeepValues.value, "such as 30")
	if e.Policy.set && e.Policy.value == "" {
		m.add("METNOS_POLICY", "is set but empty; unset it, or give the path of a file")
	}
	c.Policy = e.Policy.value
	c.AgentToken = m.secret("METNOS_AGENT_TOKEN", e.AgentToken, e.AgentTokenFile)
	if n := len(c.AgentToken); n > 0 && n < minToken {
		m.add("METNOS_AGENT_TOKEN", "has %d characters; at least %d keep it from being guessed", n, minToken)
	}
	c.AgentSocket, c.AgentGroup = m.agentSocket(&e, &c)
	c.Remote = m.remote(&e)
	c.Lang, c.Texts = m.texts(&e)
	c.Telegram = m.telegram(&e)
	c.Slack = m.slack(&e)
	return c, m.err()
}

// chats returns which chats are on.
func (c *config) chats() policyfile.Chats {
	return policyfile.Chats{Telegram: c.Telegram.Token != "", Slack: c.Slack.on(), SlackChannel: c.Slack.Channel}
}

// edits returns the function that makes the inbox address at which to edit a call of a card in a
// chat; nil if phones cannot reach the inbox.
func (c *config) edits() func(approval.AskID, approval.ID) string {
	if !strings.HasPrefix(c.PublicURL, "https://") {
		return nil
	}
	return func(ask approval.AskID, id approval.ID) string { return web.EditAddress(c.PublicURL, ask, id) }
}

// loadDataDir reads the only setting that commands need which just talk to the daemon. The daemon
// reports mistakes in the others.
func loadDataDir() (string, error) {
	var e environment
	if err := envconfig.Process(prefix, &e); err != nil {
		return "", err
	}
	home, _ := os.UserHomeDir() // If it is needed but missing, Folder says so.
	dir, err := datafolder.Folder(e.DataDir.setting(), home)
	if err != nil {
		return "", &configError{err}
	}
	return dir, nil
}

func (m *mistakes) home() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		m.errs = append(m.errs, datafolder.ErrNoHome)
		return ""
	}
	return filepath.Clean(home)
}

// folder returns the data folder. A missing home folder has been reported already.
func (m *mistakes) folder(t text, home string) string {
	dir, err := datafolder.Folder(t.setting(), home)
	if err != nil && !errors.Is(err, datafolder.ErrNoHome) {
		m.errs = append(m.errs, err)
	}
	return dir
}

func (m *mistakes) threshold(name, value string) float64 {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 || strings.ContainsAny(value, "_xX") { // Go's spellings, which no person means
		m.add(name, "%q is not a number between 0 and 1, such as 0.30", value)
	}
	return f
}

func (m *mistakes) kind(name, value string) string {
	if !slices.Contains(kinds(), value) {
		m.add(name, "there is no judge %q; known: %s", value, strings.Join(kinds(), ", "))
	}
	return value
}

func (m *mistakes) listen(name, value string) string {
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		m.add(name, "%q is not an address and a port, such as 127.0.0.1:8787", value)
		return value
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		m.add(name, "port %q is not a number between 0 and 65535", port)
	}
	if !hosts.Loopback(host) {
		m.add(name, "%q can be reached from other machines, and tokens would travel in the clear; "+
			"listen on 127.0.0.1, put a reverse proxy with TLS in front, and name it in METNOS_PUBLIC_URL", value)
	}
	return value
}

func (m *mistakes) publicURL(name string, t text) string {
	if !t.set {
		return ""
	}
	u, err := url.Parse(t.value)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		m.add(name, "%q is not an address such as https://vaglio.example.org", t.value)
		return ""
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		m.add(name, "%q must be a host alone: the inbox is at /inbox below it", u.Redacted())
	case u.Scheme == "http" && !hosts.Loopback(u.Hostname()):
		m.add(name, "%q is not encrypted; sessions travel over it, so it must be https", t.value)
	}
	return u.Scheme + "://" + u.Host
}

func (m *mistakes) deadline(name, value string) time.Duration {
	const least, most = time.Minute, 24 * time.Hour
	d, err := time.ParseDuration(value)
	if err != nil {
		m.add(name, "%q is not a duration, such as 30m", value)
	} else if d < least || d > most {
		m.add(name, "%s is not between 1m and 24h", value)
	}
	return d
}

// knownNames returns the names of our variables.
func knownNames() []string {
	var b strings.Builder
	// The names come from the type alone, so this cannot fail at run time.
	if err := envconfig.Usagef(prefix, &environment{}, &b, "{{range .}}{{usage_key .}}\n{{end}}"); err != nil {
		return nil
	}
	return strings.Fields(b.String())
}

// writeVariables writes what each variable means, for a command's help.
func writeVariables(w io.Writer) error {
	return envconfig.Usagef(prefix, &environment{}, w,
		"{{range .}}  {{usage_key .}}\n        {{usage_description .}}{{with usage_default .}} (default {{.}}){{end}}\n{{end}}")
}

// unknownNames finds variables with our prefix that do not exist: probably a typo in a setting that
// somebody relies on.
func unknownNames(environ, known []string) []error {
	var errs []error
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix+"_") || slices.Contains(known, name) {
			continue
		}
		errs = append(errs, fmt.Errorf("%s: there is no such setting; did you mean %s?", name, nearest.Of(name, known)))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// secret reads a secret from its variable, or from the file that the variable with _FILE names.
func (m *mistakes) secret(name string, value, file text) datafolder.Secret {
	secret, err := datafolder.SecretOf(name, value.setting(), file.setting())
	if err != nil {
		m.errs = append(m.errs, err)
	}
	return secret
}

// agentSocket reads where agents connect, and who may.
func (m *mistakes) agentSocket(e *environment, c *config) (path string, group int) {
	path, group = c.path(datafolder.AgentSocket), datafolder.Owner
	if e.AgentSocket.set {
		if path = e.AgentSocket.value; !filepath.IsAbs(path) {
			m.add("METNOS_AGENT_SOCKET", "%q is not an absolute path", path)
		}
	}
	if !e.AgentGroup.set {
		return path, group
	}
	number := e.AgentGroup.value // A container has IDs without names.
	if g, err := user.LookupGroup(number); err == nil {
		number = g.Gid
	}
	gid, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		m.add("METNOS_AGENT_GROUP", "there is no group %q; give a group's name or number", e.AgentGroup.value)
		return path, group
	}
	group = int(gid)
	if !e.AgentSocket.set {
		m.add("METNOS_AGENT_GROUP", "needs METNOS_AGENT_SOCKET, in a folder that the group can enter: the data folder is yours alone")
	}
	return path, group
}

// environ returns the environment for programs that this one starts.
func environ() []string { return os.Environ() }
