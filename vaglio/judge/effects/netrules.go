package effects

import (
	"net"
	"net/url"
	"strings"
)

func netRules(m map[string]rule) {
	m["curl"] = curlRule
	m["wget"] = wgetRule
	m["httpie"] = httpieRule
	m["grpc"] = grpcRule
	m["urlTool"] = func(c *call) []Effect {
		return c.unlessLocal(func() []Effect { return shared(KindSend, "opens a connection to "+c.rest(0), c.rest(0)) })
	}
	m["loadTest"] = func(c *call) []Effect {
		return c.unlessLocal(func() []Effect {
			return []Effect{usual(KindInfrastructure).with("puts load on "+c.rest(0), c.rest(0))}
		})
	}
	m["download"] = downloadRule
	m["ftp"] = func(c *call) []Effect {
		if text := join(c.all); strings.Contains(text, "get ") && !strings.Contains(text, "put ") && !strings.Contains(text, "mirror -R") {
			return own("downloads files")
		}
		return shared(KindSend, "opens a file transfer with "+c.rest(0), c.rest(0))
	}
	m["netcat"] = netcatRule
	m["scan"] = func(c *call) []Effect {
		return c.unlessLocal(func() []Effect {
			return []Effect{usual(KindInfrastructure).with("scans or attacks machines of others: "+c.name+" "+c.rest(0), c.rest(0)).as(Irreversible, ReachShared)}
		})
	}
	m["ssh"] = sshRule
	m["sshKeygen"] = sshKeygenRule
	m["sftp"] = sftpRule
	m["copyHosts"] = copyHostsRule
	m["backupTool"] = backupRule
	m["shareTool"] = func(c *call) []Effect {
		if op := c.operand(0); op == "receive" || op == "recv" || op == "list" || op == "info" || op == "download" || op == "about" {
			return own("receives files")
		}
		return one(KindSend, "uploads to a place that others can read: "+c.name+" "+c.rest(0), c.rest(0))
	}
	m["mail"] = func(c *call) []Effect {
		if c.name == "mail" && len(c.all) == 0 {
			return reads()
		}
		return one(KindPeople, "sends a message by "+c.name+" to "+c.rest(0), c.rest(0))
	}
	m["webServer"] = webServerRule
	m["gpg"] = gpgRule
	m["openssl"] = opensslRule
	m["sops"] = sopsRule
	m["objectStore"] = objectStoreRule
}

