package filter

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

func base64Text(f *Filter, args []string) bool {
	return f.coder(args, base64.RawStdEncoding.DecodeString, base64.StdEncoding.EncodeToString, strings.NewReplacer("-", "+", "_", "/"))
}

func base32Text(f *Filter, args []string) bool {
	return f.coder(args, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString, base32.StdEncoding.EncodeToString, strings.NewReplacer())
}

// coder reads a call of a program that encodes, or decodes with -d. Blanks and
// the padding of what is decoded do not matter.
func (f *Filter) coder(args []string, decode func(string) ([]byte, error), encode func([]byte) string, spelling *strings.Replacer) bool {
	o, files, ok := parse(args, "d=decode D i=ignore-garbage", "w=wrap")
	f.Files = files
	f.apply = always(func(text string) string { return encode([]byte(text)) + "\n" })
	if o.has("d") || o.has("D") || !ok && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--d") }) {
		f.apply = func(text string) (string, bool) {
			text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
			out, err := decode(spelling.Replace(text))
			return string(out), err == nil || len(out) > 0
		}
		return true
	}
	return ok
}

// openssl decodes base64.
func openssl(f *Filter, args []string) bool {
	has := func(a string) bool { return slices.Contains(args, a) }
	return has("-d") && (has("-base64") || has("base64") || has("-a")) && base64Text(f, []string{"-d"})
}

func xxd(f *Filter, args []string) bool {
	o, files, ok := parse(args, "r=revert p=postscript s=plain", "c=cols l=len")
	f.Files = files
	f.apply = always(func(text string) string { return hex.EncodeToString([]byte(text)) + "\n" })
	if o.has("r") {
		f.apply = unhex
	}
	return ok && (o.has("p") || o.has("r"))
}

// unhex reads hex digits, or a dump with offsets.
func unhex(text string) (string, bool) {
	var digits strings.Builder
	for _, l := range lines(text) {
		if at, rest, ok := strings.Cut(l, ":"); ok && len(at) >= 7 {
			l, _, _ = strings.Cut(rest, "  ") // the digits end before two blanks
		}
		digits.WriteString(strings.Join(strings.Fields(l), ""))
	}
	out, err := hex.DecodeString(digits.String())
	return string(out), err == nil
}

// od prints plain bytes in hex.
func od(f *Filter, args []string) bool {
	o, files, ok := parse(args, "v=output-duplicates", "A=address-radix t=format")
	f.Files = files
	f.apply = always(func(text string) string {
		var b strings.Builder
		for i := range len(text) {
			b.WriteString(" " + hex.EncodeToString([]byte(text[i:i+1])))
		}
		return b.String() + "\n"
	})
	return ok && o.last("A", "") == "n" && slices.Contains([]string{"x1", "xC"}, o.last("t", ""))
}

// Packed begins what a compressor makes of a known text. The bytes themselves do
// not matter: only a decompressor looks at them.
const Packed = "\x00packed\x00"

// mostUnpacked is the longest text that is unpacked, in bytes.
const mostUnpacked = 1 << 20

// packer reads a call of a compressor or decompressor.
func packer(name string, args []string) *Filter {
	unpacks := wordclass.Is("unpacks", name) || slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains([]string{"--decompress", "--uncompress", "--decode"}, a) || strings.HasPrefix(a, "-") && a[1:] == strings.TrimLeft(a[1:], "-") &&
			strings.Contains(a, "d")
	})
	f := &Filter{Files: operands(name, args), apply: always(func(text string) string { return Packed + text })}
	if unpacks {
		f.apply = unpack
	}
	return f
}

func unpack(text string) (string, bool) {
	if plain, ok := strings.CutPrefix(text, Packed); ok {
		return plain, true
	}
	in := strings.NewReader(text)
	var z io.Reader
	var err error
	switch {
	case strings.HasPrefix(text, "\x1f\x8b"):
		z, err = gzip.NewReader(in)
	case strings.HasPrefix(text, "BZh"):
		z = bzip2.NewReader(in)
	case strings.HasPrefix(text, "\x78"):
		z, err = zlib.NewReader(in)
	default:
		return "", false
	}
	if err != nil {
		return "", false
	}
	var out bytes.Buffer
	_, err = io.CopyN(&out, z, mostUnpacked)
	// A damaged end, such as a wrong checksum, comes after the text.
	return out.String(), err != nil && (err == io.EOF || out.Len() > 0) //nolint:errorlint // CopyN returns it as it is.
}

// jq follows filters that pick a value and decode it: literals, .a.b, .[0],
// @base64d, tostring, join.
func jq(f *Filter, args []string) bool {
	o, rest, ok := parse(args, "r=raw-output j=join-output n=null-input c=compact-output e=exit-status M=monochrome-output s=slurp", "")
	if !ok || len(rest) == 0 || o.has("s") {
		return false
	}
	f.Files, f.Makes = rest[1:], o.has("n")
	f.apply = func(text string) (string, bool) {
		var v any
		if !o.has("n") && strictjson.UnmarshalLoose([]byte(text), &v) != nil {
			return "", false
		}
		for stage := range strings.SplitSeq(rest[0], "|") {
			var ok bool
			if v, ok = jqStage(v, strings.TrimSpace(stage)); !ok {
				return "", false
			}
		}
		end := "\n"
		if o.has("j") {
			end = ""
		}
		if text, isText := v.(string); isText && (o.has("r") || o.has("j")) {
			return text + end, true
		}
		out, err := strictjson.Marshal(v)
		return string(out) + end, err == nil
	}
	return true
}

// jqStage applies one stage of a filter.
func jqStage(v any, stage string) (any, bool) {
	list, _ := v.([]any)
	text, isText := v.(string)
	switch {
	case stage == "@base64d":
		var f Filter
		base64Text(&f, []string{"-d"})
		out, ok := f.Apply(text)
		return out, ok && isText
	case slices.Contains([]string{".", "@text", "tostring", "@sh"}, stage):
		return v, true
	case strings.HasPrefix(stage, "."):
		return jqPath(v, stage)
	case strings.HasPrefix(stage, "join("):
		var sep string
		err := strictjson.UnmarshalLoose([]byte(strings.TrimSuffix(strings.TrimPrefix(stage, "join("), ")")), &sep)
		words := make([]string, len(list))
		for i, e := range list {
			word, ok := e.(string)
			if !ok {
				return nil, false
			}
			words[i] = word
		}
		return strings.Join(words, sep), err == nil && list != nil
	}
	var out any
	err := strictjson.UnmarshalLoose([]byte(stage), &out)
	return out, err == nil
}

// jqPath follows .a.b[0]["c"].
func jqPath(v any, path string) (any, bool) {
	path = strings.NewReplacer(`["`, ".", `"]`, "", "[", ".", "]", "", `"`, "").Replace(path)
	for key := range strings.SplitSeq(path, ".") {
		if key == "" {
			continue
		}
		switch t := v.(type) {
		case map[string]any:
			v = t[key]
		case []any:
			n, err := strconv.Atoi(key)
			if n < 0 {
				n += len(t)
			}
			if err != nil || n < 0 || n >= len(t) {
				return nil, false
			}
			v = t[n]
		default:
			return nil, false
		}
	}
	return v, true
}
