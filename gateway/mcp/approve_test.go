package mcp

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestApprove(t *testing.T) {
	t.Parallel()
	g := newGate()
	inR, in := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Approve(t.Context(), Options{Gate: g, Name: "approve"}, inR, outW) }()
	lines := bufio.NewScanner(outR)
	say := func(message string) {
		t.Helper()
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("got %s, want %s", lines.Text(), want)
		}
	}
	question := func(id int, tool, input string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":%q,"input":%s,"tool_use_id":"u"}}}`, id, tool, input)
	}
	say(`{"jsonrpc":"2.0","id":0,"method":"server/discover"}`)
	heard(`-32601`)
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`)
	heard(`"protocolVersion":"2025-03-26"`)
	say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	heard(`"name":"approve"`)
	say(question(2, "x__ok", `{"n": 9007199254740993}`))
	heard(`{\"behavior\":\"allow\",\"updatedInput\":{\"n\":9007199254740993}}`)
	say(question(3, "x__no", `{}`))
	heard(`{\"behavior\":\"deny\",\"message\":\"the guard says no\"}`)
	say(question(4, "x__hold", `{}`))
	<-g.held
	g.allow()
	heard(`\"allow\"`)
	say(question(5, "x__ok", `{"a":1,"a":2}`))
	heard(`-32700`)
	say(question(6, "x__ok", `[]`))
	heard(`need a tool_name`)
	say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"other"}}`)
	heard(`the only tool is approve`)
	say(question(8, "x__hold", `{}`))
	<-g.held
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
	say(question(9, "x__hold", `{}`))
	<-g.held
	in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if did := g.did(); strings.Count(did, "withdraw") != 2 || !strings.HasPrefix(did, "redeem") {
		t.Errorf("the gate: %s", did)
	}
	if p := g.proposed[0]; p.Context.Client != "claude-code" || p.Executor != "x__ok" {
		t.Errorf("%+v", p)
	}
}
