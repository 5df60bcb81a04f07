package filter

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

// sed follows the commands s, y, d, p and q for lines, patterns and ranges of
// lines.
func sed(f *Filter, args []string) bool {
	o, rest, ok := parse(args, "n=quiet E=regexp-extended r u=unbuffered", "e=expression")
	texts := o["e"]
	if len(texts) == 0 && len(rest) > 0 {
		texts, rest = rest[:1], rest[1:]
	}
	var script []sedStep
	for _, text := range texts {
		steps, parsed := sedSteps(text, o.has("E") || o.has("r"))
		ok = ok && parsed
		script = append(script, steps...)
	}
	f.Files = rest
	f.apply = always(func(text string) string { return sedRun(script, text, o.has("n")) })
	return ok && len(script) > 0
}

// sedStep is one command of a script with its address.
type sedStep struct {
	from, to    int // line numbers; 0 is none and last the last line
	match       *regexp.Regexp
	not         bool
	verb        byte
	re          *regexp.Regexp
	with, flags string
	table       *strings.Replacer // of y
}

// last stands for the number of the last line.
const last = -1

// sedHead is what a command begins with: an address and a verb.
var sedHead = regexp.MustCompile(`^(?:(\d+|\$)(?:,(\d+|\$))?|/((?:[^/\\\n]|\\.)*)/)?\s*(!?)\s*([sydpq])`)

// sedSteps parses a script; false when it has a command that is not followed.
func sedSteps(s string, extended bool) ([]sedStep, bool) {
	var out []sedStep
	for {
		s = strings.TrimLeft(s, "; \t\n")
		if s == "" || s[0] == '#' {
			return out, true
		}
		m := sedHead.FindStringSubmatch(s)
		if m == nil {
			return nil, false
		}
		st := sedStep{from: sedLine(m[1]), to: sedLine(m[2]), not: m[4] != "", verb: m[5][0]}
		if m[2] == "" {
			st.to = st.from
		}
		var err error
		if strings.HasPrefix(s, "/") {
			st.match, err = regexp.Compile(unixtext.Regexp(m[3], extended, false))
		}
		s = s[len(m[0]):]
		ok := true
		if st.verb == 's' || st.verb == 'y' {
			s, ok = st.substitution(m[5]+s, extended)
		}
		if !ok || err != nil {
			return nil, false
		}
		out = append(out, st)
	}
}

// sedLine is the number of a line that an address names.
func sedLine(s string) int {
	if s == "$" {
		return last
	}
	n, _ := strconv.Atoi(s)
	return n
}

// substitution reads what s or y is given and returns the rest of the script.
func (st *sedStep) substitution(s string, extended bool) (rest string, ok bool) {
	if len(s) < 2 {
		return "", false
	}
	pat, with, flags, rest, ok := unixtext.SedCommand(s)
	if st.verb == 'y' {
		from, to := []rune(unixtext.ANSI(pat)), []rune(unixtext.ANSI(with))
		pairs := make([]string, 0, 2*len(from))
		for i := range min(len(from), len(to)) {
			pairs = append(pairs, string(from[i]), string(to[i]))
		}
		st.table = strings.NewReplacer(pairs...)
		return rest, ok && len(from) == len(to)
	}
	re, err := regexp.Compile(unixtext.Regexp(pat, extended, strings.ContainsAny(flags, "iI")))
	st.re, st.with, st.flags = re, with, flags
	return rest, ok && err == nil && strings.Trim(flags, "gIip") == ""
}

// applies reports whether the command is for a line, of which isLast says whether
// it is the last one.
func (st *sedStep) applies(n int, isLast bool, line string) bool {
	ok := true
	switch {
	case st.match != nil:
		ok = st.match.MatchString(line)
	case st.from == last:
		ok = isLast
	case st.from > 0:
		ok = n >= st.from && (st.to == last || n <= st.to || n == st.from)
	}
	return ok != st.not
}

// sedRun runs a script on every line.
func sedRun(script []sedStep, text string, quiet bool) string {
	var b strings.Builder
	list := lines(text)
	for i, line := range list {
		isLast := i == len(list)-1
		end := "\n"
		if isLast && !strings.HasSuffix(text, "\n") {
			end = ""
		}
		ended := byte(0)
		for k := 0; k < len(script) && ended == 0; k++ {
			if script[k].applies(i+1, isLast, line) {
				line, ended = script[k].run(line, &b)
			}
		}
		if ended != 'd' && !quiet {
			b.WriteString(line + end)
		}
		if ended == 'q' {
			break
		}
	}
	return b.String()
}

// run is what a command makes of a line, and the command, d or q, that ends the
// script there, if any. What it prints goes to out.
func (st *sedStep) run(line string, out *strings.Builder) (with string, ended byte) {
	prints := st.verb == 'p'
	switch st.verb {
	case 'd', 'q':
		return line, st.verb
	case 'y':
		line = st.table.Replace(line)
	case 's':
		prints = strings.Contains(st.flags, "p") && st.re.MatchString(line)
		line = unixtext.SedReplace(st.re, line, st.with, strings.Contains(st.flags, "g"))
	}
	if prints {
		out.WriteString(line + "\n")
	}
	return line, 0
}
