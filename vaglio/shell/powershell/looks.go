package powershell

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Dialect is the language of a command line.
type Dialect uint8

// The dialects.
const (
	// Posix is what package shell reads.
	Posix Dialect = iota
	// PowerShell is what [Read] reads.
	PowerShell
	// Cmd is what [ReadCmd] reads.
	Cmd
)

// Named tells the dialect of what an executor runs by the executor's name.
func Named(executor string) (Dialect, bool) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(executor), func(c rune) bool { return c >= 0x80 || !isNameByte(byte(c&0x7f)) || c == '_' }) {
		switch word {
		case "powershell", "pwsh":
			return PowerShell, true
		case "cmdexe", "batch":
			return Cmd, true
		case "bash", "sh", "zsh":
			return Posix, true
		}
	}
	return Posix, false
}

// Of tells the dialect of a text that an executor runs: by the executor's
// name, or else by the text's own shape.
func Of(executor, text string) Dialect {
	if d, ok := Named(executor); ok {
		return d
	}
	return Looks(text)
}

// ReadAs reads a text in a dialect that is not [Posix].
func ReadAs(d Dialect, text string, o shell.Options) *shell.Script {
	if d == Cmd {
		return ReadCmd(text, o)
	}
	return Read(text, o)
}

// Looks tells a command line of PowerShell or cmd by its shape: the first word
// of a command is a cmdlet, a variable of PowerShell stands in it, or a path
// or an option can only be one of Windows. What is in doubt is Posix.
func Looks(text string) Dialect {
	const enough = 4096 // the shape shows at the beginning
	if len(text) > enough {
		text = text[:enough]
	}
	if i := strings.Index(text, "<<"); i >= 0 {
		text = text[:i] // what follows is another language's
	}
	s := scanShape(text)
	switch {
	case isCmdTest(text):
		return Cmd
	case s.cmdlet || s.variable:
		return PowerShell
	case s.percent || s.slashes && s.builtin || s.builtin && s.path:
		return Cmd
	case s.path:
		return PowerShell
	}
	return Posix
}

// isCmdTest tells the test of cmd that no other shell knows.
func isCmdTest(text string) bool {
	words := strings.Fields(strings.ToLower(text[:min(len(text), len("if not exist x")+len("@")*8)]))
	return len(words) > 2 && strings.TrimLeft(words[0], "@") == "if" && (words[1] == "exist" || words[1] == "not" && words[2] == "exist")
}

// shape is what shows in which language a line is.
type shape struct {
	cmdlet   bool // a command is named Verb-Noun
	variable bool // $env:X, $_. or a method of a type
	path     bool // a path of Windows outside quotes
	percent  bool // %NAME%\
	slashes  bool // options that begin with a slash
	builtin  bool // a command is one of cmd's own
}

func scanShape(text string) shape {
	var s shape
	first := true
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			inside, _, closed := strings.Cut(text[i+1:], text[i:i+1])
			if !closed {
				return s
			}
			if first || c == '"' {
				s.expanded(strings.ToLower(inside))
			}
			i += len(inside) + 2
			first = false
		case strings.IndexByte("\n;|&({", c) >= 0:
			first = true
			i++
		case strings.IndexByte(" \t\r)}<>", c) >= 0:
			i++
		default:
			n := strings.IndexAny(text[i:], " \t\r\n;|&(){}'\"<>")
			if n < 0 {
				n = len(text) - i
			}
			s.word(text[i:i+n], first)
			first = first && text[i] == '@'
			i += n
		}
	}
	return s
}

// expanded looks for a variable where double quotes leave it one.
func (s *shape) expanded(lower string) {
	s.variable = s.variable || strings.Contains(lower, "$env:")
}

// word notes what a word shows, wherever it stands.
func (s *shape) word(w string, first bool) {
	lower := strings.ToLower(w)
	s.expanded(lower)
	s.variable = s.variable || strings.HasPrefix(lower, "$_.") || strings.HasPrefix(lower, "-erroraction") ||
		strings.HasPrefix(w, "[") && strings.Contains(w, "]::")
	s.percent = s.percent || strings.Contains(w, "%") && percents.MatchString(w)
	s.path = s.path || drives.MatchString(w)
	if first {
		s.command(w, strings.TrimLeft(lower, "@"))
	} else {
		s.slashes = s.slashes || isSlashOption(lower) && len(w) == 2 || glued.MatchString(w)
	}
}

// command notes what the name of a command shows.
func (s *shape) command(w, name string) {
	verb, noun, _ := strings.Cut(w, "-")
	if at := strings.IndexByte(name, '/'); at > 0 && glued.MatchString(name[at:]) { // rd/s/q
		name, s.slashes = name[:at], true
	}
	s.cmdlet = s.cmdlet || isCmdlet(w) && (isCapital(verb) && isCapital(noun) || cmdletNames(name)) || name == "gci" || name == "iwr" || name == "irm"
	s.builtin = s.builtin || wordclass.Is("cmd-name", name)
}

func isCapital(s string) bool { return s != "" && 'A' <= s[0] && s[0] <= 'Z' }

func cmdletNames(name string) bool {
	t, err := known()
	return err == nil && t.cmdlets[name] != nil
}

// The words that no shell of Unix would leave so: %NAME% alone or before a
// backslash, the %i and %%i of a loop; paths of a drive, and those from here.
var (
	percents = regexp.MustCompile(`^[^%]*%[\dA-Z_\x{80}-\x{10ffff}]{2,}%(?:\\|$)|^%%?[A-Za-z]$`)
	drives   = regexp.MustCompile(`^(?:[A-Za-z]:(?:$|\\(?:$|[^\\]))|\.(?:\\\w.|\.\\\w))`)
)
