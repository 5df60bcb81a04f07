package modeltest

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// read parses a request, and refuses what the real servers refuse.
func (s *Server) read(seen *Seen, body []byte) error {
	if s.api == OpenAI {
		return readOpenAI(seen, body)
	}
	return readAnthropic(seen, body)
}

func readOpenAI(seen *Seen, body []byte) error {
	var r struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
			CallID  string `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string           `json:"name"`
				Parameters strictjson.Value `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Format struct {
			Type   string `json:"type"`
			Schema struct {
				Schema strictjson.Value `json:"schema"`
				Strict bool             `json:"strict"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := strictjson.UnmarshalLoose(body, &r); err != nil {
		return err
	}
	if r.Model == "" || len(r.Messages) < 2 || r.Messages[0].Role != "system" || seen.Path != "/v1/chat/completions" {
		return errors.New("no model, no messages, or another path")
	}
	seen.System = r.Messages[0].Content
	for _, m := range r.Messages[1:] {
		if (m.Role == "tool") != (m.CallID != "") {
			return errors.New("a result without its call")
		}
		seen.Texts = append(seen.Texts, m.Content)
	}
	for _, t := range r.Tools {
		if err := checkTool(t.Function.Name, t.Function.Parameters); err != nil {
			return err
		}
		seen.Tools = append(seen.Tools, t.Function.Name)
	}
	seen.Schema = string(r.Format.Schema.Schema)
	if (seen.Schema != "") != (r.Format.Type == "json_schema" && r.Format.Schema.Strict) {
		return errors.New("a schema that is not strict")
	}
	return nil
}

func readAnthropic(seen *Seen, body []byte) error {
	var r struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		System    []struct {
			Text string `json:"text"`
		} `json:"system"`
		Messages []struct {
			Role    string           `json:"role"`
			Content []anthropicBlock `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string           `json:"name"`
			Schema strictjson.Value `json:"input_schema"`
		} `json:"tools"`
		Choice struct {
			Type string `json:"type"`
		} `json:"tool_choice"`
		Output struct {
			Format struct {
				Type   string           `json:"type"`
				Schema strictjson.Value `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	if err := strictjson.UnmarshalLoose(body, &r); err != nil {
		return err
	}
	if r.Model == "" || r.MaxTokens < 1 || len(r.System) != 1 || seen.Path != "/v1/messages" || seen.Header.Get("anthropic-version") == "" {
		return errors.New("no model, no max_tokens, no system, or another path")
	}
	seen.System = r.System[0].Text
	for i, m := range r.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d is of %s", i, m.Role)
		}
		for i := range m.Content {
			b := &m.Content[i]
			switch {
			case len(r.Tools) == 0 && strings.HasPrefix(b.Type, "tool_"):
				return errors.New("requests which include tool_use or tool_result blocks must define tools")
			case b.Type == "text" && strings.TrimSpace(b.Text) == "":
				return errors.New("text content blocks must contain non-whitespace text")
			}
			seen.Texts = append(seen.Texts, b.said())
		}
	}
	for _, t := range r.Tools {
		if err := checkTool(t.Name, t.Schema); err != nil {
			return err
		}
		if r.Choice.Type != "none" {
			seen.Tools = append(seen.Tools, t.Name)
		}
	}
	seen.Schema = string(r.Output.Format.Schema)
	return nil
}

type anthropicBlock struct {
	Type    string           `json:"type"`
	Text    string           `json:"text"`
	Content []anthropicBlock `json:"content"`
}

func (b *anthropicBlock) said() string {
	texts := []string{b.Text}
	for i := range b.Content {
		texts = append(texts, b.Content[i].said())
	}
	return strings.Join(texts, "")
}

// checkTool refuses a tool that the real servers refuse.
func checkTool(name string, schema strictjson.Value) error {
	var s struct {
		Type string `json:"type"`
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name == "" || len(name) > 64 || strings.Trim(name, letters) != "" {
		return fmt.Errorf("a tool is named %q", name)
	}
	if err := strictjson.UnmarshalLoose(schema, &s); err != nil || s.Type != "object" {
		return fmt.Errorf("the arguments of %s are not an object", name)
	}
	return nil
}

func openAIAnswer(s *Step) string {
	reason, refusal, calls := "stop", "", ""
	switch {
	case s.Length:
		reason = "length"
	case s.Refused:
		refusal = `,"refusal":"I cannot help with that."`
	case len(s.Calls) > 0:
		reason = "tool_calls"
		var all []string
		for i, c := range s.Calls {
			all = append(all, fmt.Sprintf(`{"id":"call_%d","type":"function","function":{"name":%s,"arguments":%s}}`, i, quoted(c.Name), quoted(c.Args)))
		}
		calls = `,"tool_calls":[` + strings.Join(all, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":%q,`+
		`"message":{"role":"assistant","content":%s%s%s}}]%s}`,
		reason, quoted(s.Text), refusal, calls, s.usage("prompt_tokens", "completion_tokens"))
}

func anthropicAnswer(s *Step) string {
	reason := "end_turn"
	var blocks []string
	if s.Text != "" {
		blocks = append(blocks, `{"type":"text","text":`+quoted(s.Text)+`}`)
	}
	for i, c := range s.Calls {
		args := c.Args
		if !strings.HasPrefix(args, "{") { // Anthropic's own are always objects.
			args = `{"raw":` + quoted(args) + `}`
		}
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%s,"input":%s}`, i, quoted(c.Name), args))
		reason = "tool_use"
	}
	switch {
	case s.Length:
		reason = "max_tokens"
	case s.Refused:
		reason = "refusal"
	}
	return fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":%q,"stop_sequence":null,`+
		`"content":[%s]%s}`,
		reason, strings.Join(blocks, ","), s.usage("input_tokens", "output_tokens"))
}

// usage returns the member with the token counts, preceded by a comma.
func (s *Step) usage(input, output string) string {
	if s.Uncounted {
		return ""
	}
	return fmt.Sprintf(`,"usage":{%q:%d,%q:%d}`, input, cmp.Or(s.Input, 100), output, cmp.Or(s.Output, 20))
}
