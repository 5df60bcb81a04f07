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
// On the network, an agent authenticates with its token. On the Unix socket, the kernel tells
// which user's agent it is. Agents never name themselves: the "agent" of a proposal is
// overwritten.
//
// Every failure is a problem document (RFC 9457) with one sentence about what went wrong. A
// failure on our side never allows anything, and its details go to our log alone.
package httpapi
