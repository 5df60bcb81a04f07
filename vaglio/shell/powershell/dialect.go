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

// Of returns the dialect of a text that an executor runs, by the executor's name or else by the form of the text.
func Of(executor, text string) Dialect {
	for word := range strings.FieldsFuncSeq(strings.ToLower(executor), func(c rune) bool { return c < 'a' || c > 'z' }) {
		switch word {
		case "powershell", "pwsh":
			return PowerShell
		case "cmdexe", "batch":
			return Cmd
		case "bash", "sh", "zsh":
			return Posix
		}
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

// Looks recognizes a command line of PowerShell or cmd by its form: the first word of a command is a cmdlet, it contains a PowerShell variable, or a path or
// an option can only be one of Windows. When in doubt it returns Posix.
func Looks(text string) Dialect {
	const enough = 4096                                           // the form shows at the beginning
	text, _, _ = strings.Cut(text[:min(len(text), enough)], "<<") // what follows is in another language
	s := shape{cmdTest: existTest.MatchString(text[:min(len(text), len("@@if not exist x"))])}
	for first, last := true, byte(0); text != ""; {
		n := strings.IndexAny(text, " \t\r\n;|&(){}'\"<>")
		if n < 0 {
			n = len(text)
		}
		switch c := text[0]; {
		case n > 0:
			s.word(text, n, first)
			first = first && c == '@'
		case strings.IndexByte(`'"`, c) >= 0:
			inside, _, closed := strings.Cut(text[1:], text[:1])
			if !closed {
				return s.dialect()
			}
			s.quoted(inside, c, first)
			n, first = len(inside)+2, false
		default:
			s.variable = s.variable || first && strings.IndexByte(";&", last) < 0 && callOperator.MatchString(text)
			n, first = 1, first || strings.IndexByte("\n;|&({", c) >= 0
		}
		last, text = text[n-1], text[n:]
	}
	return s.dialect()
}

// shape collects what tells the language of a line.
type shape struct {
	cmdTest  bool // if exist
	cmdlet   bool // a command is named Verb-Noun
	variable bool // $env:X, $_., $x =, a method of a type, or the call operator
	path     bool // a Windows path outside quotes
	percent  bool // %NAME%\
	slashes  bool // options begin with a slash
	builtin  bool // a command is one of cmd's own
}

func (s *shape) dialect() Dialect {
	switch {
	case s.cmdTest:
		return Cmd
	case s.cmdlet, s.variable:
		return PowerShell
	case s.percent, s.builtin && (s.path || s.slashes):
		return Cmd
	case s.path:
		return PowerShell
	}
	return Posix
}

// quoted records what the text inside quotes shows; it may be expanded.
func (s *shape) quoted(inside string, quote byte, first bool) {
	s.variable = s.variable || (first || quote == '"') && strings.Contains(strings.ToLower(inside), "$env:")
	if name := substituted.FindStringSubmatch(inside); quote == '"' && name != nil {
		s.command(name[1])
	}
}

// word records what the word of n bytes shows with which a text begins, wherever it is.
func (s *shape) word(text string, n int, first bool) {
	w := text[:n]
	s.variable = s.variable || strings.ContainsAny(w, "$[-") && variables.MatchString(w)
	s.percent = s.percent || strings.Contains(w, "%") && percents.MatchString(w)
	s.path = s.path || drives.MatchString(w)
	if first {
		s.variable = s.variable || assigned.MatchString(text)
		s.command(w)
	} else {
		s.slashes = s.slashes || len(w) == 2 && isSlashOption(strings.ToLower(w)) || slashes.MatchString(w)
	}
}

// command records what the name of a command shows.
func (s *shape) command(w string) {
	name := strings.TrimLeft(strings.ToLower(w), "@")
	if at := strings.IndexByte(name, '/'); at > 0 && slashes.MatchString(name[at:]) { // rd/s/q
		name, s.slashes = name[:at], true
	}
	if t, err := known(); err == nil && isCmdlet(w) {
		s.cmdlet = s.cmdlet || capitals.MatchString(w) || t.spec("cmdlets:", name) != nil
	}
	s.cmdlet = s.cmdlet || name == "gci" || name == "iwr" || name == "irm"
	s.builtin = s.builtin || wordclass.Is("cmd-name", name)
}

// Words that no Unix shell would leave like this: cmd's test, %NAME% alone or before a backslash, a loop's %i and %%i; paths with a drive, and relative paths.
var (
	existTest = regexp.MustCompile(`(?i)^\s*@*if\s+(?:not\s+)?exist\s`)
	variables = regexp.MustCompile(`(?i)\$env:|^(?:\$_\.|-erroraction|\[.*\]::)`)
	assigned  = regexp.MustCompile(`^\$[A-Za-z_]\w*\s*=[\s'"$@(\[{]`) // of a variable by its name with the $
	capitals  = regexp.MustCompile(`^[A-Z]\w*-[A-Z]`)
	percents  = regexp.MustCompile(`^[^%]*%[\dA-Z_\x{80}-\x{10ffff}]{2,}%(?:\\|$)|^%%?[A-Za-z]$`)
	// & before a quoted name runs it. Where a command begins, no Unix shell takes an &.
	callOperator = regexp.MustCompile(`^&[ \t]+["'$.]`)
	substituted  = regexp.MustCompile(`\$\(\(?([A-Z][a-z]+-[A-Z]\w+)\s`)
	drives       = regexp.MustCompile(`^(?:[A-Za-z]:(?:$|\\(?:$|[^\\]))|\.(?:\\\w.|\.\\\w))`)
)
