package effects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// commandLine reads executors that are named after a program of the tables and its subcommand: git_push, kubectl_scale, docker_ps.
func (t *tool) commandLine() bool {
	words := t.words
	if t.server == "git" && len(words) > 0 && words[0] != "git" {
		words = append([]string{"git"}, words...)
	}
	if len(words) < 2 || !wordclass.Is("tool-program", words[0]) {
		return false
	}
	argv := append([]string{words[0]}, t.subcommand(words)...)
	before := len(t.r.effects)
	t.r.script(readings.ReadArgv(argv, t.r.shellOptions()))
	known := !slices.ContainsFunc(t.r.effects[before:], func(e Effect) bool { return e.Kind == KindUnknown })
	if !known {
		t.r.effects = t.r.effects[:before]
	}
	return known
}

// subcommand builds the words of a command line from a tool's arguments.
func (t *tool) subcommand(words []string) []string {
	out, options := slices.Clone(words[1:]), t.scopeOptions(words[0])
	switch words[0] {
	case "aws":
		if service, ok := t.text("service", "service_name"); ok {
			op, _ := t.text("operation", "action", "operation_name", "command", "api")
			out = []string{strings.ToLower(service), strings.ReplaceAll(strings.Join(readings.Words(op), "-"), "_", "-")}
		}
	case "git":
		out = gitSubcommand(words[1:])
		if mode, ok := t.text("mode"); ok {
			options = append(options, "--"+strings.TrimLeft(mode, "-"))
		}
		if out[0] == "checkout" && t.is("create", "create_branch", "new_branch") {
			options = append(options, "-b")
		}
	}
	if t.is("force", "force_push", "forcePush") {
		out = append(out, "--force")
	}
	out = slices.Concat(out, options, lists.All(wordclass.Of("key-of-operand"), func(key string) []string { return t.list(key) }))
	file, ok := t.text("path", "file", "file_path", "filename")
	if ok && words[0] == "git" && !slices.Contains(t.r.world.roots, t.r.world.clean(file, t.r.world.cwd)) {
		out = append(out, "--", file) // not the repository
	}
	return out
}

// scopeOptions returns the options for what a tool for clusters says of the namespace, the form of the output and the number of replicas.
func (t *tool) scopeOptions(program string) (options []string) {
	if !slices.Contains([]string{"kubectl", "helm", "oc"}, program) {
		return nil
	}
	if n, ok := t.text("namespace"); ok {
		options = append(options, "--namespace="+n)
	}
	if program != "kubectl" {
		return options
	}
	if f, ok := t.text("output", "format"); ok {
		options = append(options, "-o", f)
	}
	if n, ok := t.args["replicas"]; ok {
		options = append(options, fmt.Sprint("--replicas=", n))
	}
	return options
}

// gitSubcommand returns git's own name for what the words of a tool's name say.
func gitSubcommand(words []string) []string {
	name := strings.Join(words, "-")
	if known := wordclass.Kind("git-tool", name); known != "" {
		return strings.Split(known, "+")
	}
	if len(words) > 1 && (slices.Contains([]string{"changes", "files", "file", "all"}, words[1]) || words[1] == "commit" && words[0] != "commit") {
		return words[:1:1]
	}
	return []string{name}
}

// doesMore reports whether the arguments hold a verb that is not known for what a tool does to files, or say that something is deleted.
func (t *tool) doesMore() bool {
	return t.noun("file-noun") && slices.ContainsFunc(t.rd.Marks, isVerb) || slices.ContainsFunc(readings.SortedKeys(t.args), t.removes)
}

// removes reports whether a key says that what stands under it is deleted.
func (t *tool) removes(key string) bool {
	v := t.r.judge.tables.verbs[readings.Normal(key)]
	return v.effect.Kind == KindDelete && !v.weak && t.args[key] != nil && t.args[key] != false
}

// isVerb reports whether a text may be a verb: it is neither a command line nor a sentence.
func isVerb(mark readings.Text) bool {
	const longest = 60
	return len(mark.Text) <= longest && !strings.ContainsAny(mark.Text, " \t\n;|&$")
}

