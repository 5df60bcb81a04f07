package httpapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
)

// API serves agents. It is safe for concurrent use and keeps no state but counters: whatever
// was acknowledged is in the store.
type API struct {
	proposals Proposals
	permits   Permits
	turns     Turns
	resumes   Resumes
	tokens    Authenticator
	peers     Peers
	ready     func(context.Context) error
	warnings  func() []string
	leaves    func(context.Context) (int64, error)
	channels  func() []dispatcher.ChannelHealth
	further   func(io.Writer)
	known     func(host string) bool
	slots     *slots
	parked    parkings
	meters    *meters
	log       *slog.Logger
}

// Config configures an [API]. Proposals, Permits, Turns, Tokens, Ready and Log must be set.
type Config struct {
	Proposals Proposals
	Permits   Permits
	Turns     Turns
	// Resumes stores which addresses to tell; nil allows none.
	Resumes Resumes
	// Tokens identifies the agent by the token of a network request.
	Tokens Authenticator
	// Peers identifies the agent by the user at the other end of a Unix socket connection when
	// the request carries no token; nil knows nobody.
	Peers Peers
	// Ready returns nil if proposals can be answered.
	Ready func(context.Context) error
	// Warnings returns what the owner must know although proposals can be answered; it may be
	// nil. Anybody who can reach the readiness probe can read them.
	Warnings func() []string
	// Leaves returns the number of leaves in the history of approvals; it may be nil.
	Leaves func(context.Context) (int64, error)
	// Channels returns the health of the channels on which people are asked; nil reports none.
	Channels func() []dispatcher.ChannelHealth
	// Further writes additional metrics in the Prometheus text format; it may be nil.
	Further func(io.Writer)
	// Known reports whether a Host header names this daemon, so that it may be told what needs no
	// token; nil knows every one. It is not asked on the socket.
	Known func(host string) bool
	// MaxWaiters limits how many requests may wait for a person at once; 0 means
	// [DefaultMaxWaiters]. Keep it below what [Capacity] returns, or the process runs out of
	// file descriptors first.
	MaxWaiters int
	Log        *slog.Logger
}

// DefaultMaxWaiters is the default of [Config.MaxWaiters].
const DefaultMaxWaiters = 10_000

// Proposals takes proposed calls and waits for their decisions.
type Proposals interface {
	ProposePlan(ctx context.Context, agent string, rs []dispatcher.Request) ([]approval.Answer, error)
	Await(ctx context.Context, agent string, id approval.ID, wait time.Duration) (*approval.Answer, error)
	AwaitChange(ctx context.Context, agent string, id approval.ID, changed func()) (answer *approval.Answer, leave func(), err error)
	Withdraw(ctx context.Context, agent string, id approval.ID) (approval.Answer, error)
}

// Permits redeems permits and takes the outcomes of runs.
type Permits interface {
	Redeem(ctx context.Context, agent, permit string, call vaglio.Proposal) error
	Report(ctx context.Context, agent string, id approval.ID, o approval.Outcome) error
}

// Resumes stores which addresses to tell that a call no longer waits.
type Resumes interface {
	Allows(address string) bool
	Keep(ctx context.Context, id approval.ID, address string) error
}

// Turns reads the steps of a turn.
type Turns interface {
	Turn(ctx context.Context, q approval.TurnQuery) (approval.TurnPage, error)
}

