package reading

import (
	"fmt"
	"slices"
	"strings"
)

// properties returns the parameters that a JSON schema declares.
func properties(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	p, _ := s["properties"].(map[string]any)
	return p
}

// claims reports whether an argument asks that nothing be changed. It only counts if the executor
// declares the parameter: a tool ignores parameters that it does not know, and goes ahead.
func (w *walk) claims(key string, v any) bool {
	if _, declared := w.schema[key]; !declared {
		return false
	}
	said := strings.ToLower(fmt.Sprint(v))
	if Normal(key) == "mode" {
		return slices.Contains([]string{"preview", "dry-run", "dry_run", "dryrun", "plan", "simulate", "validate"}, said)
	}
	return said == "true" || said == "yes"
}

// declares reports whether the executor declares the arguments that it would run. An executor without a schema counts as declaring them.
func (w *walk) declares(keys []string) bool {
	return w.schema == nil || !slices.ContainsFunc(keys, func(k string) bool {
		_, ok := w.schema[k]
		return !ok && w.role(k)&RoleRuns != 0
	})
}

// longestSwitch is the size in bytes of the longest value that switches something on: a number of things.
const longestSwitch = 20

// Switches returns the words of the arguments that are switched on, also of those within others, in
// a fixed order: "delete subtasks", "send". What is deleted may also be a number of things.
func Switches(args map[string]any) (on [][]string) {
	for _, key := range SortedKeys(args) {
		words := Words(key)
		switch v := args[key].(type) {
		case nil, []any:
		case map[string]any:
			on = append(on, Switches(v)...)
		default:
			if said := fmt.Sprint(v); len(words) > 0 && len(said) <= longestSwitch && isOn(words, strings.ToLower(said)) {
				on = append(on, words)
			}
		}
	}
	return on
}

// isOn reports whether a value switches on what the words of its key say.
func isOn(words []string, said string) bool {
	some := words[0] == "delete" && strings.Trim(said, "0123456789") == "" && strings.Trim(said, "0") != ""
	return some || len(words) == 1 && said == "1" || slices.Contains([]string{"true", "yes", "on"}, said)
}
