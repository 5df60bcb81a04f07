package effects

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/filemode"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// write is the effect of writing a file.
func (r *reading) write(v *invocation, a arg, verb wording.Phrase) []Effect {
	if r.sealed(v) {
		return nil
	}
	r.tell(v, vaglio.Wrote, a)
	e := usual(KindOverwrite).with(wording.Sentence{{Phrase: verb}, object(a.text)}, a.text)
	at := r.world.placeOf(a, v.cwd)
	if p := r.world.clean(a.text, v.cwd); p == "/tmp" || p == "/var/tmp" {
		at = placeTemp // into the folder
	}
	if r.judge.places.IsDisk(r.world.clean(a.text, v.cwd)) {
		return []Effect{e.with(say("overwrites the disk %s", a.text), a.text).as(Irreversible, ReachSystem)}
	}
	switch at {
	case placeNowhere:
		return nil
	case placeWorkspace, placeTemp:
	case placeControl:
		e.Reach = ReachUser
		e.Why = e.Why.And(", which steers what runs by itself or what an agent may do")
	case placeSecret:
		e.Reach = ReachUser
		e.Why = e.Why.And(", which holds secrets")
	case placeHome:
		e.Reach = ReachUser
		e.Why = e.Why.And(wording.Outside)
	case placeUnknown:
		e.Reach, e.Sure = ReachUser, 0.4
		e.Why = wording.Sentence{{Phrase: verb}, wording.Say("a file whose name is not known: %s", a.text)}
	case placeSystem:
		e = r.world.away(e, r.world.clean(a.text, v.cwd))
	}
	return []Effect{e}
}

// disclosures adds what a reading command discloses.
func (r *reading) disclosures(v *invocation, p *parsed, out []Effect) []Effect {
	if v.box != "" {
		return out
	}
	switch v.name {
	case "echo", "printf", "printenv", "print":
		for _, a := range p.all {
			for _, n := range a.names {
				if r.secretName(n) {
					out = append(out, usual(KindCredentials).with(say("outputs the secret $%s", n), n))
				}
			}
		}
		return out
	}
	c := &call{invocation: v, parsed: p, r: r, called: r.canonical(v)}
	t := c.told()
	for i := range t.Operations {
		if o := &t.Operations[i]; o.Verb == operation.Read {
			out = append(out, c.operation(o)...)
		}
	}
	if t.Known {
		return out
	}
	for _, a := range p.operands {
		if c.secret(a) {
			out = append(out, usual(KindCredentials).with(say("shows the secrets in %s", a.text), a.text))
		}
	}
	return out
}

func (c *call) writeAll(verb wording.Phrase, list []arg) []Effect {
	var out []Effect
	for _, a := range list {
		out = append(out, c.r.write(c.invocation, a, verb)...)
	}
	return out
}

// hugeFile is the size from which a file is asked about that is made at once.
const hugeFile = 100 << 30

// fills judges what writes until the disk is full: a size that few disks have to
// spare, or a source without end and no bound.
func (r *reading) fills(v *invocation) []Effect {
	t := r.judge.tables
	endless := t.ofClass("endless", v.name) || slices.ContainsFunc(v.args, func(a arg) bool { return t.ofClass("endless", strings.TrimPrefix(a.text, "if=")) })
	to := slices.Clone(v.writes)
	size, count, bounded := 0.0, 1.0, t.ofClass("sized", v.name)
	for _, a := range v.args {
		option, value, _ := strings.Cut(a.text, "=")
		switch option {
		case "of":
			to = append(to, a.slice(len("of=")))
		case "count":
			count, bounded = bytesOf(value), true
		default:
			size = max(size, bytesOf(cmp.Or(value, strings.TrimLeft(a.text, "-clsbn"))))
		}
	}
	// What a device is written with fills nothing.
	to = slices.DeleteFunc(to, func(w arg) bool { return strings.HasPrefix(w.text, "/dev/") && !strings.HasPrefix(w.text, "/dev/shm/") })
	if t.ofClass("makes-file", v.name) && size*count >= hugeFile || endless && len(to) > 0 && !bounded {
		return one(KindPower, say("writes until the disk may be full: %s %s", v.name, join(v.args)), v.name)
	}
	return nil
}

// bytesOf is the number of bytes that a size says, 0 if it is none.
func bytesOf(size string) float64 {
	digits := strings.TrimLeft(size, "0123456789")
	unit := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(digits, "B"), "i"))
	power := strings.Index("KMGTPE", unit)
	if len(unit) > 1 || power < 0 || len(digits) == len(size) {
		return 0
	}
	n, _ := strconv.ParseFloat(size[:len(size)-len(digits)], 64)
	return n * math.Pow(1<<10, float64(power+len(unit)))
}

// runsSubstitution says whether a substitution of sed runs what it gives: an e
// stands among the letters behind its last delimiter.
func runsSubstitution(script string) bool {
	at := strings.IndexByte(script, 's')
	if at < 0 || at+1 >= len(script) {
		return false
	}
	flags := script[strings.LastIndexByte(script, script[at+1])+1:]
	return strings.Contains(flags, "e") && strings.Trim(flags, "egpimIM0123456789") == ""
}

// permits is the effect of giving a file a mode.
func (r *reading) permits(v *invocation, mode string, a arg) []Effect {
	e := usual(KindPermissions).with(say("changes who may use %s", a.text), a.text)
	p := r.world.placeOf(a, v.cwd)
	if p == placeSystem {
		e.Reach = ReachSystem
	}
	switch lends := filemode.SetsID(mode); {
	case lends || filemode.OpensToAll(mode):
		e = e.with(say("opens %s to everyone", a.text), a.text).inFolder(p == placeWorkspace)
		if lends {
			e.Why = say("lets whoever runs %s act as its owner or group", a.text)
		}
	case p == placeWorkspace || p == placeTemp || p == placeNowhere:
		e.Reach, e.Reversibility = ReachWorkspace, Reversible
	}
	return []Effect{e}
}

// given reports whether the command is given what came from the network: as its
// input, or as one of some files.
func (c *call) given(files []arg) bool {
	from := c.stdin.text
	return from.remote || slices.Contains(from.from, "curl") || slices.Contains(from.from, "wget") ||
		slices.ContainsFunc(files, func(f arg) bool { return c.r.fetched[lastPart(f.text)] })
}
