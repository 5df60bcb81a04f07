package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/shell"
)

// only is one file.
type only struct {
	shell.NoFolders
	file, text string
}

// Content returns the text of the file.
func (o only) Content(file string) (string, bool) { return o.text, file == o.file }

// Written returns what a file may run once it holds a text: whatever is asked for of it, told by its name or its first line.
func (r *Reader) Written(file, text string) []shell.Task { return r.later(file, text).tasks }

// Loaded returns what a file may run once it holds a text, and what in it may be
// commands. Of prose that is nothing.
func (r *Reader) Loaded(file, text string) []shell.Task {
	if r.isProse(file) {
		return nil
	}
	v := r.later(file, text)
	v.guess(file, text)
	return v.tasks
}

// plainFile is a file whose name tells nothing.
const plainFile = "/-"

// IsPlain reports whether nothing is known of a file's name: [Reader.Loaded] then takes
// texts in it as in all such files of its folder.
func (r *Reader) IsPlain(file string) bool {
	known := func(row row) bool { return len(row.namedAs(file)) > 0 && len(row.namedAs(plainFile)) == 0 }
	return !isSettings.MatchString(path.Base(file)) && !slices.ContainsFunc(r.table[""], known)
}

// Telling are the lines of a text of which [Reader.Loaded] takes anything in a plain file.
func (r *Reader) Telling(text string) string {
	tasks := r.Loaded(plainFile, text)
	if strings.HasPrefix(text, "#!") || strings.ContainsAny(text, "\\\t\r") || len(tasks) >= maxTasks-1 || len(text) > maxBytes {
		return text // lines are not what they are alone
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
		seen: map[string]bool{}, looked: map[string]bool{}, reader: r, all: true,
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
		if files := row.namedAs(file); len(files) > 0 {
			as := *row
			as.files = files
			as.read(v, &as)
		}
	}
}

// namedAs are those of a row's files that a file is, by its own name.
func (r *row) namedAs(file string) (files []string) {
	for _, name := range r.files {
		switch {
		case strings.HasPrefix(name, "@/") && strings.Contains(file, name[1:]), strings.HasPrefix(name, "@.") && strings.HasSuffix(file, name[1:]):
			files = append(files, name)
		case strings.HasSuffix(file, name) && strings.HasSuffix(file[:len(file)-len(name)], "/"):
			if name[0] != '@' {
				name = file
			}
			files = append(files, name)
		}
	}
	return files
}

// asked are the names of what is run: those that the words name, or all.
func asked[T any](v *visit, names []string, of map[string]T) []string {
	switch {
	case v.all:
		return slices.Sorted(maps.Keys(of))
	case v.among:
		names = slices.Clone(names)
		for _, w := range v.words {
			names = append(names, wordParts.Split(w, -1)...)
		}
	}
	return names
}

// guess keeps a file as the program that its ending or its first line tells, or what
// in it may be commands.
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
		} else {
			v.calls(file, text)
		}
	})
}

// setsUp reports whether a file is a program that sets a tool up: it may hold words of
// the tool's own, among which commands stand.
func (v *visit) setsUp(file string) bool {
	return (v.reader.language(file) != "" || v.reader.isFor("calls", file)) && isSettings.MatchString(path.Base(file))
}

// guessed marks what is kept meanwhile as what may be something else.
func (v *visit) guessed(keep func()) {
	from := len(v.tasks)
	keep()
	for i := range v.tasks[from:] {
		v.tasks[from+i].Guess, v.tasks[from+i].Found = true, true
	}
}

// readText takes what may be commands in files of which the form is not known.
func readText(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok && v.once("text "+file) {
			v.commands(file, text)
		}
	}
}

// quotedText is a text in a line.
var quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)

// commands keeps what in a text begins with a program that is known, and the texts
// of a line that are its words together.
func (v *visit) commands(file, text string) {
	for _, l := range settings.Lines(text) {
		for _, line := range v.reader.commandsIn(l.Text) {
			v.add(file, l.Number, "sh", line)
		}
		v.quotedWords(file, l)
	}
}

// runningCall finds the beginning of a call that by its name runs a command, in any
// language, up to the command.
var runningCall = regexp.MustCompile(`(?:(?:^|\W|_)(?i:(?:run|exec|system|shell|spawn|popen|sh|invoke)\w*|process\w*(?:\.\w+)?|proc|cmd|command|` +
	`call(?:command|process)?)|[a-z](?:Run|Exec|System|Shell|Spawn)\w*)[!?*]?[\s(,:=\[{]{0,4}["'` + "`]")

