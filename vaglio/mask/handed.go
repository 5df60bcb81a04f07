package mask

import "strings"

// handedIn notes the last word behind echo or printf where it is piped into a
// program that takes a secret so.
func (sc *scanner) handedIn(at int) {
	var final place
	for from, to := range sc.words(at) {
		final, at = place{from, to}, to
	}
	rest := strings.TrimLeft(sc.text[at:], " \t")
	if final.to == 0 || !strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "||") {
		return
	}
	at = len(sc.text) - len(rest) + 1
	// The program may stand behind what gives it rights.
	for range 3 {
		from, to := sc.token(at)
		if to == from {
			return
		}
		word := sc.text[from:to]
		sc.handedTo(word, to, final)
		if word != "sudo" && word != "doas" && word[0] != '-' {
			return
		}
		at = to
	}
}

// handedTo notes a word that is piped into the program whose arguments stand at a place.
func (sc *scanner) handedTo(program string, at int, word place) {
	for _, one := range takers()[program[strings.LastIndexByte(program, '/')+1:]] {
		sc.takesIn(one, at, word)
	}
	for from, to := range sc.words(at) {
		if sc.handsIn(from, to) {
			sc.secretAt(word.from, 0)
		}
	}
}

// takesIn notes a word that is handed to a program which takes a secret so.
func (sc *scanner) takesIn(one taker, at int, word place) {
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
			sc.secretAt(word.from, f.sign)
			sc.furtherLines(word, f.sign)
		}
	}
}

// furtherLines notes the secrets behind the line ends that a word spells.
func (sc *scanner) furtherLines(word place, sign byte) {
	for at := word.from; sign != 0; {
		i := strings.Index(sc.text[at:word.to], `\n`)
		if i < 0 {
			return
		}
		at += i + len(`\n`)
		if cut := strings.IndexByte(sc.text[at:word.to], sign); cut >= 0 {
			sc.secretAt(at+cut+1, 0)
		}
	}
}

// hereDocument notes the secrets in the lines of the here-document whose end is named here.
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

// handsIn reports whether a word is an option by which a program, whichever it is, takes
// a secret from what it is handed: --password-stdin, --passphrase-fd 0, --token-file=-.
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
	if cut < 0 || secrecyOf(strings.TrimPrefix(name[:cut], "with-")) == notSecret && secrecyOf(name) == notSecret {
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

// handedHere notes the secret that a here-string or a here-document hands in for the
// option from..to.
func (sc *scanner) handedHere(from, to int) {
	if !sc.handsIn(from, to) {
		return
	}
	for _, end := range sc.words(to) {
		to = end
	}
	sc.holdEnd(form{where: stdin}, 0, to)
}

// substituted notes the last word behind echo or printf where a shell puts it in the place of
// what a name of a secret is given: --password-file=<(echo …), --passwordeval 'echo …'.
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
	var final place
	for from, to := range sc.words(at) {
		final = place{from, to}
	}
	if final.to > 0 {
		sc.secretAt(final.from, 0)
	}
}
