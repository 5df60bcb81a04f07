package install

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits are what a hook's command says: how long the client waits for its hook by its own settings, and how
// long the hook believes that it does; 0 is not written. The hook must not believe
// in more.
type Limits struct {
	Client, Hook time.Duration
	// Shadow says that the hook only watches.
	Shadow bool
}

// Agree reports whether the hook answers before the client stops waiting.
func (l Limits) Agree() bool { return l.Shadow || l.Client == 0 || l.Hook > 0 && l.Hook <= l.Client }

// State is how a client's hook stands in one scope.
type State struct {
	Path      string
	Installed bool
	Limits    Limits
	// Off names the switches in the file that keep its hooks from running.
	Off []string
}

// Look reads how the hook stands.
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
		s.Installed = s.Installed && found
		if limits != (Limits{}) {
			s.Limits = limits
		}
		for name, re := range f.off {
			if re.Match(now) {
				s.Off = append(s.Off, name)
			}
		}
	}
	slices.Sort(s.Off)
	return s, nil
}

var limitFlag = regexp.MustCompile(`--limit[ "',=]+([0-9hms.]+)`)

// limitsIn finds the limit that a hook's command names.
func limitsIn(command string, client time.Duration) Limits {
	l := Limits{Client: client, Shadow: strings.Contains(command, shadowFlag)}
	if m := limitFlag.FindStringSubmatch(command); m != nil {
		l.Hook, _ = time.ParseDuration(m[1])
	}
	return l
}
