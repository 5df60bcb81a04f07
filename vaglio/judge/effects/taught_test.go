package effects_test

import (
	"errors"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestTaughtPrograms checks that the owner's word says how far an unknown program reaches, under
// its plain name only, and never makes a known program reach less.
func TestTaughtPrograms(t *testing.T) {
	j, err := effects.New(effects.Options{Home: testHome, User: "ann", Programs: map[string]effects.Reach{
		"tix": effects.ReachWorkspace, "shipctl": effects.ReachShared, "rm": effects.ReachWorkspace, "make": effects.ReachShared,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for line, asked := range map[string]bool{
		"tix ready":                      false,
		"cd sub && tix create --title x": false,
		"tix show ~/.aws/credentials":    true,
		"tix close 7; otherctl x":        true,
		"shipctl roll web":               true,
		"shipctl list":                   false,
		"/tmp/tix ready":                 true,
		"bdx ready":                      true,
		"sudo tix ready":                 true,
		"tix ready > ~/.bashrc":          true,
		"ssh prod tix ready":             true,
	} {
		got, err := j.Grade(t.Context(), vaglio.Proposal{
			Executor: "bash", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: testHome + "/app"},
		})
		if err != nil || (got.Score < effects.Threshold) != asked {
			t.Errorf("%s: score %.2f (%s), %v; want it asked: %t", line, got.Score, got.Reasoning, err, asked)
		}
	}
	_, err = effects.New(effects.Options{Programs: map[string]effects.Reach{"": effects.ReachWorkspace, "a b": effects.ReachUser, "x": "far"}})
	var mistake *effects.ProgramError
	if many, ok := err.(interface{ Unwrap() []error }); !ok || len(many.Unwrap()) != 3 || !errors.As(err, &mistake) {
		t.Errorf("got %v, want three mistakes", err)
	}
}

// TestBuiltBySession checks that what the session built may run from among temporary files, until
// something else takes its place.
func TestBuiltBySession(t *testing.T) {
	j := newJudge(t)
	const app = "/tmp/app"
	for name, c := range map[string]struct {
		facts vaglio.Facts
		asked bool
	}{
		"Nothing":    {nil, true},
		"Built":      {vaglio.Facts{{Deed: vaglio.Built, Path: app}}, false},
		"Other":      {vaglio.Facts{{Deed: vaglio.Built, Path: "/tmp/other"}}, true},
		"Wrote":      {vaglio.Facts{{Deed: vaglio.Wrote, Path: app}}, true},
		"Fetched":    {vaglio.Facts{{Deed: vaglio.Built, Path: app}, {Deed: vaglio.Fetched, Path: app}}, true},
		"MovedThere": {vaglio.Facts{{Deed: vaglio.Built, Path: app}, {Deed: vaglio.Moved, Path: app}}, true},
		"BuiltAnew":  {vaglio.Facts{{Deed: vaglio.Wrote, Path: app}, {Deed: vaglio.Built, Path: app}}, false},
	} {
		got, err := j.Grade(t.Context(), vaglio.Proposal{
			Executor: "bash", Args: vaglio.Args{"command": app + " --port 8080"}, Context: vaglio.Context{Cwd: testHome + "/app"}, Facts: c.facts,
		})
		if err != nil || (got.Score < effects.Threshold) != c.asked {
			t.Errorf("%s: score %.2f (%s), %v; want it asked: %t", name, got.Score, got.Reasoning, err, c.asked)
		}
	}
}
