package guard

import "strings"

// link is ln.
func link(l *look) string {
	options, sources, to := l.destination()
	if id := l.each(uses, sources); id != "" && id != vitalRule && id != adminRule && id != kernelRule && id != bootRule && id != authWrite {
		return id
	}
	if to == "" && len(sources) == 1 {
		to = "./" + baseOf(sources[0])
	}
	l.remember(sources, to)
	id := l.touch(writes, to)
	if hasOption(options, 's', "symbolic") && len(sources) == 1 && l.s != nil && len(l.cwds) > 0 {
		l.s.addLink(l, sources[0], to)
	}
	if id == vitalRule && l.isSystemFile(sources) {
		return ""
	}
	return id
}

// isSystemFile says whether all that a link may lead to is a program or a
// library of the system: that is how alternatives are set.
func (l *look) isSystemFile(sources []string) bool {
	for _, s := range sources {
		if s != "" && s[0] == '/' && !inProgramFolder(s) && !strings.HasPrefix(s, "/lib") && !strings.HasPrefix(s, "/usr/lib") &&
			!strings.HasPrefix(s, "/etc/alternatives/") {
			return false
		}
	}
	return true
}

// addLink remembers a symbolic link that the line makes.
func (s *survey) addLink(l *look, target, name string) {
	name = l.absolute(name)
	if strings.HasSuffix(name, "/.") || name == "" {
		return
	}
	to := target
	if to == "" || isVague(to) || isVague(name) {
		return
	}
	if to[0] != '/' {
		if to = l.g.localSpelling(to); to[0] != '/' {
			to = name[:strings.LastIndexByte(name, '/')] + "/" + to
		}
	}
	if s.links == nil {
		s.links = map[string]string{}
	}
	to = cleanSpot(to)
	if to != name {
		s.links[name] = to
	}
	// The name may be a folder, in which the link gets the target's name.
	if base := baseOf(to); base != "" {
		if below := strings.TrimRight(name, "/") + "/" + base; below != to {
			s.links[below] = to
		}
	}
}

func (l *look) absolute(spot string) string {
	if spot == "" {
		return ""
	}
	spot = l.g.localSpelling(spot)
	if spot[0] == '/' {
		return cleanSpot(spot)
	}
	if len(l.cwds) == 0 {
		return ""
	}
	return cleanSpot(l.cwds[0] + "/" + spot)
}

// remember keeps which program a copy is of.
func (l *look) remember(sources []string, to string) {
	if l.s == nil || to == "" {
		return
	}
	for _, s := range sources {
		if !strings.Contains(s, "bin/") && !strings.Contains(s, "vaglio") {
			continue
		}
		from := l.absolute(s)
		if !inProgramFolder(from) && !strings.Contains(baseOf(from), "vaglio") {
			continue
		}
		if l.s.copies == nil {
			l.s.copies = map[string]string{}
		}
		where := l.absolute(to)
		l.s.copies[where], l.s.copies[where+"/"+baseOf(from)] = from, from
	}
}
