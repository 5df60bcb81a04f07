package shell

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// packedMark begins what a compressor makes of a known text. The bytes
// themselves do not matter: only a decompressor looks at them.
const packedMark = "\x00packed\x00"

// unpacks reports whether a program decompresses, by its name or an option.
func unpacks(name string, args []Word) bool {
	switch name {
	case "zcat", "gunzip", "bunzip2", "bzcat", "unxz", "xzcat", "zstdcat", "unzstd", "lz4cat", "unlz4", "lzcat", "unlzma", "uncompress", "gzcat", "zlib-flate":
		return true
	}
	for _, w := range args {
		s := w.Prefix()
		if s == "--decompress" || s == "--uncompress" || s == "--decode" || len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "d") {
			return true
		}
	}
	return false
}

// unpack decompresses a text of at most one value's length.
func unpack(s string) (string, bool) {
	if plain, ok := strings.CutPrefix(s, packedMark); ok {
		return plain, true
	}
	in := bytes.NewReader([]byte(s))
	var z io.Reader
	var err error
	switch {
	case strings.HasPrefix(s, "\x1f\x8b"):
		z, err = gzip.NewReader(in)
	case strings.HasPrefix(s, "BZh"):
		z = bzip2.NewReader(in)
	case strings.HasPrefix(s, "\x78"):
		z, err = zlib.NewReader(in)
	default:
		return "", false
	}
	if err != nil {
		return "", false
	}
	out, err := io.ReadAll(io.LimitReader(z, maxValue))
	// A damaged end, such as a wrong checksum, comes after the text.
	return string(out), (err == nil || len(out) > 0) && len(out) < maxValue
}

// compressed is the output of a compressor or decompressor.
func compressed(in Word, args []Word, name string) (Word, bool) {
	if unpacks(name, args) {
		return onText(in, unpack)
	}
	return onText(in, func(s string) (string, bool) { return packedMark + s, true })
}

// grepped is the output of grep on a known text.
func grepped(in Word, args []Word, name string) (Word, bool) {
	opts, rest := grammar{values: "efmABCd", long: "regexp file max-count after-context before-context context color", permute: true}.parse(args)
	pats := opts.all("e", "regexp")
	if len(pats) == 0 && len(rest) > 0 {
		pats = rest[:1]
	}
	if len(pats) != 1 || opts.any("c", "count", "q", "l", "L", "n", "f", "file", "A", "B", "C", "z", "b", "H") {
		return Word{}, false
	}
	pat, ok := pats[0].Text()
	re, err := regexp.Compile(grepRegexp(pat, opts, name))
	if !ok || err != nil {
		return Word{}, false
	}
	var b builder
	for _, w := range in.lines() {
		l, static := w.Text()
		switch {
		case !static:
			b.addWord(w) // the line may match
		case re.MatchString(l) == opts.any("v", "invert-match"):
			continue
		case opts.any("o", "only-matching"):
			b.addText(strings.Join(re.FindAllString(l, -1), "\n"))
		default:
			b.addText(l)
		}
		b.addText("\n")
	}
	return b.word(), !in.IsUnknown()
}

// grepRegexp spells the pattern of grep for Go.
func grepRegexp(pat string, opts options, name string) string {
	expr := unixtext.Regexp(pat, name == "egrep" || opts.any("E", "P", "extended-regexp", "perl-regexp"), opts.any("i", "ignore-case"))
	if name == "fgrep" || opts.any("F", "fixed-strings") {
		expr = regexp.QuoteMeta(pat)
	}
	if opts.any("x", "line-regexp") {
		expr = "^(?:" + expr + ")$"
	}
	if opts.any("w", "word-regexp") {
		expr = `\b(?:` + expr + `)\b`
	}
	return expr
}

