package judging

import (
	"context"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	models "github.com/metnos/vaglio/vaglio/judge/model"
)

// probeFor bounds the wait for one model.
const probeFor = 60 * time.Second

// Probe asks each of the policy's models for a trivial verdict, and finds out whether it answers and
// adheres to a schema.
func Probe(ctx context.Context, c Config) (all []approval.Finding) {
	x := &minds{Config: c, clients: map[string]*models.Client{}}
	for i := range c.Policy.Thinking.Models {
		m := &c.Policy.Thinking.Models[i]
		f := x.probe(ctx, m.Name)
		f.Subject = "model " + m.Name
		all = append(all, f)
	}
	return all
}

func (x *minds) probe(ctx context.Context, name string) approval.Finding {
	const schema = `{"type":"object","properties":{"score":{"type":"number"},"reason":{"type":"string"}},"required":["score","reason"],"additionalProperties":false}`
	ctx, cancel := context.WithTimeout(ctx, probeFor)
	defer cancel()
	begun := time.Now()
	reply, err := x.client(name).Complete(ctx, models.Request{
		System: "You test a connection. Answer with one JSON object.", MaxTokens: 1024,
		Turns:  []models.Turn{{Text: `Say in one word that you are there. Put it under "reason", and 1 under "score".`}},
		Schema: strictjson.Value(schema), Name: "verdict",
	})
	took := time.Since(begun).Round(10 * time.Millisecond)
	if err != nil {
		why := err.Error()
		if ctx.Err() != nil {
			why = "it did not answer within " + probeFor.String()
		}
		return approval.Finding{Grade: approval.Wrong, Text: why + ".", Remedy: "Start its server, and check base_url, model and key_file in the policy: without it its judges reject every call."}
	}
	members, malformed := models.Object(reply.Text)
	if malformed == nil {
		_, malformed = models.Share(members, "score")
	}
	if malformed == nil && len(members) != 2 {
		malformed = fmt.Errorf("the answer does not have the members of the schema")
	}
	if ended := reply.Ended(); ended != nil {
		malformed = ended
	}
	if malformed != nil {
		return approval.Finding{
			Grade: approval.Wrong, Text: fmt.Sprintf("It answers in %s, but does not hold to a schema: %v.", took, malformed),
			Remedy: "Use a server that enforces JSON Schema (Ollama locally, llama.cpp, vLLM, OpenAI, Anthropic), or another model: what is not a verdict rejects the call.",
		}
	}
	text := fmt.Sprintf("It answers in %s and holds to a schema.", took)
	if reply.Usage.Estimated {
		text += " It does not count its tokens: they are estimated from the bytes, always too high."
	}
	return approval.Finding{Grade: approval.Fine, Text: text}
}
