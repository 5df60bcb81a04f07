package mask_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSecretsInListsOfWords checks that secrets in a list of arguments are found by their
// position, with the program in the list or beside it, and that what stands there without
// being a secret is left.
func TestSecretsInListsOfWords(t *testing.T) {
	t.Parallel()
	words := func(all ...any) []any { return all }
	for _, row := range []struct {
		args  map[string]any
		shown bool
	}{
		{map[string]any{"argv": words("mysql", "-u", "root", "-phunter2x", "shop")}, false},
		{map[string]any{"argv": words("sudo", "mysql", "-phunter2x")}, false},
		{map[string]any{"command": "mysql", "args": words("-u", "root", "-phunter2x", "shop")}, false},
		{map[string]any{"command": "/usr/bin/redis-cli", "args": words("-a", "hunter2x")}, false},
		{map[string]any{"command": words("docker", "login", "-u", "me", "-p", "hunter2x")}, false},
		{map[string]any{"command": "curl", "args": words("-u", "me:hunter2x", "https://x")}, false},
		{map[string]any{"program": "ssh-keygen", "arguments": words("-t", "ed25519", "-N", "hunter2x")}, false},
		{map[string]any{"argv": words("cf", "login", "-u", "me", "-p", "hunter2x")}, false},
		{map[string]any{"command": "mkdir", "args": words("-p", "hunter2x")}, true},
		{map[string]any{"command": "mysql", "args": words("-p", "hunter2x")}, true},
		{map[string]any{"command": "docker", "args": words("run", "-p", "8080:80", "hunter2x")}, true},
		{map[string]any{"tags": words("mysql", "hunter2x", "redis-cli")}, true},
		{map[string]any{"argv": words("git", "commit", "-m", "it's `hunter2x`\n")}, true},
		{map[string]any{"argv": words("mysql", 1, "-phunter2x")}, true},         // not a list of words
		{map[string]any{"note": "curl -u", "args": words("me:hunter2x")}, true}, // no program
		{map[string]any{"argv": words()}, true},
	} {
		before, got := fmt.Sprint(row.args), fmt.Sprint(masker.Object(row.args))
		if row.shown && got != before && len(row.args) > 0 || !row.shown && strings.Contains(got, "hunter2x") {
			t.Errorf("%s became %s", before, got)
		}
		if again := fmt.Sprint(masker.Object(masker.Object(row.args))); again != got {
			t.Errorf("masked twice, %s became %s", got, again)
		}
	}
}
