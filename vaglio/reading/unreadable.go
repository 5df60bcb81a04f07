package reading

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Unreadable says where a call cannot be read, and why. It contains no value of the arguments.
type Unreadable struct {
	// Key is the place of the text in the arguments, such as "steps[1].run"; "" if unknown.
	Key string
	// Line and Col are the position in the text under the argument, counted from 1; Col counts
	// characters. Both are 0 if the text or the arguments as a whole are meant.
	Line, Col int
	// Excerpt shows the operators and keywords of the line, with … for all other words; "" if there is no line.
	Excerpt string
	// What is the reason, as the end of a sentence about the text.
	What string
}

// Unread returns the first of a script's problems that is the sender's mistake, nil if there is none. key is the argument that holds the text, "" for text
// from a command; shift is how many bytes were put before the text; an empty text means that no position is known. certain says that the text can only be a
// shell's command line: of any other text, only its size and depth count as such a mistake.
func Unread(key string, problems []shell.Problem, text string, shift int, certain bool) *Unreadable {
	for i := range problems {
		p := &problems[i]
		if !p.Kind.TooMuch() && (p.Kind != shell.ProblemUnparsable || !certain) {
			continue
		}
		if !certain {
			text = "" // no line of it is to blame
		}
		return locate(key, text, p.Span.Start-shift, p.Detail.String())
	}
	return nil
}

// locate converts an offset into a line and a column.
func locate(key, text string, at int, what string) *Unreadable {
	if text == "" || at < 0 || at > len(text) {
		return &Unreadable{Key: key, What: what}
	}
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	u := &Unreadable{Key: key, Line: 1 + strings.Count(text[:begin], "\n"), Col: 1 + utf8.RuneCountInString(text[begin:at]), What: what}
	line, _, _ := strings.Cut(text[begin:], "\n")
	u.Excerpt = excerpt(line, at-begin)
	return u
}

// excerpt returns the line around a byte without its words: any of them may be a secret, while what a shell acts on is none.
func excerpt(line string, at int) string {
	const around = 40
	from, to := max(0, at-around), min(len(line), at+around)
	var b strings.Builder
	for i := from; i < to; {
		end := i
		for end < to && strings.IndexByte(" \t|&;<>(){}[]\"'`$!", line[end]) < 0 {
			end++
		}
		if word := line[i:end]; end > i {
			whole := (from == 0 || i > from) && (to == len(line) || end < to)
			if !whole || !wordclass.Is("shell-reserved", word) {
				word = "…"
			}
			b.WriteString(word)
		}
		if end < to {
			b.WriteByte(line[end])
		}
		i = end + 1
	}
	return b.String()
}
