package project

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// loaded adds the session's files that a command may run in addition to those in its rows, because nobody can list the options and settings of all programs.
// These are files that its words name, unless the command works on them; files that a variable set for it names; and what looks like settings next to them.
func (v *visit) loaded(rows []row) {
	if len(v.c.Changed) == 0 {
		return
	}
	words, finds := v.mayLoad(rows)
	for _, a := range v.c.Assigns {
		text, _ := a.Value.Text()
		words = append(words, text)
	}
	l := loading{visit: v, files: map[string]bool{}, bare: map[string][]string{}, inSettings: map[string]bool{}}
	folders := v.placesOf(words) // what a program works on holds no settings of its own
	programs := slices.DeleteFunc(slices.Clone(v.c.Changed), v.reader.IsProse)
	for _, file := range programs { // all of them, before one names another
		bare := strings.TrimSuffix(file, path.Ext(file))
		l.files[file], l.bare[bare] = true, append(l.bare[bare], file)
	}
	for _, w := range words {
		l.say(v.c.Changed[0], w)
	}
	l.named = slices.Clone(l.said)
	for _, file := range programs {
		switch {
		case finds && v.settles(folders, file) || v.seen["text "+file]:
			l.take(file, true)
		case path.Base(file) == v.c.Name && holdsCommands(path.Dir(file)): // as packages install it
			l.take(file, false)
		}
	}
	for i := 0; i < len(l.said); i++ { // each may name more
		l.take(l.said[i], false)
	}
	l.takeLoaded()
}

// takeLoaded takes the loaded files that a program may find by itself, because nobody can list where every program looks.
func (l *loading) takeLoaded() {
	if !l.runs || l.c.Session == nil {
		return
	}
	loaded := l.c.Session.Loaded()
	if len(loaded) == 0 {
		return
	}
	named := l.placesOf(append(operands(l.words), l.folders("PATH")...)) // what it runs, it finds there
	maps.Copy(named, l.inSettings)
	anywhere := l.made || !l.reader.base.Known(l.c.Name)
	for _, file := range l.c.Changed {
		if !l.reader.IsProse(file) && (anywhere || l.near(file)) {
			l.takeLoadedOne(file, slices.Contains(loaded, file), named)
		}
	}
}

// takeLoadedOne takes what may run in one file. holds says that the file is loaded; named are
// the paths that the words name. A task of a file that is not loaded may run one that is.
func (l *loading) takeLoadedOne(file string, holds bool, named map[string]bool) {
	switch {
	case l.looked[file]:
		if text, _ := l.c.Files.Content(file); holds && l.setsUp(file) {
			l.guessed(func() { l.commands(file, cmp.Or(l.runsOf[file], text)) })
		}
	case l.tasksIn(file) || !holds:
	case !l.reader.isFor("named", file) || l.within(named, file) || slices.Contains(l.words, strings.TrimSuffix(path.Base(file), path.Ext(file))):
		l.take(file, false)
		if l.c.Session.Fetched()[path.Base(file)] && l.reader.language(file) != "" {
			l.content(file) // says so if it cannot be read
		}
	}
}

// near reports whether a file lies above or below the command's folder.
func (v *visit) near(file string) bool {
	in := path.Dir(file) + "/"
	at := strings.TrimSuffix(v.dir, "/") + "/"
	return strings.HasPrefix(in, at) || strings.HasPrefix(at, in)
}

// within reports whether a file lies in a named folder that the command does not work in.
func (v *visit) within(named map[string]bool, file string) bool {
	for in := path.Dir(file); in != "/" && in != v.dir; in = path.Dir(in) {
		if named[in] {
			return true
		}
	}
	return false
}

// tasksIn adds the tasks that the words name, if a file holds named tasks, and what else in it may be commands. It reports whether
// the file is of that form, or of another whose tool finds everything in it that runs.
func (v *visit) tasksIn(file string) bool {
	for _, named := range v.reader.named.rowsOf(file) {
		row := *named
		// Their tools find everything in them that runs, by name or all of it.
		byName := row.isByName()
		own := byName || slices.Contains([]string{"dockerfile", "yaml", "cmake", "xml", "bats"}, row.name)
		if row.files = row.namedAs(file); !own || len(row.files) == 0 || row.files[0] != file {
			continue
		}
		if byName {
			dir := v.dir
			v.dir, v.among = path.Dir(file), true
			v.guessed(func() {
				if row.read(v, &row); row.name == "scripts" {
					text, _ := v.c.Files.Content(file)
					v.commands(file, v.besideScripts(file, text))
				}
			})
			v.dir, v.among = dir, false
		}
		return true
	}
	return false
}

