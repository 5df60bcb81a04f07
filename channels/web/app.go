package web

import (
	"net/http"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// manifest makes the inbox a thing of its own on a phone or a desk: a window, an icon,
// a count on it. All of it comes from here; nothing is told to anybody else.
type manifest struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	ShortName  string         `json:"short_name"`
	Lang       templates.Lang `json:"lang"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Display    string         `json:"display"`
	Background string         `json:"background_color"`
	Theme      string         `json:"theme_color"`
	Icons      []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// scope is below which addresses the app and its worker are.
const scope = "/inbox"

func (w *Web) manifest(rw http.ResponseWriter, r *http.Request) error {
	texts := w.textsFor(r)
	icon, touch := w.assets["icon.svg"], w.assets["icon.png"] // Phones that draw no SVG take the picture.
	body, err := strictjson.Marshal(manifest{
		ID: scope, Name: "vaglio: " + texts.Plain("web.inbox", nil), ShortName: "vaglio", Lang: texts.Lang(), StartURL: scope, Scope: scope,
		Display: "standalone", Background: "#f5f4f0", Theme: "#1f6b4a",
		Icons: []manifestIcon{
			{Src: icon.url, Sizes: "any", Type: icon.kind, Purpose: "any"},
			{Src: touch.url, Sizes: "180x180", Type: touch.kind, Purpose: "any"},
		},
	})
	if err != nil {
		return err
	}
	rw.Header().Set("Content-Type", "application/manifest+json")
	rw.Header().Add("Vary", "Accept-Language")
	_, _ = rw.Write(body) // The reader may be gone; there is nobody to tell.
	return nil
}

// worker serves the script that shows notifications. It keeps no page and answers no
// request: what people see is never old.
func (w *Web) worker(rw http.ResponseWriter, _ *http.Request) error {
	script := w.assets["worker.js"]
	rw.Header().Set("Content-Type", script.kind)
	rw.Header().Set("Service-Worker-Allowed", scope)
	_, _ = rw.Write(script.body) // The reader may be gone; there is nobody to tell.
	return nil
}
