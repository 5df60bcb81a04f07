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
	m["awsS3"] = awsS3
	m["awsSQL"] = statementsIn("a database in the cloud", "runs SQL that was not read", "--sql", "--sql-statement", "--query-string", "--sqls")
	m["awsPartiQL"] = statementsIn("a table in the cloud", "runs statements that were not read", "--statement")
	m["gcloudSQL"] = func(c *call) []Effect {
		if v, ok := c.value("--sql"); ok {
			return c.r.sql(v.text, wording.Say("a database in the cloud"))
		}
		return unknown(say("runs SQL that was not read"), c.rest(0))
	}
	m["gsutil"] = gsutilRule
	m["azKeys"] = azKeys
	m["azCredential"] = func(c *call) []Effect {
		if c.operand(2) == "credential" && c.operand(3) == "list" {
			return reads()
		}
		return []Effect{usual(KindCredentials).with(say("creates or changes credentials: %s", c.rest(0)), c.rest(0)).as(Irreversible, ReachShared)}
	}
	m["netlifySub"] = netlifySub
	m["dockerRun"] = dockerRun
	m["dockerLocal"] = dockerLocal
	m["compose"] = composeRule
	m["kubeRead"] = kubeRead
	m["kubeCp"] = kubeCp
	m["kubeExec"] = kubeExec
	m["tfOutput"] = tfOutput
	m["tfRunAll"] = tfRunAll
}

// statementsIn is the rule for commands that take a statement behind one of the
// words.
func statementsIn(where, unread wording.Phrase, names ...string) rule {
	return func(c *call) []Effect {
		for _, n := range names {
			for i, a := range c.all {
				if a.text == n && i+1 < len(c.all) {
					return c.r.sql(c.all[i+1].text, wording.Say(where))
				}
			}
		}
		return unknown(say(unread), c.rest(0))
	}
}

func tfOutput(c *call) []Effect {
	if c.has("-raw", "-json") && len(c.operands) > 1 && c.r.secretName(c.operand(1)) {
		return one(KindCredentials, say("prints the secret output %s", c.operand(1)), c.operand(1))
	}
	return reads()
}

func tfRunAll(c *call) []Effect {
	for _, a := range c.operands[1:] {
		switch a.text {
		case "plan", "validate", "output", "show", "init", "fmt", "graph":
			return reads()
		}
	}
	if c.operand(0) == "stack" && c.operand(1) == "output" {
		return reads()
	}
	e := usual(KindInfrastructure).as(Irreversible, ReachShared)
	return []Effect{e.with(say("changes the managed infrastructure: %s %s", c.name, c.rest(0)), c.rest(0))}
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

func awsS3(c *call) []Effect {
	verb := c.operand(1)
	ops := c.operands[2:]
	if c.local() || c.has("--dryrun") {
		return own(say("works on storage of this machine"))
	}
	switch verb {
	case "cp", "sync":
		if len(ops) == 2 && !strings.HasPrefix(ops[1].text, "s3://") && ops[1].known {
			if ops[1].text == "-" {
				return reads()
			}
			out := c.r.write(c.invocation, ops[1], "downloads to")
			if c.has("--delete") {
				out = append(out, c.r.remove(c.invocation, ops[1])...)
			}
			return out
		}
	case "rm", "rb":
		return []Effect{usual(KindDelete).with(say("deletes stored objects: %s", join(ops)), join(ops)).as(Irreversible, ReachShared)}
	case "mb", "website":
		return one(KindInfrastructure, say("changes the bucket %s", join(ops)), join(ops))
	}
	if strings.Contains(join(c.all), "public-read") {
		return one(KindPublish, say("publishes objects to everyone: %s", join(ops)), join(ops))
	}
	return stored(verb, ops)
}

func gsutilRule(c *call) []Effect {
	at := slices.IndexFunc(c.operands, func(a arg) bool { return slices.Contains([]string{"cp", "rsync", "mv", "rm"}, a.text) })
	if at < 0 {
		return unknown(say("changes cloud storage"), c.rest(0))
	}
	verb, ops := c.operands[at].text, c.operands[at+1:]
	switch {
	case verb == "rsync" && c.has("-n"):
		return reads()
	case verb == "rm":
		return []Effect{usual(KindDelete).with(say("deletes stored objects: %s", join(ops)), join(ops)).as(Irreversible, ReachShared)}
	case verb != "mv" && len(ops) > 1 && !strings.Contains(ops[len(ops)-1].text, "://"):
		if ops[len(ops)-1].text == "-" {
			return reads()
		}
		return c.r.write(c.invocation, ops[len(ops)-1], "downloads to")
	}
	return stored(verb, ops)
}

func azKeys(c *call) []Effect {
	text := " " + c.rest(0) + " "
	for _, w := range []string{
		" keys list", " keys renew", "list-keys", "list-key ", "connection-string", "generate-sas", "publishing-", "show-keys",
		"admin-key", "query-key", "credential", "secrets list", "secret show", "function keys", "appsettings list",
	} {
		if strings.Contains(text, w) {
			if w == " keys renew" || strings.Contains(text, "renew") || strings.Contains(text, "regenerate") {
				return []Effect{usual(KindCredentials).with(say("replaces access keys: %s", c.name+text), c.rest(0)).as(Irreversible, ReachShared)}
			}
			return one(KindCredentials, say("prints access keys: %s", c.name+text), c.rest(0))
		}
	}
	return c.byVerb(1)
}

func netlifySub(c *call) []Effect {
	switch sub := c.operand(1); {
	case c.operand(0) == "env" && (sub == "list" || sub == "get"):
		return one(KindCredentials, say("prints the site's environment"), sub)
	case c.operand(0) == "env" || c.operand(0) == "sites" && sub == "create" || c.operand(0) == "blobs" && sub != "get" && sub != "list" || sub == "deploy":
		return one(KindPublish, say("changes the live site: %s", c.rest(0)), c.rest(0))
	}
	return own(say("works on the project"))
}

// stored is the effect of writing to a store of objects.
func stored(verb string, ops []arg) []Effect {
	e := usual(KindSend).with(say("writes to shared storage: %s %s", verb, join(ops)), join(ops)).as(Irreversible, ReachShared)
	if n := len(ops) - 1; n > 0 && (verb == "cp" || verb == "sync" || verb == "rsync") {
		e.Why = say("copies %s to %s", join(ops[:n]), ops[n].text)
	}
	return []Effect{e}
}
