package effects

import (
	"path"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
)

// search is a find command line as far as deleting goes.
type search struct {
	roots, names, writes []arg
	deletes              bool
	negated, pruned      bool
	empty                bool // only what is empty is found
	ors                  int
}

// searchOf reads find's words.
func searchOf(all []arg) *search {
	s := &search{}
	inRoots := true
	for i := 0; i < len(all); i++ {
		word := all[i].text
		if strings.HasPrefix(word, "-") || word == "(" || word == "!" {
			inRoots = false
		}
		switch word {
		case "-delete":
			s.deletes = true
		case "-exec", "-execdir", "-ok", "-okdir":
			s.deletes = s.deletes || removes(all[i+1:])
			for i+1 < len(all) && all[i].text != ";" && all[i].text != "+" {
				i++
			}
		case "-name", "-iname", "-path", "-wholename", "-ipath":
			if i++; i < len(all) {
				s.names = append(s.names, all[i])
			}
		case "-fprint", "-fls", "-fprintf", "-fprint0":
			if i++; i < len(all) {
				s.writes = append(s.writes, all[i])
			}
		case "!", "-not", "-regex", "-iregex", ",":
			s.negated = true
		case "-o", "-or":
			s.ors++
		case "-empty":
			s.empty = true
		case "-prune":
			s.pruned = true
		default:
			if inRoots {
				s.roots = append(s.roots, all[i])
			}
		}
	}
	if len(s.roots) == 0 {
		s.roots = []arg{literal(".")}
	}
	return s
}

// rebuilds reports whether all that is found can be rebuilt by its name.
func (s *search) rebuilds(t *place.Table) bool {
	if len(s.names) <= s.ors || s.negated || s.pruned && s.ors > 0 {
		return false
	}
	for _, n := range s.names {
		if !n.known || !t.Rebuilt(strings.Trim(n.text, "*/")) && !t.RebuiltName(n.text) {
			return false
		}
	}
	return true
}

// findRule judges find by its actions and by what it would find.
func findRule(c *call) []Effect {
	s := searchOf(c.all)
	out := c.writeAll("writes", s.writes)
	if !s.deletes {
		return append(out, reads()...)
	}
	return append(out, c.findDeletes(s)...)
}

func removes(args []arg) bool {
	for _, a := range args {
		switch path.Base(a.text) {
		case "rm", "rmdir", "unlink", "shred", "trash":
			return true
		case ";", "+":
			return false
		}
	}
	return false
}

func (c *call) findDeletes(s *search) []Effect {
	var out []Effect
	for _, root := range s.roots {
		if p := c.r.world.placeOf(root, c.cwd); (s.rebuilds(c.r.judge.places) || s.empty && !s.negated && s.ors == 0) && root.known &&
			(p == placeWorkspace || p == placeTemp) {
			out = append(out, own(say("deletes files below %s that can be rebuilt", root.text))...)
			continue
		}
		e := c.r.remove(c.invocation, root)
		for i := range e {
			e[i].Why = insteadOfDeletes(e[i].Why, "deletes what find finds below")
		}
		out = append(out, e...)
	}
	return out
}
