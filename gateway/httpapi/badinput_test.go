package httpapi

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
)

// secret is part of each bad request; no answer may repeat it.
const secret = "hunter2-the-secret"

func TestBadInput(t *testing.T) {
	pad := strings.Repeat("x", 2<<20)
	for _, tc := range []struct {
		name, method, path, body string
		header                   []string
		fails                    error
		want                     int
		field                    string
		line                     int
	}{
		{name: "malformed-json", body: "{\"executor\":\n \"" + secret + "\"", want: 400, line: 2},
		{name: "not-json", body: secret, want: 400, line: 1},
		{name: "empty-body", body: " ", want: 400, line: 1},
		{name: "array-body", body: `["` + secret + `"]`, want: 400, line: 1},
		{name: "trailing-data", body: callOK + secret, want: 400, line: 1},
		{name: "duplicate-key", body: `{"executor":"ok","args":{"a":"` + secret + `","a":2}}`, want: 400, field: "/args/a", line: 1},
		{name: "duplicate-key-spelt-otherwise", body: `{"executor":"ok","args":{"a":1,"\u0061":"` + secret + `"}}`, want: 400, field: "/args/a", line: 1},
		{name: "unknown-field", body: "{\"executor\":\"ok\",\"args\":{},\n\"permit\":\"" + secret + "\"}", want: 400, field: "/permit", line: 2},
		{name: "wrong-case", body: `{"Executor":"` + secret + `","args":{}}`, want: 400, field: "/Executor", line: 1},
		{name: "wrong-type", body: `{"executor":"ok","args":{},"step":"` + secret + `"}`, want: 400, field: "/step", line: 1},
		{name: "args-is-a-list", body: `{"executor":"ok","args":["` + secret + `"]}`, want: 400, field: "/args", line: 1},
		{name: "context-of-wrong-type", body: `{"executor":"ok","args":{},"context":{"critical":"` + secret + `"}}`, want: 400, field: "/context/critical", line: 1},
		{name: "no-executor", body: `{"args":{"a":"` + secret + `"}}`, want: 400, field: "/executor", line: 1},
		{name: "large-body", body: `{"executor":"ok","args":{"a":"` + pad + `"}}`, want: 413},
		{name: "deep-nesting", body: `{"executor":"ok","args":{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`, want: 400, field: "*", line: 1},
		{name: "nul-character", body: `{"executor":"ok","args":{"a":"` + secret + `\u0000"}}`, want: 400, field: "/args/a", line: 1},
		{name: "nul-byte", body: "{\"executor\":\"ok\",\"args\":{\"a\":\"" + secret + "\x00\"}}", want: 400, field: "*", line: 1},
		{name: "invalid-utf8", body: "{\"executor\":\"ok\",\"args\":{\"a\":\"" + secret + "\xff\"}}", want: 400, field: "*", line: 1},
		{name: "lone-surrogate", body: `{"executor":"ok","args":{"a":"` + secret + `\ud800"}}`, want: 400, field: "*", line: 1},
		{name: "not-said-to-be-json", body: callOK, header: []string{"Content-Type", "text/plain"}, want: 415},
		{name: "no-content-type", body: callOK, header: []string{"Content-Type", ""}, want: 415},
		{name: "other-charset", body: callOK, header: []string{"Content-Type", "application/json; charset=latin1"}, want: 415},
		{name: "wait-without-unit", path: "/v1/proposals?wait=30", body: callOK, want: 400},
		{name: "wait-too-long", path: "/v1/proposals?wait=11m", body: callOK, want: 400},
		{name: "wait-negative", path: "/v1/proposals?wait=-1s", body: callOK, want: 400},
		{name: "wait-twice", path: "/v1/proposals?wait=1s&wait=2s", body: callOK, want: 400},
		{name: "unknown-parameter", path: "/v1/proposals?" + secret + "=1", body: callOK, want: 400},
		{name: "unreadable-query", path: "/v1/proposals?wait=%zz", body: callOK, want: 400},
		{name: "key-too-long", body: callOK, header: []string{"Idempotency-Key", strings.Repeat("k", 201)}, want: 400},
		{name: "key-not-visible", body: callOK, header: []string{"Idempotency-Key", secret + "\tx"}, want: 400},
		{name: "plan-without-calls", path: "/v1/plans", body: `{"calls":[]}`, want: 400, field: "/calls"},
		{name: "plan-too-long", path: "/v1/plans", body: `{"calls":[` + strings.Repeat(callOK+",", MaxCalls) + callOK + `]}`, want: 400, field: "/calls"},
		{name: "mistake-in-a-plan", path: "/v1/plans", body: "{\"calls\":[" + callOK + ",\n" + `{"executor":"ok","args":{},"x":"` + secret + `"}]}`, want: 400, field: "/calls/1/x", line: 2},
		{name: "duplicate-key-in-a-plan", path: "/v1/plans", body: `{"calls":[{"executor":"ok","executor":"` + secret + `","args":{}}]}`, want: 400, field: "/calls/0/executor", line: 1},
		{name: "no-token", body: callOK, header: []string{"Authorization", ""}, want: 401},
		{name: "wrong-token", body: callOK, header: []string{"Authorization", "Bearer " + secret}, want: 401},
		{name: "empty-token", body: callOK, header: []string{"Authorization", "Bearer "}, want: 401},
		{name: "other-scheme", body: callOK, header: []string{"Authorization", "Basic " + tokenA}, want: 401},
		{name: "web-page", body: callOK, header: []string{"Origin", "http://" + secret}, want: 403},
		{name: "web-page-null-origin", body: callOK, header: []string{"Origin", "null"}, want: 403},
		{name: "rebound-page", method: "GET", path: "/v1/turns/t", header: []string{"Sec-Fetch-Site", "same-origin"}, want: 403},
		{name: "unknown-id", method: "GET", path: "/v1/approvals/" + secret, want: 404},
		{name: "unknown-id-withdrawn", method: "DELETE", path: "/v1/approvals/" + secret, want: 404},
		{name: "unknown-id-outcome", path: "/v1/approvals/" + secret + "/outcome", body: `{"succeeded":true}`, want: 404},
		{name: "unknown-turn", method: "GET", path: "/v1/turns/" + secret, want: 404},
		{name: "unknown-permit", path: "/v1/permits/" + secret + "/redeem", body: callOK, want: 404},
		{name: "outcome-says-nothing", path: "/v1/approvals/x/outcome", body: `{}`, want: 400, field: "/succeeded"},
		{name: "outcome-too-long", path: "/v1/approvals/x/outcome", body: `{"succeeded":true,"detail":"` + pad[:4001] + `"}`, want: 400, field: "/detail"},
		{name: "unknown-path", method: "GET", path: "/v2/" + secret, want: 404},
		{name: "root", method: "GET", path: "/", want: 404},
		{name: "unclean-path", method: "GET", path: "//v1/turns/t", want: 404},
		{name: "wrong-method", method: "GET", path: "/v1/proposals", want: 405},
		{name: "unknown-executor", body: callOK, fails: &catalog.Error{Kind: catalog.KindUnknown, Msg: "m"}, want: 422, field: "/executor"},
		{name: "schema-mismatch", body: callOK, fails: fmt.Errorf("judge: %w", &catalog.Error{Kind: catalog.KindSchema, Field: "/path", Msg: "m"}), want: 422, field: "/args/path"},
		{name: "out-of-scope", body: callOK, fails: &catalog.Error{Kind: catalog.KindScope, Field: "/path", Msg: "m"}, want: 422, field: "/args/path"},
		{name: "unreadable", body: callOK, fails: &vaglio.ShapeError{Field: "/command", Line: 2, Col: 3, What: "w"}, want: 422, field: "/args/command"},
		{name: "unreadable-in-a-plan", path: "/v1/plans", body: `{"calls":[` + callOK + `]}`, fails: &vaglio.ShapeError{What: "w"}, want: 422, field: "/calls/0/args"},
		{name: "unreadable-at-redemption", path: "/v1/permits/" + secret + "/redeem", body: callOK, fails: &vaglio.ShapeError{What: "w"}, want: 422, field: "/args"},
		{name: "out-of-scope-in-a-plan", path: "/v1/plans", body: `{"calls":[` + callOK + `]}`, fails: &catalog.Error{Kind: catalog.KindScope, Field: "/path", Msg: "m"}, want: 422, field: "/calls/0/args/path"},
		{name: "too-many-asks", body: callOK, fails: fmt.Errorf("open: %w", &dispatcher.LimitError{Max: 5}), want: 429},
		{name: "too-many-asks-of-a-plan", path: "/v1/plans", body: `{"calls":[` + callOK + `]}`, fails: &dispatcher.LimitError{Max: 5}, want: 429},
		{name: "store-without-room", body: callOK, fails: fmt.Errorf("bolt: %w", approval.ErrFull), want: 507},
		{name: "disk-full", body: callOK, fails: &fs.PathError{Op: "write", Path: "/home/" + secret, Err: syscall.ENOSPC}, want: 507},
		{name: "read-only-disk", body: callOK, fails: fmt.Errorf("store %s: %w", secret, syscall.EROFS), want: 503},
		{name: "unwritable-store", body: callOK, fails: &fs.PathError{Op: "open", Path: "/home/" + secret, Err: syscall.EACCES}, want: 503},
		{name: "anything-else-of-ours", body: callOK, fails: errors.New(secret), want: 500},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := serve(t, nil)
			b.gate.fails = tc.fails
			method, path := tc.method, tc.path
			if method == "" {
				method = "POST"
			}
			if path == "" {
				path = "/v1/proposals"
			}
			got := b.do(t, method, path, tc.body, tc.header...)
			if got.status != tc.want {
				t.Fatalf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
			if strings.Contains(string(got.body), secret) {
				t.Errorf("the answer repeats what was sent: %s", got.body)
			}
			p := got.problem(t)
			oneSentence(t, p)
			if p.Status != tc.want || (tc.field != "*" && p.Field != tc.field && !strings.Contains(p.Field, secret)) || (tc.line != 0 && p.Line != tc.line) {
				t.Errorf("problem %+v, want field %q line %d", p, tc.field, tc.line)
			}
			if len(b.gate.asks) != 0 || len(b.gate.steps) != 0 {
				t.Error("something was half-done")
			}
			if (got.header.Get("WWW-Authenticate") != "") != (tc.want == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate: %q", got.header.Get("WWW-Authenticate"))
			}
			if tc.want == 405 && got.header.Get("Allow") != "POST" {
				t.Errorf("Allow: %q", got.header.Get("Allow"))
			}
		})
	}
}

