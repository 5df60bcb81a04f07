package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/metnos/vaglio/internal/peers"
)

// Authenticator identifies agents by their tokens.
type Authenticator interface {
	// Agent returns the name of the agent that holds the token. It takes the same time for
	// every wrong token.
	Agent(token string) (name string, ok bool)
}

// Peers identifies agents by the users they run as.
type Peers interface {
	// Peer returns the name of the agent that runs as the user.
	Peer(uid uint32) (name string, ok bool)
}

// withPeer adds the peer of a connection to its context, if the system reports one.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if lc, ok := c.(*limitedConn); ok {
		c = lc.Conn
	}
	return peers.With(ctx, c)
}

// peer identifies an agent by its token or, without one, by the user it runs as.
func (a *API) peer(r *http.Request) (string, error) {
	if len(r.Header.Values("Authorization")) > 0 {
		return a.bearer(r)
	}
	other, known := peers.Of(r.Context())
	if known && a.peers != nil {
		if agent, ok := a.peers.Peer(other.UID); ok {
			return agent, nil
		}
	}
	who := "your user"
	if known {
		who = fmt.Sprintf("user %d", other.UID)
	}
	return "", &problemError{
		Type: "unauthorized", Title: "No agent", Status: http.StatusUnauthorized,
		Detail:    "no agent runs as " + who + ": the owner names one with vaglio agent add and --uid, or gives you a token to send",
		challenge: `Bearer realm="vaglio"`,
	}
}

// bearer identifies an agent by its bearer token (RFC 6750).
func (a *API) bearer(r *http.Request) (string, error) {
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		return "", &problemError{
			Type: "unauthorized", Title: "No token", Status: http.StatusUnauthorized,
			Detail:    "the request carries no token: send Authorization: Bearer and the agent's token",
			challenge: `Bearer realm="vaglio"`,
		}
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if len(given) == 1 && strings.EqualFold(scheme, "Bearer") {
		if agent, ok := a.tokens.Agent(strings.TrimLeft(token, " ")); ok {
			return agent, nil
		}
	}
	return "", &problemError{
		Type: "unauthorized", Title: "Wrong token", Status: http.StatusUnauthorized,
		Detail:    "the request's token is not an agent's: send Authorization: Bearer and the agent's token",
		challenge: `Bearer realm="vaglio", error="invalid_token"`,
	}
}

// refuseBrowser keeps web pages away from the API: a page that a person has open must not act
// as an agent through a forged form or DNS rebinding. Agents are not browsers and send neither
// header.
func refuseBrowser(r *http.Request) error {
	_, origin := r.Header["Origin"]
	site := r.Header.Get("Sec-Fetch-Site")
	if !origin && (site == "" || site == "none") {
		return nil
	}
	return &problemError{
		Type: "browser", Title: "Not for browsers", Status: http.StatusForbidden,
		Detail: "this call is for agents: requests from web pages are refused",
	}
}
