package project

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// makes reports whether a rule makes a target, and what its % stands for.
func (r *rule) makes(target string) (string, bool) {
	for _, t := range r.targets {
		if t == target {
			stem, _ := stemOf(r.stems, target)
			return stem, true
		}
		if stem, ok := stemOf(t, target); ok && len(r.lines) > 0 {
			return stem, true
		}
	}
	return "", false
}

// stemOf returns what the % of a pattern stands for in a target.
func stemOf(pattern, target string) (string, bool) {
	before, after, ok := strings.Cut(pattern, "%")
	if !ok || len(target) <= len(before)+len(after) || !strings.HasPrefix(target, before) || !strings.HasSuffix(target, after) {
		return "", false
	}
	return target[len(before) : len(target)-len(after)], true
}

// ownAssignment is an assignment that holds while some targets, and what they need, are made.
type ownAssignment struct {
	rule
	file      string
	line      int
	text      string
	overrides bool
}

// ownVariable matches such an assignment behind the targets' colon.
var ownVariable = regexp.MustCompile(`^\s*((?:(?:export|override|private)\s+)*)([\w.-]+\s*[:+?!]*=.*)$`)

// owned carries out the assignments of a target, and returns what undoes them.
func (m *makefile) owned(target string) (undo func()) {
	vars, more := m.vars, m.more
	for i := range m.own {
		o := &m.own[i]
		if !slices.ContainsFunc(o.targets, func(t string) bool { _, fits := stemOf(t, target); return fits || t == target }) ||
			!m.v.spends(len(m.vars)+len(o.text)) {
			continue
		}
		m.vars, m.more = maps.Clone(m.vars), maps.Clone(m.more)
		m.assigns(o.file, o.line, o.text, o.overrides)
	}
	return func() { m.vars, m.more = vars, more }
}

// colon cuts a text at its first colon outside brackets.
func colon(s string) (left, right string, ok bool) {
	parts := append(apart(s, ':', 2), "")
	return parts[0], parts[1], len(parts) > 2
}

// implied returns the folder or the name in a variable of the target, as in $(@D), or a variable that make sets unless the environment does.
func (m *makefile) implied(file string, line int, s string) (string, bool) {
	of, part := s[:min(len(s), 1)], map[string]string{"D": "dir", "F": "notdir"}[s[min(len(s), 1):]]
	if val, ok := m.value(of); ok && part != "" && strings.Contains("@%<?^+*", of) {
		words := strings.Fields(m.function(part, []string{m.expand(file, line, val)}))
		for i, w := range words {
			words[i] = cmp.Or(strings.TrimRight(w, "/"), w)
		}
		return strings.Join(words, " "), true
	}
	if _, inherited := m.v.c.Variable(s); inherited || m.exported(s) || builtinPrograms[s] == "" {
		return "", false
	}
	return builtinPrograms[s], true
}

// exported reports whether the session may have set a variable of the environment.
func (m *makefile) exported(name string) bool {
	is := func(set string) bool { return set == name || set == shell.AnyVariable }
	return m.v.c.Session != nil && slices.ContainsFunc(m.v.c.Session.Exported(), is)
}

// builtinPrograms are the variables for programs that make sets unless the environment does.
//
//nolint:gochecknoglobals // Never changed.
var builtinPrograms = map[string]string{"CC": "cc", "CXX": "g++", "AR": "ar", "AS": "as", "LD": "ld", "CPP": "cc -E"}

// branch follows a conditional. Branches are numbered in their order, those of a conditional within one like
// further ones of that. An else may have more: another condition.
func (m *makefile) branch(word string, more bool) {
	const most = 8
	at, last, beyond := 1, len(m.open)-1, 1
	if last >= 0 {
		at = m.open[last]
	}
	switch {
	case word != "else" && word != "endif":
		m.open = append(m.open, at)
	case last < 0: // no conditional is open
	case word == "else":
		if at++; !more {
			beyond = 0
		}
		m.open[last] = at
	default:
		if beyond, m.open = 0, m.open[:last]; last > 0 {
			m.open[last-1] = at
		}
	}
	if m.branches = max(m.branches, at+beyond); m.branches > most { // none may be taken before the last else
		m.branches = m.pass
		m.v.over(m.file, 1)
	}
}

// taken reports whether an assignment stands in a branch that is followed.
func (m *makefile) taken() bool { return len(m.open) == 0 || m.open[len(m.open)-1] == m.pass }

// recipe adds a line of a recipe, unless it reads the same in another branch.
func (m *makefile) recipe(l recipe) {
	text := m.outputs(unquoted(m.expand(l.file, l.line, strings.TrimLeft(l.text, " \t@-+"))))
	if m.v.once("recipe " + strconv.Itoa(l.line) + l.file + text) {
		m.v.add(l.file, l.line, "sh", text)
	}
}

// inDefine reads a line of a variable's definition, and reports whether it is one.
func (m *makefile) inDefine(s string) bool {
	begins, defines := strings.CutPrefix(strings.TrimPrefix(s, "override "), "define ")
	switch {
	case m.defines == nil && defines:
		m.defines = []string{strings.TrimRight(begins, " :+?!=")}
	case m.defines == nil:
		return false
	case s == "endef":
		if name, lines := m.defines[0], m.defines[1:]; !m.given[name] && m.taken() {
			m.set(name, strings.Join(lines, "\n"))
		}
		m.defines = nil
	default:
		m.defines = append(m.defines, strings.TrimLeft(s, "@-+"))
	}
	return true
}

// forEach returns a text once for each word, with the variable that stands for it replaced.
func (m *makefile) forEach(name, list, text string) string {
	mark, words := unknownValue(strings.TrimSpace(name)), strings.Fields(list)
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(text, mark, w)
	}
	if _, set := m.value(strings.TrimSpace(name)); set || strings.ContainsAny(list, "$") || !m.v.spends(len(words)*len(text)+len(list)) {
		return unknownValue("foreach")
	}
	return strings.Join(out, " ")
}
