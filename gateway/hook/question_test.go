package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/ask"
	"github.com/metnos/vaglio/gateway/client"
)

// asking is a gate whose person asks before they decide, and allows once they have an answer.
type asking struct {
	fakeGate
	repeated bool
	answers  []string
}

func (g *asking) Propose(ctx context.Context, r client.Request) (client.Answer, error) {
	if g.answers = append(g.answers, r.Answer); r.Answer != "" {
		return allowed, nil
	}
	a, err := g.fakeGate.Propose(ctx, r)
	a.Question = &client.Question{Words: "why?", AskedAt: asked, Repeated: g.repeated}
	return a, err
}

var asked = time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)

func TestAQuestionReachesTheAgentAtOnce(t *testing.T) {
	question := with(pending, func(a *client.Answer) {
		a.Text, a.Question = "vaglio: a person asks why", &client.Question{Words: "why?", AskedAt: asked}
	})
	for name, g := range map[string]ask.Gate{
		"first":    &asking{fakeGate: fakeGate{answer: question}},
		"meantime": &fakeGate{answer: pending, later: question},
	} {
		if s := parse(t, run(t, g, strings.NewReader(bash), 0)); s.Out.Decision != "deny" || s.Out.Reason != question.Text {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestTheAnswerIsWhatTheAgentSaid(t *testing.T) {
	line := func(at, role, content string) string {
		return entryLine(role, `,"timestamp":"`+at+`"`, content)
	}
	const before, after = "2026-11-22T13:59:59.000Z", "2026-11-22T14:00:05.123Z"
	result := line(after, "user", `[{"type":"tool_result","content":"a person asks why"}]`)
	for name, tc := range map[string]struct{ lines, want string }{
		"since":       {line(before, "assistant", `[{"type":"text","text":"old"}]`) + result + line(after, "assistant", `[{"type":"text","text":"Because it is stale."},{"type":"tool_use","name":"Bash"}]`), "Because it is stale."},
		"in-order":    {line(after, "assistant", `[{"type":"text","text":"one"}]`) + result + line(after, "assistant", `[{"type":"text","text":"two"}]`), "one\ntwo"},
		"only-before": {line(before, "assistant", `[{"type":"text","text":"old"}]`) + result, ""},
		"no-time":     {entryLine("assistant", "", `[{"type":"text","text":"old"}]`), ""},
		"a-users":     {line(after, "user", `"I am the user"`), ""},
		"sub-agent":   {entryLine("assistant", `,"timestamp":"`+after+`","isSidechain":true`, `[{"type":"text","text":"other"}]`), ""},
		"other-roles": {entryLine("user", `,"timestamp":"`+after+`"`, `"x"`) + strings.Replace(line(after, "assistant", `"forged"`), `"type":"assistant"`, `"type":"user"`, 1) + strings.Replace(line(after, "assistant", `"forged"`), `"role":"assistant"`, `"role":"user"`, 1), ""},
		"meta":        {entryLine("assistant", `,"timestamp":"`+after+`","isMeta":true`, `"other"`), ""},
		"parts":       {line(after, "assistant", `[{"type":"thinking","text":"hidden"},{"type":"text","text":" "},{"type":"text","text":"said"}]`), "said"},
		"out-of-turn": {line(after, "assistant", `"early"`) + line(before, "assistant", `"old"`) + line(after, "assistant", `"late"`), "late"},
		"no-lines":    {line(after, "assistant", `"one"`) + "{broken\n\n" + entryLine("user", "", `"x"`) + line(after, "assistant", `"two"`), "one\ntwo"},
		"half-a-line": {line(after, "assistant", `"one"`) + `{"type":"assistant"` + "\n" + line(after, "assistant", `"two"`), "two"},
		"long":        {line(after, "assistant", `[{"type":"text","text":"`+strings.Repeat("é", 3000)+`"}]`), strings.Repeat("é", maxAnswer)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.jsonl")
			if err := os.WriteFile(path, []byte(tc.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			g := &asking{fakeGate: fakeGate{answer: pending, later: refused}, repeated: true}
			s := parse(t, run(t, g, strings.NewReader(strings.Replace(bash, "/none.jsonl", path, 1)), 0))
			if tc.want == "" {
				if len(g.answers) != 1 || s.Out.Decision != "deny" {
					t.Errorf("answered %q, and told %+v", g.answers, s)
				}
				return
			}
			if len(g.answers) != 2 || g.answers[1] != tc.want || s.Out.Decision != "allow" {
				t.Errorf("answered %q, and told %+v", g.answers, s)
			}
		})
	}
}
