package filter

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
)

// ranges reads a list such as 1,3-5,7-.
func ranges(list string) (in func(n int) bool, ok bool) {
	var spans [][2]int
	for item := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(item, "-")
		if !ranged {
			to = from
		}
		first, errFrom := numberOr(from, 1)
		last, errTo := numberOr(to, 1<<30)
		if errFrom != nil || errTo != nil || first < 1 || from == "" && to == "" {
			return nil, false
		}
		spans = append(spans, [2]int{first, last})
	}
	return func(n int) bool {
		return slices.ContainsFunc(spans, func(s [2]int) bool { return s[0] <= n && n <= s[1] })
	}, true
}

// numberOr is the number that a text spells; without text it is another one.
func numberOr(s string, missing int) (int, error) {
	if s == "" {
		return missing, nil
	}
	return strconv.Atoi(s)
}

func cut(f *Filter, args []string) bool {
	o, files, ok := parse(args, "C=complement s=only-delimited", "b=bytes c=characters d=delimiter f=fields O=output-delimiter")
	delim := o.last("d", "\t")
	if !ok || delim == "" || len(o["f"])+len(o["c"])+len(o["b"]) != 1 {
		return false
	}
	glue := o.last("O", delim)
	if !o.has("f") {
		delim, glue = "", ""
	}
	in, ok := ranges(o.last("f", o.last("c", o.last("b", ""))))
	f.Files = files
	f.apply = ofLines(func(list []string) []string {
		var out []string
		for _, l := range list {
			parts := strings.Split(l, delim)
			if o.has("f") && len(parts) == 1 {
				if !o.has("s") {
					out = append(out, l)
				}
				continue
			}
			var kept []string
			for i, p := range parts {
				if in(i+1) != o.has("C") {
					kept = append(kept, p)
				}
			}
			out = append(out, strings.Join(kept, glue))
		}
		return out
	})
	return ok
}

func head(f *Filter, args []string) bool {
	return f.ends(args, "-", func(size, n int, _ bool) (int, int) {
		if n < 0 {
			return 0, max(0, size+n)
		}
		return 0, min(n, size)
	})
}

func tail(f *Filter, args []string) bool {
	return f.ends(args, "+-", func(size, n int, fromStart bool) (int, int) {
		if fromStart {
			return min(size, max(0, n-1)), size
		}
		return max(0, size-max(n, -n)), size
	})
}

// ends reads a call of head or tail, which keep a range of lines or bytes; the
// count may stand behind a sign.
func (f *Filter) ends(args []string, signs string, keep func(size, n int, plus bool) (from, to int)) bool {
	if len(args) > 0 && len(args[0]) > 1 && strings.IndexByte(signs, args[0][0]) >= 0 && unixtext.IsDigit(args[0][1], 10) {
		args = append([]string{"-n", strings.TrimPrefix(args[0], "-")}, args[1:]...)
	}
	o, files, ok := parse(args, "q=quiet", "n=lines c=bytes")
	count := o.last("c", o.last("n", "10"))
	n, err := strconv.Atoi(count)
	plus := strings.HasPrefix(count, "+")
	f.Files = files
	f.apply = ofLines(func(list []string) []string {
		from, to := keep(len(list), n, plus)
		return list[from:to]
	})
	if o.has("c") {
		f.apply = always(func(text string) string {
			from, to := keep(len(text), n, plus)
			return text[from:to]
		})
	}
	return ok && err == nil
}

func paste(f *Filter, args []string) bool {
	o, files, ok := parse(args, "s=serial", "d=delimiters")
	delim := o.last("d", "\t")
	if !ok || len(delim) > 1 && !slices.Contains([]string{`\n`, `\t`, `\0`}, delim) {
		return false
	}
	delim = strings.ReplaceAll(unixtext.ANSI(delim), "\x00", "")
	f.Files = files
	if f.Passes = !o.has("s"); !f.Passes {
		f.apply = always(func(text string) string { return strings.Join(lines(text), delim) + "\n" })
	}
	return true
}

func sortLines(f *Filter, args []string) bool {
	o, files, ok := parse(args, "u=unique", "")
	f.Files = files
	f.apply = ofLines(func(list []string) []string {
		slices.Sort(list)
		if o.has("u") {
			list = slices.Compact(list)
		}
		return list
	})
	return ok
}

func uniqLines(f *Filter, args []string) bool {
	f.apply = ofLines(slices.Compact[[]string])
	return len(args) == 0
}

func rev(f *Filter, args []string) bool {
	f.Files = args
	f.apply = eachLine(func(l string) string {
		runes := []rune(l)
		slices.Reverse(runes)
		return string(runes)
	})
	return true
}

func tac(f *Filter, args []string) bool {
	f.Files = args
	f.apply = ofLines(func(list []string) []string {
		slices.Reverse(list)
		return list
	})
	return true
}

