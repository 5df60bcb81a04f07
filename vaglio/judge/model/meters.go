package model

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"
)

// The metrics, as format strings where they have labels. docs/reference.md quotes the comments.
const (
	// Requests to model servers, by outcome.
	metricRequests = `vaglio_model_requests_total{model=%q,outcome=%q}`
	// Tokens used, by side: input or output.
	metricUsed = `vaglio_model_tokens_total{model=%q,side=%q}`
	// Requests whose token counts were estimated because the server did not report them.
	metricEstimated = `vaglio_model_estimated_total{model=%q}`
	// Cost of the models, in the currency of their prices.
	metricCost = `vaglio_model_cost_total{model=%q}`
	// Response time of the models in seconds, as a histogram.
	metricSeconds = `vaglio_model_request_seconds{model=%q}`
	// Judgements that ended without a verdict, by fault.
	metricFaults = `vaglio_judge_faults_total{judge=%q,fault=%q}`
	// Calls that no judge saw because of skip_judge.
	metricSkipped = `vaglio_judges_skipped_total{executor=%q}`
	// Calls that got the verdict of an equal earlier call.
	metricRepeated = `vaglio_verdicts_repeated_total`
	// Judgements taken from a judge's earlier answer instead of asking it again.
	metricCached = `vaglio_judge_cached_total{judge=%q}`
)

// Meters count what models and judges do, in the Prometheus text format. No label contains what an
// agent or a model wrote. It is safe for concurrent use.
type Meters struct {
	set          *metrics.Set
	tokens, cost atomic.Int64
	repeated     *metrics.Counter // created once, because such a call should cost next to nothing
}

// NewMeters returns meters at zero.
func NewMeters() *Meters {
	set := metrics.NewSet()
	return &Meters{set: set, repeated: set.NewCounter(metricRepeated)}
}

// Spent returns how many tokens were used, and what they cost in millionths of the currency unit.
func (m *Meters) Spent() (tokens, cost int64) { return m.tokens.Load(), m.cost.Load() }

// Called counts a request to a model's server.
func (m *Meters) Called(c Exchange) {
	m.tokens.Add(int64(c.Usage.Total()))
	m.cost.Add(c.Cost)
	m.count(metricRequests, 1, c.Model, c.Outcome)
	m.count(metricUsed, c.Usage.Input, c.Model, "input")
	m.count(metricUsed, c.Usage.Output, c.Model, "output")
	if c.Usage.Estimated {
		m.count(metricEstimated, 1, c.Model)
	}
	m.set.GetOrCreateFloatCounter(fmt.Sprintf(metricCost, c.Model)).Add(float64(c.Cost) / 1e6)
	m.set.GetOrCreateHistogram(fmt.Sprintf(metricSeconds, c.Model)).Update(c.Took.Seconds())
}

// Faulted counts a judge that gave no verdict.
func (m *Meters) Faulted(judge, fault string) {
	m.count(metricFaults, 1, judge, fault)
}

// Skipped counts a call that skipped the judges because of its executor's skip_judge.
func (m *Meters) Skipped(executor string) {
	m.count(metricSkipped, 1, executor)
}

// Repeated counts a call that got the verdict of an equal earlier one.
func (m *Meters) Repeated() { m.repeated.Inc() }

// Cached counts an answer that came from the cache.
func (m *Meters) Cached(judge string) { m.count(metricCached, 1, judge) }

// WritePrometheus writes all metrics.
func (m *Meters) WritePrometheus(w io.Writer) { m.set.WritePrometheus(w) }

func (m *Meters) count(format string, by int, labels ...any) {
	m.set.GetOrCreateCounter(fmt.Sprintf(format, labels...)).Add(by)
}
