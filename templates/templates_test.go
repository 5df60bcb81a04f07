package templates_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/templates"
)

func load(t *testing.T) *templates.Set {
	t.Helper()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestWhatIsEmbeddedHasNoMistakes checks what no start checks.
func TestWhatIsEmbeddedHasNoMistakes(t *testing.T) {
	t.Parallel()
	if mistakes := templates.Embedded(); len(mistakes) > 0 {
		t.Errorf("the embedded texts have mistakes:\n%s", strings.Join(mistakes, "\n"))
	}
}

// TestATextIsTheSameByItself holds the embedded texts, which are read one by one, against
// what is read of their files as a whole.
func TestATextIsTheSameByItself(t *testing.T) {
	if keys := templates.Differing(); len(keys) > 0 {
		t.Errorf("these differ: %v", keys)
	}
}

func TestSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := load(t)
		now := time.Now().UTC() // midnight of 1 January 2000 in a bubble
		rome := time.FixedZone("CET", 3600)
		for name, tt := range map[string]struct {
			lang   templates.Lang
			zone   *time.Location
			key    templates.Key
			values templates.Values
			want   string
		}{
			"Plain":      {"en", rome, "button.deny", nil, "Deny"},
			"Italian":    {"it", rome, "button.deny", nil, "Nega"},
			"Today":      {"en", rome, "state.expired", templates.Values{"when": now}, "⌛ Expired at 01:00: no answer came in time. It did not run"},
			"Oggi":       {"it", rome, "state.withdrawn", templates.Values{"when": now}, "↩️ Ritirata dall’agente alle 01:00: non è stata eseguita"},
			"UTC":        {"en", time.UTC, "until", templates.Values{"when": now, "id": "x"}, "Answer by 00:00 UTC · x"},
			"Yesterday":  {"en", rome, "until", templates.Values{"when": now.AddDate(0, 0, -1), "id": "x"}, "Answer by 31 December 1999, 01:00 · x"},
			"Ieri":       {"it", rome, "until", templates.Values{"when": now.AddDate(0, 0, -1), "id": "x"}, "Decidi entro il 31 dicembre 1999 alle 01:00 · x"},
			"Ottavo":     {"it", rome, "until", templates.Values{"when": now.AddDate(0, 0, 7), "id": "x"}, "Decidi entro l’8 gennaio alle 01:00 · x"},
			"DalSecondo": {"it", rome, "notice.count", templates.Values{"n": 2, "first": now.AddDate(0, 0, 1)}, "2 azioni così dal 2 gennaio alle 01:00; si vede l’ultima."},
			"Dall8":      {"it", rome, "notice.count", templates.Values{"n": 2, "first": now.AddDate(0, 0, 7)}, "2 azioni così dall’8 gennaio alle 01:00; si vede l’ultima."},
			"Dalle":      {"it", rome, "notice.count", templates.Values{"n": 2, "first": now}, "2 azioni così dalle 01:00; si vede l’ultima."},
			"Entro":      {"it", rome, "until", templates.Values{"when": now, "id": "x"}, "Decidi entro le 01:00 · x"},
			"By":         {"en", rome, "until", templates.Values{"when": now, "id": "x"}, "Answer by 01:00 · x"},
			"Since":      {"en", rome, "notice.count", templates.Values{"n": 2, "first": now.AddDate(0, 0, 1)}, "2 such calls since 2 January, 01:00; the last one is shown."},
			"Primo":      {"it", rome, "until", templates.Values{"when": now.AddDate(0, 1, 0), "id": "x"}, "Decidi entro il 1º febbraio alle 01:00 · x"},
			"Until":      {"en", rome, "stands", templates.Values{"when": now.AddDate(0, 0, 1), "lift": templates.Theirs("/lift")}, "The same call gets this answer until 2 January, 01:00, however it is written. /lift undoes that."},
			"Fino":       {"it", rome, "stands", templates.Values{"when": now, "lift": templates.Theirs("/lift")}, "La stessa azione, comunque sia scritta, riceve questa risposta fino alle 01:00. /lift la ritira."},
			"FinoAll8":   {"it", rome, "stands", templates.Values{"when": now.AddDate(0, 0, 7), "lift": templates.Theirs("/lift")}, "La stessa azione, comunque sia scritta, riceve questa risposta fino all’8 gennaio alle 01:00. /lift la ritira."},
			"One":        {"en", rome, "pending.some", templates.Values{"n": 1}, "1 ask waits for you:"},
			"Many":       {"en", rome, "cut", templates.Values{"left": 12345}, "… 12,345 more characters"},
			"Uno":        {"it", rome, "pending.some", templates.Values{"n": 1}, "1 richiesta ti aspetta:"},
			"Molti":      {"it", rome, "cut", templates.Values{"left": 12345}, "… 12.345 altri caratteri"},
			"NoField":    {"en", rome, "from", nil, "[from]"},
			"WrongKind":  {"en", rome, "cut", templates.Values{"left": "many"}, "[cut] many"},
			"NoText":     {"it", rome, "no.such", templates.Values{"b": templates.Theirs("B"), "a": 1}, "[no.such] 1 B"},
			"NoLang":     {"xx", rome, "button.deny", nil, "Deny"},
		} {
			if got := set.In(tt.lang, tt.zone).Plain(tt.key, tt.values); got != tt.want {
				t.Errorf("%s: says %q, want %q", name, got, tt.want)
			}
		}
	})
}

