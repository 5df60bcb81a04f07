package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// owner is the one person who signs in.
const owner = "owner"

// Owner is the id under which the signed-in person's decisions are recorded,
// and by which the person is an approver.
const Owner = Name + ":" + owner

// loginPage shows a form and nothing else: a link that is only looked at, by a
// preview or a scanner, is not used up.
func (w *Web) loginPage(rw http.ResponseWriter, r *http.Request) error {
	code := strings.TrimSpace(r.URL.Query().Get("code"))
	if code == "" {
		return w.render(rw, r, page{Status: http.StatusOK, Name: "signin", Title: text{Key: "web.signin"}})
	}
	return w.render(rw, r, page{Status: http.StatusOK, Name: "login", Title: text{Key: "web.signin"}, Body: code})
}

func (w *Web) login(rw http.ResponseWriter, r *http.Request) error {
	f, err := formOf(rw, r)
	if err != nil {
		return err
	}
	if !w.codes.spend(strings.TrimSpace(f.Get("code"))) {
		return &pageError{
			Status: http.StatusForbidden, Title: text{Key: "web.fault.link.title"},
			Text: text{Key: "web.fault.link"},
		}
	}
	c, err := w.sessions.start(owner, w.secure(r))
	if err != nil {
		return err
	}
	http.SetCookie(rw, c)
	http.Redirect(rw, r, "/inbox", http.StatusSeeOther)
	return nil
}

// logout ends the session on this side too, so that a copy of its cookie is
// worth nothing.
func (w *Web) logout(rw http.ResponseWriter, r *http.Request) error {
	http.SetCookie(rw, w.sessions.end(w.secure(r)))
	if who, ok := w.sessions.of(r); ok {
		if err := w.sessions.ended.add(context.WithoutCancel(r.Context()), who); err != nil {
			return &pageError{
				Status: http.StatusInternalServerError, Title: text{Key: "web.fault.signout.title"},
				Text: text{Key: "web.fault.signout"}, Err: err,
			}
		}
	}
	http.Redirect(rw, r, "/inbox/login", http.StatusSeeOther)
	return nil
}

// secure reports whether the browser reached us over TLS, by ourselves or by a
// proxy in front of the public address.
func (w *Web) secure(r *http.Request) bool {
	return r.TLS != nil ||
		w.public != nil && w.public.Scheme == "https" && strings.EqualFold(hostOf(r.Host), w.public.Hostname())
}

// maxForm is the greatest size of a posted form: a proposal of 1 MiB and the
// form around it, percent-encoded.
const maxForm = 4 << 20

// formWithin bounds how long a form may take to arrive.
const formWithin = 30 * time.Second

// formOf reads a posted form.
func formOf(rw http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	c := http.NewResponseController(rw)
	// A writer without deadlines has other means; only the bound is lost.
	_ = c.SetReadDeadline(time.Now().Add(formWithin))
	if err := r.ParseForm(); err != nil {
		return nil, &pageError{
			Status: http.StatusBadRequest, Title: text{Key: "web.fault.form.title"},
			Text: text{Key: "web.fault.form"}, Err: err,
		}
	}
	_ = c.SetReadDeadline(time.Time{})
	return r.PostForm, nil
}
