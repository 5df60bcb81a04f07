package web

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// judgementView is what the page of a judgement shows.
type judgementView struct{ vaglio.Judgement }

// Tokens returns how many tokens the model used.
func (v judgementView) Tokens() int { return v.Input + v.Output }

// Seconds returns how long it took.
func (v judgementView) Seconds() string { return strconv.FormatFloat(v.Took, 'f', 1, 64) }

// judgementURL returns the page of a judgement, or "" if there is none.
func judgementURL(id string) string {
	if id == "" {
		return ""
	}
	return "/inbox/judgement/" + url.PathEscape(id)
}

// judgement shows what a judge agent was shown, did and said.
func (w *Web) judgement(rw http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	j, err := w.judgements(r.Context(), id)
	if err != nil {
		return err
	}
	return w.render(rw, r, page{
		Status: http.StatusOK, Name: "judgement", Nav: "history", Body: judgementView{j},
		Title: text{"web.title.judgement", templates.Values{"judge": plain(j.Judge)}},
	})
}
