package mask

import (
	"regexp"
	"slices"
	"strings"
)

// handedIn records the last argument of echo or printf if it is piped into a program that
// reads a secret from standard input, or written to a file named for a secret.
func (sc *scanner) handedIn(at int) {
	final := sc.lastOf(at)
	if final == (extent{}) {
		return
	}
	rest := strings.TrimLeft(sc.text[final.to:], " \t")
	if strings.HasPrefix(rest, ">") {
		sc.writtenTo(len(sc.text)-len(strings.TrimLeft(rest, ">|")), final)
	}
	if strings.HasPrefix(rest, ";") || strings.HasPrefix(rest, ")") { // in a group
		_, rest, _ = strings.Cut(rest, ")")
		rest = strings.TrimLeft(rest, " \t")
	}
	if strings.HasPrefix(rest, "|") && !strings.HasPrefix(rest, "||") {
		sc.pipedInto(len(sc.text)-len(rest)+1, final)
	}
}

// lastOf returns the last word of the command whose words begin at a place.
func (sc *scanner) lastOf(at int) (last extent) {
	for from, to := range sc.words(at) {
		last = extent{from, to}
	}
	return last
}

// pipedInto records a word that is piped into the command at a place. Its program may
// follow another that raises its privileges or runs it elsewhere.
func (sc *scanner) pipedInto(at int, word extent) {
	most := 3
	for n := 0; n < most; n++ {
		from, to := sc.token(at)
		if to == from {
			return
		}
		program := sc.text[from:to]
		sc.handedTo(program, to, word)
		switch program {
		case "chroot", "ssh", "docker", "podman", "kubectl", "nsenter":
			most = 8 // A program that runs another elsewhere has arguments of its own.
		case "sudo", "doas":
		default:
			if program[0] != '-' && most == 3 {
				return
			}
		}
		at = to
	}
}

// writtenTo records a word that is written to the file named at a place, if the name is
// that of a secret: echo … > /run/secrets/db_password.
func (sc *scanner) writtenTo(at int, word extent) {
	from, to := sc.token(at)
	file := strings.Trim(sc.text[from:to], `"'`)
	file = strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".txt")
	if secrecyOf(file) != notSecret && looksSecret(sc.text[word.from:word.to]) {
		sc.secretAt(word.from, 0)
	}
}

// handedTo records a word that is piped into a program whose arguments begin at a place.
func (sc *scanner) handedTo(program string, at int, word extent) {
	for _, one := range takers()[program[strings.LastIndexByte(program, '/')+1:]] {
		sc.takesIn(one, at, word)
	}
	for from, to := range sc.words(at) {
		if sc.handsIn(from, to) || takesSecret(sc.text[from:to]) && looksSecret(sc.text[word.from:word.to]) {
			sc.secretAt(word.from, 0)
		}
	}
}

// takesIn records a word that is piped into a program that reads a secret from standard
// input.
func (sc *scanner) takesIn(one taker, at int, word extent) {
	at, ok := sc.follow(one.words, at)
	if !ok {
		return
	}
	for _, f := range one.forms {
		met := f.option == ""
		for from, to := range sc.words(at) {
			met = met || f.met(sc.text[from:to])
		}
		if f.where == stdin && met {
			sc.lines(word, f.sign)
		}
	}
}

// lines records the secrets on the lines of a word.
func (sc *scanner) lines(word extent, sign byte) {
	sc.secretIn(word.from, word.from+firstLine(sc.text[word.from:word.to]), sign)
	sc.furtherLines(word, sign)
}

// furtherLines records the secrets on the further lines of a word, whose line ends may be
// escape sequences.
func (sc *scanner) furtherLines(word extent, sign byte) {
	for word.to > word.from && strings.IndexByte(`"'`, sc.text[word.to-1]) >= 0 {
		word.to--
	}
	for _, end := range lineEnds.FindAllStringIndex(sc.text[word.from:word.to], -1) {
		at := word.from + end[1]
		line := sc.text[at:word.to]
		_, secret, ok := strings.Cut(line, string(sign))
		if sign == 0 {
			secret, ok = line, line != "" && !strings.ContainsAny(line[:1], `'"`)
		}
		if ok {
			at = word.to - len(secret)
			sc.secretIn(at, at+firstLine(secret), 0)
		}
	}
}

