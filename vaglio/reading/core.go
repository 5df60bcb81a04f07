package reading

import (
	"reflect"
	"strings"
)

// SeedLine returns the command line that the guard's core looks at: the argument command, or cmd
// if command is missing or empty.
func SeedLine(args map[string]any) string {
	if line := plainLine(args["command"]); line != "" {
		return line
	}
	return plainLine(args["cmd"])
}

// plainLine joins a list with single spaces, as the core does.
func plainLine(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		words := make([]string, len(v))
		for i, e := range v {
			words[i] = Word(e)
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

// CoreLines returns every line that a shell could be given: the values of the command arguments at
// any depth, with lists both joined and one by one.
func (rd *Reading) CoreLines(args map[string]any) []string { return rd.coreLines(nil, args, false) }

func (rd *Reading) coreLines(lines []string, v any, command bool) []string {
	nested, isMap := v.(map[string]any)
	if !isMap && command {
		lines = append(lines, plainLine(v))
	}
	for _, k := range SortedKeys(nested) {
		lines = rd.coreLines(lines, nested[k], command || rd.IsCore(k))
	}
	if list, ok := v.([]any); ok {
		for _, e := range list {
			lines = rd.coreLines(lines, e, command)
		}
	}
	return lines
}
