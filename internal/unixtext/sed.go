package unixtext

import (
	"regexp"
	"strconv"
	"strings"
)

// mostEdited limits the text that a replacement makes, and mostPattern a pattern, in bytes.
const (
	mostEdited  = 1 << 20
	mostPattern = 1 << 10
)

// sedHead matches what stands before a command's own words: the line that it is for, and its verb.
// Of an a, i or c, the rest is a text, in which sedEscape matches a backslash.
var (
	sedHead   = regexp.MustCompile(`^(\d+|\$|/(?:\\.|[^/\\])+/)? *(s|d *(?:[;\n]|$)|[aic](?:\\\n|[ \t]*\\?)((?:[^\\\n]|\\(?s:.))+))`)
	sedEscape = regexp.MustCompile(`(?s)\\(.)`)
)

// SedEdited returns a text after a sed script; false if the script does anything else than replace,
// delete and then add, does it in a way that is not followed, or costs more than spend grants.
// extended says that its patterns are extended regular expressions.
func SedEdited(script string, extended bool, text string, spend func(steps int) bool) (string, bool) {
	all := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	all = all[:len(all)-1]
	added, size := false, len(text)
	for script = strings.TrimLeft(script, "; \t\n"); script != ""; script = strings.TrimLeft(script, "; \t\n") {
		m := sedHead.FindStringSubmatch(script)
		if m == nil || added && m[2][0] != 'a' && m[2][0] != 'i' {
			return "", false
		}
		change, rest, ok := changeOf(m, script[len(m[0]):], extended)
		at, known := addressOf(m[1], extended, len(all))
		if !ok || !known || !spend(costOf(script[:len(script)-len(rest)], size)) {
			return "", false
		}
		if size, ok = edit(all, at, change); !ok {
			return "", false
		}
		script, added = rest, added || m[3] != ""
	}
	out := strings.Join(all, "")
	if !strings.HasSuffix(text, "\n") {
		out = strings.TrimSuffix(out, "\n")
	}
	return out, true
}

// edit changes the lines at an address that are not deleted, and returns how long they all are then;
// false if one cannot be changed, or they are too long.
func edit(all []string, at address, change func(line string) (string, bool)) (size int, ok bool) {
	for i, line := range all {
		if line != "" && at.is(i+1, line) {
			if all[i], ok = change(line); !ok {
				return 0, false
			}
		}
		if size += len(all[i]); size > mostEdited {
			return 0, false
		}
	}
	return size, true
}

// changeOf returns what a command makes of a line, and what follows it in the script.
func changeOf(m []string, rest string, extended bool) (change func(line string) (string, bool), behind string, ok bool) {
	with := sedEscape.ReplaceAllString(m[3], "$1") + "\n"
	switch m[2][0] {
	case 'd':
		return func(string) (string, bool) { return "", true }, rest, true
	case 'a':
		return func(line string) (string, bool) { return line + with, true }, rest, true
	case 'i':
		return func(line string) (string, bool) { return with + line, true }, rest, true
	case 'c':
		return func(string) (string, bool) { return with, true }, rest, true
	}
	if rest == "" {
		return nil, "", false
	}
	pat, with, flags, rest, whole := SedCommand("s" + rest)
	if !whole || len(pat) > mostPattern || strings.Trim(flags, "giI") != "" || strings.HasPrefix(rest, "}") {
		return nil, "", false
	}
	re, ok := patternOf(pat, extended, strings.ContainsAny(flags, "iI"))
	to, known := replacement(with)
	return func(line string) (string, bool) { return replaced(line, re, to, strings.Contains(flags, "g")) }, rest, ok && known
}

// address is a line with a number, or those that match a pattern. Without either, it is every line.
type address struct {
	line    int
	pattern *regexp.Regexp
}

func (a address) is(n int, line string) bool {
	if a.pattern != nil {
		return a.pattern.MatchString(strings.TrimSuffix(line, "\n"))
	}
	return a.line == 0 || a.line == n
}

// addressOf reads an address in a text with some lines.
func addressOf(s string, extended bool, last int) (a address, ok bool) {
	if strings.HasPrefix(s, "/") && len(s) < mostPattern {
		a.pattern, ok = patternOf(strings.ReplaceAll(s[1:len(s)-1], `\/`, "/"), extended, false)
		return a, ok
	}
	if s = strings.ReplaceAll(s, "$", strconv.Itoa(last)); s == "" {
		return a, true
	}
	n, err := strconv.Atoi(s)
	return address{line: n}, err == nil && n > 0
}

// costOf returns the steps that a match in that many bytes may take: a pattern is tried at each with
// each of its parts, and a repetition has many.
func costOf(pat string, text int) int {
	parts := 1 + len(pat)/16
	if strings.Contains(pat, "{") {
		parts *= 64
	}
	return 64 + text/4*parts
}

// replaced replaces what a pattern matches in a line: all of it, or the first. It reports whether
// the result is within the limit.
func replaced(line string, re *regexp.Regexp, to string, all bool) (string, bool) {
	most := 1
	if all {
		most = -1
	}
	line = strings.TrimSuffix(line, "\n")
	var out []byte
	from := 0
	for _, at := range re.FindAllStringSubmatchIndex(line, most) {
		if len(out)+len(to)+strings.Count(to, "${")*(at[1]-at[0]) > mostEdited {
			return "", false
		}
		out = re.ExpandString(append(out, line[from:at[0]]...), to, line, at)
		from = at[1]
	}
	return string(out) + line[from:] + "\n", true
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

// literal reports whether a character of a basic expression is not an operator there: $ and ^ are
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

// sedAddress matches a pattern that picks lines.
var sedAddress = regexp.MustCompile(`(?s)^/(?:\\.|[^\\/])*[\\/]?`)

// SedDoes hands on what a script does besides to edit: with e, a command line that it runs, "" if
// that is what it edits; with s, one that it puts together from a text and what it edits; with w, a
// file that it writes.
func SedDoes(script string, does func(verb byte, text string)) {
	adds := false // the line goes on with what a, i or c adds
	for line := range strings.SplitSeq(script, "\n") {
		goesOn := (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
		for s := line; s != "" && !adds; {
			s, adds = sedDoes(strings.TrimLeft(s, "0123456789,$!;{} \t"), does)
		}
		adds = adds && goesOn
	}
}

// sedDoes hands on what one command does, and returns what stands behind it in its line. adds reports
// whether its word is a text.
func sedDoes(s string, does func(verb byte, text string)) (rest string, adds bool) {
	switch {
	case s == "e", strings.HasPrefix(s, "e "):
		does('e', strings.TrimPrefix(s[1:], " "))
		return "", false
	case strings.HasPrefix(s, "w ") && s != "w ":
		does('w', strings.TrimSpace(s[1:]))
		return "", false
	case s != "" && strings.IndexByte("aic", s[0]) >= 0:
		return "", true
	case strings.HasPrefix(s, "/"):
		return s[len(sedAddress.FindString(s)):], false
	case len(s) > 1 && s[0] == 's':
		return sedReplaces(s, does), false
	}
	_, rest, _ = strings.Cut(s, ";")
	return rest, false
}

// sedReplaces hands on what an s does besides to edit, and returns what stands behind it.
func sedReplaces(s string, does func(verb byte, text string)) string {
	_, with, flags, rest, ok := SedCommand(s)
	switch {
	case ok && strings.Contains(flags, "e"):
		does('s', strings.ReplaceAll(with, `\/`, "/"))
	case ok && strings.HasSuffix(flags, "w"):
		does('w', strings.TrimSpace(rest))
		return ""
	}
	return rest
}
