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
	if s, ok := w.tool(); ok {
		w.add(s)
		return true
	}
	if w.runsCommands() {
		return false // an effect of a command line that no parsed command accounts for
	}
	s := approval.Subject{System: strings.ToLower(w.p.Executor), Verb: "call"}
	for _, key := range slices.Sorted(maps.Keys(w.p.Args)) {
		value, ok := canonical(w.p.Args[key])
		if !ok {
			return false
		}
		s.Object = append(s.Object, approval.Fact{Name: key, Value: value})
	}
	if w.p.Context.Cwd != "" {
		s.Object = append(s.Object, approval.Fact{Name: approval.FactFolder, Value: w.n.path("", w.p.Context.Cwd)})
	}
	w.add(s)
	return true
}

// canonical returns an argument as canonical JSON, or the digest of that if it is long.
func canonical(v any) (string, bool) {
	const longest = 200 // bytes
	form, err := strictjson.Canonical(map[string]any{"": v})
	if err != nil {
		return "", false
	}
	value := strings.TrimSuffix(strings.TrimPrefix(string(form), `{"":`), "}")
	if len(value) > longest {
		value = digest(value)
	}
	return value, true
}

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
	handed, ok := w.handed()
	if !ok {
		return nil, false
	}
	var out []approval.Subject
	list = slices.DeleteFunc(slices.Clone(list), func(e effects.Effect) bool { return e.Kind == operation.KindPrivilege })
	for _, e := range list {
		if e.Kind != operation.KindForeignCode {
			return nil, false
		}
		addresses := []string{e.Target}
		if strings.HasPrefix(e.Target, "$(") {
			addresses = w.fetched()
		}
		for _, a := range addresses {
			s, ok := requestTo("GET", a, handed)
			if !ok || !strings.Contains(a, "://") || strings.ContainsAny(a, "$ ") {
				return nil, false
			}
			s.System, s.Verb = "code", "run"
			out = append(out, s)
		}
	}
	return out, len(out) > 0
}

// handed returns the arguments and variables that interpreters hand to downloaded text: with
// --uninstall, the same text does something else.
func (w *work) handed() ([]approval.Fact, bool) {
	var out []approval.Fact
	known := true
	add := func(name string, word shell.Word) {
		text, ok := word.Text()
		known = known && ok
		out = append(out, approval.Fact{Name: name, Value: text})
	}
	for i := range w.rd.Commands {
		script := w.rd.Commands[i].Script
		if script == nil {
			continue
		}
		for _, p := range script.Problems {
			for i, word := range p.Args {
				add("argument"+strings.Repeat("+", min(i, 8)), word)
			}
		}
		for i := range script.Commands {
			if c := &script.Commands[i]; len(c.Argv) == 0 { // what the interpreter's text starts with
				for _, a := range c.Assigns {
					add(a.Name, a.Value)
				}
			}
		}
	}
	return out, known
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
