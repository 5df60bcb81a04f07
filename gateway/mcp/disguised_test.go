package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A careless server may fold, trim or split a method's name before it looks it up.
func TestADisguisedCallReachesNoServer(t *testing.T) {
	t.Parallel()
	w, over := newWorld(t, nil), newWeb(t, false)
	methods := []string{
		"Tools/Call", "TOOLS/CALL", "tools/Call", "tools.call", "tools//call", "tools/call/", "/tools/call", " tools/call", "tools/call\t", "tools/call\u0000",
		"tools\u200b/call", "tool\u017f/call", "\uff54ools/call", "tools_call", "toolsCall", "mcp/tools/call", "tools/call?x", "Resources/Read", "resources.read", "resources/read\u00a0",
	}
	for n, method := range methods {
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s,"params":{"name":"no","uri":"a://b"}}`, n, quoted(method))
		w.send(message)
		if got := w.next(); !strings.Contains(got, fmt.Sprintf(`"id":%d`, n)) || !strings.Contains(got, "its method") {
			t.Errorf("%q: the client got %s", method, got)
		}
		if got := over.do(over.request(t.Context(), http.MethodPost, message)); got.status != http.StatusBadRequest || !strings.Contains(got.body, "its method") {
			t.Errorf("%q over HTTP: %d %s", method, got.status, got.body)
		}
	}
	w.send(`{"jsonrpc":"2.0","method":"Tools/Call","params":{"name":"no"}}`) // Nobody waits for an answer.
	everyday := []string{"ping", "tools/list", "resources/list", "resources/templates/list", "resources/subscribe", "prompts/get", "completion/complete", "logging/setLevel", "tasks/result", "$/x.y-z_1"}
	for n, method := range everyday {
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, 100+n, method)
		w.send(message)
		if got := w.next(); !strings.Contains(got, `"result"`) {
			t.Errorf("%q: the client got %s", method, got)
		}
		if got := over.do(over.request(t.Context(), http.MethodPost, message)); got.status != http.StatusOK {
			t.Errorf("%q over HTTP: %d %s", method, got.status, got.body)
		}
	}
	w.end()
	for _, lines := range []string{w.server.lines(), over.server.lines()} {
		if got := strings.Count(lines, "\n") + 1; got != len(everyday) {
			t.Errorf("the server got %d messages, want %d:\n%s", got, len(everyday), lines)
		}
	}
}

func quoted(text string) string {
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return `"` + b.String() + `"`
}
