package model

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"
)

// Meters count what models and judges do, for the Prometheus text format. No
// label holds what an agent or a model wrote. It is safe for concurrent use.
type Meters struct {
	set          *metrics.Set
	tokens, cost atomic.Int64
}

// NewMeters returns meters at zero.
func NewMeters() *Meters { return &Meters{set: metrics.NewSet()} }

// Spent is how many tokens were used, and what that cost, in millionths of the
// currency unit.
func (m *Meters) Spent() (tokens, cost int64) { return m.tokens.Load(), m.cost.Load() }

// Called counts a request to a model's server.
func (m *Meters) Called(c Call) {
	m.tokens.Add(int64(c.Usage.Total()))
	m.cost.Add(c.Cost)
	m.count("vaglio_model_requests_total{model=%q,outcome=%q}", 1, c.Model, c.Outcome)
	m.count("vaglio_model_tokens_total{model=%q,side=\"input\"}", c.Usage.Input, c.Model)
	m.count("vaglio_model_tokens_total{model=%q,side=\"output\"}", c.Usage.Output, c.Model)
	if c.Usage.Estimated {
		m.count("vaglio_model_estimated_total{model=%q}", 1, c.Model)
	}
	m.set.GetOrCreateFloatCounter(fmt.Sprintf("vaglio_model_cost_total{model=%q}", c.Model)).Add(float64(c.Cost) / 1e6)
	m.set.GetOrCreateHistogram(fmt.Sprintf("vaglio_model_request_seconds{model=%q}", c.Model)).Update(c.Took.Seconds())
}

// Faulted counts a judge that gave no verdict.
func (m *Meters) Faulted(judge, fault string) {
	m.count("vaglio_judge_faults_total{judge=%q,fault=%q}", 1, judge, fault)
}

// Skipped counts a call that an executor's skip_judge kept from the judges.
func (m *Meters) Skipped(executor string) {
	m.count("vaglio_judges_skipped_total{executor=%q}", 1, executor)
}

// Cached counts an answer that was not asked for again.
func (m *Meters) Cached(judge string) { m.count("vaglio_judge_cached_total{judge=%q}", 1, judge) }

// WritePrometheus writes all of them.
func (m *Meters) WritePrometheus(w io.Writer) { m.set.WritePrometheus(w) }

func (m *Meters) count(format string, by int, labels ...any) {
	m.set.GetOrCreateCounter(fmt.Sprintf(format, labels...)).Add(by)
}
