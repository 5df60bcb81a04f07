package reading

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// class is what an executor does with a text, judging by its name.
type class struct {
	// shell says that it runs command lines, runs that it runs something, types that it types into something that may run the text.
	shell, runs, types bool
	// posix says that the name names a shell such as bash.
	posix bool
	// cells says that it runs notebook cells, whose lines may be shell commands.
	cells bool
	// elsewhere says that it works on something that does not take commands, such as a database or a web page.
	elsewhere bool
	// data says that it works on a database, queries that it runs queries on something.
	data, queries bool
	// language is the language of the programs that it runs, client the program whose command lines it takes; "" if the name does not say.
	language, client string
}

// wordKind is what a word of an executor's name says about running things. Its values are the names of word classes.
type wordKind string

const (
	wordShell   wordKind = "shell"   // names something that runs command lines
	wordVerb    wordKind = "verb"    // runs something
	wordProcess wordKind = "process" // starts a program, with a verb
	wordRuns    wordKind = "runs"    // names something that runs programs
	wordCode    wordKind = "code"    // a program, which a verb runs
	wordTypes   wordKind = "types"   // types into something
	wordData    wordKind = "data"    // works on a database
	wordOther   wordKind = "other"   // works on something that takes no commands
)

// kindOf returns the kind of a word, or "".
func kindOf(word string) wordKind { return wordKind(wordclass.Kind("name", word)) }

// IsRunner reports whether a word of an executor's name says only that the executor runs something, and nothing about what that does.
func IsRunner(word string) bool {
	k := kindOf(word)
	return k != "" && k != wordOther && k != wordData && k != wordTypes || languageWord(word)+wordclass.Kind("takes-lines-of", word) != ""
}

// classOf classifies an executor by the words of its name.
func classOf(words []string) class {
	has := map[wordKind]bool{}
	client := ""
	for _, w := range words {
		has[kindOf(w)] = true
		client = cmp.Or(client, wordclass.Kind("takes-lines-of", w))
	}
	c := class{
		posix: slices.ContainsFunc(words, func(w string) bool { return languageWord(w) == langShell }), language: languageIn(words),
		data: has[wordData], elsewhere: has[wordData] || has[wordOther], client: client,
	}
	c.cells = wordclass.Any("names-cells", words)
	c.shell = has[wordVerb] && has[wordProcess] || !c.elsewhere && has[wordShell] && isShell(c.language)
	c.types = !c.elsewhere && typesText(has, words)
	c.queries = (has[wordVerb] || has[wordRuns]) && slices.Contains(words, "query")
	c.runs = c.shell || c.language != "" || runsAlone(has, len(words))
	return c
}

// programOf returns the program whose command lines an executor takes, if its name and its server's say nothing else: kubectl, run_git_command, aws_cli.
func programOf(name string) string {
	tool, server := SplitName(name)
	words := Words(tool)
	if wordclass.Is("tool-program", server) && !slices.Contains(words, server) {
		words = append([]string{server}, words...)
	}
	at := slices.IndexFunc(words, func(w string) bool { return wordclass.Is("tool-program", w) })
	if at >= 0 && !slices.ContainsFunc(words[:at], func(w string) bool { return !wordclass.Is("calls-program", w) }) &&
		!slices.ContainsFunc(words[at+1:], func(w string) bool { return !wordclass.Is("takes-lines", w) }) {
		return words[at]
	}
	return ""
}

// SplitName removes the server's name from a tool's name: "mcp__git__git_log", "git.log", "server/tool".
func SplitName(s string) (name, server string) {
	if rest, ok := strings.CutPrefix(s, MCPPrefix); ok {
		if server, name, ok = strings.Cut(rest, "__"); ok {
			return name, strings.ToLower(server)
		}
		return rest, ""
	}
	for _, sep := range []string{"__", "/", ".", "::", ":"} {
		if i := strings.LastIndex(s, sep); i > 0 && i+len(sep) < len(s) {
			return s[i+len(sep):], strings.ToLower(s[:i])
		}
	}
	return s, ""
}

// typesText reports whether the words of a name say that it types into something that runs.
func typesText(has map[wordKind]bool, words []string) bool {
	return has[wordTypes] || slices.Contains(words, "send") && slices.Contains(words, "input")
}

// isShell reports whether a name says of no language, or of PowerShell, that a shell is for it.
func isShell(language string) bool { return language == "" || language == langPowerShell }

// runsAlone reports whether the words of a name say that it runs something, whatever that is.
func runsAlone(has map[wordKind]bool, words int) bool {
	return has[wordRuns] || has[wordVerb] || has[wordCode] && words == 1
}

// languageIn returns the first language named, other than the shell's.
func languageIn(words []string) string {
	at := slices.IndexFunc(words, func(w string) bool { return isOther(languageWord(w)) })
	if at < 0 {
		return ""
	}
	return languageWord(words[at])
}

// The languages that the reader distinguishes.
const (
	langShell      = "sh"
	langPowerShell = "powershell"
	langPatch      = "patch"
	langPython     = "python3"
	langNode       = "node"
)

// languageWord returns the language that one word names, or "".
func languageWord(word string) string { return wordclass.Kind("language", word) }

// languageOf returns the language that an argument names: "python", "python3.12", "/bin/bash", "Node.js". If that is no language that can be read, it returns
// the argument itself, or "" if the argument cannot be a language's name.
func languageOf(name string) string {
	const longest = 40
	if name == "" || len(name) > longest {
		return ""
	}
	for w := range EachWord(name) {
		if lang := languageWord(w); lang != "" {
			return lang
		}
	}
	if strings.ContainsAny(name, " \t\n;|&/") {
		return ""
	}
	return name
}

// Words returns the words of a name in snake, kebab, dotted or camel case, in lower case.
func Words(name string) []string { return slices.AppendSeq(make([]string, 0, 4), EachWord(name)) }

// nameWords returns the words of an executor's name, without its version. A language written as two words counts as one.
func nameWords(name string) []string {
	all := Unversioned(Words(name))
	for i := 0; i+1 < len(all); i++ {
		if pair := all[i] + all[i+1]; slices.Contains([]string{"powershell", "javascript", "typescript"}, pair) {
			all[i] = pair
			all = slices.Delete(all, i+1, i+2)
		}
	}
	return all
}

// Unversioned returns the words of a tool's name without a version at the end: run_command_v2 is a run_command.
func Unversioned(words []string) []string {
	if last := len(words) - 1; last > 0 && version.MatchString(words[last]) {
		return words[:last]
	}
	return words
}

var version = regexp.MustCompile(`^v[0-9]+$`)

// EachWord yields the words of a name in snake, kebab, dotted or camel case, in lower case. An acronym is one word, with the s of its plural.
func EachWord(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, last := -1, rune(0)
		for i, r := range name + "\x00" {
			border := !unicode.IsLetter(r) && !unicode.IsDigit(r)
			hump := unicode.IsUpper(r) && (!unicode.IsUpper(last) || beginsWord(name[i+utf8.RuneLen(r):]))
			if start >= 0 && (border || hump) {
				if !yield(strings.ToLower(name[start:i])) {
					return
				}
				start = -1
			}
			if !border && start < 0 {
				start = i
			}
			last = r
		}
	}
}

// beginsWord reports whether the letter before some text begins a word, and does not end an acronym.
func beginsWord(rest string) bool {
	tail := strings.TrimLeftFunc(rest, unicode.IsLower)
	return len(tail) < len(rest) && (rest[0] != 's' || len(rest)-len(tail) > 1)
}

func isAlnum(c byte) bool {
	return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')
}
