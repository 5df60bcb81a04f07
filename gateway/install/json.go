package install

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/metnos/vaglio/internal/strictjson"
)

// settings is a JSON file, usually with comments, that lists hooks by event under "hooks".
type settings struct {
	// empty is the content that a new file starts from.
	empty string
	// events are the events to install the hook for; the first one asks.
	events []eventEntry
	// entry returns the entry for an event's list.
	entry func(o Options, e eventEntry) any
	// unit is the unit of the client's time limit, limit the name of its field.
	unit  time.Duration
	limit string
}

// eventEntry is one event of a client.
type eventEntry struct {
	name string
	// everyTool says that the event's entry needs a matcher for its tools.
	everyTool bool
	// tells says that the event only reports: the client does not wait for an answer.
	tells bool
}

// tellsWithin is how long a client waits for a hook that only takes a report.
const tellsWithin = 10 * time.Second

// wait returns how long the client waits for the event's hook, in its unit.
func (s *settings) wait(o Options, e eventEntry) int {
	if e.tells {
		return int(tellsWithin / s.unit)
	}
	return int(o.limit() / s.unit)
}

func (s *settings) add(now []byte, o Options) ([]byte, error) {
	doc, err := s.parse(now)
	if err != nil {
		return nil, err
	}
	if s.current(doc, o) {
		return now, nil
	}
	s.strip(doc)
	in := indentOf(now)
	root, ok := doc.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("line 1, column 1: want an object of settings")
	}
	hooks := member(root, "hooks", &hujson.Object{}, in, 1)
	events, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s: \"hooks\" is not an object", place(now, hooks.StartOffset))
	}
	for _, e := range s.events {
		list := member(events, e.name, &hujson.Array{}, in, 2)
		all, ok := list.Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("%s: %q is not a list", place(now, list.StartOffset), e.name)
		}
		if err := appendTo(all, s.entry(o, e), in, 3); err != nil {
			return nil, err
		}
	}
	out := doc.Pack()
	if now == nil {
		out = append(out, '\n')
	}
	return out, nil
}

func (s *settings) remove(now []byte, _ Options) ([]byte, error) {
	doc, err := s.parse(now)
	if err != nil {
		return nil, err
	}
	if !s.strip(doc) {
		return now, nil
	}
	if rest, err := hujson.Minimize(doc.Pack()); err == nil && string(rest) == s.empty {
		return nil, nil
	}
	return doc.Pack(), nil
}

func (s *settings) holds(now []byte, _ Options) (bool, Limits, error) {
	doc, err := s.parse(now)
	if err != nil {
		return false, Limits{}, err
	}
	// The first event is the one that counts.
	at := slices.IndexFunc(s.entries(doc, s.events[0].name), isOurs)
	if at < 0 {
		return false, Limits{}, nil
	}
	text := plain(s.entries(doc, s.events[0].name)[at])
	limits := limitsIn(text, time.Duration(numberOf(text, s.limit))*s.unit)
	var unasked []string
	for _, e := range s.events {
		if !e.tells && !slices.ContainsFunc(s.entries(doc, e.name), isOurs) {
			unasked = append(unasked, e.name)
		}
	}
	limits.Unasked = strings.Join(unasked, ", ")
	return true, limits, nil
}

func isOurs(entry hujson.Value) bool { return ours(plain(entry)) }

func (s *settings) parse(now []byte) (*hujson.Value, error) {
	if len(strings.TrimSpace(string(now))) == 0 {
		now = []byte(s.empty)
	}
	return parseJSON(now)
}

// place returns the line and column of a byte offset.
func place(data []byte, at int) string {
	before := string(data[:min(at, len(data))])
	line := strings.Count(before, "\n")
	return fmt.Sprintf("line %d, column %d", line+1, len(before)-strings.LastIndexByte(before, '\n'))
}

// entries returns the entries of an event's list.
func (s *settings) entries(doc *hujson.Value, event string) []hujson.Value {
	v := doc.Find("/hooks/" + event)
	if v == nil {
		return nil
	}
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	return slices.Clone(list.Elements)
}

// current reports whether every event has exactly one hook of ours, as we would write it now.
func (s *settings) current(doc *hujson.Value, o Options) bool {
	for _, e := range s.events {
		want, err := strictjson.Marshal(s.entry(o, e))
		if err != nil {
			return false
		}
		n := 0
		for _, entry := range s.entries(doc, e.name) {
			if text := plain(entry); ours(text) {
				if text != plainJSON(want) {
					return false
				}
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}

// strip removes the hook, and the lists that become empty with it. It reports whether there
// was one.
func (s *settings) strip(doc *hujson.Value) bool {
	v := doc.Find("/hooks")
	if v == nil {
		return false
	}
	events, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	found := false
	named := func(m *hujson.ObjectMember) *hujson.Extra { return &m.Name.BeforeExtra }
	valued := func(m *hujson.ObjectMember) *hujson.Extra { return &m.Value.AfterExtra }
	events.Members = without(events.Members, &events.AfterExtra, named, valued, func(m *hujson.ObjectMember) bool {
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return false
		}
		before := len(list.Elements)
		list.Elements = without(list.Elements, &list.AfterExtra,
			func(v *hujson.Value) *hujson.Extra { return &v.BeforeExtra }, func(v *hujson.Value) *hujson.Extra { return &v.AfterExtra },
			func(v *hujson.Value) bool { return ours(plain(*v)) })
		found = found || len(list.Elements) < before
		return before > 0 && len(list.Elements) == 0
	})
	if root, ok := doc.Value.(*hujson.Object); ok && found && len(events.Members) == 0 {
		dropMember(root, "hooks")
	}
	return found
}

func nameOf(m hujson.ObjectMember) string {
	name, ok := m.Name.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return name.String()
}

// ours reports whether an entry, as plain JSON, runs our hook.
func ours(entry string) bool {
	var v any
	return strictjson.UnmarshalLoose([]byte(entry), &v) == nil && len(hooksIn(v, 0)) > 0
}

// numberOf returns the first number with that name, at any depth; 0 if there is none.
func numberOf(text, name string) float64 {
	var v any
	if name == "" || strictjson.UnmarshalLoose([]byte(text), &v) != nil {
		return 0
	}
	var look func(v any) float64
	look = func(v any) float64 {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if n := look(e); n > 0 {
					return n
				}
			}
		case map[string]any:
			if n, ok := v[name].(float64); ok {
				return n
			}
			for _, e := range v {
				if n := look(e); n > 0 {
					return n
				}
			}
		}
		return 0
	}
	return look(v)
}

// plain returns the value as JSON without comments, with sorted members.
func plain(v hujson.Value) string {
	v = v.Clone()
	v.Minimize()
	return plainJSON(v.Pack())
}

func plainJSON(data []byte) string {
	var v any
	if strictjson.UnmarshalLoose(data, &v) != nil {
		return ""
	}
	out, err := strictjson.Marshal(v)
	if err != nil {
		return ""
	}
	return string(out)
}
