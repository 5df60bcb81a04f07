package scripted

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestForms asks in each wire format for the first message of a script, for the one after a
// result, and for a title, which offers no tools.
func TestForms(t *testing.T) {
	forms := map[string]struct{ path, first, second string }{
		"messages": {
			"/v1/messages", `{"stream":true,"tools":[{"name":"sh"}],"messages":[{"role":"user","content":"hi"}]}`,
			`{"stream":true,"tools":[{"name":"sh"}],"messages":[{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result","content":"it-ran"}]}]}`,
		},
		"responses": {
			"/v1/responses", `{"stream":true,"tools":[{"type":"function","name":"sh"}],"input":[]}`,
			`{"stream":true,"tools":[{"type":"function","name":"sh"}],"input":[{"type":"function_call"},{"type":"function_call_output","output":"it-ran"}]}`,
		},
		"completions": {
			"/v1/chat/completions", `{"tools":[{"function":{"name":"sh"}}],"messages":[]}`,
			`{"tools":[{"function":{"name":"sh"}}],"messages":[{"role":"assistant","tool_calls":[{}]},{"role":"tool","content":"it-ran"}]}`,
		},
		"content": {
			"/v1beta/models/x:streamGenerateContent", `{"tools":[{"functionDeclarations":[{"name":"sh"}]}],"contents":[]}`,
			`{"tools":[{"functionDeclarations":[{"name":"sh"}]}],"contents":[{"parts":[{"functionCall":{}}]},{"parts":[{"functionResponse":{"response":{"output":"it-ran"}}}]}]}`,
		},
	}
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			m := New([]Call{{Tool: "sh", Args: map[string]any{"command": "echo one"}}, {Tool: "sh", Args: map[string]any{"command": "echo two"}}})
			server := httptest.NewServer(m)
			defer server.Close()
			ask := func(body string) string {
				r, err := http.Post(server.URL+f.path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				out, err := io.ReadAll(r.Body)
				if err != nil || r.StatusCode != http.StatusOK {
					t.Fatal(r.StatusCode, err)
				}
				return string(out)
			}
			if said := ask(`{}`); strings.Contains(said, "echo") || !strings.Contains(said, closing) {
				t.Errorf("a title: %s", said)
			}
			if said := ask(f.first); !strings.Contains(said, "echo one") || !strings.Contains(said, "echo two") {
				t.Errorf("the first: %s", said)
			}
			if said := ask(f.second); strings.Contains(said, "echo") || !strings.Contains(said, closing) {
				t.Errorf("the second: %s", said)
			}
			if got := strings.Join(m.Results(), "|"); !strings.Contains(got, "it-ran") || strings.Join(m.Tools(), "") != "sh" {
				t.Errorf("%q %v", got, m.Tools())
			}
		})
	}
}

// TestDelegate has a model hand a task to a sub-agent, which talks to the model in a conversation
// of its own: each gets its part of the script, once.
func TestDelegate(t *testing.T) {
	m := New([]Call{{Tool: "agent", Args: map[string]any{"prompt": "count the files"}}})
	m.Delegate("count the files", Call{Tool: "sh", Args: map[string]any{"command": "echo below"}})
	for _, c := range []struct{ says, asked, want, not string }{
		{"who begins", `"tools":[{"name":"agent"}],"messages":[{"role":"user","content":"hi"}]`, "count the files", "below"},
		{"the sub-agent", `"tools":[{"name":"sh"}],"messages":[{"role":"user","content":"count the files"}]`, "echo below", "count the files"},
		{
			"the sub-agent at its end", `"tools":[{"name":"sh"}],"messages":[{"role":"user","content":"count the files"},
			{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result","content":"3"}]}]`, closing, "below",
		},
		{
			"who began, at the end", `"tools":[{"name":"agent"}],"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool_use","input":{"prompt":"count the files"}}]},{"role":"user","content":[{"type":"tool_result","content":"done"}]}]`, closing, "below",
		},
	} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader("{"+c.asked+"}")))
		if said := w.Body.String(); !strings.Contains(said, c.want) || strings.Contains(said, c.not) {
			t.Errorf("%s: %s", c.says, said)
		}
	}
}
