// Package llm is the judge that asks a language model one question, separately from the model that
// proposed the call.
package llm

import (
	"context"
	_ "embed" // the prompt
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/budget"
	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/mask"
)

// Kind is the kind of the judge.
const Kind = "llm-v1"

const (
	// answerTokens is the maximum length of the answer; a model that thinks aloud needs some first.
	answerTokens = 4096
	// longestReason and longestText limit the stored reason, in words and in characters.
	longestReason = 25
	longestText   = 300
	// longestArg is the maximum length of a value that is shown whole, in bytes. Of a longer one,
	// head and tail are shown.
	longestArg = 4096
)

// builtin is the prompt.
//
//go:embed prompt.tmpl
var builtin string

// schema is the schema of the verdict.
const schema = `{"type":"object","properties":{"score":{"type":"number"},"reason":{"type":"string"}},` +
	`"required":["score","reason"],"additionalProperties":false}`

// Judge asks a model once for each call. It is safe for concurrent use.
type Judge struct {
	config Config
	system string
	kept   budget.Answers
}

// Config configures a [Judge].
type Config struct {
	Model *model.Client
	// Values shows the arguments with secrets masked, instead of their names alone.
	Values bool
	Masker mask.Masker
	// Effects returns what a call would do and how far that reaches, in our own words without
	// anything from the call; it may be nil.
	Effects func(vaglio.Proposal) (effects, reaches []string)
	// Budget limits the asking; nil means no limit.
	Budget *budget.Budget
	// Cached is called for each cached answer; it may be nil.
	Cached func(judge string)
}

