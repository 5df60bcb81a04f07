package word

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/internal/unixtext"
)

// Echo returns the output of echo.
func Echo(args []Word) Word {
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
	var b Builder
	for i, w := range args {
		if i > 0 {
			b.AddText(" ")
		}
		if escapes {
			w = w.MapText(unixtext.ANSI)
		}
		b.AddWord(w.Quoted())
	}
	if newline {
		b.AddText("\n")
	}
	return b.Word()
}

// Printf returns the output of printf.
func Printf(args []Word) Word {
	if len(args) == 0 {
		return Word{}
	}
	format, ok := args[0].Text()
	if !ok {
		return OutputOf("printf")
	}
	args = args[1:]
	var b Builder
	for round := 0; round == 0 || len(args) > 0; round++ {
		left := len(args)
		args = formatOnce(&b, format, args)
		if len(args) == left || b.Size() > MaxSize {
			break
		}
	}
	return b.Word()
}

// conversions matches the parts of a format that take an argument.
var conversions = regexp.MustCompile(`(?s)%([-+ #0-9.*']*)(.)`)

// formatOnce applies a format once and returns the arguments that are left.
func formatOnce(b *Builder, format string, args []Word) []Word {
	for b.Size() <= MaxSize {
		at := conversions.FindStringSubmatchIndex(format)
		if at == nil {
			break
		}
		b.AddText(unixtext.ANSI(format[:at[0]]))
		flags, verb := format[at[2]:at[3]], format[at[4]]
		format = format[at[1]:]
		if verb == '%' && flags == "" {
			b.AddText("%")
			continue
		}
		arg := Word{}
		if len(args) > 0 {
			arg, args = args[0], args[1:]
		}
		b.AddWord(formatArg(flags, verb, arg))
	}
	b.AddText(unixtext.ANSI(format))
	return args
}

func formatArg(flags string, verb byte, arg Word) Word {
	arg = arg.Quoted()
	s, ok := arg.Text()
	switch {
	case verb == 'b':
		return arg.MapText(unixtext.ANSI)
	case strings.IndexByte("diuxXoaAeEfFgG", verb) >= 0, verb == 'c' && !ok:
		return NotEmpty("") // a number
	case flags != "" && verb != 'q':
		return Unknown("") // cut off or padded
	case !ok:
		return arg
	case verb == 'q':
		q, err := syntax.Quote(s, syntax.LangBash) // the same for a shell, where bash writes it in another way
		if err != nil {
			return Unknown("")
		}
		return Text(q)
	case verb == 'c':
		return Text(s[:min(1, len(s))])
	}
	return Text(s)
}

// Sequence returns the output of seq, if it is not long.
func Sequence(args []Word) (Word, bool) {
	var nums []int64
	for _, w := range args {
		s, ok := w.Text()
		n, err := strconv.ParseInt(s, 10, 64)
		if !ok || err != nil {
			return Word{}, false
		}
		nums = append(nums, n)
	}
	switch len(nums) {
	case 1:
		nums = []int64{1, 1, nums[0]}
	case 2:
		nums = []int64{nums[0], 1, nums[1]}
	}
	const first, step, last, all = 0, 1, 2, 3
	if len(nums) != all || nums[step] <= 0 {
		return Word{}, false
	}
	span, by := uint64(nums[last])-uint64(nums[first]), uint64(nums[step]) //nolint:gosec // Their difference fits, whatever their signs.
	switch {
	case nums[first] > nums[last]:
		return Text(""), true
	case span > 32*by:
		return Word{}, false
	}
	var b strings.Builder
	for i := range int64(span/by) + 1 { //nolint:gosec // At most 33 times: a number that grows to the end may wrap around.
		b.WriteString(strconv.FormatInt(nums[first]+i*nums[step], 10) + "\n")
	}
	return Text(b.String()), true
}

// JSONCommands returns the code in commands=["…","…"] or commands=…, one command per line; any other text is code as it is.
func JSONCommands(code Word) Word {
	s, ok := code.Text()
	_, list, found := strings.Cut(s, "[")
	short, single := strings.CutPrefix(s, "commands=")
	switch {
	case ok && single && !strings.HasPrefix(short, "["):
		return Text(strings.ReplaceAll(short, ",", "\n"))
	case !ok || !found || !strings.HasPrefix(strings.TrimLeft(s, "{\"' "), "commands"):
		return code
	}
	return Text(strings.NewReplacer(`\"`, `"`, `","`, "\n", `", "`, "\n", `"`, "").Replace(strings.SplitN(list, "]", 2)[0]))
}
