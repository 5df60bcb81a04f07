package httpapi

import (
	_ "embed" // the OpenAPI document
	"net/http"
)

// builtin is the OpenAPI 3.1 description of this API.
//
//go:embed openapi.yaml
var builtin []byte

// health is the answer of the probes.
type health struct {
	Status string `json:"status"`
}

// healthz says that the process serves.
func (a *API) healthz(c *call) error { return c.answer(health{"ok"}) }

// readyz says that proposals can be answered.
func (a *API) readyz(c *call) error {
	if err := a.ready(c.ctx()); err != nil {
		a.log.WarnContext(c.ctx(), "not ready", "error", err)
		return &problemError{
			Type: "not-ready", Title: "Not ready", Status: http.StatusServiceUnavailable,
			Detail: "vaglio cannot answer proposals at the moment: the log says why", retryAfter: 1,
		}
	}
	return c.answer(health{"ready"})
}

func (a *API) openapi(c *call) error {
	c.send(http.StatusOK, "application/yaml", builtin)
	return nil
}
