package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/client/network"
)

// daemon answers as vaglio does when a person allows the call: with an approval and a permit
// that works once.
func daemon() *httptest.Server {
	spent := false
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/proposals", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"decision":"allow","refusal":null,
			"verdict":{"approved":false,"reason":"it overwrites what others pushed","ts":1,"judge_kind":"effects","score":0.05,"blocked_by":"judge"},
			"approval":{"id":"k2-1","state":"allowed","expires_at":"2026-01-01T00:10:00Z"},
			"permit":{"permit":"p-1","lapses_at":"2026-01-01T00:20:00Z"}}`)
	})
	mux.HandleFunc("POST /v1/permits/p-1/redeem", func(w http.ResponseWriter, _ *http.Request) {
		if spent {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"type":"/problems/permit-spent","title":"The permit was spent","status":409,"detail":"the permit was spent before"}`)
			return
		}
		spent = true
		w.WriteHeader(http.StatusNoContent)
	})
	return httptest.NewServer(mux)
}

// An agent proposes a call, waits for the person, and runs the call only after its permit has
// been redeemed.
func ExampleClient_Propose() {
	vaglioServes := daemon() // instead of one that runs
	defer vaglioServes.Close()

	ctx := context.Background()
	c, err := network.New(vaglioServes.URL, "the agent's token")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	call := client.Proposal{
		TurnID: "t-81", Step: 2, Intent: "clean up the history of main",
		Executor: "shell_exec", Args: map[string]any{"command": "git push --force origin main"},
	}
	answer, err := c.Propose(ctx, client.Request{Proposal: call, Wait: 5 * time.Minute})
	if err != nil {
		fmt.Println(err) // no answer is a no
		return
	}
	switch {
	case answer.Decision != client.Allow:
		fmt.Println("do not run it:", answer.Text)
	case answer.Permit == nil:
		fmt.Println("run it")
	case c.Redeem(ctx, answer.Permit.Permit, call) == nil:
		fmt.Println("a person allowed it: run it, once")
	}
	fmt.Println("again:", c.Redeem(ctx, answer.Permit.Permit, call))
	// Output:
	// a person allowed it: run it, once
	// again: the permit was spent before
}
