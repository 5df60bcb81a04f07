package project

import (
	"cmp"
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell"
)

//go:embed tools.txt
var tableText string

// table says what programs run from files, by program.
type table map[string][]row

type row struct {
	with     []string // words of which one must be present; if empty, none need be
	name     string   // of the reader
	language string
	files    []string
	sources  []source // for the reader of that name
	read     func(v *visit, r *row)
}

// readers returns the file formats that a line of the table may name.
func readers() map[string]func(v *visit, r *row) {
	said := func(*visit, *row) {}
	return map[string]func(v *visit, r *row){
		"code": readCode, "makefile": readMakefile, "scripts": readScripts, "justfile": readJustfile,
		"taskfile": readTaskfile, "dockerfile": readDockerfile, "bake": readBake, "yaml": readYAML, "cmake": readCMake, "lines": readLines,
		"gitconfig": readGitConfig, "githook": readGitHook, "gitrefs": readGitRefs,
		"changed": readChanged, "imports": readImports,
		"tasks": readTasks, "parts": readParts, "bats": readBats,
		"notebook": readNotebook, "xml": readXML, "text": readText, "whole": readWhole, "known": readKnown, "data": said, "named": said, "calls": said,
		"front": readFront, "shown": readShown, "sets": readSets, "sources": readSources, "unchecked": readUnchecked,
		"services": readServices,
	}
}

// parseTable parses lines of the form "program… | words | reader language: file…".
func parseTable(text string) (table, error) {
	t := table{}
	known := readers()
	return t, rows.Read("tools.txt", text, func(line string) error {
		const columns = 3
		parts := strings.SplitN(line, "|", columns)
		if len(parts) != columns {
			return rows.Wrong(line, "want programs | words | reader: files, got %q", line)
		}
		how, files, _ := strings.Cut(parts[2], ": ")
		name, language, _ := strings.Cut(strings.TrimSpace(how), " ")
		there := name == "there"
		if there {
			name, language, _ = strings.Cut(strings.TrimSpace(language), " ")
		}
		read := known[name]
		switch {
		case read == nil:
			return rows.Wrong(name, "there is no reader %q", name)
		case there:
			read = inFolders(read)
		}
		r := row{name: name, with: strings.Fields(parts[1]), language: strings.TrimSpace(language), files: strings.Fields(files), read: read}
		if r.name == "sources" {
			var err error
			if r.sources, err = sourcesOf(r.language); err != nil {
				return err
			}
		}
		for program := range strings.FieldsSeq(parts[0]) {
			t[program] = append(t[program], r)
		}
		if !strings.HasPrefix(parts[0], "(") { // those are asked for by themselves
			t[""] = append(t[""], r)
		}
		return nil
	})
}

// languages returns the languages of the files that the programs' rows name, by those names.
func (t table) languages(programs []string) map[string]string {
	all := map[string]string{}
	for _, program := range programs {
		for i := range t[program] {
			for _, file := range t[program][i].files {
				if _, told := all[file]; !told && t[program][i].name == "code" {
					all[file] = t[program][i].language
				}
			}
		}
	}
	return all
}

// knows reports whether the row's reader knows what runs. One that guesses denies nothing for good.
func (r *row) knows() bool {
	return !slices.Contains([]string{"text", "parts", "whole", "data", "named", "calls"}, r.name)
}

// readChanged adds the files that the session, or the call itself, wrote in the command's folder or below, with one of
// the row's endings, or without any if that is a single dot: a runner finds them by itself.
func readChanged(v *visit, r *row) {
	ends := v.named(r.files)
	for _, file := range slices.Concat(v.c.Changed, v.c.Written) {
		fits := slices.ContainsFunc(ends, func(end string) bool {
			return end == "." && path.Ext(file) == "" || end != "." && strings.HasSuffix(file, strings.TrimPrefix(end, "*"))
		})
		if !fits || !strings.HasPrefix(file, strings.TrimSuffix(v.dir, "/")+"/") || !v.once(file) {
			continue
		}
		if text, ok := v.c.Files.Content(file); ok {
			in := v.dir
			if strings.HasSuffix(file, "_test.go") { // go runs them in their folder
				in = path.Dir(file)
			}
			read := func(text string) { v.code(file, r.language, v.foundIn(file, r.language, text)) }
			v.found(func() { v.inside(in, func() { v.changed(file, read, text) }) })
		}
	}
}

