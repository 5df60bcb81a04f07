package effects

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/sql"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	"github.com/metnos/vaglio/vaglio/place"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// allLocal reports whether a command names addresses, and all of them are on this machine.
func (c *command) allLocal() bool {
	var found []string
	for _, a := range c.all {
		if i := strings.Index(a.text, "://"); i >= 0 {
			found = append(found, a.text[strings.LastIndexAny(a.text[:i], "= '\"")+1:])
		}
	}
	if len(found) == 0 {
		for _, a := range c.operands {
			if text, ok := c.content(a.text); ok && urls.AllLocal(text) && !strings.Contains(strings.ToLower(text), "env") {
				return true // a script names them
			}
			if strings.ContainsAny(a.text, ".:") || a.text == "localhost" {
				found = append(found, a.text)
			}
		}
	}
	return len(found) > 0 && !slices.ContainsFunc(found, func(s string) bool { return !urls.Local(s) })
}

// servesHere reports whether the session itself started what answers at an address.
func (r *reading) servesHere(address string) bool {
	_, host, full := strings.Cut(address, "://")
	if !full {
		host = address
	}
	host, _, _ = strings.Cut(host, "/")
	return slices.Concat(r.facts, r.did).Serves(host[strings.LastIndexByte(host, ':')+1:])
}

func (r *reading) request(method, address, body string) []Effect {
	method = strings.ToUpper(method)
	if what := r.judge.tables.urls().Credentials(address); what != nil {
		return one(KindCredentials, what, address)
	}
	if slices.Contains([]string{"", "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"}, method) && !strings.HasPrefix(body, "@") { // with a file, it sends that
		return r.fetch(method, address)
	}
	if urls.IsQuery(address, body) {
		return reads()
	}
	switch local := urls.Local(address); {
	case local && r.judge.tables.inText("local-store", address) != nil && !r.servesHere(address) &&
		(method == "DELETE" || r.judge.tables.inText("destructive-path", address) != nil):
		return []Effect{usual(KindDatabase).with(say("deletes or changes data in a local store: %s %s", method, address), address).as(Irreversible, ReachUser)}
	case local:
		return own(say("sends a request to this machine: %s %s", method, address))
	}
	kind := KindSend
	if method == "DELETE" {
		kind = KindDelete
	}
	e := usual(kind).as(Irreversible, ReachShared)
	e.Target, e.Why = address, requested(method, address, body)
	return []Effect{e}
}

// requested says what a request that changes something sends: a file, or itself.
func requested(method, address, body string) wording.Sentence {
	if file, ok := strings.CutPrefix(body, "@"); ok && file != "-" && method != "DELETE" {
		return say("sends %s to %s", file, address)
	}
	return say("sends a %s request to %s", method, address)
}

// fetch returns the effect of a request whose method only reads.
func (r *reading) fetch(method, address string) []Effect {
	w := r.actingPath(address)
	what, carries := r.judge.tables.urls().Carries(address)
	switch {
	case urls.Local(address):
	case w != "" && method != "HEAD":
		e := usual(KindSend).as(Irreversible, ReachShared).with(say("sends a request whose address says “%s”: %s", w, address), address)
		e.Sure = 0.6
		return []Effect{e}
	case carries:
		return one(KindSend, sayOf("sends data inside the address (%s): %s", what, object(address)), address)
	}
	return one(KindRead, say("fetches %s", address), "")
}

// actingPath returns the verb in an address that acts even when it is merely fetched, such as a bot's sendMessage.
func (r *reading) actingPath(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	last := lastPart(strings.TrimRight(u.Path, "/"))
	if last == "" || strings.Contains(last, ".") {
		return ""
	}
	if w := readings.Words(last); len(w) > 0 && r.judge.tables.ofClass("acting-path", w[0]) {
		return w[0]
	}
	return ""
}