// graph reads executors that send a GraphQL document. Without a mutation it only asks.
func (t *tool) graph() bool {
	doc, ok := t.text("query", "document", "operation", "graphql")
	if !ok || !t.has("graphql", "gql") {
		return false
	}
	asks := func(begin string) bool { return strings.HasPrefix(strings.TrimSpace(doc), begin) }
	out := reads()
	if strings.Contains(doc, "mutation") || !slices.ContainsFunc([]string{"query", "{", "fragment"}, asks) {
		out = one(KindInfrastructure, say("sends a request that changes something by GraphQL"), "")
	}
	t.r.add(out...)
	return true
}

// request reads executors that send HTTP requests.
func (t *tool) request() bool {
	methods := t.methods()
	if len(t.rd.URLs) == 0 || len(methods) == 0 || t.has("browser") || t.usesReply() {
		return false
	}
	body, saved := "", t.under(readings.RoleSaved)
	if texts := t.under(readings.RoleBody); len(texts) > 0 {
		body = texts[0]
	} else if t.uploads() {
		body, saved = "@"+t.rd.Paths[0].Text, nil
	}
	for _, u := range t.rd.URLs {
		for _, method := range methods {
			t.r.add(t.r.request(method, u.Text, body)...)
		}
	}
	for _, s := range saved {
		sent := len(t.r.effects)
		t.r.add(t.r.write(t.r.plain("tool"), literal(s), "downloads to")...)
		sayEnds(t.requested(), t.r.effects[sent:])
	}
	return true
}

// fetches reports whether a tool's name says that it sends requests.
func (t *tool) fetches() bool {
	return t.has("http", "https", "request", "fetch", "curl", "rest", "api", "webhook", "requests", "url", "scrape", "crawl", "download", "wget", "extract")
}

// usesReply reports whether a tool's name says that it does something with an address, or with what it fetches from there: "share url", "fetch and execute".
func (t *tool) usesReply() bool {
	does := slices.IndexFunc(t.words, func(w string) bool {
		return slices.Contains([]string{"shorten", "create", "share", "send", "post", "publish", "subscribe"}, w)
	})
	if does >= 0 && !t.has("http", "request", "requests", "rest", "webhook") {
		api := slices.Index(t.words, "api") // before the verb it only says whose call that is: twilio_api_create_call
		if api < 0 || t.words[does] != "post" && api < does && does < len(t.words)-1 {
			return true
		}
	}
	v, at := t.verbOf(t.words)
	deletes := v.effect.Kind == KindDelete && !t.has("http", "request", "requests", "rest", "api", "fetch") // purge_url
	return v.effect.Kind != KindRead && (at < 0 || joined(t.words, at)) || deletes
}

// methods returns the methods of the requests that a tool sends, none if it is not known to send any.
func (t *tool) methods() []string {
	named := t.under(readings.RoleMethod)
	if len(named) == 0 && (t.fetches() || t.uploads()) {
		return []string{t.methodByName()}
	}
	return named
}

// methodByName returns the method of a tool whose arguments name none.
func (t *tool) methodByName() (method string) {
	if method = "GET"; t.given(readings.RoleBody) {
		method = "POST"
	}
	for _, of := range [...][2]string{{"upload", "POST"}, {"post", "POST"}, {"put", "PUT"}, {"patch", "PATCH"}, {"delete", "DELETE"}, {"webhook", "POST"}} {
		if t.has(of[0]) {
			method = of[1]
		}
	}
	return method
}

// converts reports whether a tool makes something else of an identified record: a lead, an issue. What converts a text, a picture or a unit only reads it.
func (t *tool) converts() bool {
	return t.has("convert") && slices.ContainsFunc(readings.SortedKeys(t.args), func(key string) bool {
		stem, id := strings.CutSuffix(readings.Normal(key), "id")
		thing := spoken.ThingAt(stem)
		return id && thing != nil && t.has(thing.Words...) && (thing.Final || thing.Titled || spoken.Is("people names", thing.Words[0]))
	})
}

// switched returns what an argument makes a tool do besides what its name says: a draft that is sent, a note that is published. It is empty if none does.
// What a tool that reads is told besides may just choose what it reads.
func (t *tool) switched(reads bool) Effect {
	for _, words := range readings.Switches(t.args) {
		v, _, ok := t.r.judge.tables.verbAt(words, 0)
		grave := slices.Contains([]Kind{KindDelete, KindPublish, KindSpend}, v.effect.Kind) || words[0] == "send"
		if ok && !v.light && (!reads && grave && !v.weak || reads && spoken.Afterwards(words) != nil) {
			return v.effect
		}
	}
	return Effect{}
}

