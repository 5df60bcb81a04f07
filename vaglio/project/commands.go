package project

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/code/unfold"
	"github.com/metnos/vaglio/vaglio/shell"
)

// quotedText matches a quoted text in a line.
var quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)

// packageVersion matches a package, which may have the name of a program, and its version in a list in JSON.
var packageVersion = regexp.MustCompile(`"[\w@./-]+"\s*:\s*"(?:(?:[~^]|[<>]=?)?\d+\.\d+[\w.+-]*|latest|workspace:[\w.~^*-]*)"`)

// flowList matches a list in YAML that may be the words of a command: an option is among them.
var flowList = regexp.MustCompile(`\[\s*[\w./-]+\s*,(?:[^\[\]"'{}\n]*,)?\s*-[^\[\]"'{}\n]*\]`)

// closedText matches a quoted text behind which only brackets end.
var closedText = regexp.MustCompile(`^\s*(?:` + quotedText.String() + `)\s*[])},;]+\s*$`)

// commands adds everything in a text that begins with a known program, and the quoted texts of a line that together are the words of a command.
func (v *visit) commands(file, text string) {
	v.searches("commands", file, text, (*visit).findCommands)
}

func (v *visit) findCommands(file, text string) {
	for _, l := range settings.Lines(text) {
		if strings.HasPrefix(l.Text, "import ") && v.reader.language(file) != "" || v.isComment(file, l.Text) { // not the program of that name
			continue
		}
		l.Text = flowList.ReplaceAllStringFunc(packageVersion.ReplaceAllString(l.Text, ""), func(s string) string { return strings.ReplaceAll(s, ",", " ") })
		for _, line := range v.reader.commandsIn(l.Text) {
			v.add(file, l.Number, "sh", line)
		}
		v.quotedWords(file, l)
	}
}

// runningCall matches the beginning of a call whose name says that it runs a command, in any language, up to the command.
var runningCall = regexp.MustCompile(`(?:(?:^|[^\w"']|_)(?i:(?:run|exec|system|shell|spawn|popen|sh|invoke)\w*|process\w*(?:\.\w+)?|proc|cmd|command|` +
	`call(?:command|process)?)|[a-z](?:Run|Exec|System|Shell|Spawn)\w*)[!?*]?` +
	`(?:(?:\s*\(\s*(?:new \w+|(?:\w+\.)?(?:of|asList|listOf|arrayOf)|vec!|\[\]\w+))?[\s(,:=\[\]{&]{1,4}["'` + "`]|[\"`])") // no "shouldn't"

// programSet finds a program that is named apart from its words, as of a process that is begun later, wordsSet those words.
var (
	programSet = regexp.MustCompile(`(?i)\b(?:executable|launchpath|filename|program|command(?:::new)?|process(?:startinfo|builder))\w*` +
		`["']?(?:\s*[=:(].*|[ \t]+)["'](?:[^"']*/)?([\w.-]+)["']`)
	wordsSet = regexp.MustCompile(`(?i)\barg(?:ument)?s?(?:list)?["']?\s*[=:(\s]`)
)

// wordList matches the beginning of a list of texts that may be a command's words.
var wordList = regexp.MustCompile(`[\[{]\s*"[\w./-]+"\s*,\s*"`)

// calls adds what calls in a program run. The reader of its language knows only the calls of its standard library.
func (v *visit) calls(file, text string) { v.searches("calls", file, text, (*visit).findCalls) }

func (v *visit) findCalls(file, text string) {
	program, spelled := "", unfold.Spelled(text)
	surroundings := sync.OnceValues(func() ([]shell.Assign, []string) { return unfold.Surroundings(spelled) })
	defer v.given(len(v.tasks), surroundings)
	for _, l := range settings.Lines(spelled) {
		if v.seen["more"] { // nothing is kept any more
			return
		}
		texts := strings.ContainsAny(l.Text, "\"'`") // without any, only words of what was named before may be set
		if texts {
			if m := programSet.FindStringSubmatch(l.Text); m != nil {
				program = quoted(m[1])
			}
		}
		if program != "" {
			if at := wordsSet.FindStringIndex(l.Text); at != nil {
				program += argumentsIn(l.Text[at[1]:])
				v.add(file, l.Number, "sh", program)
			}
		}
		if !texts || v.isComment(file, l.Text) {
			continue
		}
		if at := runningCall.FindStringIndex(l.Text); at != nil {
			_, folders := surroundings()
			v.callIn(file, l, at[1], len(folders) > 0)
		} else if from := wordList.FindStringIndex(l.Text); from != nil {
			l.Text = l.Text[from[0]:]
			v.quotedWords(file, l)
		}
	}
	v.held(file, spelled)
}

// isComment reports whether a line of a program is only a comment. In languages that nobody reads, few marks begin one.
func (v *visit) isComment(file, line string) bool {
	line = strings.TrimSpace(line)
	return code.Default().IsComment(v.reader.language(file), line) || strings.HasPrefix(line, "// ") && v.reader.IsCalled(file)
}

