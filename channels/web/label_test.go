package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// TestWhatIsPressedIsNamedByItsHeadline checks that the names of the buttons and of what is
// folded, and what is told after an answer, say what the headline says, and not what the
// call looks like.
func TestWhatIsPressedIsNamedByItsHeadline(t *testing.T) {
	t.Parallel()
	mail := vaglio.Proposal{
		Agent: "claude-code", TurnID: "t-82", Executor: "send_email", Args: vaglio.Args{"body": "Hello", "subject": "Offer", "to": "ann@example.com"},
	}
	for _, tt := range []struct {
		name, lang string
		calls      []vaglio.Proposal
		// heads are the headlines of the card and of the calls of a plan.
		heads []string
	}{
		{"a tool", "en", []vaglio.Proposal{mail}, []string{"Sends mail to ann@example.com: Offer"}},
		{"a tool", "it", []vaglio.Proposal{mail}, []string{"Invia una mail ad ann@example.com: Offer"}},
		{"a command", "en", []vaglio.Proposal{proposal("make -B")}, []string{"Runs make -B"}},
		{"a command", "it", []vaglio.Proposal{proposal("make -B")}, []string{"Esegue make -B"}},
		{"a plan", "en", []vaglio.Proposal{mail, mail}, []string{"2 times: Sends mail to ann@example.com: Offer", "1. Sends mail to ann@example.com: Offer", "2. Sends mail to ann@example.com: Offer"}},
		{"a plan", "it", []vaglio.Proposal{mail, mail}, []string{"2 volte: Invia una mail ad ann@example.com: Offer", "1. Invia una mail ad ann@example.com: Offer", "2. Invia una mail ad ann@example.com: Offer"}},
	} {
		t.Run(tt.name+" "+tt.lang, func(t *testing.T) {
			t.Parallel()
			d := newDesk()
			a := d.open("one", tt.calls...)
			in := newInbox(t, d).signIn()
			card := in.spoken("/inbox/ask/one", tt.lang).id(t, "ask-one")
			var heads []string
			for _, h := range card.all("h2", "h3") {
				heads = append(heads, h.words())
			}
			if strings.Join(heads, "|") != strings.Join(tt.heads, "|") {
				t.Errorf("the headlines are %q, want %q", heads, tt.heads)
			}
			of := map[string]string{"all": heads[0]}
			for i := range a.Approvals {
				of[string(a.Approvals[i].ID)] = heads[len(heads)-len(a.Approvals)+i]
			}
			for token, name := range card.tokens() {
				id, _, _ := strings.Cut(strings.TrimPrefix(token, "TOKEN-"), "-one-")
				if want := of[id]; want == "" || !strings.HasSuffix(name, ": "+want) {
					t.Errorf("the button %s is named %q, want the headline %q", token, name, want)
				}
			}
			for _, fold := range card.class("why") {
				if want := of[strings.TrimPrefix(fold.attr("id"), "why-")]; !strings.HasSuffix(fold.all("summary")[0].words(), ": "+want) {
					t.Errorf("what is folded is named %q, want the headline %q", fold.all("summary")[0].words(), want)
				}
			}
			rec := in.post("/inbox/decide", tapOf("one", "deny"))
			if rec.Code != http.StatusSeeOther {
				t.Fatalf("got %d: %s", rec.Code, rec.Body)
			}
			notice := in.spoken(rec.Header().Get("Location"), tt.lang).id(t, "notice").words()
			if want := strings.TrimPrefix(heads[len(heads)-1], "2. "); !strings.Contains(notice, want) || strings.Contains(notice, tt.calls[0].Executor) {
				t.Errorf("the notice says %q, want %q", notice, want)
			}
		})
	}
}
