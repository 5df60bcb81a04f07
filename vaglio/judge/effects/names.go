package effects

import (
	"slices"
	"strings"

	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
)

// byName judges an executor by the verbs and nouns of its name, and by the
// arguments that change what it does.
func (t *tool) byName() []Effect {
	if t.rd.DryRun {
		return reads()
	}
	if len(t.words) == 1 && (t.words[0] == "respond" || t.words[0] == "reply") && !t.recipients() {
		return own(say("answers the user"))
	}
	v, at := t.verb()
	act, hasAct := t.action()
	switch {
	case hasAct && (v.effect.Kind == "" || v.weak || t.generic(at)):
		v = act
	case hasAct && act.effect.Kind != KindRead && v.effect.Kind == KindRead:
		v = act
	}
	if v.effect.Kind == "" {
		return unknown(t.about(say("calls the tool %s, of which nothing is known", t.name)), t.target())
	}
	if v.effect.Kind == KindRead && t.has("aggregate") && t.mentions(`"$out"`, `"$merge"`) {
		return one(KindDatabase, t.about(say("writes the result of an aggregation")), t.target())
	}
	return t.verbEffect(v)
}

// generic reports whether the name's verb leaves what is done to an argument.
func (t *tool) generic(at int) bool {
	if at < 0 || at >= len(t.words) {
		return true
	}
	switch t.words[at] {
	case "manage", "write", "handle", "control", "operate", "process", "run", "execute", "call", "request", "read", "update", "invoke", "action",
		"use", "apply":
		return true
	}
	return false
}

// action is the verb that an argument such as method or action names: the first
// that does more than read, if there is one.
func (t *tool) action() (verb, bool) {
	var found verb
	ok := false
	for _, s := range t.under(readings.RoleMark) {
		if len(s) > 60 || strings.ContainsAny(s, " \t\n;|&$") {
			continue // a command line or a sentence is no verb
		}
		v := t.marked(s)
		if !ok || found.effect.Kind == "" || found.effect.Kind == KindRead && v.effect.Kind != "" {
			found, ok = v, true
		}
	}
	return found, ok && found.effect.Kind != ""
}

// marked is the verb that one argument names.
func (t *tool) marked(s string) verb {
	switch strings.ToUpper(s) {
	case "GET", "HEAD", "OPTIONS":
		return t.r.judge.tables.verbs["get"]
	case "POST", "PUT", "PATCH":
		return t.r.judge.tables.verbs["update"]
	}
	v, _ := t.verbIn(taskWords(s))
	return v
}

func (t *tool) verb() (verb, int) { return t.verbIn(t.words) }

// verbIn finds the verb of a name. A verb that is usually a noun counts when
// there is no other; a reading verb at either end wins, unless an effect is
// joined to it by and.
func (t *tool) verbIn(words []string) (verb, int) {
	known := t.r.judge.tables.verbs
	best, at := verb{}, -1
	for i := 0; i < len(words); i++ {
		v, ok := verb{}, false
		if i+1 < len(words) {
			if v, ok = known[words[i]+"-"+words[i+1]]; ok {
				i++
			}
		}
		if !ok {
			v, ok = known[words[i]]
		}
		if !ok {
			continue
		}
		joined := i > 1 && (words[i-1] == "and" || words[i-1] == "or" || words[i-1] == "then")
		switch {
		case at < 0, best.weak && !v.weak:
			best, at = v, i
		case joined && v.effect.Kind != KindRead && best.effect.Kind == KindRead:
			best, at = v, i
		case best.weak && v.weak && best.effect.Kind == KindRead && v.effect.Kind != KindRead:
			best, at = v, i
		case !v.weak && v.effect.Kind == KindRead && i == len(words)-1 && t.ambiguous(words[at]) && at < i:
			best, at = v, i
		}
	}
	return best, at
}

// ambiguous are effect verbs that often are nouns, too: "transfer history" is
// read, "update status" is not.
func (t *tool) ambiguous(w string) bool {
	return t.r.judge.tables.ofClass("ambiguous", w)
}

