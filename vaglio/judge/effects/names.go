package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// byName judges an executor by the verbs and nouns of its name, and by the arguments that change what it does.
func (t *tool) byName() []Effect {
	v := t.verb()
	switch {
	case t.rd.DryRun:
		return reads()
	case t.answersUser():
		return own(say("answers the user"))
	case v.effect.Kind == "":
		return unknown(t.about(say("calls the tool %s, of which nothing is known", t.name)), t.target())
	case v.effect.Kind != KindRead:
	case t.has("aggregate") && t.mentions(`"$out"`, `"$merge"`):
		return one(KindDatabase, t.about(say("writes the result of an aggregation")), t.target())
	case t.words[len(t.words)-1] == "link" && slices.ContainsFunc(readings.SortedKeys(t.args), t.opens): // which then leads everyone to what it is of
		return t.guessed(usual(KindPublish))
	case t.converts():
		return t.guessed(usual(KindOverwrite))
	}
	out, also := t.verbEffect(v), t.switched(v.effect.Kind == KindRead)
	asked := func(e Effect) bool { return e.score(nil) < Threshold }
	if also.Kind != "" && !slices.ContainsFunc(out, asked) {
		return t.guessed(also)
	}
	return out
}

// answersUser reports whether a tool of the client itself only says something to its user.
func (t *tool) answersUser() bool {
	return t.server == "" && len(t.words) == 1 && (t.words[0] == "respond" || t.words[0] == "reply") && !t.recipients()
}

// verb returns what the tool does by its name, or by an argument if the name leaves it to that or only reads.
func (t *tool) verb() verb {
	v, at := t.verbOf(t.words)
	act, inner, ok := t.action()
	switch loose := v.effect.Kind == "" || v.weak || t.generic(at); {
	case ok && (loose || !inner && act.effect.Kind != KindRead && v.effect.Kind == KindRead):
		return act
	case !ok && v.weak && v.effect.Kind == KindRead && t.doesMore():
		return verb{} // what it is about, and a verb that is not known
	}
	return v
}

// generic reports whether the name's verb leaves the action to an argument.
func (t *tool) generic(at int) bool {
	return at < 0 || at >= len(t.words) || t.r.judge.tables.ofClass("generic-verb", t.words[at])
}

// action returns the verb that an argument such as method or action names, the first that does more
// than read, if any, and whether only an argument within others names it.
func (t *tool) action() (found verb, inner, ok bool) {
	for _, m := range t.rd.Marks {
		if !isVerb(m) {
			continue
		}
		v := t.marked(m.Text)
		if !ok || found.effect.Kind == "" || found.effect.Kind == KindRead && v.effect.Kind != "" {
			found, inner, ok = v, m.Inner(), true
		}
	}
	return found, inner, ok && found.effect.Kind != ""
}

// marked returns the verb that one argument names.
func (t *tool) marked(s string) verb {
	as := map[string]string{"GET": "get", "HEAD": "get", "OPTIONS": "get", "POST": "update", "PUT": "update", "PATCH": "update"}
	if of := as[strings.ToUpper(s)]; of != "" {
		return t.r.judge.tables.verbs[of]
	}
	v, _ := t.verbOf(readings.Words(s))
	return v
}

// verbIn returns the verb of a name. If says, what it names is given words for somebody to read.
func (t *tables) verbIn(words []string, says bool) placed {
	best := placed{at: -1}
	for i := 0; i < len(words); i++ {
		v, two, ok := t.verbAt(words, i)
		next := placed{v, i, i + 1}
		if two {
			i++
			next.end++
		}
		if ok && (best.at < 0 || t.outdoes(next, best, words, says)) {
			best = next
		}
	}
	if best.effect.Kind == KindRead && (t.joinsUnknown(words, best.end) || t.leads(best, words)) {
		return placed{at: -1}
	}
	return best
}

// placed is a verb of a name, from a word to before another. Without one it begins at -1.
type placed struct {
	verb
	at, end int
}

// joinsUnknown reports whether "and" joins the verb that ends there to an unknown one.
func (t *tables) joinsUnknown(words []string, end int) bool {
	if !joined(words, end+1) {
		return false
	}
	_, _, known := t.verbAt(words, end+1)
	return !known
}

