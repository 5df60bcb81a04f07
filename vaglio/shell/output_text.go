package shell

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

func pathPart(args []Word, part func(string) string) (Word, bool) {
	if len(args) == 1 {
		if s, ok := args[0].Text(); ok && s != "" {
			return Text(part(strings.TrimRight(s, "/")+strings.Repeat("/", truthInt(strings.Trim(s, "/") == ""))) + "\n"), true
		}
		if p := args[0].Parts(); len(p) > 0 && p[0].From == "which" {
			return Text("/usr/bin\n"), true // where a system keeps its programs
		}
	}
	return Word{}, false
}

// printedVariable is the output of printenv NAME.
func (r *reader) printedVariable(args []Word) (Word, bool) {
	if len(args) != 1 {
		return Word{}, false
	}
	name, ok := args[0].Text()
	e := r.st.get(name)
	if !ok || e == nil || e.isList || len(e.vals) == 0 {
		return Word{}, false
	}
	return Glue(e.vals[r.pick(name, len(e.vals))], Text("\n")), true
}

// account is the output of getent passwd for the user whose home is known.
func (r *reader) account(args []Word) (Word, bool) {
	if len(args) != 2 || !args[0].Is("passwd") || r.opts.Home == "" {
		return Word{}, false
	}
	name, ok := args[1].Text()
	if !ok || name == "" || name != r.opts.User && name != path.Base(r.opts.Home) {
		return Word{}, false
	}
	return Text(name + ":x:1000:1000::" + r.opts.Home + ":/bin/bash\n"), true
}

func truthInt(b bool) int { return int(truth(b)) }

func baseOf(args []Word) (Word, bool) {
	if len(args) == 0 || len(args) > 2 {
		return Word{}, false
	}
	s, ok := args[0].Text()
	suffix := ""
	if len(args) == 2 {
		suffix, _ = args[1].Text()
	}
	if !ok || strings.HasPrefix(s, "-") {
		return Word{}, false
	}
	b := path.Base(s)
	if b != suffix {
		b = strings.TrimSuffix(b, suffix)
	}
	return Text(b + "\n"), true
}

// located is the path of a program: the folder is not known, the name is.
func located(args []Word) (Word, bool) {
	if len(args) == 0 {
		return Word{}, false
	}
	last := args[len(args)-1]
	if s, ok := last.Text(); ok && !strings.HasPrefix(s, "-") && !strings.Contains(s, "/") {
		return NewWord(Part{Kind: PartUnknown, From: "which"}, Part{Text: "/" + s + "\n"}), true
	}
	return Word{}, false
}

func (r *reader) realPath(args []Word) (Word, bool) {
	var target Word
	n := 0
	for _, w := range args {
		if !strings.HasPrefix(w.Prefix(), "-") {
			target = w
			n++
		}
	}
	if n != 1 {
		return Word{}, false
	}
	return Glue(r.resolvePath(target), Text("\n")), !target.HasUnknown()
}

func sequenceOf(args []Word) (Word, bool) {
	var nums []int64
	for _, w := range args {
		s, ok := w.Text()
		n, err := strconv.ParseInt(s, 10, 64)
		if !ok || err != nil {
			return Word{}, false
		}
		nums = append(nums, n)
	}
	first, step, last := int64(1), int64(1), int64(0)
	switch len(nums) {
	case 1:
		last = nums[0]
	case 2:
		first, last = nums[0], nums[1]
	case 3:
		first, step, last = nums[0], nums[1], nums[2]
	default:
		return Word{}, false
	}
	if step <= 0 || last-first > 32*step {
		return Word{}, false
	}
	var b strings.Builder
	for n := first; n <= last; n += step {
		b.WriteString(strconv.FormatInt(n, 10) + "\n")
	}
	return Text(b.String()), true
}

func decodeFlag(in Word, args []Word, decode, encode func(string) (string, bool)) (Word, bool) {
	for _, w := range args {
		s, _ := w.Text()
		if s == "--decode" || strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.ContainsAny(s, "dD") || strings.HasPrefix(s, "--d") {
			return onText(in, decode)
		}
	}
	return onText(in, encode)
}

func decode64(s string) (string, bool) {
	s = strings.Join(strings.Fields(s), "")
	s = strings.TrimRight(s, "=")
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	out, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil && len(out) == 0 {
		return "", false
	}
	return string(out), true
}

func encode64(s string) (string, bool) {
	return base64.StdEncoding.EncodeToString([]byte(s)) + "\n", true
}

func xxd(in Word, args []Word) (Word, bool) {
	for _, w := range args {
		s, _ := w.Text()
		if strings.HasPrefix(s, "-") && strings.Contains(s, "r") {
			return onText(in, unhex)
		}
	}
	if hasWord(args, "-p") || hasWord(args, "-ps") {
		return onText(in, func(s string) (string, bool) { return hex.EncodeToString([]byte(s)) + "\n", true })
	}
	return Word{}, false
}

func unhex(s string) (string, bool) {
	var digits strings.Builder
	for l := range strings.SplitSeq(s, "\n") {
		if at, rest, ok := strings.Cut(l, ":"); ok && len(at) >= 7 {
			// A dump with offsets: the digits end before the two blanks.
			l, _, _ = strings.Cut(rest, "  ")
		}
		digits.WriteString(strings.Join(strings.Fields(l), ""))
	}
	out, err := hex.DecodeString(digits.String())
	return string(out), err == nil
}

func reverseLines(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		runes := []rune(l)
		slices.Reverse(runes)
		lines[i] = string(runes)
	}
	return strings.Join(lines, "\n"), true
}

// sorted is the output of sort or uniq.
func sorted(in Word, args []Word, name string) (Word, bool) {
	unique := name == "uniq"
	if name == "sort" && len(args) == 1 && isOneOf(args[0], []string{"-u", "--unique"}) {
		unique, args = true, nil
	}
	if len(args) > 0 || in.HasUnknown() {
		return Word{}, false
	}
	lines := in.lines()
	if name == "sort" {
		slices.SortFunc(lines, func(a, b Word) int { return strings.Compare(a.text, b.text) })
	}
	var b builder
	for i, l := range lines {
		if unique && i > 0 && l.Equal(lines[i-1]) {
			continue
		}
		b.addWord(l)
		b.addText("\n")
	}
	return b.word(), true
}

// awkColumn is the output of awk '{print $N}'.
func awkColumn(in Word, args []Word) (Word, bool) {
	if len(args) != 1 {
		return Word{}, false
	}
	prog, _ := args[0].Text()
	column, ok := strings.CutPrefix(strings.Join(strings.Fields(strings.Trim(prog, "{}; \t\n")), ""), "print$")
	n, err := strconv.Atoi(column)
	if !ok || err != nil || n < 0 || !strings.HasPrefix(strings.TrimSpace(prog), "{") {
		return Word{}, false
	}
	return onText(in, func(s string) (string, bool) {
		var b strings.Builder
		for l := range strings.Lines(s) {
			fields := strings.Fields(l)
			if n == 0 {
				b.WriteString(strings.TrimSuffix(l, "\n"))
			} else if n <= len(fields) {
				b.WriteString(fields[n-1])
			}
			b.WriteString("\n")
		}
		return b.String(), true
	})
}
