package project

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/getopt"
)

// makefile is the part of a makefile that decides what runs.
type makefile struct {
	v     *visit
	file  string
	vars  map[string]string
	more  map[string][]string // what += has added to them since: joined once, where the variable is used
	given map[string]bool     // set on the command line; only an override changes them
	rules []rule
	depth int
	// exact are the indexes of the rules by their targets, patterns those of the rules with %.
	exact     map[string][]int
	patterns  []int
	functions map[string]textFunction
	own       []ownAssignment
	// open are the conditionals that are open, by the number of the branch that is being read, branches the largest
	// such number. Of their assignments, those in branch pass count.
	open           []int
	pass, branches int
	defines        []string // the variable that is being defined, and its lines
	// codes are what $(shell …) runs, by the number in the placeholder of its output.
	codes   []string
	exports bool // it may set variables of the environment
}

type rule struct {
	targets, needs []string
	needed         string // the needs, as one text
	stems          string // the pattern by which each target has its stem, if the rule says one
	lines          []recipe
}

type recipe struct {
	file string
	line int
	text string
}

// readMakefile adds the recipes of the targets that make is asked for, and what make runs just to read the makefile.
func readMakefile(v *visit, r *row) {
	given := getopt.Of("make").Split(v.words, getopt.Manner{}, nil, nil)
	for _, dir := range given.Values("-C", "--directory") {
		v.dir = v.in(dir)
	}
	for pass, most := 1, 1; pass <= most; pass++ {
		most = readBranches(v, r, &given, pass)
	}
}

// readBranches reads a makefile with the assignments in one branch of its conditionals, and returns how many branches there are.
func readBranches(v *visit, r *row, given *getopt.Split, pass int) int {
	m := &makefile{
		pass: pass, branches: 1,
		v: v, vars: map[string]string{"MAKE": "make", "RM": "rm -f", "SHELL": "/bin/sh", "CURDIR": v.dir}, more: map[string][]string{},
		given: map[string]bool{}, exact: map[string][]int{}, functions: textFunctions(),
	}
	targets, named := m.asked(given.All())
	names := given.Values("-f", "--file", "--makefile")
	if names == nil {
		m.file, _, _ = v.first(r.files...)
		names = []string{m.file}
	}
	for _, name := range names {
		if file, text, ok := v.content(name); ok {
			m.file = file
			m.read(file, text)
		}
	}
	if v.all {
		targets = lists.All(m.rules, func(r rule) []string { return r.targets })
	}
	if !named || len(targets) == 0 {
		targets = append(targets, m.goal()...)
	}
	for _, t := range targets {
		m.build(t)
	}
	v.passes = !m.exports && !slices.ContainsFunc(v.words, func(w string) bool { return strings.HasPrefix(w, "--ev") || strings.HasPrefix(w, "-E") })
	return m.branches
}

// asked records the variables on make's command line, and returns the targets. A number may be that of jobs: named says that there are other targets.
func (m *makefile) asked(words []string) (targets []string, named bool) {
	for _, w := range words {
		if name, val, assigns := strings.Cut(w, "="); assigns {
			name = strings.TrimRight(name, ":+?")
			m.vars[name], m.given[name] = val, true
			continue
		}
		targets = append(targets, w)
		named = named || strings.Trim(w, "0123456789.") != ""
	}
	return targets, named
}

// goal returns the target that make builds by default.
func (m *makefile) goal() []string {
	if goal, _ := m.value(".DEFAULT_GOAL"); goal != "" {
		return []string{goal}
	}
	for _, r := range m.rules {
		for _, t := range r.targets {
			if !strings.HasPrefix(t, ".") && !strings.Contains(t, "%") {
				return []string{t}
			}
		}
	}
	return nil
}

