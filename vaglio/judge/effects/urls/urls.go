// Package urls says what the text of an address tells, before anybody is asked what is there: whether it is on this machine, a registry that everybody uses
// or a door to credentials, and whether it carries data away.
package urls

import (
	"encoding/base64"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Words are the words by which addresses are told apart, by class.
type Words map[string]map[string]bool

func (w Words) is(class, word string) bool { return w[class][word] }

// Local reports whether an address is on this machine.
func Local(s string) bool {
	s = strings.Trim(s, "'\"")
	if s != "" && len(s) < 6 && strings.Trim(s, "0123456789") == "" {
		return true // a port, beside its host
	}
	if strings.HasPrefix(s, ":") { // httpie's short form
		return true
	}
	host := hosts.Of(s)
	if slices.Contains([]string{"localhost", "0.0.0.0", "host.docker.internal", "kubernetes.docker.internal", "ip6-localhost"}, host) {
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".lvh.me")
}

// address matches addresses in program text.
var address = regexp.MustCompile("[^'\"`( ]*://[^'\"`) ]*")

// AllLocal reports whether program text names addresses, and all of them are on this machine.
func AllLocal(code string) bool {
	found := address.FindAllString(code, -1)
	return len(found) > 0 && !slices.ContainsFunc(found, func(s string) bool { return !Local(s) })
}

// IsFar reports whether a text is an address, or a path on another machine.
func IsFar(s string) bool { return strings.Contains(s, "://") || IsRemote(s) }

// IsRemote reports whether a word names a path on another machine.
func IsRemote(s string) bool {
	host, _, ok := strings.Cut(s, ":")
	return strings.Contains(s, "::") || ok && len(host) > 1 && !strings.Contains(host, "/")
}

// In returns where the address begins that a word, or the value in an option's own word,
// consists of; -1 if it is none. An image that is pulled is one, if the output of a command ends it.
func In(word string, pulls bool) int {
	before, _, _ := strings.Cut(word, "$(")
	if pulls && strings.HasSuffix(before, "/") && !strings.ContainsAny(before, "= :") && !strings.ContainsAny(before[:1], "/.-") {
		return 0
	}
	at := 0
	if strings.HasPrefix(word, "-") {
		at = strings.IndexByte(word, '=') + 1
	}
	scheme, _, ok := strings.Cut(word[at:], "://")
	if !ok || scheme == "file" || strings.ContainsFunc(scheme, func(c rune) bool { return !unicode.IsLetter(c) && !strings.ContainsRune("+-.", c) }) {
		return -1
	}
	return at
}

// IsQuery reports whether a request with a body is a query by convention.
func IsQuery(address, body string) bool {
	u := address
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		u = u[:i]
	}
	for _, s := range []string{"/_search", "/_msearch", "/_count", "/_analyze", "/_sql", "/_esql", "/_field_caps", "/_explain", "/_mget"} {
		if strings.HasSuffix(u, s) && (Local(address) || s != "/_sql") {
			return true
		}
	}
	if strings.HasSuffix(u, "/graphql") && body != "" {
		trimmed := strings.TrimSpace(body)
		return !strings.Contains(trimmed, "mutation") && strings.Contains(trimmed, "query") && !strings.HasPrefix(trimmed, "@")
	}
	return false
}

// isMetadata reports whether an address, in any notation of its number, is that of a cloud's metadata service, which gives anyone its credentials.
func (w Words) isMetadata(address string) bool {
	host := hosts.Of(address)
	if w.is("metadata-host", host) {
		return true
	}
	ip, ok := hosts.Number(host)
	if !ok {
		return strings.Contains(host, "169.254.169.254") || strings.Contains(host, "169-254-169-254") // a name that resolves to its number
	}
	if ip.Is6() {
		return strings.HasPrefix(ip.String(), "fd00:ec2:") || ip.String() == "fd20:ce::254"
	}
	credentials := []string{"169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"}
	return slices.ContainsFunc(credentials, func(p string) bool { return netip.MustParsePrefix(p).Contains(ip) })
}

