package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// removes names what a call removes, however the command is worded.
func removes(p vaglio.Proposal) (string, bool) {
	command, _ := p.Args["command"].(string)
	_, what, ok := strings.Cut(command, "photos")
	return "remove photos" + what[:min(len(what), 2)], ok
}

// TestWaysAroundANo checks that after a no by the guard or by a person, the same attempt in
// other words is reported, but not the same words again, something else, another agent's
// calls, or what preceded the no.
func TestWaysAroundANo(t *testing.T) {
	t.Parallel()
	refused := func(agent, command string, hour float64) approval.Step {
		s := ruled("shell.rm_home", hour)
		s.ID, s.Proposal = fmt.Sprint(agent, command, hour), vaglio.Proposal{Agent: agent, Executor: "shell_exec", Args: vaglio.Args{"command": command}}
		return s
	}
	first := refused("bot", "rm -rf ~/photos", 2)
	steps := []approval.Step{
		refused("bot", "rm -r ~/photos", 1), // before the others, so it is the no
		first, refused("bot", "rm -rf ~/photos", 3),
		refused("other", "rm -fr ~/photos", 4), refused("bot", "rm -rf /", 5),
	}
	asked1, s1 := asked(1, 6)
	asked1.Approvals[0].Proposal.Args = vaglio.Args{"command": "find ~/photos -delete"}
	asked1.Approvals[0].Effect = "remove photos"
	s1.Proposal = asked1.Approvals[0].Proposal
	// A person denies, and the agent asks again once that denial no longer stands.
	asked2, s2 := asked(2, 7)
	asked2.Approvals[0].Effect = "drop table"
	decided(t, &asked2, approval.ChoiceDeny, time.Minute, "web:ann")
	asked3, s3 := asked(3, 8)
	asked3.Approvals[0].Effect = "drop table"
	b := report.NewDigestBuilder(report.Window{From: digestAt(0), To: digestAt(24)}, approval.NewMasker(approval.Secret{1}))
	b.Named(removes)
	for _, a := range []approval.Ask{asked1, asked2, asked3} {
		b.Ask(&a)
	}
	for _, s := range append(steps, s1, s2, s3) {
		b.Step(&s)
	}
	got := b.Digest(nil).Workarounds
	if len(got) != 2 {
		t.Fatalf("workarounds %+v", got)
	}
	if w := got[0]; w.ID != approval.VetoID(steps[0].ID) || w.Tries != 2 || w.Agent != "bot" || w.Wanted != `rm -r ~/photos` && !strings.Contains(w.Wanted, "rm -r ~/photos") {
		t.Errorf("around the guard: %+v", w)
	}
	if w := got[1]; w.ID != "ask0002-1" || w.Tries != 1 {
		t.Errorf("around a person: %+v", w)
	}
}

// TestOnlyADenialIsWorkedAround checks that a call that joins another's ask is a way around
// a no only if a person said no before it, to other words, on a route that is covered.
func TestOnlyADenialIsWorkedAround(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer approval.Choice // none means that it waits
		hour   float64         // when the call came, asked at 1 and answered a minute later
		words  string
		route  string
		tries  int
	}{
		"denied":              {approval.ChoiceDeny, 2, "rm -f 1", "team", 1},
		"in the same words":   {approval.ChoiceDeny, 2, "rm 1", "team", 0},
		"before the denial":   {approval.ChoiceDeny, 1.01, "rm -f 1", "team", 0},
		"allowed":             {approval.ChoiceAllow, 2, "rm -f 1", "team", 0},
		"still waiting":       {"", 2, "rm -f 1", "team", 0},
		"on another's route":  {approval.ChoiceDeny, 2, "rm -f 1", "other", 0},
		"allowed, not theirs": {approval.ChoiceAllow, 2, "rm -f 1", "other", 0},
	} {
		a, s := asked(1, 1)
		a.Routes = []approval.Active{{Route: tt.route, Quorum: 1}}
		if tt.answer != "" {
			decided(t, &a, tt.answer, time.Minute, "web:ann")
		}
		v := *s.Verdict
		v.TS = digestSeconds(digestAt(tt.hour))
		again := approval.Step{At: digestAt(tt.hour), Verdict: &v, Approval: s.Approval, Proposal: s.Proposal, Route: "team"}
		again.Proposal.Args = vaglio.Args{"command": tt.words}
		b := report.NewDigestBuilder(report.Window{From: digestAt(0), To: digestAt(24)}, approval.NewMasker(approval.Secret{1}))
		b.Of("team")
		b.Ask(&a)
		b.Step(&s)
		b.Step(&again)
		tries := 0
		for _, w := range b.Digest(nil).Workarounds {
			tries += w.Tries
		}
		if tries != tt.tries {
			t.Errorf("%s: %d tries, want %d", name, tries, tt.tries)
		}
	}
}
