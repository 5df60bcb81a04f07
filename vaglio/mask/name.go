package mask

import "strings"

// secrecy says how surely what a name is given is a secret.
type secrecy int

const (
	// notSecret is for any other name.
	notSecret secrecy = iota
	// maybeSecret is for names that often hold something else, as in code.
	maybeSecret
	// surelySecret is for names of passwords.
	surelySecret
	// credentials is for headers that hold a scheme before the secret.
	credentials
	// cookies is for headers that hold several secrets.
	cookies
)

// secrecyOf judges a name by how it ends, whatever case it has and however its
// parts are joined: DB_PASSWORD, clientSecret, X-Api-Key.
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

// endSecrecy judges the end of a name, and its last part alone.
func endSecrecy(end, part string) secrecy {
	switch end {
	case "cookie", "setcookie":
		return cookies
	case "pass", "auth":
		return maybeSecret
	}
	switch part {
	case "pwd", "pass":
		return surelySecret
	}
	for _, s := range [...]struct {
		end  string
		kind secrecy
	}{
		{"password", surelySecret},
		{"passwd", surelySecret},
		{"passphrase", surelySecret},
		{"secret", maybeSecret},
		{"token", maybeSecret},
		{"secretkeybase", maybeSecret},
		{"authorization", credentials},
	} {
		if strings.HasSuffix(end, s.end) {
			return s.kind
		}
	}
	return keySecrecy(end)
}

func keySecrecy(end string) secrecy {
	kind, ok := strings.CutSuffix(end, "key")
	if !ok {
		return notSecret
	}
	for _, secret := range keyKinds() {
		if strings.HasSuffix(kind, secret) {
			return maybeSecret
		}
	}
	return notSecret
}

// keyKinds are the kinds of keys that are secret.
func keyKinds() [11]string {
	return [...]string{"api", "access", "secret", "private", "account", "signing", "encryption", "master", "auth", "shared", "subscription"}
}

// placeholder reports whether a value stands for a secret without being one: a
// reference, a type, a word for nothing.
func placeholder(v string) bool {
	if strings.HasPrefix(v, "$") && span(v[1:], isWord) == len(v)-1 {
		return true
	}
	if strings.Trim(v, "*") == "" || strings.Trim(v, ".") == "" || strings.Trim(v, "xX") == "" || strings.Trim(v, "-") == "" {
		return true
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "nil", "none", "undefined", "string", "str", "bool", "boolean", "int", "integer", "number",
		"float", "any", "bytes", "byte", "text", "object", "array", "optional", "required", "yes", "no", "on", "off", "redacted",
		"%s", "%v", "%q", "%d", "varchar", "char", "self", "this", "void":
		return true
	}
	return isPath(v)
}

// isPath reports whether a value is a file's name: its content may be secret,
// the name is not.
func isPath(v string) bool {
	if strings.ContainsAny(v, "+=:") {
		return false
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
