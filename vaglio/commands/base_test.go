package commands

import (
	"strings"
	"testing"
)

func TestTableMistakes(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"outside":  "status = read",
		"unclosed": "[git\nstatus = read",
		"kind":     "[git]\nstatus = reads",
		"word":     "[git]\nstatus = delete forever",
		"noeffect": "[git]\nstatus",
		"attr":     "[git] walues=-C\nstatus = read",
		"test":     "[git]\nstatus @ = read",
	} {
		if err := newBase().read("x.txt", text); err == nil || !strings.HasPrefix(err.Error(), "x.txt:") {
			t.Errorf("%s: got %v, want an error with file, line and column", name, err)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	sec, err := newBase().newSection("values=-n,--mode")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pattern, words string
		took           int
		want           bool
	}{
		{"get|list", "list x", 1, true},
		{"get", "-n get list", 0, false},
		{"a b", "a --x b", 2, true},
		{"a b_c|d", "a b c", 3, true},
		{"a $", "a", 1, true},
		{"a $", "a b", 0, false},
		{"rm -f|--force", "rm -rf x", 1, true},
		{"rm !-f|--force", "rm -f x", 0, false},
		{"--mode=dry|test", "--mode test a", 0, true},
		{"--mode=dry|test", "--mode=live a", 0, false},
		{"--help|-h|--version", "copy -h a", 0, false},
		{"--help|-h|--version", "-h", 0, true},
		{"~secret|token", "get my-Token", 0, true},
		{"list-*", "list-things", 1, true},
		{"*", "", 0, false},
		{".", "", 0, true},
		{"a", "-- a", 1, true},
	} {
		tests, err := parseTests(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		took, ok := Line{tests: tests}.Match(Parse(strings.Fields(c.words), sec), 0)
		if ok != c.want || took != c.took {
			t.Errorf("%q on %q: %d, %t; want %d, %t", c.pattern, c.words, took, ok, c.took, c.want)
		}
	}
}

// TestWhatMayRunTheProject separates commands that may run the files of a folder from those
// that work elsewhere.
func TestWhatMayRunTheProject(t *testing.T) {
	t.Parallel()
	b, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{
		"npm test": true, "make": true, "frobnicate x": true, "true": false,
		"docker exec web ls": false, "docker container exec web ls": false, "docker-compose exec web ls": false, "ls": false,
	} {
		if words := strings.Fields(line); b.RunsProject(words[0], words[1:]) != want {
			t.Errorf("%s: want %t", line, want)
		}
	}
}
