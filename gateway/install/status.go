package install

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/regular"
)

// Limits are the settings that a hook's command carries. Client is how long the client waits for
// its hook by its own settings, and Hook how long the hook believes that it does; 0 means not
// written. Hook must not exceed Client.
type Limits struct {
	Client, Hook time.Duration
	// Shadow says that the hook only watches.
	Shadow bool
	// Agent, Data, At and CA are those of [Options]; of Data, no more than its first word.
	Agent, Data, At, CA string
	// Unasked names the client's events that should ask and lack the hook, because an older
	// vaglio installed it.
	Unasked string
}

// Agree reports whether the hook answers before the client stops waiting.
func (l Limits) Agree() bool { return l.Shadow || l.Client == 0 || l.Hook > 0 && l.Hook <= l.Client }

// Unbound reports whether the environment, which files of a project may set, can send a hook with a
// name to another daemon: an older vaglio installed it.
func (l Limits) Unbound() bool { return l.Agent != "" && l.At == "" && l.Data == "" && !l.Shadow }

// State is the state of a client's hook in one scope.
type State struct {
	Path      string
	Installed bool
	Limits    Limits
	// Off names the switches that keep the hook from running, with the files they are in, which
	// may be any that the client reads.
	Off []string
	// Trusted says whether the client's user lets the hook run; empty if no file of the client
	// records that.
	Trusted Trust
}

// Trust says whether a client runs a hook that its user must allow.
type Trust string

// The values of Trust; the empty value means that the client runs every hook.
const (
	TrustGiven   Trust = "yes"
	TrustMissing Trust = "no"
	TrustUnknown Trust = "?"
)

// Look reads the state of the hook.
func Look(o Options) (State, error) {
	t, err := o.target()
	if err != nil {
		return State{}, err
	}
	s := State{Installed: true}
	for _, f := range t.files {
		path, err := o.path(f)
		if err != nil {
			return State{}, err
		}
		if s.Path == "" {
			s.Path = path
		}
		now, err := readFile(path)
		if err != nil {
			return State{}, err
		}
		found, limits, err := f.form.holds(now, o)
		if err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
		_, consent := f.form.(consented)
		switch {
		case consent:
			s.Trusted = TrustMissing
			if found {
				s.Trusted = TrustGiven
			}
		case !f.besides:
			s.note(found, limits)
		}
		s.Off = append(s.Off, o.switchedOff(f)...)
	}
	for _, f := range t.files {
		s.Off = append(s.Off, o.diverted(f, s.Limits)...)
	}
	slices.Sort(s.Off)
	return s, nil
}

// switchedOff returns the switches that keep the hook from running. A managed file overrides
// those of users and projects, so for the managed scope only the managed file counts.
func (o *Options) switchedOff(f file) (all []string) {
	for _, path := range o.places(f) {
		text, whole, err := regular.Read(path, maxSettings)
		if err != nil || !whole {
			continue
		}
		for name, re := range f.off {
			if re.Match(text) && (o.Scope != Managed || name != othersOff) {
				all = append(all, fmt.Sprintf("%s: %q", path, name))
			}
		}
	}
	return all
}

// diverted returns the variables of a project's settings that have the hook ask another daemon. A
// hook that names its own daemon heeds none of them but its agent's token.
func (o *Options) diverted(f file, l Limits) (all []string) {
	for _, path := range o.places(f) {
		text, whole, err := regular.Read(path, maxSettings)
		if err != nil || !whole || f.off == nil || !o.ofProject(path) {
			continue
		}
		for _, found := range diverts.FindAllSubmatch(text, -1) {
			if l.Data == "" && l.At == "" || string(found[1]) == "METNOS_AGENT_TOKEN" {
				all = append(all, fmt.Sprintf("%s: %q", path, found[1]))
				break
			}
		}
	}
	return all
}

// places returns the paths at which the client reads such a file, sorted.
func (o *Options) places(f file) []string {
	if o.Scope == Managed {
		return []string{f.managed}
	}
	all := f.everywhere(o.Home)
	for _, name := range append([]string{f.project}, f.also...) {
		if name != "" && !filepath.IsAbs(name) {
			all = append(all, filepath.Join(o.Project, name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// diverts matches a variable in a client's settings that has its hook ask another daemon.
var diverts = regexp.MustCompile(`"(METNOS_[A-Z_]+)"\s*:`)

// ofProject reports whether a settings file is the project's, which may be somebody else's work.
func (o *Options) ofProject(path string) bool {
	return o.Project != o.Home && strings.HasPrefix(path, strings.TrimRight(o.Project, "/")+"/")
}

// note records what one of the client's files says.
func (s *State) note(found bool, l Limits) {
	s.Installed = s.Installed && found
	if l != (Limits{}) {
		s.Limits = l
	}
}

// flagIn returns the value of a flag in a hook's command, which may be a shell line or a list
// of words.
func flagIn(command, flag string) string {
	m := regexp.MustCompile(flag + `[ "',=]+([^ "',\r\n\\]+)`).FindStringSubmatch(command)
	if m == nil {
		return ""
	}
	return m[1]
}

// limitsIn parses the limits from a hook's command.
func limitsIn(command string, client time.Duration) Limits {
	l := Limits{
		Client: client, Shadow: strings.Contains(command, shadowFlag),
		Agent: flagIn(command, "--agent"), Data: flagIn(command, "--data"), At: flagIn(command, "--at"), CA: flagIn(command, "--ca"),
	}
	l.Hook, _ = time.ParseDuration(flagIn(command, "--limit"))
	return l
}