func (m *makefile) read(file, text string) {
	const deepest = 8
	switch {
	case m.depth >= deepest:
		m.v.over(file, 1)
		return
	case !m.v.once("makefile " + strconv.Itoa(m.pass) + " " + file):
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	m.vars["MAKEFILE_LIST"] += " " + file
	m.exports = m.exports || setsEnvironment.MatchString(text)
	in := false // in a rule, whose recipe may follow
	for _, l := range settings.Lines(text) {
		switch s := strings.TrimSpace(l.Text); {
		case m.inDefine(s):
		case strings.HasPrefix(l.Text, "\t"):
			if in {
				r := &m.rules[len(m.rules)-1]
				r.lines = append(r.lines, recipe{file, l.Number, l.Text[1:]})
			}
		case s == "" || s[0] == '#':
		default:
			s, _, _ = strings.Cut(s, " #")
			in = m.statement(file, l.Number, strings.TrimSpace(s))
		}
	}
}

// globbed returns the files that a name with wildcards after its folder stands for.
func (v *visit) globbed(name string) []string {
	dir, pattern := path.Split(name)
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{name}
	}
	files, _ := v.c.Files.Below(v.in(dir), 0, func(rel string) bool { fits, _ := path.Match(pattern, rel); return fits })
	return files
}

// statement parses a line that is no recipe, and reports whether it begins a rule.
func (m *makefile) statement(file string, line int, s string) bool {
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "include", "-include", "sinclude":
		m.includes(m.expand(file, line, rest))
		return false
	case "export", "override", "private":
		s = strings.TrimSpace(rest)
	case "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif":
		m.branch(word, strings.TrimSpace(rest) != "")
		return false
	case "unexport", "vpath":
		return false
	}
	if m.assigns(file, line, s, word == "override") {
		return false
	}
	left, right, ok := colon(s)
	if !ok {
		m.expand(file, line, s) // a line with only $(shell …) runs it
		return false
	}
	right = strings.TrimPrefix(right, ":")
	r := rule{targets: strings.Fields(m.expand(file, line, left))}
	if own := ownVariable.FindStringSubmatch(right); own != nil {
		m.own = append(m.own, ownAssignment{r, file, line, own[2], strings.Contains(own[1], "override")})
		return false
	}
	needs, first, has := strings.Cut(right, ";")
	if stems, rest, static := colon(needs); static {
		r.stems, needs = strings.TrimSpace(m.expand(file, line, stems)), rest
	}
	r.needs = strings.Fields(m.expand(file, line, strings.ReplaceAll(needs, "|", " ")))
	if has {
		r.lines = []recipe{{file, line, first}}
	}
	r.needed = strings.Join(r.needs, " ")
	for _, t := range r.targets {
		m.exact[t] = append(m.exact[t], len(m.rules))
	}
	if strings.Contains(strings.Join(r.targets, " "), "%") {
		m.patterns = append(m.patterns, len(m.rules))
	}
	m.rules = append(m.rules, r)
	return true
}

func (m *makefile) includes(names string) {
	for name := range strings.FieldsSeq(names) {
		for _, name := range m.v.globbed(name) {
			if f, text, ok := m.v.content(name); ok {
				m.read(f, text)
			}
		}
	}
}

// assigns parses an assignment. Unless a colon makes it immediate, its value is expanded where it is used.
func (m *makefile) assigns(file string, line int, s string, overrides bool) bool {
	left, val, ok := strings.Cut(s, "=")
	bare := strings.TrimRight(left, ":+?!")
	name, op, val := strings.TrimSpace(bare), left[len(bare):], strings.TrimSpace(val)
	if !ok || name == "" || strings.ContainsAny(name, " \t:$(") {
		return false
	}
	if (!m.given[name] || overrides) && m.taken() {
		m.sets(file, line, name, op, val)
	}
	return true
}

func (m *makefile) sets(file string, line int, name, op, val string) {
	_, set := m.vars[name]
	env, inherited := m.v.c.Variable(name)
	switch {
	case op == "!":
		m.v.add(file, line, "sh", m.expand(file, line, val))
		m.set(name, unknownValue(name))
	case op == "?" && set:
	case op == "?" && inherited:
		m.set(name, env.String())
	case op == "?" && m.exported(name):
		m.set(name, unknownValue(name))
	case op == "+":
		m.vars[name] += "" // it is set
		m.more[name] = append(m.more[name], val)
	case strings.HasPrefix(op, ":"):
		m.set(name, m.expand(file, line, val))
	default:
		m.set(name, val)
		m.expand(file, line, val) // it may run something, if only because it is exported
	}
}

