package mask

import (
	"slices"
	"strings"
	"sync"
)

// verbs returns the words of the name table that say what is done with the secret that
// follows them, by what they do.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var verbs = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, line := range nameLines() {
		if line.kind == notSecret && line.what != "filler" {
			all[line.what] = line.words
		}
	}
	return all
})

// behindVerb records the secret after a word of a command that sets a secret or signs in
// with one: config set NAME SECRET, set-agent-token SECRET, auth SECRET. A plain word
// there, a host or a file is not a secret. end is the end of the word.
func (sc *scanner) behindVerb(word string, end int) {
	before := byte('\n')
	if sc.at > 0 {
		before = sc.text[sc.at-1]
	}
	if strings.IndexByte(" \t:-\n", before) < 0 {
		return
	}
	variable := word == strings.ToUpper(word)
	word = strings.ToLower(word)
	if slices.Contains(verbs()["signs"], word) && isBlank(before) {
		if from, to := sc.token(end); looksRandom(sc.text[from:to]) {
			sc.secretAt(from, 0)
		}
		return
	}
	if !variable && (endsAsPassword(word) && (before == ':' || isBlank(before) && strings.ContainsAny(word, "-_"))) {
		sc.setsLast(end)
		return
	}
	sc.behindSetter(word, end)
}

// behindSetter records what follows a word that gives values to names.
func (sc *scanner) behindSetter(word string, end int) {
	head, _, _ := strings.Cut(strings.ReplaceAll(word, "_", "-"), "-")
	for _, verb := range verbs()["sets"] {
		if head == verb {
			sc.setsNamed(end)
			sc.setsPairs(end)
		}
		if name, ok := strings.CutPrefix(word, verb); ok && secrecyOf(name) != notSecret {
			sc.setsLast(end)
			return
		}
	}
}

// setsNamed records what the words of a command give to the name of a secret.
func (sc *scanner) setsNamed(at int) {
	var named, surely bool
	for from, to := range sc.unread(&sc.readNamed, at) {
		word := strings.Trim(sc.text[from:to], `"'`)
		if named && (surely || looksSecret(word)) {
			sc.secretAt(from, 0)
		}
		kind := secrecyOf(word)
		named = kind != notSecret && !strings.HasPrefix(word, "-")
		// DB_PASSWORD is a name, but password may be a word of prose.
		surely = kind == surelySecret && strings.ContainsAny(word, "_.-")
	}
}

// setsPairs records the values of NAME=VALUE words after a verb that follows the word for
// secrets: secrets set NAME=VALUE.
func (sc *scanner) setsPairs(at int) {
	before := strings.TrimRight(sc.text[max(0, sc.at-mostBeside):sc.at], " \t:")
	name := before[strings.LastIndexAny(before, " \t\n")+1:]
	if secrecyOf(strings.TrimSuffix(name, "s")) == notSecret {
		return
	}
	for from, to := range sc.unread(&sc.readPairs, at) {
		if word := sc.text[from:to]; word[0] != '-' && strings.Contains(word, "=") {
			sc.secretAt(from, '=')
		}
	}
}

// setsLast records the last word of a command that has no options.
func (sc *scanner) setsLast(at int) {
	var last extent
	for from, to := range sc.unread(&sc.readLast, at) {
		if sc.text[from] == '-' {
			return
		}
		last = extent{from, to}
	}
	if looksSecret(sc.text[last.from:last.to]) {
		sc.secretAt(last.from, 0)
	}
}

// call records the secret among the string arguments of the function whose name begins at
// sc.at: set('password', …), login('me', …), hash_password(…), auth=('me', …).
func (sc *scanner) call() {
	s := sc.text[sc.at:]
	n := span(s, isWord)
	open := strings.TrimPrefix(s[n:], "=")
	if !strings.HasPrefix(open, "(") {
		return
	}
	texts := sc.literals(len(sc.text) - len(open) + 1)
	if len(texts) == 0 {
		return
	}
	name := strings.ToLower(strings.ReplaceAll(s[:n], "_", ""))
	last := texts[len(texts)-1]
	switch first := sc.text[texts[0].from:texts[0].to]; {
	case len(texts) > 1 && secrecyOf(first) != notSecret && slices.ContainsFunc(verbs()["sets"], func(verb string) bool {
		return strings.HasPrefix(name, verb)
	}):
		sc.literal(texts[1])
	case len(texts) > 1 && endsInOne(name, verbs()["logins"]), len(texts) > 2 && endsInOne(name, verbs()["connects"]):
		sc.literal(last)
	case endsInOne(name, verbs()["hashes"]):
		sc.literal(texts[0])
	}
}

