package shell

import (
	"strconv"
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
		b.addWord(w.value())
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

// formatOnce applies a format to as many arguments as it takes and returns
// the rest.
func formatOnce(b *builder, format string, args []Word) []Word {
	for format != "" && b.size <= maxValue {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.addText(unixtext.ANSI(format))
			break
		}
		b.addText(unixtext.ANSI(format[:i]))
		format = format[i+1:]
		if strings.HasPrefix(format, "%") {
			b.addText("%")
			format = format[1:]
			continue
		}
		n := 0
		for n < len(format) && strings.IndexByte("-+ #0123456789.*'", format[n]) >= 0 {
			n++
		}
		if n == len(format) {
			break
		}
		flags, verb := format[:n], format[n]
		format = format[n+1:]
		arg := Word{}
		if len(args) > 0 {
			arg, args = args[0], args[1:]
		}
		b.addWord(formatArg(flags, verb, arg))
	}
	return args
}

// formatArg applies a conversion to one argument.
func formatArg(flags string, verb byte, arg Word) Word {
	arg = arg.value()
	s, ok := arg.Text()
	switch verb {
	case 's':
		if flags != "" && ok {
			return Text(padded(flags, s))
		}
		return arg
	case 'b':
		return arg.mapText(unixtext.ANSI)
	case 'q':
		if ok {
			return Text("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
		}
		return arg
	case 'c':
		if ok && s != "" {
			return Text(s[:1])
		}
	case 'd', 'i', 'u', 'x', 'X', 'o':
		if !ok {
			return unknownHome("")
		}
		return formatNumber(flags, verb, s)
	}
	return arg
}

// formatNumber applies a conversion to a number, or to the character behind a
// quote.
func formatNumber(flags string, verb byte, s string) Word {
	if strings.HasPrefix(s, "'") || strings.HasPrefix(s, `"`) {
		if len(s) < 2 {
			return Text("0")
		}
		return Text(padded(flags, numeral(int64(s[1]), verb)))
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil && s != "" {
		return unknownHome("")
	}
	return Text(padded(flags, numeral(n, verb)))
}

func numeral(n int64, verb byte) string {
	switch verb {
	case 'x':
		return strconv.FormatInt(n, 16)
	case 'X':
		return strings.ToUpper(strconv.FormatInt(n, 16))
	case 'o':
		return strconv.FormatInt(n, 8)
	}
	return strconv.FormatInt(n, 10)
}

// padded applies the width and the precision of a conversion.
func padded(flags, s string) string {
	width, precision, cut := strings.Cut(strings.TrimLeft(flags, "-+ #0"), ".")
	if n, err := strconv.Atoi(precision); cut && (err == nil || precision == "") && n < len(s) {
		s = s[:max(0, n)]
	}
	n, err := strconv.Atoi(width)
	if err != nil || n > 4096 || n <= len(s) {
		return s
	}
	pad := strings.Repeat(" ", n-len(s))
	switch {
	case strings.HasPrefix(flags, "-"):
		return s + pad
	case strings.HasPrefix(flags, "0"):
		return strings.Repeat("0", n-len(s)) + s
	}
	return pad + s
}
