package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/datafolder"
)

// MistakeError says in one sentence what is wrong with what somebody wants of an
// agent.
type MistakeError struct {
	// Field is the flag or argument, such as "--uid".
	Field, Problem string
}

func (e *MistakeError) Error() string { return e.Field + ": " + e.Problem }

// maxName is the greatest length of a name, in bytes: cards show it whole.
const maxName = 40

// nobody is the user that stands for every user that a system cannot name.
const nobody = 65534

// reserved are names that stand for somebody else, where people read them.
func reserved() []string { return []string{"owner", "anyone", "vaglio", "try-it", "local"} }

// CheckName says what keeps a text from being an agent's name.
func CheckName(name string) error {
	bad := func(format string, args ...any) error { return &MistakeError{"name", fmt.Sprintf(format, args...)} }
	plain := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	switch {
	case name == "":
		return bad("is empty; give a name such as deployer")
	case len(name) > maxName:
		return bad("has %d characters; at most %d can be read on a card", len(name), maxName)
	case strings.ContainsFunc(name, plain) || strings.ContainsRune("-_.", rune(name[0])):
		return bad("%q is not lower-case letters, digits, and - _ . between them, such as deployer-2", name)
	case slices.Contains(reserved(), name):
		return bad("%q is not for an agent: people would take it for somebody else", name)
	}
	return nil
}

// check says what of an agent cannot be, whichever others there are, and makes its
// workspaces the folders that they lead to.
func (a *Agents) check(one *Agent) error {
	if err := CheckName(one.Name); err != nil {
		return err
	}
	if one.UID != nil && *one.UID == nobody {
		return &MistakeError{"--uid", "65534 is who has no user here, and could be anybody; give the agent a user of its own"}
	}
	for i, dir := range one.Workspaces {
		led, err := workspace(dir, a.own.Home)
		if err != nil {
			return err
		}
		one.Workspaces[i] = led
	}
	return nil
}

// workspace returns the folder that a path leads to.
func workspace(dir, home string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", &MistakeError{"--workspace", fmt.Sprintf(format, args...)}
	}
	if !filepath.IsAbs(dir) {
		return bad("%q is not an absolute path", dir)
	}
	led, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return bad("%v", datafolder.Plain(err))
	}
	info, err := os.Stat(led)
	switch {
	case err != nil:
		return bad("%v", datafolder.Plain(err))
	case !info.IsDir():
		return bad("%s is not a folder", dir)
	case IsHome(led, home, accounts):
		return bad("%s is a home or holds homes, and everything in it would be the agent's; give a folder for its work alone", dir)
	}
	return led, nil
}

// accounts is where a system keeps its users.
const accounts = "/etc/passwd"

// IsHome reports whether a folder is a person's home, or one above homes. Where
// the system keeps its users in the file of accounts, that says where homes are; what
// is below the usual folders of homes is not looked at.
func IsHome(dir, own, accounts string) bool {
	homes := []string{"/root", "/home/x", "/Users/x"}
	if own != "" {
		homes = append(homes, own)
	}
	if text, err := os.ReadFile(accounts); err == nil {
		// The system's own users, below 1000, have folders of services for homes.
		for line := range strings.Lines(string(text)) {
			if f := strings.Split(line, ":"); len(f) >= 7 && len(f[2]) > 3 && filepath.IsAbs(f[5]) {
				homes = append(homes, f[5])
			}
		}
	}
	return dir == "/" || slices.ContainsFunc(homes, func(home string) bool {
		home = filepath.Clean(home)
		return home == dir || strings.HasPrefix(home, dir+"/")
	})
}

// taken says what another agent has already; a.mu is held.
func (a *Agents) taken(all []kept, one *Agent) error {
	if index(all, one.Name) >= 0 {
		return &MistakeError{"name", fmt.Sprintf("there is an agent %q; 'vaglio agent rotate %s' gives it a new token", one.Name, one.Name)}
	}
	if one.UID == nil {
		return nil
	}
	if by, ok := (&Agents{own: a.own, all: all}).peer(*one.UID); ok {
		return &MistakeError{"--uid", fmt.Sprintf("user %d is the agent %q; a user is one agent", *one.UID, by)}
	}
	return nil
}

func missing(name string, all []kept) error {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	slices.Sort(names)
	have := "there is none"
	if len(names) > 0 {
		have = "there is " + strings.Join(names, ", ")
	}
	return &MistakeError{"name", fmt.Sprintf("no agent is named %q; %s", name, have)}
}
