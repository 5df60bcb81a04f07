// Package hookmain is the shared program of `vaglio hook` and vaglio-hook: it finds the daemon
// and answers one event. It starts with every tool call of an agent, so it links nothing of
// the engine.
package hookmain

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/internal/datafolder"
)

// usage is the exit code for a mistake in the command line. The clients take it for a denial.
const usage = 2

// Stdio holds the program's standard streams.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Lookup looks up an environment variable.
type Lookup func(name string) (value string, set bool)

// Variables looks up variables in an environment as os.Environ returns it. The last one wins.
func Variables(environ []string) Lookup {
	return func(name string) (value string, set bool) {
		for _, v := range slices.Backward(environ) {
			if value, set = strings.CutPrefix(v, name+"="); set {
				return value, true
			}
		}
		return "", false
	}
}

// Main runs vaglio-hook with its arguments and returns the exit code.
func Main(ctx context.Context, args []string, env Lookup, std Stdio) int {
	var s Settings
	set := flag.NewFlagSet("vaglio-hook", flag.ContinueOnError)
	set.SetOutput(std.Err)
	set.Usage = func() {
		_, _ = fmt.Fprintln(std.Err, "usage: vaglio-hook <client> [--limit 1h] [--agent name [--data folder]] [--approve-allows] [--shadow]")
	}
	set.DurationVar(&s.Limit, "limit", 0, "")
	set.BoolVar(&s.ApproveAllows, "approve-allows", false, "")
	set.StringVar(&s.To.Agent, "agent", "", "")
	set.StringVar(&s.To.Data, "data", "", "")
	set.BoolVar(&s.Shadow, "shadow", false, "")
	if len(args) == 0 || !slices.Contains(hook.Clients(), args[0]) {
		return mistake(std, "the first argument must be a client with a hook: "+strings.Join(hook.Clients(), ", "))
	}
	s.Client = args[0]
	if err := set.Parse(args[1:]); err != nil {
		return usage // package flag has printed it
	}
	if set.NArg() > 0 {
		return mistake(std, fmt.Sprintf("unexpected argument %q", set.Arg(0)))
	}
	set.Visit(func(f *flag.Flag) { s.LimitSet = s.LimitSet || f.Name == "limit" })
	code, err := Answer(ctx, s, env, std)
	if err != nil {
		return mistake(std, err.Error())
	}
	return code
}

func mistake(std Stdio, text string) int {
	_, _ = fmt.Fprintln(std.Err, "vaglio: "+text)
	return usage
}

// Settings are the options of the command line.
type Settings struct {
	Client        string
	Limit         time.Duration
	LimitSet      bool
	ApproveAllows bool
	// Shadow only records calls and passes them, without asking anybody.
	Shadow bool
	// To is the daemon to ask.
	To Reach
}

// Reach says which daemon to ask, and as whom.
type Reach struct {
	// Agent is the name under which `vaglio install` stored a token, "" for none.
	Agent string
	// Data is the data folder of the daemon that `vaglio install` wrote the hook for, "" if the
	// environment says which daemon to ask.
	Data string
	// Far returns a client of a daemon at a network address, for the agent that holds the token;
	// nil means the socket.
	Far func(token string) (*client.Client, error)
}

// Answer answers one event. A mistake in the configuration becomes a denial in the client's
// own form, because most clients run the tool when a hook fails.
func Answer(ctx context.Context, s Settings, env Lookup, std Stdio) (code int, err error) {
	if s.Shadow {
		return shadow(ctx, s, env, std)
	}
	gate, notes := open(s, env)
	if notes != "" {
		seen(filepath.Join(filepath.Dir(notes), SeenFolder, s.Client))
	}
	return hook.Run(ctx, hook.Options{
		Client: s.Client, Gate: gate, In: std.In, Out: std.Out, Err: std.Err, Limit: s.Limit,
		ApproveAllows: s.ApproveAllows, Notes: notes,
		Getenv: getenv(env),
	})
}

// shadow records one event. If the data folder cannot be determined, it records nothing.
func shadow(ctx context.Context, s Settings, env Lookup, std Stdio) (code int, err error) {
	to := os.DevNull // no folder can be made below it
	if dir, err := Folder(env); err == nil {
		to = filepath.Join(dir, ShadowFolder)
	}
	return hook.Run(ctx, hook.Options{
		Client: s.Client, In: std.In, Out: std.Out, Err: std.Err, Limit: s.Limit, Shadow: to, Getenv: getenv(env),
	})
}

func getenv(env Lookup) func(string) string {
	return func(name string) string {
		value, _ := env(name)
		return value
	}
}

func open(s Settings, env Lookup) (gate ask.Gate, notes string) {
	if s.LimitSet && s.Limit <= 0 {
		return shut{errors.New("vaglio is not set up right: --limit must be more than 0, such as 1h")}, ""
	}
	c, dir, err := Connect(env, s.To)
	if err != nil {
		return shut{fmt.Errorf("vaglio is not set up right: %w", err)}, ""
	}
	return c, filepath.Join(dir, notesFolder)
}

// Connect returns a client of the daemon, and the data folder. The environment's socket wins
// over to.Far; the token is that of the environment, else that of to.Agent. Connect opens no
// connection yet.
func Connect(env Lookup, to Reach) (c *client.Client, dir string, err error) {
	env = to.within(env)
	if dir, err = Folder(env); err != nil {
		return nil, "", err
	}
	token, err := TokenOf(dir, to.Agent, env)
	if err != nil {
		return nil, "", err
	}
	if _, here := env(SocketVariable); to.Far != nil && !here {
		c, err = to.Far(string(token))
		return c, dir, err
	}
	socket, err := socketOf(dir, env)
	if err != nil {
		return nil, "", err
	}
	return client.Unix(socket, string(token)), dir, nil
}

// What the hook writes below the data folder.
const (
	// notesFolder holds notes about calls that run and have not reported how they ended.
	notesFolder = "runs"
	// SeenFolder holds one file per client, whose modification time is that of its last event.
	SeenFolder = "clients"
	// ShadowFolder holds the calls that were only recorded, one file per day.
	ShadowFolder = "shadow"
)

// seen notes that the client was heard from. If the data folder does not exist, no daemon ever
// ran, and there is nothing to note.
func seen(file string) {
	now := time.Now()
	if os.Chtimes(file, now, now) == nil {
		return
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(file))); err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		_ = os.WriteFile(file, nil, 0o600)
	}
}

// Folder returns the daemon's data folder.
func Folder(env Lookup) (string, error) {
	home, _ := env("HOME")
	return datafolder.Folder(setting(env, datafolder.FolderVariable), home)
}

func setting(env Lookup, name string) datafolder.Setting {
	value, set := env(name)
	return datafolder.Setting{Value: value, Set: set}
}

// shut is a gate that lets nothing through, and says why.
type shut struct{ why error }

// Propose refuses.
func (s shut) Propose(context.Context, client.Request) (client.Answer, error) {
	return client.Answer{}, s.why
}

// Await refuses.
func (s shut) Await(context.Context, client.ID, time.Duration) (client.Answer, error) {
	return client.Answer{}, s.why
}

// Withdraw refuses.
func (s shut) Withdraw(context.Context, client.ID) (client.Answer, error) {
	return client.Answer{}, s.why
}

// Redeem refuses.
func (s shut) Redeem(context.Context, string, client.Proposal) error { return s.why }

// Report refuses.
func (s shut) Report(context.Context, client.ID, client.Outcome) error { return s.why }
