// Package filter says what programs print that pass on or decode a text, such as cat, tr and base64, which often make up a pipe into a shell.
//
// It works on known texts and knows nothing about shells. It never guesses: a program such as sed, or an option, that it does not follow has an unknown output.
package filter

import (
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// A Filter is one call of a program that turns one text into another.
type Filter struct {
	// Files are the operands that name what it reads, "-" for its input. If there are none, it reads its input.
	Files []string
	// Passes says that it passes on what it reads unchanged.
	Passes bool
	// Anywhere says that it treats every part of a text the same way, so that the known parts of a text give the known parts of the result.
	Anywhere bool

	// Fields says that it takes parts of lines by a mark between them.
	Fields bool

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

// tools maps programs to the functions that read their calls; false means a call is not followed.
var tools = sync.OnceValue(func() map[string]func(f *Filter, args []string) bool { //nolint:gochecknoglobals // It is made once and never changed.
	return map[string]func(f *Filter, args []string) bool{
		"tr": translate, "rev": rev, "base64": base64Text, "base32": base32Text, "openssl": openssl, "xxd": xxd, "sed": sed,
		"cut": cut, "jq": jq, "gunzip": gunzip, "zcat": gunzip, "gzip": gzipped(gunzip), "bunzip2": bunzip, "bzcat": bunzip, "bzip2": gzipped(bunzip),
	}
})

// operands returns the words that name files, for a program whose options are not interpreted.
func operands(name string, args []string) []string {
	s := getopt.Of(name).Split(args, getopt.Manner{}, nil, nil)
	files := s.All()
	switch name {
	case "sed", "gsed", "grep", "egrep", "fgrep", "jq":
		if len(s.Values("-e", "-f")) == 0 { // the first one is the program
			files = files[min(1, len(files)):]
		}
	case "tee":
		return nil // it writes what it is given
	}
	return files
}

// options holds a call's options: for each option, by its first name, the values that it was given.
type options map[string][]string

func (o options) has(name string) bool { return o[name] != nil }

// parse reads a call's words. known lists the options that are followed, as "d=delete" or just "d"; ok is false if the call has any other option.
func parse(program string, args []string, known string) (o options, rest []string, ok bool) {
	s := getopt.Of(program).Split(args, getopt.Manner{}, nil, nil)
	o, ok = options{}, true
	for i := range s.Flags {
		f, found := &s.Flags[i], s.Bundled(&s.Flags[i])
		for spec := range strings.FieldsSeq(known) {
			if short, long, _ := strings.Cut(spec, "="); f.Name == "-"+short || f.Name == "--"+long {
				o[short], found = append(o[short], args[f.At][f.Cut:]), true
			}
		}
		ok = ok && found
	}
	return o, s.All(), ok
}

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

func dd(args []string) *Filter {
	f := &Filter{Passes: true}
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "if=") && a != "if=" }); i >= 0 {
		f.Files = []string{args[i][len("if="):]}
	}
	return f
}
