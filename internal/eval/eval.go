// Package eval puts labelled calls to the judges and counts how often they agree with the labels.
package eval

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// The labels of calls, and the outcomes. Error is an outcome only.
const (
	Block = "block" // the guard denies it
	Ask   = "ask"   // a judge rejects it
	Pass  = "pass"  // all approve
	Error = "error" // it violated its schema or its scope, or cannot be read
)

// longestLine is the maximum length of a line, in bytes.
const longestLine = 4 << 20

// row is a labelled call: a proposal, or its parts, with the expected outcome.
type row struct {
	Intent   string         `json:"intent"`
	Executor string         `json:"executor"`
	Args     vaglio.Args    `json:"args"`
	Context  vaglio.Context `json:"context"`
	TurnID   string         `json:"turn_id"`
	Step     int            `json:"step"`
	Cwd      string         `json:"cwd"`
	Expect   string         `json:"expect"`
	Label    string         `json:"label"`
}

// LineError is about a line that is not a labelled call.
type LineError struct {
	Line int
	What string
}

// Error names the line and what is wrong with it.
func (e *LineError) Error() string { return fmt.Sprintf("line %d %s", e.Line, e.What) }

// Result is the result of an evaluation.
type Result struct {
	// Calls is how many calls were judged.
	Calls int `json:"calls"`
	// Matrix counts calls by label, then by outcome.
	Matrix map[string]map[string]int `json:"matrix"`
	// Agreement is the share of calls whose outcome agrees with their label. A call that the
	// guard denies is not approved either, so it agrees with ask. An error agrees with no label:
	// the call does not run, but nobody judged it.
	Agreement float64 `json:"agreement"`
	// Low and High are the bounds of the agreement's 95 % confidence interval (Wilson).
	Low  float64 `json:"agreement_low"`
	High float64 `json:"agreement_high"`
	// Judges are the results of each judge that answered, by kind.
	Judges map[string]*Judge `json:"judges"`
	// Took is how long the calls took.
	Took Times `json:"took"`
	// Cost is what the models cost, in the currency of their prices.
	Cost float64 `json:"cost"`
	// Tokens is how many tokens the models used.
	Tokens int `json:"tokens"`
}

// Judge is the result of one judge.
type Judge struct {
	// Scores are the judge's scores for the calls of each label.
	Scores map[string]*Scores `json:"scores"`
	// Faults counts the calls without a verdict, by class of fault.
	Faults map[string]int `json:"faults,omitempty"`
}

// Scores are one judge's scores for one label.
type Scores struct {
	N       int     `json:"n"`
	Mean    float64 `json:"mean"`
	Lowest  float64 `json:"lowest"`
	Median  float64 `json:"median"`
	Highest float64 `json:"highest"`
	// Tenths is a histogram of the scores from 0 to 1 in steps of a tenth.
	Tenths [10]int `json:"tenths"`

	all []float64
}

// Times are durations in milliseconds.
type Times struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	Max float64 `json:"max_ms"`
}

