package effects

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Threshold is the score below which a person should be asked.
const Threshold = 0.5

// The costs of an effect add up to what its score lacks to 1. They are chosen
// so that what stays in the workspace passes unless it is lost for good, and
// whatever reaches further is asked.
func costOfUndoing(v Reversibility) float64 {
	switch v {
	case Reversible:
		return 0.05
	case Partial:
		return 0.15
	case Irreversible:
	}
	return 0.35
}

func costOfReach(r Reach) float64 {
	switch r {
	case ReachWorkspace:
		return 0
	case ReachUser:
		return 0.30
	case ReachSystem:
		return 0.35
	case ReachShared:
		return 0.40
	case ReachPublic:
	}
	return 0.45
}

func costOfKind(k Kind) float64 {
	switch k {
	case KindRead:
		return 0
	case KindMove:
		return 0.15
	case KindCreate, KindOverwrite, KindInstall, KindDelete:
		return 0.17
	case KindForeignCode, KindSafeguardOff, KindCredentials, KindSpend, KindPower:
		return 0.25
	case KindSend, KindPublish, KindInfrastructure, KindDatabase, KindPrivilege,
		KindPermissions, KindSchedule, KindKill, KindPhysical, KindPeople, KindUnknown:
	}
	return 0.20
}

// asked is the most that an effect can score that is asked whatever the
// intent says.
const asked = 0.49

// score grades one effect. What the intent plainly asks for costs less, but
// what is irreversible, shared or public is asked even then.
func (e Effect) score(intent words) float64 {
	if e.Kind == KindRead {
		return 0.95
	}
	e.Reach, e.Reversibility = e.Counts(), cmp.Or(e.eased, e.Reversibility)
	s := 1 - costOfKind(e.Kind) - costOfUndoing(e.Reversibility) - costOfReach(e.Reach)
	if s < Threshold && intent.asks(e) {
		s += 0.10
	}
	if e.final() {
		s = min(s, asked)
	}
	return max(0.02, min(s, 1))
}

// final reports whether an effect is asked whatever the intent says.
func (e Effect) final() bool {
	lost := e.Reversibility == Irreversible
	if e.Kind == KindUnknown || e.Kind == KindDelete && lost {
		return true
	}
	switch e.Reach {
	case ReachWorkspace:
		return false
	case ReachSystem, ReachShared, ReachPublic:
		return true
	case ReachUser:
	}
	return lost || e.Kind == KindCredentials || e.Kind == KindSafeguardOff || e.Kind == KindPower
}

// words are the words of an intent, lower case.
type words map[string]bool

func wordsOf(text string) words {
	w := words{}
	for s := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' && r != '-' && r != '/'
	}) {
		w[strings.Trim(s, "./-")] = true
	}
	return w
}

// asks reports whether the intent plainly asks for the effect: it names what
// is done and to what.
func (w words) asks(e Effect) bool {
	if len(w) == 0 || e.Target == "" {
		return false
	}
	named := false
	for s := range strings.FieldsFuncSeq(strings.ToLower(e.Target), func(r rune) bool { return r == ' ' || r == ',' }) {
		s = lastPart(strings.TrimRight(s, "/")) // a folder above it names it not
		if len(s) > 2 && w[strings.Trim(s, "./-")] {
			named = true
			break
		}
	}
	if !named {
		return false
	}
	return slices.ContainsFunc(verbsOf(e.Kind), func(verb string) bool { return w[verb] || w[verb+"s"] })
}

// verbs are the words with which people ask for an effect of this kind.
func verbsOf(k Kind) []string {
	switch k {
	case KindCreate, KindOverwrite:
		return []string{"write", "create", "save", "put", "add", "set", "change", "edit", "update", "copy", "store", "append", "make", "configure"}
	case KindMove:
		return []string{"move", "rename", "put"}
	case KindInstall:
		return []string{"install", "add", "upgrade", "update", "get"}
	case KindPermissions:
		return []string{"chmod", "executable", "permission", "allow", "owner", "readable", "writable"}
	case KindKill:
		return []string{"kill", "stop", "end", "terminate", "restart"}
	case KindSchedule:
		return []string{"schedule", "enable", "disable", "cron", "every", "daily", "nightly"}
	case KindPrivilege, KindInfrastructure:
		return []string{"start", "stop", "restart", "enable", "set", "change", "add"}
	case KindRead, KindDelete, KindForeignCode, KindSend, KindPublish, KindDatabase, KindCredentials,
		KindSpend, KindSafeguardOff, KindPower, KindPhysical, KindPeople, KindUnknown:
	}
	return nil
}
