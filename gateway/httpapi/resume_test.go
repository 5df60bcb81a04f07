package httpapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// kept is a policy that lists one address, and the addresses stored under it.
type kept struct {
	mu  sync.Mutex
	all map[approval.ID]string
	err error
}

func (k *kept) Allows(address string) bool {
	return strings.HasPrefix(address, "https://flows.example.com/")
}

func (k *kept) Keep(_ context.Context, id approval.ID, address string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.all[id] = address
	}
	return k.err
}

// The address of a call that waits for a person is stored before the agent hears of the wait;
// that of a call that is answered at once is not.
func TestResumeURL(t *testing.T) {
	t.Parallel()
	k := &kept{all: map[approval.ID]string{}}
	b := serve(t, func(c *Config) { c.Resumes = k })
	const resume = `"resume_url":"https://flows.example.com/1"`
	for _, executor := range []string{"ok", "guarded"} {
		if r := b.do(t, "POST", "/v1/proposals", `{"executor":"`+executor+`",`+resume+`}`); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", executor, r.status, r.body)
		}
	}
	if len(k.all) > 0 {
		t.Errorf("kept %v", k.all)
	}
	a := b.do(t, "POST", "/v1/proposals", `{"executor":"ask",`+resume+`}`).answer(t)
	if want := (map[approval.ID]string{a.Approval.ID: "https://flows.example.com/1"}); !maps.Equal(k.all, want) {
		t.Errorf("kept %v", k.all)
	}
	b.do(t, "POST", "/v1/plans", `{"calls":[{"executor":"ok",`+resume+`},{"executor":"ask",`+resume+`},{"executor":"ask"}]}`)
	if len(k.all) != 2 {
		t.Errorf("kept %v", k.all)
	}
	k.err = errors.New("the disk is full")
	if r := b.do(t, "POST", "/v1/proposals", `{"executor":"ask",`+resume+`}`); r.status != http.StatusInternalServerError {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestResumeURLThatIsRefused(t *testing.T) {
	t.Parallel()
	k := &kept{all: map[approval.ID]string{}}
	b := serve(t, func(c *Config) { c.Resumes = k })
	none := serve(t, nil)
	const listed = `{"executor":"ask","resume_url":"https://flows.example.com/1"}`
	tests := map[string]struct {
		on               *bench
		path, body, want string
		field            string
	}{
		"NotListed": {b, "/v1/proposals", `{"executor":"ask","resume_url":"https://169.254.169.254/"}`, "the policy, under resume_urls", "/resume_url"},
		"NoList":    {none, "/v1/proposals", listed, "the policy, under resume_urls", "/resume_url"},
		"Waits":     {b, "/v1/proposals?wait=1s", listed, "the parameter wait", "/resume_url"},
		"InPlan":    {b, "/v1/plans", `{"calls":[{"executor":"ok"},{"executor":"ask","resume_url":"x"}]}`, "the policy, under resume_urls", "/calls/1/resume_url"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := tt.on.do(t, "POST", tt.path, tt.body)
			if p := r.problem(t); r.status/100 != 4 || p.Field != tt.field || !strings.Contains(p.Detail, tt.want) || strings.Contains(p.Detail, "169.254") {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	if len(k.all) > 0 || len(b.gate.asks) > 0 || len(none.gate.asks) > 0 {
		t.Error("something was asked or kept")
	}
}
