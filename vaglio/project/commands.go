package project

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

// quotedText matches a quoted text in a line.
var quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)

// commands adds everything in a text that begins with a known program, and the quoted texts
// of a line that together are the words of a command.
func (v *visit) commands(file, text string) {
	program := v.reader.language(file) != ""
	for _, l := range settings.Lines(text) {
		if program && strings.HasPrefix(l.Text, "import ") { // not the program of that name
			continue
		}
		for _, line := range v.reader.commandsIn(l.Text) {
			v.add(file, l.Number, "sh", line)
		}
		v.quotedWords(file, l)
	}
}

// runningCall matches the beginning of a call whose name says that it runs a command, in any
// language, up to the command.
var runningCall = regexp.MustCompile(`(?:(?:^|[^\w"']|_)(?i:(?:run|exec|system|shell|spawn|popen|sh|invoke)\w*|process\w*(?:\.\w+)?|proc|cmd|command|` +
	`call(?:command|process)?)|[a-z](?:Run|Exec|System|Shell|Spawn)\w*)[!?*]?` +
	`(?:(?:\s*\(\s*(?:new \w+|(?:\w+\.)?(?:of|asList|listOf|arrayOf)|vec!|\[\]\w+))?[\s(,:=\[\]{&]{1,4}["'` + "`]|[\"`])") // no "shouldn't"

// programSet finds a program that is named apart from its words, as of a process that is
// begun later, wordsSet those words.
var (
	programSet = regexp.MustCompile(`(?i)\b(?:executable|launchpath|filename|program|command(?:::new)?|process(?:startinfo|builder))\w*` +
		`["']?(?:\s*[=:(].*|[ \t]+)["'](?:[^"']*/)?([\w.-]+)["']`)
	wordsSet = regexp.MustCompile(`(?i)\barg(?:ument)?s?(?:list)?["']?\s*[=:(\s]`)
)

// wordList matches the beginning of a list of texts that may be a command's words.
var wordList = regexp.MustCompile(`[\[{]\s*"[\w./-]+"\s*,\s*"`)

// calls adds what calls in a program run. The reader of its language knows only the calls of
// its standard library.
func (v *visit) calls(file, text string) {
	program, spelled := "", code.Spelled(text)
	variables, folders := code.Surroundings(spelled)
	defer v.given(len(v.tasks), variables, folders)
	for _, l := range settings.Lines(spelled) {
		if v.seen["more"] { // nothing is kept any more
			return
		}
		if m := programSet.FindStringSubmatch(l.Text); m != nil {
			program = quoted(m[1])
		}
		if at := wordsSet.FindStringIndex(l.Text); at != nil && program != "" {
			words := quotedText.FindAllString(l.Text[at[1]:], -1)
			if len(words) == 1 { // which may be several
				words[0] = words[0][1 : len(words[0])-1]
			}
			program += strings.Join(words, " ") + " "
			v.add(file, l.Number, "sh", program)
		}
		at := runningCall.FindStringIndex(l.Text)
		if at == nil {
			if from := wordList.FindStringIndex(l.Text); from != nil {
				l.Text = l.Text[from[0]:]
				v.quotedWords(file, l)
			}
			continue
		}
		l.Text = l.Text[at[1]-1:]
		line := upTo(l.Text[:1], l.Text[1:])
		if word, _, more := strings.Cut(line, " "); v.reader.begins(word, more || len(folders) > 0) {
			v.addWhole(file, l.Number, line, shell.IsWhole(line) && wholeCall.MatchString(l.Text))
		}
		v.quotedWords(file, l)
	}
}

// given lets the commands that were added since run with variables that the program may give them,
// and also in the folders outside its own.
func (v *visit) given(since int, variables []shell.Assign, folders []string) {
	var settings strings.Builder
	for _, a := range variables {
		settings.WriteString(a.Name + "=" + quoted(a.Value.String()))
	}
	set := settings.String()
	for i, n := since, len(v.tasks); i < n; i++ {
		if set != "" {
			v.tasks[i].Text = "export " + set + "; " + v.tasks[i].Text
		}
		for _, folder := range folders {
			if t := v.tasks[i]; folder[0] == '/' || strings.HasPrefix(folder, "..") {
				v.inside(folder, func() { v.add(t.File, t.Line, "sh", t.Text) })
			}
		}
	}
}

// quotedWords adds the quoted texts of a line that together are the words of a command.
func (v *visit) quotedWords(file string, l settings.Line) {
	if !strings.ContainsAny(l.Text, `"'`) {
		return
	}
	var words []string
	at, whole := 0, true
	for _, m := range quotedText.FindAllStringSubmatchIndex(l.Text, -1) {
		word := escaped.ReplaceAllString(l.Text[m[0]+1:m[1]-1], "$1")
		if len(words) > 0 || v.reader.isProgram(word) {
			whole = whole && (len(words) == 0 || between.MatchString(l.Text[at:m[0]]))
			words, at = append(words, word), m[1]
		}
	}
	whole = whole && len(words) > 1 && ends.MatchString(l.Text[at:]) && shell.IsWhole(words...)
	words = slices.Compact(words) // the first may be repeated as the program's argv[0]
	line := quoted(words...)
	if len(words) == 2 && strings.ContainsAny(words[1], " \t") { // a program splits these itself
		line = words[0] + " " + words[1]
	}
	if len(words) > 1 {
		v.addWhole(file, l.Number, line, whole)
	}
}

