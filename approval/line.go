package approval

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Line returns the call in one line: the command line that it would run, if there is one,
// else [Wanted].
func Line(p vaglio.Proposal) string {
	if line := CommandLine(p); line != "" {
		return clip(line, maxWanted)
	}
	return Wanted(p)
}

// CommandLine returns the command line that a call would run, or "" if there is none or
// more than one. A list of words is quoted the way a shell needs it.
func CommandLine(p vaglio.Proposal) string {
	line := ""
	for _, c := range reading.NewReader(reading.Options{}).Read(p.Call()).Commands {
		switch {
		case c.Doubt || c.Verb:
		case !c.IsLine() || line != "" && c.Text != line:
			return ""
		default:
			line = c.Text
		}
	}
	return line
}

// linesAskedAbout returns the lines of a command line for which a judge would have a person asked. It reports whether
// there is anything else that one would, without a line.
func linesAskedAbout(v vaglio.Verdict, command string) (lines []int, more bool) {
	all := strings.Count(command, "\n") + 1
	if all == 1 {
		return nil, true
	}
	for i := range v.Results {
		for _, s := range v.Results[i].Signals {
			if s.Score < v.Results[i].MinScore {
				lines, more = append(lines, s.Lines...), more || len(s.Lines) == 0
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	here := slices.DeleteFunc(slices.Clone(lines), func(n int) bool { return n < 1 || n > all })
	return here, more || len(here) < len(lines)
}

// clip is [visible.Clip].
func clip(s string, n int) string { return visible.Clip(s, n) }

// quote is [visible.Quote].
func quote(s string, n int) string { return visible.Quote(s, n) }

// oneLine escapes line breaks and everything else that is not printable.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	quoted := strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\\`, `\`)
}

// unwritable replaces arguments that have no JSON form. No ask is opened for such a call,
// because it has no fingerprint either.
const unwritable = "(these arguments cannot be written as JSON: deny the call)"

// ArgsText returns the arguments of a call as indented JSON in the order in which people want to
// see them: who gets what, how much and where come first, switches and long texts last. The lines of
// a text stand below each other.
func ArgsText(args vaglio.Args) string {
	if len(args) == 0 {
		return "{}"
	}
	form, err := weighed(map[string]any(args))
	if err != nil {
		return unwritable
	}
	text, err := strictjson.Indent(form)
	if err != nil {
		return unwritable
	}
	return inLines(string(text))
}

// inLines breaks the texts in indented JSON behind each \n that stands for a line break, or several of them.
// What follows is indented further than any name beside the text's own, so that no text can pass for another
// argument. A long text that is little else than breaks stays as it is: it would become many times as long.
func inLines(text string) string {
	if breaks := strings.Count(text, `\n`); breaks == 0 || len(text) > 4<<10 && 8*breaks > len(text) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		inner := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+len("    "))
		for i := 0; i < len(line); i++ {
			b.WriteByte(line[i])
			if line[i] != '\\' {
				continue
			}
			i++ // it escapes what follows
			b.WriteByte(line[i])
			if after := line[i+1:]; line[i] == 'n' && !strings.HasPrefix(after, `"`) && !strings.HasPrefix(after, `\n`) {
				b.WriteString("\n" + inner)
			}
		}
	}
	return b.String()
}

// CommandArgs returns the arguments of a call that has a command and nothing else, as [ArgsText] does: showing
// them would repeat the command. It returns "" if they cannot be written.
func CommandArgs(command string) string {
	text := ArgsText(vaglio.Args{"command": command})
	if text == unwritable {
		return ""
	}
	return text
}

// argsLine returns the arguments on one line, in the same order, with at most n characters: the
// last one shown is whole, and a remark says how many characters all of them have. Only what
// alone is too long is cut. It reports false if they cannot be written as JSON.
func argsLine(args vaglio.Args, n int) (line string, ok bool) {
	var members []string
	for _, key := range headline.ByWeight(args) {
		form, err := weighed(map[string]any{key: args[key]})
		if err != nil {
			return "", false
		}
		members = append(members, escapeUnseen(string(form[1:len(form)-1])))
	}
	whole := "{" + strings.Join(members, ",") + "}"
	total := utf8.RuneCountInString(whole)
	if total <= n {
		return whole, true
	}
	remark := fmt.Sprintf(" … [cut: %d characters in all]", total)
	line, room := "{", n-len(remark)
	for i, m := range members {
		if room -= utf8.RuneCountInString(m) + 1; room < 0 && i > 0 {
			break
		}
		line += m + ","
	}
	if utf8.RuneCountInString(line)+len(remark) > n {
		return clip(whole, n), true
	}
	return line + strings.TrimPrefix(remark, " "), true
}

// weighed encodes a value in its canonical form, but for the order of what is in objects.
func weighed(v any) ([]byte, error) {
	var open, shut byte
	var members [][]byte
	add := func(name []byte, v any) error {
		form, err := weighed(v)
		members = append(members, append(name, form...))
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		open, shut = '{', '}'
		for _, key := range headline.ByWeight(v) {
			name, err := strictjson.Canonical(key)
			if err != nil {
				return nil, fmt.Errorf("an argument's name: %w", err)
			}
			if err := add(append(name, ':'), v[key]); err != nil {
				return nil, err
			}
		}
	case []any:
		open, shut = '[', ']'
		for _, e := range v {
			if err := add(nil, e); err != nil {
				return nil, err
			}
		}
	default:
		form, err := strictjson.Canonical(v)
		if err != nil {
			return nil, fmt.Errorf("an argument: %w", err)
		}
		return form, nil
	}
	return append(append([]byte{open}, bytes.Join(members, []byte{','})...), shut), nil
}
