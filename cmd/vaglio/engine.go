package main

import (
	"log/slog"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
)

// kinds are the judges that METNOS_JUDGE_KIND may name.
func kinds() []string { return []string{judge.KindRules} }

// newEngine builds the engine that the configuration and the policy ask for.
// An audit log that is nil takes nothing.
func newEngine(c config, p policy, audit vaglio.AuditLog, log *slog.Logger) (*vaglio.Engine, error) {
	own := []string{c.DataDir, c.auditDir()}
	if p.path != "" {
		own = append(own, p.path)
	}
	return vaglio.New(vaglio.Config{
		Catalog: p.catalog,
		Judges:  []vaglio.Gate{{Judge: judge.Rules(), MinScore: c.Threshold}},
		Kind:    c.Kind, Log: audit, Logger: log, Home: c.Home, Own: own,
	})
}
