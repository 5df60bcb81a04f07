package effects

import (
	"path"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// fold is an effect that stands for equal ones on the files of one folder.
type fold struct {
	Effect
	worst float64 // the lowest score among them
	count int
}

// foldLeast is from how many equal effects on they are told as a number.
const foldLeast = 3

// folded joins effects that differ only in which file of a folder they touch,
// in the order of their first, so that a long list says one thing once and a
// count says how often.
func folded(list []Effect, said words) []fold {
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
	var out []fold
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

// unfoldFew gives groups that are too small for a number their own sentences
// back, and the others their number.
func unfoldFew(list []Effect, groups []fold, said words) []fold {
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

// withoutTarget is what an effect does without the file that it does it to, and
// whether it is one file by a path.
func withoutTarget(e Effect) (string, bool) {
	if !strings.Contains(e.Target, "/") || strings.ContainsAny(e.Target, " $*") || strings.Contains(e.Target, "://") {
		return "", false
	}
	without := e.Why.About(e.Target, wording.Clause{Text: "\x00"}).String()
	return without, strings.Contains(without, "\x00")
}
