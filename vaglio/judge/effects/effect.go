package effects

import (
	"cmp"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Effect is one thing that a call would do to the world.
type Effect struct {
	// Kind says what is done.
	Kind Kind `json:"kind"`
	// Target says to what, in the spelling a person would recognise; "" when
	// the effect has no target of its own.
	Target string `json:"target"`
	// Reversibility says whether it can be undone.
	Reversibility Reversibility `json:"reversibility"`
	// Reach says who or what is touched.
	Reach Reach `json:"reach"`
	// Sure is how certain the reading is, in [0,1].
	Sure float64 `json:"sure"`
	// Why says what is done and to what, in the third person and without a
	// subject: "deletes ../other-repo".
	Why wording.Sentence `json:"-"`
	// Of is the command that does it; nil where it is the executor itself, or
	// where no command stands for it.
	Of *shell.Command `json:"-"`
	// counts is the reach by which it is graded, where that is not Reach: nobody
	// else keeps what is lost.
	counts Reach
	eased  Reversibility // how far it can be undone as it is graded, where nobody misses it
}

// Counts is the reach by which an effect is graded.
func (e Effect) Counts() Reach { return cmp.Or(e.counts, e.Reach) }

// inFolder is the effect as one in the folder in which its command works.
func (e Effect) inFolder(inside bool) Effect {
	if inside {
		e.counts, e.Reach = e.Reach, ReachWorkspace
	}
	return e
}

// usual returns what is typical of a kind: an effect of this kind as a table
// or a rule means it when it says nothing else.
func usual(k Kind) Effect {
	e := Effect{Kind: k, Sure: 1}
	e.Reversibility, e.Reach = operation.Usual(k)
	if k == KindUnknown {
		e.Sure = 0.3
	}
	return e
}

// phraseOf is what an effect of this kind does, for tables without a message.
func phraseOf(k Kind) wording.Phrase {
	phrase, ok := map[Kind]wording.Phrase{ //nolint:gosec // These are words about credentials, and none.
		KindRead:           "reads",
		KindCreate:         "creates",
		KindOverwrite:      "changes",
		KindDelete:         "deletes",
		KindMove:           "moves",
		KindForeignCode:    "runs code that nobody reviewed",
		KindInstall:        "installs",
		KindSend:           "sends data out",
		KindPublish:        "publishes",
		KindInfrastructure: "changes running systems",
		KindDatabase:       "changes data in a database",
		KindPrivilege:      "changes the system's accounts or rights",
		KindPermissions:    "changes permissions",
		KindCredentials:    "reads or uses credentials",
		KindSpend:          "spends money",
		KindSchedule:       "changes what runs by itself",
		KindSafeguardOff:   "changes a safeguard",
		KindKill:           "stops processes",
		KindPower:          "changes the power state",
		KindPhysical:       "operates a device",
		KindPeople:         "reaches people",
	}[k]
	if !ok {
		return "does something that is not known"
	}
	return phrase
}

// plainly says an effect of this kind to a thing, for tables without a message.
func plainly(k Kind, target string) wording.Sentence {
	verb := phraseOf(k)
	if !strings.Contains(string(verb), " ") {
		return wording.Sentence{{Phrase: verb}, {Text: target}}
	}
	return wording.Sentence{{Phrase: verb}, wording.Say(": %s", target)}
}

// say is a sentence of one clause.
func say(p wording.Phrase, texts ...string) wording.Sentence {
	return wording.Sentence{wording.Say(p, texts...)}
}

// sayOf is a sentence of one clause about what may have words of its own.
func sayOf(p wording.Phrase, about ...wording.Clause) wording.Sentence {
	return wording.Sentence{{Phrase: p, Args: about}}
}

// object is a thing as it stands in the call.
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

// atLeastShared returns the effect as one on a service: nothing of it is the
// agent's or the user's alone.
func (e Effect) atLeastShared() Effect {
	if e.Reach == ReachWorkspace || e.Reach == ReachUser {
		e.Reach = ReachShared
	}
	return e
}

// reads is the effect of a call that changes nothing.
func reads() []Effect { return []Effect{usual(KindRead).with(say("reads"), "")} }

// own is the effect of a call that changes the workspace only.
func own(why wording.Sentence) []Effect { return []Effect{usual(KindOverwrite).with(why, "")} }

// one is a list of a single effect as is usual for its kind.
func one(k Kind, why wording.Sentence, target string) []Effect {
	return []Effect{usual(k).with(why, target)}
}

// shared is a list of a single effect on something that others use, too.
func shared(k Kind, why wording.Sentence, target string) []Effect {
	return []Effect{usual(k).with(why, target).as(Partial, ReachShared)}
}

// unknown is the effect of a call of which little is known.
func unknown(why wording.Sentence, target string) []Effect { return one(KindUnknown, why, target) }

// The words for effects are those of the engine.
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
	KindPhysical       = operation.KindPhysical
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
