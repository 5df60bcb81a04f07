package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/getopt"
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
		"letter":   "[a b c d e] else=power\n-l = read",
	} {
		if err := newBase().read("x.txt", text); err == nil || !strings.HasPrefix(err.Error(), "x.txt:") {
			t.Errorf("%s: got %v, want an error with file, line and column", name, err)
		}
	}
	for text, file := range map[string]string{"things": "nouns.txt", "read": "verbs.txt", "reads = x": "verbs.txt"} {
		if err := newBase().read(file, "\n"+text); err == nil || !strings.HasPrefix(err.Error(), file+":2:1: ") {
			t.Errorf("%s, %q: got %v, want an error with file, line and column", file, text, err)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	b := newBase()
	for _, c := range []struct {
		pattern, words string
		took           int
		want           bool
	}{
		{"get|list", "list x", 1, true},
		{"get", "-m get list", 0, false},
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
		{"--help|-h|--version", "-h -f x", 0, false},
		{"--help|-h|--version", "-hf", 0, false},
		{"-l only:", "-l", 0, true},
		{"-l only:", "-l a", 0, true},
		{"-l only:", "-l -v", 0, false},
		{"-l only:-v", "-lv a", 0, true},
		{"-l only:-v", "-lvx a", 0, false},
		{"-l only:-v", "-v a", 0, false},
		{"-l only:-v|--mode", "-l --mode=x", 0, true},
		{"-l only:-v|--mode", "-l --modes", 0, false},
		{"--mode=*", "--mode=live", 0, true},
		{"--mode=*", "--mode", 0, false},
		{"~secret|token", "get my-Token", 0, true},
		{"~secret|token", "get ecret", 0, false},
		{"get|~secret", "x secret", 0, true},
		{"get|~secret", "x ecret", 0, false},
		{"only:-a -b", "-a -b", 0, true},
		{"only:-a -b", "-a -b -c", 0, false},
		{"list-*", "list-things", 1, true},
		{"*", "", 0, false},
		{".", "", 0, true},
		{"a", "-- a", 1, true},
	} {
		tests, err := parseTests(c.pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		var p Parsed
		b.Parse(&p, "mkdir", strings.Fields(c.words))
		took, ok := Line{tests: tests}.Match(&p, 0)
		if ok != c.want || took != c.took {
			t.Errorf("%q on %q: %d, %t; want %d, %t", c.pattern, c.words, took, ok, c.took, c.want)
		}
		if beyond := p.Operand(len(p.Operands)); beyond != "" {
			t.Errorf("%q: %q stands behind the last operand", c.words, beyond)
		}
	}
}

// TestAGuessedValueProvesNothing checks that a word behind what may be an abbreviation is among those on
// which something is done, and not among those of which a fact must be known.
func TestAGuessedValueProvesNothing(t *testing.T) {
	t.Parallel()
	b := load(t)
	host := where{kind: whereValue, flags: []flagTest{{name: "-h"}, {name: "--host", abbrev: true}}}
	for words, want := range map[string][2]int{
		"--host localhost x": {1, 1}, "--host=localhost x": {1, 1}, "-h localhost x": {1, 1}, "--hos=localhost x": {1, 1},
		"--hos localhost x": {0, 1}, "--username localhost x": {0, 0},
	} {
		var p Parsed
		b.Parse(&p, "createdb", strings.Fields(words))
		if got := [2]int{len(p.spots(&host, 0)), len(p.valueSpots(host.flags, true))}; got != want {
			t.Errorf("createdb %s: %d values are known, and %d may be, want %d", words, got[0], got[1], want)
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
		"bash x.sh": false, "python3 x.py": true, "python3 -V": false, "python3": false, "convert a b": false,
		"docker exec web ls": false, "docker container exec web ls": false, "docker-compose exec web ls": false, "ls": false,
	} {
		if words := strings.Fields(line); b.RunsProject(words[0], words[1:]) != want {
			t.Errorf("%s: want %t", line, want)
		}
	}
}

// TestOptionsTakeValues checks that each option to whose value something is done takes one
// according to the table of options, at least in one of the section's programs.
func TestOptionsTakeValues(t *testing.T) {
	t.Parallel()
	b := load(t)
	programs := map[*Section][]string{}
	for _, of := range []map[string][]*Section{b.Judged, b.acting} {
		for name, sections := range of {
			for _, sec := range sections {
				programs[sec] = append(programs[sec], strings.TrimPrefix(name, "also:"))
			}
		}
	}
	for sec, names := range programs {
		places := slices.Concat(sec.Else.of, sec.Else.with)
		for i := range sec.Lines {
			places = slices.Concat(places, sec.Lines[i].Then.of, sec.Lines[i].Then.with)
		}
		for i := range sec.acts {
			places = slices.Concat(places, sec.acts[i].where, sec.acts[i].with)
		}
		options := slices.Concat(sec.below, sec.target)
		for i := range places {
			options = append(options, places[i].flags...)
		}
		for _, option := range options {
			takes := func(name string) bool { return strings.HasPrefix(name, "(") || getopt.Of(name).Takes(option.name) }
			if !slices.ContainsFunc(names, takes) {
				t.Errorf("%s takes no value: %s", option.name, names)
			}
		}
	}
}
