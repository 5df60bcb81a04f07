package wording_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio/wording"
)

func TestIn(t *testing.T) {
	t.Parallel()
	other := func(p wording.Phrase) (string, bool) {
		said, ok := map[wording.Phrase]string{
			"deletes": "löscht", "deletes %s": "löscht %s", "%s files below %s": "%s Dateien unter %s", "on %s": "auf %s", wording.Something: "etwas",
			"; it can be undone": "; das geht zurück", "changes the cluster: %s": "ändert den Cluster: %s",
		}[p]
		return said, ok
	}
	files := wording.Say("%s files below %s", "297", "/backup")
	for _, r := range []struct {
		name, english, want string
		said                wording.Sentence
		ok                  bool
	}{
		{"a phrase and a thing", "Deletes /x", "Löscht /x", wording.Sentence{{Phrase: "deletes"}, {Text: "/x"}}, true},
		{"a phrase about a phrase", "Deletes 297 files below /backup on db", "Löscht 297 Dateien unter /backup auf db", wording.Sentence{{Phrase: "deletes %s", Args: []wording.Clause{files}}, wording.Say("on %s", "db")}, true},
		{"a name that begins like punctuation", "Deletes .env; it can be undone", "Löscht .env; das geht zurück", wording.Sentence{{Phrase: "deletes"}, {Text: ".env"}, {Phrase: "; it can be undone"}}, true},
		{"a verb without a name", "Deletes something", "Löscht etwas", wording.Sentence{wording.Say("deletes %s", "")}, true},
		{"a gap that closes", "Changes the cluster", "Ändert den Cluster", wording.Sentence{wording.Say("changes the cluster: %s", "")}, true},
		{"fewer things than places", "Deletes something", "Löscht etwas", wording.Sentence{{Phrase: "deletes %s"}}, true},
		{"signs without words", "Deletes (x)", "Löscht (x)", wording.Sentence{{Phrase: "deletes"}, wording.Say("(%s)", "x")}, true},
		{"an unknown phrase", "Erases x", "Erases x", wording.Sentence{{Phrase: "erases"}, {Text: "x"}}, false},
		{"nothing", "", "", nil, false},
	} {
		if got, _ := r.said.In(wording.English); got != r.english {
			t.Errorf("%s: %q, want %q", r.name, got, r.english)
		}
		if got, ok := r.said.In(other); got != r.want || ok != r.ok {
			t.Errorf("%s: %q %v, want %q %v", r.name, got, ok, r.want, r.ok)
		}
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	said := wording.Sentence{{Phrase: "deletes"}, {Text: "a"}, {Phrase: "on %s", Args: []wording.Clause{wording.Say("the host %s", "b")}}}
	if got := said.Each(func(s string) string { return s + s }).String(); got != "deletes aa on the host bb" {
		t.Errorf("%q", got)
	}
	if said.String() != "deletes a on the host b" {
		t.Errorf("it was changed in place: %q", said)
	}
}