func oneSentence(t *testing.T, p problemError) {
	t.Helper()
	if p.Detail == "" || strings.ContainsAny(p.Detail, "\n\x00") || strings.Contains(p.Detail, ". ") {
		t.Errorf("detail is not one sentence: %q", p.Detail)
	}
	if p.Title == "" || !strings.HasPrefix(p.Type, "/problems/") {
		t.Errorf("problem %+v", p)
	}
}

// TestPermitThatIsNoGood has one row for each state in which a permit cannot be redeemed.
func TestPermitThatIsNoGood(t *testing.T) {
	for state, want := range map[approval.State]int{
		approval.Expired: 410, approval.Lapsed: 410, approval.Spent: 409,
		approval.Denied: 409, approval.Withdrawn: 409, approval.Superseded: 409, approval.Pending: 409,
	} {
		t.Run(string(state), func(t *testing.T) {
			b := serve(t, nil)
			a := b.do(t, "POST", "/v1/proposals", callAsk).answer(t)
			b.gate.asks[a.Approval.ID].answer.Approval.State = state
			got := b.do(t, "POST", "/v1/permits/permit-"+string(a.Approval.ID)+"/redeem", callAsk)
			if got.status != want {
				t.Errorf("status %d, want %d", got.status, want)
			}
			oneSentence(t, got.problem(t))
		})
	}
}

