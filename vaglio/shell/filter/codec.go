package filter

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

func base64Text(f *Filter, args []string) bool {
	return f.coder("base64", args, base64.RawStdEncoding.DecodeString, base64.StdEncoding.EncodeToString, strings.NewReplacer("-", "+", "_", "/"))
}

func base32Text(f *Filter, args []string) bool {
	return f.coder("base32", args, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString, base32.StdEncoding.EncodeToString, strings.NewReplacer())
}

// coder reads a call of a program that encodes, or decodes with -d. Decoding ignores blanks and
// padding.
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

// openssl decodes base64.
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
