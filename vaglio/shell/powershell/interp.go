package powershell

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/metnos/vaglio/vaglio/shell"
)

// interpreter reads the command line of powershell, pwsh or cmd.
func (r *reader) interpreter(name string, args []argument, in value, piped bool) value {
	if !r.step(1+len(args)) || !r.enter() {
		return value{}
	}
	defer r.leave()
	if name == "cmd" {
		return r.cmdLine(args, in, piped)
	}
	for len(args) > 0 {
		if !args[0].isStartOption() {
			return r.positional(name, args, in, piped)
		}
		o := r.t.startOption(strings.ToLower(strings.TrimLeft(args[0].word.Prefix(), "-/")))
		args = args[1:]
		switch o.name {
		case "command":
			return r.commandText(name, args, in, piped)
		case "encodedcommand", "ec":
			return r.encoded(name, args)
		case "file":
			return r.positional("pwsh", args, in, piped)
		}
		args = o.skipValue(args)
	}
	if piped {
		return r.carried(in, name)
	}
	r.call(name, shell.VerbRead)
	return unknownValue(name)
}

// skipValue takes the value of an option off the words behind it. The version
// of pwsh, which says its own, has none.
func (o startOption) skipValue(args []argument) []argument {
	if o.value && len(args) > 0 && (o.name != "version" || !strings.HasPrefix(args[0].word.Prefix(), "-")) {
		return args[1:]
	}
	return args
}

// isStartOption says that a word is an option of powershell itself.
func (a *argument) isStartOption() bool {
	s := a.word.Prefix()
	return !a.val.isBlock && len(s) > 1 && (s[0] == '-' || s[0] == '/') && !strings.Contains(s[1:], "/")
}

// positional reads the first word that is no option: a script for pwsh, code
// for powershell.
func (r *reader) positional(name string, args []argument, in value, piped bool) value {
	if len(args) == 0 {
		return value{}
	}
	w := args[0].word
	if w.Is("-") {
		return r.carried(in, name)
	}
	isFile := isScript(w.Suffix()) || strings.HasPrefix(name, "pwsh") && !strings.ContainsAny(w.Prefix(), " ;|")
	if isFile && !args[0].val.isBlock {
		return r.script(w, args[1:])
	}
	return r.commandText(name, args, in, piped)
}

// commandText reads the words that follow -Command as one text.
func (r *reader) commandText(name string, args []argument, in value, piped bool) value {
	for i := range args {
		if args[i].val.isBlock {
			return r.carried(args[i].val, name)
		}
	}
	if len(args) == 1 && args[0].word.Is("-") && piped {
		return r.carried(in, name)
	}
	if len(args) == 0 {
		return value{}
	}
	return r.carried(one(r.line(args)), name)
}

// encoded reads code in base64 of UTF-16.
func (r *reader) encoded(name string, args []argument) value {
	by := name + " -EncodedCommand"
	if len(args) == 0 {
		return value{}
	}
	s, ok := args[0].word.Text()
	if !ok {
		return r.carried(one(unknownWord("")), by)
	}
	if !r.step(1 + len(s)/bytesPerStep) {
		return value{}
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(s), ""), "="))
	if err != nil {
		r.unread("encoded code is not read")
		return value{}
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return r.carried(text(string(utf16.Decode(units))), by)
}

// cmdLine reads the command line of cmd: what follows /c or /k.
func (r *reader) cmdLine(args []argument, in value, piped bool) value {
	for i := range args {
		s := strings.TrimLeft(args[i].word.Prefix(), "/")
		if len(s) == len(args[i].word.Prefix()) || s == "" || !strings.Contains("ckrCKR", s[:1]) {
			continue
		}
		rest := args[i+1:]
		if len(s) > 1 {
			rest = append([]argument{plainArg(shell.Text(s[1:]))}, rest...)
		}
		return r.batchWord(r.line(rest))
	}
	if piped {
		return r.batchWord(r.word(in))
	}
	r.call("cmd", shell.VerbRead)
	return unknownValue("cmd")
}

// batchWord reads a word as lines of cmd.
func (r *reader) batchWord(w shell.Word) value {
	if !r.isCode(w, "cmd") {
		return unknownValue("cmd")
	}
	s := w.String()
	if n := len(s); n > 1 && s[0] == '"' && s[n-1] == '"' && strings.Count(s, `"`) != 4 {
		s = s[1 : n-1]
	}
	return r.carriedBy("cmd", func() value {
		r.batch(s)
		return unknownValue("cmd")
	})
}

// line is the words of a command as one text.
func (r *reader) line(args []argument) shell.Word {
	words := make([]shell.Word, len(args))
	for i := range args {
		words[i] = args[i].word
	}
	return r.joined(words, " ")
}