// joined reports whether a word is joined to what stands before it.
func joined(words []string, i int) bool {
	return i > 1 && i < len(words) && slices.Contains([]string{"and", "or", "then"}, words[i-1])
}

// verbAt returns the verb that begins at a word, and whether it consists of two.
func (t *tables) verbAt(words []string, i int) (v verb, two, ok bool) {
	if i+1 < len(words) {
		if v, ok = t.verbs[words[i]+"-"+words[i+1]]; ok {
			return v, true, true
		}
	}
	v, ok = t.verbs[words[i]]
	return v, false, ok && (i+1 == len(words) || words[i+1] != "only") // "read only mode" reads nothing
}

// outdoes reports whether a verb counts more than the best one before it. One that is usually a noun only counts if there is no other, or right behind the
// verb that "and" joins it to. A reading verb at either end wins, unless an effect is joined to it, done to the thing that it names ("logs delete"), or given
// words to say ("post status").
func (t *tables) outdoes(v, best placed, words []string, says bool) bool {
	if best.at == 0 && v.effect.Kind == KindRead && t.marksAs(words) {
		return false // into which state it is put
	}
	if best.weak && !v.weak {
		return best.effect.Kind == KindRead || !v.isNoun(best, words)
	}
	if v.effect.Kind == KindRead {
		return t.readsOf(v, best, words, says)
	}
	return v.befalls(best, words) || best.effect.Kind == KindRead && t.beyondReading(v, best, words, says)
}

// isNoun reports whether a word for reading, right behind a verb that begins the name, is a noun
// itself, as the one thing that ends the name is one of its: "archive list member".
func (v placed) isNoun(best placed, words []string) bool {
	noun, _, _ := spoken.ThingOf(words[v.at:v.end])
	thing, plural, before := spoken.ThingOf(words[v.end:])
	return v.effect.Kind == KindRead && best.at == 0 && v.at == best.end && noun != nil && thing != nil && !plural && len(before) == 0
}

// readsOf reports whether a word for reading at the end of a name says what is read of something: "transfer history", but not "deploy version".
func (t *tables) readsOf(v, best placed, words []string, says bool) bool {
	return v.end == len(words) && !v.weak && !says && t.ofClass("ambiguous", words[best.at]) && !t.ofClass("read-object", words[v.at])
}

// doneTo reports whether a verb at the end of a name says what is done to a thing that a word for
// reading names, too: "logs delete", "search index drop", "order status update". That it runs says nothing. Behind other words, what
// is usually a verb itself has what is listed as a thing for its object: "shop search order".
func (t *tables) doneTo(v, best placed, words []string, says bool) bool {
	word, thing := words[v.at], words[max(best.at, 0)]
	if v.end < len(words) || v.weak || v.light || v.effect.Kind == KindInfrastructure && t.ofClass("generic-verb", word) {
		return false
	}
	if t.ofClass("deleted-thing", thing) {
		return v.effect.Kind == KindDelete
	}
	if object, _, _ := spoken.ThingOf([]string{word}); best.at > 0 && object != nil && !t.ofClass("read-behind", thing) {
		return false
	}
	return t.ofClass("read-thing", thing) && (says || !t.ofClass("ambiguous", word))
}

// says reports whether the tool is given words for somebody to read. A status of several words is no state.
func (t *tool) says() bool {
	return len(t.list("text", "body", "message", "content", "caption")) > 0 || strings.Contains(strings.Join(t.list("status"), ""), " ")
}

// verbEffect returns the effects of a verb on the nouns of the tool.
func (t *tool) verbEffect(v verb) []Effect {
	what := strings.Join(t.words, " ")
	noun, secret := t.secret()
	if v.effect.Kind == KindRead || t.hands(v) {
		if secret {
			return one(KindCredentials, t.about(say("reads secrets by the tool %s", t.name)), noun)
		}
		return one(KindRead, t.about(say("reads by the tool %s", t.name)), "")
	}
	if v.effect.Kind == KindOverwrite && t.r.judge.tables.marksAs(t.words) {
		e := t.guessed(usual(KindOverwrite))
		e[0].counts = ReachWorkspace // nobody else looks at it
		return e
	}
	if v.effect.Kind != KindDelete && t.recurs() {
		return one(KindSchedule, t.about(say("changes what runs by itself: %s", what)), t.target())
	}
	s := stakes{t.noun("person"), slices.ContainsFunc([]string{"money", "health", "access"}, t.noun) || t.has("alarm") && t.has("state", "mode"), secret}
	if t.draft(v) { // it stays where its writer keeps drafts
		e := usual(KindCreate).with(t.about(say("keeps a draft: %s", what)), "")
		e.counts, e.Reach = ReachWorkspace, ReachUser
		return []Effect{e}
	}
	if why := t.minor(v, s, what); why != nil {
		return own(t.about(why))
	}
	return t.guessed(t.worsen(v.effect, s))
}

