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
		for _, one := range takers()[word[strings.LastIndexByte(word, '/')+1:]] {
			sc.takesIn(one, to, final)
		}
		if word != "sudo" && word != "doas" && word[0] != '-' {
			return
		}
		at = to
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
