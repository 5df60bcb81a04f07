package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// handling is what an executor that is no shell does to the paths in its
// arguments, as its name tells.
type handling struct {
	deed deed
	// lists says that it only tells names; then nothing but the core applies.
	lists bool
	// greps says that it prints what files hold: a pattern is one of texts.
	greps bool
	// files says that it works on files, or that its name is no more than what
	// is done: a path is one of files here.
	files bool
	// remote says that it works on something else, where a path is none.
	remote bool
	// modes, kills, moves say more of what it does.
	modes, kills, moves, copies bool
	// ready says that the rest is known.
	ready bool
}

// handlingOf reads the words of an executor's name, and of the verb that an
// argument adds to it.
func handlingOf(name []string, action string) handling {
	h := handling{deed: uses}
	all := append(slices.Clip(name), reading.Words(action)...)
	for _, t := range all {
		switch t {
		case "fs", "file", "files", "filesystem", "dir", "dirs", "directory", "folder", "folders", "path", "paths", "tree", "disk", "workspace":
			h.files = true
		case "http", "https", "api", "rest", "request", "url", "web", "browser", "s3", "bucket", "db", "sql", "graphql", "k8s":
			h.remote = true
		case "delete", "remove", "rm", "rmdir", "unlink", "erase", "purge", "wipe", "trash", "destroy", "empty", "truncate", "clean", "rmtree", "del":
			h.deed = empties
		case "write", "create", "edit", "append", "save", "put", "patch", "replace", "insert", "update", "touch", "mkdir", "multiedit", "store", "set":
			h.deed = writes
		case "move", "rename", "mv":
			h.moves = true
		case "copy", "cp", "duplicate", "clone", "zip", "tar", "archive", "compress", "pack":
			h.copies = true
		case "list", "ls", "stat", "exists", "find", "glob", "search", "tree_view", "info", "walk", "watch", "open_folder", "cd", "chdir":
			h.lists = true
		case "grep":
			h.greps = true
		case "chmod", "chown", "permission", "permissions", "acl", "mode":
			h.modes = true
		case "kill", "terminate", "signal":
			h.kills = true
		}
	}
	return h.settled(len(all))
}

// settled takes back what other words of the name contradict.
func (h handling) settled(words int) handling {
	h.remote = h.remote && !h.files
	h.files = (h.files || words == 1) && !h.remote
	if h.deed != uses || h.moves || h.modes {
		h.lists = false
	}
	return h
}

// use is what a text in args may be used as.
type use uint8

const (
	asAny  use = iota
	asPath     // under a key that names a path
	asGoal     // under a key that names where something goes
	asData     // content, which nobody opens
	asGlob     // a pattern of names
)

// isRun are the roles of what a run executes.
const isRun = reading.RoleCommand | reading.RoleScript | reading.RoleCode

// useOf reads the roles of a key.
func useOf(role reading.Role) use {
	switch {
	case role&reading.RoleGoal != 0:
		return asGoal
	case role&reading.RoleGlob != 0:
		return asGlob
	case role&reading.RoleData != 0:
		return asData
	case role&(reading.RolePath|reading.RoleSource|reading.RoleNamed) != 0:
		return asPath
	default:
		return asAny
	}
}

// actionOf gives what an argument says that a tool of many does, or "".
func actionOf(args map[string]any) string {
	for _, key := range [...]string{"action", "operation", "op", "verb", "method", "mode"} {
		const longest = 32
		if text, ok := args[key].(string); ok && text != "" && len(text) <= longest && isLetter(text[0]) {
			return text
		}
	}
	return ""
}

// handling is what the executor does to paths, found out once.
func (s *scan) handling() *handling {
	if !s.h.ready {
		s.h = handlingOf(s.rd.Words, s.action)
		s.h.ready = true
	}
	return &s.h
}

// tryPlace remembers the first structural rule that a path breaks.
func (s *scan) tryPlace(t text, where string) {
	if s.found == nil && t.use != asData && !t.key && !t.command && !s.handling().lists && (!s.h.greps || t.use == asPath) {
		s.found = s.placeRule(t, where)
	}
}

// placeRule gives the rule about a clean path in the arguments of a tool.
func (s *scan) placeRule(t text, where string) *rule {
	h := s.h
	if t.use == asAny && strings.ContainsAny(where, " \t\n") {
		return nil
	}
	where = place.Globbed(where)
	if h.modes {
		return s.modeRule(where)
	}
	d := h.deedTo(t)
	id := s.g.ruleAt(d, where)
	if id == "" && d != uses && d != writes {
		id = s.g.ruleAt(uses, where)
	}
	if id == adminRule && s.inRootHome() {
		return nil
	}
	return s.g.ruleOf(id)
}

