package mask

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
)

// operandTable says where programs take secrets by position.
//
//go:embed operands.txt
var operandTable string

// taker is a program that takes secrets by position.
type taker struct {
	// words must follow the program, options apart.
	words []string
	forms []form
}

// form is how a program takes a secret.
type form struct {
	// option is the option that the secret belongs to, or on which it depends;
	// empty for forms that need none.
	option string
	where  where
	// sign begins the secret in the word, 0 where it is the whole word.
	sign byte
}

// where is where a secret stands.
type where int

const (
	behind   where = iota // behind its option
	glued                 // glued to it
	named                 // behind a name
	values                // behind each name and equals sign
	lastWord              // at the end
	stdin                 // in what is handed in
)

// takers are the lines of the table, by program.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var takers = sync.OnceValue(readTakers)

func readTakers() map[string][]taker {
	all := map[string][]taker{}
	for line := range strings.Lines(operandTable) {
		programs, forms, ok := strings.Cut(line, "|")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for program := range strings.SplitSeq(programs, ",") {
			words := strings.Fields(program)
			one := taker{words: words[1:]}
			for text := range strings.FieldsSeq(forms) {
				one.forms = append(one.forms, formOf(text))
			}
			all[words[0]] = append(all[words[0]], one)
		}
	}
	return all
}

// formOf reads a form of the table.
func formOf(text string) form {
	for _, ending := range []struct {
		text  string
		where where
		sign  byte
	}{{"@named", named, 0}, {"@values", values, '='}, {"@last", lastWord, 0}, {"<:", stdin, ':'}, {"<", stdin, 0}, {"*", glued, 0}, {":", behind, ':'}, {"%", behind, '%'}, {"=", behind, '='}} {
		if option, ok := strings.CutSuffix(text, ending.text); ok {
			return form{option, ending.where, ending.sign}
		}
	}
	return form{text, behind, 0}
}

