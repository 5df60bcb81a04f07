package effects

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Threshold is the score below which a person must be asked.
const Threshold = 0.5

// The costs of an effect add up to the difference between its score and 1. They are chosen so that
// what stays in the workspace passes unless it is lost for good, and whatever reaches further is
// asked about.
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

// asked is the highest score of an effect that is asked about whatever the intent says.
const asked = 0.49

// score grades one effect. What the intent plainly asks for costs less, but what is irreversible,
// shared or public is asked about even then.
func (e Effect) score(i *intent) float64 {
	if e.Kind == KindRead {
		return 0.95
	}
	e.Reach, e.Reversibility = e.Counts(), cmp.Or(e.eased, e.Reversibility)
	s := 1 - costOfKind(e.Kind) - costOfUndoing(e.Reversibility) - costOfReach(e.Reach)
	if s < Threshold && i.asks(e) {
		s += 0.10
	}
	if e.final() {
		s = min(s, asked)
	}
	return max(0.02, min(s, 1))
}

// final reports whether an effect is asked about whatever the intent says.
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

// intent is what a call is meant to do, as lower-case words.
type intent struct {
	words map[string]bool
	verbs map[string]map[string]bool // the verbs that people ask with, by class
}

// intentOf reads the words of an intent.
func (t *tables) intentOf(text string) *intent {
	i := &intent{map[string]bool{}, t.Nouns}
	for s := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' && r != '-' && r != '/'
	}) {
		i.words[strings.Trim(s, "./-")] = true
	}
	return i
}

// asks reports whether the intent plainly asks for the effect: it names the action and the target.
func (i *intent) asks(e Effect) bool {
	if i == nil || len(i.words) == 0 {
		return false
	}
	named := slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(e.Target), func(r rune) bool { return r == ' ' || r == ',' }), func(s string) bool {
		s = lastPart(strings.TrimRight(s, "/")) // a folder above it does not name it
		return len(s) > 2 && i.words[strings.Trim(s, "./-")]
	})
	for verb := range i.verbs["asks-"+string(e.Kind)] {
		if named && (i.words[verb] || i.words[verb+"s"]) {
			return true
		}
	}
	return false
}

// fold is an effect that stands for equal effects on the files of one folder.
type fold struct {
	Effect
	worst float64 // the lowest score among them
	count int
}

// foldLeast is the number of equal effects from which they are reported as a count.
const foldLeast = 3

// folded joins effects that differ only in which file of a folder they affect, in the order of
// their first, so that a long list says one thing once, with a count.
func folded(list []Effect, said *intent) []fold {
	type key struct {
		kind  Kind
		v     Reversibility
		reach Reach
		sure  float64
		why   string // without the target
		dir   string
	}
	at := map[key]int{}
	seen := map[string]bool{}
	out := make([]fold, 0, len(list))
	for _, e := range list {
		f := fold{Effect: e, worst: e.score(said), count: 1}
		why, ok := withoutTarget(e)
		if !ok {
			out = append(out, f)
			continue
		}
		k := key{e.Kind, e.Reversibility, e.Reach, e.Sure, why, path.Dir(e.Target)}
		i, known := at[k]
		switch {
		case seen[why+"\x00"+e.Target]:
			out[i].worst = min(out[i].worst, f.worst) // the same once more
		case known:
			out[i].worst = min(out[i].worst, f.worst)
			out[i].count++
		default:
			at[k] = len(out)
			out = append(out, f)
		}
		seen[why+"\x00"+e.Target] = true
	}
	return unfoldFew(list, out, said)
}

// unfoldFew gives groups that are too small for a count their own sentences back, and the others
// their count.
func unfoldFew(list []Effect, groups []fold, said *intent) []fold {
	few := map[string]bool{}
	for i := range groups {
		g := &groups[i]
		switch {
		case g.count >= foldLeast:
			dir := path.Dir(g.Target)
			g.Why = g.Why.About(g.Target, wording.Say("%s files below %s", strconv.Itoa(g.count), dir))
			g.Target = dir
		case g.count > 1:
			why, _ := withoutTarget(g.Effect)
			few[why+"\x00"+path.Dir(g.Target)] = true
		}
	}
	if len(few) == 0 {
		return groups
	}
	for _, e := range list {
		if why, ok := withoutTarget(e); ok && few[why+"\x00"+path.Dir(e.Target)] {
			groups = append(groups, fold{Effect: e, worst: e.score(said), count: 1}) // equal signals are joined later
		}
	}
	return groups
}

// withoutTarget returns what an effect does without the file that it affects, and whether that is
// a single file with a path.
func withoutTarget(e Effect) (string, bool) {
	if !strings.Contains(e.Target, "/") || strings.ContainsAny(e.Target, " $*") || strings.Contains(e.Target, "://") {
		return "", false
	}
	without := e.Why.About(e.Target, wording.Clause{Text: "\x00"}).String()
	return without, strings.Contains(without, "\x00")
}
