package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Digest returns a digest with what others wrote in it, for one day.
func (d *desk) Digest(_ context.Context, day string) (approval.Digest, error) {
	if day != "" && day != "2026-11-21" {
		return approval.Digest{}, &approval.DayError{Day: day}
	}
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	fates := approval.Fates{Allowed: 1, Denied: 2, Runs: approval.Runs{Failed: 1}}
	return approval.Digest{
		Window: approval.Window{From: at.AddDate(0, 0, -1), To: at}, Late: true,
		Counts:     approval.Counts{Judged: 41, Approved: 31, Guard: 7, Vetoed: 3, Fates: fates},
		WeekAgo:    approval.Counts{Judged: 17},
		Rules:      []approval.Tally{{Name: "path.auth", Count: 7, New: true}},
		Checkpoint: "vaglio/x\n41\nk/+=\n\n— vaglio/x s/+=\n",
		Groups: []approval.VetoGroup{{Effect: "delete", Count: 3, Actions: []approval.Veto{{
			ID: "ask-1", At: at, Agent: "<script>bot</script>", Wanted: "rm \u202ex", State: approval.Denied, By: "Ann", Words: "no\nno",
		}}}},
	}, nil
}

func TestTheDigestHasAPage(t *testing.T) {
	in := newInbox(t, full()).signIn()
	for _, lang := range []string{"en", "it"} {
		for _, address := range []string{"/inbox/digest", "/inbox/digest?date=2026-11-21"} {
			doc := in.spoken(address, lang)
			words := doc.words()
			for _, want := range []string{"41", "17", "path.auth", "ask-1", "<script>bot</script>", "Ann", "vaglio/x 41 k/+= — vaglio/x s/+="} {
				if !strings.Contains(words, want) {
					t.Errorf("%s in %s does not tell %q:\n%s", address, lang, want, words)
				}
			}
			if strings.Contains(words, "[digest") || strings.Contains(words, "[web.") || strings.Contains(words, "\u202e") {
				t.Errorf("%s in %s says\n%s", address, lang, words)
			}
			if n := len(doc.all("caption")); n != 1 {
				t.Errorf("%d tables have a caption", n)
			}
			for _, th := range doc.all("th") {
				if th.attr("scope") == "" {
					t.Error("a heading of the table has no scope")
				}
			}
		}
	}
	for _, bad := range []string{"yesterday", "2999-01-01"} {
		if rec := in.get("/inbox/digest?date=" + bad); rec.Code != http.StatusBadRequest {
			t.Errorf("%s: got %d", bad, rec.Code)
		}
	}
	if rec := newInbox(t, full()).get("/inbox/digest"); rec.Code == http.StatusOK {
		t.Error("a stranger reads the digest")
	}
}