// TestSchemaRefusesWhatHandlersRefuse checks that the document's request schemas reject the simple
// cases that the handlers reject.
func TestSchemaRefusesWhatHandlersRefuse(t *testing.T) {
	d := openDocument(t)
	for schema, bodies := range map[string][]string{
		"Proposal": {
			`[]`, `{}`, `{"args":{}}`, `{"executor":"","args":{}}`, `{"executor":"ok","args":[]}`,
			`{"executor":"ok","args":{},"x":1}`, `{"executor":"ok","args":{},"step":"1"}`, `{"executor":"ok","args":{},"step":-1}`,
			`{"executor":"ok","args":{},"context":{"x":1}}`, `{"executor":"ok","args":{},"context":{"critical":1}}`,
			`{"executor":"ok","args":{},"context":{"capability":1}}`, `{"executor":"ok","args":{},"context":{"mounts":"x"}}`,
		},
		"Plan":    {`{}`, `{"calls":[]}`, `{"calls":{}}`, `{"calls":[{}]}`},
		"Outcome": {`{}`, `{"succeeded":"true"}`, `{"succeeded":true,"x":1}`, `{"succeeded":true,"ran":"no"}`},
	} {
		path := map[string]string{"Proposal": "/v1/proposals", "Plan": "/v1/plans", "Outcome": "/v1/approvals/x/outcome"}[schema]
		b := serve(t, nil)
		for _, body := range bodies {
			if d.validate(map[string]any{"$ref": "#/components/schemas/" + schema}, []byte(body)) == nil {
				t.Errorf("the schema %s takes %s", schema, body)
			}
			if got := b.do(t, "POST", path, body); got.status != 400 {
				t.Errorf("%s takes %s: %d", path, body, got.status)
			}
		}
	}
}
