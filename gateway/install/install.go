// Package install writes vaglio's hook into the settings of coding agents, and removes it. It
// changes only what it must in a file and preserves every other byte: comments, order, other
// hooks, as well as the file's mode and links to it.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/internal/regular"
)

// Scope says for whom a hook is installed.
type Scope string

// The scopes of an installation.
const (
	User    Scope = "user"
	Project Scope = "project"
	// Managed is for every user of the machine. Users' own settings cannot switch it off, and
	// writing it takes root.
	Managed Scope = "managed"
)

// Options say what to install, and where.
type Options struct {
	// Client is one of [Clients].
	Client string
	Scope  Scope
	// Home is the user's home folder, Project the folder of the project.
	Home, Project string
	// Program is the absolute path of vaglio-hook, or of vaglio; in the latter case Args starts
	// with "hook".
	Program string
	Args    []string
	// Limit is how long the client should wait for its hook; 0 means the client's usual limit.
	// It is written both for the client and for the hook.
	Limit time.Duration
	// ApproveAllows is [hook.Options.ApproveAllows].
	ApproveAllows bool
	// Agent is the name under which the client's calls are proposed, "" for none.
	Agent string
	// Data is the data folder of the daemon to ask as Agent, whatever the hook's environment says;
	// "" leaves that to the environment.
	Data string
	// Shadow makes the hook only watch: every call passes.
	Shadow bool
	// At is the address of a daemon on another machine, and CA the absolute path of its
	// authority's certificate, "" for the system's authorities.
	At, CA string
}

// Change is a file as it is and as it should become; nil means that the file does not exist.
type Change struct {
	Path          string
	Before, After []byte
	// Mode is the mode for a new file.
	Mode fs.FileMode
	// bare is the current file without the hook.
	bare []byte
	// root is the folder below which a removed file leaves no empty folder; "" is for none.
	root string
}

// Changes reports whether the file would change.
func (c *Change) Changes() bool {
	return (c.Before == nil) != (c.After == nil) || !bytes.Equal(c.Before, c.After)
}

// NoInstallError means that the client's hook must be installed by hand.
type NoInstallError struct{ Client string }

func (e *NoInstallError) Error() string {
	return fmt.Sprintf("%s has no settings that vaglio can write; docs/agents.md says how its hook is set up by hand", e.Client)
}

// Clients returns the clients for which a hook can be installed, sorted.
func Clients() []string {
	var names []string
	for name := range targets() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Add plans the installation. It leaves a file alone that it cannot parse: the error says where
// the mistake is.
func Add(o Options) ([]Change, error) {
	if closed := closedTo(o.Program); o.Scope == Managed && closed != "" {
		return nil, fmt.Errorf("the hook is for every user, and %s is closed to others: put vaglio where all may run it, such as /usr/local/bin", closed)
	}
	return plan(o, true)
}

// Remove plans to remove the hook. A file that nobody changed since the installation is
// restored to its former bytes.
func Remove(o Options) ([]Change, error) { return plan(o, false) }

func plan(o Options, add bool) ([]Change, error) {
	t, err := o.target()
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, f := range t.files {
		path, err := o.path(f)
		if err != nil {
			return nil, err
		}
		c := Change{Path: path, Mode: f.mode, root: o.root()}
		if o.Scope == Managed {
			c.Mode |= shared
		}
		if c.Before, err = readFile(path); err != nil {
			return nil, err
		}
		if add {
			c.After, err = f.form.add(c.Before, o)
			if err == nil && c.Before != nil {
				c.bare, err = f.form.remove(c.Before, o)
			}
		} else {
			c.After, err = undo(path, c.Before, f.form, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// closedTo returns the first of program and the folders above it that other users may not
// execute or enter, "" if there is none. If program is a link, it checks the target's path too.
// Most clients run a tool when its hook cannot be started.
func closedTo(program string) string {
	const others = 0o001
	paths := []string{program}
	if to, err := filepath.EvalSymlinks(program); err == nil {
		paths = append(paths, to)
	}
	for _, p := range paths {
		for above := ""; p != above; above, p = p, filepath.Dir(p) {
			if info, err := os.Stat(p); err == nil && info.Mode()&others == 0 {
				return p
			}
		}
	}
	return ""
}

func (o *Options) target() (target, error) {
	t, ok := targets()[o.Client]
	switch {
	case !ok && slices.Contains(hook.Clients(), o.Client):
		return t, &NoInstallError{o.Client}
	case !ok:
		return t, fmt.Errorf("%q is not a client that a hook can be installed for; known: %s", o.Client, strings.Join(Clients(), ", "))
	case !filepath.IsAbs(o.Program):
		return t, errors.New("the hook must be installed with an absolute path")
	case strings.ContainsAny(o.At+o.CA, " \t\r\n\"',\\"):
		return t, errors.New("the address and the path of the certificate must be without blanks, quotes and commas")
	case o.Limit < 0 || o.Limit > 0 && o.Limit < time.Second:
		return t, errors.New("the limit must be a second or more, such as 1h")
	}
	return t, nil
}

// root returns the folder to which the paths of a scope's files are relative, "" for none.
func (o *Options) root() string {
	switch o.Scope {
	case User:
		return o.Home
	case Project:
		return o.Project
	default:
		return ""
	}
}

func (o *Options) path(f file) (string, error) {
	switch {
	case o.Scope == User && f.user != "" && filepath.IsAbs(o.Home):
		return filepath.Join(o.Home, f.user), nil
	case o.Scope == Project && f.project != "" && filepath.IsAbs(o.Project):
		return filepath.Join(o.Project, f.project), nil
	case o.Scope == Managed && f.managed != "":
		return f.managed, nil
	}
	if f.user == "" {
		return "", fmt.Errorf("%s has no settings for the scope %q; install it with --project, in the project's folder", o.Client, o.Scope)
	}
	return "", fmt.Errorf("%s has no settings for the scope %q", o.Client, o.Scope)
}

// limit returns how long the client is told to wait.
func (o *Options) limit() time.Duration {
	return hook.LimitWithin(o.Client, o.Limit)
}

// shadowFlag makes a hook only watch.
const shadowFlag = "--shadow"

// argv returns the command of the hook.
func (o *Options) argv() []string {
	argv := append([]string{o.Program}, o.Args...)
	argv = append(argv, o.Client, "--limit", o.limit().String())
	if o.ApproveAllows {
		argv = append(argv, "--approve-allows")
	}
	argv = append(argv, o.reach()...)
	if o.Shadow {
		argv = append(argv, shadowFlag)
	}
	return argv
}

// reach returns the flags that say which daemon to ask, and as whom.
func (o *Options) reach() (flags []string) {
	if o.Agent != "" {
		flags = append(flags, "--agent", o.Agent)
		if o.Data != "" {
			flags = append(flags, "--data", o.Data)
		}
	}
	if o.At != "" {
		flags = append(flags, "--at", o.At)
	}
	if o.CA != "" {
		flags = append(flags, "--ca", o.CA)
	}
	return flags
}

// shellLine returns the command quoted for a shell.
func (o *Options) shellLine() string {
	words := o.argv()
	for i, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+:@%", r)
		}) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// readFile returns a file's content, nil if the file does not exist.
func readFile(path string) ([]byte, error) {
	data, whole, err := regular.Read(path, maxSettings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err //nolint:wrapcheck // It names the file.
	case !whole:
		return nil, fmt.Errorf("%s is larger than %d bytes, and was left alone", path, maxSettings)
	case data == nil:
		data = []byte{}
	}
	return data, nil
}
