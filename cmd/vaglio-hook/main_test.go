package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheHookLinksNothingOfTheEngine keeps the program small that every tool call
// of an agent starts: what it links is initialised each time.
func TestTheHookLinksNothingOfTheEngine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 20 {
		t.Fatalf("only %v", packages)
	}
	const ours = "github.com/metnos/vaglio/"
	for _, p := range packages {
		rest, own := strings.CutPrefix(p, ours)
		switch first, _, _ := strings.Cut(p, "/"); {
		case own:
			if !strings.HasPrefix(rest, "gateway/") && !strings.HasPrefix(rest, "internal/") && rest != "cmd/vaglio-hook" {
				t.Errorf("links %s", p)
			}
		case strings.Contains(first, ".") && !strings.HasPrefix(p, "golang.org/x/sys") && !strings.HasPrefix(p, "github.com/go-json-experiment/json"):
			t.Errorf("links %s", p)
		}
	}
}
