package code

import (
	"encoding/base64"
	"encoding/hex"
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

// decoded applies the decoder of a name: "hex", "base64". What is encoded in a
// way that is not read is not known.
func decoded(_ *program, v value, rest []value) value {
	name, _ := first(rest).text()
	switch fn := decoders()[name]; {
	case v.multi():
		return characters(v.list)
	case fn != nil:
		return v.each(fn)
	case name == "" || strings.HasPrefix(strings.ToLower(name), "utf") || name == "ascii" || name == "latin1":
		return v
	}
	return unknown("decode()")
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

func reversed(p *program, v value, _ []value) value {
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

// joinTexts is sep.join(list) of python, join(sep, list) and list.join(sep).
func joinTexts(p *program, v value, rest []value) value {
	with, python := first(rest), p.lang.name == "python" && len(rest) == 1
	switch s, _ := with.text(); {
	case v.multi():
		if len(rest) == 0 && p.lang.name == "node" {
			with = text(",")
		}
		return joinWith(p, with, v.list)
	case len(rest) == 1 && with.multi():
		return joinWith(p, v, with.list)
	case p.lang.has("flat"), p.lang.name == "php":
		return joinWith(p, v, rest)
	case python && len(s) > 1:
		return joinWith(p, v, splitAt(with, "").list)
	case python && len(with.alts) > 0:
		return with
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

// splitText splits at a text, or at spaces.
func splitText(p *program, v value, rest []value) value {
	sep := first(rest)
	if p.lang.name == "php" && len(rest) > 0 {
		v, sep = sep, v
	}
	s, ok := sep.text()
	t, known := v.text()
	if !known || ok && (s != " " || p.lang.name != "awk") || !p.spend(len(t)/bytesPerStep) {
		return splitAt(v, s)
	}
	var out []value
	for f := range strings.FieldsSeq(t) {
		out = append(out, text(strings.Trim(f, `'"`)))
	}
	return listOf(out[:min(len(out), maxList)]...)
}

func splitAt(v value, sep string) value {
	s, ok := v.text()
	if !ok {
		out := unknown("split()")
		if v.word().HasUnknown() {
			out.alts = capped(v.words())
		}
		return out
	}
	var out []value
	for _, e := range strings.SplitN(s, sep, maxList+1) {
		out = append(out, text(e))
	}
	if len(out) > maxList {
		out[maxList] = unknown("split()")
	}
	return listOf(out...)
}

// globbed is a word whose metacharacters stand for the names that match.
func globbed(w shell.Word) shell.Word {
	var out []shell.Part
	for _, part := range w.Parts() {
		if part.Kind == shell.PartText {
			out = append(out, shell.Globs(part.Text)...)
		} else {
			out = append(out, part)
		}
	}
	return shell.NewWord(out...)
}
