package lineage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/lineage"
)

// system writes a folder like Linux's /proc: each process is given as
// "pid parent terminal name|word|word…".
func system(t *testing.T, processes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range processes {
		words := strings.Split(p, "|")
		var pid, parent, terminal int
		var name string
		if _, err := fmt.Sscan(words[0], &pid, &parent, &terminal, &name); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, strconv.Itoa(pid))
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		command := ""
		if len(words) > 1 {
			command = strings.Join(words[1:], "\x00") + "\x00"
		}
		for file, text := range map[string]string{
			"stat":    fmt.Sprintf("%d (%s) S %d %d 77 %d -1 4194304 1 2 3\n", pid, name, parent, pid, terminal),
			"cmdline": command,
		} {
			if err := os.WriteFile(filepath.Join(at, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestALineEndsAtTheTop(t *testing.T) {
	t.Parallel()
	dir := system(t, "1 0 0 init|/sbin/init", "40 1 0 (a)b)|x", "50 40 34817 vaglio|vaglio|allow|7kq2")
	line, err := lineage.Of(dir, 50)
	if err != nil || len(line) != 3 || line[0].Terminal != 34817 || line[0].Session != 77 || line[1].Name != "(a)b)" || line[2].PID != 1 {
		t.Errorf("%+v, %v", line, err)
	}
	if line, err := lineage.Of(lineage.System, os.Getpid()); err == nil && line[0].Parent != os.Getppid() {
		t.Errorf("this process is below %d, not %d", line[0].Parent, os.Getppid())
	}
}

// TestALineIsAsDeepAsItMayBe reads a line of maximum length, and a longer one.
func TestALineIsAsDeepAsItMayBe(t *testing.T) {
	t.Parallel()
	const deepest = 256
	var all []string
	for pid := range deepest + 1 {
		all = append(all, fmt.Sprintf("%d %d 0 sh|sh", pid+1, pid))
	}
	dir := system(t, all...)
	if line, err := lineage.Of(dir, deepest); err != nil || len(line) != deepest {
		t.Errorf("the deepest has a line of %d, %v", len(line), err)
	}
	if line, err := lineage.Of(dir, deepest+1); !errors.Is(err, lineage.ErrUnseen) || line != nil {
		t.Errorf("one that is deeper has a line of %d, %v", len(line), err)
	}
}

// TestWhenAProcessBegan reads stat files that end before the start time, and with it.
func TestWhenAProcessBegan(t *testing.T) {
	t.Parallel()
	for more, began := range map[string]uint64{"": 0, " 123456": 123456, " 123456 9": 123456, " soon": 0} {
		dir := system(t, "50 0 0 kworker")
		stat := "50 (kworker) S 0 0 0 0 -1 5 6 7 8 9 10 11 12 13 14 15 16 17" + more
		if err := os.WriteFile(filepath.Join(dir, "50", "stat"), []byte(stat), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := lineage.Read(dir, 50); err != nil || p.Began != began || p.Words != nil {
			t.Errorf("%q: %+v, %v; want %d", more, p, err, began)
		}
	}
}

// TestWhatCannotBeSeenIsNoLine removes a part of the line, or corrupts it.
func TestWhatCannotBeSeenIsNoLine(t *testing.T) {
	t.Parallel()
	for name, stat := range map[string]string{
		"gone": "", "no name": "40 S 1 1 1 0", "short": "40 (sh) S 1", "no number": "40 (sh) S x 1 1 0", "another": "41 (sh) S 1 1 1 0", "a ring": "40 (sh) S 50 1 1 0",
		"below the top": "40 (sh) S -7 1 1 0", "ends with its name": "40 (sh)", "no terminal": "40 (sh) S 1 1 1", "no session": "40 (sh) S 1 1 x 0",
		"no process": "x (sh) S 1 1 1 0", "a terminal that is none": "40 (sh) S 1 1 1 x", "two states": "40 (sh) SS 1 1 1 0", "brackets the wrong way": "40 )sh( S 1 1 1 0",
	} {
		dir := system(t, "1 0 0 init|/sbin/init", "50 40 7 vaglio|vaglio")
		if stat != "" {
			at := filepath.Join(dir, "40")
			if err := errors.Join(os.Mkdir(at, 0o700), os.WriteFile(filepath.Join(at, "stat"), []byte(stat), 0o600), os.WriteFile(filepath.Join(at, "cmdline"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if line, err := lineage.Of(dir, 50); !errors.Is(err, lineage.ErrUnseen) || line != nil || errors.Is(err, os.ErrNotExist) != (stat == "") {
			t.Errorf("%s: %+v, %v", name, line, err)
		}
	}
	dir := system(t, "1 0 0 init|/sbin/init", "50 1 7 vaglio|vaglio")
	if err := os.Remove(filepath.Join(dir, "1", "cmdline")); err != nil {
		t.Fatal(err)
	}
	if line, err := lineage.Of(dir, 50); !errors.Is(err, lineage.ErrUnseen) || line != nil {
		t.Errorf("without a command line: %+v, %v", line, err)
	}
	for _, pid := range []int{0, -1, 60} {
		if line, err := lineage.Of(t.TempDir(), pid); !errors.Is(err, lineage.ErrUnseen) || line != nil {
			t.Errorf("process %d: %+v, %v", pid, line, err)
		}
	}
}

func TestBelowAnAgent(t *testing.T) {
	t.Parallel()
	programs := []string{"claude", "claude-code", "codex", "cursor", "gemini", "hermes"}
	for above, want := range map[string]string{
		"claude|claude|--resume":     "claude",
		"MainThread|claude --resume": "claude",
		"node|node|/usr/lib/node_modules/@google/gemini-cli/dist/index.js":  "gemini",
		"node|/usr/bin/node|--max-old-space-size=9|/usr/local/bin/codex.js": "codex",
		"python3.14|/usr/bin/python3.14|-m|hermes":                          "hermes",
		"Cursor|/opt/Cursor/cursor|--type=renderer":                         "cursor",
		"cursor-agent|/home/ann/.local/bin/cursor-agent":                    "cursor",
		"codex-linux-san|/opt/x/codex-linux-sandbox":                        "codex",
		"bash|-bash":                     "",
		"vim|vim|claude":                 "",
		"bash|bash|-c|echo|claude":       "",
		"node|node|/srv/app/server.js":   "",
		"claudette|claudette":            "",
		"kworker":                        "",
		"tmux:_server|tmux|new|-s|codex": "",
	} {
		line, err := lineage.Of(system(t, "1 0 0 init|/sbin/init", "40 1 7 "+above, "45 40 7 bash|-bash", "50 45 7 vaglio|vaglio|allow|claude"), 50)
		if err != nil {
			t.Errorf("%s: %v", above, err)
		}
		if got := line.Below(programs); got != want {
			t.Errorf("below %s: %q, want %q", above, got, want)
		}
	}
}
