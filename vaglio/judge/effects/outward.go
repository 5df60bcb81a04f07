package effects

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/sql"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/judge/effects/servers"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// engineSocket reports whether whoever talks to a socket gets administrator rights.
func engineSocket(p string) bool {
	return slices.ContainsFunc(wordclass.Of("engine-socket"), func(end string) bool { return strings.HasSuffix(p, end) })
}

// leaks reports whether an address carries the output of a command, a secret or something about the user off the machine.
func (r *reading) leaks(u arg) bool {
	if urls.Local(u.text) {
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
		return asked || !t.urls().IsRegistry(address) && r.listedSecret
	}
	return asked
}

// personal reports whether a variable in an address tells something about the user, or is a secret of somebody other than the host.
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
		switch at := urls.In(a.text, pulls); {
		case prints:
		case at >= 0 && r.leaks(a.slice(at)):
			return one(KindSend, say("sends local data inside the address %s", a.text[at:]), a.text[at:])
		case at < 0 && looksUp && !a.known && r.namesLocal(a):
			return one(KindSend, say("sends local data inside a name that it looks up: %s", a.text), a.text)
		}
	}
	return nil
}

// publicValue matches values that settings have beside their secrets: numbers, switches, words, paths, and addresses without a password.
var publicValue = regexp.MustCompile(`^(?:[\d.:]*|[a-z][a-z0-9.-]{2,}(?::\d+)?|[./~][\w./-]*|https?://[^@?]*)$`)

// sourcedTold returns the effects of what a shell took from a file with secrets, if a command prints it, hands it to
// a program of its own as text, or puts it into an address.
func (r *reading) sourcedTold(v *invocation) []Effect {
	prints := r.judge.tables.ofClass("prints-words", strings.TrimRight(v.name, "0123456789."))
	for _, s := range v.Sourced {
		value, known := s.Value.Text()
		if public := known && publicValue.MatchString(value); public && !r.secretName(s.Name) || r.world.placeOf(literal(s.File), v.cwd) != placeSecret {
			continue
		}
		if prints {
			return one(KindCredentials, say("outputs the secret $%s", s.Name), s.Name)
		}
		for _, a := range v.args {
			if at := urls.In(a.text, false); at >= 0 && value != "" && r.revealsIn(a.text[at:], s.Name, value) {
				return one(KindSend, say("sends local data inside the address %s", a.text[at:]), a.text[at:])
			}
		}
	}
	return nil
}

// revealsIn reports whether an address has a value behind its host, which is not that of the service it is for.
func (r *reading) revealsIn(address, name, value string) bool {
	host := hosts.Of(address)
	_, behind, _ := strings.Cut(address, host)
	return !urls.Local(address) && strings.Contains(behind, value) && (!r.secretName(name) || r.personal(name, host))
}

// namesLocal reports whether a name contains the output of a command, or a variable about the user, before a domain.
func (r *reading) namesLocal(a arg) bool {
	return slices.ContainsFunc(a.from, func(f string) bool {
		at := strings.Index(a.text, "$("+f)
		return at >= 0 && strings.Contains(a.text[at:], ").")
	}) || slices.ContainsFunc(a.names, func(n string) bool { return strings.Contains(a.text, "$"+n+".") && r.personal(n, "") })
}

// brought names what the input of a command holds: a file, or the commands that print it, with their words if those are not too many to be told.
func (v *invocation) brought() string {
	from := v.stdin.text.from
	told, most := "", 160
	for p := v; p.stdin.piped && len(from) == 1 && len(told) < most; p = p.outOf {
		if p.outOf == nil || p.outOf.host+p.outOf.box != "" || p == v && p.outOf.name != from[0] {
			return strings.Join(from, ", ")
		}
		told = strings.TrimSuffix(strings.TrimSpace(p.outOf.path+" "+join(p.outOf.args))+" | "+told, " | ")
	}
	if told == "" || len(told) > most {
		told = strings.Join(from, ", ")
	}
	return cmp.Or(v.stdin.file.text, told)
}

// hidden reports whether nobody gets to see a value of the settings in a file that a command reads: the command, or one that gets its output, prints no more
// than their names or how many there are, or what it prints is thrown away.
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

