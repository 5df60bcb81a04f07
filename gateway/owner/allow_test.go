package owner

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/lineage"
	"github.com/metnos/vaglio/internal/peers"
	"github.com/metnos/vaglio/templates"
)

// onePending is a desk with one ask that may not be undoable.
type onePending struct {
	Desk
	Orders

	ask    approval.Ask
	taps   []approval.Tap
	orders []approval.Order
	late   bool // somebody else decides first
}

func (o *onePending) Order(_ context.Context, order approval.Order) (approval.Done, error) {
	o.orders = append(o.orders, order)
	return approval.Done{Order: order, Approval: &o.ask.Approvals[0]}, nil
}

func (o *onePending) Find(_ context.Context, id string) (approval.Ask, error) {
	if string(approval.ID(id).Ask()) != string(o.ask.ID) {
		return approval.Ask{}, approval.ErrNotFound
	}
	return o.ask, nil
}

func (o *onePending) Why(context.Context, string, string) (approval.Card, error) {
	return approval.Card{Ask: o.ask.ID, View: o.ask.View(), Agent: "coder", Items: []approval.Item{{Approval: "abcdefgh-1", State: approval.Pending}}}, nil
}

func (o *onePending) Decide(_ context.Context, t approval.Tap) (approval.Receipt, error) {
	o.taps = append(o.taps, t)
	if t.Choice == approval.ChoiceAllow && t.Seen != o.ask.View() {
		return approval.Receipt{}, approval.ErrOtherView
	}
	return approval.Receipt{Won: !o.late, Ask: o.ask, Approvals: []approval.ID{"abcdefgh-1"}}, nil
}

// TestALateAnswerIsNotDone checks that whoever answers too late, and a script that answers, is told
// that nothing was done.
func TestALateAnswerIsNotDone(t *testing.T) {
	t.Parallel()
	texts, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for state, says := range map[approval.State]string{approval.Withdrawn: "Withdrawn", approval.Expired: "expired", approval.Denied: "Denied"} {
		a := approval.Approval{ID: "abcdefgh-1", State: state, EndedAt: time.Now()}
		if state == approval.Denied {
			a.Decision = &approval.Decision{Choice: approval.ChoiceDeny, By: approval.Person{ID: "chat:bob", Name: "Bob"}, At: time.Now()}
		}
		o := &onePending{late: true, ask: approval.Ask{ID: "abcdefgh", Approvals: []approval.Approval{a}}}
		ask := serveOwner(t, Config{
			Desk: o, Orders: o, By: approval.Person{ID: "web:owner"}, Texts: texts.In(templates.English, time.UTC), Log: slog.New(slog.DiscardHandler),
			Above: func(pid int) (lineage.Line, error) {
				return lineage.Line{{PID: pid, Session: 7, Terminal: 34817, Name: "vaglio"}}, nil
			},
		})
		for _, path := range []string{"/deny?id=abcdefgh", "/allow?id=abcdefgh"} {
			check(t, string(state)+path, ask(path), says)
		}
	}
}