// runsTasks reports whether the program only runs tasks that the words name, from its own file: what
// these may run is found with them. Which programs they are, a path of one's own may decide.
func (v *visit) runsTasks(rows []row) bool {
	return len(v.tasks) > 0 && len(v.folders("PATH")) == 0 && !slices.ContainsFunc(v.tasks, func(t shell.Task) bool {
		isOwn := func(r row) bool {
			lies := func(f string) bool {
				return v.in(f) == t.File || strings.HasSuffix(f, "/") && strings.HasPrefix(t.File, v.in(f)+"/")
			}
			return r.isByName() && slices.ContainsFunc(append(strings.Fields(r.language), r.files...), lies)
		}
		return t.Closed != nil || !slices.ContainsFunc(rows, isOwn)
	})
}

// isByName reports whether the reader finds tasks by their names.
func (r *row) isByName() bool {
	return slices.Contains([]string{"scripts", "justfile", "taskfile", "makefile"}, r.name)
}

// loading holds the session's files while it decides which of them a command may run. It goes through each file and each text once.
type loading struct {
	*visit

	files map[string]bool     // all of them
	bare  map[string][]string // by their path without the extension
	said  []string            // files that were named and are to be taken
	named []string            // those of them that the command's words name

	inSettings map[string]bool // the paths in the program's own settings
}

// say records which files a text names, with or without their extensions. file is where the text is from.
func (l *loading) say(file, text string) {
	if l.left -= len(text); l.left < 0 {
		l.over(file, 1)
		return
	}
	for _, name := range append(partsOf(text), text) {
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

// sayFolders records the folders named in the program's own settings: a file that has or contains the program's name.
func (l *loading) sayFolders(file, text string) {
	of, _, _ := strings.Cut(l.c.Name, "-")
	if len(of) < len("npm") || !strings.Contains(path.Base(file)+"\n"+text, of) {
		return
	}
	for _, name := range partsOf(text) {
		name, _, _ = strings.Cut(name, "*")
		l.inSettings[l.in(strings.Trim(name, "/"))] = true
	}
}

// take adds what runs in a file that is named or contains settings, and follows what settings name.
func (l *loading) take(file string, settles bool) {
	if l.looked[file] && !settles {
		return
	}
	text, _ := l.c.Files.Content(file)
	if !l.spends(bytesPerTake + len(text)) {
		l.over(file, 1)
		return
	}
	if (settles || l.reader.language(file) == "") && l.once("settings "+file) {
		l.say(file, text)
		l.sayFolders(file, text)
	}
	if !l.looked[file] && l.once(file) {
		l.whole(file, text)
	}
}

// whole adds what a file may run; if nobody reads its language, also the file as a whole. What
// the command's words name is run if it is a program; anything else counts as found.
func (l *loading) whole(file, text string) {
	from, named, code := len(l.tasks), slices.Contains(l.named, file), l.reader.IsCalled(file)
	if named {
		l.guess(file, text)
	} else {
		l.changed(file, func(text string) { l.guess(file, l.foundIn(file, l.reader.tasksLanguage(file), text)) }, text)
	}
	if l.reader.language(file) == "" && !strings.HasPrefix(text, "#!") && (named || code) {
		l.guessed(func() { l.add(file, 1, "", text) })
		named = named && code
	}
	for i := range l.tasks[from:] {
		l.tasks[from+i].Found = !named
	}
}

// partsOf returns the names in a text, such as a word that names several files.
func partsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("=,:@<>'\"(){}[];|& \t\n\f\r", r) })
}

// takesIn matches code in a word that takes in a file (what is required, its name finds), and set a word that sets something.
var (
	takesIn = regexp.MustCompile(`\b(?:exec|eval|load|include|source|do|dofile|run_path|run_module|render|knit|instance_eval)\w*\b[^;\n]*["']`)
	// takesInAny matches code that takes in files which the program does not name.
	takesInAny = regexp.MustCompile(`(?:\b(?:require|require_once|include|include_once|import|import_module|__import__)|` +
		`(?:^|[^\w.])(?:load|load_all|autoload))\b\s*\(\s*(?:[^"'\s)]|["'][^"']*["']\s*[+.])|` +
		`\b(?:require|include|load)(?:_once|_relative)?[ \t]+(?:\$|"[^"\n]*[$#]|[a-z_]\w*[ \t]*(?:[;}\n]|$))|\b(?:runMain|iter_modules|walk_packages)\b`)
	set = regexp.MustCompile(`^[-\w.]+=\S+$`)
	// isRunning matches a word that a command follows.
	isRunning = regexp.MustCompile(`(?i)^\W*(?:run|exec\w*|cmd|command|shell|system|spawn|call|process)\W*$`)
)

