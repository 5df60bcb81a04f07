package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio"
)

// desk is a small dispatcher in memory. It keeps the promises that the inbox
// rests on: one tap decides, the card comes from the state, every change ticks.
type desk struct {
	mu       sync.Mutex
	asks     []approval.Ask
	entries  []approval.Entry
	watchers map[chan struct{}]bool
	taps     []approval.Tap
	proposed []vaglio.Proposal
	answers  map[string]approval.Answer
	// fail, when set, is what every call answers.
	fail error
	// frozen makes every write a test failure.
	frozen *testing.T
}

func newDesk() *desk {
	return &desk{watchers: map[chan struct{}]bool{}, answers: map[string]approval.Answer{}}
}

func token(id approval.ID, ask approval.AskID, c approval.Choice) approval.Token {
	return approval.Token(fmt.Sprintf("TOKEN-%s-%s-%s", cmp.Or(string(id), "all"), ask, c))
}

func card(a approval.Ask) approval.Card {
	c := approval.Card{
		Ask: a.ID, Agent: a.Agent, Intent: a.Intent, TurnID: a.TurnID,
		OpenedAt: a.OpenedAt, ExpiresAt: a.ExpiresAt, View: a.View(),
	}
	both := func(id approval.ID) []approval.Button {
		return []approval.Button{
			{Choice: approval.ChoiceAllow, Token: token(id, a.ID, approval.ChoiceAllow)},
			{Choice: approval.ChoiceDeny, Token: token(id, a.ID, approval.ChoiceDeny)},
		}
	}
	if a.Waiting() {
		c.Buttons = both("")
	}
	for _, p := range a.Approvals {
		args, _ := json.MarshalIndent(p.Proposal.Args, "", "  ")
		command, _ := p.Proposal.Args["command"].(string)
		it := approval.Item{
			Approval: p.ID, State: p.State, Executor: p.Proposal.Executor, Args: string(args), Command: command,
			Cwd: p.Proposal.Context.Cwd, Mounts: p.Proposal.Context.Mounts, Refusal: p.Refusal, Verdict: p.Verdict,
			Decision: p.Decision, Permit: p.Permit, Outcome: p.Outcome, EndedAt: p.EndedAt,
		}
		if p.State == approval.Pending {
			it.Buttons = both(p.ID)
		}
		c.Items = append(c.Items, it)
	}
	return c
}

func (d *desk) Decide(_ context.Context, t approval.Tap) (approval.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written("Decide")
	d.taps = append(d.taps, t)
	if d.fail != nil {
		return approval.Receipt{}, d.fail
	}
	for i := range d.asks {
		a := &d.asks[i]
		for _, c := range []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny} {
			ids := []approval.ID{""}
			for _, p := range a.Approvals {
				ids = append(ids, p.ID)
			}
			for _, id := range ids {
				if token(id, a.ID, c) == t.Token {
					return d.settle(a, id, c, t), nil
				}
			}
		}
	}
	return approval.Receipt{}, fmt.Errorf("token: %w", approval.ErrNotFound)
}

func (d *desk) settle(a *approval.Ask, id approval.ID, c approval.Choice, t approval.Tap) approval.Receipt {
	now := time.Now()
	var r approval.Receipt
	for i := range a.Approvals {
		p := &a.Approvals[i]
		if id != "" && p.ID != id {
			continue
		}
		r.Approvals = append(r.Approvals, p.ID)
		if p.State != approval.Pending {
			continue
		}
		r.Won = true
		p.Decision = &approval.Decision{Choice: c, By: t.By, Channel: t.Channel, At: now, Words: t.Words}
		p.EndedAt = now
		p.State = approval.Denied
		if c == approval.ChoiceAllow {
			p.State = approval.Allowed
			p.Permit = &approval.Permit{IssuedAt: now, LapsesAt: now.Add(10 * time.Minute)}
		}
	}
	r.Ask = *a
	d.tick()
	return r
}

func (d *desk) Pending(_ context.Context, channel string) iter.Seq2[approval.Card, error] {
	d.mu.Lock()
	defer d.mu.Unlock()
	asks, fail := slices.Clone(d.asks), d.fail
	return func(yield func(approval.Card, error) bool) {
		if fail != nil {
			yield(approval.Card{}, fail)
			return
		}
		for _, a := range asks {
			if a.Waiting() && channel == web.Name && !yield(card(a), nil) {
				return
			}
		}
	}
}

func (d *desk) Card(_ context.Context, id approval.AskID, channel string) (approval.Card, error) {
	a, err := d.find(func(a *approval.Ask) bool { return a.ID == id && channel == web.Name })
	return card(a), err
}

func (d *desk) Find(_ context.Context, id string) (approval.Ask, error) {
	return d.find(func(a *approval.Ask) bool {
		return string(a.ID) == id || a.Find(approval.ID(id)) != nil || len(id) > 3 && strings.HasPrefix(string(a.ID), id)
	})
}