// New returns an API, or an error that names what the configuration lacks.
func New(c Config) (*API, error) {
	switch {
	case c.Proposals == nil || c.Permits == nil || c.Turns == nil:
		return nil, errors.New("httpapi: a dispatcher must be given")
	case c.Tokens == nil:
		return nil, errors.New("httpapi: an authenticator must be given")
	case c.Ready == nil:
		return nil, errors.New("httpapi: a readiness check must be given")
	case c.Log == nil:
		return nil, errors.New("httpapi: a logger must be given")
	case c.MaxWaiters < 0:
		return nil, errors.New("httpapi: the number of waiters must not be negative")
	case c.MaxWaiters == 0:
		c.MaxWaiters = DefaultMaxWaiters
	}
	s := &slots{max: int64(c.MaxWaiters)}
	return &API{
		proposals: c.Proposals, permits: c.Permits, turns: c.Turns, resumes: c.Resumes,
		tokens: c.Tokens, peers: c.Peers, ready: c.Ready, warnings: c.Warnings, leaves: c.Leaves, known: c.Known,
		channels: c.Channels, further: c.Further, slots: s, meters: newMeters(s), log: c.Log,
	}, nil
}

// Network returns the handler for listeners that others on the machine or beyond can reach.
// Each agent must present its token.
func (a *API) Network() http.Handler { return a.handler(a.bearer, a.known) }

// Local returns the handler for the Unix socket. A caller without a token is the agent of the
// user whose process it is, as the kernel reports it.
func (a *API) Local() http.Handler { return a.handler(a.peer, nil) }

// route is one call of the API. A test compares the table of them with the OpenAPI document.
type route struct {
	method, path string
	// public routes need no credentials and reveal nothing about any agent.
	public bool
	serve  func(*API, *exchange) error
}

func routes() []route {
	return []route{
		{method: "POST", path: "/v1/proposals", serve: (*API).propose},
		{method: "POST", path: "/v1/plans", serve: (*API).proposePlan},
		{method: "GET", path: "/v1/approvals/{id}", serve: (*API).await},
		{method: "DELETE", path: "/v1/approvals/{id}", serve: (*API).withdraw},
		{method: "POST", path: "/v1/approvals/{id}/outcome", serve: (*API).report},
		{method: "POST", path: "/v1/permits/{permit}/redeem", serve: (*API).redeem},
		{method: "GET", path: "/v1/turns/{id}", serve: (*API).turn},
		{method: "GET", path: "/healthz", public: true, serve: (*API).healthz},
		{method: "GET", path: "/readyz", public: true, serve: (*API).readyz},
		{method: "GET", path: "/metrics", public: true, serve: (*API).metrics},
		{method: "GET", path: "/openapi.yaml", public: true, serve: (*API).openapi},
	}
}

// identify returns the agent that sent a request.
type identify func(*http.Request) (agent string, err error)

func (a *API) handler(who identify, known func(host string) bool) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes() {
		pattern := rt.method + " " + rt.path
		mux.Handle(pattern, &endpoint{api: a, route: rt, who: who, known: known, codes: a.meters.route(pattern)})
	}
	lost := route{public: true, serve: func(_ *API, x *exchange) error { return lost(mux, x) }}
	mux.Handle("/", &endpoint{api: a, route: lost, who: who, codes: a.meters.route("none")})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect an unclean path. An agent that sends one has a bug, and a 404
		// shows it.
		if p := r.URL.EscapedPath(); p != path.Clean(p) {
			r.URL.Path, r.URL.RawPath = "/", ""
		}
		mux.ServeHTTP(w, r)
	})
}

// lost answers a request that matches no route: 405 if another method would match, else 404.
func lost(mux *http.ServeMux, x *exchange) error {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		probe := &http.Request{Method: m, URL: x.r.URL, Host: x.r.Host}
		if _, pattern := mux.Handler(probe); pattern != "/" && x.r.URL.Path != "/" {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 {
		return &problemError{
			Type: "not-found", Title: "No such call", Status: http.StatusNotFound,
			Detail: "this path is not part of the API; /openapi.yaml lists the calls",
		}
	}
	x.w.Header().Set("Allow", strings.Join(allow, ", "))
	return &problemError{
		Type: "method", Title: "Method not allowed", Status: http.StatusMethodNotAllowed,
		Detail: "this path does not accept the request's method; it accepts " + strings.Join(allow, " and "),
	}
}
