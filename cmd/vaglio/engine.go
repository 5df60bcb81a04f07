package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/about"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/itself"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/processes"
	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// kinds returns the judges that METNOS_JUDGE_KIND may name.
func kinds() []string { return judging.Kinds() }

// judges returns the judges' configuration.
func (c *config) judges(p policyfile.Policy, m judging.Means) judging.Config {
	facts := c.itself(p.Path).Facts()
	facts.Data = append(facts.Data, p.Thinking.KeyFiles()...)
	return judging.Config{
		Kind: c.Kind, Threshold: c.Threshold, Home: c.Home, DataDir: c.DataDir, Own: facts, Zone: c.Zone, Policy: p, Means: m,
	}
}

// itself returns what this program knows about itself.
func (c *config) itself(policy string) *itself.Process {
	exe, _ := os.Executable() // an unknown one cannot be protected
	data := []string{c.DataDir, c.auditDir()}
	if c.Remote.key != "" {
		data = append(data, c.Remote.key)
	}
	return &itself.Process{
		Program: exe, Args: []string{exe, "serve"}, Number: os.Getpid(), Environ: environ(), Home: c.Home, Data: data,
		Policy: policy, Listen: c.Listen, PublicURL: c.PublicURL,
	}
}

// newEngine builds the engine that the configuration and the policy define. A nil audit log records
// nothing.
func newEngine(ctx context.Context, c config, p policyfile.Policy, audit vaglio.AuditLog, log *slog.Logger, m judging.Means) (*vaglio.Engine, error) {
	of, err := engineOf(ctx, c, p, m)
	if err != nil {
		return nil, err
	}
	of.Log, of.Logger = audit, log
	if audit != nil { // what is judged is about to run here
		of.Processes = processes.This()
	}
	return vaglio.New(of)
}

// engineOf returns the engine's configuration.
func engineOf(ctx context.Context, c config, p policyfile.Policy, m judging.Means) (vaglio.Config, error) {
	of := c.judges(p, m)
	gates, err := judging.Gates(ctx, of)
	if err != nil {
		return vaglio.Config{}, &configError{err}
	}
	return vaglio.Config{
		Catalog: p.Catalog, Judges: gates, Meter: m.Meters,
		Kind: c.Kind, Home: c.Home, Own: of.Own, Files: workfiles.Disk{}, Workspaces: p.Workspaces,
	}, nil
}

// newEffects returns the effects judge for the user who runs the daemon.
func newEffects(c config, p policyfile.Policy) (*effects.Judge, error) {
	return judging.Effects(c.Home, &p)
}

// maskedLog masks secrets before they reach the audit log: users paste them into requests, and
// agents into names.
type maskedLog struct {
	log    vaglio.AuditLog
	masker approval.Masker
}

// Append appends the record without its secrets.
func (l maskedLog) Append(r audit.Record) {
	mask := l.masker.Mask
	r.Reason, r.Intent, r.Executor = mask(r.Reason), mask(r.Intent), mask(r.Executor)
	r.ArgsKeys = append([]string{}, r.ArgsKeys...)
	for i := range r.ArgsKeys {
		r.ArgsKeys[i] = mask(r.ArgsKeys[i])
	}
	l.log.Append(r)
}

// effectsOf returns what tells what calls would do, and what they are about.
func effectsOf(c config, p policyfile.Policy, engine *vaglio.Engine) (dispatcher.Effects, error) {
	reader, err := newEffects(c, p)
	if err != nil {
		return dispatcher.Effects{}, err
	}
	namer, err := about.New(reader, c.Home)
	return dispatcher.Effects{Traits: judging.Traits(reader), Name: namer.Key, About: aboutOf(engine, namer)}, err
}

// aboutOf returns what a call is about as the engine understands it, including the files that it
// runs.
func aboutOf(engine *vaglio.Engine, namer *about.Namer) func(vaglio.Proposal) approval.About {
	return func(p vaglio.Proposal) approval.About {
		a := namer.Of(engine.Seen(p))
		a.Obscured = namer.Obscured(p, engine.Seen)
		return a
	}
}
