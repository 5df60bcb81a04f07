package web_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// Statistics counts what is on the desk.
func (d *desk) Statistics(ctx context.Context, r report.Range) (report.Statistics, error) {
	w, err := r.Window(time.Now(), time.UTC)
	if err != nil {
		return report.Statistics{}, err
	}
	if err := ctx.Err(); err != nil {
		return report.Statistics{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readings++
	b := report.NewStatisticsBuilder(w, time.UTC, report.DefaultNight(), approval.NewMasker(approval.Secret{1}))
	for _, e := range slices.Backward(d.entries) {
		b.Step(&e.Step, e.Cursor)
	}
	for i := range slices.Backward(d.asks) {
		b.Ask(&d.asks[i])
	}
	s := b.Statistics()
	if len(d.entries) > 0 && d.entries[0].Step.At.After(w.From) {
		s.Since = d.entries[0].Step.At.UTC()
	}
	return s, d.fail
}

// Digest returns the digest of one day, with texts that others wrote.
func (d *desk) Digest(_ context.Context, day string) (report.Digest, error) {
	if day != "" && day != "2026-11-21" {
		return report.Digest{}, &report.DayError{Day: day, Early: day > "2026-11-21"}
	}
	if d.digest != nil {
		return *d.digest, nil
	}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	fates := report.Fates{Allowed: 1, Denied: 2, Runs: report.Runs{Failed: 1}}
	var week []report.Day
	for i := range 7 {
		from := at.AddDate(0, 0, i-7)
		week = append(week, report.Day{
			Window: report.Window{From: from, To: from.AddDate(0, 0, 1)},
			Counts: report.Counts{Approved: 1000 * i, Guard: i, Vetoed: 3, Fates: fates},
		})
	}
	week[6].Counts = report.Counts{Judged: 41, Approved: 31, Guard: 7, Vetoed: 3, Fates: fates}
	return report.Digest{
		Window: report.Window{From: at.AddDate(0, 0, -1), To: at}, Late: true, Week: week,
		Counts:     report.Counts{Judged: 41, Approved: 31, Guard: 7, Vetoed: 3, Fates: fates},
		WeekAgo:    report.Counts{Judged: 17},
		Rules:      []report.Tally{{Name: "path.auth", Count: 7, New: true}},
		Checkpoint: "vaglio/x\n41\nk/+=\n\n— vaglio/x s/+=\n",
		Groups: []report.VetoGroup{{Effect: "delete", Count: 3, Actions: []report.Veto{{
			ID: "ask-1", At: at, Agent: "<script>bot</script>", Wanted: "rm \u202ex", State: approval.Denied, By: "Ann", Words: "no\nno",
		}}}},
	}, nil
}

// busy returns a desk on which that many calls were judged in the last days.
func busy(calls, days int) *desk {
	d, rng := newDesk(), rand.New(rand.NewPCG(1, 2))
	begin := time.Now().AddDate(0, 0, 1-days).Truncate(24 * time.Hour)
	for n := range calls {
		at := begin.Add(time.Duration(n) * ((time.Duration(days)*24*time.Hour - time.Hour) / time.Duration(calls)))
		p := vaglio.Proposal{
			Agent: fmt.Sprint("agent-", rng.IntN(4)), TurnID: fmt.Sprint("t-", n/9), Executor: []string{
				"shell_exec", "git_push", "mail_send", "fs_write", "fs_read", "kubectl_apply", "a_tool_with_a_rather_long_name_of_its_own",
			}[rng.IntN(7)],
			Args: vaglio.Args{"command": fmt.Sprint("make ", n)},
		}
		graded := func(score float64) []vaglio.GradientResult {
			signal := vaglio.Signal{Category: []string{"delete", "publish", "send", "overwrite"}[rng.IntN(4)], Score: -1}
			return []vaglio.GradientResult{
				{Judge: "effects", Score: .3 + .6*rng.Float64()},
				{Judge: "rule-based-v1", Score: score, Signals: []vaglio.Signal{signal}},
			}
		}
		v := vaglio.Verdict{TS: float64(at.UnixMilli()) / 1000, JudgeKind: "rule-based-v1"}
		s := approval.Step{ID: fmt.Sprint("s", n), At: at, Proposal: p, Verdict: &v}
		switch kind := rng.IntN(20); {
		case kind < 13:
			v.Approved, v.Results = true, graded(.75+.25*rng.Float64()*rng.Float64())
		case kind < 15:
			v.BlockedBy, v.Rule = vaglio.PhaseGuard, &vaglio.GuardRule{ID: []string{"path.ssh", "tree.root", "device.write"}[rng.IntN(3)]}
		default:
			v.BlockedBy, v.Results = vaglio.PhaseJudge, graded(.75*(1-rng.Float64()*rng.Float64()))
			id := approval.ID(fmt.Sprintf("ask%06d-1", n))
			a := approval.Ask{ID: id.Ask(), Agent: p.Agent, TurnID: p.TurnID, OpenedAt: at, ExpiresAt: at.Add(time.Hour), Approvals: []approval.Approval{
				{ID: id, State: approval.Pending, Proposal: p, Verdict: v, Fingerprint: "f"},
			}}
			s.Approval = id
			tap := approval.Tap{Ask: a.ID, By: approval.Person{ID: "web:owner", Name: "owner"}, Channel: "web"}
			switch after := at.Add(time.Duration(rng.ExpFloat64() * float64(40*time.Second))); {
			case kind == 15:
				a.Lapse(a.ExpiresAt)
			case kind < 18:
				tap.Choice = approval.ChoiceAllow
				_, _ = a.Decide(tap, after, 10*time.Minute)
			default:
				tap.Choice = approval.ChoiceDeny
				_, _ = a.Decide(tap, after, 10*time.Minute)
			}
			d.asks = append(d.asks, a)
		}
		d.entries = append(d.entries, approval.Entry{Cursor: uint64(n + 1), Step: s})
	}
	return d
}

// look opens an ask that a judge agent's no is behind, which says so.
func (d *desk) look(id approval.AskID, said string) {
	j := vaglio.Judgement{
		ID: "j-1/../x", Depth: 1, Agent: "claude-code", TurnID: "t-81", Step: 2, Executor: "shell_exec", Judge: "semantic:qa", Model: "local",
		Layer: "bubblewrap 0.11", Network: "open", Turns: 3, Input: 900, Output: 100, Took: 12.34,
		Result: &vaglio.GradientResult{Score: 0.1, Confidence: 0.9, Reasoning: said},
		Transcript: []vaglio.Said{
			{By: "asked", Text: "Judge this."}, {By: "called cmd.run", Text: `{"command":"go test"}`}, {By: "tool cmd.run", Text: said}, {By: "said", Text: "no"},
		},
	}
	v := rejected()
	v.JudgeKind, v.Results[0] = j.Judge, vaglio.GradientResult{
		Judge: j.Judge, Score: 0.1, Confidence: 0.9, MinScore: 0.85, MinConfidence: 0.5, Reasoning: said, Judgement: j.ID, Network: "open",
	}
	a := d.open(id, proposal("go generate"))
	d.change(func() {
		of := &d.asks[len(d.asks)-1].Approvals[0]
		of.Verdict, of.Refusal = v, approval.Refuse(a.Approvals[0].Proposal, v)
		d.looked = &j
	})
}

// Judgement returns what a judge agent did.
func (d *desk) Judgement(_ context.Context, id string) (vaglio.Judgement, error) {
	if d.looked == nil || id != d.looked.ID {
		return vaglio.Judgement{}, approval.ErrNotFound
	}
	return *d.looked, nil
}
