package guard

import (
	"reflect"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
)

// matchCommand gives the first command rule that a line breaks.
func (g *Guard) matchCommand(line string) *rule {
	if line == "" {
		return nil
	}
	for _, r := range g.commands {
		if r.match(line) {
			return r
		}
	}
	return nil
}

// commandForms tries a line as it stands and in its normal form.
func (g *Guard) commandForms(line string) *rule {
	if r := g.matchCommand(line); r != nil {
		return r
	}
	form := place.PlainLine(line)
	if g.fold {
		form = strings.ToLower(form)
	}
	if form == line {
		return nil
	}
	return g.matchCommand(form)
}

// seedCommand is the line that the core looks at: command, or cmd where
// command is missing or empty.
func seedCommand(args map[string]any) string {
	if line := commandLine(args["command"]); line != "" {
		return line
	}
	return commandLine(args["cmd"])
}

// commandLine joins a list with one space, as the core does.
func commandLine(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		words := make([]string, len(v))
		for i, e := range v {
			words[i] = reading.Word(e)
		}
		return strings.Join(words, " ")
	case []string:
		return strings.Join(v, " ")
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.String {
			return r.String()
		}
		return ""
	}
}

// commandLines gathers every line that a shell could be given: the values of
// the command arguments at any depth.
func (s *scan) commandLines(args map[string]any) []string {
	var lines []string
	var walk func(v any, command bool)
	walk = func(v any, command bool) {
		switch v := v.(type) {
		case string:
			if command {
				lines = append(lines, v)
			}
		case []any:
			if command {
				lines = append(lines, commandLine(v))
			}
			for _, e := range v {
				walk(e, command)
			}
		case map[string]any:
			for _, k := range reading.SortedKeys(v) {
				walk(v[k], command || s.rd.IsCore(k))
			}
		default:
			if command {
				lines = append(lines, commandLine(v))
			}
		}
	}
	walk(args, false)
	return lines
}