// guessed returns an effect that only the tool's name tells.
func (t *tool) guessed(e Effect) []Effect {
	if e.Reach == ReachWorkspace {
		e.Reach = ReachShared
	}
	e.Sure = 0.6
	return []Effect{e.with(t.about(say(phraseOf(e.Kind)).And(wording.ByTheTool, t.name)), t.target())}
}

// hands reports whether what a tool exports goes to the agent: its arguments only choose an object and a form.
func (t *tool) hands(v verb) bool {
	return v.effect.Kind == KindSend && t.has("export") && len(t.args) > 0 && !slices.ContainsFunc(readings.SortedKeys(t.args), func(key string) bool {
		name := strings.TrimSuffix(readings.Normal(key), "s")
		return t.args[key] != nil && !strings.HasSuffix(name, "id") && name != "format" && name != "type"
	})
}

// stakes is what the nouns of a tool put at stake.
type stakes struct{ people, touchy, secret bool }

// minor says what a tool does that affects only the agent and its user; nil if it may reach further.
func (t *tool) minor(v verb, s stakes, what string) wording.Sentence {
	e := v.effect
	switch {
	case v.light && t.forItself(v, s), t.mild(e) && s == stakes{} && t.ownRecords():
		return say("stays with the agent and its user: %s", what)
	case e.Kind == KindInfrastructure && t.has("run", "execute", "rerun", "start") && t.noun("harmlessrun"):
		return say("runs a check or a report: %s", what)
	case e.Kind == KindDelete && t.has("cache", "scratchpad", "tmp", "temp", "context", "selection", "filter", "filters") &&
		!slices.ContainsFunc(readings.SortedKeys(t.args), func(key string) bool { return strings.HasSuffix(readings.Normal(key), "id") }):
		return say("clears what refills itself: %s", what)
	}
	return nil
}

// forItself reports whether an action that stays with the agent by its verb also does by its nouns.
func (t *tool) forItself(v verb, s stakes) bool {
	return !s.secret && (v.phrase && t.server == "" || !s.touchy && !t.shared())
}

// ownRecords reports whether a tool, by its nouns, changes only what belongs to the agent.
func (t *tool) ownRecords() bool {
	switch {
	case t.noun("public"), slices.ContainsFunc(readings.SortedKeys(t.args), t.opens):
		return false
	case t.has("generate") && !t.noun("given-out"):
		return true
	case t.shared() || !t.ofRecords():
		return false
	}
	return t.noun("light") && !t.recipients() || t.noun("workspace") && !t.has("upload", "share", "attach", "import", "link") && !t.mentions("://")
}

// ofRecords reports whether the name stands for nothing but such records and their parts: what updates the sharing of a list does not just update a list.
func (t *tool) ofRecords() bool {
	n := t.r.judge.tables.Nouns
	return !slices.ContainsFunc(t.words, func(w string) bool {
		v, _, _ := t.r.judge.tables.verbAt([]string{w}, 0)
		return !v.light && v.effect.Kind != KindRead && !t.mild(v.effect) && !n["light"][w] && !n["workspace"][w] && !n["recordpart"][w]
	})
}

// worsen raises an effect by what is at stake.
func (t *tool) worsen(e Effect, s stakes) Effect {
	switch {
	case s.secret && e.Kind != KindDelete:
		e = usual(KindCredentials)
	case e.Kind == KindPublish && t.addressed():
		e = usual(KindPeople)
	case !t.mild(e):
	case t.noun("public"):
		e = usual(KindPublish)
	case s.people:
		e = usual(KindPeople)
	case t.noun("access"):
		e = usual(KindPermissions).as(Irreversible, ReachShared)
	case t.noun("money"):
		e = usual(KindSpend)
	case s.touchy:
		e.Reversibility = Irreversible
	}
	return e
}

