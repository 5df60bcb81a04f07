package httpapi

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/metnos/vaglio/approval"
)

// The names of the metrics, as format strings where a metric has labels. The comments are also the
// descriptions in docs/reference.md.
const (
	// Answers to proposals, by decision.
	metricAnswers = `vaglio_answers_total{decision=%q}`
	// Requests to the API, by route and status.
	metricRequests = `vaglio_http_requests_total{route=%q,code="%d"}`
	// Requests that are waiting for a person.
	metricWaiters = `vaglio_waiters`
	// The maximum number of requests that may wait at the same time.
	metricWaitersMax = `vaglio_waiters_max`
	// 1 if the channel works, 0 if it does not.
	metricChannel = `vaglio_channel_up{channel=%q}`
	// Number of entries in the history.
	metricLeaves = `vaglio_history_leaves`
)

// meters are the API's metrics. No label contains anything that a caller sent.
type meters struct {
	set     *metrics.Set
	rulings map[approval.Ruling]*metrics.Counter
}

func newMeters(s *slots) *meters {
	m := &meters{set: metrics.NewSet(), rulings: make(map[approval.Ruling]*metrics.Counter)}
	for _, r := range []approval.Ruling{approval.RulingAllow, approval.RulingDeny, approval.RulingPending} {
		m.rulings[r] = m.set.NewCounter(fmt.Sprintf(metricAnswers, r))
	}
	m.set.NewGauge(metricWaiters, func() float64 { return float64(s.taken.Load()) })
	m.set.NewGauge(metricWaitersMax, func() float64 { return float64(s.max) })
	return m
}

// answered counts the answers to proposals by decision.
func (m *meters) answered(answers ...approval.Answer) {
	for i := range answers {
		if c := m.rulings[answers[i].Decision]; c != nil {
			c.Inc()
		}
	}
}

// codes counts the responses of one route by status.
type codes struct {
	route string
	set   *metrics.Set
	seen  sync.Map // int → *metrics.Counter
}

func (m *meters) route(pattern string) *codes { return &codes{route: pattern, set: m.set} }

func (c *codes) count(status int) {
	known, ok := c.seen.Load(status)
	if !ok {
		name := fmt.Sprintf(metricRequests, c.route, status)
		known, _ = c.seen.LoadOrStore(status, c.set.GetOrCreateCounter(name))
	}
	if counter, ok := known.(*metrics.Counter); ok {
		counter.Inc()
	}
}

// metrics serves the metrics in the Prometheus text format.
func (a *API) metrics(x *exchange) error {
	if _, err := x.query(""); err != nil {
		return err
	}
	r, _ := a.readings()
	for i := range r.Channels {
		up := 0.0
		if r.Channels[i].OK {
			up = 1
		}
		a.meters.set.GetOrCreateGauge(fmt.Sprintf(metricChannel, r.Channels[i].Name), nil).Set(up)
	}
	if a.leaves != nil {
		n, err := a.leaves(x.ctx())
		if err != nil {
			return err
		}
		a.meters.set.GetOrCreateGauge(metricLeaves, nil).Set(float64(n))
	}
	var b bytes.Buffer
	a.meters.set.WritePrometheus(&b)
	if a.further != nil {
		a.further(&b)
	}
	x.send(200, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
	return nil
}
