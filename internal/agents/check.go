package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/datafolder"
)

// MistakeError says in one sentence what is wrong with a requested change of an agent.
type MistakeError struct {
	// Field is the flag or argument, such as "--uid".
	Field, Problem string
}

func (e *MistakeError) Error() string { return e.Field + ": " + e.Problem }

// maxName is the maximum length of a name, in bytes: cards show it in full.
const maxName = 40

// nobody is the overflow user: it stands for all users that the system cannot map.
const nobody = 65534

// reserved returns names that people would take for somebody else.
func reserved() []string { return []string{"owner", "anyone", "vaglio", "try-it", "local"} }

// CheckName returns an error that says why name cannot be an agent's name.
func CheckName(name string) error {
	bad := func(format string, args ...any) error { return &MistakeError{"name", fmt.Sprintf(format, args...)} }
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	switch {
	case name == "":
		return bad("is empty; give a name such as deployer")
	case len(name) > maxName:
		return bad("has %d characters; at most %d can be read on a card", len(name), maxName)
	case strings.ContainsFunc(name, odd) || strings.ContainsRune("-_.", rune(name[0])):
		return bad("%q is not lower-case letters, digits, and - _ . between them, such as deployer-2", name)
	case slices.Contains(reserved(), name):
		return bad("%q is not for an agent: people would take it for somebody else", name)
	}
	return nil
}

// check validates an agent on its own, and replaces its workspaces with the folders that they
// resolve to.
func (a *Agents) check(one *Agent) error {
	if err := CheckName(one.Name); err != nil {
		return err
	}
	if one.UID != nil && *one.UID == nobody {
		return &MistakeError{"--uid", "65534 stands for every user unknown here, and could be anybody; give the agent a user of its own"}
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

// workspace returns the folder that a path resolves to.
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

// accounts is the file in which the system keeps its users.
const accounts = "/etc/passwd"

// IsHome reports whether a folder is somebody's home or contains homes. Homes are the usual ones,
// the given user's own, and those that the accounts file lists.
func IsHome(dir, own, accounts string) bool {
	homes := []string{"/root", "/home/x", "/Users/x"}
	if own != "" {
		homes = append(homes, own)
	}
	if text, err := os.ReadFile(accounts); err == nil { //nolint:gosec // The caller names the system's own file.
		homes = append(homes, homesIn(string(text))...)
	}
	return dir == "/" || slices.ContainsFunc(homes, func(home string) bool {
		home = filepath.Clean(home)
		return home == dir || strings.HasPrefix(home, dir+"/")
	})
}

// homesIn returns the homes of the people in a text in the format of /etc/passwd. System users,
// with IDs below 1000, are ignored: their homes are folders of services.
func homesIn(passwd string) []string {
	var homes []string
	for line := range strings.Lines(passwd) {
		if f := strings.Split(line, ":"); len(f) >= 7 && len(f[2]) > 3 && filepath.IsAbs(f[5]) {
			homes = append(homes, f[5])
		}
	}
	return homes
}

// taken returns an error if another agent has the name or the user already; a.mu is held.
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
	have := "known: none"
	if len(names) > 0 {
		have = "known: " + strings.Join(names, ", ")
	}
	return &MistakeError{"name", fmt.Sprintf("no agent is named %q; %s", name, have)}
}
