package web_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/templates"
)

// spoken requests a page in a language.
func (in *inbox) spoken(target, languages string) tree {
	in.Helper()
	r := in.request(http.MethodGet, target, nil)
	if languages != "" {
		r.Header.Set("Accept-Language", languages)
	}
	return sound(in.T, in.do(r))
}

func TestTheBrowserChoosesTheLanguage(t *testing.T) {
	race.Alone(t)
	c := config(full())
	c.Lang = templates.Italian
	for _, tt := range []struct {
		configured templates.Lang
		header     string
		want       string
	}{
		{"en", "", "en"},
		{"it", "", "it"},
		{"en", "it", "it"},
		{"en", "it-CH, de;q=0.9", "it"},
		{"it", "en-GB,en;q=0.9,it;q=0.8", "en"},
		{"it", "en;q=0.5,it;q=0.9", "it"},
		{"it", "de,fr;q=0.8", "it"},
		{"en", "de,fr", "en"},
		{"en", ";;;q=", "en"},
		{"en", "*", "en"},
	} {
		c.Lang = tt.configured
		in := inboxOf(t, full(), c).signIn()
		if got := in.spoken("/inbox", tt.header).all("html")[0].attr("lang"); got != tt.want {
			t.Errorf("%s configured and %q preferred: the page speaks %s", tt.configured, tt.header, got)
		}
	}
}

// stamps matches what differs between two runs.
var stamps = regexp.MustCompile(`\d{1,2} [A-Za-z]{3} \d{4}, \d\d:\d\d:\d\d [A-Z0-9+-]+`)

// TestWhatPeopleRead compares the words of every page with a golden file for each language.
func TestWhatPeopleRead(t *testing.T) {
	race.Alone(t)
	synctest.Test(t, func(t *testing.T) {
		for _, lang := range templates.Langs() {
			var b strings.Builder
			add := func(name string, doc tree) {
				b.WriteString("=== " + name + "\n")
				for line := range strings.Lines(doc.all("title")[0].text() + "\n" + doc.all("body")[0].text()) {
					if line = stamps.ReplaceAllString(strings.Join(strings.Fields(line), " "), "[time]"); line != "" {
						b.WriteString(line + "\n")
					}
				}
			}
			in := newInbox(t, full()).signIn()
			for _, p := range append(pages(), "/inbox/nothing", "/inbox/ask/nothing", "/inbox/turn/a/b", "/inbox/history?outcome=x", "/inbox/history?before=x") {
				add(p, in.spoken(p, string(lang)))
			}
			for _, s := range []approval.State{
				approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
				approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown, approval.State(approval.FateSetBack),
			} {
				d := newDesk()
				d.open("oneask", proposal("make"))
				d.change(func() {
					fate, ended := string(s), time.Now()
					if s == approval.Expired {
						ended = d.asks[0].ExpiresAt
					}
					if state, ok := strings.CutSuffix(fate, ".clock"); ok { // set back
						fate, ended = state, ended.Add(-time.Hour)
					}
					d.asks[0].Approvals[0].State, d.asks[0].Approvals[0].EndedAt = approval.State(fate), ended
				})
				doc := newInbox(t, d).signIn().spoken("/inbox/ask/oneask", string(lang))
				b.WriteString("=== " + string(s) + "\n" + stamps.ReplaceAllString(doc.id(t, "ask-oneask").words(), "[time]") + "\n")
			}
			got := b.String()
			if strings.Contains(got, "[]") || strings.Contains(got, "[web.") || strings.Contains(got, "[button.") {
				t.Errorf("%s: a text is missing:\n%s", lang, got)
			}
			golden.Check(t, "testdata/pages."+string(lang)+".txt", got)
		}
	})
}

// TestScriptHasItsTexts checks that the page contains exactly the texts that the script
// names.
func TestScriptHasItsTexts(t *testing.T) {
	script, err := os.ReadFile("assets/app.js")
	if err != nil {
		t.Fatal(err)
	}
	var says, has []string
	for _, m := range regexp.MustCompile(`\bwords(?:\.(\w+)|\["([\w.]+)"\])`).FindAllStringSubmatch(string(script), -1) {
		says = append(says, m[1]+m[2])
	}
	for _, dd := range sound(t, newInbox(t, newDesk()).signIn().get("/inbox")).id(t, "texts").all("dd") {
		has = append(has, dd.attr("data-key"))
	}
	slices.Sort(says)
	slices.Sort(has)
	if diff := cmp.Diff(slices.Compact(says), has); diff != "" {
		t.Errorf("what the script says (-) and what the page gives it (+):\n%s", diff)
	}
}