func (m *makefile) set(name, val string) {
	delete(m.more, name)
	m.vars[name] = val
}

func (m *makefile) value(name string) (string, bool) {
	val, ok := m.vars[name]
	if more := m.more[name]; more != nil {
		val = strings.TrimSpace(val + " " + strings.Join(more, " "))
		m.set(name, val)
	}
	return val, ok
}

// unknownBegins is how placeholders begin.
const unknownBegins = "${make_"

// unknownValue returns a placeholder for a value that only make knows. To the shell that reads the recipe, it is an unset variable.
func unknownValue(name string) string {
	return unknownBegins + noName.ReplaceAllString(name, "_") + "}"
}

// expand expands the variables in a text, and adds what $(shell …) runs.
func (m *makefile) expand(file string, line int, s string) string {
	var b strings.Builder
	for {
		if m.v.left -= 1 + len(s); m.v.left < 0 {
			return unknownValue("budget")
		}
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		switch s[i+1] {
		case '$':
			b.WriteByte('$')
			s = s[i+2:]
		case '(', '{':
			end := closing(s[i+1:])
			if end < 0 {
				return b.String() + s[i:]
			}
			b.WriteString(m.reference(file, line, s[i+2:i+1+end]))
			s = s[i+2+end:]
		default:
			b.WriteString(m.reference(file, line, s[i+1:i+2]))
			s = s[i+2:]
		}
	}
	return b.String()
}

// reference returns the value of $(name), $(name:.c=.o) or $(function …).
func (m *makefile) reference(file string, line int, s string) string {
	const deepest = 40
	if m.depth > deepest {
		return unknownValue("depth")
	}
	m.depth++
	defer func() { m.depth-- }()
	if code, ok := strings.CutPrefix(s, "shell "); ok {
		return m.shell(file, line, m.expand(file, line, code))
	}
	if val, ok := m.value(s); ok {
		return m.expand(file, line, val)
	}
	if name, rest, ok := strings.Cut(s, " "); ok {
		return m.function(name, apart(m.expand(file, line, rest), ',', -1))
	}
	if s == "HOME" {
		return "$HOME" // the shell's own
	}
	if val, ok := m.implied(file, line, s); ok {
		return val
	}
	name, change, _ := strings.Cut(s, ":")
	if val, ok := m.value(name); ok {
		if from, to, ok := strings.Cut(m.expand(file, line, change), "="); ok {
			if !strings.Contains(from, "%") {
				from, to = "%"+from, "%"+to
			}
			return m.function("patsubst", []string{from, to, m.expand(file, line, val)})
		}
	}
	return unknownValue(strings.TrimPrefix(s, "make_")) // a placeholder stays what it is
}

// shell adds what $(shell …) runs, and returns a placeholder for what it prints.
func (m *makefile) shell(file string, line int, code string) string {
	if m.v.once("shell " + code) {
		m.v.add(file, line, "sh", code)
	}
	at := slices.Index(m.codes, code)
	if at < 0 {
		at = len(m.codes)
		m.codes = append(m.codes, code)
	}
	return unknownValue("shell_" + strconv.Itoa(at))
}

// build adds the recipes of a target and of its prerequisites.
func (m *makefile) build(target string) {
	if !m.v.once("target " + strconv.Itoa(m.pass) + " " + m.file + " " + target) {
		return
	}
	defer m.owned(target)()
	may := slices.Concat(m.exact[target], m.patterns)
	slices.Sort(may)
	for _, i := range slices.Compact(may) {
		r := &m.rules[i]
		if !m.v.spends(1 + len(r.targets) + len(r.needs)) {
			m.v.over(m.file, 1)
			return
		}
		stem, ok := r.makes(target)
		if !ok {
			continue
		}
		for _, need := range r.needs {
			m.build(strings.ReplaceAll(need, "%", stem))
		}
		m.vars["@"], m.vars["*"], m.vars["<"], m.vars["^"] = target, stem, "", r.needed
		if len(r.needs) > 0 {
			m.vars["<"] = strings.ReplaceAll(r.needs[0], "%", stem)
		}
		for _, l := range r.lines {
			m.recipe(l)
		}
	}
}
