package install

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/hook"
)

// tableLine is the state of one client as `vaglio status` shows it.
type tableLine struct {
	client, version, hook, limit, trusted, last string
	// wrong lists what keeps the hook from doing its work.
	wrong []string
}

// Looks finds out what is not in a client's settings.
type Looks struct {
	// LastAsked returns when a client's hook last ran, zero if unknown.
	LastAsked func(client string) time.Time
	// Gate returns what keeps a hook from reaching its daemon on another machine.
	Gate func(context.Context, Limits) error
	// Codex reports whether Codex runs the hook as it is. Codex silently skips a hook that nobody
	// has trusted, and all hooks if they are switched off.
	Codex func(context.Context) Trust
}

// WriteStatus writes a table of the clients that are on the PATH or have the hook. It reports
// whether something keeps a hook from doing its work.
func WriteStatus(ctx context.Context, w io.Writer, o Options, look Looks) (wrong bool, err error) {
	lines := []tableLine{{client: "CLIENT", version: "VERSION", hook: "HOOK", limit: "LIMIT", trusted: "TRUSTED", last: "LAST ASKED"}}
	for _, name := range Clients() {
		o.Client = name
		l, worth := o.standing(ctx, look)
		if at := look.LastAsked(name); !at.IsZero() {
			l.last = at.Local().Format("2006-01-02 15:04")
		}
		if worth {
			lines, wrong = append(lines, l), wrong || len(l.wrong) > 0
		}
	}
	if len(lines) == 1 {
		_, err = io.WriteString(w, "No coding agent is on the PATH, and none has vaglio's hook: no agent asks. 'vaglio install --help' lists the clients.\n")
		return false, err //nolint:wrapcheck // The terminal's own.
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%-12s %-14s %-10s %-8s %-8s %s\n", l.client, l.version, l.hook, l.limit, l.trusted, l.last)
		for _, told := range l.wrong {
			b.WriteString("  ! " + told + "\n")
		}
	}
	_, err = io.WriteString(w, b.String())
	return wrong, err //nolint:wrapcheck // The terminal's own.
}

// standing returns the state of a client, and whether it is worth a line.
func (o Options) standing(ctx context.Context, look Looks) (l tableLine, worth bool) {
	l = tableLine{client: o.Client, version: "-", hook: "-", limit: "-", trusted: "-", last: "-"}
	if path, err := exec.LookPath(programOf(o.Client)); err == nil {
		l.version, worth = versionOf(ctx, path), true
	}
	var users string
	for _, scope := range []Scope{User, Project, Managed} {
		o.Scope = scope
		s, err := Look(o)
		if scope == Project && s.Path == users && s.Path != "" {
			continue // The project is the home: its settings are the user's.
		}
		if scope == User {
			users = s.Path
		}
		if err != nil && s.Path != "" {
			l.wrong = append(l.wrong, err.Error())
		}
		if !s.Installed {
			continue
		}
		worth = true
		l.installed(ctx, o, s, look)
	}
	slices.Sort(l.wrong) // One switch may affect the hooks of several scopes.
	l.wrong = slices.Compact(l.wrong)
	return l, worth
}

// installed fills in what there is to say about the hook in one scope.
func (l *tableLine) installed(ctx context.Context, o Options, s State, look Looks) {
	l.hook = string(o.Scope)
	if s.Limits.Shadow {
		l.hook = "shadow"
	}
	if s.Limits.Hook > 0 {
		l.limit = s.Limits.Hook.String()
	}
	wrong := func(format string, args ...any) { l.wrong = append(l.wrong, s.Path+": "+fmt.Sprintf(format, args...)) }
	if !s.Limits.Agree() {
		wrong("the agent waits %s for the hook, which assumes %s: the tool runs when the agent stops waiting; run vaglio install %s",
			s.Limits.Client, s.Limits.Hook, o.Client)
	}
	if s.Limits.Unasked != "" {
		wrong("%s does not ask: an older vaglio installed the hook; run vaglio install %s", s.Limits.Unasked, o.Client)
	}
	if s.Limits.Unbound() {
		wrong("settings of a project can send the hook to another daemon: an older vaglio installed it; run vaglio install %s --agent %s",
			o.Client, s.Limits.Agent)
	}
	l.trust(ctx, o, s, look)
	if s.Limits.At != "" {
		if err := look.Gate(ctx, s.Limits); err != nil {
			wrong("%v", err)
		}
	}
	for _, off := range s.Off {
		does := " keeps the hook from running"
		if strings.HasPrefix(off[strings.LastIndexByte(off, ' ')+1:], `"METNOS_`) {
			does = " has the hook ask another daemon"
		}
		l.wrong = append(l.wrong, off+does)
	}
}

// trust fills in whether the client's user lets the hook run.
func (l *tableLine) trust(ctx context.Context, o Options, s State, look Looks) {
	if o.Client == "codex" && l.trusted == "-" { // Codex reports on all scopes at once.
		s.Trusted = look.Codex(ctx)
	}
	if s.Trusted != "" {
		l.trusted = string(s.Trusted)
	}
	switch s.Trusted {
	case "", TrustGiven:
	case TrustMissing:
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %s does not run the hook: hooks are switched off there, or the hook is not the one that its user allowed; switch them on, or run vaglio install %s",
			s.Path, o.Client, o.Client))
	case TrustUnknown:
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %s could not be asked whether it runs the hook", s.Path, o.Client))
	}
}

// Programs returns the names under which the known coding agents and the hook may be
// installed, sorted.
func Programs() []string {
	all := []string{"vaglio-hook"}
	for _, client := range hook.Clients() {
		all = append(all, client, programOf(client))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// programOf returns a client's name on the PATH.
func programOf(client string) string {
	if client == "claude-code" {
		return "claude"
	}
	return client
}

// versionOf returns the version that the program reports, "?" if it reports none.
func versionOf(ctx context.Context, path string) string {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "?"
	}
	for word := range strings.FieldsSeq(string(out)) {
		if word[0] >= '0' && word[0] <= '9' {
			return strings.Trim(word, ".,")
		}
	}
	return "?"
}
