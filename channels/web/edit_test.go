package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestAnEditIsShownBeforeItIsMade goes from the card through a preview to the edit, with
// the line ends that a form sends.
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
	form.Set("seen", "an-older-print")
	form.Set("words", "not main")
	anew := in.post("/inbox/edit", form)
	for _, want := range []string{"has changed since you looked", `name="seen" value="the-print"`, "origin &lt;dev&gt;", "not main</textarea>"} {
		if page := anew.Body.String(); anew.Code != http.StatusOK || !strings.Contains(page, want) {
			t.Fatalf("what is not as it was shown is not shown anew: %d lacks %q\n%s", anew.Code, want, page)
		}
	}
	form.Set("seen", "the-print")
	done := in.post("/inbox/edit", form)
	if done.Code != http.StatusSeeOther || len(d.edits) != 3 {
		t.Fatalf("the edit: %d, %+v", done.Code, d.edits)
	}
	if e := d.edits[2]; e.Texts["command"] != "git push \\\n origin <dev>" || e.Words != "not main" || e.By.ID == "" || e.Channel != "web" {
		t.Errorf("it was handed in as %+v", e)
	}
	form.Set("arg.command", "\ngit push origin main")
	if again := in.post("/inbox/edit", form); again.Code != http.StatusUnprocessableEntity || !strings.Contains(again.Body.String(), "You changed nothing") {
		t.Errorf("an edit of nothing: %d\n%s", again.Code, again.Body.String())
	}
}
