package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// kinds are the judges that METNOS_JUDGE_KIND may name.
func kinds() []string { return []string{judge.KindRules} }

// newEngine builds the engine that the configuration and the policy ask for:
// the judge that METNOS_JUDGE_KIND names, then the policy's. An audit log that
// is nil takes nothing.
func newEngine(c config, p policy, audit vaglio.AuditLog, log *slog.Logger) (*vaglio.Engine, error) {
	own := []string{c.DataDir, c.auditDir()}
	if p.path != "" {
		own = append(own, p.path)
	}
	gates := []vaglio.Gate{{Judge: judge.Rules(), MinScore: c.Threshold, Discreet: true}}
	for i := range p.judges {
		v := &p.judges[i]
		j, err := newJudgeOf(c, p, v)
		if err != nil {
			return nil, &configError{fmt.Errorf("METNOS_POLICY: execution.tool_validation[%d]: %w", i, err)}
		}
		gates = append(gates, vaglio.Gate{Judge: j, MinScore: v.minScore(), MinConfidence: v.minConfidence(), Reads: true})
	}
	return vaglio.New(vaglio.Config{
		Catalog: p.catalog, Judges: gates,
		Kind: c.Kind, Log: audit, Logger: log, Home: c.Home, Own: own, Files: workfiles.Disk{},
	})
}

// newJudgeOf returns the judge of one entry of the policy.
func newJudgeOf(c config, p policy, v *validation) (vaglio.Judge, error) {
	if v.Type == typeSemantic {
		return nil, fmt.Errorf("judge agents such as %q cannot be run by this version; "+
			"without them the entry would gate nothing, so vaglio does not start: take the entry out", v.JudgeAgent)
	}
	return newEffects(c, p)
}

// newEffects returns the judge of effects for the user who serves.
func newEffects(c config, p policy) (*effects.Judge, error) {
	return effects.New(effects.Options{Home: c.Home, Programs: p.programs})
}

// thresholds are the scores that a call needs, by kind of judge.
func thresholds(c config, p policy) map[string]float64 {
	t := map[string]float64{judge.KindRules: c.Threshold}
	for i := range p.judges {
		t[p.judges[i].Type] = p.judges[i].minScore()
	}
	return t
}

// mistakeOf is the caller's own mistake for which a call has no verdict, or nil.
func mistakeOf(err error) error {
	if bad, ok := errors.AsType[*catalog.Error](err); ok {
		return bad
	}
	if bad, ok := errors.AsType[*vaglio.ShapeError](err); ok {
		return bad
	}
	return nil
}