// mayLoad returns the words that may name what runs, and whether the program may find more by itself.
func (v *visit) mayLoad(rows []row) (words []string, finds bool) {
	objects := v.reader.base.Does(v.c.Name)
	data := slices.IndexFunc(rows, func(r row) bool { return r.name == "data" })
	v.made = v.isMade()
	v.runs = v.made || data < 0 && v.c.Name != "" && !v.runsTasks(rows) && v.mayRun()
	switch {
	case objects || v.c.Name == "":
		return nil, false
	case v.c.Carries:
		return slices.DeleteFunc(slices.Clone(v.words), func(w string) bool { return !takesIn.MatchString(w) && !set.MatchString(w) }), false
	case data < 0:
		return slices.Clone(v.words), true
	}
	for _, option := range rows[data].files {
		name, _ := v.value(option)
		words = append(words, name)
	}
	return words, true
}

// isMade reports whether the program may be made from the project's files, whatever its name: nobody reads what lies at its path, which is
// not where programs are installed.
func (v *visit) isMade() bool {
	folder := path.Dir(v.c.Path)
	if v.c.Path == "" || path.Base(folder) == "bin" || holdsCommands(folder) {
		return false
	}
	_, isText := v.c.Files.Content(v.c.Path)
	return !isText
}

func holdsCommands(folder string) bool {
	return slices.ContainsFunc(wordclass.Of("holds-commands"), func(in string) bool { return strings.HasSuffix(folder, in) })
}

// mayRun reports whether the program may run project code that its words do not name. If it runs a file that was read, the file
// decides: by its name, if it is a known program such as manage.py, or else by whether it takes in files that it does not name.
func (v *visit) mayRun() bool {
	base, at := v.reader.base, slices.IndexFunc(v.words, func(w string) bool { return w != "" && v.looked[v.in(w)] })
	switch {
	case v.c.Command && at < 0:
		return false // what the command may run is found with it
	case !v.c.Carries || at < 0:
		return base.RunsProject(v.c.Name, v.words) || v.c.Carries && slices.ContainsFunc(v.words, takesInAny.MatchString)
	}
	if name := path.Base(v.words[at]); base.Judged[name] != nil {
		return base.RunsProject(name, v.words[at+1:])
	}
	text, _ := v.c.Files.Content(v.in(v.words[at]))
	return takesInAny.MatchString(text)
}

// placesOf returns the paths that words name.
func (v *visit) placesOf(words []string) map[string]bool {
	all := map[string]bool{}
	for _, w := range words {
		if w != "" {
			all[v.in(w)] = true
		}
	}
	return all
}

// settles reports whether a file looks like settings that a tool finds in its folder, or in one that its words name, if no row says whose settings it is.
func (v *visit) settles(named map[string]bool, file string) bool {
	name, in, dir, r := path.Base(file), path.Dir(file), v.dir, v.reader
	return (v.runs || !named[file]) && (in == dir || named[in] || path.Dir(in) == dir && path.Base(in)[0] == '.') &&
		(name[0] == '.' || strings.Contains(name, "conf") || r.language(file) == "") &&
		!slices.ContainsFunc(r.table[""], func(r row) bool { return slices.Contains(r.files, name) })
}

// IsProse reports whether nothing runs what a file of this name says.
func (r *Reader) IsProse(file string) bool { return r.isFor("data", file) }

// WorksOn reports whether a program works on what its words name, so that they say nothing of what it does.
func (r *Reader) WorksOn(program string) bool {
	return slices.ContainsFunc(r.table[program], func(r row) bool { return r.name == "data" })
}

// IsCalled reports whether a file is in a language of which only calls are read.
func (r *Reader) IsCalled(file string) bool { return r.isFor("calls", file) }

// isFor reports whether the table, in its rows for all programs, assigns files like this one to a reader.
func (r *Reader) isFor(name, file string) bool {
	return slices.ContainsFunc(r.rest.rowsOf(file), func(row *row) bool { return row.name == name })
}

// tasksLanguage is [Reader.language], but also knows files without an extension, such as a Rakefile, by what reads them.
func (r *Reader) tasksLanguage(file string) string {
	if path.Ext(file) != "" {
		return r.language(file)
	}
	return r.bare[path.Base(file)]
}

// language returns the language of programs with this file's extension, or "".
func (r *Reader) language(file string) string {
	if ext := path.Ext(file); ext != "" {
		return r.byEnding["@"+ext]
	}
	return ""
}
