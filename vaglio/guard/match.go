package guard

import (
	"slices"
	"strings"
)

// deed is what is done to a target.
type deed uint8

const (
	// uses is what an unknown program does: at least it reads.
	uses deed = iota
	reads
	// writes adds to a file or changes it.
	writes
	// replaces writes a whole file anew: what was in it is gone.
	replaces
	removes
	// empties is removes for everything below, by a program that recurses.
	empties
)

// placeRule is one compiled pattern of the table of places.
type placeRule struct {
	row    *place
	home   bool // the pattern begins in a home
	steps  []string
	except []exception
}

// exception frees what is below.
type exception struct {
	home  bool
	steps []string
}

// placeIndex finds the patterns that can match a path without trying them all.
type placeIndex struct {
	// byStep holds patterns under a literal step that they need.
	byStep map[string][]*placeRule
	// loose are patterns without one.
	loose []*placeRule
	all   []*placeRule
}

func newPlaceIndex(rows []place, fold bool) *placeIndex {
	x := &placeIndex{byStep: map[string][]*placeRule{}}
	split := func(pattern string) (bool, []string) {
		if fold {
			pattern = strings.ToLower(pattern)
		}
		rest, home := strings.CutPrefix(pattern, "~/")
		return home, strings.Split(strings.TrimPrefix(rest, "/"), "/")
	}
	for i := range rows {
		var except []exception
		for _, pattern := range rows[i].except {
			home, steps := split(pattern)
			except = append(except, exception{home: home, steps: steps})
		}
		for _, pattern := range rows[i].where {
			p := &placeRule{row: &rows[i], except: except}
			p.home, p.steps = split(pattern)
			x.add(p)
		}
	}
	return x
}

func (x *placeIndex) add(p *placeRule) {
	x.all = append(x.all, p)
	for _, step := range slices.Backward(p.steps) {
		if !strings.ContainsAny(step, "*?") {
			x.byStep[step] = append(x.byStep[step], p)
			return
		}
	}
	x.loose = append(x.loose, p)
}

// matches says whether a pattern fits steps of which the first at belong to a
// home; at is 0 where there is none.
func (p *placeRule) matches(steps []string, at int) bool {
	if !fits(p.home, p.steps, steps, at) && (p.home || !p.fitsFound(steps)) {
		return false
	}
	for _, e := range p.except {
		if fits(e.home, e.steps, steps, at) {
			return false
		}
	}
	return true
}

func fits(home bool, pattern, steps []string, at int) bool {
	if home {
		return at > 0 && matchSteps(pattern, steps[at:])
	}
	return matchSteps(pattern, steps)
}

// fitsFound says whether the steps of a file that a find hands on, below
// folders that nobody knows, may be those of the pattern.
func (p *placeRule) fitsFound(steps []string) bool {
	last := len(steps) - 1
	if last < 1 || steps[last-1] != anyFolders || last >= len(p.steps) || !isTelling(steps[last]) {
		return false
	}
	if name := strings.Trim(steps[last], vague); name != steps[last] && name[0] == '.' && !slices.Contains(p.row.endings, name) {
		return false // only an ending, which says too little
	}
	for i := range last - 1 {
		if p.steps[i] != steps[i] {
			return false
		}
	}
	name := p.steps[len(p.steps)-1]
	return name[0] != '*' && meet(steps[last], name)
}

// ruleFor gives the rule that a row has for a deed.
func (p *place) ruleFor(d deed) string {
	switch d {
	case writes:
		return p.writing
	case replaces:
		if p.replacing != "" {
			return p.replacing
		}
		return p.writing
	case removes, empties:
		return p.removing
	case uses, reads:
		return p.reading
	default:
		return p.reading
	}
}

// placeAt gives the id of the rule about the place that a clean spot names.
func (g *Guard) placeAt(clean string, d deed) string {
	if g.fold {
		clean = strings.ToLower(clean)
	}
	var r room
	steps := stepsOf(clean, &r)
	at := g.homeOfSteps(steps)
	if isVague(clean) {
		return firstRule(g.places.all, steps, at, d)
	}
	for _, step := range steps {
		if id := firstRule(g.places.byStep[step], steps, at, d); id != "" {
			return id
		}
	}
	return firstRule(g.places.loose, steps, at, d)
}

func firstRule(rules []*placeRule, steps []string, at int, d deed) string {
	for _, p := range rules {
		if id := p.row.ruleFor(d); id != "" && p.matches(steps, at) {
			return id
		}
	}
	return ""
}

// diskRule forbids writing to a disk by its device.
const diskRule = "disk.device"

// isDisk says whether a clean spot is a device that holds file systems, or a
// piece of raw memory.
func (g *Guard) isDisk(clean string) bool {
	name, ok := strings.CutPrefix(clean, "/dev/")
	if !ok {
		return strings.HasPrefix(clean, "//./physicaldrive") || strings.HasPrefix(clean, "/./physicaldrive")
	}
	first, rest, deep := strings.Cut(name, "/")
	if deep {
		return isVolume(first, rest)
	}
	for _, p := range g.disks {
		if meet(first, p) {
			return !strings.HasPrefix(first, "stdin") && !isWild(first)
		}
	}
	return false
}

// isVolume says whether /dev/first/rest is a disk by another name, or a
// logical volume: a folder there that nothing else is known by.
func isVolume(first, rest string) bool {
	switch first {
	case "disk", "md", "zvol", "vg", "nbd", "block":
		return true
	case "mapper":
		return rest != "control"
	case "shm", "pts", "mqueue", "fd", "input", "snd", "dri", "bus", "net", "tcp", "udp", "char", "cpu", "vfio", "hugepages",
		"usb", "serial", "infiniband", "dvb", "bsg", "cpu_dma_latency", "lightnvm", "v4l", "by-id", "gpiochip0", "binderfs", "accel":
		return false
	default:
		return !isVague(first) && rest != ""
	}
}

// diskNames are the names of disks and raw memory below /dev.
func diskNames() []string {
	return strings.Fields("sd[a-z] sd?* hd?* vd?* xvd* nvme* mmcblk* md? md?? md??? dm-* loop? loop?? loop??? nbd? nbd?? zd? zd?? zd??? rbd? bcache? drbd? " +
		"root ubiblock* disk? disk?s* rdisk* ada? ada?p* da? da?p* nvd* nda? mtd? mtdblock* pmem* mem kmem port ram? ram?? cciss* ubi? ubi?_* dasd* mpath*")
}
