package place

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
)

// pattern is one compiled pattern of a row.
type pattern struct {
	row    *Row
	home   bool // begins in a home
	rooted bool // begins at the root
	steps  []string
	tail   string // the literal end of the last step
	except []*pattern
}

// index finds the patterns that may match a path without trying them all.
type index struct {
	// byStep holds patterns by a literal step that they require.
	byStep map[string][]*pattern
	// loose are the patterns without such a step.
	loose []*pattern
	all   []*pattern
}

func newIndex(rows []*Row, fold bool, of func(*Row) bool) *index {
	x := &index{byStep: map[string][]*pattern{}}
	for _, row := range rows {
		if !of(row) {
			continue
		}
		except := lists.Each(row.everywhere(row.Except), func(text string) *pattern { return compile(row, text, fold) })
		for _, text := range row.everywhere(row.Where) {
			p := compile(row, text, fold)
			p.except = except
			x.add(p)
		}
	}
	return x
}

// settingsFolders are where other systems keep what Linux keeps in the first one.
var settingsFolders = [...]string{"~/.config/", "~/AppData/Roaming/", "~/Library/Application Support/"} //nolint:gochecknoglobals // Never changed.

// everywhere returns patterns of a row; secrets of settings also where other systems keep them.
func (r *Row) everywhere(patterns []string) (all []string) {
	for _, p := range patterns {
		all = append(all, p)
		rest, ok := strings.CutPrefix(p, settingsFolders[0])
		for _, folder := range settingsFolders[1:] {
			if ok && r.Class&Secret != 0 {
				all = append(all, folder+rest)
			}
		}
	}
	return all
}

func compile(row *Row, text string, fold bool) *pattern {
	if fold {
		text = strings.ToLower(text)
	}
	rest, home := strings.CutPrefix(text, "~/")
	p := &pattern{row: row, home: home, rooted: text[0] == '/', steps: strings.Split(strings.TrimPrefix(rest, "/"), "/")}
	last := p.steps[len(p.steps)-1]
	p.tail = last[strings.LastIndexAny(last, "*?")+1:]
	return p
}

func (x *index) add(p *pattern) {
	x.all = append(x.all, p)
	for _, step := range slices.Backward(p.steps) {
		if !strings.ContainsAny(step, "*?") {
			x.byStep[step] = append(x.byStep[step], p)
			return
		}
	}
	x.loose = append(x.loose, p)
}

// guesses reports whether a path may mean a name that it does not spell: by a wildcard, as what a search found, or too long to compare.
func guesses(clean string) bool {
	return strings.ContainsAny(clean, string([]byte{AnyText, AnyByte})) || strings.Contains(clean, AnyFolders) || len(clean) > longestStep
}

// candidates returns the patterns that may match a path because of its i-th step; after the last step, those that require none.
func (x *index) candidates(guess bool, steps []string, i int) []*pattern {
	switch {
	case guess && i == 0:
		return x.all
	case guess:
		return nil
	case i < len(steps):
		return x.byStep[steps[i]]
	default:
		return x.loose
	}
}

// classes returns the classes of all matching rows.
func (x *index) classes(clean string, t *Table) Class {
	var r room
	steps := stepsOf(clean, &r)
	at, guess := t.homeOf(steps), guesses(clean)
	var c Class
	for i := range len(steps) + 1 {
		for _, p := range x.candidates(guess, steps, i) {
			if c&p.row.Class == 0 && (guess || strings.HasSuffix(clean, p.tail)) && p.matches(clean, steps, at) {
				c |= p.row.Class
			}
		}
	}
	return c
}

// matches reports whether a pattern matches a clean path. The first at steps belong to a home; at is 0 if there is none.
func (p *pattern) matches(clean string, steps []string, at int) bool {
	return (p.fits(clean, steps, at) || !p.home && p.fitsFound(steps, at)) &&
		!slices.ContainsFunc(p.except, func(e *pattern) bool { return e.fits(clean, steps, at) })
}

func (p *pattern) fits(clean string, steps []string, at int) bool {
	switch {
	case p.home:
		return at > 0 && MatchSteps(p.steps, steps[at:])
	case p.rooted && !strings.HasPrefix(clean, "/"):
		return false
	default:
		return MatchSteps(p.steps, steps)
	}
}

// isGates reports whether a pattern is a name of the gate's alone, in its folder.
func (p *pattern) isGates() bool {
	return len(p.steps) == 3 && p.row.Class&Own != 0 && p.steps[0] == "**"
}

// isFoundIn reports whether a search for a name finds a name of the gate's: for a pattern, only one in a whole home.
func (p *pattern) isFoundIn(home bool, name string) bool {
	return p.steps[2] == name || home && Meet(name, p.steps[2])
}

// fitsFound reports whether a file that a search passes on, from unknown folders, may match the pattern. The first at steps belong to a home.
func (p *pattern) fitsFound(steps []string, at int) bool {
	last := len(steps) - 1
	switch {
	case last < 1 || steps[last-1] != AnyFolders || !IsTelling(steps[last]):
		return false
	case p.isGates(): // in whichever folder, and by any pattern in a whole home
		return p.isFoundIn(last-1 <= at, steps[last])
	case last >= len(p.steps):
		return false
	}
	if name := strings.Trim(steps[last], Marks); name != steps[last] && name[0] == '.' && !slices.Contains(p.row.Endings, name) {
		return false // only an extension, which says too little
	}
	for i := range last - 1 {
		if p.steps[i] != steps[i] {
			return false
		}
	}
	name := p.steps[len(p.steps)-1]
	return name[0] != '*' && Meet(steps[last], name)
}
