package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
)

// Key returns a canonical text of what a proposal would do to what, the same
// for every spelling of the same effects, and whether all of it is known. Two
// calls with an equal key are equivalent; a call of which something is not
// known has no key, for it equals nothing.
func (j *Judge) Key(p vaglio.Proposal) (string, bool) {
	r := j.Read(p)
	w := j.worldOf(p)
	var parts []string
	for _, e := range r.Effects {
		if e.Kind == KindRead || e.Reach == ReachWorkspace && e.Kind != KindDelete {
			continue
		}
		if e.Kind == KindUnknown || e.Target == "" || strings.Contains(e.Target, "$") {
			return "", false
		}
		parts = append(parts, string(e.Kind)+"\x00"+string(e.Reach)+"\x00"+canonicalTarget(e, w))
	}
	if len(parts) == 0 {
		return "", false
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\n"), true
}

// canonicalTarget spells a path absolutely and orders the words of anything
// else.
func canonicalTarget(e Effect, w *world) string {
	if slices.Contains([]Kind{KindDelete, KindOverwrite, KindCreate, KindMove, KindPermissions}, e.Kind) {
		if !strings.Contains(e.Target, " ") && !strings.Contains(e.Target, "://") && (strings.ContainsAny(e.Target, "./~") || w.inside(w.clean(e.Target, w.cwd))) {
			return w.clean(e.Target, w.cwd)
		}
	}
	words := strings.Fields(strings.ToLower(e.Target))
	slices.Sort(words)
	return strings.Join(words, " ")
}
