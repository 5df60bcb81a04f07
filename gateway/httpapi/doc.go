// Package httpapi is the agent's side of the gate over HTTP and JSON, version 1.
//
//	POST   /v1/proposals?wait=30s           propose a call
//	POST   /v1/plans?wait=30s               propose the calls of one plan
//	GET    /v1/approvals/{id}?wait=5m       wait for the person's decision
//	DELETE /v1/approvals/{id}               withdraw the question
//	POST   /v1/approvals/{id}/outcome       report how the run ended
//	POST   /v1/permits/{permit}/redeem      spend the permit on the call it was given for
//	GET    /v1/turns/{id}                   the turn log
//	GET    /healthz /readyz /metrics /openapi.yaml
//
// On the network an agent shows its token; on the Unix socket the socket's
// mode is the credential. An agent never names itself: what it writes in a
// proposal's "agent" is overwritten.
//
// Every failure is a problem document (RFC 9457) with one sentence that says
// what was wrong. A failure of ours never allows anything, and its detail stays
// in our log.
package httpapi
