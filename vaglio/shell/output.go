package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// output is what a plain command writes to its standard output, as far as
// that follows from its words and its input.
func (r *reader) output(f *frame, k *call) Word {
	if !f.capture {
		return Word{}
	}
	name := baseName(k.argv[0])
	out, ok := r.pure(f, k, name)
	if !ok {
		return r.impure(f, k, name)
	}
	if out.size() > maxValue || !r.step(f, out.size()/16) {
		return outputOf(name)
	}
	return out
}

// impure is an output that cannot be known. What comes from a network stays
// marked through the commands that it is piped through.
func (r *reader) impure(f *frame, k *call, name string) Word {
	p := Part{Kind: PartUnknown, From: name, MayBeEmpty: true}
	p.Remote = fetches(name) || f.stdin.Text.Remote() || urlArgument(k.argv)
	return NewWord(p)
}

// fetches reports whether a program's output comes from a network.
func fetches(name string) bool {
	return wordclass.Is("fetches", name)
}

func urlArgument(argv []Word) bool {
	for _, w := range argv[1:] {
		if s := w.Prefix(); strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "ftp://") {
			return true
		}
	}
	return false
}

func (r *reader) pure(f *frame, k *call, name string) (Word, bool) {
	args := k.argv[1:]
	switch name {
	case "echo":
		return echoed(args), true
	case "true", "false", ":", "cd", "export", "set", "unset", "mkdir", "touch", "rm", "mv", "sleep", "shopt", "chmod", "test", "[":
		return Word{}, true
	case "pwd":
		return Glue(r.cwd(), Text("\n")), true
	case "printenv":
		return r.printedVariable(args)
	case "getent":
		return r.account(args)
	case "dirname":
		return pathPart(args, path.Dir)
	case "basename":
		return baseOf(args)
	case "which", "type", "command", "where", "whence":
		return located(args)
	case "realpath", "readlink":
		return r.realPath(args)
	case "seq":
		return sequenceOf(args)
	case "yes":
		return Glue(r.code(args), Text("\n")), len(args) > 0
	}
	return r.filter(f, k, name)
}

// filter is the output of a program that transforms text, unless what is known
// of its words or of the user already tells it.
func (r *reader) filter(f *frame, k *call, name string) (Word, bool) {
	args := k.argv[1:]
	switch name {
	case "printf":
		if len(args) > 0 && args[0].Is("--") {
			args = args[1:]
		}
		return formatted(args), true
	case "whoami":
		if r.opts.User != "" {
			return Text(r.opts.User + "\n"), true
		}
	case "jq":
		if opts, _ := (grammar{permute: true, long: "arg argjson indent"}).parse(args); opts.any("n", "null-input") {
			return jqOutput(Text("null"), args)
		}
	case "eval":
		return Word{}, false
	}
	in, args, ok := r.filterInput(f, k, name)
	if !ok {
		return Word{}, false
	}
	out, ok := r.filtered(in, args, name)
	if !ok {
		return mayPass(in, name)
	}
	return out, true
}

// filtered is the output of a filter for a text.
func (r *reader) filtered(in Word, args []Word, name string) (Word, bool) {
	switch name {
	case "cat", "tac", "rev", "tee", "sponge", "less", "more", "bat", "batcat", "pv", "stdbuf", "buffer", "mbuffer", "dd", "iconv", "m4", "fold",
		"fmt", "expand", "dos2unix":
		return r.passed(in, args, name)
	case "tr":
		return translated(in, args)
	case "sed", "gsed":
		return r.sedOutput(in, args)
	case "head", "tail":
		return headTail(in, args, name)
	case "cut":
		return cutOutput(in, args)
	case "paste":
		return pasted(in, args)
	case "awk", "gawk", "mawk":
		return awkColumn(in, args)
	case "sort", "uniq":
		return sorted(in, args, name)
	case "grep", "egrep", "fgrep":
		return grepped(in, args, name)
	case "jq":
		return jqOutput(in, args)
	case "envsubst":
		return r.substituted(in)
	}
	return coder(in, args, name)
}

