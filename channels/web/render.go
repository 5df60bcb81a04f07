package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// page is one answer in HTML.
type page struct {
	Status int
	// Name is the template's, without its extension.
	Name  string
	Title text
	// Nav names the current entry of the menu.
	Nav string
	// Still says that the page takes long to make, so that the script does not fetch it
	// again with every change.
	Still bool
	// Wide says that the page has a list and a detail next to it.
	Wide bool
	// Waiting is how many asks wait; nil makes render count them.
	Waiting *waiting
	Body    any
}

// waiting is a count.
type waiting struct{ N int }

// frame is what the layout shows around every page.
type frame struct {
	page
	// Main is what the page's own template made of its Body.
	Main          template.HTML
	Signed, Trial bool
	// Unsigning says that nothing pressed here counts while scripts are off.
	Unsigning bool
	// Renews says that the page which signed in may read here by a sign of its key.
	Renews bool
}

// builtin holds the templates and what they load.
//
//go:embed pages/*.html assets/*
var builtin embed.FS

// asset is one file that pages load. Its address changes with its content, so a browser may
// cache it.
type asset struct {
	body []byte
	kind string
	url  string
}

func loadAssets() (map[string]asset, error) {
	kinds := map[string]string{
		".css": "text/css; charset=utf-8",
		".js":  "text/javascript; charset=utf-8",
		".svg": "image/svg+xml",
		".png": "image/png",
	}
	entries, err := fs.ReadDir(builtin, "assets")
	if err != nil {
		return nil, fmt.Errorf("web: reading assets: %w", err)
	}
	all := make(map[string]asset, len(entries))
	for _, e := range entries {
		body, err := builtin.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("web: reading assets: %w", err)
		}
		sum := sha256.Sum256(body)
		all[e.Name()] = asset{
			body: body, kind: kinds[path.Ext(e.Name())],
			url: "/inbox/assets/" + e.Name() + "?v=" + hex.EncodeToString(sum[:6]),
		}
	}
	return all, nil
}

func (w *Web) asset(rw http.ResponseWriter, r *http.Request) error {
	a, ok := w.assets[r.PathValue("name")]
	if !ok {
		return &pageError{Status: http.StatusNotFound, Title: text{Key: "web.fault.file.title"}, Text: text{Key: "web.fault.file"}}
	}
	rw.Header().Set("Content-Type", a.kind)
	rw.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	rw.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = rw.Write(a.body) // the reader may have left; there is nobody to tell
	return nil
}

// loadPages parses the pages, which share the layout and the parts.
func (w *Web) loadPages(texts *templates.Texts) (*template.Template, error) {
	all, err := template.New("").Option("missingkey=error").Funcs(w.funcs()).Funcs(textFuncs(texts)).ParseFS(builtin, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: parsing pages: %w", err)
	}
	return all, nil
}

// funcs returns the functions of the templates. Every text from outside goes through show,
// or through plain where there can be no markup.
func (w *Web) funcs() template.FuncMap {
	return template.FuncMap{
		"show":     show,
		"hanging":  hanging,
		"marked":   marked,
		"brief":    brief,
		"plain":    plain,
		"asset":    func(name string) string { return w.assets[name].url },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"turnURL":  turnURL,
		"inboxURL": func(s search) string { return inboxURL("", s) },
		// The browser counts UTF-16 units, of which there are never fewer than characters:
		// what it lets through is accepted.
		"maxWords": func() int { return approval.MaxWords },
		"rows":     rows,
	}
}

// render writes the page. Nothing is sent before all of it is made, so a reader gets a
// complete page or an error.
func (w *Web) render(rw http.ResponseWriter, r *http.Request, p page) error {
	f := frame{page: p, Trial: w.trial}
	who, signed := w.session(r)
	f.Signed, f.Unsigning = signed, signed && who.right() == mayDecide
	f.Renews = p.Name == "signin" && p.Status == http.StatusUnauthorized && who.stale && who.right() == mayDecide
	switch {
	case !f.Signed:
		f.Waiting = &waiting{}
	case f.Waiting == nil:
		f.Waiting = w.count(r)
	}
	all, err := w.pages[w.textsFor(r).Lang()]()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := all.ExecuteTemplate(&b, p.Name+".main", p.Body); err != nil {
		return fmt.Errorf("web: rendering %s: %w", p.Name, err)
	}
	f.Main = template.HTML(b.String()) //nolint:gosec // It was just escaped.
	b.Reset()
	if err := all.ExecuteTemplate(&b, "layout.html", f); err != nil {
		return fmt.Errorf("web: rendering the layout around %s: %w", p.Name, err)
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Language", string(w.textsFor(r).Lang()))
	rw.Header().Add("Vary", "Accept-Language")
	rw.WriteHeader(p.Status)
	_, _ = b.WriteTo(rw) // the reader may have left; there is nobody to tell
	return nil
}

// count returns how many asks wait, for the menu and the title. If that fails, only the
// page that lists them says so.
func (w *Web) count(r *http.Request) *waiting {
	n := 0
	for _, err := range w.desk.Waiting(r.Context()) {
		if err != nil {
			return &waiting{}
		}
		n++
	}
	return &waiting{n}
}
