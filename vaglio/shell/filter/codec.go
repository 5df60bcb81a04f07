package filter

import (
	"compress/bzip2"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
)

func base64Text(f *Filter, args []string) bool {
	return f.coder("base64", args, base64.RawStdEncoding.DecodeString, base64.StdEncoding.EncodeToString, strings.NewReplacer("-", "+", "_", "/"))
}

func base32Text(f *Filter, args []string) bool {
	return f.coder("base32", args, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString, base32.StdEncoding.EncodeToString, strings.NewReplacer())
}

// coder reads a call of a program that encodes, or decodes with -d. Decoding ignores blanks and padding.
func (f *Filter) coder(program string, args []string, decode func(string) ([]byte, error), encode func([]byte) string, spelling *strings.Replacer) bool {
	o, files, ok := parse(program, args, "d=decode D i=ignore-garbage w=wrap")
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

// gunzip reads gunzip and zcat, bunzip those of bzip2.
func gunzip(f *Filter, args []string) bool {
	return f.unpacks(args, func(packed io.Reader) (io.Reader, error) { return gzip.NewReader(packed) })
}

func bunzip(f *Filter, args []string) bool {
	return f.unpacks(args, func(packed io.Reader) (io.Reader, error) { return bzip2.NewReader(packed), nil })
}

// gzipped reads a program that unpacks only with -d.
func gzipped(unpack func(*Filter, []string) bool) func(*Filter, []string) bool {
	return func(f *Filter, args []string) bool {
		asks := func(a string) bool {
			return a == "--decompress" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "d")
		}
		return slices.ContainsFunc(args, asks) && unpack(f, args)
	}
}

// maxUnpacked is how many bytes may be packed in a text: no program is longer.
const maxUnpacked = 1 << 20

// unpacks reads a call that prints what is packed in its input or its files.
func (f *Filter) unpacks(args []string, open func(io.Reader) (io.Reader, error)) bool {
	_, files, ok := parse("gzip", args, "d=decompress c=stdout f=force k=keep q=quiet")
	f.Files = files
	f.apply = func(text string) (string, bool) {
		packed, err := open(strings.NewReader(text))
		if err != nil {
			return "", false
		}
		out, err := io.ReadAll(io.LimitReader(packed, maxUnpacked))
		return string(out), len(out) > 0 && len(out) < maxUnpacked && (err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum))
	}
	return ok
}

func openssl(f *Filter, args []string) bool {
	has := func(a string) bool { return slices.Contains(args, a) }
	return has("-d") && (has("-base64") || has("base64") || has("-a")) && base64Text(f, []string{"-d"})
}

func xxd(f *Filter, args []string) bool {
	o, files, ok := parse("xxd", args, "r=revert p=postscript s=plain c=cols l=len")
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
			l, _, _ = strings.Cut(rest, "  ") // two blanks end the digits
		}
		digits.WriteString(strings.Join(strings.Fields(l), ""))
	}
	out, err := hex.DecodeString(digits.String())
	return string(out), err == nil
}
