// Package filter says what programs print that pass on or decode a text, such as cat, tr and
// base64, which often make up a pipe into a shell.
//
// It works on known texts and knows nothing about shells. It never guesses: a program such as sed,
// or an option, that it does not follow has an unknown output.
package filter

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// A Filter is one call of a program that turns one text into another.
type Filter struct {
	// Files are the operands that name what it reads, "-" for its input. If there are none, it
	// reads its input.
	Files []string
	// Passes says that it passes on what it reads unchanged.
	Passes bool
	// Anywhere says that it treats every part of a text the same way, so that the known parts of a
	// text give the known parts of the result.
	Anywhere bool

	apply func(text string) (string, bool)
}

// Apply returns what the program prints for a text; false if that is unknown.
func (f *Filter) Apply(text string) (string, bool) {
	if f.apply == nil {
		return text, f.Passes
	}
	return f.apply(text)
}

// New reads a call of a program; it returns nil for an unknown program.
func New(name string, args []string) *Filter {
	f := &Filter{}
	switch {
	case name == "dd":
		return dd(args)
	case wordclass.Is("passes", name):
		return &Filter{Passes: true, Files: operands(name, args)}
	}
	read := tools()[strings.TrimPrefix(name, "g")]
	if read == nil {
		read = tools()[name]
	}
	if read != nil && read(f, args) {
		return f
	}
	if read == nil && !wordclass.Is("may-pass", name) {
		return nil
	}
	return &Filter{Files: operands(name, args), apply: func(string) (string, bool) { return "", false }}
}

// MayPass reports whether a program passes on all or part of what it reads, possibly in ways that
// are not followed.
func MayPass(name string) bool { return wordclass.Is("may-pass", name) }

// tools maps programs to the functions that read their calls; false means a call is not followed.
var tools = sync.OnceValue(func() map[string]func(f *Filter, args []string) bool { //nolint:gochecknoglobals // It is made once and never changed.
	return map[string]func(f *Filter, args []string) bool{
		"tr": translate, "rev": rev, "base64": base64Text, "base32": base32Text, "openssl": openssl, "xxd": xxd, "sed": sed,
	}
})

// operands returns the words that name files, for a program whose options are not interpreted.
func operands(name string, args []string) []string {
	valued := map[string]string{"iconv": "ft", "fold": "w", "fmt": "w", "head": "nc", "tail": "nc", "cut": "bcdf", "sort": "kto", "grep": "mABC"}[name]
	skip := 0
	switch name {
	case "sed", "gsed", "grep", "egrep", "fgrep", "jq":
		skip = 1
	case "tee":
		return nil // it writes what it is given
	}
	var files []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case len(a) > 1 && a[0] == '-':
			if len(a) == 2 && strings.Contains(valued, a[1:]) {
				i++
			}
		case skip > 0:
			skip--
		default:
			files = append(files, a)
		}
	}
	return files
}

// options holds a call's options: for each option, by its first name, the values that it was
// given.
type options map[string][]string

func (o options) has(name string) bool { return o[name] != nil }

// parse reads a call's words. flags and valued list its options, as "d=delimiter" or just "d"; ok
// is false if the call has any other option.
func parse(args []string, flags, valued string) (o options, rest []string, ok bool) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	names := map[string]string{}
	define := func(list string, with func(long, short string)) {
		for spec := range strings.FieldsSeq(list) {
			short, long, both := strings.Cut(spec, "=")
			if !both {
				long = "only-" + short
			}
			names[long] = short
			with(long, short)
		}
	}
	define(flags, func(long, short string) { fs.BoolP(long, short, false, "") })
	define(valued, func(long, short string) { fs.VarP(new(values), long, short, "") })
	if fs.Parse(args) != nil {
		return nil, nil, false
	}
	o = options{}
	fs.Visit(func(flag *pflag.Flag) {
		o[names[flag.Name]] = []string{flag.Value.String()}
		if list, isList := flag.Value.(*values); isList {
			o[names[flag.Name]] = *list
		}
	})
	return o, fs.Args(), true
}

// values holds every value that an option was given: a [pflag.Value] that costs nothing until it
// is set.
type values []string

func (v *values) String() string     { return "" }
func (v *values) Type() string       { return "string" }
func (v *values) Set(s string) error { *v = append(*v, s); return nil }

// always returns a filter that cannot fail.
func always(do func(string) string) func(string) (string, bool) {
	return func(text string) (string, bool) { return do(text), true }
}

// lines returns the lines of a text without their line ends.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// dd reads if=FILE.
func dd(args []string) *Filter {
	f := &Filter{Passes: true}
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "if=") && a != "if=" }); i >= 0 {
		f.Files = []string{args[i][len("if="):]}
	}
	return f
}
