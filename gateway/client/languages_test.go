package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/internal/filetest"
	"github.com/metnos/vaglio/internal/strictjson"
)

// foreign is a client in another language: a command that guards one call.
type foreign struct{ program, script string }

// guarded is what a client reports about a call that it guarded.
type guarded struct {
	Ran    int            `json:"ran"`
	Text   string         `json:"text"`
	Edited *client.Edited `json:"edited"`
}

// run makes the client guard one call; limit is how long it waits, in milliseconds.
func (f foreign) run(t *testing.T, url string, limit int) (ran int, text string) {
	t.Helper()
	said := f.guard(t, url, limit)
	return said.Ran, said.Text
}

func (f foreign) guard(t *testing.T, url string, limit int) (said guarded) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, f.program, f.script, url, fmt.Sprint(limit))
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || strictjson.UnmarshalLoose(out, &said) != nil {
		t.Fatalf("%v\n%s%s", err, out, errs.String())
	}
	return said
}

// TestClientsOfOtherLanguages holds the small clients to one contract, against a daemon that
// answers their requests in a fixed order. A short run tries every row in Python, and in Node.js,
// which takes a second to start, those in which the call runs.
func TestClientsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	if err := filetest.Uses("js", "python", "testdata"); err != nil {
		t.Fatal(err)
	}
	const (
		approved = `200 {"decision":"allow","verdict":{"approved":true},"approval":null,"permit":null}`
		denied   = `200 {"decision":"deny","verdict":{"approved":false},"text":"the guard says no"}`
		pending  = `200 {"decision":"pending","verdict":{"approved":false},"approval":{"id":"a/1","state":"pending"}}`
		allowed  = `200 {"decision":"allow","verdict":{"approved":false},"approval":{"id":"a/1","state":"allowed"},"permit":{"permit":"p/1"}}`
		asked    = `200 {"decision":"pending","verdict":{"approved":false},"text":"a person asks why","approval":{"id":"a/1"},"question":{"words":"why?"}}`
		askedOld = `200 {"decision":"pending","verdict":{"approved":false},"approval":{"id":"a/1"},"question":{"words":"why?","repeated":true}}`
		done     = `204 `
		spent    = `409 {"type":"/problems/spent","detail":"spent"}`
		busy     = `503 {"type":"/problems/stopping","detail":"restarting"}`
		cut      = `cut`
		propose  = "POST /v1/proposals"
		await    = "GET /v1/approvals/a%2F1"
		redeem   = "POST /v1/permits/p%2F1/redeem"
		report   = `POST /v1/approvals/a%2F1/outcome`
	)
	for _, f := range []foreign{{"node", "testdata/guard.mjs"}, {"python3", "testdata/guard.py"}} {
		if _, err := exec.LookPath(f.program); err != nil {
			if f.program == "node" && os.Getenv("CI") != "" {
				t.Errorf("%s is not found", f.program)
				continue
			}
			t.Logf("skipped: %s is not found, so its client is not tried", f.program)
			continue
		}
		for name, tc := range map[string]struct {
			answers []string
			asked   []string
			ran     int
			text    string
		}{
			"approved":         {[]string{approved}, []string{propose}, 1, ""},
			"denied":           {[]string{denied}, []string{propose}, 0, "the guard says no"},
			"allowed-at-once":  {[]string{allowed, done, done}, []string{propose, redeem, report}, 1, ""},
			"waits":            {[]string{pending, allowed, done, done}, []string{propose, await, redeem, report}, 1, ""},
			"waits-for-a-no":   {[]string{pending, denied}, []string{propose, await}, 0, "the guard says no"},
			"asked-first":      {[]string{asked}, []string{propose}, 0, "a person asks why"},
			"asked-while":      {[]string{pending, asked}, []string{propose, await}, 0, "a person asks why"},
			"asked-before":     {[]string{askedOld, denied}, []string{propose, await}, 0, "the guard says no"},
			"restarted":        {[]string{cut, busy, approved}, []string{propose, propose, propose}, 1, ""},
			"restarted-later":  {[]string{pending, cut, busy, allowed, done, done}, []string{propose, await, await, await, redeem, report}, 1, ""},
			"not-redeemed":     {[]string{allowed, cut}, []string{propose, redeem}, 0, "could not be asked"},
			"spent-by-another": {[]string{allowed, spent, denied}, []string{propose, redeem, propose + " .1"}, 0, "the guard says no"},
			"another-call":     {[]string{allowed, `422 {"detail":"another call was shown"}`}, []string{propose, redeem}, 0, "another call was shown"},
			"unauthorised":     {[]string{`401 {"detail":"not an agent's"}`}, []string{propose}, 0, "not an agent's"},
			"full":             {[]string{`507 nonsense`}, []string{propose}, 0, "status 507"},
			"unreadable":       {[]string{`200 {"decision":`}, []string{propose}, 0, "could not be asked"},
			"strange":          {[]string{`200 {"decision":"allow","verdict":{"approved":false}}`}, []string{propose}, 0, "does not understand"},
			"permit-no-person": {[]string{`200 {"decision":"allow","permit":{"permit":"p/1"}}`}, []string{propose}, 0, "does not understand"},
			"redirected":       {[]string{`307 elsewhere`}, []string{propose}, 0, "vaglio"},
			"not-reported":     {[]string{allowed, done, `500 {"detail":"full"}`}, []string{propose, redeem, report}, 1, ""},
		} {
			if testing.Short() && f.program == "node" && tc.ran == 0 && name != "denied" {
				continue
			}
			t.Run(f.program+"/"+name, func(t *testing.T) {
				t.Parallel()
				d := &inOrder{answers: tc.answers}
				s := httptest.NewServer(d)
				defer s.Close()
				ran, text := f.run(t, s.URL, 20_000)
				s.Close() // waits for the handler to finish
				if ran != tc.ran || !strings.Contains(text, tc.text) || text == "" && ran == 0 {
					t.Errorf("ran %d times, said %q; want %d, %q", ran, text, tc.ran, tc.text)
				}
				if got, want := strings.Join(d.asked, "\n"), strings.Join(tc.asked, "\n"); got != want {
					t.Errorf("asked\n%s\nwant\n%s", got, want)
				}
			})
		}
		t.Run(f.program+"/edited", func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(&inOrder{answers: []string{
				`200 {"decision":"deny","verdict":{"approved":false},"text":"allowed in another form","approval":{"id":"a/1"},"edited":{"executor":"x","args":{"n":2},"changed":["n"]}}`,
			}})
			defer s.Close()
			said := f.guard(t, s.URL, 20_000)
			if e := said.Edited; said.Ran != 0 || e == nil || e.Executor != "x" || fmt.Sprint(e.Args) != "map[n:2]" {
				t.Errorf("%+v", said)
			}
		})
		t.Run(f.program+"/nobody-answers", func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(&inOrder{answers: []string{pending}})
			defer s.Close()
			if ran, text := f.run(t, s.URL, 0); ran != 0 || !strings.Contains(text, "held as a/1") {
				t.Errorf("ran %d times, said %q", ran, text)
			}
		})
		t.Run(f.program+"/no-daemon", func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(nil)
			s.Close()
			if ran, text := f.run(t, s.URL, 1000); ran != 0 || !strings.Contains(text, "could not be asked") {
				t.Errorf("ran %d times, said %q", ran, text)
			}
		})
	}
}

