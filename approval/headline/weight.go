package headline

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// ByWeight returns the keys of arguments in the order in which people want to see them: what runs,
// who gets it, how much, where it is and what it is called come first, switches and long texts
// last.
func ByWeight(args map[string]any) []string {
	return slices.SortedFunc(maps.Keys(args), func(a, b string) int {
		return cmp.Or(weightOf(a, args[a])-weightOf(b, args[b]), strings.Compare(a, b))
	})
}

// weights are the lists of keys by weight. Keys of no list stand before the texts.
func weights() []string { return []string{"runs", "whom", "much", "where", "called", "", "texts"} }

// longText is the number of characters from which a text goes after everything else.
const longText = 120

// weightOf returns the position of an argument among the others.
func weightOf(key string, value any) int {
	last := len(weights())
	switch v := value.(type) {
	case bool, nil:
		return last
	case string:
		if utf8.RuneCountInString(v) > longText || strings.Contains(v, "\n") {
			return last + 1
		}
	default:
	}
	return rankOf(key)
}

// rankOf returns the position of a key among the lists of weights: of the whole key, or else of
// its last word.
func rankOf(key string) int {
	ends := append([]string{reading.Normal(key)}, lastOf(reading.Words(key))...)
	for _, end := range ends {
		for rank, list := range weights() {
			if spoken.Is("weights "+list, end) {
				return rank
			}
		}
	}
	return slices.Index(weights(), "")
}

// lastOf returns the last word, and what it is without an id.
func lastOf(words []string) []string {
	if n := len(words); n > 1 && slices.Contains([]string{"id", "ids", "name", "number"}, words[n-1]) {
		return []string{words[n-2], words[n-1]}
	} else if n > 0 {
		return words[n-1:]
	}
	return nil
}

// assignee returns the value of the only other argument of what is assigned: to whom, or nil.
func (c *call) assignee(t *toolName, key string) *wording.Clause {
	to := c.rest(key)
	if len(to) != 1 || !slices.Contains([]wording.Phrase{"assigns %s", "reassigns %s"}, t.act.Phrase) {
		return nil
	}
	return &wording.Clause{Text: to[0]}
}

// rest returns the values of the only argument besides one, if it says what something is, not where.
func (c *call) rest(but string) (values []string) {
	for _, key := range c.keys {
		switch {
		case key == but || len(c.args[key]) == 0:
		case values != nil || c.rank(key) >= rankOf("text") || spoken.Is("places bare", key) || spoken.Is("places named", key):
			return nil
		default:
			values = c.args[key]
		}
	}
	return values
}
