package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/race"
)

// judged returns an inbox with a card that a judge agent's no has opened.
func judged(t *testing.T, said string) *inbox {
	t.Helper()
	d := newDesk()
	d.look("ask1", said)
	return newInbox(t, d)
}

// TestWhatAJudgeDidHasAPage checks that the card says that the judge reaches a network, and
// that its Why links to a page with what the judge saw and did.
func TestWhatAJudgeDidHasAPage(t *testing.T) {
	in := judged(t, "With it TestAdd fails.").signIn()
	doc := sound(t, in.get("/inbox"))
	if card := doc.id(t, "ask-ask1").words(); !strings.Contains(card, "reach the network: semantic:qa") || !strings.Contains(card, "TestAdd fails") ||
		!strings.Contains(card, "Score 0.1 of 1, needs 0.85; confidence 0.9, needs 0.5") {
		t.Errorf("the card says: %s", card)
	}
	links := slices.DeleteFunc(doc.all("a"), func(n tree) bool { return !strings.HasPrefix(n.attr("href"), "/inbox/judgement/") })
	if len(links) != 1 || links[0].name() != "What this judge saw and did" {
		t.Fatalf("%d links", len(links))
	}
	at := links[0].attr("href")
	rec := in.get(at)
	if rec.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", at, rec.Code, rec.Body)
	}
	page := sound(t, rec)
	for _, want := range []string{
		"semantic:qa", "asked local 3 times", "1,000 tokens", "12.3 s", "bubblewrap 0.11", "Its commands reached the network.",
		"With it TestAdd fails.", "called cmd.run", `{"command":"go test"}`,
	} {
		if !strings.Contains(page.words(), want) {
			t.Errorf("the page does not say %q: %s", want, page.words())
		}
	}
	if rec := in.get("/inbox/judgement/other"); rec.Code != http.StatusNotFound {
		t.Errorf("another id: %d", rec.Code)
	}
	stranger := &inbox{T: t, desk: in.desk, web: in.web, h: in.web.Handler()}
	if rec := stranger.get(at); rec.Code == http.StatusOK || strings.Contains(rec.Body.String(), "TestAdd") {
		t.Errorf("a stranger: %d", rec.Code)
	}
	if rec := newInbox(t, newDesk()).signIn().get(at); rec.Code != http.StatusNotFound {
		t.Errorf("an inbox without judgements: %d", rec.Code)
	}
}

// TestAJudgesTranscriptIsText checks that what a judge's tools read is treated as hostile,
// and stays text.
func TestAJudgesTranscriptIsText(t *testing.T) {
	race.Alone(t)
	skeletons := func(said string) []string {
		in := judged(t, said).signIn()
		at := "/inbox/judgement/j-1%2F..%2Fx"
		rec := in.get(at)
		if rec.Code != http.StatusOK {
			t.Fatalf("%d", rec.Code)
		}
		return skeleton(sound(t, rec).Node)
	}
	plain := skeletons(" plain words")
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(plain, skeletons(text)); diff != "" {
				t.Errorf("the structure changed:\n%s", diff)
			}
		})
	}
}
