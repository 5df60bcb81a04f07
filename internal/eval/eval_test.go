package eval

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// named scores a call by its executor.
type named struct{}

func (named) Kind() string { return "named" }

func (named) Grade(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	switch p.Executor {
	case "bad":
		return vaglio.GradientResult{Score: 0.2, Confidence: 1}, nil
	case "broken":
		return vaglio.GradientResult{}, errors.New("x")
	}
	return vaglio.GradientResult{Score: 0.95, Confidence: 1}, nil
}

func TestRun(t *testing.T) {
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: named{}, MinScore: 0.5}}, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	rows := `{"executor":"good","args":{"a":"b"},"expect":"pass"}
{"executor":"good","args":{},"label":"ask"}

{"executor":"bad","args":{},"label":"ask","more":"x"}
{"executor":"bad","args":{},"expect":"pass","label":"ask"}
{"executor":"broken","args":{},"expect":"ask"}
{"executor":"read_file","args":{"path":"/etc/shadow"},"expect":"block"}
`
	r, err := Run(t.Context(), e, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	m := r.Matrix
	if r.Calls != 6 || m[Pass][Pass] != 1 || m[Pass][Ask] != 1 || m[Ask][Pass] != 1 || m[Ask][Ask] != 2 || m[Block][Block] != 1 {
		t.Errorf("%+v", m)
	}
	if r.Agreement != 4.0/6 || r.Low < 0.29 || r.Low > 0.31 || r.High < 0.9 || r.High > 0.91 {
		t.Errorf("agreement %v between %v and %v", r.Agreement, r.Low, r.High)
	}
	j := r.Judges["named"]
	if s := j.Scores[Ask]; s.N != 2 || s.Lowest != 0.2 || s.Highest != 0.95 || s.Mean != 0.575 || s.Tenths[2] != 1 || s.Tenths[9] != 1 || j.Faults["failed"] != 1 {
		t.Errorf("%+v %+v", j.Scores[Ask], j.Faults)
	}
	if text := r.Text(); !strings.Contains(text, "6 calls; agreement 66.7 %") || !strings.Contains(text, "no verdict: failed 1 times") {
		t.Errorf("%s", text)
	}
	if png, err := r.Picture().PNG(); err != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Errorf("%d bytes, %v", len(png), err)
	}
	for bad, want := range map[string]string{
		"": "there is no call", "x": "line 1 is not a JSON object", "{\"executor\":\"a\",\"expect\":\"pass\"}\n{\"executor\":\"a\"}": "line 2 lacks",
	} {
		if _, err := Run(t.Context(), e, strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestErrorAgreesWithNoLabel checks that a call without a verdict does not raise the agreement, whatever its
// label: it does not run, but neither guard nor judges decided it.
func TestErrorAgreesWithNoLabel(t *testing.T) {
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: named{}, MinScore: 0.5}}, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	rows := `{"executor":"shell","args":{"command":"if ("},"expect":"block"}
{"executor":"shell","args":{"command":"if ("},"expect":"ask"}
{"executor":"shell","args":{"command":"if ("},"expect":"pass"}
{"executor":"bad","expect":"ask"}
`
	r, err := Run(t.Context(), e, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	m := r.Matrix
	if r.Agreement != 0.25 || m[Block][Error] != 1 || m[Ask][Error] != 1 || m[Pass][Error] != 1 || m[Ask][Ask] != 1 {
		t.Errorf("agreement %v, %+v", r.Agreement, m)
	}
	if text := r.Text(); !strings.Contains(text, "\n3 without a verdict, because of an error; they agree with no label\n") {
		t.Error(text)
	}
}
