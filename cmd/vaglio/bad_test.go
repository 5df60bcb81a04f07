package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// TestBadInput sends the real daemon what it must refuse, with the right status and one sentence,
// without revealing a secret or leaving anything half done.
func TestBadInput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	policy := filepath.Join(h.dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(`
closed: true
executors:
  - name: shell_exec
  - name: read_file
    args_schema: {type: object, properties: {path: {type: string}}, required: [path]}
    capabilities: [{name: "fs:read", hint: ["/srv/app/**"]}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"METNOS_POLICY=" + policy}
	s := h.serve()
	token := "Bearer " + s.agentToken()
	allowed := s.agent("POST", "/v1/proposals", forcePush).answer(t)
	owner := s.signIn(s.link)
	owner.decide("allow", "")
	permit := s.agent("GET", "/v1/approvals/"+string(allowed.Approval.ID), "").answer(t).Permit.Permit

	read := func(args string) string { return `{"intent":"x","executor":"read_file","args":` + args + `}` }
	const propose = "POST /v1/proposals"
	for name, c := range map[string]struct {
		call, body, auth string
		status           int
		want             string
	}{
		"Malformed":        {propose, `{"executor":`, token, 400, ""},
		"NotAnObject":      {propose, `[]`, token, 400, ""},
		"DuplicateKey":     {propose, `{"executor":"a","executor":"b","args":{}}`, token, 400, "executor"},
		"DuplicateArg":     {propose, read(`{"path":"/srv/app/a","path":"/srv/app/b"}`), token, 400, "path"},
		"UnknownField":     {propose, `{"executor":"read_file","args":{},"approve":true}`, token, 400, "approve"},
		"WrongType":        {propose, `{"executor":7,"args":{}}`, token, 400, "executor"},
		"TooLarge":         {propose, read(`{"path":"` + strings.Repeat("a", 2<<20) + `"}`), token, 413, ""},
		"TooDeep":          {propose, read(strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)), token, 400, ""},
		"NUL":              {propose, read(`{"path":"/srv/app/\u0000"}`), token, 400, ""},
		"InvalidUTF8":      {propose, read("{\"path\":\"/srv/app/\xff\"}"), token, 400, ""},
		"UnknownExecutor":  {propose, `{"executor":"write_file","args":{}}`, token, 422, "write_file"},
		"SchemaMismatch":   {propose, read(`{"path":7}`), token, 422, "path"},
		"OutOfScope":       {propose, read(`{"path":"/srv/other"}`), token, 422, "path"},
		"NoToken":          {propose, forcePush, "", 401, "no token"},
		"WrongToken":       {propose, forcePush, "Bearer vaglio_WRONG", 401, "token"},
		"UnknownApproval":  {"GET /v1/approvals/aaaaaaaaaaaaaaaa-1", "", token, 404, ""},
		"UnknownPermit":    {"POST /v1/permits/nothing/redeem", forcePush, token, 404, ""},
		"NoPermit":         {"POST /v1/permits//redeem", forcePush, token, 404, ""},
		"UnknownCall":      {"GET /v1/everything", "", token, 404, ""},
		"WrongMethod":      {"PUT /v1/proposals", forcePush, token, 405, ""},
		"OtherPermitsCall": {"POST /v1/permits/" + permit + "/redeem", strings.Replace(forcePush, "origin main", "origin other", 1), token, 422, ""},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(c.call, " ")
			r := s.send(http.DefaultClient, method, s.base+path, c.body, c.auth)
			if r.status != c.status || !strings.Contains(r.body, c.want) {
				t.Errorf("got %d %s, want %d and %q", r.status, r.body, c.status, c.want)
			}
			var problem map[string]any
			if err := strictjson.Unmarshal([]byte(r.body), &problem); err != nil || problem["detail"] == "" {
				t.Errorf("%q is no problem document: %v", r.body, err)
			}
			if strings.Contains(r.body, s.agentToken()) || strings.Contains(r.body, permit) {
				t.Errorf("a secret is in %s", r.body)
			}
		})
	}
	// The owner who tries such a call is told what is wrong with it, not that something failed.
	for call, want := range map[string]string{`{"intent":"x","executor":"write_file","args":{}}`: "write_file", read(`{"path":7}`): "path"} {
		if r := owner.post("/inbox/try", url.Values{"proposal": {call}}); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, want) {
			t.Errorf("trying %s: %d, want 422 and a page with %q", call, r.status, want)
		}
	}
	// Another agent cannot use the permit.
	if r := s.as(s.newAgent("other"), "POST", "/v1/permits/"+permit+"/redeem", forcePush); r.status != http.StatusNotFound {
		t.Errorf("a foreign permit: %d %s, want 404", r.status, r.body)
	}
	if r := s.agent("POST", "/v1/permits/"+permit+"/redeem", forcePush); r.status != http.StatusNoContent {
		t.Errorf("after all that the permit gives %d %s, want 204", r.status, r.body)
	}
	s.waiting(0)
	s.stop()
	if strings.Contains(s.log.String(), permit) || strings.Contains(s.log.String(), strings.TrimPrefix(token, "Bearer ")) {
		t.Errorf("a secret is in the log:\n%s", s.log)
	}
}
