package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// Edit changes a command, as a dispatcher would.
func (d *desk) Edit(_ context.Context, e approval.Editing) (approval.Edited, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Edited{}, d.fail
	}
	for i := range d.asks {
		p := d.asks[i].Find(e.ID)
		if p == nil {
			continue
		}
		m := approval.NewMasker(approval.Secret{1})
		now, changed, err := e.Change(p.Proposal, m)
		if err != nil {
			return approval.Edited{}, err
		}
		d.edits = append(d.edits, e)
		a := *p
		a.Proposal = now
		return approval.Edited{Was: approval.NewItem(*p, m), Now: approval.NewItem(a, m), Changed: changed, Print: "the-print", Done: e.Seen == "the-print"}, nil
	}
	return approval.Edited{}, approval.ErrNotFound
}

// TestAnEditIsShownBeforeItIsMade goes from the card over what it would be to the
// edit, with what a form makes of line ends.
func TestAnEditIsShownBeforeItIsMade(t *testing.T) {
	d := newDesk()
	d.open("editable", proposal("\ngit push origin main"))
	in := newInbox(t, d).signIn()
	for at, want := range map[string]string{"/inbox/ask/editable": `href="/inbox/edit/editable-1"`, "/inbox/edit/editable-1": ">\n\ngit push origin main</textarea>"} {
		if page := in.get(at).Body.String(); !strings.Contains(page, want) {
			t.Fatalf("%s lacks %q:\n%s", at, want, page)
		}
	}
	if gone := in.get("/inbox/edit/editable-2"); gone.Code != http.StatusUnprocessableEntity {
		t.Errorf("an edit of no call: %d", gone.Code)
	}
	form := url.Values{"id": {"editable-1"}, "arg.command": {"git push \\\r\n origin <dev>"}}
	shown := in.post("/inbox/edit", form)
	if shown.Code != http.StatusOK || !strings.Contains(shown.Body.String(), "origin &lt;dev&gt;") || !strings.Contains(shown.Body.String(), "As proposed") {
		t.Fatalf("the look at it: %d\n%s", shown.Code, shown.Body.String())
	}
	form.Set("seen", "the-print")
	form.Set("words", "not main")
	done := in.post("/inbox/edit", form)
	if done.Code != http.StatusSeeOther || len(d.edits) != 2 {
		t.Fatalf("the edit: %d, %+v", done.Code, d.edits)
	}
	if e := d.edits[1]; e.Texts["command"] != "git push \\\n origin <dev>" || e.Words != "not main" || e.By.ID == "" || e.Channel != "web" {
		t.Errorf("it was handed in as %+v", e)
	}
	form.Set("arg.command", "\ngit push origin main")
	if again := in.post("/inbox/edit", form); again.Code != http.StatusUnprocessableEntity || !strings.Contains(again.Body.String(), "Nothing was changed in it") {
		t.Errorf("an edit of nothing: %d\n%s", again.Code, again.Body.String())
	}
}
