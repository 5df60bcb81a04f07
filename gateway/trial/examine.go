package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// holds is how long the examination makes a client wait for an answer.
const holds = 10 * time.Second

// Finding is the result of one check.
type Finding struct {
	What string
	// Wrong says what was found instead; empty if all is well.
	Wrong string
}

// Examine runs the client with its own settings against a daemon that exists only for the trial:
// it asks nobody, and nothing happens outside a temporary folder. env is the client's
// environment. Variables that point to the running daemon are removed, so that the client's hook
// cannot reach it. token is that of the client's agent, "" if it has none: it proves to the hook that
// another daemon is named by somebody who may.
func Examine(ctx context.Context, r Recipe, program, token string, env []string) ([]Finding, error) {
	dir, err := os.MkdirTemp("", "vt")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the trial: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the trial: %w", err)
	}
	// The hook may be installed under an agent's name, and then looks for its token.
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "agents"), 0o700), os.WriteFile(filepath.Join(dir, "agents", r.Client+".token"), []byte("trial"), 0o600)); err != nil {
		return nil, fmt.Errorf("make a token for the trial: %w", err)
	}
	g := &gate{work: work, asked: map[string]bool{}}
	socket := filepath.Join(dir, "agent.sock")
	stop, err := g.serve(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer stop()
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "METNOS_") })
	env = append(env, "METNOS_DATA_DIR="+dir, "METNOS_AGENT_SOCKET="+socket)
	if token != "" {
		env = append(env, "METNOS_AGENT_TOKEN="+token)
	}
	// The denied call comes last, because a denial ends some clients' runs.
	calls := []string{"touch approved.txt", "touch asked.txt", "touch guarded.txt"}
	seen, err := r.Do(ctx, Run{Program: program, Dir: work, Env: env, Calls: calls})
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.asked) == 0 {
		wrong := "its hook was never asked: it is not installed, not trusted, switched off, or only watches (--shadow)"
		if err != nil {
			wrong = "it could not be run: " + err.Error() + "\n" + strings.TrimSpace(seen.Output)
		}
		return []Finding{{"the hook is asked", wrong}}, nil
	}
	return g.findings(seen, r.EndsOnDenial), nil
}

// gate is a daemon that approves, denies or asks depending on the file's name.
type gate struct {
	work string

	mu    sync.Mutex
	asked map[string]bool
	// early says that the asked call ran before it was allowed; told that its outcome was
	// reported.
	early, told bool
}

func (g *gate) serve(ctx context.Context, socket string) (stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen for the hook: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/proposals", g.propose)
	mux.HandleFunc("GET /v1/approvals/{id}", g.await)
	mux.HandleFunc("DELETE /v1/approvals/{id}", func(w http.ResponseWriter, _ *http.Request) { answer(w, pending("withdrawn")) })
	mux.HandleFunc("POST /v1/permits/{permit}/redeem", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /v1/approvals/{id}/outcome", func(w http.ResponseWriter, _ *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.told = true
		w.WriteHeader(http.StatusNoContent)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // closed by the function below
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

type object = map[string]any

func (g *gate) propose(w http.ResponseWriter, r *http.Request) {
	var p struct {
		Args map[string]any `json:"args"`
	}
	if err := strictjson.ReadLoose(r.Body, &p); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	args := text(p.Args)
	note := func(what string) bool {
		if !strings.Contains(args, what+".txt") {
			return false
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.asked[what] = true
		return true
	}
	switch {
	case note("guarded"):
		answer(w, object{"decision": "deny", "verdict": object{"approved": false, "blocked_by": "guard"}, "text": "vaglio: " + guardWords})
	case note("asked"):
		answer(w, pending("pending"))
	default:
		note("approved")
		answer(w, object{"decision": "allow", "verdict": object{"approved": true}})
	}
}

const guardWords = "this trial's guard denies it"

// await makes the client wait, and then allows the call.
func (g *gate) await(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(holds):
	case <-r.Context().Done():
		return
	}
	g.mu.Lock()
	g.early = exists(g.work, "asked")
	g.mu.Unlock()
	a := pending("allowed")
	a["decision"], a["permit"] = "allow", object{"permit": "trial", "lapses_at": time.Now().Add(time.Minute)}
	answer(w, a)
}

func pending(state string) object {
	return object{"decision": "pending", "verdict": object{"approved": false, "blocked_by": "judge"}, "approval": object{"id": "trial-1", "state": state}}
}

func answer(w http.ResponseWriter, a object) {
	w.Header().Set("Content-Type", "application/json")
	_ = strictjson.MarshalWrite(w, a)
}

func exists(dir, what string) bool {
	_, err := os.Stat(filepath.Join(dir, what+".txt"))
	return !errors.Is(err, os.ErrNotExist)
}

// findings returns the result of each check.
func (g *gate) findings(seen Seen, ends bool) []Finding {
	when := func(bad bool, wrong string) string {
		if bad {
			return wrong
		}
		return ""
	}
	words := ends || strings.Contains(strings.Join(seen.Results, "\n"), guardWords)
	return []Finding{
		{"an approved call runs", when(!exists(g.work, "approved"), "it did not run: the client's own rules want a person; see --approve-allows")},
		{"a denied call does not run", when(exists(g.work, "guarded"), "it ran")},
		{"the model reads why", when(!words, "it read: "+strings.Join(seen.Results, "; "))},
		{"a call that waits does not run before its answer", when(g.early, fmt.Sprintf("it ran within %s", holds))},
		{"it runs after a yes", when(!exists(g.work, "asked"), "it did not run")},
		{"how it ended is told", when(!g.told, "nothing was told")},
	}
}
