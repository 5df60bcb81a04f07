package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const clientServers = `{
  // mine
  "numStartups": 7,
  "mcpServers": {
    "notes": {
      "command": "npx",
      "args": ["-y", "@x/server", "a b"], // keep
      "env": {"TOKEN": "t"},
    },
    "bare": {"command": "/opt/server"},
    "lines": {
      "type": "stdio",
      "args": [
        "one"
      ],
      "command": "uvx"
    },
    "far": {"url": "https://x.example/mcp"},
  },
  "projects": {"/p": {"mcpServers": {"here": {"command": "node", "args": []}}}}
}
`

func wrappedFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrapAndUnwrap(t *testing.T) {
	t.Parallel()
	path := wrappedFile(t, clientServers)
	s, err := Wrap(path, Options{Program: "/usr/bin/vaglio"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		`"command": "npx",
      "args": ["-y", "@x/server", "a b"]`, `"command": "/usr/bin/vaglio",
      "args": ["mcp", "--name", "notes", "--", "npx", "-y", "@x/server", "a b"]`,
		`{"command": "/opt/server"}`, `{"command": "/usr/bin/vaglio","args": ["mcp", "--name", "bare", "--", "/opt/server"]}`,
		`
        "one"
      ],
      "command": "uvx"`, `
        "mcp", "--name", "lines", "--", "uvx",
        "one"
      ],
      "command": "/usr/bin/vaglio"`,
		`{"command": "node", "args": []}`, `{"command": "/usr/bin/vaglio", "args": ["mcp", "--name", "here", "--", "node"]}`,
	).Replace(clientServers)
	if got := string(s.Change.After); got != want {
		t.Errorf("wrapped:\n%s\nwant:\n%s", got, want)
	}
	if strings.Join(s.Gated, " ") != "notes bare lines here" || strings.Join(s.Left, " ") != "far" {
		t.Errorf("gated %v, left %v", s.Gated, s.Left)
	}
	if err := s.Change.Write(); err != nil {
		t.Fatal(err)
	}
	if s, err = Wrap(path, Options{Program: "/usr/bin/vaglio"}); err != nil || s.Change.Changes() {
		t.Errorf("wrapping twice changes something: %v", err)
	}
	if s, err = Unwrap(path); err != nil || string(s.Change.After) != clientServers {
		t.Errorf("unwrapped: %v\n%s", err, s.Change.After)
	}
	// If somebody has changed the file meanwhile, only our part is removed.
	edited := strings.Replace(want, `"numStartups": 7`, `"numStartups": 8`, 1)
	if err := os.WriteFile(path, []byte(edited), 0o640); err != nil {
		t.Fatal(err)
	}
	if s, err = Unwrap(path); err != nil {
		t.Fatal(err)
	}
	back := strings.Replace(strings.Replace(clientServers, `"numStartups": 7`, `"numStartups": 8`, 1), `{"command": "/opt/server"}`, `{"command": "/opt/server","args": []}`, 1)
	if got := string(s.Change.After); got != back {
		t.Errorf("unwrapped:\n%s\nwant:\n%s", got, back)
	}
}

func TestWrapLeavesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"mcpServers": {"a": }`:             "line 1, column 22",
		`{"mcp": {}}`:                        `neither "mcpServers" nor "servers"`,
		`[]`:                                 `neither "mcpServers" nor "servers"`,
		`{"servers": {"a": 7}}`:              `"a" is not an object`,
		`{"servers": {"a": {"command": 7}}}`: `"command" that is not a text`,
		`{"servers": {"a": {"command": "x", "args": "y"}}}`:     `"args" that are not a list`,
		`{"servers": {"a": {"command": "x", "args": ["y",1]}}}`: `"args" that are not texts`,
	} {
		path := wrappedFile(t, text)
		if _, err := Wrap(path, Options{Program: "/usr/bin/vaglio"}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Wrap(filepath.Join(t.TempDir(), "none"), Options{Program: "/usr/bin/vaglio"}); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("a missing file: %v", err)
	}
}
