// Package effects is the judge that works out what a call would do to the world and grades it by what cannot be undone and whom it would affect.
//
// A call is read into a list of [Effect]. Read the package in this order: judge.go takes a proposal and grades what it finds; executor.go looks at an
// executor's arguments, and names.go, namedtools.go and filetool.go at what its name says; command.go goes through the commands of a command line, which
// programs.go looks up in the tables of package commands; lines.go turns a table line into effects, answers the facts that lines ask for and lists the rules
// for what a line cannot express; operations.go checks what a program does to files against where they are, which places.go knows. The other files hold the
// rules by subject.
//
// Package sql tells database statements apart. If nothing else is known about an executor, the verbs and nouns of its name decide.
//
// The lowest effect decides. What stays in the workspace and can be undone or rebuilt passes; what reaches further or is lost for good is asked about, and so
// is what is unknown. The intent can make up for a mild effect that it plainly asks for, but never for one that is irreversible, shared or public. Text in
// the arguments is never intent.
//
// The package is deterministic: it runs nothing, opens no file and asks no model.
package effects

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// Effect is one thing that a call would do to the world.
type Effect struct {
	// Kind says what it does.
	Kind Kind `json:"kind"`
	// Target says to what, in a form that a person recognizes; "" if the effect has no target of its own.
	Target string `json:"target"`
	// Reversibility says whether it can be undone.
	Reversibility Reversibility `json:"reversibility"`
	// Reach says who or what it affects.
	Reach Reach `json:"reach"`
	// Sure is how certain the reading is, in [0,1].
	Sure float64 `json:"sure"`
	// Why says what it does and to what, in the third person without a subject: "deletes ../other-repo".
	Why wording.Sentence `json:"-"`
	// Of is the command that does it; nil if it is the executor itself, or if no command corresponds to it.
	Of *shell.Command `json:"-"`
	// at is its place in the text that holds it, line the number of its first line there; zero if that is not known.
	at   shell.Span
	line int
	// counts is the reach that it is graded by, if that is not Reach because nobody else keeps what is lost.
	counts Reach
	lasts  bool          // what is lost is not limited to a throw-away container
	free   string        // the path of what is deleted, if nothing is there yet
	whole  bool          // a program names that path from the root on
	eased  Reversibility // the reversibility that it is graded by, if nobody misses what is lost
}

// Counts returns the reach that an effect is graded by.
func (e Effect) Counts() Reach { return cmp.Or(e.counts, e.Reach) }

// lines returns the number of the effect's line, if it is known.
func (e *Effect) lines() []int {
	if e.line == 0 {
		return nil
	}
	return []int{e.line}
}

// inFolder returns the effect as one inside the folder that its command works in, if inside is set.
func (e Effect) inFolder(inside bool) Effect {
	if inside {
		e.counts, e.Reach = e.Reach, ReachWorkspace
	}
	return e
}

// usual returns the typical effect of a kind: what a table or a rule means unless it says more.
func usual(k Kind) Effect {
	e := Effect{Kind: k, Sure: 1}
	e.Reversibility, e.Reach = operation.Usual(k)
	if k == KindUnknown {
		e.Sure = 0.3
	}
	return e
}

// phraseOf says what an effect of this kind does, for tables without a message.
func phraseOf(k Kind) wording.Phrase {
	return cmp.Or(spoken.Kind(string(k)), "does something that is not known")
}

// plainly says what an effect of this kind does to target, for tables without a message.
func plainly(k Kind, target string) wording.Sentence {
	verb := phraseOf(k)
	if !strings.Contains(string(verb), " ") {
		return wording.Sentence{{Phrase: verb}, {Text: target}}
	}
	return wording.Sentence{{Phrase: verb}, wording.Say(": %s", target)}
}

func say(p wording.Phrase, texts ...string) wording.Sentence {
	return wording.Sentence{wording.Say(p, texts...)}
}

// sayOf returns a sentence of one clause about things with clauses of their own.
func sayOf(p wording.Phrase, about ...wording.Clause) wording.Sentence {
	return wording.Sentence{{Phrase: p, Args: about}}
}

func object(text string) wording.Clause { return wording.Clause{Text: text} }

// with returns the effect with another target and sentence.
func (e Effect) with(why wording.Sentence, target string) Effect {
	e.Why, e.Target = why, target
	return e
}

// as returns the effect with another reversibility and reach.
func (e Effect) as(v Reversibility, r Reach) Effect {
	e.Reversibility, e.Reach = v, r
	return e
}

// far reports whether an effect reaches others.
func (e Effect) far() bool { return e.Reach == ReachShared || e.Reach == ReachPublic }

// atLeastShared returns the effect as one on a service, where nothing belongs to the agent or the user alone.
func (e Effect) atLeastShared() Effect {
	if e.Reach == ReachWorkspace || e.Reach == ReachUser {
		e.Reach = ReachShared
	}
	return e
}

