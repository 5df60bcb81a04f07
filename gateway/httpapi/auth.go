package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Authenticator says whose token it is.
type Authenticator interface {
	// Agent returns the name of the agent that holds the token. It takes the
	// same time for every wrong token.
	Agent(token string) (name string, ok bool)
}

// Tokens are the agents' tokens as their hashes. It is an [Authenticator] that
// compares in constant time.
type Tokens []Token

// Token is one agent's token.
type Token struct {
	// Agent is the agent's name.
	Agent string
	// Hash is what [HashToken] returns of the token.
	Hash [sha256.Size]byte
}

// HashToken returns the form in which a token is kept. A token has enough
// random bits to need no salt and no slow hash.
func HashToken(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Agent returns the name of the agent that holds the token.
func (t Tokens) Agent(token string) (name string, ok bool) {
	hash := HashToken(token)
	found := -1
	for i := range t {
		if subtle.ConstantTimeCompare(t[i].Hash[:], hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 || token == "" {
		return "", false
	}
	return t[found].Agent, true
}

// bearer identifies an agent by the token of RFC 6750.
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

// refuseBrowser keeps web pages away from the agents' calls: a page that a
// person has open must not act as an agent, by a forged form or by a name that
// was rebound to this address. Agents are no browsers and send neither header.
func refuseBrowser(r *http.Request) error {
	_, origin := r.Header["Origin"]
	site := r.Header.Get("Sec-Fetch-Site")
	if !origin && (site == "" || site == "none") {
		return nil
	}
	return &problemError{
		Type: "browser", Title: "Not for browsers", Status: http.StatusForbidden,
		Detail: "this call is for agents: a request that a web page makes is refused",
	}
}