// between matches what may stand between the words of a command that leaves none out, ends what may follow them.
var between, ends = regexp.MustCompile(`^[\s,\[\]{}&]*$|^\)\s*\.args?\([\[&]*$`), regexp.MustCompile(`^\s*[\])}]`)

// addWhole adds a command line; whole says whether it is all of one.
func (v *visit) addWhole(file string, line int, text string, whole bool) {
	from := len(v.tasks)
	v.add(file, line, "sh", text)
	for i := range v.tasks[from:] {
		v.tasks[from+i].Whole = whole
	}
}

// escaped matches a quote or a backslash in a quoted text, as most languages write it.
var escaped = regexp.MustCompile(`\\(["'\\])`)

// marks are the characters that a command may follow.
const marks = "=:!>|;,&-@^\\\"'`({[<"

// commandsIn returns what may be commands in a line: they begin with one of its first two
// words or after a mark. If there are too many, it returns one more than may be kept.
func (r *Reader) commandsIn(line string) (found []string) {
	mark, before, at := "", "", 0 // the character before, except blanks, and the word that ends with it
	line = strings.TrimRight(line, " \t")
	for n := 0; at < len(line); n++ {
		word := strings.TrimLeft(line[at:], " \t")
		at = len(line) - len(word)
		if end := strings.IndexAny(word, " \t"); end >= 0 {
			word = word[:end]
		}
		if !strings.Contains(marks, mark) && isRunning.MatchString(before) {
			mark = "("
			if at := strings.LastIndexAny(before, `"'`); at >= 0 {
				mark = before[at : at+1]
			}
		}
		for i := 0; i < len(word) && len(found) <= maxTasks; i++ {
			first := i == 0 && n < 2 && !strings.HasPrefix(line[at+len(word):], " = ")
			if (first || behindMark(mark, word, i)) && r.begins(word[i:], at+len(word) < len(line)) {
				found = append(found, upTo(mark, line[at+i:]))
			}
			mark = word[i : i+1]
		}
		before, at = word, at+len(word)
	}
	return found
}

// behindMark reports whether a command may begin at a place in a word, given the character before.
func behindMark(mark, word string, at int) bool { return isMark(mark) && !contracts(word, at) }

// contracts reports whether what follows in a word is the end of a contraction: the t of
// doesn't. One letter before the mark may be the prefix of a string, as in Python's r'ls'.
func contracts(word string, at int) bool {
	return at > 2 && isContraction.MatchString(word[at-3:])
}

var isContraction = regexp.MustCompile(`^[a-zA-Z]{2}'(?:[tsdm]|ll|re|ve)\W*$`)

// isMark reports whether a command may follow a character.
func isMark(char string) bool { return char != "" && strings.IndexByte(marks, char[0]) >= 0 }

// begins reports whether a word is a known program that is run. A word that stands alone may
// mean anything.
func (r *Reader) begins(word string, more bool) bool {
	return word != "" && len(word) <= maxWord && (more || word[0] == '.' && word != ".") && r.isProgram(word)
}

// maxWord is the length of the longest program name, in bytes. No system runs longer paths.
const maxWord = 4096

// quotedRest matches a quoted text that ends in its line.
var quotedRest = regexp.MustCompile("^(?:\"((?:[^\"\\\\]|\\\\.)*)\"|'((?:[^'\\\\]|\\\\.)*)'|`([^`]*)`)")

// wholeCall matches a quoted text that nothing is joined to.
var wholeCall = regexp.MustCompile(quotedRest.String() + `\s*[])},;!]`)

// upTo returns the part of a text that is a command, given the mark before it.
func upTo(mark, text string) string {
	end := strings.IndexAny(text, "\"'`")
	if inner := quotedRest.FindStringSubmatch(mark + text); inner != nil {
		return escaped.ReplaceAllString(inner[1]+inner[2]+inner[3], "$1")
	}
	switch {
	case mark == "":
	case strings.Contains("\"'`", mark) && end >= 0:
		return text[:end]
	case strings.Contains("({[<", mark):
		text = strings.TrimRight(text, ")}]>;, ")
		for _, mark := range []string{`"`, "'"} {
			if inner, ends := strings.CutSuffix(text, mark); ends && strings.Count(inner, mark)%2 == 0 {
				return inner // the mark ends the text that the command is in
			}
		}
	}
	return text
}

// isProgram reports whether a word is the name or the path of a known program.
func (r *Reader) isProgram(word string) bool {
	return !strings.ContainsAny(word, " \t") && (strings.HasPrefix(word, "./") || r.base.Known(path.Base(word)))
}
