package project

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
)

// loaded takes the files of the session that a command may run besides what its
// rows say, for nobody can list the options and settings of all programs: those that
// its words name, unless they are what it works on, those that a variable set for it
// names, and what looks like the settings of a tool that works beside them.
func (v *visit) loaded(rows []row) {
	if len(v.c.Changed) == 0 {
		return
	}
	words, finds := v.mayLoad(rows)
	for _, a := range v.c.Assigns {
		text, _ := a.Value.Text()
		words = append(words, text)
	}
	l := loading{visit: v, files: map[string]bool{}, bare: map[string][]string{}}
	folders := v.placesOf(words)
	programs := slices.DeleteFunc(slices.Clone(v.c.Changed), v.reader.isProse)
	for _, file := range programs { // all, before one names another
		bare := strings.TrimSuffix(file, path.Ext(file))
		l.files[file], l.bare[bare] = true, append(l.bare[bare], file)
	}
	for _, file := range programs {
		switch {
		case finds && v.reader.settles(v.dir, folders, file) || v.seen["text "+file]:
			l.take(file, true)
		case v.isBin(file):
			l.take(file, false)
		}
	}
	for _, w := range words {
		l.say(v.c.Changed[0], w)
	}
	for len(l.said) > 0 {
		file := l.said[0]
		l.said = l.said[1:]
		l.take(file, false)
	}
}

// loading is what is known of the session's files while it is found out which of
// them a command may run. Each file and each text is gone through once.
type loading struct {
	*visit

	files map[string]bool     // all of them
	bare  map[string][]string // by their names without the ending
	said  []string            // those that were named, to be taken
}

// say notes which files a text of a file names, with their endings or without.
func (l *loading) say(file, text string) {
	if l.left -= len(text); l.left < 0 {
		l.over(file, 1)
		return
	}
	for _, name := range append(wordParts.Split(text, -1), text) {
		if name == "" {
			continue
		}
		at := l.in(name)
		if l.files[at] {
			l.said = append(l.said, at)
			delete(l.files, at)
		}
		for _, bare := range []string{at, l.in(strings.ReplaceAll(name, ".", "/"))} {
			l.said = append(l.said, l.bare[bare]...)
			delete(l.bare, bare)
		}
	}
}

// take keeps what runs of a file that is named or settles something, and follows
// what settings name.
func (l *loading) take(file string, settles bool) {
	if l.looked[file] && !settles {
		return
	}
	text, _ := l.c.Files.Content(file)
	if l.left -= len(text); l.left < 0 {
		l.over(file, 1)
		return
	}
	if (settles || l.reader.language(file) == "") && l.once("settings "+file) {
		l.say(file, text)
	}
	if !l.looked[file] && l.once(file) {
		l.guess(file, text)
	}
}

// guess keeps a file as the program that its ending or its first line tells, or what
// in it may be commands.
func (v *visit) guess(file, text string) {
	from, language := len(v.tasks), v.reader.language(file)
	if strings.HasPrefix(text, "#!") {
		language = languageOf(text)
	}
	if language == "" {
		v.commands(file, text)
	} else {
		v.add(file, 1, language, text)
	}
	for i := range v.tasks[from:] {
		v.tasks[from+i].Guess = true
	}
}

// takesIn finds what takes a file in, in a program that stands in a word, set a word
// that sets something, blankless a word, wordParts what parts a word in which a file is named.
var (
	takesIn   = regexp.MustCompile(`\b(?:exec|eval|load|include|require|source|do|dofile|run_path|run_module|instance_eval)\w*\b[^;\n]*["']`)
	set       = regexp.MustCompile(`^[-\w.]+=\S+$`)
	blankless = regexp.MustCompile(`[^ \t]+`)
	wordParts = regexp.MustCompile(`[=,:@<>'"(){}\[\];|&\s]+`)
)

// mayLoad are the words that may name what runs, and whether the program may find
// more by itself.
func (v *visit) mayLoad(rows []row) (words []string, finds bool) {
	objects, _ := v.reader.base.Does(v.c.Name)
	data := slices.IndexFunc(rows, func(r row) bool { return r.name == "data" })
	switch {
	case objects || v.c.Name == "":
		return nil, false
	case v.c.Carries:
		return slices.DeleteFunc(slices.Clone(v.words), func(w string) bool { return !takesIn.MatchString(w) && !set.MatchString(w) }), false
	case data < 0:
		return slices.Clone(v.words), true
	}
	for _, option := range rows[data].files {
		name, _ := value(v.words, option)
		words = append(words, name)
	}
	return words, true
}

// isBin reports whether a file is the command, as a project's packages install it.
func (v *visit) isBin(file string) bool {
	bin := path.Base(path.Dir(file))
	return path.Base(file) == v.c.Name && (bin == ".bin" || strings.HasSuffix(path.Dir(file), "/vendor/bin"))
}

// placesOf are the paths that words name.
func (v *visit) placesOf(words []string) map[string]bool {
	all := map[string]bool{}
	for _, w := range words {
		if w != "" {
			all[v.in(w)] = true
		}
	}
	return all
}

// settles reports whether a file looks like settings that a tool finds in its folder
// or in one that its words name, those of a program that no row names it for.
func (r *Reader) settles(dir string, named map[string]bool, file string) bool {
	name, in := path.Base(file), path.Dir(file)
	return (in == dir || named[in] || path.Dir(in) == dir && path.Base(in)[0] == '.') &&
		(name[0] == '.' || strings.Contains(name, "conf") || r.language(file) == "") &&
		!slices.ContainsFunc(r.table[""], func(r row) bool { return slices.Contains(r.files, name) })
}

func (r *Reader) isProse(file string) bool {
	return slices.ContainsFunc(r.table["-"], func(r row) bool { return r.name == "data" && len(namedAs(file, r.files)) > 0 })
}

// language is that of programs in files that end as this one does, "" for none.
func (r *Reader) language(file string) string {
	for _, row := range r.table[""] {
		if row.name == "code" && row.language != "" && path.Ext(file) != "" && slices.Contains(row.files, "@"+path.Ext(file)) {
			return row.language
		}
	}
	return ""
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
		var words []string
		for _, m := range quotedText.FindAllStringSubmatch(l.Text, -1) {
			if word := m[1] + m[2]; len(words) > 0 || v.reader.isProgram(word) {
				words = append(words, word)
			}
		}
		if len(words) > 1 {
			v.add(file, l.Number, "sh", quoted(words...))
		}
	}
}

// marks are those behind which a command may begin.
const marks = "=:!>|;,&-@\\\"'`({[<"

// commandsIn are what may be commands in a line: they begin with one of its first two
// words or behind a mark. Of a line with too many one more than may be kept is given.
func (r *Reader) commandsIn(line string) (found []string) {
	mark := "" // what stands before, but blanks
	line = strings.TrimRight(line, " \t")
	for n, at := range blankless.FindAllStringIndex(line, -1) {
		word := line[at[0]:at[1]]
		for i := 0; i < len(word) && len(found) <= maxTasks; i++ {
			marked := mark != "" && strings.Contains(marks, mark)
			if (marked || i == 0 && n < 2) && r.begins(word[i:], at[1] < len(line)) {
				found = append(found, upTo(mark, line[at[0]+i:]))
			}
			mark = word[i : i+1]
		}
	}
	return found
}

// begins reports whether a word is a program that is known, and one that is run:
// alone it may be any word.
func (r *Reader) begins(word string, more bool) bool {
	return len(word) <= maxWord && r.isProgram(word) && (more || word[0] == '.')
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