// changed has a text of a file that the session wrote read, and leaves out the command lines that its
// text before the session has, too. A program is compared when it is read.
func (v *visit) changed(file string, read func(text string), text string) {
	var was string
	if v.c.Session != nil {
		was, _ = v.c.Session.Origin(file)
	}
	if was == "" {
		read(text)
		return
	}
	from, left, seen := len(v.tasks), v.left, maps.Clone(v.seen)
	read(was)
	lines, programs := map[string]bool{}, map[string]string{}
	for _, t := range v.tasks[from:] {
		lines[t.Text] = lines[t.Text] || t.Language == "sh"
		programs[t.Language] = t.Text
	}
	v.tasks, v.left, v.seen = v.tasks[:from], left, seen
	read(text)
	v.tasks = append(v.tasks[:from], slices.DeleteFunc(v.tasks[from:], func(t shell.Task) bool { return t.Language == "sh" && lines[t.Text] })...)
	for i := range v.tasks[from:] {
		if t := &v.tasks[from+i]; t.Language != "sh" {
			t.Was = programs[t.Language]
		}
	}
}

// readKnown opens settings of which judges must know what they say.
func readKnown(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		v.content(name)
	}
}

// readWhole adds whole files that are in a form which nobody reads.
func readWhole(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		if file, text, ok := v.content(name); ok {
			v.add(file, 1, "", text)
			delete(v.looked, file) // it is read only for what it names
		}
	}
}

// readCode adds the files as programs of the row's language, or of the language that their first line names.
func readCode(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		for _, folder := range append(v.searched(r.language), v.dir) {
			in := joined(folder, name)
			ending := map[string]string{"ruby": ".rb", "node": ".js", "lua": ".lua"}[r.language] // for a file that is named without its extension
			if file, text, ok := v.first(in, in+ending); ok && v.once(file) {
				language, own := cmp.Or(r.language, languageOf(text)), slices.Contains(r.files, name) // what the tool itself looks for
				v.marked(func() { v.code(file, language, v.asked(file, language, text)) }, func(t *shell.Task) { t.Settings = own })
				if own && v.reader.imports[language] != nil {
					v.follow(language, v.searched(language), path.Dir(file), text, true)
				}
			}
		}
	}
}

// cmdLiteral begins a command of go that no call makes.
const cmdLiteral = "exec.Cmd{"

// code keeps a program, and what calls in it run of which the reader knows few.
func (v *visit) code(file, language, text string) {
	v.add(file, 1, language, text)
	if (v.reader.IsCalled(file) || strings.Contains(text, cmdLiteral)) && v.once("calls "+file) && !v.noCalls {
		v.guessed(func() { v.calls(file, text) })
	}
}

var jsonLine = regexp.MustCompile(`(?m)^[ \t]*"(.*?)(?:\\n)?"[],} \t]*$`)

// readLines adds what follows one of the row's marks in a line. The line may be a text in JSON.
func readLines(v *visit, r *row) {
	for _, name := range v.named(r.files) {
		file, text, _ := v.content(name)
		for _, l := range settings.Lines(jsonLine.ReplaceAllString(text, "$1")) {
			for mark := range strings.FieldsSeq(r.language) {
				command, of, has := strings.Cut(strings.ReplaceAll(mark, "_", " "), "~")
				if !has {
					command, of = "", command
				}
				if line, ok := behind(strings.TrimLeft(l.Text, " \t"), of); ok {
					if m := closedText.FindStringSubmatch(line); m != nil {
						line = escaped.ReplaceAllString(m[1]+m[2], "$1")
					}
					v.add(file, l.Number, "sh", command+line)
				}
			}
		}
	}
}

// inFolders returns a reader whose files run in their own folders.
func inFolders(read func(v *visit, r *row)) func(v *visit, r *row) {
	return func(v *visit, r *row) {
		v.marked(func() { read(v, r) }, func(t *shell.Task) { t.Dir = path.Dir(t.File) })
	}
}

// behind returns what follows a mark in a line. The mark is at the beginning or, if it begins with a star, after a name.
func behind(line, mark string) (string, bool) {
	if mark, ok := strings.CutPrefix(mark, "*"); ok {
		_, rest, ok := strings.Cut(line, mark)
		return rest, ok && line[0] != '#'
	}
	return strings.CutPrefix(line, mark)
}

// set returns the values that a file gives a key, which may be a list over several lines: file?key.
func (v *visit) set(mark string) (all []string) {
	name, key, _ := strings.Cut(mark, "?")
	_, text, _ := v.content(name)
	inList := false
	for _, l := range settings.Lines(text) {
		to, ok := behind(l.Text, key)
		if to = strings.TrimLeft(to, " ="); ok && !strings.HasPrefix(to, "[") {
			all = append(all, strings.Trim(to, " \"'"))
		} else if ok || inList {
			all = append(all, lists.Each(quotedText.FindAllStringSubmatch(l.Text, -1), func(m []string) string { return m[1] + m[2] })...)
			inList = !strings.Contains(l.Text, "]")
		}
	}
	return all
}

