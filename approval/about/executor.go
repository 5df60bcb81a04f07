package about

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

// executor names what the executor itself would do, with its arguments.
func (w *work) executor(list []effects.Effect) bool {
	if fetched, ok := w.fetchedCode(list); ok {
		w.add(fetched...)
		return true
	}
	if s, ok := w.messageTool(); ok {
		w.add(s)
		return true
	}
	if w.runsCommands() {
		return false // an effect of a command line that no parsed command accounts for
	}
	s := approval.Subject{System: strings.ToLower(w.p.Executor), Verb: "call"}
	for _, key := range slices.Sorted(maps.Keys(w.p.Args)) {
		form, err := strictjson.Canonical(map[string]any{"": w.p.Args[key]})
		if err != nil {
			return false
		}
		value := strings.TrimSuffix(strings.TrimPrefix(string(form), `{"":`), "}")
		if len(value) > longestFact {
			value = digest(value)
		}
		s.Object = append(s.Object, approval.Fact{Name: key, Value: value})
	}
	if w.p.Context.Cwd != "" {
		s.Object = append(s.Object, approval.Fact{Name: approval.FactFolder, Value: w.n.path("", w.p.Context.Cwd)})
	}
	w.add(s)
	return true
}

// longestFact is the longest argument, in bytes, that a fact holds verbatim.
const longestFact = 200

// runsCommands reports whether the call carries a command line or a program.
func (w *work) runsCommands() bool {
	for _, key := range []string{"command", "cmd", "script", "code"} {
		if _, ok := w.p.Args[key].(string); ok {
			return true
		}
	}
	return false
}

// fetchedCode names code that the call fetches from an address and runs.
func (w *work) fetchedCode(list []effects.Effect) ([]approval.Subject, bool) {
	var out []approval.Subject
	for _, e := range list {
		if e.Kind != operation.KindForeignCode {
			return nil, false
		}
		addresses := []string{e.Target}
		if strings.HasPrefix(e.Target, "$(") {
			addresses = w.fetched()
		}
		for _, a := range addresses {
			s, ok := requestTo("GET", a, nil)
			if !ok || !strings.Contains(a, "://") || strings.ContainsAny(a, "$ ") {
				return nil, false
			}
			s.System, s.Verb = "code", "run"
			out = append(out, s)
		}
	}
	return out, len(out) > 0
}

// fetched returns the addresses that commands of the call fetch from.
func (w *work) fetched() []string {
	var out []string
	var last *shell.Command
	for i := range w.all {
		c := w.all[i].Of
		if c == nil || c == last || c.Name != "curl" && c.Name != "wget" {
			continue
		}
		last = c
		if l, ok := w.line(c); ok {
			out = append(append(out, l.operands(0)...), l.values("--url")...)
		}
	}
	return out
}

// messageTool names the message that a tool sends, along with the tool's other arguments.
func (w *work) messageTool() (approval.Subject, bool) {
	name := strings.ToLower(w.p.Executor)
	if !strings.Contains(name, "mail") || !strings.Contains(name, "send") {
		return approval.Subject{}, false
	}
	recipientKeys := []string{"to", "cc", "bcc", "recipient", "recipients"}
	bodyKeys := []string{"body", "text", "message", "content"}
	var to, rest []string
	about, body := "", ""
	for _, key := range slices.Sorted(maps.Keys(w.p.Args)) {
		text, isText := w.p.Args[key].(string)
		k := strings.ToLower(key)
		switch {
		case slices.Contains(recipientKeys, k):
			to = append(to, recipients(w.p.Args[key])...)
		case k == "subject" && isText:
			about = text
		case slices.Contains(bodyKeys, k) && isText:
			body = text
		default:
			rest = append(rest, key)
		}
	}
	if len(to) == 0 {
		return approval.Subject{}, false
	}
	s := message(to, about, body)
	object, ok := w.digests(rest)
	s.Object = append(s.Object, object...)
	return s, ok
}

// digests returns the arguments under the keys as facts, each as a digest.
func (w *work) digests(keys []string) ([]approval.Fact, bool) {
	var out []approval.Fact
	for _, key := range keys {
		form, err := strictjson.Canonical(map[string]any{key: w.p.Args[key]})
		if err != nil {
			return nil, false
		}
		out = append(out, approval.Fact{Name: key, Value: digest(string(form))})
	}
	return out, true
}

// recipients returns the recipients in an argument, which must be a string or a list of
// strings.
func recipients(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}