// fold passes lines on that are too short to be broken.
func fold(f *Filter, args []string) bool {
	o, files, ok := parse(args, "s=spaces", "w=width")
	width := 60
	if o.has("w") {
		width = 20
	}
	f.Files = files
	f.apply = func(text string) (string, bool) {
		return text, !slices.ContainsFunc(lines(text), func(l string) bool { return len(l) > width })
	}
	return ok
}

func egrep(f *Filter, args []string) bool { return grep(f, append([]string{"-E"}, args...)) }

func fgrep(f *Filter, args []string) bool { return grep(f, append([]string{"-F"}, args...)) }

func grep(f *Filter, args []string) bool {
	o, rest, ok := parse(args, `E=extended-regexp P=perl-regexp F=fixed-strings i=ignore-case y v=invert-match o=only-matching x=line-regexp w=word-regexp
		a=text s=no-messages h=no-filename`, "e=regexp")
	pats := o["e"]
	if len(pats) == 0 && len(rest) > 0 {
		pats, rest = rest[:1], rest[1:]
	}
	if !ok || len(pats) != 1 {
		return false
	}
	re, err := regexp.Compile(o.pattern(pats[0]))
	f.Files, f.Picks = rest, true
	f.apply = ofLines(func(list []string) []string {
		var out []string
		for _, l := range list {
			switch {
			case re.MatchString(l) == o.has("v"):
			case o.has("o"):
				out = append(out, re.FindAllString(l, -1)...)
			default:
				out = append(out, l)
			}
		}
		return out
	})
	return err == nil
}

// pattern spells the pattern of grep for Go.
func (o options) pattern(pat string) string {
	expr := unixtext.Regexp(pat, o.has("E") || o.has("P"), o.has("i"))
	if o.has("F") {
		expr = regexp.QuoteMeta(pat)
	}
	if o.has("x") {
		expr = "^(?:" + expr + ")$"
	}
	if o.has("w") {
		expr = `\b(?:` + expr + `)\b`
	}
	return expr
}

// translate is tr.
func translate(f *Filter, args []string) bool {
	o, sets, ok := parse(args, "d=delete s=squeeze-repeats c=complement C t=truncate-set1", "")
	if !ok || len(sets) == 0 {
		return false
	}
	from, complement := charSet(sets[0]), o.has("c") || o.has("C")
	f.Anywhere = true
	switch {
	case o.has("d"):
		f.apply = mapping(func(c rune) rune {
			if slices.Contains(from, c) != complement {
				return -1
			}
			return c
		})
	case complement:
		return false
	case len(sets) > 1:
		return f.exchange(from, charSet(sets[1]))
	default:
		f.apply = always(func(text string) string { return squeezed(text, from) })
		return o.has("s")
	}
	return true
}

// exchange puts each character of a set in the place of another's.
func (f *Filter) exchange(from, to []rune) bool {
	if len(to) == 0 {
		return false
	}
	table := map[rune]rune{}
	for i, c := range from {
		table[c] = to[min(i, len(to)-1)]
	}
	f.apply = mapping(func(c rune) rune {
		if to, ok := table[c]; ok {
			return to
		}
		return c
	})
	return true
}

func mapping(of func(rune) rune) func(string) (string, bool) {
	return always(func(text string) string { return strings.Map(of, text) })
}

// squeezed writes runs of a character of the set once.
func squeezed(s string, set []rune) string {
	var b strings.Builder
	last := rune(-1)
	for _, c := range s {
		if c != last || !slices.Contains(set, c) {
			b.WriteRune(c)
		}
		last = c
	}
	return b.String()
}

// maxSet is how many characters a set of tr may have.
const maxSet = 4096

// charSet expands the ranges, classes and escapes of a set of tr.
func charSet(s string) []rune {
	var out []rune
	for runes := []rune(unixtext.ANSI(s)); len(runes) > 0 && len(out) < maxSet; {
		n := 1
		name, _, isClass := strings.Cut(string(runes), ":]")
		switch {
		case isClass && strings.HasPrefix(name, "[:"):
			out = append(out, members(name+":]")...)
			n = len([]rune(name)) + 2
		case len(runes) > 2 && runes[1] == '-' && runes[2] >= runes[0] && runes[2]-runes[0] < maxSet:
			for c := runes[0]; c <= runes[2]; c++ {
				out = append(out, c)
			}
			n = 3
		default:
			out = append(out, runes[0])
		}
		runes = runes[n:]
	}
	return out
}

// members are the ASCII members of a character class such as [:digit:]; none if
// there is no such class.
func members(class string) []rune {
	re, err := regexp.Compile("[" + class + "]")
	if err != nil {
		return nil
	}
	var out []rune
	for c := range rune(128) {
		if re.MatchString(string(c)) {
			out = append(out, c)
		}
	}
	return out
}