// callIn adds the command line whose opening quote ends at an index of a line, and the words from there on.
func (v *visit) callIn(file string, l settings.Line, quote int, inFolders bool) {
	isShellCall := shellCall.MatchString(l.Text[:quote])
	l.Text = l.Text[quote-1:]
	line := upTo(l.Text[:1], l.Text[1:])
	word, _, more := strings.Cut(leading.ReplaceAllString(line, ""), " ")
	if whole := wholeCall.MatchString(l.Text) && shell.IsWhole(line); whole && isShellCall || v.reader.begins(word, more || inFolders) {
		v.addWhole(file, l.Number, line, whole)
	}
	v.quotedWords(file, l)
}

// argumentsIn returns the quoted texts that a line gives a program; a single one may be several words.
func argumentsIn(text string) string {
	words := quotedText.FindAllString(text, -1)
	if len(words) == 1 {
		words[0] = words[0][1 : len(words[0])-1]
	}
	return strings.Join(words, " ") + " "
}

// leading matches what may precede the first program of a command line.
var leading = regexp.MustCompile(`^(?:[({!\\\s]|(?:if|while|until|then|do|time)\s|\w+=(?:'[^']*'|[^\s'"]*)[;\s])+`)

// shellCall matches the end of a text that calls the function which hands a command line to a shell,
// as C's library names it; heldCall a call that runs what a variable holds.
var (
	shellCall = regexp.MustCompile(`(?:^|[^.\w])(?:system|popen)\s*\(\s*["']$`)
	heldCall  = regexp.MustCompile(`\b(?:system|popen|exec|shell|spawn|command)\w*\(\s*&?([A-Za-z_]\w*)`)
	sets      = regexp.MustCompile(`^\s*(?:\[\w*\])?\s*=|(?:printf|cpy)\(\s*$`)
	standsFor = regexp.MustCompile(`%[-\d.]*[a-z]|\{\w*\}`)
)

// held adds what the variables hold that calls run: the texts that are put into each, line by line.
func (v *visit) held(file, text string) {
	const most = 8 // variables of a file
	seen := map[string]bool{}
	for _, m := range heldCall.FindAllStringSubmatch(text, most) {
		if seen[m[1]] || !v.spends(len(text)) {
			continue
		}
		seen[m[1]] = true
		name, holds := regexp.MustCompile(`\b`+m[1]+`\b`), ""
		for _, l := range settings.Lines(text) {
			at, quote := name.FindStringIndex(l.Text), strings.IndexByte(l.Text, '"')
			if at == nil || quote < at[1] {
				continue
			}
			if sets.MatchString(l.Text[at[1]:]) || sets.MatchString(l.Text[:at[0]]) {
				holds = ""
			}
			holds += filledIn(quotedText.FindAllString(l.Text[quote:], -1))
			if word, _, more := strings.Cut(leading.ReplaceAllString(holds, ""), " "); v.reader.begins(word, more) {
				v.add(file, l.Number, "sh", holds)
			}
		}
	}
}

// filledIn returns a text with those behind it in the places of its marks; what others stand for is not known.
func filledIn(texts []string) string {
	for i := range texts {
		texts[i] = escaped.ReplaceAllString(texts[i][1:len(texts[i])-1], "$1")
	}
	return standsFor.ReplaceAllStringFunc(texts[0], func(string) string {
		if texts = texts[1:]; len(texts) > 0 {
			return texts[0]
		}
		texts = append(texts, "")
		return "$unknown"
	})
}

// given lets the commands that were added since run with variables that the program may give them, and also in the folders outside its own.
func (v *visit) given(since int, surroundings func() ([]shell.Assign, []string)) {
	if since == len(v.tasks) {
		return
	}
	var settings strings.Builder
	variables, folders := surroundings()
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
	if words = slices.Compact(words); len(words) > 1 { // the first may be repeated as the program's argv[0]
		v.addWhole(file, l.Number, asLine(words), whole)
	}
}

// asLine returns words as a command line. A program splits the second of two by itself.
func asLine(words []string) string {
	if len(words) == 2 && strings.ContainsAny(words[1], " \t") {
		return words[0] + " " + words[1]
	}
	return quoted(words...)
}

// between matches what may stand between the words of a command that leaves none out, ends what may follow them.
var between, ends = regexp.MustCompile(`^[\s,\[\]{}&]*$|^\)\s*\.args?\([\[&]*$`), regexp.MustCompile(`^\s*[\])}]`)

// addWhole adds a command line; whole says whether it is all of one.
func (v *visit) addWhole(file string, line int, text string, whole bool) {
	v.marked(func() { v.add(file, line, "sh", text) }, func(t *shell.Task) { t.Whole = whole })
}

// escaped matches a quote or a backslash in a quoted text, as most languages write it.
var escaped = regexp.MustCompile(`\\(["'\\])`)

