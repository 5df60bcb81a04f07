package main

import "testing"

// Each row of the list of changes that no test could notice matches a change that can be made: if a
// line is rewritten, it must be judged anew.
func TestEquivalentChangesCanBeMade(t *testing.T) {
	o := options{root: "../.."}
	groups, err := readTargets(o.root, "targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	same, err := readEquivalent("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if _, err := g.mutants(o, same); err != nil {
			t.Fatal(err)
		}
	}
	for key, met := range same.met {
		if !met {
			t.Error(key)
		}
	}
}