// Credentials says which credentials an address gives to anybody who reaches it, nil if none are known.
func (w Words) Credentials(address string) wording.Sentence {
	if w.isMetadata(address) {
		return said("asks the cloud's metadata service, which hands out credentials: %s", address)
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"), "/")
	switch {
	case strings.HasPrefix(path, "api/v1/") && strings.Contains(path+"/", "/secrets/"):
		return said("reads the secrets of a cluster: %s", address)
	case strings.Contains(address, ":8200/v1/") && (strings.Contains(path, "secret") || strings.Contains(path, "/data/")):
		return said("reads the secrets of a vault: %s", address)
	case strings.Contains(address, ":2375/"), strings.Contains(address, ":2376/"):
		return said("talks to Docker by its open door, which gives the rights of the administrator: %s", address)
	}
	return nil
}

func said(p wording.Phrase, address string) wording.Sentence {
	return wording.Sentence{wording.Say(p, address)}
}

// maxAddress limits the path and query of a fetched address, in bytes: common browsers and servers stop there.
const maxAddress = 8 << 10

// Carries says what an address that is only fetched carries off the machine: data packed into
// its path or query, or a host that only exists to collect data; false if it finds nothing.
func (w Words) Carries(address string) (wording.Clause, bool) {
	u, err := url.Parse(strings.Trim(address, "'\""))
	if err != nil || u.Host == "" || Local(address) {
		return wording.Clause{}, false
	}
	if len(u.RawQuery)+len(u.Path) > maxAddress {
		return wording.Say("more text than an address needs"), true
	}
	host := strings.ToLower(u.Hostname())
	for collector := range w["collector"] {
		if strings.Contains(host, collector) {
			return wording.Say("the collector %s", host), true
		}
	}
	if slices.ContainsFunc(strings.Split(u.Path, "/"), packed) {
		return wording.Say("data in the path"), true
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.ContainsFunc(query[name], func(v string) bool { return w.holds(name, v) }) {
			return wording.Say("the parameter %s", name), true
		}
	}
	return wording.Clause{}, false
}

// secret matches values that begin as keys do, or hold what only files of secrets do.
var secret = regexp.MustCompile(`^(AKIA|ghp_|sk_live_)|-----BEGIN|root:x:0`)

// holds reports whether a parameter of an address holds outgoing data, judging by its name or its form.
func (w Words) holds(name, value string) bool {
	name = strings.ToLower(name)
	return w.is("leaking-parameter", name) && value != "" || w.is("data-parameter", name) && len(value) >= 16 && !strings.ContainsAny(value, " ,") ||
		packed(value) || secret.MatchString(value)
}

// packed reports whether a text is readable text in base64.
func packed(s string) bool {
	if len(s) < 16 || strings.HasPrefix(s, "eyJ") { // JSON: cursors and signed tokens
		return false
	}
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", " ", "+").Replace(s), "=")
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return false
	}
	marks := false
	for _, b := range data {
		if b >= 0x7f || b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return false
		}
		marks = marks || strings.IndexByte("=:{ \n@", b) >= 0
	}
	return marks
}

// Unusual returns an address that is neither on this machine nor a registry that everybody uses.
func (w Words) Unusual(value string) string {
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ',' || c == '|' || c == ' ' }) {
		switch {
		case part == "direct", part == "off", part == "none", part == "on",
			strings.HasPrefix(part, "unix:"), strings.HasPrefix(part, "npipe:"), strings.HasPrefix(part, "."):
		case strings.HasPrefix(part, "/"), strings.HasPrefix(part, "file:"):
		case strings.HasPrefix(part, "$") && !strings.HasPrefix(part, "$("):
		case Local(part), w.IsRegistry(part), !strings.ContainsAny(part, ".$"): // a name in the local network has no dot
		default:
			return part
		}
	}
	return ""
}

// IsRegistry reports whether an address is a package manager's default registry, or its usual mirror.
func (w Words) IsRegistry(s string) bool {
	s = strings.TrimPrefix(s, "sparse+")
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	host, _, _ := strings.Cut(s, "/")
	if strings.Contains(host, "@") {
		return false
	}
	for {
		if w.is("known-registry", host) {
			return true
		}
		var ok bool
		if _, host, ok = strings.Cut(host, "."); !ok {
			return false
		}
	}
}
