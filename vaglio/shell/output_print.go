package shell

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

// echoed is the output of echo.
func echoed(args []Word) Word {
	newline, escapes := true, false
	for len(args) > 0 {
		s, ok := args[0].Text()
		if !ok || len(s) < 2 || s[0] != '-' || strings.Trim(s[1:], "neE") != "" {
			break
		}
		newline = newline && !strings.Contains(s, "n")
		if strings.ContainsAny(s, "eE") {
			escapes = strings.LastIndexByte(s, 'e') > strings.LastIndexByte(s, 'E')
		}
		args = args[1:]
	}
	var b builder
	for i, w := range args {
		if i > 0 {
			b.addText(" ")
		}
		if escapes {
			w = w.mapText(unixtext.ANSI)
		}
		b.addWord(w.quoted())
	}
	if newline {
		b.addText("\n")
	}
	return b.word()
}

// formatted is the output of printf.
func formatted(args []Word) Word {
	if len(args) == 0 {
		return Word{}
	}
	format, ok := args[0].Text()
	if !ok {
		return outputOf("printf")
	}
	args = args[1:]
	var b builder
	for round := 0; round == 0 || len(args) > 0 && round < maxFields; round++ {
		left := len(args)
		args = formatOnce(&b, format, args)
		if len(args) == left || b.size > maxValue {
			break
		}
	}
	return b.word()
}

// conversions are the places of a format that take an argument.
var conversions = regexp.MustCompile(`(?s)%([-+ #0-9.*']*)(.)`)

// formatOnce applies a format to as many arguments as it takes and returns
// the rest.
func formatOnce(b *builder, format string, args []Word) []Word {
	for b.size <= maxValue {
		at := conversions.FindStringSubmatchIndex(format)
		if at == nil {
			break
		}
		b.addText(unixtext.ANSI(format[:at[0]]))
		flags, verb := format[at[2]:at[3]], format[at[4]]
		format = format[at[1]:]
		if verb == '%' && flags == "" {
			b.addText("%")
			continue
		}
		arg := Word{}
		if len(args) > 0 {
			arg, args = args[0], args[1:]
		}
		b.addWord(formatArg(flags, verb, arg))
	}
	b.addText(unixtext.ANSI(format))
	return args
}

// formatArg applies a conversion to one argument.
func formatArg(flags string, verb byte, arg Word) Word {
	arg = arg.quoted()
	s, ok := arg.Text()
	switch {
	case verb == 'b':
		return arg.mapText(unixtext.ANSI)
	case strings.IndexByte("diuxXoaAeEfFgG", verb) >= 0, verb == 'c' && !ok:
		return unknownHome("") // a number
	case flags != "" && verb != 'q':
		return unknown("") // cut or filled up
	case !ok:
		return arg
	case verb == 'q':
		return Text("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
	case verb == 'c':
		return Text(s[:min(1, len(s))])
	}
	return Text(s)
}