func (d *desk) find(is func(*approval.Ask) bool) (approval.Ask, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Ask{}, d.fail
	}
	for i := range d.asks {
		if is(&d.asks[i]) {
			a := d.asks[i]
			a.Approvals = slices.Clone(a.Approvals)
			return a, nil
		}
	}
	return approval.Ask{}, approval.ErrNotFound
}

func (d *desk) History(_ context.Context, f approval.Filter) ([]approval.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, d.fail
	}
	var found []approval.Entry
	for _, e := range slices.Backward(d.entries) {
		if e.Step.Approval != "" {
			for i := range d.asks {
				if a := d.asks[i].Find(e.Step.Approval); a != nil {
					e.Approval = a
				}
			}
		}
		if f.Before != 0 && e.Cursor >= f.Before || f.Agent != "" && e.Step.Proposal.Agent != f.Agent ||
			f.Executor != "" && e.Step.Proposal.Executor != f.Executor || f.Outcome != "" && e.Outcome() != f.Outcome {
			continue
		}
		if found = append(found, e); len(found) == f.Limit {
			break
		}
	}
	return found, nil
}

func (d *desk) Steps(_ context.Context, agent, turn string) ([]approval.Step, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var steps []approval.Step
	for _, e := range d.entries {
		if e.Step.Proposal.Agent == agent && e.Step.Proposal.TurnID == turn {
			steps = append(steps, e.Step)
		}
	}
	return steps, d.fail
}

func (d *desk) Watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchers[c] = true
	context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, c)
		close(c)
	})
	return c
}

func (d *desk) Propose(_ context.Context, agent string, p vaglio.Proposal) (approval.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written("Propose")
	if p.Agent != agent {
		return approval.Answer{}, errors.New("the proposal names another agent")
	}
	d.proposed = append(d.proposed, p)
	a, ok := d.answers[p.Executor]
	if !ok {
		return a, &web.InputError{Err: errors.New(`field "/executor" names no tool of the catalog`)}
	}
	return a, nil
}

func (d *desk) written(what string) {
	if d.frozen != nil {
		d.frozen.Errorf("%s was called, though nothing may change", what)
	}
}

// tick tells the watchers; d.mu is held.
func (d *desk) tick() {
	for c := range d.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// change runs f on the desk and tells the watchers.
func (d *desk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.tick()
}

// open adds an ask of the proposals, with the steps that led to it.
func (d *desk) open(id approval.AskID, ps ...vaglio.Proposal) approval.Ask {
	a := approval.Ask{ID: id, OpenedAt: time.Now(), ExpiresAt: time.Now().Add(30 * time.Minute)}
	var steps []approval.Entry
	for i, p := range ps {
		a.Agent, a.Intent, a.TurnID = p.Agent, p.Intent, p.TurnID
		v := rejected()
		r := approval.Refusal{
			Phase: vaglio.PhaseJudge, Wanted: p.Executor + " " + fmt.Sprint(p.Args["command"]), Why: v.Reason,
			Alternatives: []string{"Ask for a narrower call, such as removing one file.", "Explain to the person why the whole folder must go."},
		}
		one := approval.ID(fmt.Sprintf("%s-%d", id, i+1))
		a.Approvals = append(a.Approvals, approval.Approval{ID: one, State: approval.Pending, Proposal: p, Verdict: v, Refusal: r})
		steps = append(steps, approval.Entry{Step: approval.Step{
			ID: "step-" + string(one), At: time.Now(), Proposal: p, Verdict: &v, Refusal: &r, Approval: one,
		}})
	}
	d.change(func() {
		d.asks = append(d.asks, a)
		for _, e := range steps {
			e.Cursor = uint64(len(d.entries) + 1)
			d.entries = append(d.entries, e)
		}
	})
	return a
}

// log adds a step that nobody was asked about.
func (d *desk) log(s approval.Step) {
	d.change(func() {
		s.At = time.Now()
		n := uint64(len(d.entries) + 1)
		s.ID = cmp.Or(s.ID, fmt.Sprintf("step-%d", n))
		d.entries = append(d.entries, approval.Entry{Cursor: n, Step: s})
	})
}

func rejected() vaglio.Verdict {
	return vaglio.Verdict{
		Reason: "score 0.40 is below the threshold 0.75", JudgeKind: "rule-based-v1", Score: 0.4, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "rule-based-v1", Score: 0.4, Confidence: 1,
			Reasoning: "The call removes a folder with everything in it, and the request does not name it.",
			Signals: []vaglio.Signal{
				{Category: "capability", Score: 0.2, Message: "code:exec runs whatever the line says"},
				{Category: "intent", Score: 0.1, Message: "no word of the request names what is removed"},
			},
		}},
	}
}

