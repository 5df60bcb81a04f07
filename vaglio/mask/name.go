package mask

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

// secrecy says how surely a name's value is a secret.
type secrecy int

const (
	// notSecret is for all other names.
	notSecret secrecy = iota
	// maybeSecret is for names that often hold something else, for example in code.
	maybeSecret
	// seldomSecret is for names whose value is a secret only if it looks like one.
	seldomSecret
	// surelySecret is for the names of passwords.
	surelySecret
	// credentials is for headers that hold a scheme before the secret.
	credentials
	// cookies is for headers that hold several secrets.
	cookies
	// userColon is for a user and a secret separated by a colon.
	userColon
)

// mostName bounds how many bytes of a name are examined. No program, option or secret has a
// longer name.
const mostName = 64

// secrecyOf judges a name by its end, whatever its case and however its parts are joined:
// DB_PASSWORD, clientSecret, X-Api-Key.
func secrecyOf(name string) secrecy {
	var buffer [20]byte
	at, joined := len(buffer), 0
	for i := len(name) - 1; i >= 0 && at > 0; i-- {
		c := name[i]
		switch {
		case isUpper(c):
			c += 'a' - 'A'
		case c == '_' || c == '-' || c == '.':
			if joined == 0 {
				joined = len(buffer) - at
			}
			continue
		}
		at--
		buffer[at] = c
	}
	end := string(buffer[at:])
	last := joined
	if last == 0 {
		last = len(end)
	}
	return endSecrecy(end, end[len(end)-min(last, len(end)):])
}

// nameTable lists the names of secrets.
//
//go:embed names.txt
var nameTable string

// nameLine is a line of the table.
type nameLine struct {
	kind  secrecy
	what  string
	words []string
}

// nameLines returns the lines of the table.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var nameLines = sync.OnceValue(func() (all []nameLine) {
	kinds := map[string]secrecy{"maybe": maybeSecret, "surely": surelySecret, "credentials": credentials, "cookies": cookies, "login": userColon, "seldom": seldomSecret}
	for _, line := range rows.Of(nameTable) {
		words := strings.Fields(line)
		all = append(all, nameLine{kinds[words[0]], words[1], words[2:]})
	}
	return all
})

// nameLiterals returns literals, at least one of which occurs in every text that the table
// concerns.
func nameLiterals() (all []string) {
	for _, line := range nameLines() {
		switch line.what {
		case "kinds":
			for _, kind := range line.words[1:] {
				for _, joint := range []string{"", "_", "-", "."} {
					all = append(all, kind+joint+line.words[0])
				}
			}
		case "whole", "part", "ends":
			all = append(all, line.words...)
		}
	}
	for _, word := range verbs()["signs"] {
		all = append(all, word+" ")
	}
	for _, name := range slices.Concat(verbs()["logins"], verbs()["connects"], verbs()["hashes"]) {
		all = append(all, name+"(", name+"=(")
	}
	slices.Sort(all)
	return slices.Compact(append(all, "assword", "webhook", "create_user(", "create_superuser(", "x-auth", "set-cookie", "secret_key_base", "secret-key-base"))
}

// nameEnds holds the last two letters of every word of the table. Most names end in others, and
// need not be compared with each word.
//
//nolint:gochecknoglobals // Made once, then only looked at.
var nameEnds = sync.OnceValue(func() map[[2]byte]bool {
	ends := map[[2]byte]bool{}
	for _, line := range nameLines() {
		for _, word := range line.words {
			ends[[2]byte([]byte(word[len(word)-2:]))] = true
		}
	}
	return ends
})

// endSecrecy judges the end of a name; part is its last part alone.
func endSecrecy(end, part string) secrecy {
	if n := len(end); n < 2 || !nameEnds()[[2]byte{end[n-2], end[n-1]}] {
		return notSecret
	}
	for _, line := range nameLines() {
		if line.what != "filler" && line.holds(end, part) {
			return line.kind
		}
		for _, word := range line.words {
			if rest, ok := strings.CutSuffix(end, word); ok && line.what == "filler" && rest != "" {
				return endSecrecy(rest, strings.TrimSuffix(part, word))
			}
		}
	}
	return notSecret
}

// holds reports whether the line covers a name.
func (l nameLine) holds(end, part string) bool {
	switch l.what {
	case "whole":
		return slices.Contains(l.words, end)
	case "part":
		return slices.Contains(l.words, part)
	case "ends":
		return endsInOne(end, l.words)
	case "kinds":
		kind, ok := strings.CutSuffix(end, l.words[0])
		return ok && endsInOne(kind, l.words[1:])
	default:
		return false
	}
}

func endsInOne(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(s, word) })
}

// placeholder reports whether a value stands in for a secret without being one: a
// reference, a type, or a word for nothing.
func placeholder(v string) bool {
	const most = 1024 // bytes: nobody writes a longer one
	if len(v) > most {
		return false
	}
	if strings.HasPrefix(v, "$") && span(v[1:], isWord) == len(v)-1 || reference(v) {
		return true
	}
	if strings.Trim(v, "*") == "" || strings.Trim(v, ".") == "" || strings.Trim(v, "xX") == "" || strings.Trim(v, "-") == "" {
		return true
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "nil", "none", "undefined", "string", "str", "bool", "boolean", "int", "integer", "number",
		"float", "any", "bytes", "byte", "text", "object", "array", "optional", "required", "yes", "no", "on", "off", "redacted",
		"%s", "%v", "%q", "%d", "varchar", "char", "self", "this", "void", "await", "new",
		"changeme", "replaceme", "placeholder", "dummy", "example":
		return true
	}
	return isPath(v)
}

// reference reports whether a value says where the secret is: env:NAME, config.password.
func reference(v string) bool {
	where, _, ok := strings.Cut(v, ":")
	if ok {
		return where == "file" || where == "env" || where == "fd"
	}
	dot := strings.LastIndexByte(v, '.')
	return dot > 0 && isName(v) && secrecyOf(v[dot+1:]) != notSecret
}

// isPath reports whether a value is a file name: the file's content may be secret, but its
// name is not.
func isPath(v string) bool {
	if strings.ContainsAny(v, "+=:") {
		return false
	}
	if len(v) <= len("/gp") && strings.HasPrefix(v, "/") { // the end of a sed pattern
		return true
	}
	if strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") {
		return true
	}
	rest, ok := strings.CutPrefix(v, "/")
	return ok && strings.Contains(rest, "/")
}

// isName reports whether a value could be a name in a program.
func isName(v string) bool {
	for i := range len(v) {
		if !isWord(v[i]) && v[i] != '.' || isDigit(v[i]) {
			return false
		}
	}
	return true
}