// opens reports whether an argument says that everyone will see what a tool makes.
func (t *tool) opens(key string) bool {
	act := spoken.Turned(readings.Normal(key), fmt.Sprint(t.args[key]))
	return act != nil && act.Final
}

// hinted weighs what an executor's maker says about it, if nothing but its name is known. Nobody vouches for a hint: a read-only hint counts only if neither
// the name nor the arguments say otherwise, a destructive hint always.
func (t *tool) hinted(out []Effect) []Effect {
	a := t.known.Annotations
	if a == nil {
		return out
	}
	if len(out) == 1 && out[0].Kind == KindUnknown {
		if v := t.r.judge.tables.verbIn(readings.Words(a.Title), false); v.effect.Kind != "" && v.effect.Kind != KindRead && !v.light && !v.weak {
			return t.verbEffect(v.verb)
		}
		if isTrue(a.ReadOnlyHint) && !isTrue(a.DestructiveHint) {
			return []Effect{t.readOnly()}
		}
	}
	if isTrue(a.DestructiveHint) && !slices.ContainsFunc(out, func(e Effect) bool { return e.score(nil) < Threshold }) {
		e := usual(KindUnknown).with(t.about(say("calls the tool %s", t.name)).And(", which its maker calls destructive"), t.target())
		e.Sure = 0.5
		return append(out, e)
	}
	return out
}

// readOnly returns the effect of a tool about which only its maker's word is known.
func (t *tool) readOnly() Effect {
	if s, ok := t.secret(); ok {
		return usual(KindCredentials).with(t.about(say("reads secrets by the tool %s", t.name)), s)
	}
	e := usual(KindRead).with(t.about(say("calls the tool %s", t.name)).And(", which its maker says only reads"), "")
	e.Sure = 0.5
	return e
}

// marksAs reports whether a name says that something is marked as read or unread: nobody reads it.
func (t *tables) marksAs(words []string) bool {
	read := func(w string) bool { return t.ofClass("state-read", w) }
	return len(words) > 1 && t.ofClass("state-verb", words[0]) && (slices.ContainsFunc(words[1:min(3, len(words))], read) || read(words[len(words)-1]))
}

// recurs reports whether a tool changes what runs again and again.
func (t *tool) recurs() bool {
	return t.has("scheduled", "cron", "recurring", "cronjob") || t.args["cron"] != nil || t.args["rrule"] != nil
}

// leads reports whether a word for reading does something to what the rest of the name says, since it begins the name: "snapshot volume", "format disk",
// "file complaint". It still reads what its class lists, or if another word for reading follows that is not usually what something is done to: "format date",
// "log search", but not "select plan".
func (t *tables) leads(best placed, words []string) bool {
	class := "of-" + words[max(best.at, 0)]
	if best.at != 0 || best.end == len(words) || len(t.Nouns[class]) == 0 {
		return false
	}
	return !slices.ContainsFunc(words[best.end:], func(w string) bool {
		v := t.verbs[w]
		return t.Nouns[class][w] || v.effect.Kind == KindRead && !v.weak && !t.ofClass("read-object", w)
	})
}

// befalls reports whether a verb at the end of a name is done to what a light verb at its beginning, which
// is a noun then, names: "volume delete", "draft send", "note share".
func (v placed) befalls(best placed, words []string) bool {
	grave := []Kind{KindDelete, KindSend, KindPeople, KindPublish, KindSpend, KindPermissions}
	return best.light && best.at == 0 && v.end == len(words) && !v.light && slices.Contains(grave, v.effect.Kind) && (!v.weak || v.effect.Kind == KindSend)
}

// beyondReading reports whether a verb says more than the word for reading before it.
func (t *tables) beyondReading(v, best placed, words []string, says bool) bool {
	return best.weak || joined(words, v.at) && (!v.weak || v.at == best.end+1) || t.doneTo(v, best, words, says) || t.offers(v, best, words)
}

// offers reports whether a word for reading that begins a name puts one thing on sale or to let: "list item for sale", but not "list homes for sale".
func (t *tables) offers(v, best placed, words []string) bool {
	return best.at == 0 && v.at > best.end && t.ofClass("offering", words[0]) && words[v.at] == "for" && !strings.HasSuffix(words[v.at-1], "s")
}

