package effects

import (
	"encoding/base64"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// metadata reports whether an address, in any notation of its number, is that of a cloud's
// metadata service, which gives the machine's credentials to whoever asks.
func (t *tables) metadata(address string) bool {
	host := hosts.Of(address)
	if t.ofClass("metadata-host", host) {
		return true
	}
	ip, ok := hosts.Number(host)
	if !ok {
		return strings.Contains(host, "169.254.169.254") || strings.Contains(host, "169-254-169-254") // a name that resolves to its number
	}
	if ip.Is6() {
		return strings.HasPrefix(ip.String(), "fd00:ec2:") || ip.String() == "fd20:ce::254"
	}
	for _, p := range []string{"169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"} {
		if netip.MustParsePrefix(p).Contains(ip) {
			return true
		}
	}
	return false
}

// credentialDoor says which credentials an address gives to anybody who reaches it, nil if none
// are known.
func (t *tables) credentialDoor(address string) wording.Sentence {
	if t.metadata(address) {
		return say("asks the cloud's metadata service, which hands out credentials: %s", address)
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"), "/")
	switch {
	case strings.HasPrefix(path, "api/v1/") && strings.Contains(path+"/", "/secrets/"):
		return say("reads the secrets of a cluster: %s", address)
	case strings.Contains(address, ":8200/v1/") && (strings.Contains(path, "secret") || strings.Contains(path, "/data/")):
		return say("reads the secrets of a vault: %s", address)
	case strings.Contains(address, ":2375/"), strings.Contains(address, ":2376/"):
		return say("talks to Docker by its open door, which gives the rights of the administrator: %s", address)
	}
	return nil
}

// engineSocket reports whether whoever talks to a socket gets administrator rights.
func engineSocket(p string) bool {
	return slices.ContainsFunc(wordclass.Of("engine-socket"), func(end string) bool { return strings.HasSuffix(p, end) })
}

// leaks reports whether an address carries the output of a command, a secret or something about
// the user off the machine.
func (r *reading) leaks(u arg) bool {
	if localURL(u.text) {
		return false
	}
	if home := r.world.home; home != "" && strings.Contains(u.text, "://") && strings.Contains(u.text, home) && !strings.HasPrefix(u.text, "file:") {
		return true
	}
	return slices.ContainsFunc(u.from, func(f string) bool { return r.tells(u.text, f) }) ||
		slices.ContainsFunc(u.names, func(n string) bool { return strings.Index(u.text, "$"+n) > 0 && r.personal(n, hosts.Of(u.text)) })
}

// tells reports whether the output of a command in an address is local data.
func (r *reading) tells(address, f string) bool {
	at := strings.Index(address, "$("+f)
	if at <= 0 {
		return false // it determines the host
	}
	q := strings.IndexAny(address, "?#")
	asked := q >= 0 && at > q
	switch t := r.judge.tables; {
	case t.ofClass("tells", f):
		return true
	case t.ofClass("tells-little", f):
		return false
	case f == "git":
		return r.gitTold
	case t.ofClass("picks", f):
		return asked || !t.knownRegistry(address) && r.listedSecret
	}
	return asked
}

// personal reports whether a variable in an address tells something about the user, or is a secret
// of somebody other than the host.
func (r *reading) personal(name, host string) bool {
	upper := strings.ToUpper(name)
	if r.judge.tables.ofClass("personal-variable", upper) {
		return true
	}
	if !r.secretName(name) {
		return false
	}
	for w := range strings.SplitSeq(strings.ToLower(name), "_") {
		if len(w) > 2 && !slices.Contains([]string{"token", "api", "key", "secret", "access", "bot", "auth", "app", "password", "private"}, w) &&
			strings.Contains(host, w) {
			return false // its own service
		}
	}
	return true
}

// addressed returns the effects of local data in an address or host name among a command's words:
// whatever the program does there, the name alone reaches whoever serves the domain.
func (r *reading) addressed(v *invocation) []Effect {
	prints := r.judge.tables.ofClass("only-text", v.name)
	looksUp := r.judge.tables.ofClass("takes-hosts", v.name) || v.Call != nil && (v.Call.Verb == shell.VerbNetwork || v.Call.Verb == shell.VerbSend)
	pulls := r.judge.tables.ofClass("container-engine", v.name)
	for _, a := range v.args {
		switch at := addressIn(a.text, pulls); {
		case prints:
		case at >= 0 && r.leaks(a.slice(at)):
			return one(KindSend, say("sends local data inside the address %s", a.text[at:]), a.text[at:])
		case at < 0 && looksUp && !a.known && r.namesLocal(a):
			return one(KindSend, say("sends local data inside a name that it looks up: %s", a.text), a.text)
		}
	}
	return nil
}

// addressIn returns where the address begins that a word, or the value in an option's own word,
// consists of; -1 if it is none. An image that is pulled is one, if the output of a command ends it.
func addressIn(word string, pulls bool) int {
	before, _, _ := strings.Cut(word, "$(")
	if pulls && strings.HasSuffix(before, "/") && !strings.ContainsAny(before, "= :") && !startsAny(before, "/", ".", "-") {
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

// namesLocal reports whether a name contains the output of a command, or a variable about the
// user, before a domain.
func (r *reading) namesLocal(a arg) bool {
	return slices.ContainsFunc(a.from, func(f string) bool {
		at := strings.Index(a.text, "$("+f)
		return at >= 0 && strings.Contains(a.text[at:], ").")
	}) || slices.ContainsFunc(a.names, func(n string) bool { return strings.Contains(a.text, "$"+n+".") && r.personal(n, "") })
}

// maxAddress limits the path and query of a fetched address, in bytes: common browsers and servers
// stop there.
const maxAddress = 8 << 10

// carriesData says what an address that is only fetched carries off the machine: data packed into
// its path or query, or a host that only exists to collect data; false if it finds nothing.
func (t *tables) carriesData(address string) (wording.Clause, bool) {
	u, err := url.Parse(strings.Trim(address, "'\""))
	if err != nil || u.Host == "" || localURL(address) {
		return wording.Clause{}, false
	}
	if len(u.RawQuery)+len(u.Path) > maxAddress {
		return wording.Say("more text than an address needs"), true
	}
	host := strings.ToLower(u.Hostname())
	if t.inText("collector", host) != nil {
		return wording.Say("the collector %s", host), true
	}
	if slices.ContainsFunc(strings.Split(u.Path, "/"), packed) {
		return wording.Say("data in the path"), true
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.ContainsFunc(query[name], func(v string) bool { return t.carries(name, v) }) {
			return wording.Say("the parameter %s", name), true
		}
	}
	return wording.Clause{}, false
}

// carries reports whether a parameter of an address holds outgoing data, judging by its name or
// its form.
func (t *tables) carries(name, value string) bool {
	name = strings.ToLower(name)
	if t.ofClass("leaking-parameter", name) && value != "" || t.ofClass("data-parameter", name) && len(value) >= 16 && !strings.ContainsAny(value, " ,") {
		return true
	}
	return packed(value) || holdsAny(value, "-----BEGIN", "root:x:0") || startsAny(value, "AKIA", "ghp_", "sk_live_")
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

// isFar reports whether a text is an address, or a path on another machine.
func isFar(s string) bool { return strings.Contains(s, "://") || remotePath(s) }

// remotePath reports whether a word names a path on another machine.
func remotePath(s string) bool {
	host, _, ok := strings.Cut(s, ":")
	return strings.Contains(s, "::") || ok && len(host) > 1 && !strings.Contains(host, "/")
}

// badHost returns an address that is neither on this machine nor a registry that everybody uses.
func (t *tables) badHost(value arg) string {
	for part := range strings.FieldsFuncSeq(value.text, func(c rune) bool { return c == ',' || c == '|' || c == ' ' }) {
		switch {
		case part == "direct", part == "off", part == "none", part == "on",
			strings.HasPrefix(part, "unix:"), strings.HasPrefix(part, "npipe:"), strings.HasPrefix(part, "."):
		case strings.HasPrefix(part, "/"), strings.HasPrefix(part, "file:"):
		case strings.HasPrefix(part, "$") && !strings.HasPrefix(part, "$("):
		case localURL(part), t.knownRegistry(part), !strings.ContainsAny(part, ".$"): // a name in the local network has no dot
		default:
			return part
		}
	}
	return ""
}

// knownRegistry reports whether an address is a package manager's default registry, or its usual
// mirror.
func (t *tables) knownRegistry(s string) bool {
	s = strings.TrimPrefix(s, "sparse+")
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	host, _, _ := strings.Cut(s, "/")
	if strings.Contains(host, "@") {
		return false
	}
	for {
		if t.ofClass("known-registry", host) {
			return true
		}
		var ok bool
		if _, host, ok = strings.Cut(host, "."); !ok {
			return false
		}
	}
}

// hidden reports whether nobody gets to see a value of the settings in a file that a command reads:
// the command, or one that gets its output, prints no more than their names or how many there
// are, or what it prints is thrown away.
func (r *reading) hidden(v *invocation, file arg) bool {
	if name := lastPart(file.text); !strings.HasPrefix(name, ".env") && !strings.HasSuffix(name, ".env") {
		return false
	}
	const most = 32 // commands that pass on what it prints
	for n, i := v, 0; i < most && (n == v || n != nil && n.stdin.piped); n, i = n.into, i+1 {
		if n.muted || r.hides(n) {
			return true
		}
		if !r.judge.tables.ofClass("passes-on", n.name) || slices.ContainsFunc(n.writes, func(w arg) bool { return w.text != "/dev/null" }) {
			return false
		}
	}
	return false
}

// hides reports whether a command prints no value of the settings that it reads.
func (r *reading) hides(v *invocation) bool {
	name := r.canonical(v)
	return slices.ContainsFunc(r.judge.tables.Judged["hides:"+name], func(sec *commands.Section) bool {
		return r.callOf(v, name, sec).holds() != nil
	})
}

// settingName matches a pattern that can only match the name of a setting, or a value that it names
// whole: a literal name in capitals, a set of letters from the start of the line on, or both ends.
var settingName = regexp.MustCompile(`^(?:\^|\(|\\\(|export |[A-Z][A-Z0-9_]{2,}=?|\\?\||\)|\\\))+$` +
	`|^\^(?:[A-Za-z]\w*|\[(?:A-Z|a-z|0-9|_)+\]|\[\^=#?\]|\\?\+|\*)+(?:=|\(\?==\))?$|^\^[A-Z]\w*=[\w./:-]*\$$`)

// masks reports whether a program of sed or awk prints nothing of a line from its first equals sign
// on.
func masks(script string) bool {
	if script == "{print $1}" || script == "{ print $1 }" {
		return true
	}
	if len(script) < len("s/=.*//") || script[0] != 's' {
		return false
	}
	parts := strings.Split(script[2:], script[1:2])
	whole := []string{"=.*", "=.*$", "=.+", `=.\+`}
	return len(parts) == 3 && slices.Contains(whole, parts[0]) && !strings.ContainsAny(parts[1], `&\`) && strings.Trim(parts[2], "g") == ""
}

// environment matches what a program of jq or yq says of the environment: all of it or a variable,
// which is a group. Texts and the keys of objects come first, which are no such thing.
var environment = regexp.MustCompile(`"(?:[^"\\]|\\[^(])*"|#[^\n]*|\{[\w\s,]*\}|(?:^|[^.\w"$@-])env\s*:|` +
	`(?:\$ENV|(?:^|[^.\w"$@-])(?:str)?(env))\b(?:\.(\w+)|\["(\w+)"\]|\((\w+)\))?`)

// tellsEnv reports whether a program of jq or yq outputs the environment, or a secret in it.
func (r *reading) tellsEnv(program string) bool {
	return slices.ContainsFunc(environment.FindAllStringSubmatch(program, -1), func(m []string) bool {
		name := m[2] + m[3] + m[4]
		return (m[1] != "" || strings.HasPrefix(m[0], "$")) && (name == "" || r.secretName(name))
	})
}

// filtered reports whether what follows only passes on variables whose names do not stand for
// secrets, or nothing of them.
func (c *command) filtered() bool {
	n := c.shownBy(c.r.judge.tables)
	if n == nil || !n.stdin.piped {
		return false
	}
	switch n.name {
	case "grep", "egrep", "fgrep", "rg":
	case "wc":
		return true
	default:
		return false
	}
	p := c.r.parse(n.name, n.args)
	switch {
	case len(p.operands) != 1 || p.has("-v", "--invert-match"):
		return false
	case p.has("-q", "-c", "--quiet", "--silent", "--count"):
		return true
	}
	return !slices.ContainsFunc(strings.Split(p.operand(0), "|"), func(s string) bool { return !c.r.plainVariable(s) })
}

// plainVariable reports whether a pattern selects no variables that may hold secrets: it is the whole
// name of another one, or part of the names by which systems and toolchains are set up. The name of
// a service is part of its key's.
func (r *reading) plainVariable(pattern string) bool {
	pattern = strings.Trim(pattern, `^$()=\`)
	name := strings.ToLower(pattern)
	if len(name) < 3 || r.secretName(pattern) || holdsAny(name, "key", "pass", "tok", "sec", "auth", "cred", ".", "=", "*", "[", "database", "url") {
		return false
	}
	whole := strings.Contains(name, "_") && !strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_")
	return wordclass.Is("plain-variables", strings.Trim(name, "_")) || whole && !holdsAny(name, "aws", "api", "gh_", "github", "db", "stripe", "openai")
}

// secrets returns the effect of a query that shows a column whose name says that it holds secrets,
// or else e, which does not count.
func (s statement) secrets(e Effect) (Effect, bool) {
	for _, name := range s.Shown() {
		told := strings.HasPrefix(name, "HAS_") || strings.HasPrefix(name, "IS_") || !wordclass.Is("secret-at-end", name[strings.LastIndexByte(name, '_')+1:])
		if s.r.secretName(name) && !told {
			said := sayOf("shows %s in %s, which by its name holds secrets", object(strings.ToLower(name)), s.where)
			return usual(KindCredentials).with(said, s.where.String()), true
		}
	}
	return e, false
}