// requests returns the rule for a program that sends requests to the addresses among its words, by a method unless the words of the line name another one.
// Options may send more, or in other ways; saved says that the answer becomes a file of the folder where the program works.
func requests(usually string, saved bool) rule {
	return func(c *command) []Effect {
		method, body := usually, c.sent()
		if n := len(c.about); n > 0 {
			method = c.about[n-1].text
		}
		urls := append(slices.Clone(c.operands), c.values("--url")...)
		var out, kept []Effect
		for _, u := range urls {
			one := c.requestURL(u, method, body)
			if out = append(out, one...); saved && len(one) == 1 && one[0].Kind == KindRead {
				kept = append(kept, usual(KindOverwrite).with(say("downloads %s to the current folder", u.text), ""))
			}
		}
		c.tellsInput(body, out)
		out = append(out, c.carriedOut(urls)...)
		for _, s := range c.values("--unix-socket", "--abstract-unix-socket") {
			if engineSocket(s.text) {
				why := say("talks to the engine of containers by %s, which gives the rights of the administrator", s.text)
				out = append(out, usual(KindPrivilege).with(why, s.text))
			}
		}
		switch {
		case len(urls) > 0:
			c.keeps(urls)
		case c.has("-K", "--config"):
			return unknown(say("makes requests that a file describes"), "")
		default:
			c.keeps(nil)
			out = append(out, c.r.request(method, "an address that is not known", body)...)
		}
		transfers := c.transfers()
		if len(urls) == 1 {
			sayEnds(texts(urls), transfers)
		}
		return slices.Concat(out, transfers, kept)
	}
}

// tellsInput has the requests that send the command's input say what that is.
func (c *command) tellsInput(body string, requests []Effect) {
	if body != "@-" && body != "@." {
		return
	}
	said := wording.Phrase("sends data from %s to %s")
	if c.stdin.kind == shell.InputFile {
		said = "sends %s to %s"
	}
	for i := range requests {
		if e := &requests[i]; e.Kind == KindSend && c.brought() != "" {
			e.Why = say(said, c.brought(), e.Target)
		}
	}
}

// keeps records what is fetched into files named as the addresses end: with curl if an option says so, with wget unless one says otherwise.
func (c *command) keeps(urls []arg) {
	if c.has("-O", "--remote-name", "--remote-name-all", "--output-document", "--spider") != (c.called == "curl") {
		return
	}
	listed := func(u arg) bool { return !u.known && strings.HasPrefix(u.text, "$") }
	folder, _ := c.value("-P", "--directory-prefix", "--output-dir")
	if c.has("-i", "--input-file") && c.called != "curl" || slices.ContainsFunc(urls, listed) {
		c.fetches(path.Join(folder.text, unnamed), path.Join(folder.text, listedFiles))
	}
	for _, u := range urls {
		c.fetches(path.Join(folder.text, lastPart(strings.SplitN(u.text, "?", 2)[0])))
	}
}

// fetches records files that the command fetches, for the rest of the call and for later ones.
func (c *command) fetches(files ...string) {
	for _, at := range files {
		c.r.fetched[lastPart(at)] = true
		c.r.tell(c.invocation, vaglio.Fetched, literal(at))
	}
}

// downloads records the files that a client of a forge fetches: under the names that options give, or any.
func (c *command) downloads() {
	name, told := c.value("-O", "--output", "-n", "--name", "-p", "--pattern", "--asset-name")
	if folder, _ := c.value("-D", "--dir"); !told || strings.ContainsAny(name.text, "*?[") || folder.text != "" {
		c.fetches(path.Join(folder.text, unnamed))
	}
	c.fetches(name.text)
}

// requestURL judges a request by its address's scheme and by what it carries.
func (c *command) requestURL(u arg, method, body string) []Effect {
	switch {
	case strings.HasPrefix(u.text, "file://"):
		return c.r.secretsIn([]arg{u}, c.cwd, "shows the secrets in %s")
	case startsAny(u.text, "smtp", "imap"):
		return one(KindPeople, say("sends mail through %s", u.text), u.text)
	case u.either:
		return reads() // its default counts
	}
	return c.r.request(method, u.text, body)
}