// coder is the output of a program that encodes or decodes a text.
func coder(in Word, args []Word, name string) (Word, bool) {
	switch name {
	case "zcat", "gunzip", "gzip", "bzip2", "bunzip2", "xz", "unxz", "bzcat", "xzcat", "zstd", "zstdcat", "unzstd", "pigz", "lz4", "lzma", "lzcat",
		"gzcat", "uncompress", "compress", "zlib-flate":
		return compressed(in, args, name)
	case "base64", "gbase64":
		return decodeFlag(in, args, decode64, encode64)
	case "base32":
		return decodeFlag(in, args, decode32, encode32)
	case "basenc":
		return basenc(in, args)
	case "uudecode":
		return onText(in, uudecoded)
	case "openssl":
		if hasWord(args, "-d") && slices.ContainsFunc([]string{"-base64", "base64", "-a"}, func(s string) bool { return hasWord(args, s) }) {
			return onText(in, decode64)
		}
	case "xxd":
		return xxd(in, args)
	case "od", "hexdump", "hd":
		return dumped(in, args, name)
	}
	return Word{}, false
}

// filterInput is the text that a filter reads: its files or its input.
func (r *reader) filterInput(f *frame, k *call, name string) (in Word, args []Word, ok bool) {
	args = k.argv[1:]
	if in, ok = r.filterFiles(f, args, name); !ok {
		in, ok = f.stdin.Text, f.stdin.Kind != InputInherited
	}
	return in, args, ok
}

// filterFiles is the text of the files that a filter's words name, if any.
func (r *reader) filterFiles(f *frame, args []Word, name string) (Word, bool) {
	skip := 0
	switch name {
	case "sed", "gsed", "awk", "gawk", "mawk", "grep", "egrep", "fgrep", "jq":
		skip = 1
	case "tr", "tee", "openssl", "envsubst", "uudecode":
		return Word{}, false
	case "dd":
		return r.ddFile(f, args)
	}
	var b builder
	read := false
	for i := 0; i < len(args); i++ {
		switch s := args[i].Prefix(); {
		case len(s) > 1 && s[0] == '-':
			if filterValue(name, s) {
				i++
			}
			if slices.Contains([]string{"sed -e", "sed -f", "grep -e", "grep -f"}, name+" "+s) {
				i++
				skip = 0
			}
		case skip > 0:
			skip--
		default:
			b.addWord(r.content(f, args[i]))
			read = true
		}
	}
	return b.word(), read
}

// ddFile is the text of the file that dd reads.
func (r *reader) ddFile(f *frame, args []Word) (Word, bool) {
	for _, w := range args {
		if file, ok := strings.CutPrefix(w.Prefix(), "if="); ok && (file != "" || w.HasUnknown()) {
			return r.content(f, w.cut(len("if="))), true
		}
	}
	return Word{}, false
}

// filterValue reports whether an option of a filter is followed by its value.
func filterValue(name, option string) bool {
	if len(option) != 2 {
		return option == "--arg" || option == "--argjson"
	}
	values := map[string]string{
		"head": "nc", "tail": "nc", "cut": "bcdf", "xxd": "cls", "paste": "d", "od": "AtjNw", "hexdump": "ens", "hd": "ens", "fold": "w", "fmt": "w",
		"iconv": "ft", "grep": "mABC", "egrep": "mABC", "fgrep": "mABC", "sort": "kto", "awk": "vF", "gawk": "vF", "mawk": "vF", "base64": "w", "base32": "w",
	}
	return strings.Contains(values[name], option[1:])
}

// passed is the output of a program that passes its input on, if in another order.
func (r *reader) passed(in Word, args []Word, name string) (Word, bool) {
	switch name {
	case "rev":
		return onText(in, reverseLines)
	case "tac":
		return onText(in, func(s string) (string, bool) {
			lines := strings.SplitAfter(s, "\n")
			slices.Reverse(lines)
			return strings.Join(lines, ""), true
		})
	case "fold", "fmt":
		for _, l := range in.lines() {
			if l.size() > 60 || len(args) > 0 && l.size() > 20 {
				return Word{}, false
			}
		}
	}
	return in, true
}

func hasWord(args []Word, s string) bool {
	return slices.ContainsFunc(args, func(w Word) bool { return w.Is(s) })
}

// onText applies a function to a text that is known in full.
func onText(in Word, fn func(string) (string, bool)) (Word, bool) {
	s, ok := in.Text()
	if !ok {
		return Word{}, false
	}
	out, ok := fn(s)
	return Text(out), ok
}
