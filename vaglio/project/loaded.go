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
	words, finds := v.mayLoad(rows)
	for _, a := range v.c.Assigns {
		text, _ := a.Value.Text()
		words = append(words, text)
	}
	for i := 0; i < len(v.c.Changed); i++ {
		file := v.c.Changed[i]
		settles := finds && v.reader.settles(v.dir, words, file) || v.seen["text "+file]
		if v.reader.isProse(file) || !settles && (v.looked[file] || !v.says(words, file)) {
			continue
		}
		text, _ := v.c.Files.Content(file)
		if (settles || v.reader.language(file) == "") && v.once("settings "+file) {
			words, i = append(words, text), -1 // what settings name is taken in, too
		}
		if !v.looked[file] && v.once(file) {
			v.guess(file, text)
		}
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

// loading finds what takes a file in, in a program that stands in a word, set a word
// that sets something, wordParts what parts a word in which a file is named.
var (
	loading   = regexp.MustCompile(`\b(?:exec|eval|load|include|require|source|do|dofile|run_path|run_module|instance_eval)\w*\b[^;\n]*["']`)
	set       = regexp.MustCompile(`^[-\w.]+=\S+$`)
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
		return slices.DeleteFunc(slices.Clone(v.words), func(w string) bool { return !loading.MatchString(w) && !set.MatchString(w) }), false
	case data < 0:
		return slices.Clone(v.words), true
	}
	for _, option := range rows[data].files {
		name, _ := value(v.words, option)
		words = append(words, name)
	}
	return words, true
}

// says reports whether words name a file, with its ending or without.
func (v *visit) says(words []string, file string) bool {
	bare := strings.TrimSuffix(file, path.Ext(file))
	return v.isBin(file) || slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(append(wordParts.Split(w, -1), w), func(name string) bool {
			return name != "" && slices.Contains([]string{file, bare}, v.in(name)) || v.in(strings.ReplaceAll(name, ".", "/")) == bare
		})
	})
}

// isBin reports whether a file is the command, as a project's packages install it.
func (v *visit) isBin(file string) bool {
	bin := path.Base(path.Dir(file))
	return path.Base(file) == v.c.Name && (bin == ".bin" || strings.HasSuffix(path.Dir(file), "/vendor/bin"))
}

// settles reports whether a file looks like settings that a tool finds in its folder
// or in one that its words name, those of a program that no row names it for.
func (r *Reader) settles(dir string, words []string, file string) bool {
	name, in := path.Base(file), path.Dir(file)
	named := slices.ContainsFunc(words, func(w string) bool { return w != "" && joined(dir, w) == in })
	return (in == dir || named || path.Dir(in) == dir && path.Base(in)[0] == '.') &&
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
// of a line that are its words together; more than can be kept are one that is not
// known.
func (v *visit) commands(file, text string) {
	for _, l := range settings.Lines(text) {
		var found, words []string
		for at := range l.Text {
			found = append(found, v.reader.command(l.Text, at))
		}
		for _, m := range quotedText.FindAllStringSubmatch(l.Text, -1) {
			if word := m[1] + m[2]; len(words) > 0 || v.reader.isProgram(word) {
				words = append(words, word)
			}
		}
		if len(words) > 1 {
			found = append(found, quoted(words...))
		}
		for _, line := range found {
			if len(v.tasks) == maxTasks-1 {
				line = "eval " + unknownValue("more")
			}
			v.add(file, l.Number, "sh", line)
		}
	}
}

// marks are those behind which a command may begin.
const marks = "=:!>|;,&-@\\\"'`({[<"

// command is what may be a command that begins at an offset of a line: at its
// begin, behind its first word or behind a mark.
func (r *Reader) command(line string, at int) string {
	before := strings.TrimRight(line[:at], " \t")
	word, rest, _ := strings.Cut(line[at:], " ")
	ahead := before[max(len(before)-1, 0):]
	begins := (at == 0 || strings.ContainsAny(line[at-1:at], " \t"+marks)) && (len(strings.Fields(before)) < 2 || strings.ContainsAny(ahead, marks))
	if !begins || word == "" || !r.isProgram(word) || rest == "" && word[0] != '.' {
		return ""
	}
	text := line[at:]
	switch end := strings.IndexAny(text, "\"'`"); {
	case ahead == "":
	case strings.Contains("\"'`", ahead) && end >= 0:
		text = text[:end]
	case strings.Contains("({[<", ahead):
		text = strings.TrimRight(text, ")}]>;, ")
	}
	return text
}

// isProgram reports whether a word is the name of a program that is known, or the
// path of one.
func (r *Reader) isProgram(word string) bool {
	return !strings.ContainsAny(word, " \t") && (strings.HasPrefix(word, "./") || r.base.Known(path.Base(word)))
}
