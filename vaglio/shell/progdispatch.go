package shell

import "strings"

// dispatchCall reads the calls that call another function by its name:
// send(:system, …) of ruby, array_map("unlink", …) of php.
func (p *program) dispatchCall(name string, args []value) (value, bool) {
	switch name {
	case "send", "public_send", "__send__", "array_map", "array_walk", "call_user_func", "call_user_func_array", "array_filter", "forward_static_call":
	default:
		return value{}, false
	}
	if len(args) < 2 {
		return value{}, false
	}
	target, ok := args[0].word().Text()
	if !ok || p.lang.name != "ruby" && p.lang.name != "php" {
		return value{}, false
	}
	return p.call(strings.TrimPrefix(target, ":"), value{}, args[1:]), true
}

// globbed is a word whose metacharacters stand for the names that match.
func globbed(w Word) Word {
	s, ok := w.Text()
	if !ok {
		return w
	}
	x := expander{globs: true}
	x.active(s)
	return x.cur.word()
}
