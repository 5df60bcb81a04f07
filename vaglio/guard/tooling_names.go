package guard

import "strings"

// named gives the rule about a tool that stops processes or services, or
// removes packages, by the names of what it is aimed at.
func (s *scan) named(args map[string]any) *rule {
	var stops, process, service, packs bool
	for t := range tokens(s.executor + s.action) {
		switch t {
		case "kill", "terminate", "pkill", "killall":
			stops, process = true, true
		case "stop", "disable", "mask", "remove", "uninstall", "purge", "delete", "restart", "erase":
			stops = true
		case "process", "processes", "proc":
			process = true
		case "service", "services", "systemctl", "systemd", "unit", "launchctl", "daemon":
			service = true
		case "package", "packages", "apt", "dpkg", "rpm", "dnf", "yum", "pacman", "apk", "zypper", "brew":
			packs = true
		}
	}
	if !stops || (!process && !service && !packs) {
		return nil
	}
	for _, key := range sortedKeys(args) {
		switch plainKey(key) {
		case "name", "names", "process", "processname", "service", "servicename", "unit", "unitname", "package", "packages", "packagename", "target", "pattern", "program", "app", "command":
			for _, name := range words([]any{args[key]}, nil, 0) {
				if id := ruleOfName(strings.TrimSuffix(name, ".service"), process, packs); id != "" {
					return s.g.ruleOf(id)
				}
			}
		}
	}
	return nil
}

func ruleOfName(name string, process, packs bool) string {
	switch {
	case namesVaglio(name):
		return ownProcess
	case process && (name == "init" || name == "systemd" || name == "launchd" || name == "*" || name == ".*"):
		return killRule
	case packs && isEssential(name):
		return packageRule
	default:
		return ""
	}
}

// statement tries a statement for a database that a tool sends.
func (s *scan) statement(args map[string]any) *rule {
	sends := false
	for t := range tokens(s.executor) {
		switch t {
		case "sql", "postgres", "postgresql", "psql", "mysql", "mariadb", "sqlite", "duckdb", "database":
			sends = true
		}
	}
	if !sends {
		return nil
	}
	l := &look{g: s.g, s: &survey{g: s.g}}
	for _, key := range sortedKeys(args) {
		if text, ok := args[key].(string); ok {
			if id := l.filesRead(text); id != "" {
				return s.g.ruleOf(id)
			}
		}
	}
	return nil
}