// inOrder is a daemon that gives its answers in order.
type inOrder struct {
	answers, asked []string
	key            string
}

// ServeHTTP notes the request, holds it to the contract, and answers.
func (d *inOrder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	line := r.Method + " " + r.URL.EscapedPath()
	propose := line == "POST /v1/proposals"
	if propose && d.key == "" {
		d.key = r.Header.Get("Idempotency-Key")
	}
	wrong := r.Header.Get("Authorization") != "Bearer the-token" || len(d.answers) == 0 || propose && d.key == ""
	if redeems := strings.HasSuffix(line, "/redeem"); propose || redeems {
		var p client.Proposal
		wrong = wrong || strictjson.UnmarshalLoose(body, &p) != nil || p.Executor != "x" || p.TurnID != "t" || fmt.Sprint(p.Args["n"]) != "1"
	}
	if wrong {
		line += " (wrong)"
	}
	if propose {
		line = strings.TrimSpace(line + " " + strings.TrimPrefix(r.Header.Get("Idempotency-Key"), d.key))
	}
	d.asked = append(d.asked, line)
	if wrong {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	answer := d.answers[0]
	d.answers = d.answers[1:]
	if answer == "cut" {
		panic(http.ErrAbortHandler)
	}
	var status int
	fmt.Sscan(answer[:3], &status)
	if status == http.StatusTemporaryRedirect {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
	io.WriteString(w, answer[4:])
}
