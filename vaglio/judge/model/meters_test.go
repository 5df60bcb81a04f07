package model

import (
	"strings"
	"testing"
	"time"
)

// What models and judges do is counted under their names.
func TestMeters(t *testing.T) {
	m := NewMeters()
	m.Called(Exchange{Model: "a", Outcome: "ok", Took: 2 * time.Second, Usage: Usage{Input: 100, Output: 20}, Cost: 1_500_000})
	m.Called(Exchange{Model: "a", Outcome: string(FaultBusy)})
	m.Called(Exchange{Model: "b", Outcome: "ok", Usage: Usage{Input: 5, Output: 3, Estimated: true}, Cost: 250_000})
	m.Faulted("llm-v1", "down")
	m.Skipped("read_file")
	m.Repeated()
	m.Cached("semantic:qa")
	var b strings.Builder
	m.WritePrometheus(&b)
	for _, want := range []string{
		`vaglio_model_requests_total{model="a",outcome="ok"} 1`, `vaglio_model_requests_total{model="a",outcome="busy"} 1`,
		`vaglio_model_tokens_total{model="a",side="input"} 100`, `vaglio_model_tokens_total{model="a",side="output"} 20`,
		`vaglio_model_cost_total{model="a"} 1.5`, `vaglio_model_cost_total{model="b"} 0.25`,
		`vaglio_model_request_seconds_sum{model="a"} 2`, `vaglio_model_request_seconds_count{model="a"} 2`, `vaglio_model_estimated_total{model="b"} 1`,
		`vaglio_judge_faults_total{judge="llm-v1",fault="down"} 1`, `vaglio_judges_skipped_total{executor="read_file"} 1`, `vaglio_judge_cached_total{judge="semantic:qa"} 1`,
		`vaglio_verdicts_repeated_total 1`,
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("it lacks %s:\n%s", want, &b)
		}
	}
	if tokens, cost := m.Spent(); tokens != 128 || cost != 1_750_000 || strings.Contains(b.String(), `estimated_total{model="a"}`) {
		t.Errorf("%d tokens, %d, %s", tokens, cost, &b)
	}
}
