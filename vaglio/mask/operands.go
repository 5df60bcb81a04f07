package mask

import (
	"iter"
	"slices"
	"strings"
)

// operands records the secrets among the arguments of the command whose program is the word
// at sc.at, if it takes secrets.
func (sc *scanner) operands() {
	end := sc.at + span(sc.text[sc.at:min(len(sc.text), sc.at+mostName)], isDotted)
	word := sc.text[sc.at:end]
	if end == len(sc.text) || !isBlank(sc.text[end]) {
		return
	}
	if word == "echo" || word == "printf" || word == "yes" {
		sc.handedIn(end)
		sc.substituted(end)
		return
	}
	sc.behindVerb(word, end)
	for _, one := range takers()[word] {
		if sc.commands() {
			sc.take(one, end)
		}
	}
}

// commands reports whether the word at sc.at can be a command's name: it begins the
// command, or follows a program that runs another.
func (sc *scanner) commands() bool {
	const most = 200 // bytes: a bound on the work
	before := sc.text[max(0, sc.at-most):sc.at]
	before = before[strings.LastIndexAny(before, ";|&\n(`\"'")+1:]
	head, rest, _ := strings.Cut(strings.TrimLeft(before, " \t"), " ")
	switch {
	case head == "" || strings.HasSuffix(before, "/") && rest == "":
		return true
	case strings.Contains(head, "=") && !strings.HasPrefix(head, "-"), head[0] == '$' && strings.HasPrefix(rest, "= "):
		return true
	}
	switch head {
	case "sudo", "doas", "env", "nohup", "time", "timeout", "nice", "exec", "command", "xargs", "then", "do", "else", "if", "while", "!",
		"docker", "podman", "kubectl", "oc", "ssh", "sshpass", "systemd-run", "runuser", "su", "PS", "$":
		return true
	}
	// What a user asks for is prose: use curl -u …
	before = strings.TrimRight(before, " \t")
	switch strings.ToLower(before[strings.LastIndexAny(before, " \t")+1:]) {
	case "use", "using", "run", "running", "try", "execute", "with", "via":
		return true
	}
	return false
}

// take records the secrets among the arguments of a program.
func (sc *scanner) take(one taker, at int) {
	at, ok := sc.follow(one.words, at)
	if !ok {
		return
	}
	final, operands, given := at, 0, false
	met := make([]bool, len(one.forms))
	for from, to := range sc.words(at) {
		at = to
		begin := from
		from, to = sc.unmarked(from, to)
		word := sc.text[from:to]
		if word[0] != '-' && !given && !ofWindows(word) {
			final = begin
			operands++
		}
		given = one.gives(word)
		for i, f := range one.forms {
			met[i] = met[i] || f.met(word)
			sc.hold(f, from, to, at, operands)
		}
	}
	for i, f := range one.forms {
		if met[i] || f.option == "" {
			sc.holdEnd(f, final, at)
		}
	}
}

// unmarked returns a word without the quotation marks around it: '--option=…'.
func (sc *scanner) unmarked(from, to int) (begin, end int) {
	if sc.pastString(from) == to && to-from > len(`''`) && sc.text[from] != '\\' {
		return from + 1, to - 1
	}
	return from, to
}

// ofWindows reports whether a word is a Windows option such as /user:me, or a drive such as
// Z:.
func ofWindows(word string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(word, "/"), ":")
	return ok && isName(name) && (word[0] == '/' || len(word) == len("Z:"))
}

// holdEnd records the secret of a form that is only known at the end of the command: its
// last word, or a here-string or here-document after it.
func (sc *scanner) holdEnd(f form, last, end int) {
	end += span(sc.text[end:], isBlank)
	switch {
	case f.where == lastWord:
		sc.secretAt(last, f.sign)
	case f.where == stdin && strings.HasPrefix(sc.text[end:], "<<<"):
		from, to := sc.token(end + len("<<<"))
		sc.lines(extent{from, to}, f.sign)
	case f.where == stdin && strings.HasPrefix(sc.text[end:], "<<"):
		sc.hereDocument(end+len("<<"), f.sign)
	}
}

