package headline

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// mostNamed is how many items of a list are named.
const mostNamed = 3

// named names the first items of a list, each in full, and says how many more there are. To name the last
// one takes no more room than to say that there is one more.
func named(list []string) wording.Clause {
	if more := len(list) - mostNamed; more > 1 {
		return wording.Say("%s and %s more", strings.Join(list[:mostNamed], ", "), strconv.Itoa(more))
	}
	return wording.List(list)
}

// longestProse is the most characters of a text in a headline.
const longestProse = 80

// prose returns the first line of a text, cut at the end of a word.
func prose(s string) wording.Clause {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(line)
	cut := strings.TrimSpace(rest) != ""
	if utf8.RuneCountInString(line) > longestProse {
		runes := []rune(line)[:longestProse]
		if at := strings.LastIndexByte(string(runes), ' '); at > 0 {
			line = string(runes)[:at]
		} else {
			line = string(runes)
		}
		cut = true
	}
	if cut {
		line += " …"
	}
	return wording.Clause{Text: line}
}

// beginning returns the keys without those that say when something ends, if another one says when it begins.
func (c *call) beginning() []string {
	if c.first(spoken.List("texts when")...) == "" {
		return c.keys
	}
	return slices.DeleteFunc(slices.Clone(c.keys), func(key string) bool { return strings.HasPrefix(key, "end") })
}
