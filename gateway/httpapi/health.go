package httpapi

import (
	_ "embed" // the OpenAPI document
	"net/http"
	"time"
)

// builtin is this API's OpenAPI 3.1 description.
//
//go:embed openapi.yaml
var builtin []byte

// health is the answer of the liveness probe.
type health struct {
	Status string `json:"status"`
}

// healthz reports that the process is serving.
func (a *API) healthz(x *exchange) error { return x.answer(health{"ok"}) }

// readiness is the answer of the readiness probe: whether proposals can be answered, and on
// which channels people can be asked.
type readiness struct {
	// Status is "ready", or "degraded" if there are warnings or a channel has trouble while
	// people can be asked on another one.
	Status   string           `json:"status"`
	Channels []channelReading `json:"channels"`
	// Warnings are what the owner must know.
	Warnings []string `json:"warnings,omitempty"`
}

// channelReading is the health of one channel, without secrets.
type channelReading struct {
	Name    string    `json:"name"`
	OK      bool      `json:"ok"`
	Problem string    `json:"problem,omitempty"`
	Remedy  string    `json:"remedy,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// readyz reports whether proposals can be answered. A broken channel does not make vaglio
// unready as long as people can answer on another one: calls that the judges approve need
// nobody, and the others wait.
func (a *API) readyz(x *exchange) error {
	if err := a.ready(x.ctx()); err != nil {
		a.log.WarnContext(x.ctx(), "not ready", "error", err)
		if p := storeProblem(err); p != nil && p.Type == "store-full" {
			return notReady("vaglio's disk is full: nothing can be recorded, so no call may run")
		}
		return notReady("vaglio cannot answer proposals at the moment: the log says why")
	}
	r, well := a.readings()
	if len(r.Channels) > 0 && well == 0 {
		return notReady("nobody can be asked: every channel has trouble, and the log says which")
	}
	if a.warnings != nil {
		r.Warnings = a.warnings()
	}
	if well < len(r.Channels) || len(r.Warnings) > 0 {
		r.Status = "degraded"
	}
	return x.answer(r)
}

// readings returns the health of the channels, and how many of them are well.
func (a *API) readings() (r readiness, well int) {
	r = readiness{Status: "ready", Channels: []channelReading{}}
	if a.channels == nil {
		return r, 0
	}
	for _, ch := range a.channels() {
		r.Channels = append(r.Channels, channelReading{ch.Name, ch.OK(), ch.Problem, ch.Remedy, ch.Since.UTC()})
		if ch.OK() {
			well++
		}
	}
	return r, well
}

func notReady(detail string) *problemError {
	return &problemError{
		Type: "not-ready", Title: "Not ready", Status: http.StatusServiceUnavailable,
		Detail: detail, retryAfter: 1,
	}
}

func (a *API) openapi(x *exchange) error {
	x.send(http.StatusOK, "application/yaml", builtin)
	return nil
}
