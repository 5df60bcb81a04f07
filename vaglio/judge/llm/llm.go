// Package llm is the judge that puts one question to a language model, apart from
// the model that proposed the call.
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
	// answerTokens bounds the answer; a model that thinks aloud needs some first.
	answerTokens = 4096
	// longestReason and longestText are what is kept of a reason, in words and in
	// characters.
	longestReason = 25
	longestText   = 300
	// longestArg is the longest value that is shown whole, in bytes; of a longer
	// one head and tail are.
	longestArg = 4096
)

// builtin is the prompt.
//
//go:embed prompt.tmpl
var builtin string

// schema is the verdict's.
const schema = `{"type":"object","properties":{"score":{"type":"number"},"reason":{"type":"string"}},` +
	`"required":["score","reason"],"additionalProperties":false}`

// Judge asks a model once for each call. It is safe for concurrent use.
type Judge struct {
	config Config
	system string
	kept   budget.Answers
}

// Config is what a [Judge] is made of.
type Config struct {
	Model *model.Client
	// Values shows the arguments, with secrets masked; else their names alone.
	Values bool
	Masker mask.Masker
	// Effects are what a call would do and how far that goes, in words of ours
	// that hold nothing of the call; it may be nil.
	Effects func(vaglio.Proposal) (effects, reaches []string)
	// Budget bounds the asking; nil does not.
	Budget *budget.Budget
	// Cached is told of an answer that was not asked for again; it may be nil.
	Cached func(judge string)
}

// New returns the judge.
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

// Kind is [Kind].
func (*Judge) Kind() string { return Kind }

// Grade asks the model. An answer that is not exactly a verdict rejects.
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
	if err := j.config.Budget.Enter(ctx); err != nil {
		return vaglio.GradientResult{}, err
	}
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
	if err != nil {
		return vaglio.GradientResult{}, err
	}
	r, err := j.verdict(reply.Text)
	if err == nil && keeps {
		j.kept.Keep(key, r)
	}
	return r, err
}

// key is what an answer is kept under. Where the model saw values nothing is kept:
// whether it rejects is the gate's to say.
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

// quotes is the call as the model sees it: whatever its agent or its user wrote
// is a quotation.
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
		all = append(all, model.NewQuote("arguments", Arguments(j.config.Masker, p.Args, func(string) bool { return false })))
	}
	return all
}

// verdict reads the answer: exactly one object, which has a score and a reason.
func (j *Judge) verdict(text string) (vaglio.GradientResult, error) {
	r, err := readVerdict(text, j.config.Masker)
	if err != nil {
		return r, &vaglio.JudgeError{Fault: "its answer is no verdict: " + err.Error(), Class: vaglio.FaultMalformed}
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
	words := strings.Fields(m.Mask(reason)) // before it is cut: half a secret is not known as one
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

// Arguments is a call's arguments as a judge is shown them, as JSON: secrets are
// masked, and of a long text head and tail are shown with what was left out.
// whole are texts that are never cut.
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

// Shortened is head and tail of a text of more than so many bytes, two thirds and
// one third of it, with what was left out.
func Shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := strings.ToValidUTF8(text[:most*2/3], ""), strings.ToValidUTF8(text[len(text)-most/3:], "")
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out here …]\n%s", head, len(text)-len(head)-len(tail), len(text), tail)
}
