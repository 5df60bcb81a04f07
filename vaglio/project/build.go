package project

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
)

// quoted is a command line of words that no shell changes.
func quoted(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "' ")
	}
	return b.String()
}

// dockerRemark finds the remarks that stand inside a continued line.
var dockerRemark = regexp.MustCompile(`\\\n([ \t]*#[^\n]*\n)+`)

// readDockerfile reads what building an image runs.
func readDockerfile(v *visit, r *row) {
	names := r.files
	if plain := operands(v.words); len(plain) > 0 {
		names = slices.Concat([]string{plain[len(plain)-1] + "/" + r.files[0]}, r.files)
	}
	if name, ok := value(v.words, "-f", "--file"); ok {
		names = []string{name}
	}
	file, text, _ := v.first(names...)
	text = dockerRemark.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\\\n", strings.Count(s, "\n")) })
	all, copies := settings.Lines(text), &copies{files: map[string][]string{}, seen: map[[2]string]bool{}, left: 20_000}
	ends := map[string][]int{}
	for i := range all {
		end := strings.TrimLeft(all[i].Text, "\t")
		ends[end] = append(ends[end], i)
	}
	for i := 0; i < len(all); i++ {
		l := all[i]
		body, lines := hereText(l.Text, all[i+1:], ends, i+1)
		i += lines
		word, run, _ := strings.Cut(strings.TrimSpace(l.Text), " ")
		for run = strings.TrimSpace(run); strings.HasPrefix(run, "--"); run = strings.TrimSpace(run) {
			_, run, _ = strings.Cut(run, " ")
		}
		words := []string{"sh", "-c", run}
		if lines > 0 {
			words[2] = run + "\n" + body
			if strings.HasPrefix(run, "<<") { // it is the script itself
				words[2] = "sh " + words[2]
			}
		}
		if strings.HasPrefix(run, "[") {
			v.decode(file, run, &words) // words, or no list
		}
		switch {
		case strings.EqualFold(word, "RUN"):
			v.add(file, l.Number, "sh", inContainer(nil, words...))
			v.copied(copies, l.Number, file, strings.Join(words, " "))
		case strings.EqualFold(word, "COPY"), strings.EqualFold(word, "ADD"):
			for words := wordParts.Split(strings.Trim(run, `["] `), -1); len(words) > 1; words = words[1:] {
				copies.add(words[0], words[len(words)-1])
			}
		}
	}
}

// bakeOutput finds where a target of a bake file puts what it builds.
var bakeOutput = regexp.MustCompile(`"?output"?\s*[=:]\s*\[([^\]]*)\]`)

// readBake reads what building the images of a bake file writes and sends.
func readBake(v *visit, r *row) {
	for file, text := range v.files(r) {
		for _, m := range bakeOutput.FindAllStringSubmatch(text, -1) {
			for _, to := range quotedText.FindAllString(m[1], -1) {
				v.addFrom(file, text, m[0], "docker buildx build --output "+to+" .")
			}
		}
	}
}

// copies are what a Dockerfile copies from the folder of the command.
type copies struct {
	files   map[string][]string // by where to, and by their own names
	folders [][2]string         // and where to
	seen    map[[2]string]bool
	left    int // looks that may still be taken
}

// add notes a copy. What has an ending is a file.
func (c *copies) add(from, to string) {
	one := [2]string{from, to}
	if c.seen[one] {
		return
	}
	c.seen[one] = true
	if len(path.Ext(path.Clean(from))) < 2 { // of a dot alone it is none
		c.folders = append(c.folders, one)
	}
	c.files[to] = append(c.files[to], from)
	if name := path.Base(from); name != to {
		c.files[name] = append(c.files[name], from)
	}
}

// of are the files that a name may mean.
func (c *copies) of(name string) []string {
	all := slices.Clone(c.files[name])
	if base := path.Base(name); base != name {
		all = append(all, c.files[base]...)
	}
	if c.left -= len(all) + len(c.folders); c.left < 0 {
		return nil
	}
	for _, f := range c.folders {
		all = append(all, path.Join(f[0], strings.TrimPrefix(name, f[1])))
	}
	return all
}

// copied takes the scripts that a line of a Dockerfile names of those that lines before it
// have copied from the folder of the command.
func (v *visit) copied(c *copies, line int, dockerfile, text string) {
	runners := map[string][]string{"python": {"python3", "-c"}, "node": {"node", "-e"}, "": {"sh", "-c"}, "sh": {"sh", "-c"}}
	for _, name := range wordParts.Split(text, -1) {
		for _, file := range c.of(name) {
			file = v.in(file)
			if !v.once("copied " + file) {
				continue
			}
			by := runners[v.reader.language(file)]
			if text, ok := v.c.Files.Content(file); ok && by != nil {
				v.add(file, 1, "sh", inContainer(nil, by[0], by[1], text))
			}
		}
	}
	if c.left < 0 {
		v.over(dockerfile, line)
	}
}

// hereStart is the mark of a text that follows a line, as shells write it.
var hereStart = regexp.MustCompile(`<<-?\s*(["']?)([A-Za-z_][A-Za-z0-9_]*)["']?`)