// deedTo is what a tool does to a text among its arguments.
func (h *handling) deedTo(t text) deed {
	d := h.deed
	switch {
	case (h.moves || h.copies) && t.use == asGoal:
		d = writes
	case h.copies:
		d = reads
	case h.moves:
		d = empties
	}
	if takesAll(d) && !h.files && (h.remote || t.use != asPath) {
		return uses
	}
	return d
}

// inRootHome says that the workspace is in the administrator's home.
func (s *scan) inRootHome() bool {
	return slices.ContainsFunc(s.bases, func(b base) bool { return b.inRoot })
}

func (s *scan) modeRule(where string) *rule {
	if s.g.treeAt(where) != "" {
		return s.g.ruleOf(modeTree)
	}
	switch id := s.g.ruleAt(writes, where); id {
	case authWrite, keyRule:
		return s.g.ruleOf(id)
	default:
		return nil
	}
}

// killsAll says whether a tool that stops processes is aimed at init or all.
func (s *scan) killsAll(args map[string]any) bool {
	for k, v := range args {
		if s.rd.Role(k)&reading.RolePid != 0 && isFirstProcess(v) {
			return true
		}
	}
	return false
}

// reachesOwn gives the rule about a tool that is aimed at vaglio's process or
// talks to its address.
func (s *scan) reachesOwn(args map[string]any) *rule {
	for k, v := range args {
		if s.handling().kills && s.rd.Role(k)&reading.RolePid != 0 && slices.ContainsFunc(numbers(v), s.g.itself.HasProcess) {
			return s.g.ruleOf(ownProcess)
		}
	}
	for i := range s.rd.URLs {
		if s.g.itself.Answers(s.rd.URLs[i].Text) {
			return s.g.ruleOf(ownCommand)
		}
	}
	return nil
}

// numbers are the texts and numbers of a value, as texts.
func numbers(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{reading.Word(v)}
	}
	var all []string
	for _, e := range list {
		all = append(all, reading.Word(e))
	}
	return all
}

func isFirstProcess(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == 1 || v == -1
	case int:
		return v == 1 || v == -1
	case int64:
		return v == 1 || v == -1
	case uint64:
		return v == 1
	case string:
		return v == "1" || v == "-1"
	case []any:
		return slices.ContainsFunc(v, isFirstProcess)
	default:
		return false
	}
}

// named gives the rule about a tool that stops processes or services, or
// removes packages, by the names of what it is aimed at.
func (s *scan) named(args map[string]any) *rule {
	a := aimOf(append(slices.Clip(s.rd.Words), reading.Words(s.action)...))
	if !a.stops || (!a.process && !a.service && !a.packs) {
		return nil
	}
	for _, key := range reading.SortedKeys(args) {
		if s.rd.Role(key)&reading.RoleThing == 0 {
			continue
		}
		for _, name := range reading.Texts(args[key]) {
			if id := s.g.ruleOfName(strings.TrimSuffix(name, ".service"), a.process, a.packs); id != "" {
				return s.g.ruleOf(id)
			}
		}
	}
	return nil
}

// aim is what a tool stops or removes.
type aim struct{ stops, process, service, packs bool }

// aimOf reads the words of an executor's name.
func aimOf(words []string) aim {
	var a aim
	for _, t := range words {
		switch t {
		case "kill", "terminate", "pkill", "killall":
			a.stops, a.process = true, true
		case "stop", "disable", "mask", "remove", "uninstall", "purge", "delete", "restart", "erase":
			a.stops = true
		case "process", "processes", "proc":
			a.process = true
		case "service", "services", "systemctl", "systemd", "unit", "launchctl", "daemon":
			a.service = true
		case "package", "packages", "apt", "dpkg", "rpm", "dnf", "yum", "pacman", "apk", "zypper", "brew":
			a.packs = true
		}
	}
	return a
}

func (g *Guard) ruleOfName(name string, process, packs bool) string {
	switch {
	case g.itself.Picked(name, false):
		return ownProcess
	case process && (name == "init" || name == "systemd" || name == "launchd" || name == "*" || name == ".*"):
		return killRule
	case packs && g.isEssential(name):
		return packageRule
	default:
		return ""
	}
}

// statement tries the statements for a database that a tool sends.
func (s *scan) statement() *rule {
	l := &look{g: s.g, s: &survey{g: s.g, t: &s.t}, c: &shell.Command{}}
	for i := range s.rd.Statements {
		for _, name := range s.g.base.FilesRead(s.rd.Statements[i].Text) {
			if !looksLikePath(name) {
				continue
			}
			if id := l.touch(reads, name); id != "" {
				return s.g.ruleOf(id)
			}
		}
	}
	return nil
}
