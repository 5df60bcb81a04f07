package templates_test

import (
	"errors"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio/wording"
)

func TestPhrasesAreSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	said := wording.Sentence{
		{Phrase: "deletes"}, {Text: "/srv/db"}, {Phrase: "outside the workspace"}, {Phrase: "; it cannot be undone,"}, {Phrase: "and others are affected"}, {Phrase: "."},
	}
	const english = "Deletes /srv/db outside the workspace; it cannot be undone, and others are affected."
	set, err := templates.Load(fstest.MapFS{"it.phrases": {Data: []byte("deletes\n\telimina\n")}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	newer := append(wording.Sentence{{Phrase: "unheard of"}}, said...)
	unheard, _ := newer.In(wording.English)
	for _, r := range []struct {
		name          string
		texts         *templates.Texts
		message, want string
		said          wording.Sentence
		ok            bool
	}{
		{"English", plain.In(templates.English, time.UTC), english, english, said, true},
		{"Italian", plain.In(templates.Italian, time.UTC), english, "Cancella /srv/db fuori dalla cartella di lavoro; non si può annullare, e tocca ciò che usano anche altri.", said, true},
		{"a folder's own words", set.In(templates.Italian, time.UTC), english, "Elimina /srv/db fuori dalla cartella di lavoro; non si può annullare, e tocca ciò che usano anche altri.", said, true},
		{"another message than the sentence", plain.In(templates.Italian, time.UTC), "It is harmless.", "It is harmless.", said, false},
		{"a phrase of a later release", plain.In(templates.Italian, time.UTC), unheard, unheard, newer, false},
		{"an older record", plain.In(templates.Italian, time.UTC), english, english, nil, false},
		{"fixed words", plain.In(templates.Italian, time.UTC), "It only reads.", "Legge soltanto.", nil, true},
	} {
		if got, ok := r.texts.Said(r.message, r.said); got != r.want || ok != r.ok {
			t.Errorf("%s: %q %v, want %q %v", r.name, got, ok, r.want, r.ok)
		}
	}
}

// TestAPhraseOfALaterReleaseIsSaidInEnglish says a sentence that the reader's language lacks a
// phrase of.
func TestAPhraseOfALaterReleaseIsSaidInEnglish(t *testing.T) {
	t.Parallel()
	set := load(t)
	parts, ok := set.In(templates.Italian, time.UTC).Sentence(wording.Sentence{{Phrase: "unheard of"}, {Text: "/srv/db"}})
	if want := []templates.Part{{"Unheard of ", false}, {"/srv/db", true}}; ok || cmp.Diff(want, parts) != "" {
		t.Errorf("%+v %v, want %+v", parts, ok, want)
	}
	if of := set.Phrases("xx"); of != nil {
		t.Errorf("an unknown language has %d phrases", len(of))
	}
}

// TestArticlesAreJoined checks that Italian prepositions are contracted with the articles
// of the phrases that follow them, and that what others wrote stays as it is.
func TestArticlesAreJoined(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	said := func(joint, second wording.Phrase) wording.Sentence {
		return wording.Sentence{
			{Phrase: "removes %s", Args: []wording.Clause{wording.Say("the user %s", "via da il mare")}},
			{Phrase: joint, Args: []wording.Clause{wording.Say(second, "x")}},
		}
	}
	for want, s := range map[string]wording.Sentence{
		"Rimuove l’utente via da il mare dal team x":            said("from %s", "the team %s"),
		"Rimuove l’utente via da il mare dall’organizzazione x": said("from %s", "the organization %s"),
		"Rimuove l’utente via da il mare nella tabella x":       said("in %s", "the table %s"),
		"Rimuove l’utente via da il mare allo stack x":          said("to %s", "the stack %s"),
		"Rimuove l’utente via da il mare delle pagine x":        said("of %s", "the pages %s"),
		"Rimuove l’utente via da il mare in «x»":                said("in %s", "%s"),
	} {
		parts, ok := set.In(templates.Italian, time.UTC).Sentence(s)
		got := ""
		for _, p := range parts {
			got += p.Text
		}
		if got != want || !ok {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMistakesInPhrases(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"deletes\n":                  `it.phrases:1: the phrase "deletes" has no translation`,
		"deletes\ncreates\n\tcrea\n": `it.phrases:1: the phrase "deletes" has no translation`,
		"\n\tcancella\n":             "it.phrases:2: there is no phrase before this translation",
		"deletes\n\tcancella %s\n":   `it.phrases:2: "deletes" is about 0 things, its translation about 1`,
		"moves %s away from where it lies\n\tsposta via\n":    `it.phrases:2: "moves %s away from where it lies" is about 1 things, its translation about 0`,
		"moves %s away from where it lies\n\tsposta via %d\n": "it.phrases:2: a % stands for nothing; a thing that the phrase is about is %s",
		"deletes\n\tcancella\ndeletes\n\tleva\n":              `it.phrases:3: the phrase "deletes" stands here twice`,
		"deletes\n\tcan\u200bcella\n":                         "it.phrases:2: holds a character that cannot be seen, or is not UTF-8\nit.phrases:1: the phrase \"deletes\" has no translation",
		"erases\n\tcancella\n":                                `it.phrases: there is no phrase "erases"`,
	} {
		_, err := templates.Load(fstest.MapFS{"it.phrases": {Data: []byte(body)}})
		if wrong, ok := errors.AsType[*templates.LoadError](err); !ok || wrong.Error() != want {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
	_, err := templates.Load(fstest.MapFS{"en.phrases": {Data: []byte("deletes\n\tremoves\n")}})
	if err == nil {
		t.Error("English phrases are the engine's own, and none can stand instead")
	}
}

// TestManyTextsInOneSentence checks that each text of somebody else comes back in its own
// place, however many a sentence holds.
func TestManyTextsInOneSentence(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	said := wording.Sentence{{Phrase: "deletes"}}
	want := []string{}
	for n := range 2000 {
		want = append(want, "/srv/"+strconv.Itoa(n))
		said = append(said, wording.Clause{Text: want[n]})
	}
	for _, lang := range templates.Langs() {
		parts, ok := set.In(lang, time.UTC).Sentence(said)
		got := []string{}
		for _, p := range parts {
			if p.Theirs {
				got = append(got, p.Text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s, all translated %v (-want +got):\n%s", lang, ok, diff)
		}
	}
}
