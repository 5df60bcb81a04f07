package effects

import (
	"github.com/metnos/vaglio/vaglio"
	agents "github.com/metnos/vaglio/vaglio/clients"
	"github.com/metnos/vaglio/vaglio/commands"
	readings "github.com/metnos/vaglio/vaglio/reading"
)

// ofClient judges a call by what is known of its client's tool. It leaves to
// the shape of the call what the table leaves to it, and a tool that is not
// known, which is a gap of the reading. Whatever the call would run counts in
// any case.
func (t *tool) ofClient(p vaglio.Proposal) bool {
	known := t.r.judge.clients.Tool(p.Context.Client, p.Executor)
	if known == nil {
		return false
	}
	does := known.Does(p.Args)
	if does.Rule == agents.RuleShape {
		return false
	}
	ran := t.commands()
	t.addresses()
	before := len(t.r.effects)
	t.r.add(t.clientRule(does, ran)...)
	if ran && t.r.effects[before].Kind == KindRead {
		t.r.effects = t.r.effects[:before]
	}
	return true
}

// clientRule gives the effects of a line of a client's table. There is always
// at least one.
func (t *tool) clientRule(does commands.Outcome, ran bool) []Effect {
	switch does.Rule {
	case "":
		return []Effect{effectOf(does).with(tabled(does), "")}
	case agents.RuleRuns:
		if ran {
			return reads()
		}
		return unknown(say("runs something that is not told"), "")
	case agents.RuleFetches:
		var out []Effect
		for _, u := range t.rd.URLs {
			out = append(out, t.r.request("GET", u.Text, "")...)
		}
		if len(t.rd.URLs) == 0 {
			return unknown(say("asks an address that is not told"), "")
		}
		return append(reads(), out...)
	case agents.RuleWrites:
		out := own(say("writes"))
		for _, p := range t.rd.Paths {
			if p.Role&readings.RoleGoal != 0 {
				out = append(out, t.r.write(&invocation{cwd: t.r.world.cwd}, literal(p.Text), "writes")...)
			}
		}
		return out
	default:
		return unknown(say("does what no rule tells: %s", does.Rule), "")
	}
}
