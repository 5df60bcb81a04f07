package main

import (
	"bytes"
	"os"
	"testing"
)

// The rules of vaglio/mask are those of the gitleaks version in go.mod.
func TestRulesAreFresh(t *testing.T) {
	kept, err := os.ReadFile("../../vaglio/mask/rules.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	if err := writeRules(&made); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, made.Bytes()) {
		t.Error("vaglio/mask/rules.jsonl is not what the rules are now: run make secrets")
	}
}
