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

// API answers agents. It is safe for concurrent use and keeps nothing but
// counters: what was acknowledged is in the store.
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
	slots     *slots
	meters    *meters
	log       *slog.Logger
}

// Config is what an [API] is made of. All but Peers, Channels and MaxWaiters must be set.
type Config struct {
	Proposals Proposals
	Permits   Permits
	Turns     Turns
	// Resumes keeps what is told to addresses; nil allows none.
	Resumes Resumes
	// Tokens says whose token a request on the network carries.
	Tokens Authenticator
	// Peers says whose a connection over the Unix socket is that carries no token;
	// nil knows nobody.
	Peers Peers
	// Ready returns nil when proposals can be answered.
	Ready func(context.Context) error
	// Warnings are what the owner must know though proposals can be answered; it
	// may be nil. Everybody who reaches the probe reads them.
	Warnings func() []string
	// Leaves returns how many leaves the history of approvals has; it may be nil.
	Leaves func(context.Context) (int64, error)
	// Channels tells how the places do where people are asked; nil means that
	// nothing is told of them.
	Channels func() []dispatcher.ChannelHealth
	// Further writes metrics of others, in the Prometheus text format; it may be nil.
	Further func(io.Writer)
	// MaxWaiters is the greatest number of requests that wait for a person at
	// one time; 0 means [DefaultMaxWaiters]. Keep it below what [Capacity]
	// returns, or the descriptors run out first.
	MaxWaiters int
	Log        *slog.Logger
}

// DefaultMaxWaiters is how many requests may wait when nothing else is said.
const DefaultMaxWaiters = 10_000

// Proposals is where calls are proposed and waited for.
type Proposals interface {
	ProposePlan(ctx context.Context, agent string, rs []dispatcher.Request) ([]approval.Answer, error)
	Await(ctx context.Context, agent string, id approval.ID, wait time.Duration) (*approval.Answer, error)
	Withdraw(ctx context.Context, agent string, id approval.ID) (approval.Answer, error)
}

// Permits is where a permit is spent, and where the run's end is told.
type Permits interface {
	Redeem(ctx context.Context, agent, permit string, call vaglio.Proposal) error
	Report(ctx context.Context, agent string, id approval.ID, o approval.Outcome) error
}

// Resumes is where it is kept which address is told that a call no longer waits.
type Resumes interface {
	Allows(address string) bool
	Keep(ctx context.Context, id approval.ID, address string) error
}

// Turns is where a turn's steps are read.
type Turns interface {
	Turn(ctx context.Context, agent, turnID string) (steps []approval.Step, more bool, err error)
}

// New returns the API, or an error that names what the configuration lacks.
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
		tokens: c.Tokens, peers: c.Peers, ready: c.Ready, warnings: c.Warnings, leaves: c.Leaves,
		channels: c.Channels, further: c.Further, slots: s, meters: newMeters(s), log: c.Log,
	}, nil
}

// Network returns the handler for listeners that anybody on the machine or
// beyond can reach: each agent shows its token.
func (a *API) Network() http.Handler { return a.handler(a.bearer) }

// Local returns the handler for the Unix socket. Who shows no token is the agent
// whose user the connection is: the kernel says which.
func (a *API) Local() http.Handler { return a.handler(a.peer) }

// route is one call of the API. The table of them is compared with the
// OpenAPI document by a test.
type route struct {
	method, path string
	// public routes ask for no credential and tell nothing about any agent.
	public bool
	serve  func(*API, *call) error
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

// identify returns the agent that a request comes from.
type identify func(*http.Request) (agent string, err error)

func (a *API) handler(who identify) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes() {
		pattern := rt.method + " " + rt.path
		mux.Handle(pattern, &endpoint{api: a, route: rt, who: who, codes: a.meters.route(pattern)})
	}
	lost := route{public: true, serve: func(_ *API, c *call) error { return lost(mux, c) }}
	mux.Handle("/", &endpoint{api: a, route: lost, who: who, codes: a.meters.route("none")})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would answer an unclean path with a redirect; an agent that
		// sends one has a mistake to mend.
		if p := r.URL.EscapedPath(); p != path.Clean(p) {
			r.URL.Path, r.URL.RawPath = "/", ""
		}
		mux.ServeHTTP(w, r)
	})
}

// lost answers a request that no route takes: 405 where another method would
// do, else 404.
func lost(mux *http.ServeMux, c *call) error {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		probe := &http.Request{Method: m, URL: c.r.URL, Host: c.r.Host}
		if _, pattern := mux.Handler(probe); pattern != "/" && c.r.URL.Path != "/" {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 {
		return &problemError{
			Type: "not-found", Title: "No such call", Status: http.StatusNotFound,
			Detail: "this path is not part of the API; /openapi.yaml lists the calls",
		}
	}
	c.w.Header().Set("Allow", strings.Join(allow, ", "))
	return &problemError{
		Type: "method", Title: "Method not allowed", Status: http.StatusMethodNotAllowed,
		Detail: "this path does not take the request's method; it takes " + strings.Join(allow, " and "),
	}
}
