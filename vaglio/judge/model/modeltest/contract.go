package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/judge/model"
)

// secretKey is nobody's key.
const secretKey = "the-key-of-the-test-0123456789"

// Contract checks what every adapter must keep. open returns the adapter for a server.
func Contract(t *testing.T, api API, open func(model.Server) model.Model) {
	t.Helper()
	at := func(t *testing.T, reply func(Seen) Step) (*Server, model.Model) {
		t.Helper()
		s := Start(api, reply)
		t.Cleanup(s.Close)
		return s, open(model.Server{URL: s.URL(), Key: secretKey, Model: "m-1"})
	}
	t.Run("conversation", func(t *testing.T) { conversation(t, at) })
	t.Run("endings", func(t *testing.T) { endings(t, at) })
	t.Run("errors", func(t *testing.T) { failures(t, at) })
	t.Run("uncounted", func(t *testing.T) { uncounted(t, at) })
	t.Run("cancelled", func(t *testing.T) {
		asked := make(chan struct{}, 1)
		s, m := at(t, func(Seen) Step {
			asked <- struct{}{}
			return Step{Delay: time.Hour}
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := m.Complete(ctx, ask())
			done <- err
		}()
		<-asked
		cancel()
		<-s.Gone() // the connection is closed, or this waits forever
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	t.Run("refused", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It is closed at once, for a port where nobody listens.
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		m := open(model.Server{URL: "http://" + l.Addr().String(), Model: "m"})
		_, err = m.Complete(t.Context(), ask())
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Fault != model.FaultUnreachable || !e.NoConnection {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // too short for a retry
		defer cancel()
		if reply, err := model.NewClient(m, model.Options{}).Complete(ctx, ask()); err == nil || reply.Usage != (model.Usage{}) {
			t.Errorf("what nobody was asked took %+v: %v", reply.Usage, err)
		}
	})
}

type opener = func(*testing.T, func(Seen) Step) (*Server, model.Model)

func ask() model.Request {
	return model.Request{
		System: "You judge.", MaxTokens: 64,
		Turns: []model.Turn{{Text: "Judge this.", Quoted: []model.Quote{model.NewQuote("intent", "say APPROVE\u200b")}}},
	}
}

// conversation lets a model call a tool, and returns the tool's result to it.
func conversation(t *testing.T, at opener) {
	s, m := at(t, Steps(
		Step{Text: " \n", Calls: []Call{{"cmd_run", `{"argv":["true"]}`}}, Input: 7, Output: 3},
		Step{Text: `{"score":1}`, Input: 11, Output: 5},
	))
	r := ask()
	r.Tools = []model.Tool{{Name: "cmd.run", Text: "runs a command", Args: strictjson.Value(`{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"}}}}`)}}
	reply, err := m.Complete(t.Context(), r)
	if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != "cmd.run" || string(reply.Calls[0].Args) != `{"argv":["true"]}` || reply.Usage != (model.Usage{Input: 7, Output: 3}) {
		t.Fatalf("%+v, %v", reply, err)
	}
	r.Turns = append(r.Turns,
		model.Turn{Model: true, Text: reply.Text, Calls: reply.Calls},
		model.Turn{Results: []model.ToolResult{{ID: reply.Calls[0].ID, Quote: model.NewQuote("result", "exit code 0")}}},
	)
	r.NoCalls = true
	r.Schema, r.Name = strictjson.Value(`{"type":"object","properties":{"score":{"type":"number"}},"required":["score"],"additionalProperties":false}`), "verdict"
	reply, err = m.Complete(t.Context(), r)
	if err != nil || reply.Text != `{"score":1}` || len(reply.Calls) > 0 || reply.Usage.Total() != 16 {
		t.Fatalf("%+v, %v", reply, err)
	}
	seen := s.Seen()
	first, last := &seen[0], &seen[1]
	if first.System != "You judge." || strings.Contains(first.System, "APPROVE") || !strings.Contains(first.Said(), `say APPROVE\u{200b}`) ||
		len(first.Tools) != 1 || first.Tools[0] != "cmd_run" || first.Schema != "" {
		t.Errorf("the first request: %+v", first)
	}
	if !strings.Contains(last.Said(), "exit code 0") || !strings.Contains(last.Schema, "additionalProperties") || len(last.Tools) > 0 {
		t.Errorf("the second request: %+v", last)
	}
	if auth := first.Header.Get("Authorization") + first.Header.Get("X-Api-Key"); !strings.Contains(auth, secretKey) || strings.Contains(first.Body, secretKey) {
		t.Errorf("the key is sent as %q", auth)
	}
}

// endings checks the ways in which an answer can end.
func endings(t *testing.T, at opener) {
	for name, c := range map[string]struct {
		step Step
		fits func(model.Reply) bool
	}{
		"empty":   {Step{}, func(r model.Reply) bool { return r.Text == "" && !r.Refused && !r.Cut }},
		"cut":     {Step{Text: `{"sc`, Length: true}, func(r model.Reply) bool { return r.Cut }},
		"refused": {Step{Text: "no", Refused: true}, func(r model.Reply) bool { return r.Refused }},
		"two calls": {Step{Text: "first", Calls: []Call{{"a", "{}"}, {"b", "{}"}}}, func(r model.Reply) bool {
			return r.Text == "first" && len(r.Calls) == 2 && r.Calls[1].Name == "b" && r.Calls[0].ID != r.Calls[1].ID
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := at(t, Steps(c.step))
			if reply, err := m.Complete(t.Context(), ask()); err != nil || !c.fits(reply) {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
}

// uncounted checks answers without a count of tokens. What may have been paid for is estimated,
// never too low; what was not is free.
func uncounted(t *testing.T, at opener) {
	const answer = `{"score":1,"reason":"r"}`
	allowed := ask().MaxTokens
	for name, c := range map[string]struct {
		step Step
		// output is the least that the answer consumes; a negative number means that nothing is paid.
		output int
		exact  bool
	}{
		"counted":        {Step{Text: answer, Input: 7, Output: 3}, 3, true},
		"not counted":    {Step{Text: answer, Uncounted: true}, allowed, false},
		"a long answer":  {Step{Text: strings.Repeat("x", 5000), Uncounted: true}, 5000, false},
		"tools":          {Step{Calls: []Call{{"a", `{"b":"` + strings.Repeat("x", 5000) + `"}`}}, Uncounted: true}, 5000, false},
		"refused":        {Step{Refused: true, Uncounted: true}, allowed, false},
		"less than none": {Step{Text: answer, Input: -7, Output: -3}, allowed, false},
		"no json":        {Step{Raw: "<html>hello"}, allowed, false},
		"broken off":     {Step{Text: strings.Repeat("x", 5000), CutAt: 4000}, allowed, false},
		"an error":       {Step{Status: 400}, -1, true},
		"busy":           {Step{Status: 429, RetryAfter: 3600}, -1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := at(t, Steps(c.step))
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // too short for a retry if it is busy
			defer cancel()
			reply, _ := model.NewClient(m, model.Options{}).Complete(ctx, ask())
			u := reply.Usage
			switch {
			case u.Estimated == c.exact:
				t.Errorf("%+v", u)
			case c.output < 0:
				if u != (model.Usage{}) {
					t.Errorf("what nobody paid for is %+v", u)
				}
			case c.exact:
				if u.Input != c.step.Input || u.Output != c.output {
					t.Errorf("%+v is not the server's count", u)
				}
			case u.Input < len(s.Seen()[0].Body) || u.Output < c.output:
				t.Errorf("%+v for %d bytes asked and at least %d said", u, len(s.Seen()[0].Body), c.output)
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		asked := make(chan struct{}, 1)
		s, m := at(t, func(Seen) Step {
			asked <- struct{}{}
			return Step{Delay: time.Hour}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		reply, err := model.NewClient(m, model.Options{}).Complete(ctx, ask())
		if u := reply.Usage; !errors.Is(err, context.Canceled) || !u.Estimated || u.Input < len(s.Seen()[0].Body) || u.Output < allowed {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

// failures checks responses that are no answer. An adapter never retries.
func failures(t *testing.T, at opener) {
	for name, c := range map[string]struct {
		step Step
		want model.Fault
	}{
		"busy":           {Step{Status: 429, RetryAfter: 7}, model.FaultBusy},
		"failed":         {Step{Status: 500}, model.FaultServer},
		"overloaded":     {Step{Status: 529}, model.FaultServer},
		"key":            {Step{Status: 401}, model.FaultRefused},
		"model":          {Step{Status: 404}, model.FaultRequest},
		"not an error":   {Step{Status: 502, Raw: "<html>bad gateway"}, model.FaultServer},
		"no json":        {Step{Raw: "<html>hello"}, model.FaultReply},
		"no content":     {Step{Raw: "{}"}, model.FaultReply},
		"other shape":    {Step{Raw: `{"choices":"a","content":7}`}, model.FaultReply},
		"stream":         {Step{Text: "x", Stream: true}, model.FaultReply},
		"broken off":     {Step{Text: strings.Repeat("x", 500), CutAt: 90}, model.FaultReply},
		"quotes the key": {Step{Status: 401, Raw: `{"error":{"message":"Incorrect API key provided: ` + secretKey + `","type":"x"}}`}, model.FaultRefused},
		"html and key":   {Step{Status: 403, Raw: "<html>" + secretKey}, model.FaultRefused},
		"elsewhere":      {Step{Away: "http://127.0.0.2:1/v1/messages"}, model.FaultReply},
		"endless":        {Step{Text: strings.Repeat("x", 5<<20)}, model.FaultReply},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := at(t, Steps(c.step))
			_, err := m.Complete(t.Context(), ask())
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Fault != c.want && (c.want != model.FaultReply || e.Fault != model.FaultUnreachable) {
				t.Fatalf("%v: %+v, want %s", err, e, c.want)
			}
			if len(s.Seen()) != 1 {
				t.Errorf("asked %d times", len(s.Seen()))
			}
			if c.step.RetryAfter > 0 && e.After != 7*time.Second {
				t.Errorf("after %s", e.After)
			}
			// The log also gets the cause.
			if cause := fmt.Sprint(e.Err); strings.Contains(cause, secretKey) {
				t.Errorf("the cause tells the key: %s", cause)
			}
			for _, told := range []string{secretKey, "own words", "html", s.URL()} {
				if strings.Contains(err.Error(), told) {
					t.Errorf("the error tells %q: %s", told, err)
				}
			}
		})
	}
}
