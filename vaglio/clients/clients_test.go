package clients

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
)

var update = flag.Bool("update", false, "write the published types' names anew")

// typed are the files of the names that clients' packages publish, and how many tools each
// holds at least.
var typed = map[string]struct {
	file  string
	least int
}{"claude-code": {"testdata/claude-code.txt", 40}, "openclaw": {"testdata/openclaw.txt", 100}}

// toolOf returns the tool whose arguments a published type describes.
func toolOf(name string) string {
	switch name {
	case "FileRead", "FileWrite", "FileEdit":
		return strings.TrimPrefix(name, "File")
	case "Mcp":
		return "mcp__server__tool"
	default:
		return name
	}
}

// TestTypes compares the tables with what is published: every tool and every argument has an
// entry.
func TestTypes(t *testing.T) {
	set, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for client, published := range typed {
		data, err := os.ReadFile(published.file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for l := range strings.Lines(string(data)) {
			words := strings.Fields(l)
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			n++
			tool := set.Tool(client, toolOf(words[0]))
			if tool == nil {
				t.Errorf("%s: the table lacks %s", client, words[0])
				continue
			}
			for _, key := range words[1:] {
				key, text := strings.CutSuffix(key, ":text")
				_, role := tool.Read.Args[key]
				role = role && tool.Read.Args[key] != reading.RoleData || !role && slices.Contains(tool.keys, key) // of its shape
				switch {
				case !slices.Contains(tool.keys, key):
					t.Errorf("%s: the table lacks the argument %s of %s", client, key, words[0])
				case client == "claude-code" && role && text != slices.Contains(tool.Read.Texts, key):
					t.Errorf("%s: of %s of %s, that it is a text: %t", client, key, words[0], text)
				}
			}
		}
		if n < published.least {
			t.Errorf("%s holds %d tools, want at least %d", published.file, n, published.least)
		}
	}
}

// TestTablesAreOfTheVersionsThatArePinned holds that a table describes the version of its
// client that `make agents` installs.
func TestTablesAreOfTheVersionsThatArePinned(t *testing.T) {
	pinned, err := os.ReadFile("../../gateway/hook/agents/package.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, pkg := range map[string]string{
		"claude-code": "@anthropic-ai/claude-code", "codex": "@openai/codex", "copilot": "@github/copilot",
		"gemini": "@google/gemini-cli", "opencode": "opencode-ai", "qwen": "@qwen-code/qwen-code",
		"openclaw": "openclaw", "cline": "cline",
	} {
		table, err := tables.ReadFile("tables/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(table), "\n")
		version := regexp.MustCompile(`"` + regexp.QuoteMeta(pkg) + `": "([0-9.]+)"`).FindSubmatch(pinned)
		if version == nil || !strings.Contains(head, " "+string(version[1])) {
			t.Errorf("%s: the table is not of the version that is pinned: %q, %q", name, head, version)
		}
	}
}

// TestAgentTypes compares the names in testdata with the installed packages.
func TestAgentTypes(t *testing.T) {
	folder := os.Getenv("VAGLIO_AGENTS")
	if folder == "" {
		t.Skip("VAGLIO_AGENTS is not set; make agents sets it")
	}
	data, err := os.ReadFile(filepath.Join(folder, "..", "@anthropic-ai", "claude-code", "sdk-tools.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	published(t, "claude-code", "# The tools of Claude Code and the names of their arguments, at any depth, as its\n"+
		"# package's sdk-tools.d.ts types them. `make agents` holds it to that file.\n"+namesIn(string(data)))
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "node"), "testdata/openclaw.mjs", filepath.Join(folder, "..", "openclaw"))
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + folder + ":" + os.Getenv("PATH")}
	out, err := cmd.Output()
	_, tools, said := strings.Cut(string(out), "OPENCLAW\n") // After what its parts print.
	if err != nil || !said {
		t.Fatal(err, string(out))
	}
	published(t, "openclaw", "# The tools of OpenClaw and the names of their arguments, those by name alone that it\n"+
		"# makes where its settings want them. `make agents` holds it to the package.\n"+tools)
}

// published compares a client's file with what its package says.
func published(t *testing.T, client, got string) {
	t.Helper()
	file := typed[client].file
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the published types differ from %s; add to the table, then -update. They are:\n%s", file, got)
	}
}

