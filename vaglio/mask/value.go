package mask

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Texts returns a copy of a list with every secret masked.
func (m Masker) Texts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.Mask(list[i])
	}
	return list
}

// Object returns a copy of o with every secret masked, in keys and values. What
// stands under a name such as password is masked whole.
func (m Masker) Object(o map[string]any) map[string]any {
	masked := make(map[string]any, len(o))
	for key, v := range o {
		masked[m.Mask(key)] = m.named(key, v)
	}
	return masked
}

// named masks a value that stands under a name.
func (m Masker) named(name string, v any) any {
	kind := secrecyOf(name)
	switch v := v.(type) {
	case string:
		if kind.hides(v) {
			if masked, ok := m.address(v); ok {
				return masked
			}
			return m.whole(v)
		}
		return m.Mask(m.issued(name, v))
	case strictjson.Number:
		if kind != notSecret && len(v) >= 4 {
			return m.whole(string(v))
		}
		return v
	case []any:
		return m.list(name, v)
	case map[string]any:
		return m.Object(v)
	default:
		return v
	}
}

// list masks the elements of a list; where the list is a command's arguments,
// also what follows a flag such as --password.
func (m Masker) list(name string, list []any) []any {
	masked := make([]any, len(list))
	for i, v := range list {
		under := name
		if flag, ok := before(list, i); ok && strings.HasPrefix(flag, "-") {
			if kind := secrecyOf(strings.TrimLeft(flag, "-")); kind == surelySecret || kind == maybeSecret {
				under = flag
			}
		}
		masked[i] = m.named(under, v)
	}
	return masked
}

// issued masks in a short value what only its name and its looks together give
// away, as {"heroku_key": …} does: some issuers' tokens have no form of their own.
func (m Masker) issued(name, v string) string {
	const short = 512 // bytes: more than any of those has
	if len(name)+len(v) > short {
		return v
	}
	begin := len(name) + len("=")
	found, _ := builtin().find(name + "=" + v)
	w := maskWriter{masker: m, text: v}
	for _, p := range found {
		if p.from >= begin {
			w.mask(p.from-begin, p.to-begin)
		}
	}
	w.b.WriteString(v[w.last:])
	return w.b.String()
}

func before(list []any, i int) (string, bool) {
	if i == 0 {
		return "", false
	}
	s, ok := list[i-1].(string)
	return s, ok
}

func (m Masker) whole(secret string) string {
	if m.genuine(secret) == len(secret) {
		return secret
	}
	return m.mask(secret)
}

// hides reports whether a text under a name of this kind is masked whole.
func (k secrecy) hides(v string) bool {
	header := k == credentials || k == cookies
	return k != notSecret && opaque(v) && (header || !commandLike(v))
}

// opaque reports whether a value under a secret's name can be masked whole: it
// is no placeholder, and nothing that a shell would act on.
func opaque(v string) bool {
	return v != "" && !placeholder(v) && !strings.ContainsAny(v, "`\n") && !strings.Contains(v, "$(") && !strings.Contains(v, "${")
}

// commandLike reports whether a value could be a command with its arguments,
// which an agent would have run under a secret's name. A password may hold any
// sign, and a passphrase blanks; a text with both is shown.
func commandLike(v string) bool {
	return strings.ContainsAny(v, " \t") && strings.ContainsAny(v, "-/;|&<>=~*$")
}
