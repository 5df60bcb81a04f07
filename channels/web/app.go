package web

import (
	"net/http"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// manifest makes the inbox an app of its own on a phone or a desktop: with a window, an
// icon, and a count on it. Everything comes from here; nobody else is told anything.
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

// scope is the prefix of the addresses of the app and its worker.
const scope = "/inbox"

func (w *Web) manifest(rw http.ResponseWriter, r *http.Request) error {
	texts := w.textsFor(r)
	icon, touch := w.assets["icon.svg"], w.assets["icon.png"] // phones that draw no SVG use the bitmap
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
	_, _ = rw.Write(body) // the reader may have left; there is nobody to tell
	return nil
}

// worker serves the script that shows notifications. The script caches no page and answers
// no request, so what people see is never stale.
func (w *Web) worker(rw http.ResponseWriter, _ *http.Request) error {
	script := w.assets["worker.js"]
	rw.Header().Set("Content-Type", script.kind)
	rw.Header().Set("Service-Worker-Allowed", scope)
	_, _ = rw.Write(script.body) // the reader may have left; there is nobody to tell
	return nil
}