// carriedOut returns the effects of local data in the headers and query of a request that only seems to read, and of secrets in those not meant for any.
func (c *command) carriedOut(to []arg) []Effect {
	if !slices.ContainsFunc(to, func(u arg) bool { return !urls.Local(u.text) }) {
		return nil
	}
	out := c.r.secretsTold(c.values("-A", "--user-agent", "-e", "--referer", map[string]string{"wget": "-U"}[c.called]))
	for _, h := range c.values("-H", "--header", "-b", "--cookie", "-A", "--user-agent", "-e", "--referer", "-u", "--user", "-d", "--data",
		"--data-urlencode", "--data-raw", "--data-binary") {
		for _, f := range h.from {
			if c.r.judge.tables.ofClass("tells-much", f) {
				out = append(out, usual(KindSend).with(say("sends the output of %s along with a request", f), f))
			}
		}
	}
	return out
}

// sent returns what curl or wget sends: files, or else the data itself.
func (c *command) sent() string {
	if c.has("-T", "--upload-file") && c.called == "curl" {
		return "@" + join(c.values("-T", "--upload-file"))
	}
	var files []string
	add := func(file string, ok bool) {
		if ok && file != "" {
			files = append(files, file)
		}
	}
	for _, v := range c.values("-d", "--data", "--data-ascii", "--data-binary", "--json", "-H", "--header", "--proxy-header") {
		add(strings.CutPrefix(v.text, "@"))
	}
	for _, v := range c.values("--data-urlencode", "--url-query") { // name@file, but not name=text
		add(strings.CutPrefix(strings.TrimLeftFunc(v.text, func(r rune) bool { return r != '@' && r != '=' }), "@"))
	}
	for _, v := range c.values("-F", "--form") {
		_, file, ok := strings.Cut(strings.ReplaceAll(v.text, "=<", "=@"), "=@")
		file, _, _ = strings.Cut(file, ";")
		add(file, ok)
	}
	for _, v := range c.values("--post-file", "--body-file") {
		add(v.text, true)
	}
	if len(files) > 0 {
		return "@" + strings.Join(files, ", ")
	}
	data := c.values("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "-F", "--form", "--form-string")
	return strings.TrimLeft(strings.Join(texts(data), ""), "@")
}

// httpieRule judges httpie, whose method may come first.
func httpieRule(c *command) []Effect {
	ops := c.operands
	method := ""
	if len(ops) > 1 && strings.Trim(ops[0].text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		method, ops = ops[0].text, ops[1:]
	}
	if len(ops) == 0 {
		return reads()
	}
	out := c.r.request(cmp.Or(method, c.httpieMethod(ops[1:])), ops[0].text, c.attached(ops[1:]))
	return append(out, c.writeAll("writes", c.values("-o", "--output"))...)
}

// attached returns the files that the items of httpie send ("@notes.txt", "f@a.pdf", "f=@a.txt"), or its input.
func (c *command) attached(items []arg) string {
	files := c.stdin.file.text
	for _, item := range items {
		if before, file, ok := strings.Cut(item.text, "@"); ok && !strings.ContainsAny(strings.TrimRight(before, ":="), ":=") {
			files = strings.TrimPrefix(files+", "+file, ", ")
		}
	}
	return strings.TrimSuffix("@"+files, "@")
}

// httpieMethod returns the method if none is named: with data, httpie posts.
func (c *command) httpieMethod(items []arg) string {
	if c.stdin.piped || c.attached(items) != "" || c.has("--raw") || slices.ContainsFunc(items, func(o arg) bool {
		return strings.Contains(o.text, "=") && !strings.Contains(o.text, "==")
	}) {
		return "POST"
	}
	return "GET"
}

// putForeign notes that foreign code lies where the facts since say, or anywhere if there are none.
func (r *reading) putForeign(since int) {
	if since == len(r.did) {
		r.foreign = append(r.foreign, "/")
	}
	for _, f := range r.did[since:] {
		if f.Path != "" && !slices.Contains(r.foreign, f.Path) {
			r.foreign = append(r.foreign, f.Path)
		}
	}
}

// isForeign reports whether a file or a folder may lie where foreign code was put.
func (r *reading) isForeign(v *invocation, a arg) bool {
	at := r.world.clean(a.text, v.cwd)
	return len(r.foreign) > 0 && (!a.known || !path.IsAbs(at) || place.Inside(r.foreign, at)) || v.direct() && a.known && r.isFar(at)
}

// isFar reports whether an earlier call of the session brought what is at a path from elsewhere, and no person has let anything run there since.
func (r *reading) isFar(at string) bool {
	folder := r.facts.Far(at)
	if folder != "" {
		r.met = append(r.met, vaglio.Fact{Deed: vaglio.Let, Path: folder})
	}
	return folder != ""
}

// worksOnForeign reports whether a command works in a folder where foreign code was put, or its words may name one; with all, also if one is below its folder.
func (r *reading) worksOnForeign(v *invocation, all bool) bool {
	if len(r.foreign) == 0 && !r.facts.Has(vaglio.Unpacked) {
		return false
	}
	below := func(f string) bool { return place.Inside([]string{r.world.clean(v.cwd, "")}, f) }
	words := slices.Concat(v.args, lists.All(v.assigns, func(a assignment) []arg { return literals(strings.Split(a.value.text, ":")) }))
	return all && slices.ContainsFunc(r.foreign, below) || r.isForeign(v, literal(v.cwd)) || slices.ContainsFunc(words, func(a arg) bool {
		value := a.text[strings.IndexByte(a.text, '=')+1:]
		if value == a.text && len(value) > 2 && value[0] == '-' {
			value = value[2:] // glued to a letter
		}
		return r.isForeign(v, a) || r.isForeign(v, literal(value))
	})
}

// given reports whether the command gets data from the network, as its input or in one of the files.
func (c *command) given(files []arg) bool {
	from := c.stdin.text
	return from.remote || slices.Contains(from.from, "curl") || slices.Contains(from.from, "wget") ||
		slices.ContainsFunc(files, func(f arg) bool { return c.r.fetched[lastPart(f.text)] })
}

// keptAt returns where the file of a database is, if the client keeps the database in a file.
func (c *command) keptAt(kept bool) where {
	if f := c.operand(0); !kept || f == "" || !c.operands[0].known && !strings.HasPrefix(f, made) || c.r.leadsTo(c.r.world.clean(f, c.cwd)) {
		return placeUnknown
	}
	return c.r.world.placeOf(c.operands[0], c.cwd)
}

// serverHere reports whether the words say that the database server is on this machine.
func (c *command) serverHere() bool {
	if client, _ := c.asClient(); client.Redirected() {
		return false
	}
	at := c.values("-h", "--host")
	if len(at) == 0 {
		at = c.operands[:min(len(c.operands), 1)]
	}
	return len(at) > 0 && !slices.ContainsFunc(at, func(a arg) bool { return !a.local() })
}

// inGraph says of what a single statement changes in a graph what the statement is: its patterns tell more than a name.
func inGraph(list []sql.Statement, text string, out []Effect) []Effect {
	if len(list) != 1 || !list[0].Graph() {
		return out
	}
	said := wording.Phrase("changes the graph: %s")
	if list[0].Has("DELETE") {
		said = "deletes from the graph: %s"
	}
	for i := range out {
		if out[i].Kind == KindDatabase {
			out[i].Why = say(said, clip(strings.Join(strings.Fields(text), " "), longestTold))
		}
	}
	return out
}

// longestTold limits how much of a statement, or of a command that runs code elsewhere, is told.
const longestTold = 160