func proposal(command string) vaglio.Proposal {
	return vaglio.Proposal{
		Agent: "claude-code", TurnID: "t-81", Step: 2, Intent: "clean the old build", Executor: "shell_exec",
		Args: vaglio.Args{"command": command}, Context: vaglio.Context{Cwd: "/home/u/app"},
	}
}

// guarded is a step that the guard stopped.
func guarded() approval.Step {
	return approval.Step{
		Proposal: vaglio.Proposal{
			Agent: "claude-code", TurnID: "t-81", Step: 3, Intent: "clean the old build", Executor: "fs_read",
			Args: vaglio.Args{"path": "/home/u/.ssh/id_rsa"},
		},
		Verdict: &vaglio.Verdict{
			Reason: "path forbidden: .ssh/id_", JudgeKind: "rule-based-v1", BlockedBy: vaglio.PhaseGuard,
			Rule: &vaglio.GuardRule{
				ID: "path.ssh-key", Why: "Private keys give away every machine that trusts them.",
				Instead: "Name the public key instead, or ask the person to run the command that needs the key.",
			},
		},
		Refusal: &approval.Refusal{
			Final: true, Phase: vaglio.PhaseGuard, Wanted: "fs_read /home/u/.ssh/id_rsa", Why: "path forbidden", Rule: "path.ssh-key",
			Alternatives: []string{"Name the public key instead."},
		},
	}
}

func passed() approval.Step {
	return approval.Step{
		Proposal: vaglio.Proposal{
			Agent: "claude-code", TurnID: "t-81", Step: 1, Intent: "clean the old build", Executor: "fs_read",
			Args: vaglio.Args{"path": "/tmp/notes.txt"},
		},
		Verdict: &vaglio.Verdict{
			Approved: true, Reason: "score 0.80", JudgeKind: "rule-based-v1", Score: 0.8,
			Results: []vaglio.GradientResult{{Judge: "rule-based-v1", Score: 0.8, Confidence: 1, Reasoning: "The call reads one file."}},
		},
	}
}

func samples() []web.Sample {
	return []web.Sample{
		{Name: "read", Title: "Read a note", Explain: "Reads one file in /tmp. The judges have nothing against it.", Proposal: passed().Proposal},
		{Name: "remove", Title: "Remove a folder", Explain: "Removes a build folder. A judge says no, so you are asked.", Proposal: proposal("rm -rf ./build")},
		{Name: "key", Title: "Read a private key", Explain: "Reads an SSH key. The guard stops it, and nobody can allow it.", Proposal: guarded().Proposal},
	}
}

// inbox is an inbox on a desk, and a browser's worth of cookies.
type inbox struct {
	*testing.T
	desk   *desk
	web    *web.Web
	h      http.Handler
	cookie *http.Cookie
}

func config(d *desk) web.Config {
	return web.Config{
		Desk: d, Book: d, Propose: d.Propose, Samples: samples(), Thresholds: map[string]float64{"rule-based-v1": 0.75},
		Secret: [32]byte{1, 2, 3}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func newInbox(t *testing.T, d *desk) *inbox {
	t.Helper()
	return inboxOf(t, d, config(d))
}

func inboxOf(t *testing.T, d *desk, c web.Config) *inbox {
	t.Helper()
	w, err := web.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &inbox{T: t, desk: d, web: w, h: w.Handler()}
}

// signIn takes the way that a person takes: the printed link, then its button.
func (in *inbox) signIn() *inbox {
	in.Helper()
	link, err := url.Parse(in.web.LoginLink("http://127.0.0.1:8787/"))
	if err != nil {
		in.Fatal(err)
	}
	if got := in.get(link.RequestURI()); got.Code != http.StatusOK {
		in.Fatalf("login page: %d", got.Code)
	}
	rec := in.post("/inbox/login", url.Values{"code": {link.Query().Get("code")}})
	if rec.Code != http.StatusSeeOther {
		in.Fatalf("login: %d %s", rec.Code, rec.Body)
	}
	in.cookie = rec.Result().Cookies()[0]
	return in
}

func (in *inbox) get(target string) *httptest.ResponseRecorder {
	return in.do(in.request(http.MethodGet, target, nil))
}

func (in *inbox) post(target string, form url.Values) *httptest.ResponseRecorder {
	return in.do(in.request(http.MethodPost, target, form))
}

func (in *inbox) request(method, target string, form url.Values) *http.Request {
	r := httptest.NewRequestWithContext(in.Context(), method, "http://127.0.0.1:8787"+target, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://127.0.0.1:8787")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if in.cookie != nil {
		r.AddCookie(in.cookie)
	}
	return r
}

func (in *inbox) do(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	in.h.ServeHTTP(rec, r)
	return rec
}
