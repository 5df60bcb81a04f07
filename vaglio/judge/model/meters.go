package model

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"
)

// The metrics, by what each counts. What stands behind a % is filled in.
const (
	// Requests to models' servers, by how they ended.
	metricRequests = `vaglio_model_requests_total{model=%q,outcome=%q}`
	// Tokens that models used, by side: input or output.
	metricUsed = `vaglio_model_tokens_total{model=%q,side=%q}`
	// Requests whose tokens the server did not tell, so that they were estimated.
	metricEstimated = `vaglio_model_estimated_total{model=%q}`
	// What models cost, in the currency of their prices.
	metricCost = `vaglio_model_cost_total{model=%q}`
	// How long models took to answer, in seconds: a histogram.
	metricSeconds = `vaglio_model_request_seconds{model=%q}`
	// Judges that gave no verdict, by what was wrong.
	metricFaults = `vaglio_judge_faults_total{judge=%q,fault=%q}`
	// Calls that skip_judge kept from the judges.
	metricSkipped = `vaglio_judges_skipped_total{executor=%q}`
	// Calls that were given the verdict of an equal call before them.
	metricRepeated = `vaglio_verdicts_repeated_total`
	// Answers of judges that were not asked for again.
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