// hereText is the text that follows a line as it says, with its end, and how many
// lines that is. ends are the lines below a first one, by what they hold without tabs.
func hereText(line string, below []settings.Line, ends map[string][]int, first int) (text string, lines int) {
	m := hereStart.FindStringSubmatch(line)
	if m == nil {
		return "", 0
	}
	at := ends[m[2]]
	n, _ := slices.BinarySearch(at, first)
	if n == len(at) {
		return "", 0
	}
	var b strings.Builder
	for _, l := range below[:at[n]-first+1] {
		b.WriteString(l.Text + "\n")
	}
	return b.String(), at[n] - first + 1
}

// readYAML takes what stands under the row's keys, at any depth: a text is a
// command line, a list its words. "container" before the keys says where it runs.
func readYAML(v *visit, r *row) {
	keys := strings.Fields(r.language)
	inside := keys[0] == "container"
	if inside && v.c.Name == "docker" && !slices.Contains(v.words, "compose") {
		return
	}
	for file, text := range v.files(r) {
		var tree any
		if v.decode(file, text, &tree) {
			v.under(file, text, keys, inside, tree)
		}
	}
}

// under takes what stands under the keys in a tree.
func (v *visit) under(file, text string, keys []string, inside bool, tree any) {
	switch t := tree.(type) {
	case []any:
		for _, e := range t {
			v.under(file, text, keys, inside, e)
		}
	case map[string]any:
		var words []string
		for _, key := range keys {
			switch val := t[key].(type) {
			case string:
				v.place(file, text, t, inside, val)
			case []any:
				words = append(words, texts(val)...)
			}
		}
		v.place(file, text, t, inside, words...)
		for _, key := range slices.Sorted(maps.Keys(t)) {
			v.under(file, text, keys, inside, t[key])
		}
	}
}

// place keeps a command, one text or words, of a part of a file.
func (v *visit) place(file, text string, part map[string]any, inside bool, words ...string) {
	if len(words) == 0 {
		return
	}
	first, _, _ := strings.Cut(words[0], "\n")
	if len(words) == 1 {
		words = []string{"sh", "-c", words[0]}
	}
	line := quoted(words...)
	if inside {
		line = inContainer(part, words...)
	}
	v.addFrom(file, text, first, line)
}

// inContainer is a command line that runs in the container that a service of a
// compose file describes: with its folders and rights.
func inContainer(service map[string]any, words ...string) string {
	c := []string{"docker", "run", "--rm"}
	list, _ := service["volumes"].([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok { // the long form
			e = fmt.Sprintf("%v:%v", m["source"], m["target"])
		}
		if folder, ok := e.(string); ok {
			c = append(c, "-v", folder)
		}
	}
	if service["privileged"] == true || service["pid"] == "host" {
		c = append(c, "--privileged", "--pid=host")
	}
	return quoted(append(append(c, "image"), words...)...)
}

// texts are the texts of a list.
func texts(list []any) (all []string) {
	for _, e := range list {
		if s, ok := e.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// cmakeToken is a word of CMake's language, a remark or a bracket, cmakeKey what
// ends the words of a command, cmakeQuotes what quotes a word and what is quoted in it,
// cmakeValue a value that CMake knows.
var (
	cmakeToken  = regexp.MustCompile(`#[^\n]*|"(?:[^"\\]|\\.)*"|[^\s()"#]+|[()]`)
	cmakeKey    = regexp.MustCompile(`^(?:[A-Z]+_[A-Z_]+|DEPENDS|OUTPUT|COMMENT|VERBATIM|TIMEOUT|ENCODING|APPEND|BYPRODUCTS|SOURCES|COMMAND|[()])$`)
	cmakeQuotes = regexp.MustCompile(`^"|"$|\\(")`)
	cmakeValue  = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}|\$<[^>]*>`)
)

// readCMake takes what stands behind COMMAND.
func readCMake(v *visit, r *row) {
	if slices.Contains(v.words, "-E") { // a tool of its own
		return
	}
	for file, text := range v.files(r) {
		var words []string
		in, begin := false, 0
		for _, at := range cmakeToken.FindAllStringIndex(text, -1) {
			word := text[at[0]:at[1]]
			switch {
			case word[0] == '#' || word == "ARGS":
			case cmakeKey.MatchString(word):
				if len(words) > 0 && !v.seen["more"] {
					v.add(file, lineOf(text, begin), "sh", strings.Join(words, ""))
				}
				words, in, begin = nil, word == "COMMAND", at[0]
			case in:
				words = append(words, v.cmakeWord(cmakeQuotes.ReplaceAllString(word, "$1")))
			}
		}
	}
}

// cmakeWord is a word as a shell writes it; what CMake alone knows is not empty.
func (v *visit) cmakeWord(word string) string {
	return cmakeValue.ReplaceAllStringFunc(quoted(word), func(s string) string {
		name := strings.Trim(s, "${}<>")
		switch program, ok := strings.CutSuffix(name, "_EXECUTABLE"); {
		case name == "CMAKE_COMMAND":
			return "cmake"
		case ok:
			return strings.ToLower(program)
		case strings.HasSuffix(name, "_BINARY_DIR"):
			return v.dir + "/build"
		case strings.HasSuffix(name, "_DIR"):
			return v.dir
		}
		return `'"${cmake_value:?}"'`
	})
}
