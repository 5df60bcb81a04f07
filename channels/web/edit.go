package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
)

// editView is a call in the form that a person wants to give it, as the page shows it.
type editView struct {
	approval.Edited
	ID  approval.ID
	Ask approval.AskID
	// Call is the call as proposed.
	Call approval.Item
	// Texts are the arguments that can be changed or, after a change, those that were,
	// which are sent again.
	Texts []approval.Editable
	Words string
	// Anew says that the call is no longer as it was shown when it was to be changed.
	Anew bool
}

const (
	// editWithin limits one look at an edit, for which judges are asked.
	editWithin = time.Minute
	// argField is the prefix of the names of form fields that are arguments.
	argField = "arg."
)

// EditAddress returns where, in the inbox at the address, a person edits a call of the ask,
// or chooses one if id is empty.
func EditAddress(inbox string, ask approval.AskID, id approval.ID) string {
	if id == "" {
		return inbox + askURL(ask)
	}
	return inbox + "/inbox/edit/" + url.PathEscape(string(id))
}

// editPage shows the form in which a person changes a waiting call.
func (w *Web) editPage(rw http.ResponseWriter, r *http.Request) error {
	id := approval.ID(r.PathValue("id"))
	c, err := w.desk.Card(r.Context(), id.Ask(), Name)
	if err != nil {
		return err
	}
	for i := range c.Items {
		if it := &c.Items[i]; it.Approval == id && it.State == approval.Pending {
			v := editView{ID: id, Ask: c.Ask, Call: *it, Texts: it.Editables}
			return w.render(rw, r, page{Status: http.StatusOK, Name: "edit", Title: text{Key: "web.edit"}, Body: v})
		}
	}
	return unordered(&approval.OrderError{Key: approval.OrderNothing, Value: string(id)}, string(id), askURL(id.Ask()))
}

// edit shows what a call would become if a person edited it, judged again. A person who saw
// exactly that and sends it again denies the call as proposed and allows it in the new
// form.
func (w *Web) edit(rw http.ResponseWriter, r *http.Request, who Session, f url.Values) error {
	e := approval.Editing{
		ID: approval.ID(f.Get("id")), Texts: textsOf(f), Words: cleanWords(f.Get("words")),
		By: who.by(), Channel: Name, Seen: approval.Fingerprint(f.Get("seen")), Passkey: who.asserted,
	}
	back := askURL(e.ID.Ask())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), editWithin)
	defer cancel()
	edited, err := w.desk.Edit(ctx, e)
	bad, refused := errors.AsType[*approval.OrderError](err)
	anew := refused && bad.Key == approval.OrderShown && len(edited.Changed) > 0
	if err != nil && !anew {
		return unordered(err, string(e.ID), back)
	}
	if !edited.Done {
		v := editView{Edited: edited, ID: e.ID, Ask: e.ID.Ask(), Call: edited.Was, Words: e.Words, Anew: anew}
		for _, d := range edited.Changed {
			v.Texts = append(v.Texts, approval.Editable{Name: d.Name, Text: d.Now})
		}
		return w.render(rw, r, page{Status: http.StatusOK, Name: "edit", Title: text{Key: "web.edit"}, Body: v})
	}
	note, err := w.told.Load().seal(did{w.textsFor(r).Plain("web.edit.done", nil)})
	if err != nil {
		return err
	}
	http.Redirect(rw, r, back+"?"+url.Values{"did": {note}}.Encode(), http.StatusSeeOther)
	return nil
}

// textsOf returns the arguments in a form. A browser sends line breaks as CR LF, which no
// argument that can be changed contains.
func textsOf(f url.Values) map[string]string {
	texts := map[string]string{}
	for name, values := range f {
		if arg, is := strings.CutPrefix(name, argField); is && len(values) > 0 {
			texts[arg] = strings.ReplaceAll(values[0], "\r\n", "\n")
		}
	}
	return texts
}

// rows returns how many lines a form gives a text.
func rows(text string) int { return min(max(2, strings.Count(text, "\n")+1), 12) }
