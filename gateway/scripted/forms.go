package scripted

import "io"

// messages reads Anthropic's Messages API.
func messages(req object) *form {
	f := &form{whole: req["stream"] != true}
	for _, t := range list(req["tools"]) {
		f.tools = append(f.tools, str(t["name"]))
	}
	for _, m := range list(req["messages"]) {
		called := false
		for _, part := range list(m["content"]) {
			switch part["type"] {
			case "tool_use":
				called = true
			case "tool_result":
				f.results = append(f.results, text(part["content"]))
			}
		}
		if called {
			f.rounds++
		}
	}
	f.write = f.writeMessage
	return f
}

func (f *form) writeMessage(w io.Writer, calls []Call, stream bool) {
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{
		"id": name("msg", f.rounds), "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	reason := "end_turn"
	blocks := []object{{"type": "text", "text": closing}}
	if len(calls) > 0 {
		reason, blocks = "tool_use", nil
		for n := range calls {
			input := calls[n].Args
			if input == nil {
				input = object{}
			}
			blocks = append(blocks, object{"type": "tool_use", "id": "toolu_" + id(f.rounds, n), "name": calls[n].Tool, "input": input})
		}
	}
	if !stream {
		message["content"], message["stop_reason"] = blocks, reason
		plain(w, message)
		return
	}
	event(w, "message_start", object{"type": "message_start", "message": message})
	for n, b := range blocks {
		delta := object{"type": "text_delta", "text": closing}
		if b["type"] == "tool_use" {
			b["input"] = object{}
			delta = object{"type": "input_json_delta", "partial_json": calls[n].args()}
		} else {
			b["text"] = ""
		}
		event(w, "content_block_start", object{"type": "content_block_start", "index": n, "content_block": b})
		event(w, "content_block_delta", object{"type": "content_block_delta", "index": n, "delta": delta})
		event(w, "content_block_stop", object{"type": "content_block_stop", "index": n})
	}
	event(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	event(w, "message_stop", object{"type": "message_stop"})
}

// responses reads OpenAI's Responses API.
func responses(req object) *form {
	f := &form{whole: req["stream"] != true}
	for _, t := range list(req["tools"]) {
		name := str(t["name"])
		if name == "" {
			name = str(t["type"])
		}
		f.tools = append(f.tools, name)
	}
	// The calls of one message are consecutive items, with no result in between.
	within := false
	for _, item := range list(req["input"]) {
		switch item["type"] {
		case "function_call", "custom_tool_call":
			if !within {
				f.rounds++
			}
			within = true
		case "function_call_output", "custom_tool_call_output":
			f.results, within = append(f.results, text(item["output"])), false
		}
	}
	f.write = f.writeResponse
	return f
}

func (f *form) writeResponse(w io.Writer, calls []Call, stream bool) {
	var items []any
	for n := range calls {
		item := object{
			"type": "function_call", "id": "fc_" + id(f.rounds, n), "call_id": id(f.rounds, n), "name": calls[n].Tool,
			"arguments": calls[n].args(), "status": "completed",
		}
		if calls[n].Text != "" {
			item = object{"type": "custom_tool_call", "id": "ct_" + id(f.rounds, n), "call_id": id(f.rounds, n), "name": calls[n].Tool, "input": calls[n].Text}
		}
		items = append(items, item)
	}
	if len(calls) == 0 {
		items = []any{object{
			"type": "message", "id": name("msg", f.rounds), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": closing, "annotations": []any{}}},
		}}
	}
	response := object{
		"id": name("resp", f.rounds), "object": "response", "created_at": 1, "status": "completed", "model": "scripted", "output": items,
		"usage": object{
			"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2,
		},
	}
	if !stream {
		plain(w, response)
		return
	}
	event(w, "response.created", object{"type": "response.created", "response": object{
		"id": name("resp", f.rounds), "object": "response", "created_at": 1, "status": "in_progress", "model": "scripted", "output": []any{},
	}})
	for n, item := range items {
		event(w, "response.output_item.added", object{"type": "response.output_item.added", "output_index": n, "item": item})
		event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": n, "item": item})
	}
	event(w, "response.completed", object{"type": "response.completed", "response": response})
}

// completions reads OpenAI's Chat Completions API, which most other providers speak.
func completions(req object) *form {
	f := &form{whole: req["stream"] != true}
	for _, t := range list(req["tools"]) {
		function, _ := t["function"].(object)
		f.tools = append(f.tools, str(function["name"]))
	}
	for _, m := range list(req["messages"]) {
		switch {
		case m["role"] == "tool":
			f.results = append(f.results, text(m["content"]))
		case m["role"] == "assistant" && len(list(m["tool_calls"])) > 0:
			f.rounds++
		}
	}
	f.write = f.writeCompletion
	return f
}

func (f *form) writeCompletion(w io.Writer, calls []Call, stream bool) {
	reason := "stop"
	message := object{"role": "assistant", "content": closing}
	if len(calls) > 0 {
		reason = "tool_calls"
		var all []any
		for n := range calls {
			all = append(all, object{
				"index": n, "id": id(f.rounds, n), "type": "function",
				"function": object{"name": calls[n].Tool, "arguments": calls[n].args()},
			})
		}
		message = object{"role": "assistant", "content": nil, "tool_calls": all}
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	answer := object{"id": name("chatcmpl", f.rounds), "created": 1, "model": "scripted", "usage": usage}
	if !stream {
		answer["object"], answer["choices"] = "chat.completion", []any{object{"index": 0, "message": message, "finish_reason": reason}}
		plain(w, answer)
		return
	}
	answer["object"] = "chat.completion.chunk"
	answer["choices"] = []any{object{"index": 0, "delta": message, "finish_reason": nil}}
	event(w, "", answer)
	answer["choices"] = []any{object{"index": 0, "delta": object{}, "finish_reason": reason}}
	event(w, "", answer)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// content reads Gemini's API.
func content(req object) *form {
	f := &form{}
	for _, t := range list(req["tools"]) {
		for _, d := range list(t["functionDeclarations"]) {
			f.tools = append(f.tools, str(d["name"]))
		}
	}
	for _, c := range list(req["contents"]) {
		called := false
		for _, part := range list(c["parts"]) {
			if part["functionCall"] != nil {
				called = true
			}
			if answer, ok := part["functionResponse"].(object); ok {
				f.results = append(f.results, text(answer["response"]))
			}
		}
		if called {
			f.rounds++
		}
	}
	f.write = f.writeContent
	return f
}

func (f *form) writeContent(w io.Writer, calls []Call, stream bool) {
	parts := []any{object{"text": closing}}
	if len(calls) > 0 {
		parts = nil
		for n := range calls {
			args := calls[n].Args
			if args == nil {
				args = object{}
			}
			parts = append(parts, object{"functionCall": object{"name": calls[n].Tool, "args": args}})
		}
	}
	answer := object{
		"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  "scripted",
	}
	if !stream {
		plain(w, answer)
		return
	}
	event(w, "", answer)
}