// hold records the secret of a form in the word from..to, or in the word after next. operands
// is the number of operands so far, including this word if it is one.
func (sc *scanner) hold(f form, from, to, next, operands int) {
	word := sc.text[from:to]
	if word[0] != '-' {
		sc.holdOperand(f, from, to, next, operands)
	}
	end := f.end(word)
	if f.option == "" || end == 0 {
		return
	}
	switch f.where {
	case glued:
		if strings.HasPrefix(word, f.option) && len(word) > len(f.option) {
			sc.secretIn(from+len(f.option), to, 0)
		}
	case behind:
		sc.holdBehind(f, from+end, to, next)
	case named:
		sc.holdNamed(f, word, next)
	case pairs:
		sc.pairs(from + end)
	case none:
		sc.holdPlain(from+end, to, next)
	case values, lastWord, operand, signIn, stdin: // have no option
	}
}

// holdPlain records where the value of the option that ends at end begins: it is no secret.
func (sc *scanner) holdPlain(end, to, next int) {
	at := sc.pastBlanks(end + next - to)
	if end < to && sc.text[end] == '=' {
		at = end + 1
	}
	sc.plain = append(sc.plain, at)
}

// holdNamed records the value of a secret's name that follows an option.
func (sc *scanner) holdNamed(f form, option string, at int) {
	name, end := sc.token(at)
	if option == f.option && secrecyOf(strings.Trim(sc.text[name:end], `"'`)) != notSecret {
		sc.secretAt(end, 0)
	}
}

// holdOperand records the secret of a form in the operand from..to.
func (sc *scanner) holdOperand(f form, from, to, next, number int) {
	word := sc.text[from:to]
	switch {
	case f.where == named && f.option == "" && secrecyOf(strings.Trim(word, `"'`)) != notSecret:
		sc.secretAt(next, 0)
	case f.where == values && strings.Contains(word, "="):
		sc.secretIn(from, to, '=')
	case f.where == operand && number == f.number:
		sc.secretIn(from, to, 0)
	case f.where == signIn:
		sc.loginAt(f, from, to)
	}
}

// loginAt records the password of an operand such as user/password@host.
func (sc *scanner) loginAt(f form, from, to int) {
	word := sc.text[from:to]
	host := strings.LastIndexByte(word, '@')
	if host < 0 && f.sign == ':' || strings.Contains(word, "://") {
		return
	}
	if host < 0 {
		host = len(word)
	}
	cut := strings.LastIndexByte(word[:host], f.sign)
	if strings.Trim(word[:max(cut, 0)], `"'`) == "" {
		return
	}
	if v := sc.valueAfter(from + cut + 1); v.to > v.from {
		sc.holdPlace(v.from, min(v.to, from+host))
	}
}

// pairs records the value after each equals sign in the word at a place.
func (sc *scanner) pairs(at int) {
	from, to := sc.token(at + len(sc.text[at:]) - len(strings.TrimLeft(sc.text[at:], "=")))
	for at := from; at < to; at++ {
		if sc.text[at] == '=' {
			sc.secretAt(at+1, 0)
		}
	}
}

// holdBehind records the value of the option that ends at end, in a word that ends at to.
func (sc *scanner) holdBehind(f form, end, to, next int) {
	long := strings.HasPrefix(f.option, "--")
	switch {
	case end == to:
		sc.secretAt(next, f.sign)
	case long && sc.text[end] == '=':
		sc.secretIn(end+1, to, f.sign)
	case !long && (f.sign != 0 || strings.IndexByte(`"'$`, sc.text[end]) >= 0):
		sc.secretIn(end, to, f.sign)
	}
}

// secretAt records the value that begins at a place, after any blanks. If sign is not 0, it
// records only what follows the sign in that value.
func (sc *scanner) secretAt(at int, sign byte) {
	if at > 0 && strings.HasPrefix(sc.text[at:], "=") {
		at++
	}
	_, end := sc.token(at)
	sc.secretIn(at, end, sign)
}

