package templates_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/templates"
)

// TestTimesAreSaidInTheReadersLanguage formats a time of today, of another day of the year, and of
// another year, with every function that texts can call.
func TestTimesAreSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	rome := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 21, 14, 5, 0, 0, rome)
	today, earlier, before := now.Add(-time.Hour), now.AddDate(0, 0, -10), now.AddDate(-1, -3, -13)
	for lang, functions := range map[templates.Lang]map[string][3]string{
		templates.English: {
			"at":    {"at 13:05", "on 11 November at 14:05", "on 8 August 2025 at 14:05"},
			"by":    {"by 13:05", "by 11 November, 14:05", "by 8 August 2025, 14:05"},
			"until": {"until 13:05", "until 11 November, 14:05", "until 8 August 2025, 14:05"},
			"since": {"since 13:05", "since 11 November, 14:05", "since 8 August 2025, 14:05"},
			"clock": {"13:05", "11 Nov, 14:05", "8 Aug 2025, 14:05"},
			"date":  {"21 Nov, 13:05", "11 Nov, 14:05", "8 Aug 2025, 14:05"},
		},
		templates.Italian: {
			"at":    {"alle 13:05", "l’11 novembre alle 14:05", "l’8 agosto 2025 alle 14:05"},
			"by":    {"entro le 13:05", "entro l’11 novembre alle 14:05", "entro l’8 agosto 2025 alle 14:05"},
			"until": {"fino alle 13:05", "fino all’11 novembre alle 14:05", "fino all’8 agosto 2025 alle 14:05"},
			"since": {"dalle 13:05", "dall’11 novembre alle 14:05", "dall’8 agosto 2025 alle 14:05"},
			"clock": {"13:05", "11 nov, 14:05", "8 ago 2025, 14:05"},
			"date":  {"21 nov, 13:05", "11 nov, 14:05", "8 ago 2025, 14:05"},
		},
	} {
		for name, want := range functions {
			got := [3]string{}
			for i, at := range []time.Time{today, earlier, before} {
				got[i] = templates.Timed(lang, name, at, now)
			}
			if got != want {
				t.Errorf("%s, %s: %q, want %q", lang, name, got, want)
			}
		}
	}
}

