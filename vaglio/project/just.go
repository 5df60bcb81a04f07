package project

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

func readJustfile(v *visit, r *row) {
	file, text, names := v.instead(r.files, "--justfile", "-f")
	recipes, set, first := justRecipes(text)
	for _, w := range v.words { // just out=x, just --set out x
		name, _, _ := strings.Cut(w, "=")
		delete(set, name)
	}
	if len(names) == 0 {
		names = []string{first}
	}
	if !wordclass.Any("just-shows", v.words) {
		v.justOutputs(file, text)
	}
	for _, name := range asked(v, names, recipes) {
		v.just(file, recipes, set, name)
	}
	loads := func(w string) bool { return strings.HasPrefix(w, "--dotenv") || strings.HasPrefix(w, "-E") }
	v.passes = !justExports.MatchString(text) && !slices.ContainsFunc(v.words, loads)
}

// justExports matches what may give what just runs variables of the environment.
var justExports = regexp.MustCompile(`export|dotenv[\w-]*\s*(?::=\s*[^f\s]|\n|$)|(?m)^\s*(?:import|mod)\b|^\s*@?[\w-]+[^:\n]*\s[+*]?\$`)

// What just itself evaluates: the values of variables, and what it puts into a line. A text between backticks, or what
// its function is given, is a command line of which it takes the output; in the rest of a recipe backticks are the shell's.
var (
	justEvaluates = regexp.MustCompile("(?m)^(?:export\\s+)?[A-Za-z_][\\w-]*\\s*:=(?:[^`\n]*```(?s:.*?)```|.*)|\\{\\{.*?\\}\\}|" +
		"^[A-Za-z_@][\\w-]*[^:`\n]*=\\s*`[^`\n]*`")
	justOutput = regexp.MustCompile("```((?s:.*?))```|`([^`\n]+)`|\\bshell\\(\\s*(?:'([^'\n]*)'|\"([^\"\n]*)\")")
)

// justOutputs adds the commands whose output a justfile's variables and lines get.
func (v *visit) justOutputs(file, text string) {
	for _, at := range justEvaluates.FindAllStringIndex(text, -1) {
		for _, m := range justOutput.FindAllStringSubmatch(text[at[0]:at[1]], -1) {
			if v.seen["more"] { // nothing is kept any more
				return
			}
			v.add(file, lineOf(text, at[0]), "sh", m[1]+m[2]+m[3]+m[4])
		}
	}
}

type justRecipe struct {
	line   int
	dir    string // where it runs, "" for the folder of the justfile
	params []string
	needs  []string
	lines  []string
}

// add adds a line: as it is to a recipe that a program reads as a whole, which its first line names.
func (r *justRecipe) add(l settings.Line, trimmed string) {
	first := trimmed
	if len(r.lines) > 0 {
		first = strings.TrimSpace(r.lines[0])
	} else {
		r.line = l.Number
	}
	switch {
	case strings.HasPrefix(first, "#!"):
		r.lines = append(r.lines, l.Text)
	case trimmed != "" && trimmed[0] != '#':
		r.lines = append(r.lines, strings.TrimLeft(trimmed, "@-"))
	}
}

// justDir matches an attribute or a setting that says where recipes run.
var justDir = regexp.MustCompile(`^(?:\[.*\bworking-directory\s*:|set\s+working-directory\s*:=)\s*['"]+([^'"]*)`)

// justEnv matches what just takes from the environment, with what it is otherwise, justQuote a text
// in quotes, and justSet the setting of a variable, with what it gets if that is one of the two.
var (
	justEnv   = regexp.MustCompile(`^env(?:_var)?(?:_or_default)?\(\s*["'](\w+)["']\s*(?:,\s*["']([\w./-]*)["']\s*)?\)$`)
	justQuote = regexp.MustCompile(`^(?:'[^'{}]*'|"[^"{}\\]*")$`)
	justSet   = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(?:('[^'{}]*'|"[^"{}\\]*"|env\w*\([^()]*\)|` +
		`[\w-]+(?: / (?:[\w-]+|'[^'{}]*'|"[^"{}\\]*"))+)\s*(?:#.*)?$)?`)
)

// justSets carries out a line that sets a variable.
func justSets(set map[string]string, line string) {
	switch m := justSet.FindStringSubmatch(line); {
	case m == nil:
	case m[2] == "":
		delete(set, m[1])
	default:
		set[m[1]] = justJoined(set, m[2])
	}
}