// operandLiterals are those of which one stands in every text that the table is
// about.
func operandLiterals() []string {
	var all []string
	for program, list := range takers() {
		for _, one := range list {
			longest := program
			for _, word := range one.words {
				if len(word) > len(longest) {
					longest = word
				}
			}
			if len(longest) < len("mysql") {
				longest += " "
			}
			all = append(all, strings.ToLower(longest))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// operands notes where the secrets of the command stand whose program is the word
// that begins here, if it takes some.
func (sc *scanner) operands() {
	end := sc.at + span(sc.text[sc.at:], func(c byte) bool { return isURLSafe(c) })
	word := sc.text[sc.at:end]
	if end == len(sc.text) || !isBlank(sc.text[end]) {
		return
	}
	if word == "echo" || word == "printf" {
		sc.handedIn(end)
		return
	}
	for _, one := range takers()[word] {
		if sc.commands() {
			sc.take(one, end)
		}
	}
}

// commands reports whether the word here can be a command's name: nothing stands
// before it in its command, or what runs another.
func (sc *scanner) commands() bool {
	const most = 200 // bytes: a bound on the work
	before := sc.text[max(0, sc.at-most):sc.at]
	before = before[strings.LastIndexAny(before, ";|&\n(`\"'")+1:]
	head, rest, _ := strings.Cut(strings.TrimLeft(before, " \t"), " ")
	switch {
	case head == "" || strings.HasSuffix(before, "/") && rest == "":
		return true
	case strings.Contains(head, "=") && !strings.HasPrefix(head, "-"):
		return true
	}
	switch head {
	case "sudo", "doas", "env", "nohup", "time", "timeout", "nice", "exec", "command", "xargs", "then", "do", "else", "if", "while", "!",
		"docker", "podman", "kubectl", "oc", "ssh", "sshpass", "systemd-run", "runuser", "su", "PS", "$":
		return true
	}
	return false
}

// take notes the secrets among the words behind a program.
func (sc *scanner) take(one taker, at int) {
	at, ok := sc.follow(one.words, at)
	if !ok {
		return
	}
	final := at
	met := make([]bool, len(one.forms))
	for from, to := range sc.words(at) {
		at = to
		word := sc.text[from:to]
		for i, f := range one.forms {
			met[i] = met[i] || f.met(word)
			sc.hold(f, from, to)
		}
		if word[0] != '-' {
			final = from
		}
	}
	for i, f := range one.forms {
		if met[i] || f.option == "" {
			sc.holdEnd(f, final, at)
		}
	}
}

// holdEnd notes the secret of a form that is known at the command's end: its last word,
// or a here-string behind it.
func (sc *scanner) holdEnd(f form, last, end int) {
	end += span(sc.text[end:], isBlank)
	switch {
	case f.where == lastWord:
		sc.secretAt(last, 0)
	case f.where == stdin && strings.HasPrefix(sc.text[end:], "<<<"):
		sc.secretAt(end+len("<<<"), f.sign)
	case f.where == stdin && strings.HasPrefix(sc.text[end:], "<<"):
		sc.hereDocument(end+len("<<"), f.sign)
	}
}

// met reports whether a word is the option on which a form depends, alone or, of one
// letter, among others.
func (f form) met(word string) bool {
	return word == f.option || len(f.option) == 2 && len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.Contains(word, f.option[1:])
}

// hold notes the secret of a form in the word from..to, or in the one behind.
func (sc *scanner) hold(f form, from, to int) {
	word := sc.text[from:to]
	operand := word[0] != '-'
	switch {
	case f.where == glued && strings.HasPrefix(word, f.option) && len(word) > len(f.option):
		sc.secretAt(from+len(f.option), 0)
	case f.where == behind && strings.HasPrefix(word, f.option):
		sc.holdBehind(f, from, to)
	case f.where == named && operand && secrecyOf(strings.Trim(word, `"'`)) != notSecret:
		sc.secretAt(to, 0)
	case f.where == values && operand && strings.Contains(word, "="):
		sc.secretAt(from, '=')
	}
}

// holdBehind notes what belongs to the option that the word from..to begins with.
func (sc *scanner) holdBehind(f form, from, to int) {
	end := from + len(f.option)
	long := strings.HasPrefix(f.option, "--")
	switch {
	case end == to:
		sc.secretAt(to, f.sign)
	case long && sc.text[end] == '=':
		sc.secretAt(end+1, f.sign)
	case !long && f.sign != 0:
		sc.secretAt(end, f.sign)
	}
}

// secretAt notes the value that begins at a place or behind blanks there, or what
// follows a sign in it.
func (sc *scanner) secretAt(at int, sign byte) {
	if at > 0 && strings.HasPrefix(sc.text[at:], "=") {
		at++
	}
	v := sc.valueAfter(at, false)
	if sign != 0 {
		cut := strings.IndexByte(sc.text[v.from:v.to], sign)
		if cut < 0 {
			return
		}
		v = sc.valueAfter(v.from+cut+1, false)
	}
	text := sc.text[v.from:v.to]
	if text == "" || strings.HasPrefix(text, "-") || placeholder(text) {
		return
	}
	if v = sc.narrow(v); v.to == v.from {
		return
	}
	sc.held = append(sc.held, place{v.from, v.to})
	slices.SortFunc(sc.held, func(a, b place) int { return a.from - b.from })
}

// follow returns where the words behind a program end, options and what they are
// given apart.
func (sc *scanner) follow(words []string, at int) (end int, ok bool) {
	option := false
	for len(words) > 0 {
		from, to := sc.token(at)
		if to == from {
			return at, false
		}
		word := sc.text[from:to]
		switch {
		case word == words[0]:
			words = words[1:]
			option = false
		case word[0] == '-':
			option = !strings.Contains(word, "=")
		case option:
			option = false
		default:
			return at, false
		}
		at = to
	}
	return at, true
}

// words yields where the words of a command begin and end from a place on, to its
// end or as many as matter.
func (sc *scanner) words(at int) iter.Seq2[int, int] {
	const most = 64 // words: a bound on the work
	return func(yield func(int, int) bool) {
		for range most {
			from, to := sc.token(at)
			if to == from || !yield(from, to) {
				return
			}
			at = to
		}
	}
}

// token returns the word of a command that begins at a place or behind blanks there,
// with its quotation marks; none at the command's end.
func (sc *scanner) token(at int) (from, to int) {
	const most = 4096 // bytes: a bound on the work
	s := sc.text
	at = sc.pastBlanks(at)
	from = at
	for at < len(s) && at-from < most {
		switch c := s[at]; {
		case c <= ' ' || strings.IndexByte(";|&<>()`", c) >= 0:
			return from, at
		case c == '"' || c == '\'':
			end := strings.IndexByte(s[at+1:min(len(s), at+most)], c)
			if !sc.opens(from, at) || end < 0 {
				return from, at
			}
			at += end + 1
		case c == '\\':
			at++
		}
		at++
	}
	return from, min(at, len(s))
}

// pastBlanks returns where what stands behind blanks begins, also on a line that goes
// on.
func (sc *scanner) pastBlanks(at int) int {
	for {
		at += span(sc.text[at:], isBlank)
		if !strings.HasPrefix(sc.text[at:], "\\\n") {
			return at
		}
		at += len("\\\n")
	}
}

// opens reports whether a quotation mark opens a part of the word that begins at from.
// One that does not ends what the command stands in.
func (sc *scanner) opens(from, at int) bool {
	return at == from || strings.IndexByte("=:", sc.text[at-1]) >= 0 || sc.text[from] == '-' && at-from <= len("-hp")
}