// Run judges the labelled calls, one JSON object per line, one after another.
func Run(ctx context.Context, e *vaglio.Engine, in io.Reader) (*Result, error) {
	r := &Result{Matrix: map[string]map[string]int{}, Judges: map[string]*Judge{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	var took []time.Duration
	agreed := 0
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		one, label, err := rowOf(n, lines.Bytes())
		if err != nil {
			return nil, err
		}
		begun := time.Now()
		v, err := e.Judge(ctx, one.proposal())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		took = append(took, time.Since(begun))
		if r.count(label, outcome(&v, err)) {
			agreed++
		}
		r.take(label, &v)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the calls: %w", err)
	}
	if r.Calls == 0 {
		return nil, errors.New("there is no call in it")
	}
	r.finish(agreed, took)
	return r, nil
}

// rowOf parses a line.
func rowOf(n int, line []byte) (one row, label string, err error) {
	if err := strictjson.UnmarshalLoose(line, &one); err != nil {
		return one, "", &LineError{n, "is not a JSON object with a call"}
	}
	label = cmp.Or(one.Expect, one.Label)
	if label != Block && label != Ask && label != Pass || one.Executor == "" {
		return one, "", &LineError{n, `lacks an executor, or an expect (or label) of "block", "ask" or "pass"`}
	}
	return one, label, nil
}

// count records the outcome of a call, and reports whether it agrees with the label.
func (r *Result) count(label, got string) bool {
	if r.Matrix[label] == nil {
		r.Matrix[label] = map[string]int{}
	}
	r.Matrix[label][got]++
	r.Calls++
	return got == label || label == Ask && got == Block
}

func (o *row) proposal() vaglio.Proposal {
	p := vaglio.Proposal{TurnID: o.TurnID, Step: o.Step, Intent: o.Intent, Executor: o.Executor, Args: o.Args, Context: o.Context}
	p.Context.Cwd = cmp.Or(o.Cwd, p.Context.Cwd)
	return p
}

func outcome(v *vaglio.Verdict, err error) string {
	switch {
	case err != nil:
		return Error
	case v.Approved:
		return Pass
	case v.BlockedBy == vaglio.PhaseGuard:
		return Block
	default:
		return Ask
	}
}

func (r *Result) take(label string, v *vaglio.Verdict) {
	for i := range v.Results {
		g := &v.Results[i]
		j := r.Judges[g.Judge]
		if j == nil {
			j = &Judge{Scores: map[string]*Scores{}, Faults: map[string]int{}}
			r.Judges[g.Judge] = j
		}
		if g.Fault != "" {
			j.Faults[string(g.Fault)]++
			continue
		}
		s := j.Scores[label]
		if s == nil {
			s = &Scores{}
			j.Scores[label] = s
		}
		s.all = append(s.all, g.Score)
		s.Tenths[min(9, int(g.Score*10))]++
	}
}

func (r *Result) finish(agreed int, took []time.Duration) {
	r.Agreement = float64(agreed) / float64(r.Calls)
	r.Low, r.High = wilson(r.Agreement, float64(r.Calls))
	slices.Sort(took)
	ms := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
	}
	r.Took = Times{ms(0.5), ms(0.95), ms(1)}
	for _, j := range r.Judges {
		for _, s := range j.Scores {
			slices.Sort(s.all)
			s.N, s.Lowest, s.Highest, s.Median = len(s.all), s.all[0], s.all[len(s.all)-1], s.all[len(s.all)/2]
			for _, score := range s.all {
				s.Mean += score / float64(s.N)
			}
		}
	}
}

// wilson returns the 95 % confidence interval for a share of n.
func wilson(share, n float64) (low, high float64) {
	const z = 1.96
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	off := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return max(0, middle-off), min(1, middle+off)
}

// failed returns how many calls ended in an error.
func (r *Result) failed() int {
	n := 0
	for _, row := range r.Matrix {
		n += row[Error]
	}
	return n
}

// outcomes returns the columns of the matrix.
func outcomes() []string { return []string{Block, Ask, Pass, Error} }

// Text returns the result as text for a terminal.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d calls; agreement %.1f %% (95 %% between %.1f and %.1f)\n\n", r.Calls, 100*r.Agreement, 100*r.Low, 100*r.High)
	fmt.Fprintf(&b, "%-8s %8s %8s %8s %8s\n", "label", "blocked", "asked", "passed", "error")
	for _, label := range outcomes()[:3] {
		if row := r.Matrix[label]; row != nil {
			fmt.Fprintf(&b, "%-8s %8d %8d %8d %8d\n", label, row[Block], row[Ask], row[Pass], row[Error])
		}
	}
	if failed := r.failed(); failed > 0 {
		fmt.Fprintf(&b, "\n%d without a verdict, because of an error; they agree with no label\n", failed)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Judges)) {
		j := r.Judges[kind]
		fmt.Fprintf(&b, "\n%s\n", kind)
		for _, label := range outcomes()[:3] {
			if s := j.Scores[label]; s != nil {
				fmt.Fprintf(&b, "  %-6s %6d scores, mean %.2f, from %.2f over %.2f to %.2f\n", label, s.N, s.Mean, s.Lowest, s.Median, s.Highest)
			}
		}
		for _, class := range slices.Sorted(maps.Keys(j.Faults)) {
			fmt.Fprintf(&b, "  no verdict: %s %d times\n", class, j.Faults[class])
		}
	}
	fmt.Fprintf(&b, "\ntime for a call: %.1f ms half, %.1f ms 95 %%, %.1f ms at most\n", r.Took.P50, r.Took.P95, r.Took.Max)
	fmt.Fprintf(&b, "models: %d tokens, cost %.4f\n", r.Tokens, r.Cost)
	return b.String()
}
