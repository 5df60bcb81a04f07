package llm_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	"github.com/metnos/vaglio/vaglio/judge/llm"
	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
	"github.com/metnos/vaglio/vaglio/judge/model/openai"
	"github.com/metnos/vaglio/vaglio/mask"
)

func masker() mask.Masker { return mask.New(func(b []byte) []byte { return b }) }

// fixed gives the same answer to every request, and records the requests.
type fixed struct {
	mu    sync.Mutex
	reply model.Reply
	err   error
	asked []model.Request
}

func (f *fixed) Complete(_ context.Context, r model.Request) (model.Reply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	return f.reply, f.err
}

func judge(tb testing.TB, m model.Model, change func(*llm.Config)) *llm.Judge {
	tb.Helper()
	c := llm.Config{
		Model: model.NewClient(m, model.Options{Name: "m", Price: model.Price{Input: 1}}), Masker: masker(),
		Effects: func(vaglio.Proposal) ([]string, []string) { return []string{"delete"}, []string{"workspace"} },
	}
	if change != nil {
		change(&c)
	}
	j, err := llm.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return j
}

func proposal() vaglio.Proposal {
	critical := true
	return vaglio.Proposal{
		TurnID: "t", Step: 3, Intent: "clean up with password=hunter2hunter2", Executor: "shell_exec",
		Args:    vaglio.Args{"command": "rm -rf ./a-secret-place", "cwd": "/srv"},
		Context: vaglio.Context{Critical: &critical, Capability: vaglio.Capabilities{"code:exec"}},
	}
}

// What the original allowed with a middling score is rejected here.
func TestMalformedRepliesReject(t *testing.T) {
	all := modeltest.Malformed(t, `"reason":"r"`)
	if len(all) < 60 {
		t.Errorf("%d rows", len(all))
	}
	for name, reply := range all {
		t.Run(name, func(t *testing.T) {
			r, err := judge(t, &fixed{reply: model.Reply{Text: reply}}, nil).Grade(t.Context(), proposal())
			e, ok := errors.AsType[*vaglio.JudgeError](err)
			if !ok || e.Class != vaglio.FaultMalformed || !strings.HasPrefix(e.Fault, "its answer is not a verdict: ") || r.Score != 0 {
				t.Errorf("%q gives %+v, %v", reply, r, err)
			}
		})
	}
}