// listRange reports whether position n, from 1, is in a list such as 1,3-5,7-;
// false if it is no list.
func listRange(list string) (func(n int) bool, bool) {
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

// cutOutput is the output of cut.
func cutOutput(in Word, args []Word) (Word, bool) {
	opts, _ := grammar{values: "bcdf", long: "bytes characters delimiter fields output-delimiter", permute: true}.parse(args)
	delim := "\t"
	if d, ok := opts.get("d", "delimiter"); ok {
		delim, ok = d.Text()
		if !ok || delim == "" {
			return Word{}, false
		}
	}
	glue := delim
	if d, ok := opts.get("output-delimiter"); ok {
		glue, _ = d.Text()
	}
	list, fields := opts.get("f", "fields")
	if !fields {
		list, _ = opts.get("c", "characters", "b", "bytes")
		delim, glue = "", ""
	}
	spec, _ := list.Text()
	in1, ok := listRange(spec)
	if !ok {
		return Word{}, false
	}
	return onText(in, func(s string) (string, bool) {
		var b strings.Builder
		for l := range strings.Lines(s) {
			l = strings.TrimSuffix(l, "\n")
			parts := strings.Split(l, delim)
			if fields && len(parts) == 1 {
				b.WriteString(l + "\n")
				continue
			}
			var kept []string
			for i, p := range parts {
				if in1(i+1) != opts.any("complement") {
					kept = append(kept, p)
				}
			}
			b.WriteString(strings.Join(kept, glue) + "\n")
		}
		return b.String(), true
	})
}

// headTail is the output of head or tail.
func headTail(in Word, args []Word, name string) (Word, bool) {
	opts, _ := grammar{values: "ncs", long: "lines bytes pid sleep-interval", permute: true}.parse(args)
	count, byBytes := opts.get("c", "bytes")
	if !byBytes {
		count, _ = opts.get("n", "lines")
	}
	s, ok := count.Text()
	if s == "" {
		s = oldCount(opts, args, byBytes)
	}
	n, err := strconv.Atoi(s)
	if !ok || err != nil {
		return Word{}, false
	}
	if byBytes {
		return onText(in, func(text string) (string, bool) {
			from, to := headTailRange(len(text), n, s, name)
			return text[from:to], true
		})
	}
	lines := in.lines()
	from, to := headTailRange(len(lines), n, s, name)
	var b builder
	for _, l := range lines[from:to] {
		b.addWord(l)
		b.addText("\n")
	}
	return b.word(), true
}

// oldCount is the count of head -1 or tail +3, or the usual one.
func oldCount(opts options, args []Word, byBytes bool) string {
	var digits strings.Builder
	for _, o := range opts {
		if unixtext.IsDigit(o.name[0], 10) && !byBytes {
			digits.WriteString(o.name) // each is an option to the parser
		}
	}
	if digits.Len() > 0 {
		return digits.String()
	}
	s := "10"
	for _, w := range args {
		if t := w.Prefix(); len(t) > 1 && (t[0] == '-' || t[0] == '+') && unixtext.IsDigit(t[1], 10) {
			s = strings.TrimPrefix(t, "-")
		}
	}
	return s
}

// headTailRange is what head or tail keeps of a number of lines or bytes.
func headTailRange(size, n int, spelled, name string) (from, to int) {
	switch {
	case name == "head" && n < 0:
		return 0, max(0, size+n)
	case name == "head":
		return 0, min(n, size)
	case strings.HasPrefix(spelled, "+"):
		return min(size, max(0, n-1)), size
	case n < 0:
		n = -n
	}
	return max(0, size-n), size
}

// pasted is the output of paste with one input.
func pasted(in Word, args []Word) (Word, bool) {
	opts, _ := grammar{values: "d", long: "delimiters", permute: true}.parse(args)
	if !opts.any("s", "serial") {
		return in, true
	}
	delim := "\t"
	if d, ok := opts.get("d", "delimiters"); ok {
		delim, ok = d.Text()
		if !ok || len(delim) > 1 && delim != `\n` && delim != `\t` && delim != `\0` {
			return Word{}, false
		}
		delim = strings.ReplaceAll(unixtext.ANSI(delim), `\0`, "")
	}
	var b builder
	for i, l := range in.lines() {
		if i > 0 {
			b.addText(delim)
		}
		b.addWord(l)
	}
	b.addText("\n")
	return b.word(), true
}

// dumped is the output of od and hexdump, as far as it is plain hex.
func dumped(in Word, args []Word, name string) (Word, bool) {
	opts, _ := grammar{values: "AtjNwven", long: "address-radix format skip-bytes read-bytes width", permute: true}.parse(args)
	t, _ := opts.get("t", "format")
	a, _ := opts.get("A", "address-radix")
	plain := name == "od" && a.Is("n") && (t.Is("x1") || t.Is("xC") || t.Is("xc"))
	e, _ := opts.get("e")
	compact := name != "od" && strings.Contains(e.Prefix(), "1/1") && strings.Contains(e.Prefix(), "x")
	if !plain && !compact {
		return Word{}, false
	}
	return onText(in, func(s string) (string, bool) {
		digits := hex.EncodeToString([]byte(s))
		if compact {
			return digits, true
		}
		var b strings.Builder
		for i := 0; i+1 < len(digits); i += 2 {
			b.WriteString(" " + digits[i:i+2])
		}
		return b.String() + "\n", true
	})
}

// uudecoded is the content of a uuencoded text.
func uudecoded(s string) (string, bool) {
	var out []byte
	started := false
	for l := range strings.Lines(s) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "begin "):
			started = true
			continue
		case l == "end" || l == "`" || l == "":
			continue
		}
		n := int(l[0]-32) & 63
		var line []byte
		for i := 1; i < len(l); i += 4 {
			var q [4]byte
			for j := range q {
				if i+j < len(l) {
					q[j] = (l[i+j] - 32) & 63
				}
			}
			line = append(line, q[0]<<2|q[1]>>4, q[1]<<4|q[2]>>2, q[2]<<6|q[3])
		}
		out = append(out, line[:min(n, len(line))]...)
	}
	return string(out), started
}

// mayPass is the output of a program that hands on all or part of its known
// input in ways that are not followed: the input, and what is not known.
func mayPass(in Word, name string) (Word, bool) {
	if wordclass.Is("may-pass", name) && !in.IsUnknown() && !in.Is("") {
		return Glue(in, NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true})), true
	}
	return Word{}, false
}
