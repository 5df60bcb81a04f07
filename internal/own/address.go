package own

import (
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/internal/hosts"
)

// isHostByte reports whether a byte may be part of a host.
func isHostByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// Answers reports whether a text names the address at which people answer the gate, other than to
// use what the gate serves to agents. The host may precede the port in any spelling, in quotes or
// as a word of its own.
func (f *Facts) Answers(text string) bool {
	if f.answers(text) {
		return true
	}
	plain := unescaped(text)
	return plain != text && f.answers(plain)
}

// MayAnswer reports whether a text is an address with a port of the gate's, on a host of which only a name is
// known: it may be a name of this machine.
func (f *Facts) MayAnswer(text string) bool {
	_, at, ok := strings.Cut(text, "://")
	if end := strings.IndexAny(at, "/?#"); end >= 0 {
		at = at[:end]
	}
	host, port := split(at[strings.LastIndexByte(at, '@')+1:])
	_, number := hosts.Number(strings.Trim(host, "[]"))
	return ok && f.HasPort(port) && !number && strings.IndexFunc(host, unicode.IsLetter) >= 0 && !IsHere(host)
}

// unescaped returns a text with its percent escapes replaced by the bytes that they stand for. What
// is not an escape stays.
func unescaped(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		if !found && b.Len() == 0 {
			return text
		}
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if c, err := hex.DecodeString(after[:min(2, len(after))]); err == nil && len(c) == 1 {
			b.Write(c)
			text = after[2:]
		} else {
			b.WriteByte('%')
			text = after
		}
	}
}

func (f *Facts) answers(text string) bool {
	return slices.ContainsFunc(f.Addresses, func(address string) bool {
		host, port := split(address)
		if port == "" {
			return f.named(strings.ToLower(text), strings.ToLower(host), "")
		}
		return f.named(text, port, port) || strings.Contains(text, "/inbox") && unknownPort(text)
	})
}

// AnswersContainer is [Facts.Answers] for a text in a container, from which this
// machine has names of its own, and those that it was given.
func (f *Facts) AnswersContainer(text string, given ...string) bool {
	own := []string{"host.docker.internal", "host.containers.internal", "host.lima.internal", "host-gateway"}
	return slices.ContainsFunc(append(own, given...), func(host string) bool {
		return host != "" && strings.Contains(text, host) && f.Answers(strings.ReplaceAll(text, host, "localhost"))
	})
}

// named reports whether text contains the host or port as a whole name.
func (f *Facts) named(text, name, port string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, after := text[:at+i], strings.TrimPrefix(text[at+i+len(name):], ".") // the dot of a full name
		if port != "" {
			before = strings.TrimRight(before, "0")
		}
		at += i + len(name)
		if isWhole(before, after) && (port == "" || isOurs(before, after)) && !forAgents(after) {
			return true
		}
	}
}

// isWhole reports whether the text between before and after is not part of a longer name.
func isWhole(before, after string) bool {
	begins := before == "" || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "[") || !isHostByte(before[len(before)-1])
	return begins && (after == "" || after[0] == ':' || after[0] == ']' || !isHostByte(after[0]))
}

// isOurs reports whether a port between two texts is a port of this machine, or looks like one in a
// program.
func isOurs(before, after string) bool {
	return IsHere(hostBefore(before)) || IsHere(hostAfter(after)) || isPort(before) && strings.Contains(before+after, "(") ||
		hostInCall(before)
}

// hostInCall reports whether one of the arguments before a port is a name of this machine.
func hostInCall(before string) bool {
	_, args, ok := strings.Cut(before[max(0, strings.LastIndexByte(before, '(')):], "(")
	return ok && strings.HasSuffix(strings.TrimRight(args, " "), ",") && slices.ContainsFunc(strings.FieldsFunc(args, func(c rune) bool { return strings.ContainsRune("\"'`, ", c) }), func(w string) bool {
		return strings.ContainsAny(w, ".o") && !strings.ContainsAny(w, ":/") && IsHere(w)
	})
}

// hostBefore returns the host that precedes a port, "?" if there is none.
func hostBefore(text string) string {
	before := strings.TrimRight(text, "\"' \t,)/")
	colon := strings.HasSuffix(text, ":")
	before = strings.TrimSuffix(before, ":")
	start := len(before)
	for start > 0 && isHostByte(before[start-1]) {
		start--
	}
	if start == len(before) && !colon || len(text)-len(before) > len(`", "`)+1 {
		return "?"
	}
	return before[start:]
}

// hostAfter returns the host that follows a port and replaces the one before it, as in curl's
// --resolve name:port:host. In function calls, the host follows the port as an argument.
func hostAfter(text string) string {
	rest, ok := strings.CutPrefix(text, ":")
	if list := strings.TrimLeft(text, ", "); !ok && list != text { // as in connect(8787, "localhost")
		rest = strings.TrimLeft(list, "\"'`")
		ok = rest != list
	}
	end := 0
	for end < len(rest) && isHostByte(rest[end]) {
		end++
	}
	if !ok || end == 0 {
		return "?"
	}
	return rest[:end]
}

// isPort reports whether the text before a number calls it a port, as a program would.
func isPort(before string) bool {
	before = strings.TrimRight(before, "\"' \t:=>,")
	return strings.HasSuffix(strings.ToLower(before), "port") && !strings.HasSuffix(before, "--port")
}

// IsHere says whether a host is this machine. No host is, too: that is how some
// clients write it.
func IsHere(host string) bool {
	host = strings.ToLower(strings.Trim(host[strings.LastIndexByte(host, '@')+1:], "[]"))
	at := strings.LastIndexByte(host, ':')
	if _, ok := hosts.Number(host); !ok && at >= 0 {
		host = host[at+1:] // after one of our ports, another host, or a kind of address
	}
	if ip, ok := hosts.Number(host); ok {
		return ip.IsLoopback() || ip.IsUnspecified() || strings.HasSuffix(host, ":127.0.0.1") // behind nothing, for any host and port
	}
	return isLocalName(host)
}

// isLocalName reports whether a host name in lower case means this machine.
func isLocalName(host string) bool {
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, "localhost.") ||
		host == "localhost.localdomain" || strings.HasPrefix(host, "ip6-") || strings.Contains(host, "127.0.0.1") || strings.Contains(host, "127-0-0-1")
}

// unknownPort reports whether a text names this machine with a port that is not known.
func unknownPort(text string) bool {
	for at := 0; at < len(text); at++ {
		if text[at] == ':' && at+1 < len(text) && !isHostByte(text[at+1]) && text[at+1] != '/' {
			if host := hostBefore(text[:at]); host != "" && IsHere(host) {
				return true
			}
		}
	}
	return false
}

// forAgents reports whether what follows an address is a path that agents may use.
func forAgents(rest string) bool {
	if end := strings.IndexAny(rest, "\"' \t\n?#)"); end >= 0 {
		rest = rest[:end]
	}
	if !strings.HasPrefix(rest, "/") {
		return false
	}
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	clean := path.Clean(rest)
	return strings.HasPrefix(clean, "/v1/") || slices.Contains([]string{"/healthz", "/readyz", "/metrics", "/openapi.yaml"}, clean)
}

// split splits an address into host and port.
func split(address string) (host, port string) {
	at := strings.LastIndexByte(address, ':')
	if at < 0 {
		return address, ""
	}
	return address[:at], address[at+1:]
}