// reads returns the effect of a call that changes nothing.
func reads() []Effect { return []Effect{usual(KindRead).with(say("reads"), "")} }

// onlyReads reports whether nothing is known to be done but to read.
func onlyReads(list []Effect) bool {
	return !slices.ContainsFunc(list, func(e Effect) bool { return e.Kind != KindRead })
}

// own returns the effect of a call that only changes the workspace.
func own(why wording.Sentence) []Effect { return []Effect{usual(KindOverwrite).with(why, "")} }

// one returns a single effect that is usual for its kind.
func one(k Kind, why wording.Sentence, target string) []Effect {
	return []Effect{usual(k).with(why, target)}
}

// shared returns a single effect on something that others use, too.
func shared(k Kind, why wording.Sentence, target string) []Effect {
	return []Effect{usual(k).with(why, target).as(Partial, ReachShared)}
}

// unknown returns the effect of a call about which little is known.
func unknown(why wording.Sentence, target string) []Effect { return one(KindUnknown, why, target) }

// The engine's words for effects.
type (
	// Kind is what an effect does.
	Kind = operation.Kind
	// Reversibility says whether an effect can be undone.
	Reversibility = operation.Reversibility
	// Reach says who or what an effect touches.
	Reach = operation.Reach
)

// The kinds of effects, how far they can be undone, and whom they reach.
const (
	KindRead           = operation.KindRead
	KindCreate         = operation.KindCreate
	KindOverwrite      = operation.KindOverwrite
	KindDelete         = operation.KindDelete
	KindMove           = operation.KindMove
	KindForeignCode    = operation.KindForeignCode
	KindInstall        = operation.KindInstall
	KindSend           = operation.KindSend
	KindPublish        = operation.KindPublish
	KindInfrastructure = operation.KindInfrastructure
	KindDatabase       = operation.KindDatabase
	KindPrivilege      = operation.KindPrivilege
	KindPermissions    = operation.KindPermissions
	KindCredentials    = operation.KindCredentials
	KindSpend          = operation.KindSpend
	KindSchedule       = operation.KindSchedule
	KindSafeguardOff   = operation.KindSafeguardOff
	KindKill           = operation.KindKill
	KindPower          = operation.KindPower
	KindPeople         = operation.KindPeople
	KindUnknown        = operation.KindUnknown

	Reversible     = operation.Reversible
	Partial        = operation.Partial
	Irreversible   = operation.Irreversible
	ReachWorkspace = operation.ReachWorkspace
	ReachUser      = operation.ReachUser
	ReachSystem    = operation.ReachSystem
	ReachShared    = operation.ReachShared
	ReachPublic    = operation.ReachPublic
)

// sentence tells a person who is alerted about an effect: what it does, to what, whether it can be undone, and who is affected.
func (e Effect) sentence() wording.Sentence {
	why := e.Why
	if why == nil {
		why = plainly(e.Kind, e.Target)
	}
	why = why.Each(oneLine)
	why.Trim(" :")
	why = why.Shortened(longest, clip)
	if e.Kind == KindRead {
		return why.And(".")
	}
	if e.Kind == KindUnknown {
		return append(why, wording.Clause{Phrase: "; what it would do is not known."})
	}
	why = append(slices.Grow(why, 4), spoken.Follows(string(e.Reversibility), string(e.Reach), e.Kind == KindDatabase)...)
	if e.Sure < 0.5 {
		why = append(why, wording.Clause{Phrase: wording.AsFarAsRead})
	}
	return append(why, wording.Clause{Phrase: "."})
}

// deletes is the verb of every deletion; similar effects have their own verbs.
const deletes wording.Phrase = "deletes"

func deletion(of wording.Phrase, text string) wording.Sentence {
	return wording.Sentence{{Phrase: deletes}, wording.Say(of, text)}
}

// insteadOfDeletes gives deletions another verb.
func insteadOfDeletes(list []Effect, verb wording.Clause) []Effect {
	for i := range list {
		if list[i].Why[0].Phrase == deletes {
			list[i].Why = slices.Clone(list[i].Why)
			list[i].Why[0] = verb
		}
	}
	return list
}

// longest limits the length in bytes of what a sentence says an effect does.
const longest = 240

// oneLine returns a text on one line, with a mark for each line break.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune { return max(r, ' ') }, strings.ReplaceAll(s, "\n", "⏎"))
}

// clip shortens a text to n bytes, at a word boundary if possible.
func clip(s string, n int) string {
	if s = oneLine(s); len(s) <= n {
		return s
	}
	cut := strings.LastIndexByte(s[:n], ' ')
	if cut < n/2 {
		return strings.ToValidUTF8(s[:n], "") + " …"
	}
	return s[:cut] + " …"
}

// tabled says what an effect does according to its table, if nothing more is known.
func tabled(o commands.Outcome) wording.Sentence {
	if o.Why == "" {
		return say(phraseOf(o.Kind))
	}
	return wording.Worded(o.Why, func(string) string { return "" })
}