// lineEnds matches what stands before the lines of a word, also before the first.
var lineEnds = regexp.MustCompile(`\A|\n|\\n`)

// firstLine returns the length of the first line of a word.
func firstLine(s string) int {
	for _, end := range [...]string{"\n", `\n`} {
		s, _, _ = strings.Cut(s, end)
	}
	return len(s)
}

// hereDocument records the secrets in the lines of a here-document whose delimiter stands
// at a place.
func (sc *scanner) hereDocument(at int, sign byte) {
	const most = 64 // lines: a bound on the work
	head, _, ok := strings.Cut(sc.text[at:], "\n")
	name := strings.TrimLeft(head, "- \t'\"\\")
	if name = name[:span(name, isDotted)]; !ok || name == "" {
		return
	}
	at += len(head) + 1
	for range most {
		line, _, more := strings.Cut(sc.text[at:], "\n")
		if text := strings.TrimSpace(line); text == name {
			return
		} else if text != "" {
			sc.secretAt(at+strings.Index(line, text), sign)
		}
		if at += len(line) + 1; !more {
			return
		}
	}
}

// handedToName records what a here-string hands to the variable or setting named before it
// (read TOKEN <<<), or to a command that signs in.
func (sc *scanner) handedToName() {
	before := strings.TrimRight(sc.text[max(0, sc.at-mostBeside):sc.at], " \t")
	name := before[strings.LastIndexAny(before, " \t\n;|&")+1:]
	if isName(name) && (secrecyOf(name) != notSecret || sc.carriers[name]) {
		sc.secretAt(sc.at+len("<<<"), 0)
		return
	}
	from := sc.pastBlanks(sc.at + len("<<<"))
	words := strings.Fields(before[strings.LastIndexAny(before, ";|&\n(")+1:])
	if _, to := sc.token(from); slices.ContainsFunc(words, takesSecret) && looksSecret(sc.text[from:to]) {
		sc.secretAt(from, 0)
	}
}

// takesSecret reports whether a word of a command says that its standard input is a secret:
// gh auth login, secrets set NAME.
func takesSecret(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains(verbs()["signs"], word) || word == "secret" || word == "secrets" ||
		name != "" && name == strings.ToUpper(name) && secrecyOf(name) != notSecret
}

// handsIn reports whether a word is an option that makes any program read a secret from
// standard input: --password-stdin, --passphrase-fd 0, --token-file=-.
func (sc *scanner) handsIn(from, to int) bool {
	word := sc.text[from:to]
	if !strings.HasPrefix(word, "--") {
		return false
	}
	name, given, glued := strings.Cut(word[len("--"):], "=")
	if !glued {
		next, end := sc.token(to)
		given = sc.text[next:end]
	}
	cut := strings.LastIndexByte(name, '-')
	if cut < 0 || secrecyOf(strings.TrimSuffix(strings.TrimPrefix(name[:cut], "with-"), "-on")) == notSecret && secrecyOf(name) == notSecret {
		return false
	}
	switch name[cut+1:] {
	case "stdin":
		return true
	case "fd":
		return given == "0"
	default:
		return given == "-" || given == "/dev/stdin"
	}
}

// handedHere records the secret that a here-string or here-document provides for the option
// at from..to.
func (sc *scanner) handedHere(from, to int) {
	if !sc.handsIn(from, to) {
		return
	}
	for _, end := range sc.words(to) {
		to = end
	}
	sc.holdEnd(form{where: stdin}, 0, to)
}

// substituted records the last argument of echo or printf if the shell substitutes its
// output for the value of a secret's name: --password-file=<(echo …), --passwordeval 'echo
// …'.
func (sc *scanner) substituted(at int) {
	const most = 80 // bytes
	before := sc.text[max(0, sc.at-most):sc.at]
	name := strings.TrimRight(before, `<$("'`)
	if name == before {
		return
	}
	name = strings.TrimRight(name, " =")
	name = strings.ToLower(name[strings.LastIndexAny(name, " \t\n;|&\"'")+1:])
	for _, tail := range [...]string{"file", "command", "cmd", "eval"} {
		name = strings.TrimRight(strings.TrimSuffix(name, tail), "-_")
	}
	if secrecyOf(name) == notSecret {
		return
	}
	if final := sc.lastOf(at); final != (extent{}) {
		sc.lines(final, 0)
	}
}
