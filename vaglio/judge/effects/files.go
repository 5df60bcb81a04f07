package effects

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

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
					out = append(out, usual(KindCredentials).with(say("prints the secret $%s", n), n))
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

func truncateRule(c *call) []Effect {
	if v, ok := c.value("-s", "--size"); ok && c.name == "truncate" && strings.HasPrefix(v.text, "+") {
		return c.writeAll("extends", c.operands)
	}
	if v, ok := c.value("-s", "--size"); c.name == "fallocate" || ok && strings.Trim(v.text, "0kKMGB") != "" && !strings.HasPrefix(v.text, "-") &&
		!strings.HasPrefix(v.text, "<") {
		return c.writeAll("writes", c.operands)
	}
	var out []Effect
	for _, a := range c.operands {
		out = append(out, insteadOfDeletes(c.r.remove(c.invocation, a), "empties")...)
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

// ddRule judges dd, which also copies what lies below files.
func ddRule(c *call) []Effect {
	out := operationsRule(c)
	for _, o := range c.told().Operations {
		if a := argOf(o.Object.Word); o.Verb == operation.Read && c.r.world.placeOf(a, c.cwd) == placeSystem {
			out = append(out, usual(KindCredentials).with(say("copies the raw content of %s", a.text), a.text))
		}
	}
	return out
}

// sedRule judges sed, whose script may write files or run commands.
func sedRule(c *call) []Effect {
	if c.inPlace() {
		return append(own(c.said(c.rest(c.took))), operationsRule(c)...)
	}
	for _, s := range append(c.values("-e", "--expression"), c.operands[:min(1, len(c.operands))]...) {
		if strings.Contains(s.text, "w /") || runsSubstitution(s.text) {
			return unknown(say("runs a sed script that writes files or runs commands: %s", s.text), s.text)
		}
	}
	return c.r.disclosures(c.invocation, c.parsed, reads())
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

// unpackRule judges what unpacks an archive. One that came from the network is
// foreign code.
func unpackRule(c *call) []Effect {
	file, _ := c.value("-f", "--file")
	if from := c.stdin.text; from.remote || slices.Contains(from.from, "curl") || slices.Contains(from.from, "wget") || c.r.fetched[lastPart(file.text)] {
		c.r.cloned = true
	}
	c.r.unpacks = true
	var out []Effect
	for _, o := range c.told().Operations {
		if o.Verb == operation.Write {
			out = append(out, c.operation(&o)...)
		}
	}
	if len(out) == 0 {
		return own(say("unpacks an archive in the workspace"))
	}
	return out
}

func (c *call) inPlace() bool {
	for i := range c.Flags {
		if n := c.Flags[i].Name; n == "--in-place" || n == "-i" || strings.HasPrefix(n, "-i") || n == "-I" {
			return true
		}
	}
	return false
}

// archiveRule judges the other archivers.
func archiveRule(c *call) []Effect {
	var out []Effect
	for i, a := range c.operands {
		if i > 0 && c.r.world.placeOf(a, c.cwd) == placeSecret {
			out = append(out, usual(KindCredentials).with(say("packs the secrets in %s", a.text), a.text))
		}
	}
	if strings.Contains(c.operand(0), ".") {
		out = append(out, c.r.write(c.invocation, c.operands[0], "packs or unpacks")...)
	}
	if c.name == "zip" && c.has("-m", "--move") {
		return append(out, usual(KindDelete).with(say("deletes the files that it packed"), ""))
	}
	return append(out, own(say("packs or unpacks files"))...)
}

func chmodRule(c *call) []Effect {
	ops := c.operands
	mode := ""
	if len(ops) > 0 && !c.has("--reference") {
		mode, ops = ops[0].text, ops[1:]
	}
	for i := range c.Flags { // chmod -x file
		if n := c.Flags[i].Name; len(n) > 1 && strings.Trim(n[1:], "rwxXst") == "" {
			ops = c.operands
		}
	}
	return c.permissions(mode, ops)
}

// modeOpens reports whether a mode gives rights to everyone or special bits.
func modeOpens(mode string) bool {
	digits := strings.TrimLeft(mode, "0")
	if digits != "" && strings.Trim(digits, "01234567") == "" {
		return len(digits) >= 4 && digits[0] != '1' || len(digits) == 3 && strings.ContainsAny(digits[2:], "2367")
	}
	for part := range strings.SplitSeq(mode, ",") {
		who, rights, ok := strings.Cut(part, "+")
		if !ok {
			who, rights, ok = strings.Cut(part, "=")
		}
		if ok && (strings.Contains(rights, "s") || strings.Contains(rights, "w") && strings.ContainsAny(who, "oa")) {
			return true
		}
	}
	return false
}

func (c *call) permissions(mode string, files []arg) []Effect {
	var out []Effect
	for _, a := range files {
		e := usual(KindPermissions).with(say("changes who may use %s", a.text), a.text)
		p := c.r.world.placeOf(a, c.cwd)
		if p == placeSystem {
			e.Reach = ReachSystem
		}
		switch {
		case modeOpens(mode):
			e = e.with(say("opens %s to everyone", a.text), a.text).inFolder(p == placeWorkspace)
			if strings.Contains(mode, "s") || len(strings.TrimLeft(mode, "01")) > 3 { // more than the sticky bit
				e.Why = say("lets whoever runs %s act as its owner or group", a.text)
			}
		case p == placeWorkspace || p == placeTemp || p == placeNowhere:
			e.Reach, e.Reversibility = ReachWorkspace, Reversible
		}
		out = append(out, e)
	}
	return out
}