// named returns the names of a row, with placeholders replaced as the head of tools.txt says.
func (v *visit) named(files []string) (all []string) {
	for _, name := range files {
		mark, ok := strings.CutPrefix(name, "@")
		switch {
		case !ok:
			all = append(all, v.globbed(name)...)
		case strings.HasPrefix(mark, "**/"), strings.HasPrefix(mark, "//"):
			all = append(all, v.inPackages(mark)...)
		case strings.Contains(mark, "?"):
			all = append(all, v.meant(v.set(mark))...)
		case strings.HasPrefix(mark, "1"), strings.HasPrefix(mark, "2"):
			all = append(all, v.operand(mark)...)
		case mark == "-", mark == "<":
			all = append(all, v.fromInput(mark)...)
		case strings.HasPrefix(mark, "$"):
			all = append(all, v.listed(mark[1:])...)
		case strings.HasPrefix(mark, "-"):
			all = append(all, v.dashed(mark)...)
		case strings.HasPrefix(mark, "/"):
			all = append(all, v.changedIn(mark)...)
		case strings.HasSuffix(mark, "_"):
			all = append(all, v.following(strings.TrimSuffix(mark[:len(mark)-1]+" ", "= "))...)
		default:
			all = append(all, slices.DeleteFunc(operands(v.words), func(w string) bool { return !strings.HasSuffix(w, mark) })...)
		}
	}
	return all
}

// meant returns the files that values of settings name: patterns mean files that the session wrote. Those of the program's language are read in any case.
func (v *visit) meant(values []string) (all []string) {
	for _, value := range values {
		if !strings.Contains(value, "*") {
			all = append(all, value)
			continue
		}
		fits := func(w string) bool {
			return slices.ContainsFunc(strings.Fields(value), func(pattern string) bool {
				fits, err := path.Match(path.Base(pattern), path.Base(w))
				return fits && err == nil && !strings.HasSuffix(pattern, ".py")
			})
		}
		all = append(all, slices.DeleteFunc(slices.Clone(v.c.Changed), func(w string) bool { return !v.near(w) || !fits(w) })...)
	}
	return all
}

// inPackages returns a file's names in the packages of a workspace (**/file), or in the folders of labels (//file).
func (v *visit) inPackages(mark string) []string {
	if file, ok := strings.CutPrefix(mark, "**/"); ok {
		return v.members(file)
	}
	return v.labelled(strings.TrimPrefix(mark, "//"))
}

// operand returns the operand with a number, or files in it: 2/x. A text is none.
func (v *visit) operand(mark string) []string {
	given := getopt.Of(v.c.Name).Split(v.words, getopt.Manner{}, nil, nil)
	words, n := operands(given.All()), int(mark[0]-'0')
	if n > len(words) || strings.ContainsAny(words[n-1], "( ;\"'") {
		return nil
	}
	return v.globbed(words[n-1] + mark[1:])
}

// fromInput returns the words that stand for the standard input (-), or the files that make it up (<).
func (v *visit) fromInput(mark string) []string {
	if mark == "<" {
		return v.c.Input
	}
	return slices.DeleteFunc(slices.Clone(v.words), func(w string) bool { return w != mark })
}

// changedIn returns the files that the session wrote in a folder of this name.
func (v *visit) changedIn(folder string) []string {
	return slices.DeleteFunc(slices.Clone(v.c.Changed), func(w string) bool { return !v.near(w) || !strings.Contains(w, folder) })
}

// listed returns a file's names in the folders that a variable lists: NAME/file.
func (v *visit) listed(mark string) (all []string) {
	variable, file, _ := strings.Cut(mark, "/")
	return lists.Each(v.folders(variable), func(folder string) string { return path.Join(folder, file) })
}

// dashed returns the values of an option, or with an equal sign and a low line what follows it in its word.
func (v *visit) dashed(mark string) []string {
	if option, ok := strings.CutSuffix(mark, "=_"); ok {
		return v.following(option + "=")
	}
	option, below, _ := strings.Cut(mark, "/")
	return lists.All(v.values(option), func(value string) []string { return v.globbed(path.Join(value, below)) })
}

// following returns what follows a prefix in the words that begin with it.
func (v *visit) following(prefix string) (all []string) {
	for _, w := range v.words {
		if name, ok := strings.CutPrefix(w, prefix); ok {
			all = append(all, strings.TrimLeft(strings.TrimSpace(name), "="))
		}
	}
	return all
}