// settingName matches a pattern that can only match the name of a setting, or a value that it names whole: a literal name in capitals, a set of letters from
// the start of the line on, or both ends. An equals sign alone only tells how many settings there are.
var settingName = regexp.MustCompile(`^(?:\^|\(|\\\(|export |[A-Z][A-Z0-9_]{2,}=?|\\?\||\)|\\\))+$` +
	`|^\^(?:[A-Za-z]\w*|\[(?:A-Z|a-z|0-9|_)+\]|\[\^=#?\]|\\?\+|\*)+(?:=|\(\?==\))?$|^\^[A-Z]\w*=[\w./:-]*\$$|^\^?[=#]$`)

// masks reports whether a program of sed or awk prints nothing of a line from its first equals sign on.
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

// filtered reports whether what follows only passes on variables whose names do not stand for secrets, or nothing of them.
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

// plainVariable reports whether a pattern selects no variables that may hold secrets: it is the whole name of another one, or part of the names by which
// systems and toolchains are set up. The name of a service is part of its key's.
func (r *reading) plainVariable(pattern string) bool {
	pattern = strings.Trim(pattern, `^$()=\`)
	name := strings.ToLower(pattern)
	if len(name) < 3 || r.secretName(pattern) || holdsAny(name, "key", "pass", "tok", "sec", "auth", "cred", ".", "=", "*", "[", "database", "url") {
		return false
	}
	whole := strings.Contains(name, "_") && !strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_")
	return wordclass.Is("plain-variables", strings.Trim(name, "_")) || whole && !holdsAny(name, "aws", "api", "gh_", "github", "db", "stripe", "openai")
}

// secrets returns the effect of a query that shows a column whose name says that it holds secrets, or else e, which does not count.
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

// below returns the effect of reading everything below one of some folders.
func (r *reading) below(v *invocation, verb wording.Phrase, roots ...arg) []Effect {
	for _, root := range roots {
		if among := r.among(v, root); among != "" && v.direct() {
			return one(KindCredentials, wording.Sentence{{Phrase: verb}, wording.Say(among, root.text)}, root.text)
		}
	}
	return nil
}

// among says what sensitive content is read with everything below a folder, "" if none.
func (r *reading) among(v *invocation, root arg) wording.Phrase {
	p := r.world.clean(root.text, v.cwd)
	if !strings.HasPrefix(p, "/") || r.world.inside(p) || r.judge.places.Classes(p+"/x")&place.Temporary != 0 {
		return ""
	}
	switch is := r.judge.places.Below(place.Globbed(p)); {
	case is&(place.Secret|place.Own) == 0:
		return ""
	case is&place.Own != 0:
		return "that lies below %s, keys and logins and the gate's own data among it"
	}
	return "that lies below %s, keys and logins among it"
}

// urls are the words that tell addresses apart.
func (t *tables) urls() urls.Words { return t.Nouns }

// ownServer reports whether a client works on a database of a container that the session made, see [vaglio.Facts.Opens].
func (c *command) ownServer() bool {
	if !c.r.facts.Has(vaglio.Opened) && !c.r.did.Has(vaglio.Opened) || c.production() {
		return false
	}
	if !c.direct() { // in the container itself
		return c.serverInBox() && !c.steered() && slices.Concat(c.r.facts, c.r.did).Opens(servers.InBox+c.box)
	}
	client, ok := c.asClient()
	port, here := client.Port()
	return ok && here && slices.Concat(c.r.facts, c.r.did).Opens(port)
}

// ownBoxes reports whether all containers that a command names are ones that the session made for a database, with no data from before.
func (c *command) ownBoxes(named []arg) bool {
	opened := slices.Concat(c.r.facts, c.r.did)
	other := func(a arg) bool { return !a.known || !opened.Opens(servers.InBox+a.text) }
	return len(named) > 0 && c.direct() && c.remoteEngine() == "" && !c.steered() && !slices.ContainsFunc(named, other)
}

// asClient returns what the words of a database's client say of where that is; ok is false if they are not all known.
func (c *command) asClient() (client servers.Client, ok bool) {
	names, port := c.values("-d", "--dbname", "--maintenance-db", "--uri", "--url"), "-p"
	for _, of := range []string{"postgres", "mysql", "redis", "mongo"} {
		if c.r.judge.tables.ofClass("client-of-"+of, c.name) {
			client.Family = of
		}
	}
	switch client.Family {
	case "mysql":
		port = "-P"
		client.TCP = slices.Contains(texts(c.values("--protocol")), "tcp")
	case "redis":
		names = append(names, c.values("-u")...)
	case "mongo":
		port = "--port"
	}
	if client.Family != "redis" { // whose operands are its statement
		names = append(names, slices.DeleteFunc(slices.Clone(c.operands), func(a arg) bool { return strings.HasSuffix(a.text, ".js") })...)
	}
	at, hosts := append(c.values("--port"), c.values(port)...), c.values("-h", "--host")
	client.Hosts, client.Ports, client.Names, client.Env = texts(hosts), texts(at), texts(names), c.environment()
	unknown := func(a arg) bool { return !a.known }
	sockets := c.has("-S", "--socket", "-s", "--unix", "--defaults-file", "--defaults-extra-file", "--login-path", "--service")
	return client, client.Family != "" && !sockets && !slices.ContainsFunc(slices.Concat(names, at, hosts), unknown)
}

// environment returns the variables that a command gets, as far as a call of the session sets them; one that is not known has no value.
func (c *command) environment() map[string]string {
	all := map[string]string{}
	for _, name := range c.r.facts.Exported() {
		if all[name] = ""; name == shell.AnyVariable {
			all["PGSERVICE"], all["MYSQL_HOME"] = "", ""
		}
	}
	for _, e := range c.Exported {
		all[e.Name], _ = e.Value.Text()
	}
	for _, a := range c.assigns {
		if all[a.name] = ""; a.value.known {
			all[a.name] = a.value.text
		}
	}
	return all
}

// opensPort records that something besides a container may answer at a port of this machine, where the command runs: what forwards ports, or goes on.
func (r *reading) opensPort(v *invocation) {
	t, words := r.judge.tables, append([]string{v.name}, texts(v.args)...)
	forward := func(word string) bool {
		return !strings.Contains(word, " ") && slices.ContainsFunc(readings.Words(word), func(w string) bool { return t.ofClass("forwards", w) })
	}
	forwards := forward(v.name) || t.ofClass("may-forward", v.name) && slices.ContainsFunc(words, forward)
	started := (r.stays || v.Background) && !t.ofClass("container-engine", v.name)
	var ports []string // any, where settings may name them
	if started && !forwards || forwards && t.ofClass("cluster-client", v.name) {
		ports = vaglio.Numbers(words...)
	}
	if forwards || len(ports) > 0 {
		r.did = append(r.did, vaglio.Fact{Deed: vaglio.Taken, Words: ports})
	}
}

// namesReading reports whether a word names something that reads.
func (c *command) namesReading(a arg) bool {
	words := readings.Words(lastPart(a.text))
	return len(words) > 0 && c.r.verbOf(words[0]).effect.Kind == KindRead
}

// leadsOut reports whether statements may reach another database server, or hide what they do. From then on nothing shows where the tables of theirs are.
func (r *reading) leadsOut(list []sql.Statement) bool {
	for i := range list {
		text := " " + strings.ToLower(strings.Join(list[i].Words, " ")) + " "
		text = strings.NewReplacer("execute function", "", "execute procedure", "").Replace(strings.Join(strings.Fields(text), " ") + " ")
		if len(r.judge.tables.inText("sql-leads-out", text)) > 0 {
			r.database.fixed = false
			r.did = append(r.did, vaglio.Fact{Deed: vaglio.Taken})
			return true
		}
	}
	return false
}

// content returns the content of a file of this machine that was read with the call; "-" is the input.
func (c *command) content(name string) (string, bool) {
	if name == "-" {
		text, all := c.input()
		return text.text, all
	}
	if !c.direct() || c.r.means.Files == nil {
		return "", false
	}
	return c.r.means.Files.Content(c.r.world.clean(name, c.cwd))
}