// marks are the characters that a command may follow.
const marks = "=:!>|;,&-@^\\\"'`({[<"

// commandsIn returns what may be commands in a line: they begin with one of its first two
// words or after a mark. If there are too many, it returns one more than may be kept.
func (r *Reader) commandsIn(line string) (found []string) {
	mark, before, at := "", "", 0 // the character before, except blanks, and the word that ends with it
	lead := -1                    // where the variables begin that are set for what follows
	line = strings.TrimRight(line, " \t")
	for n := 0; at < len(line); n++ {
		word := strings.TrimLeft(line[at:], " \t")
		at = len(line) - len(word)
		if end := strings.IndexAny(word, " \t"); end >= 0 {
			word = word[:end]
		}
		mark = behindRunning(mark, before)
		start := mark
		for i := 0; i < len(word) && len(found) <= maxTasks; i++ {
			first := i == 0 && (lead >= 0 || n < 2 && !declares.MatchString(line[at:]))
			if (first && !isOperand(n, found, before) || behindMark(mark, word, i)) && r.begins(word[i:], at+len(word) < len(line)) {
				found = append(found, upTo(mark, line[from(lead, at, i):]))
			}
			mark = word[i : i+1]
		}
		lead, mark = leads(word, at, lead, start, mark)
		before, at = word, at+len(word)
	}
	return found
}

// declares matches what a line sets in a language other than that of a shell, in which no blank stands before the sign.
var declares = regexp.MustCompile(`^(?:(?:let|local) +)?[^ \t]+ = `)

// isOperand reports whether the nth word is the first argument of the command that the word before it was found to begin.
func isOperand(n int, found []string, before string) bool {
	return n == 1 && len(found) > 0 && !mayBeKey.MatchString(before)
}

// mayBeKey matches a word before a command that may be the name of a program, but also of what runs the command.
var mayBeKey = regexp.MustCompile(`(?i)run|exec|cmd|command|test|install|build|script|start|make|check|call|system|sh$`)

// behindRunning returns the mark that a word has before it that follows one which says that it runs something, or else the mark itself.
func behindRunning(mark, before string) string {
	if strings.Contains(marks, mark) || !isRunning.MatchString(before) {
		return mark
	}
	if at := strings.LastIndexAny(before, `"'`); at >= 0 {
		return before[at : at+1]
	}
	return "("
}

// from returns where a command begins that stands at a place in a word: with the variables before it.
func from(lead, word, at int) int {
	if at == 0 && lead >= 0 {
		return lead
	}
	return word + at
}

// leads returns where the variables begin that are set for what follows a word, and the mark before that; start is the mark before it, mark its last character.
func leads(word string, at, lead int, start, mark string) (int, string) {
	switch m := setsNext.FindStringSubmatchIndex(word); {
	case m == nil || m[3] == 0 && lead < 0 && !isMark(start):
		return -1, mark
	case m[3] > 0:
		return at + m[3], word[m[2]:m[3]]
	case lead < 0:
		return at, start
	default:
		return lead, start
	}
}

// setsNext matches a variable that is set for the command behind it, at the end of a word.
var setsNext = regexp.MustCompile("(^|[\"'`(;&|])\\w+=[^\\s\"'`(]*;?$")

// behindMark reports whether a command may begin at a place in a word, given the character before.
func behindMark(mark, word string, at int) bool {
	return isMark(mark) && (at <= 2 || !isContraction.MatchString(word[at-3:]))
}

// isContraction matches the end of a contraction behind what it shortens: the t of doesn't. One letter
// before the mark may be the prefix of a string, as in Python's r'ls'.
var isContraction = regexp.MustCompile(`^[a-zA-Z]{2}'(?:[tsdm]|ll|re|ve)\W*$`)

// isMark reports whether a command may follow a character.
func isMark(char string) bool { return char != "" && strings.IndexByte(marks, char[0]) >= 0 }

// begins reports whether a word is a known program that is run. A word that stands alone may
// mean anything, and a bracket of a list looks like a test, which runs nothing.
func (r *Reader) begins(word string, more bool) bool {
	return word != "" && word[0] != '[' && len(word) <= maxWord && (more || word[0] == '.' && word != ".") && r.isProgram(word)
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

// tasksIn returns a line in which the quoted texts are command lines: those that run tasks of the program.
func (p *partsReader) tasksIn(line string) string {
	return quotedText.ReplaceAllStringFunc(line, func(text string) string {
		if task, is := strings.CutPrefix(text[1:], p.says+" "); is {
			for strings.HasPrefix(task, "--") { // an option, and what it is given
				_, task, _ = strings.Cut(task, " ")
				if value, rest, more := strings.Cut(task, " "); more && (value == "." || !p.reader.begins(value, true)) {
					task = rest
				}
			}
			return text[:1] + task
		}
		return text[:1] + p.of + " " + text[1:]
	})
}
