package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

// only is a single file.
type only struct {
	shell.NoFolders
	file, text string
}

// Content returns the text of the file.
func (o only) Content(file string) (string, bool) { return o.text, file == o.file }

// Written returns what a file with this text may run, whatever is asked of it, judging by its
// name or its first line.
func (r *Reader) Written(file, text string) []shell.Task { return r.later(file, text).tasks }

// Loaded returns what a file with this text may run, and what in it may be commands. Prose
// runs nothing.
func (r *Reader) Loaded(file, text string) []shell.Task {
	if r.isProse(file) {
		return nil
	}
	v := r.later(file, text)
	v.guess(file, text)
	return v.tasks
}

// plainFile is a file whose name says nothing.
const plainFile = "/-"

// IsPlain reports whether nothing is known of a file's name. Then [Reader.Loaded] treats the
// file like all such files in its folder.
func (r *Reader) IsPlain(file string) bool {
	tells := func(row *row) bool { return len(row.namedAs(file)) > 0 && len(row.namedAs(plainFile)) == 0 }
	return file != "" && !r.isSettings(path.Base(file)) && !slices.ContainsFunc(r.ending[file[len(file)-1]], tells)
}

// Telling returns the lines of a text in which [Reader.Loaded] finds anything, for a plain
// file.
func (r *Reader) Telling(text string) string {
	tasks := r.Loaded(plainFile, text)
	if strings.HasPrefix(text, "#!") || strings.ContainsAny(text, "\\\t\r") || len(tasks) >= maxTasks-1 || len(text) > maxBytes {
		return text // its lines cannot be read one by one
	}
	var told strings.Builder
	for n, line := range strings.Split(text, "\n") {
		if slices.ContainsFunc(tasks, func(t shell.Task) bool { return t.Line == n+1 }) {
			told.WriteString("\n" + line)
		}
	}
	return told.String()
}

func (r *Reader) later(file, text string) *visit {
	v := &visit{
		c: shell.TaskCall{Files: only{file: file, text: text}}, words: []string{file}, dir: path.Dir(file), left: maxBytes,
		looked: map[string]bool{}, reader: r, all: true,
	}
	v.written(file, text)
	return v
}

func (v *visit) written(file, text string) {
	if strings.HasPrefix(text, "#!") {
		v.add(file, 1, languageOf(text), text)
		return
	}
	name := path.Base(file)
	for _, row := range v.reader.ending[name[len(name)-1]] {
		if files := row.namedAs(file); len(files) > 0 && !row.guesses() {
			as := *row
			as.files = files
			as.read(v, &as)
		}
	}
}

// namedAs returns those of a row's files that match a file's own name.
func (r *row) namedAs(file string) (files []string) {
	for _, name := range r.files {
		switch {
		case !isNamed(file, name):
		case name[0] == '@':
			files = append(files, name)
		default:
			files = append(files, file)
		}
	}
	return files
}

// isNamed reports whether a row's file matches a file's own name.
func isNamed(file, name string) bool {
	if strings.HasPrefix(name, "@/") && strings.Contains(file, name[1:]) || strings.HasPrefix(name, "@.") && strings.HasSuffix(file, name[1:]) {
		return true
	}
	before, ends := strings.CutSuffix(file, name)
	return ends && strings.HasSuffix(before, "/")
}

// asked returns the names of what runs: those that the words name, or all.
func asked[T any](v *visit, names []string, of map[string]T) []string {
	switch {
	case v.all:
		return slices.Sorted(maps.Keys(of))
	case v.among:
		names = slices.Clone(names)
		for _, w := range v.words {
			names = append(names, partsOf(w)...)
		}
	}
	return names
}

// guess adds a file as a program in the language of its extension or its first line, or else
// what in it may be commands.
func (v *visit) guess(file, text string) {
	language := v.reader.language(file)
	if strings.HasPrefix(text, "#!") {
		language = languageOf(text)
	}
	v.guessed(func() {
		runs := func(t shell.Task) bool { return t.File == file && t.Language == language && t.Text == text }
		if language != "" && !slices.ContainsFunc(v.tasks, runs) {
			v.add(file, 1, language, text)
		}
		if language == "" && !v.reader.isFor("calls", file) || v.setsUp(file) {
			v.commands(file, text)
		} else if v.once("calls " + file) {
			v.calls(file, text)
		}
	})
}

// setsUp reports whether a file is a program that configures a tool. It may contain the
// tool's own words, with commands among them.
func (v *visit) setsUp(file string) bool {
	return (v.reader.language(file) != "" || v.reader.isFor("calls", file)) && v.reader.isSettings(path.Base(file))
}

// isSettings reports whether a program of this name configures a tool, in words of its own:
// gulpfile.js is named after one, profile.js is not.
func (r *Reader) isSettings(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	tool, ok := strings.CutSuffix(stem, "file")
	return settingsName.MatchString(name) || ok && tool != "" && r.isProgram(tool)
}

var settingsName = regexp.MustCompile(`(?i)conf|^\.|^(?:build|project|setup|package)\.`)

// guessed marks what keep adds as a guess.
func (v *visit) guessed(keep func()) {
	v.marked(keep, func(t *shell.Task) { t.Found, t.Guess = true, true })
}

// found marks what keep adds as found by the program, or among words of its own: a name that
// nobody knows may be what the project builds.
func (v *visit) found(keep func()) {
	v.marked(keep, func(t *shell.Task) { t.Found = true })
}

// marked marks what keep adds.
func (v *visit) marked(keep func(), mark func(t *shell.Task)) {
	from := len(v.tasks)
	keep()
	for i := range v.tasks[from:] {
		mark(&v.tasks[from+i])
	}
}

// readText adds what may be commands in files of unknown form.
func readText(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok && v.once("text "+file) {
			v.found(func() { v.commands(file, v.asked(file, v.reader.language(file), text)) })
		}
	}
}

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
		`["']?\s*[=:(].*["'](?:[^"']*/)?([\w.-]+)["']`)
	wordsSet = regexp.MustCompile(`(?i)\barg(?:ument)?s?(?:list)?["']?\s*[=:(]`)
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
			v.add(file, l.Number, "sh", line)
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
	for _, m := range quotedText.FindAllStringSubmatch(l.Text, -1) {
		if word := escaped.ReplaceAllString(m[1]+m[2], "$1"); len(words) > 0 || v.reader.isProgram(word) {
			words = append(words, word)
		}
	}
	words = slices.Compact(words) // the first may be repeated as the program's argv[0]
	line := quoted(words...)
	if len(words) == 2 && strings.ContainsAny(words[1], " \t") { // a program splits these itself
		line = words[0] + " " + words[1]
	}
	if len(words) > 1 {
		v.add(file, l.Number, "sh", line)
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

// upTo returns the part of a text that is a command, given the mark before it.
func upTo(mark, text string) string {
	switch end := strings.IndexAny(text, "\"'`"); {
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