// TestWhoMayAllow calls the owner's side from terminals, without one, and where the caller's
// ancestry is unknown.
func TestWhoMayAllow(t *testing.T) {
	t.Parallel()
	texts, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(terminal int, above ...string) func(int) (lineage.Line, error) {
		return func(pid int) (lineage.Line, error) {
			line := lineage.Line{{PID: pid, Session: 7, Terminal: terminal, Name: "vaglio"}}
			for _, name := range above {
				line = append(line, lineage.Process{Name: name})
			}
			return line, nil
		}
	}
	for name, tt := range map[string]struct {
		above func(int) (lineage.Line, error)
		view  string
		name  string
		// shown, allow and deny are what the person is told; "" means that it worked.
		shown, allow, deny string
	}{
		"the owner":        {at(34817, "bash"), "pending", "coder", "", "", ""},
		"without its name": {at(34817, "bash"), "pending", "codex", "", "only if you type the agent’s name, coder", ""},
		"another picture":  {at(34817, "bash"), "pending+1", "coder", "", "was not shown at this terminal", ""},
		"no picture":       {at(34817, "bash"), "", "coder", "", "was not shown at this terminal", ""},
		"no terminal":      {at(0, "cron"), "pending", "coder", "only at a terminal", "only at a terminal", ""},
		"below an agent":   {at(34817, "bash", "codex"), "pending", "coder", "below codex", "below codex", "below codex"},
		"nobody can tell":  {func(int) (lineage.Line, error) { return nil, lineage.ErrUnseen }, "pending", "coder", "cannot see", "cannot see", ""},
		"nothing to ask":   {nil, "pending", "coder", "cannot see", "cannot see", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &onePending{ask: approval.Ask{ID: "abcdefgh", Approvals: []approval.Approval{{ID: "abcdefgh-1", State: approval.Pending}}}}
			ask := serveOwner(t, Config{
				Desk: o, Orders: o, By: approval.Person{ID: "web:owner"}, Above: tt.above, Programs: []string{"codex"},
				Texts: texts.In(templates.English, time.UTC), Log: slog.New(slog.DiscardHandler),
			})
			for path, want := range map[string]string{"/allow?id=abcdefgh-2": "has this id", "/allow?id=zzzz": "has this id"} {
				if err := ask(path); tt.allow == "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %v", path, err)
				}
			}
			check(t, "shown", ask("/shown?"+url.Values{"id": {"abcdefgh"}, "view": {tt.view}}.Encode()), tt.shown)
			check(t, "allow", ask("/allow?id=abcdefgh&name="+tt.name), tt.allow)
			check(t, "deny", ask("/deny?id=abcdefgh-1"), tt.deny)
			for _, verb := range []string{"ask", "stop", "go", "lift", "end", "revoke", "snooze", "hand"} {
				check(t, verb, ask("/order?id=abcdefgh&words=why&verb="+verb), tt.deny)
			}
			if want := tt.deny == ""; (len(o.orders) == 8) != want || !want && len(o.orders) != 0 {
				t.Errorf("%d orders were handed in", len(o.orders))
			}
			allowed := 0
			for _, tap := range o.taps {
				if tap.Channel != terminalChannel || tap.By.ID != "web:owner" {
					t.Errorf("the tap %+v", tap)
				}
				if tap.Choice == approval.ChoiceAllow {
					allowed++
				}
			}
			if want := tt.allow == ""; (allowed == 1) != want || allowed > 1 {
				t.Errorf("%d allowances were handed in", allowed)
			}
		})
	}
}

// TestNoAgentGivesRights checks that what gives rights or takes them away is refused below an
// agent's program, and only there.
func TestNoAgentGivesRights(t *testing.T) {
	t.Parallel()
	texts, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, above := range []string{"codex", "bash"} {
		linked := false
		handler := NewHandler(Config{
			Link: func() string { linked = true; return "" }, Programs: []string{"codex"},
			Above: func(pid int) (lineage.Line, error) {
				return lineage.Line{{PID: pid, Terminal: 1, Name: "vaglio"}, {Name: above}}, nil
			},
			Texts: texts.In(templates.English, time.UTC), Log: slog.New(slog.DiscardHandler),
		})
		ask := serveHandler(t, handler)
		if _ = ask("POST", "/inbox-link"); linked != (above == "bash") { // What is answered is checked below.
			t.Errorf("below %s a link was made: %t", above, linked)
		}
		if above != "codex" {
			continue
		}
		for _, call := range rights() {
			method, path, _ := strings.Cut(call, " ")
			path = strings.NewReplacer("{name}", "coder", "{id}", "abcd").Replace(path)
			if err := ask(method, path); err == nil || !strings.Contains(err.Error(), "below codex") {
				t.Errorf("below it %s: %v", call, err)
			}
		}
	}
}

func check(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// serveOwner serves the owner's side on a socket, and returns a function that posts to it.
func serveOwner(t *testing.T, c Config) func(path string) error { //nolint:gocritic // As the server wants it.
	t.Helper()
	ask := serveHandler(t, NewHandler(c))
	return func(path string) error { return ask(http.MethodPost, path) }
}

// serveHandler serves a handler on a socket, and returns a function that asks it.
func serveHandler(t *testing.T, h http.Handler) func(method, path string) error {
	t.Helper()
	dir, err := os.MkdirTemp("", "o") //nolint:usetesting // The test's name would make the path too long.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "admin.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener, server.Config.ConnContext = l, peers.With
	server.Start()
	t.Cleanup(server.Close)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	return func(method, path string) error {
		var said Said
		return Client{Dir: dir}.Ask(t.Context(), time.Minute, method, path, &said)
	}
}