// TestDaysAndNumbers checks what lists and tables show. The zone is named where it is UTC, and only
// there: Greenwich is a place where people live.
func TestDaysAndNumbers(t *testing.T) {
	t.Parallel()
	set := load(t)
	at := time.Date(2026, 8, 3, 12, 30, 5, 0, time.UTC)
	for lang, want := range map[templates.Lang][]string{
		templates.English: {"3 Aug", "2026", "3 Aug 2026, 12:30:05 UTC", "12:30 UTC", "12:30", "12:30", "1", "0.05", "-1,234,567", "-123", "123", "999,999"},
		templates.Italian: {"3 ago", "2026", "3 ago 2026, 12:30:05 UTC", "12:30 UTC", "12:30", "12:30", "1", "0,05", "-1.234.567", "-123", "123", "999.999"},
	} {
		texts := set.In(lang, time.UTC)
		got := []string{
			texts.Day(at), texts.Year(at), texts.Stamp(at), texts.Clock(at),
			set.In(lang, time.FixedZone("GMT", 0)).Clock(at), set.In(lang, time.FixedZone("UTC", 3600)).Clock(at.Add(-time.Hour)),
			texts.Score(1), texts.Score(0.05), texts.Number(-1234567), texts.Number(-123), texts.Number(123), texts.Number(999999),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}

// TestWhatJudgesSayIsTranslated checks the fixed wording of the built-in judges and the guard, and
// that what anybody else says stays as it is.
func TestWhatJudgesSayIsTranslated(t *testing.T) {
	t.Parallel()
	en, it := load(t).In(templates.English, time.UTC), load(t).In(templates.Italian, time.UTC)
	for said, want := range map[string]string{
		"anomalous args key: 'x'":                "un argomento ha un nome insolito: 'x'",
		"base score; intent matches executor":    "nulla da segnalare; la richiesta nomina ciò che l’azione usa",
		"possible path traversal ('..' in path)": "un percorso sembra uscire dalla sua cartella (contiene «..»)",
		"the executor is declared not critical":  "lo strumento è dichiarato non critico",
		"anomalous args key: 'x":                 "",
		"anomalous args key: '":                  "",
		"key: 'x'":                               "",
		"base score; somebody's words":           "",
		"somebody's words; base score":           "",
	} {
		if got, ok := it.Judged(said); ok != (want != "") || ok && got != want || !ok && got != said {
			t.Errorf("%q is said as %q, %v, want %q", said, got, ok, want)
		}
	}
	for what, pair := range map[string][2]string{
		"an effect":                 {it.Effect("delete", "irreversible", "shared"), "cancella qualcosa, non si può annullare, tocca ciò che usano anche altri"},
		"one of unknown reach":      {it.Effect("delete", "partial", "unheard of"), "cancella qualcosa, si può annullare in parte"},
		"an unknown effect":         {it.Effect("unheard of", "irreversible", "shared"), ""},
		"an effect, in English":     {en.Effect("delete", "irreversible", "shared"), ""},
		"undoing, in English":       {en.Undo("irreversible", "shared"), ""},
		"a category":                {it.EffectName("delete"), "cancella qualcosa"},
		"an unknown category":       {it.EffectName("unheard of"), "unheard of"},
		"a rule's category":         {it.EffectName("path_traversal"), "un percorso che esce dalla sua cartella"},
		"a category, in English":    {en.EffectName("delete"), "deletes something"},
		"a rule of a later release": {it.Guard("unheard.of"), ""},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is said as %q, want %q", what, pair[0], pair[1])
		}
	}
	if said := it.Guard("own.path"); said == "" || said == en.Guard("own.path") {
		t.Errorf("the guard's rule own.path is said as %q", said)
	}
	if said, ok := it.Told("Hello."); ok || said != "Hello." {
		t.Errorf("somebody's sentence is said as %q, %v", said, ok)
	}
}

// TestAnOrderIsTypedAsItsPlaceWants checks that people are told how to give an order where they are.
func TestAnOrderIsTypedAsItsPlaceWants(t *testing.T) {
	t.Parallel()
	set := load(t)
	for form, want := range map[templates.Form][2]string{
		"":                   {"vaglio lift 3fa2", "vaglio grants end 3fa2"},
		templates.ByTerminal: {"vaglio lift 3fa2", "vaglio grants end 3fa2"},
		templates.ByTelegram: {"/lift 3fa2", "/end 3fa2"},
		templates.BySlack:    {"/vaglio lift 3fa2", "/vaglio end 3fa2"},
	} {
		texts := set.By(form).In(templates.English, time.UTC)
		if got := [2]string{texts.Order("lift", "3fa2"), texts.Order("end", "3fa2")}; got != want {
			t.Errorf("%s: %q, want %q", form, got, want)
		}
	}
}

// TestTextsHaveTheRoomThatTheirPlacesHave loads texts of exactly the length that fits where each is
// shown, and of one character more.
func TestTextsHaveTheRoomThatTheirPlacesHave(t *testing.T) {
	t.Parallel()
	override, fields := templates.Overrider(), templates.Fields()
	for group, most := range map[string]int{
		"button": 40, "prompt.placeholder": 64, "guard": 400, "told": 400, "state": 100, "menu": 100, "web": 2000, "help": 2000, "effect": 160, "undo": 160,
	} {
		key := templates.Key("")
		for k, has := range fields {
			if first, _, _ := strings.Cut(string(k), "."); len(has) == 0 && (string(k) == group || key == "" && first == group) {
				key = k
			}
		}
		if key == "" || templates.Limit(key) != most {
			t.Errorf("%s: %q has room for %d characters, want %d", group, key, templates.Limit(key), most)
			continue
		}
		for more, want := range map[int]int{0: 0, 1: 1} {
			if _, mistakes := override(`{{define "` + string(key) + `"}}` + strings.Repeat("a", most+more) + `{{end}}`); len(mistakes) != want {
				t.Errorf("%s with %d characters: %q", key, most+more, mistakes)
			}
		}
	}
	for size, want := range map[int]bool{1 << 20: false, 1<<20 + 1: true} {
		for _, name := range []string{"it.tmpl", "it.phrases"} {
			body := "#" + strings.Repeat(" ", size-1)
			if name == "it.tmpl" {
				body = strings.Repeat(" ", size)
			}
			_, err := templates.Load(folder(name, body))
			if tooLong := err != nil && strings.Contains(err.Error(), "1048576 are the most"); tooLong != want {
				t.Errorf("%s of %d bytes: %v", name, size, err)
			}
		}
	}
}

// TestAFieldIsOfOneKind uses a time as a count, and shows times and counts as they stand as well.
func TestAFieldIsOfOneKind(t *testing.T) {
	t.Parallel()
	override := templates.Overrider()
	count := `{{plural .when "a" "b"}}`
	for text, want := range map[string]string{
		`{{at .when}} {{.id}}` + count:               `until: the field .when is used as a time and as a number`,
		count + `{{at .when}} {{.id}}`:               `until: the field .when is used as a number and as a time`,
		`{{at .when}} {{.when}} {{.id}}`:             "",
		`{{.when}} {{at .when}} {{.id}}`:             "",
		`{{at .when}} {{by .when}} {{.id}}`:          "",
		`{{at .when}} {{.id}} {{plural .n .id "b"}}`: `plural wants words`,
	} {
		_, mistakes := override(`{{define "until"}}` + text + `{{end}}`)
		if found := slices.ContainsFunc(mistakes, func(m string) bool { return strings.Contains(m, want) }); found != (want != "") && len(mistakes) > 0 || want != "" && !found {
			t.Errorf("%s: %q, want %q", text, mistakes, want)
		}
	}
	if _, mistakes := override(`{{define "button.deny"}}{{.x}}{{end}}`); len(mistakes) != 1 || !strings.Contains(mistakes[0], "it has none") {
		t.Errorf("a text without fields: %q", mistakes)
	}
}