// mild reports whether an effect creates or changes something.
func (t *tool) mild(e Effect) bool { return e.Kind == KindCreate || e.Kind == KindOverwrite }

// draft reports whether a tool prepares something without sending it.
func (t *tool) draft(v verb) bool {
	says := t.local() && t.is("draft", "as_draft", "save_as_draft", "draft_only")
	return t.mild(v.effect) && (says || t.has("draft", "drafts")) || v.light && t.has("draft", "drafts")
}

// recipients reports whether the arguments name people.
func (t *tool) recipients() bool { return t.given(readings.RoleRecipient) }

// addressed reports whether something published goes only to the people named.
func (t *tool) addressed() bool {
	return (t.recipients() || t.has("message", "messages", "msg", "dm", "chat")) && !t.noun("public")
}

// local reports whether a tool works on this machine.
func (t *tool) local() bool { return t.args["owner"] == nil && t.args["repo"] == nil }

func (t *tool) noun(class string) bool {
	return slices.ContainsFunc(t.words, func(w string) bool { return t.r.judge.tables.ofClass(class, w) })
}

// shared reports whether a tool belongs to a service that several people use, or is given the id of what is paid for: the plan of
// a subscription_id is none of the agent's.
func (t *tool) shared() bool {
	n := t.r.judge.tables.Nouns
	paid := func(key string) bool {
		return n["money"][strings.TrimSuffix(readings.Normal(key), "id")] && strings.HasSuffix(strings.ToLower(key), "id")
	}
	return t.noun("team") || slices.ContainsFunc(readings.SortedKeys(t.args), paid) || !t.local() || n["team"][t.server] ||
		slices.ContainsFunc(readings.Words(t.server), func(w string) bool { return n["team"][w] })
}

// secret returns a noun that stands for credentials.
func (t *tool) secret() (string, bool) {
	n := t.r.judge.tables.Nouns
	words := append(slices.Clone(t.words), strings.FieldsFunc(t.server, func(r rune) bool { return r == '-' || r == '_' || r == '.' })...)
	if i := slices.IndexFunc(words, func(w string) bool { return n["secretserver"][w] }); i >= 0 &&
		!t.has("list", "search", "status", "version", "generate", "whoami") {
		return words[i], true
	}
	for i, w := range t.words {
		if t.secretAt(i) {
			return w, true
		}
	}
	names := t.list("name", "names", "variable", "variables", "var", "key", "keys")
	variable := func(name string) bool { return name == strings.ToUpper(name) && t.r.secretName(name) } // as those of the environment are written
	if i := slices.IndexFunc(names, variable); i >= 0 {
		return names[i], true
	}
	return "", false
}

// secretAt reports whether a word, alone or with the next one, stands for credentials and not just for their names.
func (t *tool) secretAt(i int) bool {
	n := t.r.judge.tables.Nouns
	w, pair, last := t.words[i], "", i+1 == len(t.words)
	if !last {
		pair = w + "-" + t.words[i+1]
	}
	if !n["secret"][w] && !n["secretpair"][pair] || !last && n["nosecret"][t.words[len(t.words)-1]] {
		return false
	}
	plural := strings.HasSuffix(w, "s") || strings.HasSuffix(pair, "s")
	return !t.has("check", "validate") && (!plural || !t.has("list", "search", "count"))
}

func (t *tool) about(said wording.Sentence) wording.Sentence {
	if s := t.target(); s != t.name {
		return said.And("(%s)", s)
	}
	return said
}

// makesProgram reports whether a program is what installing the project makes: if the session changed the file that says so, only if it installed since.
func (r *reading) makesProgram(v *invocation) bool {
	installed := r.facts.Has(vaglio.Installed) || slices.ContainsFunc(r.effects, func(e Effect) bool { return e.Kind == KindInstall })
	trusts := func(file string) bool { return installed || !r.facts.Wrote(file) && !r.did.Wrote(file) }
	return v.direct() && !isPath(v.path) && readings.Makes(v.name, v.cwd, r.means.Files, trusts)
}