// literal records a string literal that is a secret.
func (sc *scanner) literal(p extent) {
	if blank := strings.LastIndexByte(sc.text[p.from:p.to], ' '); blank >= 0 {
		p.from += blank + 1 // after a header's scheme
	}
	if text := sc.text[p.from:p.to]; looksSecret(text) && inertSpan(text, inertQuoted) == len(text) {
		sc.holdPlace(p.from, p.to)
	}
}

// literals returns the string literals with which an argument list begins.
func (sc *scanner) literals(at int) (all []extent) {
	const most, longest = 4, 200
	for len(all) < most {
		rest := strings.TrimLeft(sc.text[at:], " \t\n\\")
		at = len(sc.text) - len(rest)
		if rest == "" || rest[0] != '\'' && rest[0] != '"' {
			return all
		}
		end := strings.IndexByte(rest[1:min(len(rest), longest)], rest[0])
		if end < 0 {
			return all
		}
		all = append(all, extent{at + 1, at + 1 + len(strings.TrimSuffix(rest[1:1+end], `\`))})
		if rest = strings.TrimLeft(rest[1+end+1:], " "); !strings.HasPrefix(rest, ",") {
			return all
		}
		at = len(sc.text) - len(rest) + 1
	}
	return all
}

// looksSecret reports whether a word could be a secret, given that its surroundings suggest
// one. It has letters and also digits or signs, and is neither a file nor an address.
func looksSecret(word string) bool {
	const least, most = 6, 1024 // bytes: a longer word is judged by its beginning
	word = strings.Trim(word[:min(len(word), most)], `"'`)
	if len(word) < least || placeholder(word) || isName(word) || strings.Contains(word, "://") || fileLike(word) || isID(word) {
		return false
	}
	return !plainParts(word) && strings.ToLower(word) != strings.ToUpper(word) && strings.ContainsAny(word, "0123456789!#%^*+?~")
}

// isID reports whether a word looks like the ID of a commit or a key.
func isID(word string) bool {
	const commit, keyID = 40, 16
	n := span(strings.ToLower(word), isLowerHex)
	return n == len(word) && (n <= keyID || n == commit)
}

// plainParts reports whether the word's parts, joined by hyphens or underscores, are all
// words or numbers, as in the names 0012_alter and login-v2.
func plainParts(word string) bool {
	if !strings.ContainsAny(word, "-_") {
		return false
	}
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '-' || r == '_' }) {
		digits := span(strings.TrimPrefix(part, "v"), isDigit)
		if !isName(part) && digits != len(strings.TrimPrefix(part, "v")) {
			return false
		}
	}
	return true
}

// looksRandom is stricter than looksSecret, for a word that only a verb precedes. It
// excludes what looks like the name of a machine, a place or a person.
func looksRandom(word string) bool {
	const least = 8
	return len(word) >= least && looksSecret(word) && !strings.ContainsAny(word, ".:/@=")
}

// fileLike reports whether a word ends like a file name.
func fileLike(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	return dot > 0 && len(word)-dot <= len(".json5") && isName(word[dot+1:]) && dot+1 < len(word)
}

// refers records the variable at a place where a secret is expected: what the variable is
// given elsewhere in the text is a secret.
func (sc *scanner) refers(at int) {
	rest, ok := strings.CutPrefix(sc.text[at:], "$")
	rest = strings.TrimPrefix(rest, "{")
	if name := rest[:span(rest, isWord)]; ok && name != "" && !isDigit(name[0]) {
		if sc.carriers == nil {
			sc.carriers = map[string]bool{}
		}
		sc.carriers[name] = true
	}
}
