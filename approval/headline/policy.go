package headline

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// admits reports whether what an argument holds gives everyone a right, as a policy does: under a key
// for those who get it stands "*", or a word for everyone. A text that is a document counts by what it
// holds.
func admits(v any, whom bool) bool {
	switch v := v.(type) {
	case string:
		var inner any
		if document.MatchString(v) && strictjson.Unmarshal([]byte(v), &inner) == nil {
			return admits(inner, whom)
		}
		return whom && (strings.TrimSpace(v) == "*" || spoken.Is("people everyone", reading.Normal(v)))
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return admits(e, whom) })
	case map[string]any:
		for key, value := range v {
			if admits(value, whom || spoken.Is("people admitted", reading.Normal(key))) {
				return true
			}
		}
	}
	return false
}
