package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

func cloudRules(m map[string]rule) {
	m["verb"] = func(c *call) []Effect { return c.byVerb(0) }
	m["verbAny1"] = func(c *call) []Effect { return c.byVerb(1) }
	m["verbAt2"] = awsVerb
	m["cloudSQL"] = cloudSQL
	m["stored"] = stored
	m["dockerRun"] = dockerRun
	m["compose"] = composeRule
	m["kubeExec"] = kubeExec
}

// local reports whether a cloud command talks to an emulator on this machine.
func (c *call) local() bool {
	v, ok := c.value("--endpoint-url", "--endpoint", "--url")
	return ok && localURL(v.text) || c.name == "awslocal" ||
		slices.ContainsFunc(c.assigns, func(a assignment) bool { return strings.Contains(a.name, "ENDPOINT") && localURL(a.value.text) })
}

// verbOf looks a verb phrase up: "list-tags", "describeInstances", "apps:info".
func (r *reading) verbOf(phrase string) verb {
	t := r.judge.tables.verbs
	if v, ok := t[strings.ToLower(phrase)]; ok {
		return v
	}
	words := taskWords(phrase)
	for i, w := range words {
		if v, ok := t[w]; ok && (!v.weak || i == len(words)-1) {
			return v
		}
		if w != "batch" && w != "admin" && w != "bulk" && !strings.Contains(phrase, ":") {
			break
		}
	}
	return verb{}
}

// byVerb judges a command line of nouns and a verb: the first operand from
// skip on that is a verb decides.
func (c *call) byVerb(skip int) []Effect {
	if len(c.operands) == 0 {
		return reads()
	}
	if w := c.operands[0].text; len(c.operands) > 1 && (w == "alpha" || w == "beta" || w == "preview") {
		c.operands = c.operands[1:]
	}
	what := c.name + " " + c.rest(0)
	v, ok := c.verbAmong(c.operands[skip:min(6, len(c.operands))])
	if !ok {
		return unknown(say("does something with a service that is not known: %s", what), c.rest(0))
	}
	if c.local() && v.effect.Kind != KindRead {
		return own(say("changes an emulator on this machine: %s", what))
	}
	return c.verbEffect(v, what)
}

// verbAmong finds the word that is the verb: the first that is one, unless it
// may be a noun as well and a better one follows.
func (c *call) verbAmong(words []arg) (found verb, ok bool) {
	t := c.r.judge.tables
	word := ""
	for _, a := range words {
		v := c.r.verbOf(a.text)
		if v.effect.Kind == "" || v.weak && ok {
			continue
		}
		if !ok || found.weak || t.thing(word) || v.effect.Kind != KindRead {
			found, word, ok = v, a.text, true
		}
		if !found.weak && !t.nounLike(word) && !t.thing(word) {
			break
		}
	}
	return found, ok
}

// thing reports whether a word of a command line that reads like a verb is
// what is worked on when another verb follows: record-sets, config, backup.
func (t *tables) thing(w string) bool {
	words := taskWords(w)
	if n := len(words); n > 1 && strings.HasSuffix(words[n-1], "s") && !strings.HasSuffix(words[n-1], "ss") {
		return true
	}
	return t.nouns["cloud-thing"][w]
}

// nounLike are reading verbs that often name what is worked on.
func (t *tables) nounLike(w string) bool {
	return t.nouns["cloud-noun"][w]
}

func (c *call) verbEffect(v verb, what string) []Effect {
	e := v.effect
	e.Target = c.rest(0)
	if e.Kind == KindRead {
		for _, a := range c.operands {
			w := taskWords(a.text)
			if len(w) > 0 && c.r.judge.tables.nouns["secret"][w[0]] && !strings.HasSuffix(a.text, "s") {
				e = usual(KindCredentials).with(say("reads secrets: %s", what), c.rest(0))
				e.Sure = 0.7
				return []Effect{e}
			}
		}
		return reads()
	}
	if v.light {
		e = usual(KindInfrastructure)
	}
	e = e.atLeastShared()
	if slices.Contains([]Kind{KindCreate, KindOverwrite, KindMove, KindSend, KindPeople, KindPublish, KindInstall}, e.Kind) {
		e.Kind = KindInfrastructure
	}
	e.Target = c.rest(0)
	if e.Why = plainly(e.Kind, what); e.Kind == KindDelete {
		e.Why = say("deletes a resource: %s", c.name+" "+join(c.all))
	}
	return []Effect{e}
}

// awsVerb judges `aws service verb-noun`.
func awsVerb(c *call) []Effect {
	what := c.name + " " + c.rest(0)
	if len(c.operands) < 2 {
		if len(c.operands) == 0 {
			return reads()
		}
		return unknown(say("does something with a service that is not known: %s", what), c.rest(0))
	}
	v := c.r.verbOf(c.operand(1))
	if v.effect.Kind == "" {
		return unknown(say("does something with the cloud account that is not known: %s", what), c.rest(0))
	}
	if c.local() {
		return own(say("changes an emulator on this machine: %s", what))
	}
	if v.effect.Kind == KindRead {
		return reads()
	}
	return c.verbEffect(v, what)
}

// stored judges writing to a store of objects.
func stored(c *call) []Effect {
	verb, ops := c.operand(c.took-1), c.operands[c.took:]
	e := usual(KindSend).with(say("writes to shared storage: %s %s", verb, join(ops)), join(ops)).as(Irreversible, ReachShared)
	if n := len(ops) - 1; n > 0 && verb != "mv" {
		e.Why = say("copies %s to %s", join(ops[:n]), ops[n].text)
	}
	return []Effect{e}
}

// cloudSQL judges a statement that stands behind one of the options.
func cloudSQL(c *call) []Effect {
	for i, a := range c.all[:max(0, len(c.all)-1)] {
		if slices.Contains(c.options[0], a.text) {
			return c.r.sql(c.all[i+1].text, wording.Say(wording.Phrase(c.why)))
		}
	}
	return unknown(say("runs SQL that was not read"), c.rest(0))
}
