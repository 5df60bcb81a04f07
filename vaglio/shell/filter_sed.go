package shell

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

// sedOutput is the output of sed with the commands s, y, d, p and q.
func (r *reader) sedOutput(in Word, args []Word) (Word, bool) {
	opts, rest := grammar{values: "ef", long: "expression file", permute: true}.parse(args)
	texts := opts.all("e", "expression")
	if opts.any("f", "file", "i", "in-place", "s", "z") {
		return Word{}, false
	}
	if len(texts) == 0 && len(rest) > 0 {
		texts = rest[:1]
	}
	var script []sedStep
	for _, w := range texts {
		s, ok := w.Text()
		steps, parsed := sedSteps(s, opts.any("E", "r", "regexp-extended"))
		if !ok || !parsed {
			return Word{}, false
		}
		script = append(script, steps...)
	}
	return onText(in, func(s string) (string, bool) {
		if len(script) == 0 || !r.step(nil, len(script)*(1+strings.Count(s, "\n"))+len(s)/4) {
			return "", false
		}
		return sedRun(script, s, opts.any("n", "quiet", "silent")), true
	})
}

// sedStep is one command of a script with its address.
type sedStep struct {
	from, to    int // line numbers; 0 is none and -1 the last line
	match       *regexp.Regexp
	not         bool
	verb        byte
	re          *regexp.Regexp
	with, flags string
	table       runeTable
}

// sedSteps parses a script; false when it has a command that is not followed.
func sedSteps(s string, extended bool) ([]sedStep, bool) {
	var out []sedStep
	for {
		s = strings.TrimLeft(s, "; \t\n")
		if s == "" || s[0] == '#' {
			return out, true
		}
		var st sedStep
		s = st.address(s, extended)
		if s == "" {
			return nil, false
		}
		st.verb = s[0]
		switch st.verb {
		case 'p', 'd', 'q':
			s = s[1:]
		case 's', 'y':
			if len(s) < 2 {
				return nil, false
			}
			pat, with, flags, rest, ok := unixtext.SedCommand(s)
			if !ok || !st.substitution(pat, with, flags, extended) {
				return nil, false
			}
			s = rest
		default:
			return nil, false
		}
		out = append(out, st)
	}
}

func (st *sedStep) substitution(pat, with, flags string, extended bool) bool {
	if st.verb == 'y' {
		from, to := []rune(unixtext.ANSI(pat)), []rune(unixtext.ANSI(with))
		st.table = make(runeTable, len(from))
		for i, c := range from {
			if i < len(to) {
				st.table[c] = to[i]
			}
		}
		return len(from) == len(to)
	}
	re, err := regexp.Compile(unixtext.Regexp(pat, extended, strings.ContainsAny(flags, "iI")))
	st.re, st.with, st.flags = re, with, flags
	return err == nil && strings.Trim(flags, "gIip") == ""
}

// address reads the lines that a command is for and returns the rest.
func (st *sedStep) address(s string, extended bool) string {
	switch n := digits(s); {
	case n > 0:
		st.from, _ = strconv.Atoi(s[:n])
		st.to = st.from
		s = s[n:]
	case s[0] == '$':
		st.from, st.to = -1, -1
		s = s[1:]
	case s[0] == '/':
		pat, rest := delimited(s)
		re, err := regexp.Compile(unixtext.Regexp(pat, extended, false))
		if err != nil {
			return ""
		}
		st.match, s = re, rest
	}
	if rest, ok := strings.CutPrefix(s, ","); ok && st.from > 0 {
		if s, ok = st.lastLine(rest); !ok {
			return ""
		}
	}
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, "!") {
		st.not = true
		s = strings.TrimLeft(s[1:], " ")
	}
	return s
}

// lastLine reads where a range ends and returns the rest; false if it is no
// line.
func (st *sedStep) lastLine(s string) (string, bool) {
	if n := digits(s); n > 0 {
		st.to, _ = strconv.Atoi(s[:n])
		return s[n:], true
	}
	st.to = -1
	return strings.CutPrefix(s, "$")
}

// digits is how many digits a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// applies reports whether the command is for a line.
func (st *sedStep) applies(n int, last bool, line string) bool {
	ok := true
	switch {
	case st.match != nil:
		ok = st.match.MatchString(line)
	case st.from == -1:
		ok = last
	case st.from > 0:
		ok = n >= st.from && (st.to == -1 || n <= st.to || n == st.from)
	}
	return ok != st.not
}

// sedRun runs a script on every line.
func sedRun(script []sedStep, s string, quiet bool) string {
	var b strings.Builder
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		line := strings.TrimSuffix(l, "\n")
		end := l[len(line):]
		line, ended := sedLine(script, line, sedPlace{n: i + 1, last: i == len(lines)-1, end: end, out: &b})
		if ended != 'd' && !quiet {
			b.WriteString(line + end)
		}
		if ended == 'q' {
			break
		}
	}
	return b.String()
}

// sedPlace is where a line stands, and where the script prints.
type sedPlace struct {
	n    int
	last bool
	end  string // the line's newline, if it has one
	out  *strings.Builder
}

// sedLine is what a script makes of a line, and the command, d or q, that ended
// the script, if any.
func sedLine(script []sedStep, line string, at sedPlace) (out string, ended byte) {
	for i := range script {
		st := &script[i]
		if !st.applies(at.n, at.last, line) {
			continue
		}
		switch st.verb {
		case 'd', 'q':
			return line, st.verb
		case 'p':
			at.out.WriteString(line + "\n")
		case 'y':
			line = strings.Map(st.table.of, line)
		default:
			hit := st.re.MatchString(line)
			line = unixtext.SedReplace(st.re, line, st.with, strings.Contains(st.flags, "g"))
			if hit && strings.Contains(st.flags, "p") {
				at.out.WriteString(line + at.end)
			}
		}
	}
	return line, 0
}

// delimited reads a text between a delimiter and its counterpart.
func delimited(s string) (body, rest string) {
	open, shut := s[0], s[0]
	switch open {
	case '(':
		shut = ')'
	case '[':
		shut = ']'
	case '{':
		shut = '}'
	case '<':
		shut = '>'
	}
	depth := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == shut && depth == 0:
			return s[1:i], s[i+1:]
		case s[i] == shut:
			depth--
		case s[i] == open:
			depth++
		}
	}
	return s[1:], ""
}