// unmissed returns the effect of deleting for good what nobody is expected to miss.
func unmissed(why wording.Sentence) []Effect {
	return []Effect{{Kind: KindOverwrite, Why: why, Sure: 1, Reversibility: Irreversible, eased: Partial, Reach: ReachWorkspace}}
}

// environmentTold judges what a program tells of its environment: variables of it, or all.
func (r *reading) environmentTold(variables []arg) []Effect {
	if len(variables) > 0 {
		return r.secretsTold(variables)
	}
	return one(KindCredentials, say("prints every variable of the environment, secrets included"), "")
}

// secretsTold returns the effects of the variables with secrets whose values are among the words.
func (r *reading) secretsTold(words []arg) (out []Effect) {
	for _, a := range words {
		for _, n := range a.names {
			switch {
			case strings.HasPrefix(n, "{!"): // an indirect expansion of a name that a program printed
				out = append(out, one(KindCredentials, say("outputs a variable whose name is only known when it runs: $%s", n), n)...)
			case r.secretName(n):
				out = append(out, usual(KindCredentials).with(say("outputs the secret $%s", n), n))
			}
		}
	}
	return out
}

// fetchedRuns asks about files that run and that the session fetched, or that the call brings from elsewhere and its
// programs then find by themselves, and do more than compile, and about foreign folders in which they look for files.
func (r *reading) fetchedRuns(s *shell.Script) {
	files := slices.Sorted(maps.Keys(s.Sought))
	for _, file := range files {
		if r.comes(file, s.Sought[file]) && !r.judge.tables.ofClass("only-compiled", path.Ext(file)) {
			r.add(justFetched(r.shown(file))...)
		}
	}
	for i := range s.Ran {
		if file := s.Ran[i].File; r.isFetched(&invocation{}, file) {
			r.add(justFetched(r.shown(file))...)
		}
	}
	for _, f := range r.foreign { // a clone makes .git itself, without any setting or hook
		cloned, git := slices.Contains(r.repositories, f), path.Join(f, ".git")
		in := func(at string) bool { return strings.HasPrefix(at, f+"/") && (!cloned || !strings.HasPrefix(at, git)) }
		if f != r.world.cwd && f != "/" && slices.ContainsFunc(files, in) {
			r.add(usual(KindForeignCode).with(say("may run what was just fetched into %s", f), f))
		}
	}
}

// comes reports whether the call brings what lies at a path, of which it is known what the call put there, from elsewhere.
func (r *reading) comes(file string, holds shell.Word) bool {
	outside := func(p shell.Part) bool { return p.File != "" && r.liesOutside(&invocation{}, literal(p.File)) }
	some := r.fetched[unnamed] && (r.means.Present == nil || !r.means.Present(file)) && r.did.Wrote(path.Join(path.Dir(file), unnamed))
	return some || r.fetched[path.Base(file)] && r.did.Wrote(file) ||
		holds.Remote() || slices.ContainsFunc(holds.Parts(), outside)
}

// keepsFetched records what operations bring from elsewhere, and the new names of what was fetched before.
func (c *command) keepsFetched(all []operation.Operation) {
	last := max(len(c.operands)-1, 0)
	sources := texts(c.operands[max(min(c.took, last)-1, 0):last])
	far := slices.ContainsFunc(sources, func(source string) bool { return strings.Contains(source, ":") })
	into := map[string]bool{}
	for i := range all {
		at, to := argOf(all[i].Object.Word).text, argOf(all[i].To).text
		switch {
		case to != "" && c.r.fetched[lastPart(at)]:
			c.r.fetched[lastPart(to)], c.r.fetched[path.Base(at)] = true, true
		case !into[at] && (all[i].Phrase == "downloads to" || all[i].Phrase == "copies files to" && far):
			into[at] = true
			c.fetchesInto(at, sources)
		}
	}
}

// fetchesInto records that sources, of which each may keep its name, are brought to a path.
func (c *command) fetchesInto(at string, sources []string) {
	c.r.fetched[lastPart(at)] = true
	for _, source := range sources {
		if base := path.Base(source[strings.IndexByte(source, ':')+1:]); at == "." || path.Ext(at) == "" && base != path.Base(at) {
			c.fetches(path.Join(at, base))
		}
	}
	if slices.ContainsFunc(c.operands, func(a arg) bool { return c.r.judge.tables.ofClass("copies-below", a.text) }) {
		c.fetches(path.Join(at, unnamed))
	}
}

// justFetched is the effect of running what was fetched and nobody has looked at.
func justFetched(name string) []Effect {
	return one(KindForeignCode, say("runs %s, which was just fetched", name), name)
}

// unnamed stands for the names of files that were fetched and that nobody knows, listedFiles for those that a list of addresses gives.
const (
	unnamed     = "*"
	listedFiles = "**"
)
