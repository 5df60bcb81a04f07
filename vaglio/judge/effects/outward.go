package effects

import (
	"encoding/base64"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/vaglio/wording"
)

// metadata reports whether an address is that of a cloud's metadata service,
// which hands the machine's credentials to whoever asks, in any spelling of its
// number.
func metadata(address string) bool {
	host := hosts.Of(address)
	switch host {
	case "metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal", "metadata.azure.internal",
		"metadata.tencentyun.com":
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

// credentialDoor says what credentials an address hands out to anybody who
// reaches it, nil if none are known.
func credentialDoor(address string) wording.Sentence {
	if metadata(address) {
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

// engineSocket reports whether a socket is one by which whoever talks to it
// gets the rights of the administrator.
func engineSocket(p string) bool {
	return slices.ContainsFunc([]string{
		"docker.sock", "containerd.sock", "podman.sock", "crio.sock", "buildkitd.sock", "lxd/unix.socket", "incus/unix.socket",
	}, func(end string) bool { return strings.HasSuffix(p, end) })
}

// leaks reports whether an address carries the output of a command, a secret or
// something about the user out of the machine.
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
		return false // it says where to go
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
		return asked || !knownRegistry(address) && r.listedSecret
	}
	return asked
}

// personal reports whether a variable in an address tells about the user or is
// a secret of somebody else than the host.
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

// lookupRule judges a program that looks a name up: what stands in the name
// before a domain reaches whoever serves that domain.
func lookupRule(c *call) []Effect {
	for _, a := range c.all {
		inner := strings.HasSuffix(a.text, ")") || !strings.Contains(a.text, ".")
		if a.known || inner && !strings.Contains(a.text, ".$") && len(a.names) == 0 {
			continue
		}
		if c.r.namesLocal(a) {
			return one(KindSend, say("sends local data inside a name that it looks up: %s", a.text), a.text)
		}
	}
	return reads()
}

// namesLocal reports whether the output of a command or a variable about the
// user stands in a name before a domain.
func (r *reading) namesLocal(a arg) bool {
	return slices.ContainsFunc(a.from, func(f string) bool {
		at := strings.Index(a.text, "$("+f)
		return at >= 0 && strings.Contains(a.text[at:], ").")
	}) || slices.ContainsFunc(a.names, func(n string) bool { return strings.Contains(a.text, "$"+n+".") && r.personal(n, "") })
}

// server says how a program that serves files or data is told what and where.
type server struct {
	words   []string // its arguments hold one of these, if there are any
	folders []string // options that name the folder
	operand bool     // an operand names it
	listens []string // options that name the address
	data    bool     // serves data, so that all addresses are too many
}

// serverOf knows the programs that serve a folder or a store of data.
func serverOf(name string) (server, bool) {
	switch name {
	case "python", "python2", "python3", "pypy3":
		return server{words: []string{"http.server", "SimpleHTTPServer"}, folders: []string{"-d", "--directory"}}, true
	case "serve", "http-server", "live-server", "static-server", "miniserve", "simple-http-server", "ran", "darkhttpd":
		return server{operand: true, folders: []string{"-r", "--root", "--public", "-d", "--dir"}}, true
	case "php":
		return server{words: []string{"-S"}, folders: []string{"-t", "--docroot"}}, true
	case "ruby":
		return server{words: []string{"-run", "-rwebrick", "httpd"}, operand: true}, true
	case "busybox", "httpd":
		return server{folders: []string{"-h"}}, true
	case "caddy":
		return server{words: []string{"file-server"}, folders: []string{"--root", "-r"}}, true
	case "redis-server", "valkey-server", "keydb-server":
		return server{listens: []string{"--bind"}, data: true}, true
	case "mongod", "mongos":
		return server{listens: []string{"--bind_ip"}, data: true}, true
	case "mysqld", "mariadbd", "mysqld_safe":
		return server{listens: []string{"--bind-address"}, data: true}, true
	case "postgres", "postmaster":
		return server{listens: []string{"-h"}, data: true}, true
	case "memcached":
		return server{listens: []string{"-l", "--listen"}, data: true}, true
	}
	return server{}, false
}

// exposed are the effects of a program that serves more than the workspace, or
// a store of data to every machine around.
func (r *reading) exposed(v *invocation) []Effect {
	s, ok := serverOf(v.name)
	if !ok || v.box != "" && !v.exposed || len(s.words) > 0 && !slices.ContainsFunc(v.args, func(a arg) bool { return slices.Contains(s.words, a.text) }) {
		return nil
	}
	if s.data {
		return s.open(v)
	}
	for _, f := range s.served(v) {
		if p := r.world.placeOf(f, v.cwd); p != placeWorkspace && p != placeTemp && p != placeNowhere {
			return shared(KindSend, say("serves the files below %s to whoever asks", r.world.clean(f.text, v.cwd)), f.text)
		}
	}
	return nil
}

// open is the effect of a store of data that listens on every address.
func (s *server) open(v *invocation) []Effect {
	everywhere := slices.ContainsFunc(v.args, func(a arg) bool { return a.text == "--bind_ip_all" })
	for _, a := range optionValues(v.args, s.listens) {
		everywhere = everywhere || a.text == "*" || strings.Contains(a.text, "0.0.0.0") || strings.Contains(","+a.text+",", ",::,")
	}
	if everywhere {
		return shared(KindSend, say("opens %s to every machine that reaches this one", v.name), v.name)
	}
	return nil
}

// served are the folders that a program serves, the current one if none is
// named.
func (s *server) served(v *invocation) []arg {
	folders := optionValues(v.args, s.folders)
	for _, a := range v.args {
		if s.operand && a.text != "" && strings.IndexByte("/~$.", a.text[0]) >= 0 {
			folders = append(folders, a)
		}
	}
	if len(folders) == 0 {
		return []arg{literal(".")}
	}
	return folders
}

// optionValues are the values of options, behind them or an equal sign.
func optionValues(args []arg, names []string) []arg {
	var out []arg
	for i, a := range args {
		name, _, has := strings.Cut(a.text, "=")
		switch {
		case has && slices.Contains(names, name):
			out = append(out, a.slice(len(name)+1))
		case i > 0 && slices.Contains(names, args[i-1].text):
			out = append(out, a)
		}
	}
	return out
}

// maxAddress bounds the path and the query of an address that is fetched, in
// bytes: what browsers and servers commonly stop at.
const maxAddress = 8 << 10

// carriesData finds what an address that is only fetched carries out of the
// machine: data packed into its path or its query, or a place whose only use
// is to collect what it is sent; false when it finds nothing.
func carriesData(address string) (wording.Clause, bool) {
	u, err := url.Parse(strings.Trim(address, "'\""))
	if err != nil || u.Host == "" || localURL(address) {
		return wording.Clause{}, false
	}
	if len(u.RawQuery)+len(u.Path) > maxAddress {
		return wording.Say("more text than an address needs"), true
	}
	host := strings.ToLower(u.Hostname())
	if holdsAny(host, "webhook.site", "requestbin", "pipedream.net", "burpcollaborator", "oastify", "interact.sh", "interactsh", "dnslog",
		"beeceptor", "hookbin", "requestcatcher", "canarytokens", "ngrok", "oast.", "postb.in", "requestinspector", "ptsv", "webhookrelay", "mockbin") {
		return wording.Say("the collector %s", host), true
	}
	if slices.ContainsFunc(strings.Split(u.Path, "/"), packed) {
		return wording.Say("data in the path"), true
	}
	for name, values := range u.Query() {
		if slices.ContainsFunc(values, func(v string) bool { return carries(name, v) }) {
			return wording.Say("the parameter %s", name), true
		}
	}
	return wording.Clause{}, false
}

// carries reports whether a parameter of an address holds data that it takes
// out, by its name or by what it looks like.
func carries(name, value string) bool {
	switch strings.ToLower(name) {
	case "exfil", "leak", "dump", "secrets", "loot", "stolen", "env", "passwd", "password", "creds", "credentials":
		if value != "" {
			return true
		}
	case "data", "payload", "d", "blob", "contents":
		if len(value) >= 16 && !strings.ContainsAny(value, " ,") {
			return true
		}
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
