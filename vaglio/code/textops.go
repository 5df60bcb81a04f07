package code

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
)

func decode64(s string) (string, bool) {
	s = strings.NewReplacer("-", "+", "_", "/", "=", "", "\n", "", " ", "").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}

func unhex(s string) (string, bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	return string(b), err == nil
}

func rot13(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return 'a' + (c-'a'+13)%26
		case 'A' <= c && c <= 'Z':
			return 'A' + (c-'A'+13)%26
		}
		return c
	}, s)
}

func inflate(s string) (string, bool) {
	in := []byte(s)
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(in, []byte("\x1f\x8b")):
		r, err = gzip.NewReader(bytes.NewReader(in))
	case bytes.HasPrefix(in, []byte("BZh")):
		r = bzip2.NewReader(bytes.NewReader(in))
	default:
		r, err = zlib.NewReader(bytes.NewReader(in))
	}
	if err != nil {
		return "", false
	}
	out, err := io.ReadAll(io.LimitReader(r, maxText))
	return string(out), err == nil
}

func decoded(_ *program, v value, rest []value) value {
	name, _ := first(rest).text()
	switch strings.NewReplacer("_", "", "-", "").Replace(name) {
	case "hex", "hexcodec":
		return v.each(unhex)
	case "base64", "base64codec":
		return v.each(decode64)
	case "rot13":
		return v.each(always(rot13))
	case "unicodeescape":
		return v.each(always(unescape))
	}
	return v
}

func characters(args []value) value {
	var b strings.Builder
	for _, a := range args {
		for _, e := range a.elements() {
			n, ok := e.int()
			if !ok || n < 0 || n > utf8.MaxRune {
				return unknown("chr()")
			}
			b.WriteRune(rune(n))
		}
	}
	return text(b.String())
}

func ordinal(v value) value {
	s, ok := v.text()
	if r := []rune(s); ok && len(r) > 0 {
		return number(int(r[0]))
	}
	return unknown("ord()")
}

func (p *program) reversed(v value) value {
	if v.multi() {
		list := slices.Clone(v.list)
		slices.Reverse(list)
		v.list, v.keys = list, nil
		return v
	}
	return v.each(func(s string) (string, bool) {
		r := []rune(s)
		slices.Reverse(r)
		return string(r), p.spend(len(s)/bytesPerStep + 1)
	})
}

func joinTexts(p *program, v value, rest []value) value {
	if v.multi() {
		return joinWith(p, first(append(rest, text(map[bool]string{true: ",", false: ""}[p.lang.name == "node"]))), v.list)
	}
	if len(rest) == 1 && rest[0].multi() {
		return joinWith(p, v, rest[0].list)
	}
	if p.lang.has("flat") || p.lang.name == "php" {
		return joinWith(p, v, rest)
	}
	if len(rest) == 1 && len(rest[0].alts) > 0 && p.lang.name == "python" {
		if s, ok := rest[0].text(); ok && len(s) > 1 {
			return joinWith(p, v, splitAt(rest[0], "").list)
		}
		return rest[0]
	}
	return unknown("join()")
}

func joinWith(p *program, sep value, list []value) value {
	out := text("")
	for i, e := range list {
		if i > 0 && (len(sep.alts) > 0 || sep.path != "") {
			out = p.glue(out, sep)
		}
		out = p.glue(out, e)
	}
	return out
}

func splitText(p *program, v value, rest []value) value {
	sep := first(rest)
	if p.lang.name == "php" && len(rest) > 0 {
		v, sep = sep, v
	}
	s, ok := sep.text()
	if t, known := v.text(); known && !ok && p.spend(len(t)/bytesPerStep) {
		var out []value
		for f := range strings.FieldsSeq(t) {
			out = append(out, text(strings.Trim(f, `'"`)))
		}
		return listOf(out[:min(len(out), maxList)]...)
	}
	if ok && s == " " && p.lang.name == "awk" {
		return splitText(p, v, nil)
	}
	return splitAt(v, s)
}

func splitAt(v value, sep string) value {
	s, ok := v.text()
	if !ok {
		out := unknown("split()")
		out.alts = capped(v.words())
		if !v.word().HasUnknown() {
			out.alts = nil
		}
		return out
	}
	var out []value
	for i, e := range strings.SplitN(s, sep, maxList+1) {
		if i == maxList {
			out = append(out, unknown("split()"))
			break
		}
		out = append(out, text(e))
	}
	return listOf(out...)
}

func substr(p *program, v value, rest []value) value {
	from, ok := first(rest).int()
	if p.lang.name == "awk" {
		from--
	}
	if !ok {
		return unknown("substr()")
	}
	n, has := nth(rest, 1).int()
	if n >= 0 && has {
		n += from
	}
	return sliced(v, from, n, has)
}

func concat(p *program, v value, rest []value) value {
	for _, r := range rest {
		if v.multi() {
			v.list = slices.Concat(v.list, r.elements())
		} else {
			v = p.glue(v, r)
		}
	}
	return v
}

func pack(_ *program, v value, rest []value) value {
	form, ok := v.text()
	if v.multi() {
		form, ok = first(rest).text()
		rest = v.list
	}
	switch {
	case !ok || form == "" || len(rest) == 0:
		return unknown("pack()")
	case strings.ContainsAny(form[:1], "Hh"):
		return rest[0].each(unhex)
	case form[0] == 'm':
		return rest[0].each(decode64)
	case strings.ContainsAny(form[:1], "CcUW"):
		return characters(rest)
	}
	return rest[0]
}

func buffer(_ *program, v value, rest []value) value {
	if v.multi() {
		return characters(v.list)
	}
	return decoded(nil, v, rest)
}

func (p *program) expanded(v value) value {
	out := value{kind: v.kind}
	for _, w := range v.words() {
		s := w.Prefix()
		for _, mark := range [...]string{"~", "$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(s, mark); ok && (rest == "" || rest[0] == '/') {
				w = shell.Glue(p.in.Home(""), shell.Text(rest), p.behind(w, len(s)))
				break
			}
		}
		out.alts = append(out.alts, w)
	}
	return out
}

func (p *program) behind(w shell.Word, n int) shell.Word {
	parts := slices.Clone(w.Parts())
	if len(parts) > 0 && parts[0].Kind == shell.PartText {
		parts[0].Text = parts[0].Text[min(n, len(parts[0].Text)):]
	}
	return shell.NewWord(parts...)
}

func globbed(w shell.Word) shell.Word {
	var out []shell.Part
	for _, part := range w.Parts() {
		if part.Kind != shell.PartText {
			out = append(out, part)
			continue
		}
		s := part.Text
		for s != "" {
			i := strings.IndexAny(s, "*?[")
			if i < 0 {
				i = len(s)
			}
			out = append(out, shell.Part{Text: s[:i]})
			s = s[i:]
			n := min(1, len(s))
			if end := strings.IndexByte(s, ']'); n > 0 && s[0] == '[' && end > 0 {
				n = end + 1
			}
			if n > 0 {
				out = append(out, shell.Part{Kind: shell.PartGlob, Text: s[:n]})
			}
			s = s[n:]
		}
	}
	return shell.NewWord(out...)
}

func ranges(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' && s[i] < s[i+2] {
			for c := s[i]; c < s[i+2]; c++ {
				b.WriteByte(c)
			}
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
