// Package hookmain is what `vaglio hook` and the small program vaglio-hook run: it
// finds the daemon's socket and answers one event. Every tool call of an agent
// starts it, so it links nothing of the engine.
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

// usage is the exit code of a mistake in the command line, which the clients take
// for a denial.
const usage = 2

// Stdio is what the program reads and writes.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Lookup finds a variable of the environment.
type Lookup func(name string) (value string, set bool)

// Variables looks variables up among those of a process, as os.Environ gives them.
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

// Main runs vaglio-hook with its arguments and returns its exit code.
func Main(ctx context.Context, args []string, env Lookup, std Stdio) int {
	var s Settings
	set := flag.NewFlagSet("vaglio-hook", flag.ContinueOnError)
	set.SetOutput(std.Err)
	set.Usage = func() {
		_, _ = fmt.Fprintln(std.Err, "usage: vaglio-hook <client> [--limit 1h] [--agent name] [--approve-allows] [--shadow]")
	}
	set.DurationVar(&s.Limit, "limit", 0, "")
	set.BoolVar(&s.ApproveAllows, "approve-allows", false, "")
	set.StringVar(&s.To.Agent, "agent", "", "")
	set.BoolVar(&s.Shadow, "shadow", false, "")
	if len(args) == 0 || !slices.Contains(hook.Clients(), args[0]) {
		return mistake(std, "the first argument must be a client that there is a hook for: "+strings.Join(hook.Clients(), ", "))
	}
	s.Client = args[0]
	if err := set.Parse(args[1:]); err != nil {
		return usage // the library has said it
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

// Settings are what the command line says.
type Settings struct {
	Client        string
	Limit         time.Duration
	LimitSet      bool
	ApproveAllows bool
	// Shadow has calls written down and passed, with nobody asked.
	Shadow bool
	// To is the daemon that is asked.
	To Reach
}

// Reach says which daemon is asked, and as whom.
type Reach struct {
	// Agent is the name under which `vaglio install` kept a token, "" for none.
	Agent string
	// Far makes the client of a daemon at an address, for the agent that holds the
	// token; nil asks over the socket.
	Far func(token string) (*client.Client, error)
}

// Answer answers one event. A mistake in the configuration is a denial in the
// client's own words, because most clients run the tool when a hook fails.
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

// shadow watches one event. Where the data folder cannot be told, nothing is written
// down.
func shadow(ctx context.Context, s Settings, env Lookup, std Stdio) (code int, err error) {
	to := os.DevNull // a folder in which nothing can be made
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

// Connect returns the client of the daemon that the environment says, or else that the
// caller means, as the agent that they say, and the data folder. It speaks to nobody
// yet.
func Connect(env Lookup, to Reach) (c *client.Client, dir string, err error) {
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
	// notesFolder holds what runs and has not told how it ended.
	notesFolder = "runs"
	// SeenFolder holds a file for each client, which is as old as its last event.
	SeenFolder = "clients"
	// ShadowFolder holds the calls that were only watched, a file a day.
	ShadowFolder = "shadow"
)

// seen notes that the client was heard of. Where the folder is not there, no daemon
// ever was, and there is nothing to note.
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

// Folder is the daemon's data folder.
func Folder(env Lookup) (string, error) {
	home, _ := env("HOME")
	return datafolder.Folder(setting(env, datafolder.FolderVariable), home)
}

func setting(env Lookup, name string) datafolder.Setting {
	value, set := env(name)
	return datafolder.Setting{Value: value, Set: set}
}

// shut is the gate that lets nothing through, and says why.
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
