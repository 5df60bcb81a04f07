package channeltest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rows are the things a platform may do, as its document puts them, by the case that proves
// what the document says.
func rows() map[string]string {
	return map[string]string{
		"ARoomThatWasShutShowsWhatIsTrue":    "The room is shut",
		"ACardThatIsMissedComesBack":         "A card is deleted",
		"WordsInAnyFormDeny":                 "Somebody writes to the card",
		"ARateLimitSaysWhenToComeBack":       "It asks for a pause",
		"AnOutageIsTriedAgainAndPasses":      "It cannot be reached",
		"ARefusedDecorationDelaysNoPress":    "It refuses menus",
		"APressThatComesLateIsToldSo":        "A press comes late",
		"ATapDecidesOnceAndIsToldTruthfully": "Two people press",
		"ARestartForgetsNothing":             "Vaglio starts again",
		"APressWaitsForNoSpeech":             "Thousands of messages come, or a picture hangs",
		"AForgedTestPressWipesNoCard":        "A press is forged",
		"WhoIsMissingIsSaid":                 "It takes several people, or another route is asked",
	}
}

// columns is the number of parts into which the separators cut a table row of two cells.
const columns = 4

// heading begins the section of a document that has the table.
const heading = "## Whatever the platform does\n"

// documented checks the document of a platform against the table: each row that a case
// proves is there, with each way in which it happens on that platform, and nothing else is.
func documented(t *testing.T, h Harness, cases []string) {
	t.Helper()
	text, err := os.ReadFile(h.Document)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), heading)
	if !ok {
		t.Fatalf("%s has no section %q", h.Document, strings.TrimSpace(heading))
	}
	section, _, _ = strings.Cut(section, "\n## ")
	said := map[string][]string{}
	way := regexp.MustCompile(`\*([^*]+)\*`)
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < columns || strings.HasPrefix(cells[1], "---") {
			continue
		}
		lead, ways, _ := strings.Cut(strings.TrimSpace(cells[1]), ":")
		said[lead] = []string{}
		for _, m := range way.FindAllStringSubmatch(ways, -1) {
			said[lead] = append(said[lead], m[1])
		}
	}
	delete(said, "what happens")
	happens := map[string][]string{
		"The room is shut":            slices.Collect(maps.Keys(h.Rooms)),
		"A card is deleted":           slices.Collect(maps.Keys(h.Misses)),
		"Somebody writes to the card": slices.Collect(maps.Keys(h.Says)),
		"It refuses menus":            slices.Collect(maps.Keys(h.Decorate)),
	}
	for proof, lead := range rows() {
		ways, ok := said[lead]
		if !slices.Contains(cases, proof) || !ok {
			t.Errorf("the row %q has its case %s: %v; it is in %s: %v", lead, proof, slices.Contains(cases, proof), h.Document, ok)
		}
		if slices.Sort(ways); !slices.Equal(ways, slices.Sorted(slices.Values(happens[lead]))) {
			t.Errorf("%s says of %q: %q; the harness does %q", h.Document, lead, ways, happens[lead])
		}
		delete(said, lead)
	}
	for lead, proof := range h.Proven {
		if _, ok := said[lead]; !ok || !proves(t, proof) {
			t.Errorf("the row %q is in %s: %v; it needs it, and the test %s", lead, h.Document, ok, proof)
		}
		delete(said, lead)
	}
	for lead := range said {
		t.Errorf("%s says %q, which no case proves", h.Document, lead)
	}
}

// proves reports whether the package under test has the test.
func proves(t *testing.T, name string) bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)")
	})
}