// verbEffect is the effect of a verb on the nouns of the tool.
func (t *tool) verbEffect(v verb) []Effect {
	what := strings.Join(t.words, " ")
	if v.effect.Kind == KindRead {
		if s, ok := t.secret(); ok {
			return one(KindCredentials, t.about(say("reads secrets by the tool %s", t.name)), s)
		}
		return one(KindRead, t.about(say("reads by the tool %s", t.name)), "")
	}
	people, touchy := t.noun("person"), t.noun("money") || t.noun("health") || t.noun("access")
	_, secret := t.secret()
	e := v.effect
	switch {
	case e.Kind != KindDelete && (t.has("scheduled", "cron", "recurring", "cronjob") || t.args["cron"] != nil || t.args["rrule"] != nil):
		return one(KindSchedule, t.about(say("changes what runs by itself: %s", what)), t.target())
	case t.draft(v):
		return own(t.about(say("keeps a draft: %s", what)))
	case v.light && !secret && (!touchy || v.phrase) && (v.phrase || !t.shared()):
		return own(t.about(say("works for the agent alone: %s", what)))
	case t.has("run", "execute", "rerun", "start") && t.noun("harmlessrun") && e.Kind == KindInfrastructure:
		return own(t.about(say("runs checks: %s", what)))
	case t.mild(e) && !people && !touchy && !secret && !t.noun("public"):
		if t.noun("light") && !t.shared() && !t.recipients() || t.noun("workspace") && !t.shared() &&
			!t.has("upload", "share", "attach", "import", "link") || t.has("generate", "set") && !t.has("code") && t.has("generate") {
			return own(t.about(say("changes the agent's own records: %s", what)))
		}
	case e.Kind == KindDelete && t.has("cache", "scratchpad", "tmp", "temp", "context", "selection", "filter", "filters"):
		return own(t.about(say("clears what fills itself again: %s", what)))
	}
	e = t.worsen(e, people, touchy, secret)
	if e.Reach == ReachWorkspace {
		e.Reach = ReachShared
	}
	e.Sure = 0.6
	return []Effect{e.with(t.about(say(phraseOf(e.Kind)).And("by the tool %s", t.name)), t.target())}
}

// worsen raises an effect by the nouns it is done to.
func (t *tool) worsen(e Effect, people, touchy, secret bool) Effect {
	switch {
	case secret && e.Kind != KindDelete:
		e = usual(KindCredentials)
	case e.Kind != KindCreate && e.Kind != KindOverwrite:
	case t.noun("public"):
		e = usual(KindPublish)
	case people:
		e = usual(KindPeople)
	case t.noun("access"):
		e = usual(KindPermissions).as(Irreversible, ReachShared)
	case t.noun("money"):
		e = usual(KindSpend)
	case touchy:
		e.Reversibility = Irreversible
	}
	return e
}

// mild reports whether an effect creates or changes something.
func (t *tool) mild(e Effect) bool { return e.Kind == KindCreate || e.Kind == KindOverwrite }

// draft reports whether a tool prepares something without sending it.
func (t *tool) draft(v verb) bool {
	return t.has("draft", "drafts") && (t.mild(v.effect) || v.light) || t.is("draft", "as_draft", "save_as_draft", "draft_only") && t.mild(v.effect)
}

// recipients reports whether the arguments name people.
func (t *tool) recipients() bool { return t.given(readings.RoleRecipient) }

// local reports whether a tool works on this machine.
func (t *tool) local() bool { return t.args["owner"] == nil && t.args["repo"] == nil }

func (t *tool) noun(class string) bool {
	set := t.r.judge.tables.nouns[class]
	for _, w := range t.words {
		if set[w] {
			return true
		}
	}
	return false
}

// shared reports whether a tool belongs to a service that people share.
func (t *tool) shared() bool {
	if t.noun("team") || !t.local() {
		return true
	}
	for _, w := range append(taskWords(t.server), t.server) {
		if t.r.judge.tables.nouns["team"][w] {
			return true
		}
	}
	return false
}

// secret finds a noun that stands for credentials.
func (t *tool) secret() (string, bool) {
	n := t.r.judge.tables.nouns
	for _, w := range append(slices.Clone(t.words), strings.FieldsFunc(t.server, func(r rune) bool { return r == '-' || r == '_' || r == '.' })...) {
		if n["secretserver"][w] && !t.has("list", "search", "status", "version", "generate", "whoami") {
			return w, true
		}
	}
	for i, w := range t.words {
		pair := ""
		if i+1 < len(t.words) {
			pair = w + "-" + t.words[i+1]
		}
		if !n["secret"][w] && !n["secretpair"][pair] {
			continue
		}
		if i+1 < len(t.words) && n["nosecret"][t.words[len(t.words)-1]] {
			continue
		}
		if (t.has("list", "search", "count") || t.has("check", "validate")) && (strings.HasSuffix(w, "s") || strings.HasSuffix(pair, "s") ||
			t.has("check", "validate")) {
			continue // names only
		}
		return w, true
	}
	return "", false
}

// target names what a call is about, from its arguments.
func (t *tool) target() string {
	for _, k := range []string{
		"name", "id", "path", "url", "to", "recipient", "title", "channel", "device", "resource", "user", "email", "account",
		"file", "query",
	} {
		if s, ok := t.args[k].(string); ok && s != "" {
			return clip(s, 80)
		}
	}
	return t.name
}

// about is a sentence with the target at its end.
func (t *tool) about(said wording.Sentence) wording.Sentence {
	if s := t.target(); s != t.name {
		return said.And("(%s)", s)
	}
	return said
}
