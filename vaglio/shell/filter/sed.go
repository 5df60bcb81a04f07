package filter

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

// mostEdited limits the text that a replacement makes, and mostPattern a pattern, in bytes.
const (
	mostEdited  = 1 << 20
	mostPattern = 1 << 10
)

// mostSteps limits what the replacements of one call of sed may cost.
const mostSteps = 1 << 20

// replaces reads a call of sed that replaces text and prints the result.
func replaces(f *Filter, args []string) bool {
	o, rest, ok := parse(args, "E=regexp-extended r", "e=expression")
	if !ok {
		return false
	}
	scripts := o["e"]
	if len(scripts) == 0 && len(rest) > 0 {
		scripts, rest = rest[:1], rest[1:]
	}
	f.Files = rest
	f.apply = func(text string) (string, bool) {
		left := mostSteps
		return Replaced(strings.Join(scripts, "\n"), o.has("E") || o.has("r"), text, func(n int) bool { left -= n; return left >= 0 })
	}
	return true
}

// Replaced returns a text after the s commands of a sed script; false if the script does anything
// else, replaces in a way that is not followed, or costs more than spend grants. extended says that
// its patterns are extended regular expressions.
func Replaced(script string, extended bool, text string, spend func(steps int) bool) (string, bool) {
	for script = strings.TrimLeft(script, "; \t\n"); script != ""; script = strings.TrimLeft(script, "; \t\n") {
		if len(script) < 2 || script[0] != 's' {
			return "", false
		}
		pat, with, flags, rest, ok := unixtext.SedCommand(script)
		if !ok || len(pat) > mostPattern || strings.Trim(flags, "giI") != "" || strings.HasPrefix(rest, "}") || !spend(costOf(pat, text)) {
			return "", false
		}
		re, ok := patternOf(pat, extended, strings.ContainsAny(flags, "iI"))
		to, known := replacement(with)
		if !ok || !known {
			return "", false
		}
		if text, ok = replaced(text, re, to, strings.Contains(flags, "g")); !ok {
			return "", false
		}
		script = rest
	}
	return text, true
}

// costOf returns the steps that a match may take: a pattern is tried at each byte with each of its
// parts, and a repetition has many.
func costOf(pat, text string) int {
	parts := 1 + len(pat)/16
	if strings.Contains(pat, "{") {
		parts *= 64
	}
	return 64 + len(text)/4*parts
}

// replaced replaces what a pattern matches in each line: all of it, or the first. It reports whether
// the result is within the limit.
func replaced(text string, re *regexp.Regexp, to string, all bool) (string, bool) {
	most := 1
	if all {
		most = -1
	}
	var out []byte
	for l := range strings.SplitAfterSeq(text, "\n") {
		line, _ := strings.CutSuffix(l, "\n")
		from := 0
		for _, at := range re.FindAllStringSubmatchIndex(line, most) {
			if len(out)+len(to)+strings.Count(to, "${")*(at[1]-at[0]) > mostEdited {
				return "", false
			}
			out = re.ExpandString(append(out, line[from:at[0]]...), to, line, at)
			from = at[1]
		}
		out = append(out, l[from:]...) // with the line's end
	}
	return string(out), len(out) <= mostEdited
}

// operators are the characters of operators, which in a basic expression need a backslash, and in
// an extended one lose their meaning with it.
const operators = "(){}|+?"

// patternOf compiles a POSIX regular expression with the extensions of GNU sed.
func patternOf(pat string, extended, fold bool) (*regexp.Regexp, bool) {
	var b strings.Builder
	if fold {
		b.WriteString("(?i)")
	}
	for i := 0; i < len(pat); i++ {
		c := pat[i]
		switch {
		case c == '[':
			end := classEnd(pat, i)
			b.WriteString(strings.ReplaceAll(pat[i:end], `\`, `\\`))
			i = end - 1
		case c == '\\' && i+1 < len(pat):
			i++
			b.WriteString(escaped(pat[i], extended))
		case !extended && literal(pat, i):
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	re, err := regexp.Compile(b.String())
	return re, err == nil
}

// escaped returns what a character behind a backslash means. What was matched before has no
// equivalent, and gives what does not compile.
func escaped(c byte, extended bool) string {
	switch {
	case c == '<' || c == '>':
		return `\b`
	case strings.IndexByte("ntwWsSbB0123456789", c) >= 0, strings.IndexByte(operators, c) >= 0 && extended:
		return `\` + string(c)
	case strings.IndexByte(operators, c) >= 0:
		return string(c)
	default:
		return regexp.QuoteMeta(string(c))
	}
}

// literal reports whether a character of a basic expression is no operator there: $ and ^ are
// anchors at the end and the start of one, of a group and of an alternative only.
func literal(pat string, at int) bool {
	before, behind := pat[:at], pat[at+1:]
	switch pat[at] {
	case '$':
		return behind != "" && !strings.HasPrefix(behind, `\)`) && !strings.HasPrefix(behind, `\|`)
	case '^':
		return before != "" && !strings.HasSuffix(before, `\(`) && !strings.HasSuffix(before, `\|`)
	default:
		return strings.IndexByte(operators, pat[at]) >= 0
	}
}

// classEnd returns the index behind a bracket expression, in which a ] comes first or ends it.
func classEnd(pat string, from int) int {
	i := from + 1
	if i < len(pat) && pat[i] == '^' {
		i++
	}
	for first := i; i < len(pat); i++ {
		switch {
		case pat[i] == ']' && i > first:
			return i + 1
		case pat[i] == '[' && i+1 < len(pat) && strings.IndexByte(":.=", pat[i+1]) >= 0: // as in [[:alpha:]]
			if n := strings.Index(pat[i+2:], pat[i+1:i+2]+"]"); n >= 0 {
				i += n + len("[:") + len(":]") - 1
			}
		}
	}
	return len(pat)
}

// replacement returns what replaces a match, as a template of the regexp package; false if it
// changes the case of what was matched.
func replacement(with string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		switch c := with[i]; {
		case c == '&':
			b.WriteString("${0}")
		case c == '$':
			b.WriteString("$$")
		case c == '\\' && i+1 < len(with):
			i++
			if strings.IndexByte("ULulE", with[i]) >= 0 {
				return "", false
			}
			b.WriteString(inserted(with[i]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// inserted returns what a character behind a backslash inserts.
func inserted(c byte) string {
	switch {
	case '0' <= c && c <= '9':
		return "${" + string(c) + "}"
	case c == 'n':
		return "\n"
	case c == 't':
		return "\t"
	case c == '$':
		return "$$"
	default:
		return string(c)
	}
}
