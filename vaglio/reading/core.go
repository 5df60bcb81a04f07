package reading

import (
	"reflect"
	"strings"
)

// SeedLine returns the command line that the guard's core looks at: the argument command, or cmd if command is missing or empty.
func SeedLine(args map[string]any) string {
	if line := PlainLine(args["command"]); line != "" {
		return line
	}
	return PlainLine(args["cmd"])
}

// PlainLine returns a text, or joins a list with single spaces, as the core does.
func PlainLine(v any) string {
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
