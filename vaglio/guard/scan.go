package guard

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
)

// maxDepth is how deep args may nest. Decoded JSON stays far below; values built in memory could be cyclic.
const maxDepth = 128

// scan is the examination of one call.
type scan struct {
	g     *Guard
	rd    *reading.Reading
	shell bool
	texts []text
	lines []string // what the core takes for command lines: lists both joined and one by one
	room  [16]text
	// bases begins with the call's own folder if inCwd is set.
	bases []base
	inCwd bool
	users map[string]string
	// found is the first structural rule that a path broke. The core is checked first.
	found *rule
	// t collects what cannot be read.
	t trouble
}

// text is one string of args.
type text struct {
	s       string
	key     bool // a map key
	command bool // a command line, which is no path
	core    bool // below a key whose value the core takes for a command line
	use     use  // by the role of the key above
}

// base is a folder in which relative paths may begin.
type base struct {
	dir, lexical string // as given, and clean
	workspace    bool   // the call's own folder
	ready        bool   // the fields below are set; that takes system calls
	real         string // resolved
	// inRoot marks a workspace in the administrator's home. There, the rule about that home does not apply to relative names.
	inRoot bool
}

func (b *base) resolve(g *Guard) {
	if b.ready {
		return
	}
	b.ready, b.real = true, realpath.On(g.machine, b.dir)
	if r := g.ruleOf(rootID); b.workspace {
		b.inRoot = r.match(b.lexical) || r.match(b.real)
	}
}

// collect gathers the strings of v in a fixed order. They all get the properties of as.
func (s *scan) collect(v any, depth int, as text) *reading.Unreadable {
	if depth > maxDepth {
		return &reading.Unreadable{What: "args nest too deep"}
	}
	nested, isMap := v.(map[string]any)
	if isMap {
		return s.collectMap(nested, depth, as.core)
	}
	if as.core {
		s.lines = append(s.lines, reading.PlainLine(v))
	}
	switch v := v.(type) {
	case nil, bool, int, int64, uint64, float64:
	case string:
		s.texts = append(s.texts, text{s: v, command: as.command, use: as.use})
	case []any:
		return s.collectList(v, depth, text{use: as.use, core: as.core})
	case []string:
		for _, e := range v {
			s.texts = append(s.texts, text{s: e, use: as.use})
		}
	default:
		return s.collectOther(reflect.ValueOf(v))
	}
	return nil
}

// collectList gathers the strings of a list, and the path that they may form.
func (s *scan) collectList(list []any, depth int, as text) *reading.Unreadable {
	var steps []string
	for _, e := range list {
		if r := s.collect(e, depth+1, as); r != nil {
			return r
		}
		if step, ok := e.(string); ok && as.use != asData {
			steps = append(steps, step)
		}
	}
	if whole := place.OfSteps(steps); whole != "" && len(steps) == len(list) {
		s.texts = append(s.texts, text{s: whole, use: as.use})
	}
	return nil
}

func (s *scan) collectMap(m map[string]any, depth int, core bool) *reading.Unreadable {
	s.tryAddress(m)
	for _, k := range reading.SortedKeys(m) {
		s.texts = append(s.texts, text{s: k, key: true})
		role := s.rd.Role(k)
		as := text{core: s.shell && (core || s.rd.IsCore(k)), use: useOf(role)}
		as.command = as.core && s.rd.IsCore(k)
		if s.rd.Runs && role&reading.RoleRuns != 0 {
			as.use = asData // the reading looks at it
		}
		if r := s.collect(m[k], depth+1, as); r != nil {
			return r
		}
	}
	return nil
}

// tryAddress checks for the gate's address given as separate values for host and port, whatever their keys are.
func (s *scan) tryAddress(m map[string]any) {
	tried := map[string]bool{}
	for _, v := range m {
		port, _ := v.(string)
		if k := reflect.ValueOf(v); k.CanFloat() || k.CanInt() {
			port = fmt.Sprint(v)
		}
		if len(port) > len("65535") || tried[port] || !s.g.itself.HasPort(port) {
			continue
		}
		tried[port] = true
		for _, v := range m {
			if host, ok := v.(string); ok && s.g.itself.Answers(host+":"+port) {
				s.found = s.g.ruleOf(ownCommand)
			}
		}
	}
}

// collectOther collects what a program put into args, not a decoder.
func (s *scan) collectOther(v reflect.Value) *reading.Unreadable {
	switch k := v.Kind(); {
	case k == reflect.String:
		s.texts = append(s.texts, text{s: v.String()})
		return nil
	case k == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat():
		return nil
	default:
		return &reading.Unreadable{What: "args hold a value that is none of JSON's"}
	}
}

// setBases finds the folders in which a relative path may begin: the call's own folder, and those that its arguments name.
func (s *scan) setBases(c Call) {
	if dir := s.expand(c.Cwd); strings.HasPrefix(dir, "/") {
		s.bases, s.inCwd = append(s.bases, base{dir: dir, lexical: path.Clean(dir), workspace: true}), true
	}
	for _, dir := range s.rd.Bases {
		s.addBase(dir)
	}
}

func (s *scan) addBase(dir string) {
	if dir = s.expand(dir); !strings.HasPrefix(dir, "/") {
		if !s.inCwd {
			return
		}
		dir = s.bases[0].lexical + "/" + dir
	}
	s.bases = append(s.bases, base{dir: dir, lexical: path.Clean(dir)})
}

// expandUser replaces a leading ~ or ~user as Python's expanduser does.
func (s *scan) expandUser(text string) string {
	if !strings.HasPrefix(text, "~") {
		return text
	}
	end := strings.IndexByte(text, '/')
	if end < 0 {
		end = len(text)
	}
	home := s.g.home
	if end > 1 {
		home = s.homeOf(text[1:end])
	}
	if home == "" {
		return text
	}
	return cmp.Or(strings.TrimRight(home, "/")+text[end:], "/")
}

// homeOf asks the system for a user's home, once for each name.
func (s *scan) homeOf(name string) string {
	const longest = 64
	if len(name) > longest || strings.ContainsAny(name, " \t\n\x00:") {
		return ""
	}
	if home, known := s.users[name]; known {
		return home
	}
	home := s.g.machine.HomeOf(name)
	if s.users == nil {
		s.users = map[string]string{}
	}
	s.users[name] = home
	return home
}