// TestTheirsStaysApart checks that what somebody else wrote comes out separately and
// unchanged.
func TestTheirsStaysApart(t *testing.T) {
	t.Parallel()
	en := load(t).In("en", time.UTC)
	for _, hostile := range []string{"bot", "{{.id}}", "\uFDD0\uFDD1", "\uFDD0", "a\uFDD0\uFDD2b", "</b>", ""} {
		want := []templates.Part{{"I do not know /", false}, {hostile, true}, {". Did you mean /0.5?", false}}
		got := en.Say("unknown.command", templates.Values{"name": templates.Theirs(hostile), "near": "0.5"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", hostile, diff)
		}
		// A value of ours cannot bring in a mark either.
		got = en.Say("unknown.command", templates.Values{"name": templates.Theirs("c"), "near": hostile})
		if len(got) != 3 || got[1].Text != "c" || got[0].Theirs || got[2].Theirs {
			t.Errorf("%q as a value of ours: %+v", hostile, got)
		}
	}
	got := en.Say("unknown.command", templates.Values{"name": templates.Theirs("c"), "near": "\uFDEF"})
	if strings.ContainsRune(got[len(got)-1].Text, '\uFDEF') {
		t.Errorf("a value of ours brings in a mark: %+v", got)
	}
	want := []templates.Part{{"[no.such]", false}, {" ", false}, {"B", true}}
	if diff := cmp.Diff(want, en.Say("no.such", templates.Values{"b": templates.Theirs("B")})); diff != "" {
		t.Errorf("a text that there is not (-want +got):\n%s", diff)
	}
}

func folder(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func TestOverride(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(folder("it.tmpl", "\uFEFF{{/* nostri */}}\r\n{{define \"button.deny\"}}No!{{end}}\r\n", "README.md", "no text", ".hidden.tmpl", "{{"))
	if err != nil {
		t.Fatal(err)
	}
	if got := set.In("it", time.UTC).Plain("button.deny", nil); got != "No!" {
		t.Errorf("the override is not taken: %q", got)
	}
	if got := set.In("it", time.UTC).Plain("button.allow", nil); got != "Consenti una volta" {
		t.Errorf("another text changed: %q", got)
	}
	if got := set.In("en", time.UTC).Plain("button.deny", nil); got != "Deny" {
		t.Errorf("another language changed: %q", got)
	}
}

// TestOverrideMistakes checks that every mistake in an override stops the load, and is
// reported with its place.
func TestOverrideMistakes(t *testing.T) {
	t.Parallel()
	define := func(key, text string) string { return "\n{{define \"" + key + "\"}}" + text + "{{end}}\n" }
	for name, tt := range map[string]struct{ file, body, want string }{
		"Syntax":      {"it.tmpl", define("from", "{{.agent"), "it.tmpl:2: "},
		"Unclosed":    {"it.tmpl", "{{define \"from\"}}x {{.agent}}", "it.tmpl:1: unexpected EOF"},
		"UnknownKey":  {"it.tmpl", define("form", "{{.agent}}"), `it.tmpl:2: there is no text "form"; did you mean "from"?`},
		"UnknownLang": {"de.tmpl", define("from", "{{.agent}}"), `de.tmpl: there is no language "de"; a file is named en.tmpl or it.tmpl`},
		"NoFile":      {"it.txt", "x", "the folder of texts: holds no texts; a file is named en.tmpl or it.tmpl"},
		"NoField":     {"it.tmpl", define("from", "Da {{.agent}} {{.agnet}}"), "it.tmpl:2: from: there is no field .agnet; it has .agent"},
		"DropsField":  {"it.tmpl", define("from", "Da qualcuno"), "it.tmpl:2: from: the field .agent does not show; a person needs it"},
		"DropsTime":   {"it.tmpl", define("state.expired", "Scaduta"), "it.tmpl:2: state.expired: the field .when does not show; a person needs it"},
		"DropsCount":  {"it.tmpl", define("calls.file", "Consenti?"), "it.tmpl:2: calls.file: the field .n does not show; a person needs it"},
		"Empty":       {"it.tmpl", define("button.deny", " "), "it.tmpl:2: button.deny: the text is empty; it must say something"},
		"EmptyDefine": {"it.tmpl", define("button.deny", ""), "it.tmpl:2: button.deny: the text is empty; it must say something"},
		"Twice":       {"it.tmpl", define("from", "{{.agent}}") + define("from", "{{.agent}}"), `it.tmpl:4: multiple definition of template "from"`},
		"Outside":     {"it.tmpl", "\n\n  Ciao\n" + define("from", "{{.agent}}"), "it.tmpl:3: only definitions may stand in a file"},
		"OutsideLow":  {"it.tmpl", "\n{{/* x */}}\n\n  Ciao\n" + define("from", "{{.agent}}"), "it.tmpl:4: only definitions may stand in a file"},
		"AtOnce":      {"it.tmpl", "\u202e" + define("from", "{{.agent}}"), "it.tmpl:1: holds a character that cannot be seen"},
		"Below":       {"it.tmpl", define("from", "{{.agent.name}} {{.agent}}"), "it.tmpl:2: from: a field has no fields of its own"},
		"Invisible":   {"it.tmpl", define("from", "\n{{.agent}}\u202e"), "it.tmpl:3: holds a character that cannot be seen"},
		"Mark":        {"it.tmpl", define("from", "{{.agent}}\uFDD0"), "it.tmpl:2: holds a character that cannot be seen"},
		"NotUTF8":     {"it.tmpl", define("from", "{{.agent}}\xff"), "holds a character that cannot be seen, or is not UTF-8"},
		"Range":       {"it.tmpl", define("from", "{{range .agent}}x{{end}}"), "it.tmpl:2: from: a text can hold fields, at, by, until, since, clock, date and plural, and nothing else"},
		"If":          {"it.tmpl", define("from", "{{if .agent}}x{{end}}"), "it.tmpl:2: from: a text can hold fields"},
		"Printf":      {"it.tmpl", define("from", `{{printf "%q" .agent}}`), "it.tmpl:2: from: printf cannot be used; known: at, by, until, since, clock, date and plural"},
		"Pipe":        {"it.tmpl", define("from", `{{.agent | html}}`), "it.tmpl:2: from: a text can hold no variables and no |"},
		"Dot":         {"it.tmpl", define("from", `{{.}} {{.agent}}`), "it.tmpl:2: from: a field is written {{.name}}"},
		"Kind":        {"it.tmpl", define("from", `{{at .agent}}`), "it.tmpl:2: from: the field .agent is a text, not a time"},
		"PluralArgs":  {"it.tmpl", define("cut", `{{plural .left "x"}}`), `it.tmpl:2: cut: write {{plural .n "one" "many"}}`},
		"Same":        {"it.tmpl", define("button.deny", "Consenti una  volta"), "it.tmpl: button.deny reads the same as button.allow; a person must tell them apart"},
		"SameState":   {"it.tmpl", define("state.denied", "✅ Consentita una volta da {{.by}} {{at .when}}"), "it.tmpl: state.denied reads the same as state.allowed; a person must tell them apart"},
		"LongButton":  {"it.tmpl", define("button.deny", strings.Repeat("No ", 20)), "it.tmpl:2: button.deny: the text has about 60 characters; at most 40 are allowed here"},
		"Lines":       {"it.tmpl", define("from", "Da\n{{.agent}}"), "it.tmpl:2: from: the text has several lines; it must have one"},
		"Huge":        {"it.tmpl", strings.Repeat(" ", 1<<20+1), "it.tmpl: has 1048577 bytes; 1048576 are the most"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := templates.Load(folder(tt.file, tt.body))
			le, ok := errors.AsType[*templates.LoadError](err)
			if !ok || len(le.Mistakes) != 1 || !strings.Contains(le.Error(), tt.want) {
				t.Errorf("tells\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// TestAllMistakesAreTold checks that all mistakes are reported at once.
func TestAllMistakesAreTold(t *testing.T) {
	t.Parallel()
	_, err := templates.Load(folder("en.tmpl", `{{define "x"}}x{{end}}{{define "button.deny"}}{{end}}`, "it.tmpl", `{{define "from"}}x{{end}}`))
	le, ok := errors.AsType[*templates.LoadError](err)
	if !ok || len(le.Mistakes) != 3 {
		t.Errorf("tells %v", err)
	}
	_, err = templates.Load(folder("it.tmpl", `{{define "button.deny"}}{{end}}{{define "button.allow"}}{{end}}`))
	if le, ok := errors.AsType[*templates.LoadError](err); !ok || len(le.Mistakes) != 2 {
		t.Errorf("of two empty texts it tells %v", err)
	}
	_, err = templates.Load(os.DirFS(filepath.Join(t.TempDir(), "none")))
	if le, ok := errors.AsType[*templates.LoadError](err); !ok || len(le.Mistakes) != 1 || !strings.Contains(le.Error(), "the folder of texts: cannot be read") {
		t.Errorf("of a folder that there is not it tells %v", err)
	}
}

// TestOnlyASlipIsCorrected checks that another text is proposed only where what was written is
// near it.
func TestOnlyASlipIsCorrected(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"buton.allwo": `it.tmpl:1: there is no text "buton.allwo"; did you mean "button.allow"?`,
		"card.alow":   `it.tmpl:1: there is no text "card.alow"`,
		"hello.world": `it.tmpl:1: there is no text "hello.world"`,
	} {
		if _, err := templates.Load(folder("it.tmpl", `{{define "`+written+`"}}x{{end}}`)); err == nil || err.Error() != want {
			t.Errorf("%s: told %v, want %s", written, err, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]templates.Lang{"it": "it", "it-CH": "it", " IT ": "it", "en-GB": "en", "de": "", "": "", "italian": ""} {
		if got, ok := templates.Language(tag); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %v", tag, got, ok)
		}
	}
}

// FuzzOverride checks that whatever is in a folder, loading ends: with mistakes, or with
// texts that all say something.
func FuzzOverride(f *testing.F) {
	for _, s := range []string{
		`{{define "button.deny"}}No{{end}}`, `{{define "from"}}{{.agent}}{{.agent}}{{end}}`, `{{define "cut"}}{{plural .left "a" "b"}}{{end}}`,
		`{{define "until"}}{{at .when}}{{by .when}}{{.id}}{{end}}`, `{{define "x"}}{{template "x"}}{{end}}`, `{{define "from"}}{{with .agent}}{{.}}{{end}}{{end}}`,
		`{{block "from" .}}{{end}}`, `{{/*`, `{{define "from"}}{{break}}{{end}}`, "{{define \"from\"}}{{- .agent -}}{{end}}", `{{define "from"}}{{.agent.x}}{{end}}`,
	} {
		f.Add(s)
	}
	samples, override := templates.Samples(), templates.Overrider()
	f.Fuzz(func(t *testing.T, body string) {
		it, mistakes := override(body)
		if len(mistakes) > 0 {
			return
		}
		for key, values := range samples {
			if got := strings.TrimSpace(it.Plain(key, values)); it.Has(key) && (got == "" || strings.HasPrefix(got, "["+string(key)+"]")) {
				t.Errorf("%s says %q", key, got)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := templates.Load(fstest.MapFS{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSay(b *testing.B) {
	set, err := templates.Load(nil)
	if err != nil {
		b.Fatal(err)
	}
	it, now := set.In(templates.Italian, time.UTC), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		it.Say("state.allowed", templates.Values{"by": templates.Theirs("Ann"), "when": now})
	}
}

// TestNumbersAreWrittenAsTheReaderWritesThem checks what is formatted apart from any text.
func TestNumbersAreWrittenAsTheReaderWritesThem(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	type said struct{ Score, Number, Weekday, Undo, Unheard string }
	for lang, want := range map[templates.Lang]said{
		templates.English: {"0.25", "1,234", "Sun", "", ""},
		templates.Italian: {"0,25", "1.234", "dom", "non si può annullare, tocca ciò che usano anche altri", ""},
	} {
		texts := set.In(lang, time.UTC)
		got := said{
			texts.Score(0.25), texts.Number(1234), texts.Weekday(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)),
			texts.Undo("irreversible", "shared"), texts.Undo("irreversible", "unheard of") + texts.Undo("unheard of", "shared"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", lang, diff)
		}
	}
}
