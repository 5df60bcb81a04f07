package telegram

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/templates"
)

// TestEveryTroubleHasWords tells each trouble of the bot, and what helps, in
// every language.
func TestEveryTroubleHasWords(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		"disk", "errors", "foreign.hook", "hook", "net", "pause", "rival.hook", "rival.poll", "token", "unpaired",
		troubleShut, troubleGone, troubleTopic,
	}
	for _, name := range names {
		told := map[string]bool{}
		for _, lang := range templates.Langs() {
			var wrong trouble
			wrong.begin(name, map[string]any{"error": theirs("connection refused")})
			began := wrong.since
			wrong.begin(name, wrong.values)
			h := wrong.in(set.In(lang, time.UTC))
			if strings.Contains(h.Problem+h.Remedy, "[") || !h.Since.Equal(began) || told[h.Problem] || told[h.Remedy] {
				t.Errorf("%s in %s: %+v", name, lang, h)
			}
			if told[h.Problem], told[h.Remedy] = true, true; (name == "hook") != strings.Contains(h.Problem, "connection refused") {
				t.Errorf("%s in %s: %q", name, lang, h.Problem)
			}
		}
	}
	if h := (trouble{}).in(set.In(templates.English, time.UTC)); !h.OK() {
		t.Errorf("no trouble is told as %+v", h)
	}
}