// verbOf returns the verb, and its index; none if what the name reads may be what an unknown verb before it is done to.
func (t *tool) verbOf(words []string) (verb, int) {
	v := t.r.judge.tables.verbIn(words, t.says())
	others := v.light && t.othersThing(v, words)
	if t.isObject(v, words) || others && !named(words) {
		return verb{}, -1
	}
	v.light = v.light && !others
	return v.verb, v.at
}

// named reports whether it is known how to say what the words of a name do to what: "pause project".
func named(words []string) bool {
	act, at, n := spoken.ActIn(words)
	if act == nil {
		return false
	}
	thing, _, _ := spoken.ThingOf(words[at+n:])
	return thing != nil
}

// othersThing reports whether what a light verb of a name is done to may not be the agent's own: it
// says "skip delivery", not "skip track". What is thought about, noted or drafted is always its own.
func (t *tool) othersThing(v placed, words []string) bool {
	if v.phrase || v.weak || t.r.judge.tables.ofClass("inward", words[v.at]) {
		return false
	}
	if object := withoutWhere(words[v.end:]); len(object) > 0 {
		return !t.ownThing(object[len(object)-1])
	}
	return v.at > 0 && v.end == len(words) && !t.ownThing(words[v.at-1]) && !wordclass.Is("name", words[v.at-1])
}

// ownThing reports whether a word stands for what is the agent's own, or for what is done to it.
func (t *tool) ownThing(word string) bool {
	of := func(class string) bool { return t.r.judge.tables.ofClass(class, word) }
	verb, known := t.r.judge.tables.verbs[word]
	return of("own-object") || of("light") || of("workspace") || known && (verb.light || verb.effect.Kind == KindRead || t.mild(verb.effect))
}

// withoutWhere returns the words that say what something is done to, without where or for whom.
func withoutWhere(words []string) []string {
	where := func(w string) bool { return wordclass.Is("where", w) }
	words = words[max(slices.IndexFunc(words, func(w string) bool { return !where(w) }), 0):]
	if at := slices.IndexFunc(words, where); at >= 0 {
		return words[:at]
	}
	return words
}

// isObject reports whether a word for reading that begins or ends a name may be what something unknown is done to: "torch history", "logs torch". It reads if
// what the rest begins or ends with is known to be no verb, or if a call that asks says what is asked: "tavily search".
func (t *tool) isObject(v placed, words []string) bool {
	if v.effect.Kind != KindRead || v.at == 0 == (v.end == len(words)) {
		return false
	}
	of := func(class string) bool { return t.r.judge.tables.ofClass(class, words[v.at]) }
	switch {
	case v.at == 0:
		return of("read-thing") && of("read-noun") && !of("read-verb") && !t.isName(words[len(words)-1])
	case v.end < len(words), of("read-asked") && t.asks(), !v.weak && !of("read-asked") && !of("read-object") && !of("read-noun"):
		return false
	}
	return t.begun(words[:v.at])
}

// begun reports whether words begin with what may be a verb that is not listed.
func (t *tool) begun(words []string) bool {
	before := slices.IndexFunc(words, func(w string) bool { return wordclass.Kind("name", w) != "neutral" })
	return before >= 0 && !t.isName(words[before])
}

// asks reports whether an argument holds what is asked or looked for.
func (t *tool) asks() bool {
	return len(t.list(wordclass.Of("key-of-question")...)) > 0
}

// isName reports whether a word is known to be no verb that is not listed: a thing, the tool's server,
// a service, a verb that is listed, or what ends or is written as only nouns are.
func (t *tool) isName(word string) bool {
	if _, verb := t.r.judge.tables.verbs[word]; verb || slices.Contains(readings.Words(t.server), word) {
		return true
	}
	return !strings.ContainsAny(word, "aeiouy") || strings.ContainsAny(word, "0123456789") || slices.ContainsFunc(spoken.Singular(word), t.isNoun)
}

// isNoun reports whether a word is listed as a noun, or ends as only nouns and adjectives do.
func (t *tool) isNoun(word string) bool {
	if thing, _, _ := spoken.ThingOf([]string{word}); thing != nil {
		return true
	}
	in := func(class string) bool { return t.r.judge.tables.ofClass(class, word) || wordclass.Is(class, word) }
	ends := func(end string) bool { return len(word) > len(end)+2 && strings.HasSuffix(word, end) }
	return slices.ContainsFunc(wordclass.Of("noun-class"), in) || slices.ContainsFunc(wordclass.Of("noun-ending"), ends)
}
