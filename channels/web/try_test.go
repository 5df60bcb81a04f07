package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
)

func TestTrySamples(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	final := *guarded().Verdict
	read := *passed().Verdict
	denied := approval.Answer{
		Decision: approval.RulingDeny, Verdict: rejected(), Refusal: &approval.Refusal{Words: "no"},
		Approval: &approval.Summary{ID: "answered-1", State: approval.Denied, Words: "no"},
	}
	for _, row := range []struct {
		name, sample string
		answer       approval.Answer
		want         []string
		link         string
	}{
		{"approved", "read", approval.Answer{Decision: approval.RulingAllow, Verdict: read}, []string{"nobody is asked", `"decision": "allow"`}, ""},
		{"asked", "remove", d.answers["shell_exec"], []string{"a person is asked: you", `"decision": "pending"`, `"score": 0.4`, "Answer the card"}, "/inbox/ask/rmbuild1-1"},
		{"guard", "key", approval.Answer{Decision: approval.RulingDeny, Verdict: final, Refusal: guarded().Refusal}, []string{"That is final", `"blocked_by": "guard"`}, ""},
		{"denied_before", "remove", denied, []string{"the old answer stands", "Denied"}, "/inbox/ask/answered-1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, s := range samples() {
				if s.Name == row.sample {
					d.answers[s.Proposal.Executor] = row.answer
				}
			}
			rec := in.post("/inbox/try", url.Values{"sample": {row.sample}})
			doc := sound(t, rec)
			result := doc.id(t, "result")
			if rec.Code != http.StatusOK {
				t.Errorf("got %d", rec.Code)
			}
			for _, want := range row.want {
				if !strings.Contains(result.words(), want) {
					t.Errorf("the page does not say %q: %s", want, result.words())
				}
			}
			link := ""
			for _, a := range result.all("a") {
				link = a.attr("href")
			}
			if link != row.link {
				t.Errorf("link: got %q, want %q", link, row.link)
			}
			if link != "" {
				sound(t, in.get(link)).id(t, "cards")
			}
			if got := d.proposed[len(d.proposed)-1].Agent; got != web.TryAgent {
				t.Errorf("proposed as %q", got)
			}
		})
	}
}

func TestTryOwnCall(t *testing.T) {
	d := full()
	in := newInbox(t, d).signIn()
	form := in.ownForm(in.get("/inbox/try").Body.String())
	if !strings.Contains(form, `"rm -rf ./build"`) || strings.Contains(form, `"agent"`) {
		t.Errorf("the form is filled with %q", form)
	}
	rec := in.post("/inbox/try", url.Values{"proposal": {form}})
	if rec.Code != http.StatusOK || len(d.proposed) != 1 {
		t.Fatalf("got %d", rec.Code)
	}
	own := `{"agent":"mallory","executor":"shell_exec","args":{"n":12345678901234567890,"</textarea><script>":"x"}}`
	rec = in.post("/inbox/try", url.Values{"proposal": {own}})
	doc := sound(t, rec)
	if got := d.proposed[1]; got.Agent != web.TryAgent || !strings.Contains(doc.id(t, "result").text(), "12345678901234567890") {
		t.Errorf("got %+v", got)
	}
	if got := doc.all("textarea")[0].text(); got != own {
		t.Errorf("the form lost what was typed: %q", got)
	}
}

// ownForm returns the contents of the form for the reader's own call.
func (in *inbox) ownForm(page string) string {
	_, text, _ := strings.Cut(page, `<textarea id="proposal"`)
	_, text, _ = strings.Cut(text, ">")
	text, _, _ = strings.Cut(text, "</textarea>")
	return strings.NewReplacer("&#34;", `"`, "&#43;", "+", "&amp;", "&").Replace(text)
}

func TestTryMistakes(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"empty", "", "JSON document"},
		{"not_json", "rm -rf", "JSON document"},
		{"duplicate", `{"executor":"a","executor":"b","args":{}}`, "executor"},
		{"unknown_field", `{"executor":"a","args":{},"argz":{}}`, "argz"},
		{"no_executor", `{"args":{}}`, "executor"},
		{"unknown_tool", `{"executor":"nothing","args":{}}`, "names no tool of the catalog"},
		{"hidden", `{"executor":"a","args":{},"a` + "\u202e" + `b":{}}`, `a\u202eb`},
		{"deep", strings.Repeat(`{"args":`, 10_000), "nests deeper than 64 levels"},
		{"long", strings.Repeat(" ", 1<<20+1), "longer than 1 MiB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			in := newInbox(t, newDesk()).signIn()
			rec := in.post("/inbox/try", url.Values{"proposal": {row.text}})
			if rec.Code != http.StatusUnprocessableEntity {
				t.Fatalf("got %d", rec.Code)
			}
			doc := sound(t, rec)
			if got := doc.id(t, "mistake").words(); !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if doc.id(t, "proposal").attr("aria-describedby") != "mistake" {
				t.Error("the mistake is not tied to the form")
			}
		})
	}
}

func TestTryTrouble(t *testing.T) {
	c := config(newDesk())
	c.Propose = nil
	if _, err := web.New(t.Context(), c); err == nil {
		t.Fatal("an inbox without Propose was made")
	}
	in := newInbox(t, newDesk()).signIn()
	if rec := in.post("/inbox/try", url.Values{"sample": {"nothing"}}); rec.Code != http.StatusNotFound {
		t.Errorf("unknown sample: got %d", rec.Code)
	}
	err := errors.New("disk full")
	wrapped := &web.InputError{Err: err}
	if !errors.Is(wrapped, err) || wrapped.Error() != "disk full" {
		t.Error("InputError hides its cause")
	}
}
