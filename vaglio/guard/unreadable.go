package guard

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Outcome is what the guard says of a call: a denial, a text that cannot be
// read, or, where both are nil, nothing.
type Outcome struct {
	// Denial is set when a rule denies the call; it is final.
	Denial *Denial
	// Unreadable is set when no rule denies the call but a part of it cannot
	// be read to its end. That is no verdict: such a call is sent back.
	Unreadable *Unreadable
}

// Unreadable says where a call cannot be read, and why. It holds no value out
// of the arguments.
type Unreadable struct {
	// Key is the place of the text in the arguments, such as "steps[1].run"; ""
	// where that is not known.
	Key string
	// Line and Col count from 1, in the text under the argument; both are 0
	// when the text or the arguments as a whole are meant. Col counts
	// characters.
	Line, Col int
	// Excerpt shows the operators and keywords of the line, with … for all
	// other words; "" without a line.
	Excerpt string
	// What says what is wrong, as the end of a sentence about the text.
	What string
}

// trouble keeps the first text of a call that cannot be read, and what all its
// readings have cost.
type trouble struct {
	first *Unreadable
	// means are what all readings of the call share.
	means reading.Means
	// file and line are where the command stands that broke a rule, when that
	// is a file which the call runs.
	file string
	line int
}

// affords takes steps off what the call may cost, and reports whether some are
// left; when none are, that is what cannot be read of it.
func (t *trouble) affords(steps int) bool {
	if t == nil || t.means.Budget == nil || t.means.Budget.Spend(steps) {
		return true
	}
	t.note("", []shell.Problem{{Kind: shell.ProblemTooCostly, Detail: wording.Say("the command does too much to be read in full")}}, "", noText, false)
	return false
}

// blame notes where the command stands that broke a rule.
func (t *trouble) blame(c *shell.Command) {
	if t != nil && t.file == "" {
		t.file, t.line = c.File, c.Line
	}
}

// noText is the shift for a text of which no place is known.
const noText = 0

// note keeps what a script says about a text that could not be read. key is
// the argument under which it stands, "" for text out of a command; shift is
// how many bytes were put before it, [noText] where no place in it is known.
// certain says that the text is a shell's command line, and nothing else: of
// another text only its size and depth are its sender's mistake.
func (t *trouble) note(key string, problems []shell.Problem, text string, shift int, certain bool) {
	if t == nil || t.first != nil {
		return
	}
	for i := range problems {
		p := &problems[i]
		tooMuch := slices.Contains([]shell.ProblemKind{shell.ProblemTooBig, shell.ProblemTooDeep, shell.ProblemTooCostly}, p.Kind)
		if !tooMuch && (p.Kind != shell.ProblemUnparsable || !certain) {
			continue
		}
		if !certain {
			text = "" // no line of it is to blame
		}
		t.first = locate(key, text, p.Span.Start-shift, p.Detail.String())
		return
	}
}

// locate finds the line and the column of an offset.
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

// excerpt is the line around a byte without its words: any of them may be a
// secret, what a shell acts on is none.
func excerpt(line string, at int) string {
	const around = 40
	from, to := max(0, at-around), min(len(line), at+around)
	var b strings.Builder
	for i := from; i < to; {
		end := i
		for end < to && !isOperator(line[end]) {
			end++
		}
		if word := line[i:end]; end > i {
			whole := (from == 0 || i > from) && (to == len(line) || end < to)
			if !whole || !isReserved(word) {
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

// isOperator says whether a byte means something to a shell by itself.
func isOperator(c byte) bool { return strings.IndexByte(" \t|&;<>(){}[]\"'`$!", c) >= 0 }

// isReserved says whether a word is the shell's own, and so nobody's secret.
func isReserved(word string) bool {
	return slices.Contains([]string{
		"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function", "select",
	}, word)
}