// namesIn returns the types of tools' inputs, one per line, with the names of their
// properties, and which of them are texts.
func namesIn(types string) string {
	types = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(types, "")
	head := regexp.MustCompile(`^export interface (\w+)Input \{(\}?)$`)
	property := regexp.MustCompile(`^\s*"?([\w-]+)"?\??:(?: (string);$)?`)
	var out strings.Builder
	var keys []string
	in := false
	for l := range strings.Lines(types) {
		l = strings.TrimRight(l, "\n")
		if m := head.FindStringSubmatch(l); m != nil {
			out.WriteString(m[1])
			keys, in = nil, true
			if m[2] == "" {
				continue
			}
		}
		if m := property.FindStringSubmatch(l); in && m != nil {
			key := m[1]
			if m[2] != "" {
				key += ":text"
			}
			keys = append(keys, key)
		}
		if in && strings.HasSuffix(l, "}") && !strings.HasPrefix(l, " ") {
			slices.Sort(keys)
			for _, k := range slices.Compact(keys) {
				out.WriteString(" " + k)
			}
			out.WriteString("\n")
			in = false
		}
	}
	return out.String()
}

// TestMistakes checks that each mistake in a table is reported with its position.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{". = read\n", "x.txt:1:1: line outside a section"},
		{"[A\n. = read\n", "x.txt:1:1: unclosed section"},
		{"[]\n. = read\n", "x.txt:1:1: the section names no tool"},
		{"[A]\n. = read\n\n[B A]\n. = read\n", "x.txt:4:4: A stands twice"},
		{"[A] dato=a\n. = read\n", `x.txt:1:5: unknown role "dato"`},
		{"[A] data=a code=b,a\n. = read\n", `x.txt:1:12: argument "a" is empty or stands twice`},
		{"[A] data=\n. = read\n", `x.txt:1:5: unknown word "data="`},
		{"[A] language=klingon\n. = read\n", `x.txt:1:14: unknown language "klingon"`},
		{"[A] data=a\nb=1 = read\n", `x.txt:2:1: the section lists no argument "b"`},
		{"[A] data=a\n  !a=1 = read\n", "x.txt:2:3: want key, !key or key=value"},
		{"[A] data=a\na= = read\n", "x.txt:2:1: want key, !key or key=value"},
		{"[A]\n. = raed\n", `x.txt:2:5: unknown effect "raed"`},
		{"[A]\n. = delete shard\n", `x.txt:2:12: unknown word "shard"`},
		{"[A]\n. = @shap\n", "x.txt:2:5: there is no rule @shap"},
		{"[A]\n. read\n", "x.txt:2:1: want tests = effect"},
		{"[A] data=a\n. = read\na = own\n", "x.txt:3:1: no call reaches this line"},
		{"\n[A]\n", "x.txt:2:1: the section does not say what its tools do"},
		{"[A]\n[B]\n. = read\n", "x.txt:1:1: the section does not say what its tools do"},
	} {
		if _, err := parse("x.txt", tt.text); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// TestDoes checks which line decides.
func TestDoes(t *testing.T) {
	c, err := parse("x.txt", "[A] data=a,b\na=x !b = read\na=true|y = delete\nb = @shape\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args map[string]any
		kind operation.Kind
		rule string
	}{
		{map[string]any{"a": "x"}, operation.KindRead, ""},
		{map[string]any{"a": "x", "b": nil}, operation.KindRead, ""},
		{map[string]any{"a": "x", "b": 1}, "", RuleShape},
		{map[string]any{"a": true}, operation.KindDelete, ""},
		{map[string]any{"a": "true"}, operation.KindDelete, ""},
		{map[string]any{"a": "z"}, operation.KindUnknown, ""},
		{nil, operation.KindUnknown, ""},
	} {
		if got := c["A"].Does(tt.args); got.Kind != tt.kind || got.Rule != tt.rule {
			t.Errorf("%v: %+v, want %s %s", tt.args, got, tt.kind, tt.rule)
		}
	}
}

// FuzzParse checks that the parser survives any table, and that each mistake has a position.
func FuzzParse(f *testing.F) {
	f.Add("[A b*] data=a shell language=node\na=1|2 !a = delete irreversible; x\n. = @shape\n")
	f.Add("[A]\n")
	place := regexp.MustCompile(`^x\.txt:\d+:\d+: `)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse("x.txt", text)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if tool, ok := reading.ToolOf(c, "A"); ok {
			tool.Does(map[string]any{"a": text})
		}
	})
}
