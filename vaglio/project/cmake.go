package project

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// cmakeToken matches a token of CMake's language, cmakeKey a token that ends the words of a command, cmakeQuotes the quotes around a word and the escapes in
// it, and cmakeValue a value that CMake knows.
var (
	cmakeToken  = regexp.MustCompile(`#[^\n]*|"(?:[^"\\]|\\.)*"|[^\s()"#]+|[()]`)
	cmakeKey    = regexp.MustCompile(`^(?:[A-Z]+_[A-Z_]+|DEPENDS|OUTPUT|COMMENT|VERBATIM|TIMEOUT|ENCODING|APPEND|BYPRODUCTS|SOURCES|COMMAND|[()])$`)
	cmakeQuotes = regexp.MustCompile(`^"|"$|\\(")`)
	cmakeValue  = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}|\$<[^>]*>`)
)

// cmakeCall is a call of a command in CMake's language.
type cmakeCall struct {
	name, what string // the command, and its first word
	depth      int
	last       string // the word before
}

func (c *cmakeCall) sees(word string) {
	switch {
	case word == "(":
		if c.depth++; c.depth == 1 {
			c.name, c.what = strings.ToLower(c.last), ""
		}
	case word == ")":
		c.depth--
	case c.depth == 1 && c.what == "":
		c.what = strings.Trim(word, `"`)
	case word == "ALL":
		c.what = "all"
	}
	c.last = word
}

// cmakeRuns reports whether a call's commands run: those of a target if it is asked for, or something may
// depend on it; those of tests if they run; what configuring runs at any time.
func (v *visit) cmakeRuns(c *cmakeCall, text string) bool {
	switch builds := v.builds(); c.name {
	case "add_custom_target":
		named := slices.Contains(append(partsOf(strings.Join(v.words, " ")), "all"), c.what) || strings.Contains(c.what, "$")
		return v.all || builds && (named || strings.Count(text, c.what) > 1)
	case "add_custom_command":
		return builds
	case "add_test":
		return builds && (v.all || v.c.Name != "cmake" || strings.Contains(strings.Join(v.words, " "), "test"))
	}
	return true
}

// builds reports whether a command does more with CMake's files than configure.
func (v *visit) builds() bool {
	does := func(w string) bool { return w == "--build" || w == "--workflow" || w == "--install" }
	return v.all || v.c.Name != "cmake" || slices.ContainsFunc(v.words, does)
}

// readCMake adds what follows COMMAND.
func readCMake(v *visit, r *row) {
	if slices.Contains(v.words, "-E") { // CMake's own tool mode
		return
	}
	if v.c.Name != "cmake" && !v.all && r.files[0][0] != '@' {
		was := v.dir
		defer func() { v.dir = was }()
		if dir, ok := v.value("-C", "--test-dir"); ok {
			v.dir = v.in(dir)
		}
		there := func(name string) bool { _, ok := v.c.Files.Content(v.in(name)); return ok }
		if slices.ContainsFunc([]string{"GNUmakefile", "makefile", "Makefile", "build.ninja"}, there) { // what it was configured to is read
			return
		}
	}
	for file, text := range v.files(r) {
		v.cmakeFile(file, text)
	}
}

func (v *visit) cmakeFile(file, text string) {
	var words []string
	var call cmakeCall
	in, removes, begin := false, false, 0
	for _, at := range cmakeToken.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		v.cmakeTakes(file, &call, word)
		switch {
		case word[0] == '#', word == "ARGS":
		case cmakeKey.MatchString(word):
			if len(words) > 0 && !v.seen["more"] && v.cmakeRuns(&call, text) {
				v.cmakeAdds(file, text, begin, words)
			}
			words, in, begin = nil, word == "COMMAND", at[0]
			removes = call.removes(word)
		case removes && strings.HasPrefix(strings.Trim(word, `"`), "/"): // what it removes elsewhere is built again
			v.add(file, lineOf(text, at[0]), "sh", "rm -rf "+v.cmakeWord(cmakeQuotes.ReplaceAllString(word, "$1")))
		case in:
			words = append(words, v.cmakeWord(cmakeQuotes.ReplaceAllString(word, "$1")))
		}
	}
}

// begins sees a word, and reports whether it is the first one of a call that is in no other.
func (c *cmakeCall) begins(word string) bool {
	first := c.what == ""
	c.sees(word)
	return first && c.depth == 1
}

// removes reports whether a keyword has the call remove files.
func (c *cmakeCall) removes(word string) bool {
	return c.name == "file" && strings.HasPrefix(word, "REMOVE")
}

// cmakeAdds adds a command. A program that the file itself builds is merely found.
func (v *visit) cmakeAdds(file, text string, begin int, words []string) {
	keep := func() { v.add(file, lineOf(text, begin), "sh", strings.Join(words, "")) }
	if builds := "add_executable(" + strings.Trim(words[0], " '"); strings.Contains(text, builds) {
		v.found(keep)
		return
	}
	keep()
}

// cmakeTakes sees a word of a call, and reads what it takes in, if the session wrote it: a script, a module by its name, or a folder's
// file. A folder that only CMake knows may be any, and many settings take in a script: CMAKE_PROJECT_INCLUDE, a preset's toolchainFile.
func (v *visit) cmakeTakes(file string, call *cmakeCall, word string) {
	begins, name := word[0] != '#' && call.begins(word), strings.Trim(word, `"`)
	if path.Ext(name) != ".cmake" && (!begins || call.name != "include" && call.name != "add_subdirectory") {
		return
	}
	name = path.Clean(cmakeValue.ReplaceAllString(strings.TrimPrefix(name, v.dir), ""))
	switch {
	case call.name == "add_subdirectory":
		name += "/CMakeLists.txt"
	case path.Ext(name) == "":
		name += ".cmake"
	}
	for _, f := range v.c.Changed {
		if (f == path.Join(path.Dir(file), name) || strings.HasSuffix(f, "/"+strings.TrimPrefix(name, "/"))) && v.once(f) {
			text, _ := v.c.Files.Content(f)
			v.cmakeFile(f, text)
		}
	}
}

// cmakeWord returns a word as a shell writes it. A value that only CMake knows counts as not empty.
func (v *visit) cmakeWord(word string) string {
	return cmakeValue.ReplaceAllStringFunc(quoted(word), func(s string) string {
		name := strings.Trim(s, "${}<>")
		switch program, ok := strings.CutSuffix(name, "_EXECUTABLE"); {
		case name == "CMAKE_COMMAND":
			return "cmake"
		case ok:
			return strings.ToLower(program)
		case strings.HasSuffix(name, "_BINARY_DIR"), strings.HasPrefix(name, "TARGET_FILE_DIR:"):
			return v.dir + "/build"
		case strings.HasSuffix(name, "_DIR"):
			return v.dir
		}
		return `'"${cmake_value:?}"'`
	})
}
