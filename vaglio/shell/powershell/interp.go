package powershell

import (
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// startOption is an option of powershell and pwsh.
type startOption struct {
	name  string
	value bool
}

// startOptions are the options in the order in which the beginning of a name
// is taken for one of them.
func startOptions() []startOption {
	return []startOption{
		{"command", true},
		{"encodedcommand", true},
		{"ec", true},
		{"executionpolicy", true},
		{"ep", true},
		{"file", true},
		{"noprofile", false},
		{"nologo", false},
		{"noninteractive", false},
		{"noexit", false},
		{"inputformat", true},
		{"outputformat", true},
		{"windowstyle", true},
		{"workingdirectory", true},
		{"wd", true},
		{"configurationname", true},
		{"configurationfile", true},
		{"custompipename", true},
		{"settingsfile", true},
		{"psconsolefile", true},
		{"version", true},
		{"login", false},
		{"interactive", false},
		{"sta", false},
		{"mta", false},
		{"help", false},
		{"encodedarguments", true},
	}
}

// interpreter reads the command line of powershell, pwsh or cmd.
func (r *reader) interpreter(name string, args []argument, in value, piped bool) value {
	if !r.enter() {
		return value{}
	}
	defer r.leave()
	if name == "cmd" {
		return r.cmdLine(args, in, piped)
	}
	for i := 0; i < len(args); i++ {
		s := args[i].word.Prefix()
		if args[i].val.block != nil {
			return r.carried(args[i].val, name)
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '/' || strings.Contains(s[1:], "/") {
			return r.positional(name, args[i:], in, piped)
		}
		option := strings.ToLower(strings.TrimLeft(s, "-/"))
		o := optionOf(option)
		rest := args[min(i+1, len(args)):]
		switch o.name {
		case "command":
			return r.commandText(name, rest, in, piped)
		case "encodedcommand", "ec":
			return r.encoded(name, rest)
		case "file":
			return r.positional("pwsh", rest, in, piped)
		}
		if o.value && (o.name != "version" || len(rest) > 0 && !strings.HasPrefix(rest[0].word.Prefix(), "-")) {
			i++
		}
	}
	if piped {
		return r.carried(in, name)
	}
	r.call(name, shell.VerbRead)
	return unknownValue(name)
}

func optionOf(name string) startOption {
	for _, o := range startOptions() {
		if name != "" && strings.HasPrefix(o.name, name) {
			return o
		}
	}
	return startOption{}
}

// positional reads the first word that is no option: a script for pwsh, code
// for powershell.
func (r *reader) positional(name string, args []argument, in value, piped bool) value {
	if len(args) == 0 {
		return value{}
	}
	w := args[0].word
	if s, ok := w.Text(); ok && s == "-" {
		return r.carried(in, name)
	}
	if isScript(w.Suffix()) || strings.HasPrefix(name, "pwsh") && !strings.ContainsAny(w.Prefix(), " ;|") {
		return r.script(w, args[1:])
	}
	return r.commandText(name, args, in, piped)
}

// commandText reads the words that follow -Command as one text.
func (r *reader) commandText(name string, args []argument, in value, piped bool) value {
	words := make([]shell.Word, 0, len(args))
	for i := range args {
		if args[i].val.block != nil {
			return r.carried(args[i].val, name)
		}
		words = append(words, args[i].word)
	}
	if len(words) == 0 {
		return value{}
	}
	if words[0].Is("-") && len(words) == 1 && piped {
		return r.carried(in, name)
	}
	return r.carried(one(joined(words, shell.Text(" "))), name)
}

// encoded reads code in base64 of UTF-16.
func (r *reader) encoded(name string, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	s, ok := args[0].word.Text()
	if !ok {
		return r.carried(one(unknownWord("")), name+" -EncodedCommand")
	}
	data, ok := decodeBase64(s)
	if !ok {
		r.unread("encoded code is not read")
		return value{}
	}
	return r.carried(text(decodeUTF16(data)), name+" -EncodedCommand")
}

// cmdLine reads the command line of cmd: what follows /c or /k.
func (r *reader) cmdLine(args []argument, in value, piped bool) value {
	for i := range args {
		s := args[i].word.Prefix()
		lower := strings.ToLower(s)
		if strings.HasPrefix(lower, "/c") || strings.HasPrefix(lower, "/k") || strings.HasPrefix(lower, "/r") || strings.HasPrefix(lower, "//c") {
			words := []shell.Word{}
			if glued := strings.TrimLeft(s, "/"); len(glued) > 1 {
				words = append(words, shell.Text(glued[1:]))
			}
			for _, a := range args[i+1:] {
				words = append(words, a.word)
			}
			return r.batchWord(joined(words, shell.Text(" ")))
		}
	}
	if piped {
		return r.batchWord(wordOf(in))
	}
	r.call("cmd", shell.VerbRead)
	return unknownValue("cmd")
}

// batchWord reads a word as lines of cmd.
func (r *reader) batchWord(w shell.Word) value {
	switch {
	case w.Remote():
		r.problem(shell.Problem{Kind: shell.ProblemDownload, Detail: wording.Say("cmd runs text that is downloaded"), Word: w, Interpreter: "cmd"})
	case w.IsUnknown():
		r.problem(shell.Problem{
			Kind: shell.ProblemDynamicCode, Detail: wording.Say("cmd runs text that is only known when it runs"), Word: w, Interpreter: "cmd",
		})
		return unknownValue("cmd")
	case w.HasUnknown():
		r.problem(shell.Problem{
			Kind: shell.ProblemPartialCode, Detail: wording.Say("cmd runs text with parts that are only known when it runs"), Word: w,
			Interpreter: "cmd",
		})
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		if p.Kind != shell.PartUnknown {
			b.WriteString(p.Text)
			continue
		}
		name := ":" + strconv.Itoa(len(r.vars))
		r.vars["env:"+name] = one(shell.NewWord(p))
		b.WriteString("%" + name + "%")
	}
	s := b.String()
	if n := len(s); n > 1 && s[0] == '"' && s[n-1] == '"' && strings.Count(s, `"`) != 4 {
		s = s[1 : n-1]
	}
	return r.carriedBy("cmd", func() value {
		r.batch(s)
		return unknownValue("cmd")
	})
}
