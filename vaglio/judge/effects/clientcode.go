package effects

import (
	"strings"
	"unicode"

	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
)

// clientCode is the effect of an inline program on what it reaches through a
// library: databases by their SQL, everything else by the names of the calls.
func (c *call) clientCode(code string) []Effect {
	if code == "" {
		return nil
	}
	lower := strings.ToLower(code)
	library := ""
	for _, s := range c.r.judge.tables.inText("client-library", lower) {
		if s = strings.Trim(s, "'@(."); library == "" || c.r.judge.tables.ofClass("client-of-passwords", s) {
			library = s
		}
	}
	switch {
	case library == "":
		return c.sendingCode(code, lower)
	case c.r.judge.tables.ofClass("client-of-passwords", library):
		return one(KindCredentials, say("reads stored passwords by %s", library), library)
	}
	var out []Effect
	for name, rest := range methods(code) {
		if words := readings.Words(name); len(words) > 0 {
			out = append(out, c.clientCall(library, name, words[0], rest)...)
		}
	}
	return out
}

// clientCall is the effect of one call of a library's method, of which word is
// the first word.
func (c *call) clientCall(library, name, word, rest string) []Effect {
	t := c.r.judge.tables
	switch {
	case t.ofClass("client-statement", word):
		return c.statementCall(library, word, rest)
	case t.ofClass("client-plumbing", word) && (word != "flush" && word != "set" || library != "redis"), t.ofClass("client-maker", name):
		return nil
	}
	v := c.r.callVerb(name)
	e := v.effect
	if e.Kind == "" || e.Kind == KindRead || v.light && e.Kind != KindDelete {
		return nil
	}
	e.Sure = 0.6
	return []Effect{e.atLeastShared().with(say("calls %s of %s", name, library), library+" "+name)}
}

// statementCall is the effect of a call that may be given SQL.
func (c *call) statementCall(library, word, rest string) []Effect {
	if text, ok := literalOf(rest); ok {
		if readings.IsStatement(text + " ;") {
			return c.r.sql(text, wording.Say("the database that the program opens"))
		}
		return nil
	}
	switch word {
	case "execute", "executemany", "executescript", "executeraw":
		return unknown(say("runs statements that were not read by %s", library), library)
	}
	return nil
}

// sendingCode is the effect of an inline program that opens a connection and
// sends something through it.
func (c *call) sendingCode(code, lower string) []Effect {
	t := c.r.judge.tables
	if strings.Contains(lower, "mail(") && c.name == "php" {
		return one(KindPeople, say("sends mail from a line of %s", c.name), "mail")
	}
	if onlyLocal(code) || t.inText("opens-connection", lower) == nil || t.inText("sends-through", lower) == nil {
		return nil
	}
	e := usual(KindSend).with(say("sends data from a line of %s: %s", c.name, clip(code, 100)), c.name).as(Irreversible, ReachShared)
	e.Sure = 0.6
	return []Effect{e}
}

// onlyLocal reports whether program text names addresses, and all of them are
// this machine.
func onlyLocal(code string) bool {
	found := false
	for rest := code; ; {
		i := strings.Index(rest, "://")
		if i < 0 {
			return found
		}
		start := strings.LastIndexAny(rest[:i], "'\"`( ") + 1
		end := i + 3 + strings.IndexAny(rest[i+3:]+"'", "'\"`) ")
		if !localURL(rest[start:end]) {
			return false
		}
		found, rest = true, rest[end:]
	}
}

// callVerb finds what a method by its name does: delete_object, flushall,
// chat_postMessage.
func (r *reading) callVerb(name string) verb {
	if v := r.verbOf(name); v.effect.Kind != "" && !v.weak {
		return v
	}
	words := readings.Words(name)
	for _, w := range words[1:] {
		if v := r.judge.tables.verbs[w]; v.effect.Kind != "" && !v.weak {
			return v
		}
	}
	for _, w := range []string{
		"delete", "drop", "remove", "flush", "send", "insert", "update", "publish", "upload", "terminate", "stop", "create",
		"write", "kill", "shutdown", "reboot", "put", "post",
	} {
		if strings.HasPrefix(strings.ToLower(name), w) {
			return r.judge.tables.verbs[w]
		}
	}
	return verb{}
}

// methods yields the names of the methods that program text calls, and what
// follows each opening parenthesis.
func methods(code string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for rest := code; ; {
			i := strings.IndexByte(rest, '(')
			if i < 0 {
				return
			}
			head := rest[:i]
			at := strings.LastIndexFunc(head, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' }) + 1
			rest = rest[i+1:]
			if name := strings.TrimLeft(head[at:], "$"); at > 0 && head[at-1] == '.' && name != "" && !yield(name, rest) {
				return
			}
		}
	}
}

// literalOf reads the quoted text at the start of program text.
func literalOf(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "text("), "sql")
	for _, q := range []string{`"""`, `'''`, `"`, `'`, "`"} {
		if rest, ok := strings.CutPrefix(s, q); ok {
			body, _, closed := strings.Cut(rest, q)
			return body, closed && !strings.Contains(body, "${") && !strings.Contains(body, `\`)
		}
	}
	return "", false
}

// programText is the inline program of an interpreter's command line, "" when
// there is none.
func (c *call) programText() string {
	for i, a := range c.all {
		switch a.text {
		case "-c", "-e", "-r", "--eval", "-p", "--print", "-E":
			if i+1 < len(c.all) {
				return c.all[i+1].text
			}
		}
		if !strings.HasPrefix(a.text, "-") {
			break
		}
	}
	if text, all := c.input(); all {
		return text.text
	}
	return ""
}