// programSet finds a program that is named apart from its words, as of a process that is
// begun later, wordsSet those words.
var (
	programSet = regexp.MustCompile(`(?i)\b(?:executable|launchpath|filename|program)\w*["']?\s*[=:(].*["'](?:[^"']*/)?([\w.-]+)["']`)
	wordsSet   = regexp.MustCompile(`(?i)\barg(?:ument)?s?(?:list)?["']?\s*[=:(]`)
)

// wordList finds the beginning of a list of texts that may be a command's words.
var wordList = regexp.MustCompile(`[\[{]\s*"[\w./-]+"\s*,\s*"`)

// calls keeps what calls run in a program, of which the reader of its language knows
// those alone that come with it.
func (v *visit) calls(file, text string) {
	program := ""
	for _, l := range settings.Lines(text) {
		if m := programSet.FindStringSubmatch(l.Text); m != nil {
			program = m[1]
		}
		if at := wordsSet.FindStringIndex(l.Text); at != nil && program != "" {
			words := quotedText.FindAllString(l.Text[at[1]:], -1)
			if len(words) == 1 { // which may be several
				words[0] = words[0][1 : len(words[0])-1]
			}
			v.add(file, l.Number, "sh", quoted(program)+strings.Join(words, " "))
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
		if word, _, more := strings.Cut(l.Text[1:], " "); v.reader.begins(word, more) {
			v.add(file, l.Number, "sh", upTo(l.Text[:1], l.Text[1:]))
		}
		v.quotedWords(file, l)
	}
}

// quotedWords keeps the texts of a line that are the words of a command together.
func (v *visit) quotedWords(file string, l settings.Line) {
	if !strings.ContainsAny(l.Text, `"'`) {
		return
	}
	var words []string
	for _, m := range quotedText.FindAllStringSubmatch(l.Text, -1) {
		if word := m[1] + m[2]; len(words) > 0 || v.reader.isProgram(word) {
			words = append(words, word)
		}
	}
	words = slices.Compact(words) // the first may be what the program is told that it is called
	line := quoted(words...)
	if len(words) == 2 && strings.ContainsAny(words[1], " \t") { // which a program takes apart
		line = words[0] + " " + words[1]
	}
	if len(words) > 1 {
		v.add(file, l.Number, "sh", line)
	}
}

// marks are those behind which a command may begin.
const marks = "=:!>|;,&-@^\\\"'`({[<"

// commandsIn are what may be commands in a line: they begin with one of its first two
// words or behind a mark. Of a line with too many one more than may be kept is given.
func (r *Reader) commandsIn(line string) (found []string) {
	mark, before, at := "", "", 0 // what stands before, but blanks, and the word that ends with it
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
			marked := mark != "" && strings.IndexByte(marks, mark[0]) >= 0
			if (marked || i == 0 && n < 2 && !strings.HasPrefix(line[at+len(word):], " = ")) && r.begins(word[i:], at+len(word) < len(line)) {
				found = append(found, upTo(mark, line[at+i:]))
			}
			mark = word[i : i+1]
		}
		before, at = word, at+len(word)
	}
	return found
}

// begins reports whether a word is a program that is known, and one that is run:
// alone it may be any word.
func (r *Reader) begins(word string, more bool) bool {
	return word != "" && len(word) <= maxWord && (more || word[0] == '.' && word != ".") && r.isProgram(word)
}

// maxWord is how long the name of a program may be, in bytes; no system runs longer
// paths.
const maxWord = 4096

// upTo is what of a text is a command, by the mark before it.
func upTo(mark, text string) string {
	switch end := strings.IndexAny(text, "\"'`"); {
	case mark == "":
	case strings.Contains("\"'`", mark) && end >= 0:
		return text[:end]
	case strings.Contains("({[<", mark):
		return strings.TrimRight(text, ")}]>;, ")
	}
	return text
}

// isProgram reports whether a word is the name of a program that is known, or the
// path of one.
func (r *Reader) isProgram(word string) bool {
	return !strings.ContainsAny(word, " \t") && (strings.HasPrefix(word, "./") || r.base.Known(path.Base(word)))
}