// localURL reports whether an address is this machine.
func localURL(s string) bool {
	s = strings.Trim(s, "'\"")
	if strings.HasPrefix(s, ":") { // httpie's short form
		return true
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	switch host {
	case "localhost", "0.0.0.0", "host.docker.internal", "kubernetes.docker.internal", "ip6-localhost":
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".lvh.me")
}

// store reports whether an address is the interface of a store on this
// machine, where a deletion loses data.
func store(s string) bool {
	for _, p := range []string{":9200", ":9300", ":5984", ":6333", ":8086", ":2379", ":8500", ":8200", ":2375", ":7474", ":8983", ":8123", ":7700", ":8108", ":15672", ":8001"} {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func (c *call) unlessLocal(far func() []Effect) []Effect {
	seen := false
	for _, a := range c.operands {
		if strings.Contains(a.text, ".") || strings.Contains(a.text, ":") || a.text == "localhost" {
			seen = true
			if !localURL(a.text) {
				return far()
			}
		}
	}
	if !seen {
		return far()
	}
	return own("talks to this machine")
}

// request is the effect of an HTTP request.
func (r *reading) request(method, address, body string) []Effect {
	method = strings.ToUpper(method)
	local := localURL(address)
	switch method {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND":
		return reads()
	}
	if readingPost(address, body) {
		return reads()
	}
	switch {
	case local && method == "DELETE" && store(address), local && method != "GET" && store(address) && destructivePath(address):
		return []Effect{usual(KindDatabase).with("deletes or changes data in a local store: "+method+" "+address, address).as(Irreversible, ReachUser)}
	case local:
		return own("sends a request to this machine: " + method + " " + address)
	case method == "DELETE":
		return []Effect{usual(KindDelete).with("deletes "+address, address).as(Irreversible, ReachShared)}
	}
	return []Effect{usual(KindSend).with("sends a request that changes something: "+method+" "+address, address).as(Irreversible, ReachShared)}
}

func destructivePath(s string) bool {
	for _, w := range []string{"_delete_by_query", "_update_by_query", "_close", "_bulk", "_forcemerge", "_rollover", "/delete", "_settings", "_cluster", "_doc", "_mapping", "/collections/", "/containers/"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// readingPost reports whether a request with a body is a query by custom.
func readingPost(address, body string) bool {
	u := address
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		u = u[:i]
	}
	for _, s := range []string{"/_search", "/_msearch", "/_count", "/_analyze", "/_sql", "/_esql", "/_field_caps", "/_explain", "/_mget"} {
		if strings.HasSuffix(u, s) && (localURL(address) || s != "/_sql") {
			return true
		}
	}
	if strings.HasSuffix(u, "/graphql") && body != "" {
		trimmed := strings.TrimSpace(body)
		return !strings.Contains(trimmed, "mutation") && strings.Contains(trimmed, "query") && !strings.HasPrefix(trimmed, "@")
	}
	return false
}

func curlRule(c *call) []Effect {
	method, body := c.curlMethod()
	urls := append(append([]arg(nil), c.operands...), c.values("--url")...)
	var out []Effect
	for _, u := range urls {
		switch {
		case leaks(u):
			out = append(out, usual(KindSend).with("sends local data inside the address "+u.text, u.text))
		case strings.HasPrefix(u.text, "file://"):
			if c.r.world.placeOf(u, c.cwd) == placeSecret {
				out = append(out, usual(KindCredentials).with("shows the secrets in "+u.text, u.text))
			}
		case strings.HasPrefix(u.text, "smtp") || strings.HasPrefix(u.text, "imap"):
			out = append(out, usual(KindPeople).with("sends mail through "+u.text, u.text))
		default:
			out = append(out, c.r.request(method, u.text, body)...)
		}
	}
	if len(urls) == 0 {
		if c.has("-K", "--config") {
			return unknown("makes requests that a file describes", "")
		}
		out = append(out, c.r.request(method, "an address that is not known", body)...)
	}
	for _, b := range append(c.values("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "-F", "--form", "--json", "-H", "--header"), c.values("-T", "--upload-file")...) {
		if i := strings.IndexByte(b.text, '@'); i >= 0 && c.r.world.placeOf(b.slice(i+1), c.cwd) == placeSecret {
			out = append(out, usual(KindCredentials).with("sends the secrets in "+b.text[i+1:], b.text[i+1:]))
		}
	}
	for _, o := range c.values("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--output-dir", "--stderr") {
		if o.text != "-" && o.text != "" && o.text != "%" {
			c.r.fetched[lastPart(o.text)] = true
			out = append(out, c.r.write(c.invocation, o, "writes")...)
		}
	}
	if c.has("-O", "--remote-name", "--remote-name-all") {
		for _, u := range urls {
			c.r.fetched[lastPart(u.text)] = true
		}
	}
	return out
}

func (c *call) curlMethod() (method, body string) {
	data := c.values("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "-F", "--form", "--form-string")
	for _, d := range data {
		body += d.text
	}
	switch v, ok := c.value("-X", "--request"); {
	case ok:
		return v.text, body
	case c.has("-T", "--upload-file"):
		return "PUT", body
	case c.has("-Q", "--quote"):
		return "QUOTE", body
	case c.has("-G", "--get", "-I", "--head"):
		return "GET", body
	case len(data) > 0:
		return "POST", body
	}
	return "GET", body
}

// leaks reports whether an address carries the output of a command or a
// secret out of the machine.
func leaks(u arg) bool {
	if localURL(u.text) {
		return false
	}
	q := strings.IndexAny(u.text, "?#")
	for _, f := range u.from {
		if at := strings.Index(u.text, "$("+f+")"); at > 0 && (q >= 0 && at > q || f == "cat" || f == "base64" || f == "env" || f == "printenv" || f == "tar" || f == "whoami" || f == "hostname") {
			switch f {
			case "date", "git", "uname", "dpkg", "arch", "jq", "printf", "echo", "curl", "seq", "lsb_release", "python", "python3", "node":
			default:
				return true
			}
		}
	}
	for _, n := range u.names {
		if at := strings.Index(u.text, "$"+n); at > 0 && secretName(n) && !strings.Contains(strings.ToUpper(n), "API") && !strings.Contains(strings.ToUpper(n), "TOKEN") {
			return true
		}
	}
	return false
}

func wgetRule(c *call) []Effect {
	method := "GET"
	if v, ok := c.value("--method"); ok {
		method = v.text
	} else if c.has("--post-data", "--post-file") {
		method = "POST"
	}
	var out []Effect
	for _, u := range c.operands {
		if leaks(u) {
			out = append(out, usual(KindSend).with("sends local data inside the address "+u.text, u.text))
		}
		out = append(out, c.r.request(method, u.text, "")...)
		c.r.fetched[lastPart(u.text)] = true
	}
	if len(c.operands) == 0 {
		out = append(out, c.r.request(method, "an address that is not known", "")...)
	}
	for _, o := range c.values("-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix") {
		if o.text != "-" {
			c.r.fetched[lastPart(o.text)] = true
			out = append(out, c.r.write(c.invocation, o, "writes")...)
		}
	}
	return out
}

func httpieRule(c *call) []Effect {
	ops := c.operands
	method := ""
	if len(ops) > 1 && strings.ToUpper(ops[0].text) == ops[0].text && strings.Trim(ops[0].text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, ops = ops[0].text, ops[1:]
	}
	if len(ops) == 0 {
		return reads()
	}
	if method == "" {
		method = "GET"
		for _, o := range ops[1:] {
			if (strings.Contains(o.text, "=") && !strings.Contains(o.text, "==")) || strings.Contains(o.text, "@") {
				method = "POST"
			}
		}
		if c.stdin.piped || c.has("--raw") {
			method = "POST"
		}
	}
	out := c.r.request(method, ops[0].text, "")
	for _, o := range c.values("-o", "--output") {
		out = append(out, c.r.write(c.invocation, o, "writes")...)
	}
	return out
}

func grpcRule(c *call) []Effect {
	return c.unlessLocal(func() []Effect {
		last := c.operand(len(c.operands) - 1)
		words := taskWords(lastPart(last))
		if last == "list" || last == "describe" || len(words) > 0 && c.r.verbOf(words[0]).effect.Kind == KindRead || c.operand(1) == "list" || c.operand(1) == "describe" {
			return reads()
		}
		return shared(KindSend, "calls a remote procedure: "+c.rest(0), c.rest(0))
	})
}

func downloadRule(c *call) []Effect {
	out := own("downloads files to the current folder")
	for _, v := range c.values("-d", "-o", "-P", "--dir", "--output") {
		out = append(out, c.r.write(c.invocation, v, "writes")...)
	}
	for _, a := range c.operands {
		c.r.fetched[lastPart(a.text)] = true
	}
	return out
}

func netcatRule(c *call) []Effect {
	if c.has("-z") {
		return reads()
	}
	if c.has("-e", "-c", "--exec", "--sh-exec") {
		return one(KindForeignCode, "gives a shell to whoever connects", c.rest(0))
	}
	if c.has("-l", "--listen") {
		return shared(KindSend, "listens for connections", c.rest(0))
	}
	if len(c.operands) > 0 && localURL(c.operand(0)) {
		return own("talks to this machine")
	}
	return one(KindSend, "sends data to "+c.rest(0), c.rest(0))
}

func sshRule(c *call) []Effect {
	if c.has("-R", "-L", "-D", "-w") && !c.wrapper {
		if c.has("-R") {
			return shared(KindSend, "opens a local service to another machine", c.rest(0))
		}
		return own("opens a tunnel")
	}
	for _, o := range c.values("-o") {
		if l := strings.ToLower(o.text); strings.HasPrefix(l, "stricthostkeychecking=no") && strings.Contains(join(c.all), "UserKnownHostsFile=/dev/null") {
			return one(KindSafeguardOff, "connects without checking whom it talks to", c.rest(0))
		}
	}
	if len(c.operands) > 1 {
		return reads() // the remote command is judged by itself
	}
	if text, all := c.input(); all && text.text != "" {
		return reads()
	}
	if c.has("-T", "-N") && len(c.operands) == 1 && strings.Contains(c.operand(0), "git@") {
		return reads()
	}
	return unknown("opens a session on another machine: "+c.rest(0), c.rest(0))
}

func sshKeygenRule(c *call) []Effect {
	switch {
	case c.has("-l", "-F", "-H", "-Y", "-L") && !c.has("-R"):
		return reads()
	case c.has("-y"):
		return reads()
	case c.has("-R"):
		return []Effect{usual(KindSafeguardOff).with("forgets the known key of the host "+c.rest(0), c.rest(0)).as(Partial, ReachUser)}
	case c.has("-p"):
		return one(KindCredentials, "changes the passphrase of a key", c.rest(0))
	}
	if f, ok := c.value("-f"); ok {
		if p := c.r.world.placeOf(f, c.cwd); p == placeTemp || c.r.world.inside(c.r.world.clean(f.text, c.cwd)) {
			return own("creates a key in the workspace")
		}
	}
	return []Effect{usual(KindCredentials).with("creates a key in the user's key folder", "key").as(Partial, ReachUser)}
}

func sftpRule(c *call) []Effect {
	text, all := c.input()
	if !all {
		return unknown("opens a file transfer with "+c.rest(0), c.rest(0))
	}
	for l := range strings.Lines(text.text) {
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		switch strings.TrimPrefix(f[0], "-") {
		case "ls", "dir", "pwd", "cd", "lcd", "lls", "lpwd", "get", "reget", "mget", "version", "help", "?", "bye", "exit", "quit", "df", "progress":
		default:
			return shared(KindSend, "changes files on "+c.rest(0)+": "+strings.TrimSpace(l), c.rest(0))
		}
	}
	return reads()
}

// remotePath reports whether a word names a path on another machine.
func remotePath(s string) bool {
	if strings.Contains(s, "::") || strings.HasPrefix(s, "rsync://") || strings.HasPrefix(s, "scp://") || strings.HasPrefix(s, "sftp://") {
		return true
	}
	host, _, ok := strings.Cut(s, ":")
	return ok && host != "" && !strings.Contains(host, "/") && len(host) > 1
}

func copyHostsRule(c *call) []Effect {
	if strings.HasPrefix(c.name, "rsync") && c.has("-n", "--dry-run") {
		return reads()
	}
	if len(c.operands) == 0 {
		return unknown("copies files that are not known", "")
	}
	dest := c.operands[len(c.operands)-1]
	src := c.operands[:len(c.operands)-1]
	if len(src) == 0 {
		return reads() // rsync lists
	}
	if remotePath(dest.text) {
		out := one(KindSend, "copies "+join(src)+" to "+dest.text, dest.text)
		if c.has("--delete", "--delete-after", "--delete-before", "--delete-excluded", "--delete-during", "--del") {
			out = append(out, usual(KindDelete).with("deletes what "+dest.text+" has besides", dest.text).as(Irreversible, ReachShared))
		}
		return out
	}
	var out []Effect
	for _, s := range src {
		if c.r.world.placeOf(s, c.cwd) == placeSecret && c.r.world.placeOf(dest, c.cwd) != placeSecret {
			out = append(out, usual(KindCredentials).with("copies the secrets in "+s.text, s.text))
		}
	}
	if c.has("--delete", "--delete-after", "--delete-before", "--delete-excluded", "--delete-during", "--del") {
		e := c.r.remove(c.invocation, dest)
		for i := range e {
			if e[i].Kind == KindDelete {
				e[i].Why = "deletes what " + dest.text + " has besides the copied files"
			}
		}
		out = append(out, e...)
	}
	if c.has("--remove-source-files") {
		out = append(out, usual(KindDelete).with("deletes the files that it copied: "+join(src), join(src)))
	}
	return append(out, c.r.write(c.invocation, dest, "copies files to")...)
}

func backupRule(c *call) []Effect {
	switch c.operand(0) {
	case "list", "ls", "info", "snapshots", "stats", "find", "diff", "check", "verify", "version", "cat", "dump", "help", "status", "collection-status", "list-current-files", "log", "config":
		return reads()
	case "forget", "prune", "delete", "remove", "cleanup", "remove-older-than", "compact", "unlock", "recreate":
		return one(KindDelete, "deletes backups: "+c.name+" "+c.rest(0), c.rest(0))
	}
	return shared(KindSend, "copies data to or from a backup: "+c.name+" "+c.rest(0), c.rest(0))
}

func objectStoreRule(c *call) []Effect {
	verb := c.operand(0)
	ops := c.operands[min(1, len(c.operands)):]
	if len(ops) > 1 {
		dest := ops[len(ops)-1]
		remote := strings.Contains(dest.text, "://") || remotePath(dest.text) || c.name == "mc" && !strings.HasPrefix(dest.text, ".") && !strings.HasPrefix(dest.text, "/")
		switch verb {
		case "cp", "copy", "get", "sync", "mirror", "download", "copyto":
			if !remote {
				return c.r.write(c.invocation, dest, "downloads to")
			}
		}
	}
	switch verb {
	case "get", "download-file-by-name", "download-file-by-id", "download":
		return own("downloads files")
	case "rm", "del", "delete", "purge", "rb", "deletefile", "cleanup", "rmdirs", "delete-file-version", "delete-bucket", "ilm", "undo":
		return []Effect{usual(KindDelete).with("deletes stored objects: "+join(ops), join(ops)).as(Irreversible, ReachShared)}
	}
	return one(KindSend, "writes to remote storage: "+c.name+" "+c.rest(0), c.rest(0))
}

func webServerRule(c *call) []Effect {
	switch c.name {
	case "certbot", "acme.sh", "lego", "dehydrated":
		if op := c.operand(0); op == "certificates" || op == "list" || op == "show_account" || c.has("--dry-run", "--list", "--version", "--help") {
			return reads()
		}
		return []Effect{usual(KindInfrastructure).with("orders or changes certificates: "+c.name+" "+c.rest(0), c.rest(0))}
	case "named-checkconf", "named-checkzone", "unbound-checkconf":
		return reads()
	case "a2ensite", "a2dissite", "a2enmod", "a2dismod":
		return []Effect{usual(KindInfrastructure).with("changes the web server: "+c.name+" "+c.rest(0), c.rest(0)).as(Partial, ReachSystem)}
	}
	if c.has("-t", "-T", "-v", "-V", "-S", "-M", "--version", "--validate", "-n", "-d", "--help", "--check") && !c.has("-s", "-k", "-e") {
		return reads()
	}
	switch c.operand(0) {
	case "configtest", "validate", "fmt", "adapt", "version", "status", "fullstatus", "list-modules", "environ", "healthcheck", "hash-password", "file-server", "respond", "help", "vcl.list", "backend.list":
		return reads()
	case "run", "start":
		return own("starts a server")
	}
	return []Effect{usual(KindInfrastructure).with("starts, stops or changes the web server: "+c.name+" "+join(c.all), c.name).as(Partial, ReachSystem)}
}

func gpgRule(c *call) []Effect {
	switch {
	case c.has("--export-secret-keys", "--export-secret-subkeys", "-d", "--decrypt"):
		return one(KindCredentials, "decrypts or exports secrets with gpg", c.rest(0))
	case c.has("--delete-key", "--delete-keys", "--delete-secret-keys", "--delete-secret-key", "--delete-secret-and-public-key", "--gen-revoke", "--generate-revocation"):
		return one(KindDelete, "deletes or revokes keys: "+c.rest(0), c.rest(0))
	case c.has("--send-keys", "--send-key"):
		return one(KindPublish, "publishes a key", c.rest(0))
	case c.has("--import", "--recv-keys", "--recv-key", "--receive-keys", "--sign-key", "--lsign-key", "--edit-key", "--import-ownertrust", "--quick-sign-key", "--refresh-keys", "--gen-key", "--full-generate-key", "--generate-key", "--quick-generate-key", "--quick-gen-key", "--full-gen-key", "--quick-add-key", "--passwd"):
		return []Effect{usual(KindCredentials).with("changes the keys that the user has or trusts", c.rest(0)).as(Partial, ReachUser)}
	case c.has("-e", "--encrypt", "-c", "--symmetric", "-s", "--sign", "--clearsign", "--clear-sign", "-b", "--detach-sign", "--dearmor", "--enarmor", "-a", "--armor", "--export", "--dry-run"):
		return append(own("signs, encrypts or exports public data"), c.outputs()...)
	}
	return unknown("uses gpg in a way that is not known: "+join(c.all), "gpg")
}

func opensslRule(c *call) []Effect {
	for _, f := range c.values("-key", "-inkey", "-in") {
		if c.r.world.placeOf(f, c.cwd) == placeSecret && !c.has("-pubout", "-noout", "-modulus", "-check") {
			switch c.operand(0) {
			case "rsa", "pkey", "ec", "pkcs12", "pkcs8", "enc", "base64", "asn1parse", "dsa":
				return one(KindCredentials, "shows the key in "+f.text, f.text)
			}
		}
	}
	switch c.operand(0) {
	case "pkcs12", "smime", "cms", "rsautl", "pkeyutl":
		if c.has("-nodes", "-decrypt", "-noenc") && !c.has("-nokeys", "-info", "-export") {
			return one(KindCredentials, "decrypts keys or data", c.operand(0))
		}
	case "enc":
		if c.has("-d") && c.has("-pass", "-k", "-K", "-kfile") {
			return one(KindCredentials, "decrypts data with a password", c.operand(0))
		}
	}
	var out []Effect
	for _, f := range c.values("-out", "-keyout") {
		if c.r.world.inside(c.r.world.clean(f.text, c.cwd)) {
			out = append(out, own("writes "+f.text)...)
			continue
		}
		out = append(out, c.r.write(c.invocation, f, "writes")...)
	}
	return out
}

func sopsRule(c *call) []Effect {
	if c.has("-d", "--decrypt", "-i", "--in-place") || c.operand(0) == "decrypt" || c.operand(0) == "exec-env" || c.operand(0) == "exec-file" || c.operand(0) == "edit" || c.operand(0) == "unset" || c.operand(0) == "set" {
		return one(KindCredentials, "decrypts secrets: "+c.rest(0), c.rest(0))
	}
	if c.has("-e", "--encrypt", "-r", "-R", "--recipient", "-p") || c.operand(0) == "encrypt" || c.operand(0) == "filestatus" || c.operand(0) == "publish-dry" || c.name == "kubeseal" {
		return append(own("encrypts a file"), c.outputs()...)
	}
	return one(KindCredentials, "opens encrypted secrets: "+c.rest(0), c.rest(0))
}