// justJoined returns a text, or the path that texts and variables that are known texts make with slashes.
func justJoined(set map[string]string, s string) string {
	parts := strings.Split(s, " / ")
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if known, ok := set[part]; ok {
			part = known
		}
		if len(parts) == 1 || !justQuote.MatchString(part) {
			return s
		}
		parts[i] = part[1 : len(part)-1]
	}
	return "'" + strings.Join(parts, "/") + "'"
}

// justText returns a text in quotes, or a variable of the environment, as the shell writes it.
func (v *visit) justText(s string) string {
	if justQuote.MatchString(s) {
		return s[1 : len(s)-1]
	}
	m := justEnv.FindStringSubmatch(s)
	if m == nil {
		return unknownValue("just")
	}
	switch value, set := v.c.Variable(m[1]); {
	case set:
		return value.String()
	case !strings.Contains(s, ","):
		return "${" + m[1] + "}"
	}
	return "${" + m[1] + "-" + m[2] + "}"
}

// justRecipes returns the recipes and variables of a justfile, and the name of the first recipe.
func justRecipes(text string) (recipes map[string]*justRecipe, set map[string]string, first string) {
	recipes, set = map[string]*justRecipe{}, map[string]string{}
	var cur *justRecipe
	var in justFolders
	for _, l := range settings.Lines(text) {
		s := strings.TrimSpace(l.Text)
		switch indented := l.Text != "" && strings.ContainsRune(" \t", rune(l.Text[0])); {
		case indented && cur != nil:
			cur.add(l, s)
		case indented, in.told(s), s == "" || s[0] == '#' || s[0] == '[':
		default:
			var name string
			name, cur = justHead(s, l.Number)
			in.enter(cur)
			recipes[name] = cur
			first = cmp.Or(first, name)
			justSets(set, s)
		}
	}
	for _, r := range recipes {
		if r != nil {
			r.dir = cmp.Or(r.dir, in.all)
		}
	}
	return recipes, set, first
}

// justFolders says where the next recipe runs, and where those do of which nothing is said.
type justFolders struct{ next, all string }

// told reports whether a line says where recipes run.
func (j *justFolders) told(line string) bool {
	dir := justDir.FindStringSubmatch(line)
	switch {
	case dir == nil:
		return false
	case line[0] == '[':
		j.next = dir[1]
	default:
		j.all = dir[1]
	}
	return true
}

func (j *justFolders) enter(r *justRecipe) {
	if r != nil {
		r.dir, j.next = j.next, ""
	}
}

// justHead parses the line that begins a recipe; nil if it begins none.
func justHead(s string, line int) (string, *justRecipe) {
	head, needs, ok := strings.Cut(s, ":")
	fields := strings.Fields(strings.TrimPrefix(head, "@"))
	if !ok || strings.HasPrefix(needs, "=") || len(fields) == 0 {
		return "", nil
	}
	params := fields[1:]
	for i := range params {
		params[i], _, _ = strings.Cut(strings.TrimLeft(params[i], "$+*"), "=")
	}
	return fields[0], &justRecipe{line: line, params: params, needs: strings.Fields(strings.ReplaceAll(needs, "&&", " "))}
}

// justValue matches what just puts into a line.
var justValue = regexp.MustCompile(`\{\{.*?\}\}`)

// just adds the lines of a recipe and of its dependencies.
func (v *visit) just(file string, recipes map[string]*justRecipe, set map[string]string, name string) {
	r := recipes[name]
	if r == nil || !v.once("recipe "+file+" "+name) {
		return
	}
	for _, need := range r.needs {
		v.just(file, recipes, set, strings.Trim(need, "()"))
	}
	var b strings.Builder
	for _, l := range r.lines {
		b.WriteString(justValue.ReplaceAllStringFunc(l, func(hole string) string {
			name := strings.TrimSpace(hole[2 : len(hole)-2])
			if slices.Contains(r.params, name) {
				return unknownValue("just")
			}
			return v.justText(cmp.Or(set[name], name))
		}) + "\n")
	}
	text, language := b.String(), "sh"
	if script := strings.TrimLeft(text, " \t"); strings.HasPrefix(script, "#!") { // its interpreter reads it, without the indent
		indent := text[:len(text)-len(script)]
		text = strings.ReplaceAll(script, "\n"+indent, "\n")
		language = languageOf(text)
	}
	v.inside(r.dir, func() { v.add(file, r.line, language, text) })
}