// secretIn is secretAt for a value that ends at end.
func (sc *scanner) secretIn(at, end int, sign byte) {
	mark := at
	if sc.pastString(at) >= 0 {
		mark += span(sc.text[at:], func(c byte) bool { return c == '\\' })
	}
	v := sc.valueAfter(mark)
	if v.to == v.from && v.quoted { // nested quotation marks
		v = sc.valueAfter(v.from)
	}
	if sign != 0 {
		v = sc.behindSign(v, at, sign)
	}
	sc.refers(v.from - v.by)
	v.to = sc.endOfWord(at, v.from, v.to, end)
	text := sc.text[v.from:v.to]
	if text == "" || strings.HasPrefix(text, "-") || placeholder(text) || opensKey(sc.text[v.from:]) {
		return
	}
	v = sc.narrow(v)
	sc.holdPlace(v.from, v.to)
}

// behindSign returns what follows a sign in the word at a place whose value is v. The word
// may contain something that ends a value before the sign, as in DOMAIN\user%…. The result
// is quoted if v is.
func (sc *scanner) behindSign(v value, at int, sign byte) value {
	_, end := sc.token(at)
	cut := strings.IndexByte(sc.text[v.from:max(v.to, end)], sign)
	if cut < 0 {
		return value{from: max(v.to, end), to: max(v.to, end)}
	}
	quoted := v.quoted
	if v = sc.valueAfter(v.from + cut + 1); quoted && !v.quoted {
		v.to = sc.inertEnd(v.from, true)
	}
	return v
}

// holdPlace records a secret further on.
func (sc *scanner) holdPlace(from, to int) {
	if to <= from {
		return
	}
	at := len(sc.held) // most are found in order
	for at > 0 && sc.held[at-1].from > from {
		at--
	}
	sc.held = slices.Insert(sc.held, at, extent{from, to})
}

// follow returns where the given words end after a program, skipping options and their
// values. ok is false if other words follow the program.
func (sc *scanner) follow(words []string, at int) (end int, ok bool) {
	before := "" // the word before, which may be an option that takes this one
	for len(words) > 0 {
		from, to := sc.token(at)
		word := sc.text[from:to]
		switch {
		case word == words[0]:
			words = words[1:]
		case word == "" || !strings.HasPrefix(word, "-") && (!strings.HasPrefix(before, "-") || strings.Contains(before, "=")):
			return at, false
		}
		before, at = word, to
	}
	return at, true
}

// words yields the extents of the words of a command from a place on, up to its end or the
// limit.
func (sc *scanner) words(at int) iter.Seq2[int, int] {
	const most = 64 // words: a bound on the work
	return func(yield func(int, int) bool) {
		for range most {
			from, to := sc.token(at)
			if sc.masker.read != nil {
				*sc.masker.read += to - at
			}
			if to == from || !yield(from, to) {
				return
			}
			at = to
		}
	}
}

// unread is words, but resumes at the last word read, so that a command in which verb
// follows verb is read once. Quotation marks change where words begin, so text that
// contains some is read again, up to a limit.
func (sc *scanner) unread(last *int, at int) iter.Seq2[int, int] {
	const most = 16 << 20 // bytes
	return func(yield func(int, int) bool) {
		if at < *last {
			if sc.again += *last - at; sc.again > most || !strings.ContainsAny(sc.text[at:*last], `"'`) {
				at = *last
			}
		}
		for from, to := range sc.words(at) {
			*last = max(*last, from)
			if !yield(from, to) {
				return
			}
		}
	}
}

// token returns the word of a command that begins at a place, after any blanks, with its
// quotation marks. It is empty at the end of the command.
func (sc *scanner) token(at int) (from, to int) {
	const most = 4096 // bytes: a bound on the work
	s := sc.text
	at = sc.pastBlanks(at)
	from = at
	for at < len(s) && at-from < most {
		past := sc.pastString(at)
		switch c := s[at]; {
		case c <= ' ' || strings.IndexByte(";|&<>()`", c) >= 0:
			return from, at
		case past >= 0 && past <= from+most:
			at = past - 1
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

// pastBlanks skips blanks and line continuations.
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
// Otherwise it closes the string in which the command stands.
func (sc *scanner) opens(from, at int) bool {
	return at == from || strings.IndexByte("=:", sc.text[at-1]) >= 0 || sc.text[from] == '-' && at-from <= len("-hp")
}