// TestRepliesOfTheOriginal uses its table: a reply of one object is read as there.
func TestRepliesOfTheOriginal(t *testing.T) {
	b, err := os.ReadFile("testdata/replies.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID     string  `json:"id"`
		Reply  string  `json:"reply"`
		Score  float64 `json:"score"`
		Reason string  `json:"reason"`
	}
	if err := strictjson.UnmarshalLoose(b, &cases); err != nil || len(cases) < 20 {
		t.Fatal(len(cases), err)
	}
	// JSON allows exponents, which the original's pattern cut off.
	asJSON := map[string]float64{"llm_exponent": 1e-3, "llm_reason_first": 0.1, "llm_nested_brace": 0.1}
	unread := map[string]bool{
		"llm_prose_before": true, "llm_two_objects_first_wins": true, "llm_missing_reason": true, "llm_negative": true, "llm_over_one": true,
		"llm_string_score": true, "llm_null_score": true, "llm_two_dots": true, "llm_only_dot": true, "llm_empty": true, "llm_refusal": true,
		"llm_single_quotes": true, "llm_chat_exception": true, "llm_text_none": true, "llm_router_missing": true,
	}
	for _, c := range cases {
		want := c.Score
		if score, ok := asJSON[c.ID]; ok {
			want = score
		}
		r, err := judge(t, &fixed{reply: model.Reply{Text: c.Reply}}, nil).Grade(t.Context(), proposal())
		if unread[c.ID] != (err != nil) || err == nil && (r.Score != want || r.Confidence != 1) {
			t.Errorf("%s: %q gives %+v, %v; want %v", c.ID, c.Reply, r, err, want)
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		reply model.Reply
		err   error
		want  vaglio.Fault
	}{
		"refused": {model.Reply{Text: `{"score":1,"reason":"r"}`, Refused: true}, nil, vaglio.FaultRefused},
		"cut":     {model.Reply{Text: `{"score":1,"reason":"r"}`, Cut: true}, nil, vaglio.FaultCut},
		"key":     {model.Reply{}, &model.Error{Fault: model.FaultRefused, Status: 401}, vaglio.FaultModel},
		"down":    {model.Reply{}, &model.Error{Fault: model.FaultDown}, vaglio.FaultDown},
		"limit":   {model.Reply{Text: `{"score":1,"reason":"r"}`}, nil, vaglio.FaultLimit},
		"other":   {model.Reply{}, errors.New("sk-secret"), vaglio.FaultModel},
	} {
		t.Run(name, func(t *testing.T) {
			p := proposal()
			if name == "limit" {
				p.Intent = strings.Repeat("please ", 50_000)
			}
			r, err := judge(t, &fixed{reply: c.reply, err: c.err}, nil).Grade(t.Context(), p)
			e, ok := errors.AsType[*vaglio.JudgeError](err)
			if !ok || e.Class != c.want || r.Score != 0 || strings.Contains(e.Fault, "sk-secret") {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	late := &fixed{err: context.DeadlineExceeded}
	if _, err := judge(t, late, nil).Grade(t.Context(), proposal()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// The model sees names, and values only if the policy shares them. It never sees secrets, nor any
// part of the call outside a frame.
func TestWhatTheModelSees(t *testing.T) {
	for _, values := range []bool{false, true} {
		m := &fixed{reply: model.Reply{Text: `{"score":1,"reason":"password=hunter2hunter2 is fine"}`}}
		r, err := judge(t, m, func(c *llm.Config) { c.Values = values }).Grade(t.Context(), proposal())
		if err != nil || strings.Contains(r.Reasoning, "hunter2") {
			t.Fatal(r, err)
		}
		q := m.asked[0]
		all := q.System + q.Turns[0].Framed()
		for text, want := range map[string]bool{
			"hunter2": false, "a-secret-place": values, "command\ncwd": true, "code:exec": true, "delete, reaching: workspace": true, "clean up with": true,
		} {
			if strings.Contains(all, text) != want {
				t.Errorf("values %v: %q is shown: %v", values, text, !want)
			}
		}
		for _, theirs := range []string{"clean up", "shell_exec", "command", "a-secret"} {
			if strings.Contains(q.System+q.Turns[0].Text, theirs) {
				t.Errorf("%q stands outside of a frame", theirs)
			}
		}
		quoted := map[string]string{}
		for _, one := range q.Turns[0].Quoted {
			quoted[one.Name()] = one.Text()
		}
		if quoted["critical"] != "true" || quoted["step"] != "3" || quoted["executor"] != "shell_exec" || (quoted["arguments"] != "") != values {
			t.Errorf("values %v: it sees %q", values, quoted)
		}
		if len(q.Schema) == 0 || len(q.Tools) > 0 {
			t.Error("no schema, or tools")
		}
	}
}

// A secret at the end of the reason is masked before the reason is cut.
func TestNoHalfASecret(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for room := range 45 {
		reason := strings.Repeat("x", 300-room) + " " + secret
		r, err := judge(t, &fixed{reply: model.Reply{Text: `{"score":1,"reason":"` + reason + `"}`}}, nil).Grade(t.Context(), proposal())
		if err != nil || strings.Contains(r.Reasoning, "ghp_") {
			t.Fatalf("%d: %s, %v", room, r.Reasoning, err)
		}
	}
}

// A reason has at most 25 words; the rest is cut, and marked as such.
func TestAReasonIsShort(t *testing.T) {
	for words, want := range map[int]string{1: " w", 25: strings.Repeat(" w", 25), 26: strings.Repeat(" w", 25) + " …", 9000: strings.Repeat(" w", 25) + " …"} {
		r, err := judge(t, &fixed{reply: model.Reply{Text: `{"score":1,"reason":"` + strings.Repeat("w\\n ", words) + `"}`}}, nil).Grade(t.Context(), proposal())
		if err != nil || r.Reasoning != want[1:] {
			t.Errorf("%d words become %q, %v", words, r.Reasoning, err)
		}
	}
}

// Answers about names alone are reused within a turn; those that saw values are not.
func TestEqualCallsAreAskedOnce(t *testing.T) {
	for _, values := range []bool{false, true} {
		m := &fixed{reply: model.Reply{Text: `{"score":0.9,"reason":"r"}`}}
		j := judge(t, m, func(c *llm.Config) { c.Values = values })
		p := proposal()
		for range 3 {
			if r, err := j.Grade(t.Context(), p); err != nil || r.Score != 0.9 {
				t.Fatal(r, err)
			}
		}
		if want := map[bool]int{false: 1, true: 3}[values]; len(m.asked) != want {
			t.Errorf("values %v: asked %d times, want %d", values, len(m.asked), want)
		}
		for _, change := range []func(*vaglio.Proposal){
			func(p *vaglio.Proposal) { p.TurnID = "u" }, func(p *vaglio.Proposal) { p.Agent = "b" },
			func(p *vaglio.Proposal) { p.Intent = "other" }, func(p *vaglio.Proposal) { p.Args = vaglio.Args{"x": "y"} },
			func(p *vaglio.Proposal) { p.TurnID = "" },
		} {
			before, p := len(m.asked), proposal()
			change(&p)
			if _, err := j.Grade(t.Context(), p); err != nil || len(m.asked) != before+1 {
				t.Errorf("a changed call is not asked: %v", err)
			}
		}
	}
}

// counting is a ledger in memory that may fail.
type counting struct {
	spent budget.Spent
	err   error
}

func (c *counting) Add(_ context.Context, _ string, by budget.Spent) (budget.Spent, error) {
	c.spent.Calls, c.spent.Cost = c.spent.Calls+by.Calls, c.spent.Cost+by.Cost
	return c.spent, c.err
}

func TestABudgetIsSpent(t *testing.T) {
	for name, c := range map[string]struct {
		limits budget.Limits
		err    error
		passes int
		want   vaglio.Fault
	}{
		"calls":     {budget.Limits{Calls: 2}, nil, 2, vaglio.FaultBudget},
		"cost":      {budget.Limits{Cost: 3}, nil, 3, vaglio.FaultBudget},
		"rules":     {budget.Limits{Calls: 1, Above: budget.Rules}, nil, 1, vaglio.FaultInstead},
		"uncounted": {budget.Limits{Calls: 9}, errors.New("disk full"), 0, vaglio.FaultBudget},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fixed{reply: model.Reply{Text: `{"score":0.9,"reason":"r"}`, Usage: model.Usage{Input: 1_000_000}}}
			j := judge(t, m, func(cfg *llm.Config) {
				cfg.Values, cfg.Budget = true, budget.New(c.limits, &counting{err: c.err}, time.UTC)
			})
			for i := range 5 {
				_, err := j.Grade(t.Context(), proposal())
				e, rejected := errors.AsType[*vaglio.JudgeError](err)
				if rejected != (i >= c.passes) || rejected && e.Class != c.want {
					t.Errorf("call %d: %v", i, err)
				}
			}
			if len(m.asked) != c.passes {
				t.Errorf("asked %d times, want %d", len(m.asked), c.passes)
			}
		})
	}
}

// BenchmarkGrade measures the judge's own time, with a server that answers at once.
func BenchmarkGrade(b *testing.B) {
	s := modeltest.Start(modeltest.OpenAI, modeltest.Always(`{"score":0.9,"reason":"r"}`))
	defer s.Close()
	j := judge(b, openai.New(model.Server{URL: s.URL(), Model: "m"}), func(c *llm.Config) { c.Values = true })
	p := proposal()
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		if _, err := j.Grade(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
}
