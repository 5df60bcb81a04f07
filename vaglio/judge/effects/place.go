package effects

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/wording"
)

// where says where a path lies, as far as that matters to its owner.
type where uint8

const (
	placeWorkspace where = iota
	placeTemp            // temporary files
	placeNowhere         // /dev/null and the like
	placeControl         // settings that run code or steer agents, hooks, CI
	placeSecret          // files that hold credentials
	placeHome            // the user's other files
	placeSystem          // everything else
	placeUnknown         // the path is not known
)

// world is where a call would run.
type world struct {
	places *place.Table
	home   string
	user   string
	cwd    string // the folder in which the call begins, "" if it is not known
	roots  []string
	kept   []string // of roots, those among temporary files
}

// clean resolves a path as seen from the folder cwd.
func (w *world) clean(p, cwd string) string {
	for _, v := range []string{"$PWD", "$(pwd)", "$GITHUB_WORKSPACE", "$CI_PROJECT_DIR", "$PROJECT_ROOT", "$(git)"} {
		if rest, ok := strings.CutPrefix(p, v); ok && place.IsStep(rest) {
			p = cmp.Or(w.cwd, ".") + rest
		}
	}
	if p = w.local(p); strings.HasPrefix(p, "$") {
		return place.Clean(p)
	}
	cwd = w.local(cwd)
	return place.ByProcess(place.Join(cwd, p), cwd)
}

// local is a path in its normal form, which may be relative.
func (w *world) local(p string) string { return place.Local(p, cmp.Or(w.home, "/home/~")) }

// placeOf says where a word that names a file lies.
func (w *world) placeOf(a arg, cwd string) where {
	p := w.clean(a.text, cwd)
	is := w.places.Classes(p)
	switch {
	case (is&place.Temporary != 0 || w.temporary(a, p)) && !place.Inside(w.kept, p):
		return placeTemp
	case a.text == "":
		return placeUnknown
	case is&place.Nowhere != 0:
		return placeNowhere
	case is&(place.Secret|place.Own) != 0:
		return placeSecret
	case is&place.Control != 0:
		return placeControl
	case w.inside(p):
		return placeWorkspace
	case strings.HasPrefix(p, "$"):
		if listing(a) {
			return placeWorkspace
		}
		return placeUnknown
	}
	return w.outside(p)
}

// outside says where a known path lies that is not in the workspace. A relative
// one whose folder is not known is taken to be.
func (w *world) outside(p string) where {
	switch {
	case w.places.InHome(p), w.home != "" && place.Inside([]string{w.home}, p):
		return placeHome
	case !path.IsAbs(p) && !strings.HasPrefix(p, "..") && w.cwd == "":
		return placeWorkspace
	}
	return placeSystem
}

// away is an effect on a clean path outside: it is graded as one on the whole
// machine, and touches that only where the machine does not run without it.
func (w *world) away(e Effect, p string) Effect {
	e.counts, e.Reach, e.Why = ReachSystem, ReachUser, e.Why.And(wording.Outside)
	if at := strings.IndexAny(p, "*?["); at >= 0 {
		p = path.Dir(p[:at+1])
	}
	if !path.IsAbs(p) || strings.ContainsAny(p, "$~⟨‹") || w.places.TreeAt(p) != place.NoTree || (w.places.Classes(p)|w.places.Below(p))&^place.Plain != 0 {
		e.Reach = ReachSystem
	}
	return e
}

// inside reports whether a clean path lies in the workspace.
func (w *world) inside(p string) bool {
	if place.Inside(w.roots, p) {
		return true
	}
	return !path.IsAbs(p) && !strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "$") && !strings.HasPrefix(p, "~") && (len(p) < 2 || p[1] != ':')
}

// listing reports whether an unknown name comes only from commands that list
// names below the current folder.
func listing(a arg) bool {
	return len(a.from) > 0 && len(a.names) == 0 && !slices.ContainsFunc(a.from, func(f string) bool {
		return !slices.Contains([]string{"ls", "find", "fd", "git", "grep", "rg", "basename"}, f)
	})
}

// temporary reports whether an unknown beginning of a path is a temporary file
// or folder by the name of its variable or by the program that made it.
func (w *world) temporary(a arg, p string) bool {
	if len(a.from) == 1 && a.from[0] == "mktemp" && len(a.names) == 0 {
		return true
	}
	return len(a.names) == 1 && len(a.from) == 0 && strings.HasPrefix(p, "$"+a.names[0]) && w.places.Variable(a.names[0])&place.TemporaryVariable != 0
}

// secretName reports whether a variable by its name holds a secret.
func (r *reading) secretName(n string) bool {
	return r.judge.places.Variable(n)&place.SecretVariable != 0
}

// rebuildableHome reports whether a clean path lies in a cache of the user
// that fills itself again.
func (w *world) rebuildableHome(p string) bool {
	return w.home != "" && strings.HasPrefix(p, w.home+"/") && w.places.Classes(p)&place.Cache != 0
}