// New returns a judge.
func New(c Config) (*Judge, error) {
	t, err := template.New("prompt").Parse(builtin)
	if err != nil {
		return nil, fmt.Errorf("llm: the prompt: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, c); err != nil {
		return nil, fmt.Errorf("llm: the prompt: %w", err)
	}
	return &Judge{config: c, system: b.String()}, nil
}

// Kind returns [Kind].
func (*Judge) Kind() string { return Kind }

// Grade asks the model. An answer that is not exactly a verdict rejects the call.
func (j *Judge) Grade(ctx context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	quotes := j.quotes(&p)
	key, keeps := j.key(&p, quotes)
	if keeps {
		if r, ok := j.kept.Find(key); ok {
			if j.config.Cached != nil {
				j.config.Cached(Kind)
			}
			return r, nil
		}
	}
	if err := model.Fit(quotes); err != nil {
		return vaglio.GradientResult{}, err
	}
	if err := j.config.Budget.Enter(ctx); err != nil {
		return vaglio.GradientResult{}, err
	}
	reply, err := j.ask(ctx, quotes)
	if err != nil {
		return vaglio.GradientResult{}, err
	}
	r, err := j.verdict(reply.Text)
	if err == nil && keeps {
		j.kept.Keep(key, r)
	}
	return r, err
}

// ask puts the question, and counts the cost of the answer.
func (j *Judge) ask(ctx context.Context, quotes []model.Quote) (model.Reply, error) {
	reply, err := j.config.Model.Complete(ctx, model.Request{
		System: j.system, MaxTokens: answerTokens, Schema: strictjson.Value(schema), Name: "verdict",
		Turns: []model.Turn{{Text: "Grade this proposed call.", Quoted: quotes}},
	})
	if paid := j.config.Budget.Paid(ctx, j.config.Model.Price().Of(reply.Usage)); err == nil && paid != nil {
		err = paid
	} else if err != nil {
		err = model.JudgeError(err)
	}
	if err == nil {
		err = reply.Ended()
	}
	return reply, err
}

// key returns the key under which an answer is cached. Nothing is cached if the model saw values,
// because whether it rejects is for the gate to decide.
func (j *Judge) key(p *vaglio.Proposal, quotes []model.Quote) (budget.Key, bool) {
	if j.config.Values {
		return budget.Key{}, false
	}
	shown := []string{p.Agent}
	for _, q := range quotes {
		shown = append(shown, q.Name(), q.Text())
	}
	return budget.KeyOf(p.TurnID, shown...)
}

// quotes returns the call as the model sees it: whatever its agent or its user wrote is quoted.
func (j *Judge) quotes(p *vaglio.Proposal) []model.Quote {
	mask := j.config.Masker.Mask
	c := &p.Context
	all := []model.Quote{
		model.NewQuote("intent", mask(p.Intent)),
		model.NewQuote("executor", mask(p.Executor)),
		model.NewQuote("argument_names", mask(strings.Join(slices.Sorted(maps.Keys(p.Args)), "\n"))),
		model.NewQuote("step", fmt.Sprint(p.Step)),
	}
	if c.Critical != nil {
		all = append(all, model.NewQuote("critical", fmt.Sprint(*c.Critical)))
	}
	if len(c.Capability) > 0 {
		all = append(all, model.NewQuote("capability", mask(strings.Join(c.Capability, "\n"))))
	}
	if j.config.Effects != nil {
		effects, reaches := j.config.Effects(*p)
		var lines []string
		for i := range effects {
			lines = append(lines, effects[i]+", reaching: "+reaches[i])
		}
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		all = append(all, model.NewQuote("effects_that_were_read", strings.Join(lines, "\n")))
	}
	if j.config.Values {
		all = append(all, model.NewQuote("arguments", Arguments(j.config.Masker.For(p.Executor), p.Args, func(string) bool { return false })))
	}
	return all
}

// verdict parses the answer: exactly one object with a score and a reason.
func (j *Judge) verdict(text string) (vaglio.GradientResult, error) {
	r, err := readVerdict(text, j.config.Masker)
	if err != nil {
		return r, &vaglio.JudgeError{Fault: "its answer is not a verdict: " + err.Error(), Class: vaglio.FaultMalformed}
	}
	return r, nil
}

func readVerdict(text string, m mask.Masker) (r vaglio.GradientResult, err error) {
	members, err := model.Object(text)
	if err != nil {
		return r, err
	}
	if r.Score, err = model.Share(members, "score"); err != nil {
		return vaglio.GradientResult{}, err
	}
	reason, err := model.Text(members, "reason")
	if err != nil {
		return vaglio.GradientResult{}, err
	}
	words := strings.Fields(m.Mask(reason)) // masked before it is cut: half a secret would not be recognised
	if len(words) == 0 {
		return vaglio.GradientResult{}, &model.MalformedError{Field: "reason", Problem: "is empty"}
	}
	if len(words) > longestReason {
		words = append(words[:longestReason], "…")
	}
	r.Judge, r.Confidence, r.Reasoning = Kind, 1, strings.Join(words, " ")
	if runes := []rune(r.Reasoning); len(runes) > longestText {
		r.Reasoning = string(runes[:longestText-1]) + "…"
	}
	return r, nil
}

// Arguments returns a call's arguments as a judge is shown them, as JSON: secrets are masked, and
// long texts are reduced to head and tail, with a note of what was left out. Texts for which whole
// returns true are never cut.
func Arguments(m mask.Masker, args vaglio.Args, whole func(string) bool) string {
	b, err := strictjson.MarshalIndent(shorten(m.Object(args), whole))
	if err != nil {
		return "(arguments that cannot be written as JSON)"
	}
	return string(b)
}

func shorten(v any, whole func(string) bool) any {
	switch v := v.(type) {
	case string:
		if len(v) <= longestArg || whole(v) {
			return v
		}
		return Shortened(v, longestArg)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = shorten(v[i], whole)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = shorten(value, whole)
		}
		return out
	}
	return v
}

// Shortened returns text or, if it is longer than most bytes, two thirds of that from its head and
// one third from its tail, with a note of what was left out.
func Shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := strings.ToValidUTF8(text[:most*2/3], ""), strings.ToValidUTF8(text[len(text)-most/3:], "")
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out here …]\n%s", head, len(text)-len(head)-len(tail), len(text), tail)
}
