package effects

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// inline judges a call of an inline program that matters.
func (r *reading) inline(v *invocation) []Effect {
	targets := argsOf(v.call.Targets)
	what := v.call.Language + "'s " + v.call.Function
	var out []Effect
	switch v.call.Verb {
	case shell.VerbDelete, shell.VerbDeleteTree:
		for _, t := range targets {
			out = append(out, r.remove(v, t)...)
		}
		if len(targets) == 0 {
			return unknown("deletes files whose names are not known by "+what, "")
		}
	case shell.VerbWrite, shell.VerbAppend, shell.VerbCreate:
		for _, t := range targets {
			out = append(out, r.write(v, t, "writes")...)
		}
	case shell.VerbRead, shell.VerbList:
		for _, t := range targets {
			if v.call.Verb == shell.VerbRead && r.world.placeOf(t, v.cwd) == placeSecret {
				out = append(out, usual(KindCredentials).with("reads the secrets in "+t.text, t.text))
			}
		}
	case shell.VerbPermissions:
		c := &call{invocation: v, r: r}
		out = c.permissions("opens", false, targets)
	case shell.VerbMove, shell.VerbCopy, shell.VerbLink:
		if len(targets) > 1 {
			out = append(out, r.write(v, targets[1], "writes")...)
		}
		if v.call.Verb == shell.VerbMove && len(targets) > 0 && r.world.placeOf(targets[0], v.cwd) != placeWorkspace && r.world.placeOf(targets[0], v.cwd) != placeTemp {
			out = append(out, usual(KindMove).with("moves "+targets[0].text+" away", targets[0].text).as(Partial, ReachUser))
		}
	case shell.VerbKill:
		return one(KindKill, "stops processes by "+what, join(targets))
	case shell.VerbFork:
		return own("starts a process")
	case shell.VerbNetwork:
		return r.inlineNetwork(v, targets)
	default:
		return unknown("calls "+what, "")
	}
	if len(out) == 0 {
		return reads()
	}
	return out
}

func (r *reading) inlineNetwork(v *invocation, targets []arg) []Effect {
	address := join(targets)
	fn := strings.ToLower(v.call.Function)
	for _, w := range []string{"post", "put", "patch", "delete", "send", "smtp", "upload", "connect", "socket"} {
		if strings.Contains(fn, w) {
			if localURL(address) {
				return own("talks to this machine")
			}
			return []Effect{usual(KindSend).with("sends data to "+address+" by "+v.call.Function, address).as(Irreversible, ReachShared)}
		}
	}
	for _, t := range targets {
		if leaks(t) {
			return one(KindSend, "sends local data inside the address "+t.text, t.text)
		}
	}
	return reads()
}
