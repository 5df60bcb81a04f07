package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// linked is for what gets another name.
func (l *look) linked(o *operation.Operation, spot string) string {
	switch id := l.touch(uses, spot); id {
	case "", vitalRule, adminRule, kernelRule, bootRule, authWrite:
	default:
		return id
	}
	to := l.nameOf(o, spot)
	l.remember(spot, to)
	if o.To.Is("") {
		return l.touch(writes, to)
	}
	return ""
}

// nameOf is the name that a link gets.
func (l *look) nameOf(o *operation.Operation, spot string) string {
	if o.To.Is("") {
		return "./" + place.Base(spot)
	}
	return spotOf(o.To)
}

// aliased is for what another name leads to. Of several sources it is not said
// which name leads where.
func (l *look) aliased(o *operation.Operation, spot string) string {
	at := slices.IndexFunc(l.ops, func(other operation.Operation) bool { return other.Verb == operation.Alias })
	only := !slices.ContainsFunc(l.ops[at+1:min(at+2, len(l.ops))], func(other operation.Operation) bool { return other.Verb == operation.Alias })
	if only && &l.ops[at] == o && len(l.cwds) > 0 {
		l.s.addLink(l, spot, l.nameOf(o, spot))
	}
	return ""
}

// setsAlternative says whether the command makes links, and all that they may
// lead to is a program or a library of the system.
func (l *look) setsAlternative() bool {
	links := false
	for i := range l.ops {
		if l.ops[i].Verb != operation.Link {
			continue
		}
		links = true
		if !isSystemFile(spotOf(l.ops[i].Object.Word)) {
			return false
		}
	}
	return links
}

// isSystemFile says whether what a link leads to may be a program or a library
// of the system.
func isSystemFile(s string) bool {
	return s == "" || s[0] != '/' || inProgramFolder(s) || strings.HasPrefix(s, "/lib") || strings.HasPrefix(s, "/usr/lib") ||
		strings.HasPrefix(s, "/etc/alternatives/")
}

// addLink remembers a symbolic link that the line makes.
func (s *survey) addLink(l *look, target, name string) {
	name = l.absolute(name)
	if strings.HasSuffix(name, "/.") || name == "" {
		return
	}
	to := target
	if to == "" || place.IsVague(to) || place.IsVague(name) {
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
	to = place.Clean(to)
	if to != name {
		s.links[name] = to
	}
	// The name may be a folder, in which the link gets the target's name.
	if base := place.Base(to); base != "" {
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
		return place.Clean(spot)
	}
	if len(l.cwds) == 0 {
		return ""
	}
	return place.Clean(l.cwds[0] + "/" + spot)
}

// remember keeps which program a copy is of.
func (l *look) remember(source, to string) {
	if to == "" {
		return
	}
	from := l.absolute(source)
	if l.isVaglio(from) {
		from = "vaglio"
	}
	if !inProgramFolder(from) && !strings.Contains(place.Base(from), "vaglio") {
		return
	}
	if l.s.copies == nil {
		l.s.copies = map[string]string{}
	}
	where := l.absolute(to)
	l.s.copies[where], l.s.copies[where+"/"+place.Base(from)] = from, from
}
