package vaglio_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/workfiles"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// growing is a disk on which one file grows while it is read.
type growing struct{ workfiles.Disk }

func (g growing) Read(folders []string, name string, limit int) ([]byte, error) {
	if strings.HasSuffix(name, "/grows.sh") {
		return nil, vaglio.ErrGrew
	}
	return g.Disk.Read(folders, name, limit)
}

// hostileProject makes a project with files that cannot be read, or must not be.
func hostileProject(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "app")
	text := func(name, holds string, mode fs.FileMode) error {
		return os.WriteFile(filepath.Join(dir, name), []byte(holds), mode)
	}
	large := strings.Repeat("# much\n", 40_000)
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, ".git"), 0o700), os.MkdirAll(filepath.Join(dir, ".venv/bin"), 0o700), os.Mkdir(filepath.Join(dir, "folder.sh"), 0o700),
		os.MkdirAll(filepath.Join(dir, "piped"), 0o700), os.MkdirAll(filepath.Join(dir, "big"), 0o700),
		text(".git/HEAD", "ref: refs/heads/main\n", 0o600), text("ok.sh", "echo ok\n", 0o700), text("latin.sh", "echo \xff\xfe\n", 0o700),
		text("large.sh", large, 0o700), text("big/Makefile", large+"all:\n\techo\n", 0o600), text("sourcing.sh", "echo a\n. ./pipe.sh\n", 0o700),
		text("program", "\x7fELF\x02\x01\x01\x00\xff\xff", 0o700), text("posing", "\x7fELF\ngit push --force origin main\n\xff", 0o700),
		text("grows.sh", "echo\n", 0o600), text("fine.sed", "s/a/b/\n", 0o600), text("closed.sh", "echo\n", 0), text("a.py", "print(1)\n", 0o600), os.WriteFile(filepath.Join(home, "outside.sh"), []byte("echo\n"), 0o600),
		syscall.Mkfifo(filepath.Join(dir, "pipe.sh"), 0o600), syscall.Mkfifo(filepath.Join(dir, "piped/Makefile"), 0o600),
		syscall.Mkfifo(filepath.Join(dir, "piped/package.json"), 0o600),
		os.Symlink("ok.sh", filepath.Join(dir, "inner.sh")), os.Symlink("../outside.sh", filepath.Join(dir, "out.sh")),
		os.Symlink("loop.sh", filepath.Join(dir, "loop.sh")), os.Symlink("/dev/zero", filepath.Join(dir, "zero.sh")),
		os.Symlink("/usr/bin/env", filepath.Join(dir, ".venv/bin/python")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestWhatCannotBeReadIsAsked runs files that exist but cannot be read, in every way to run a
// file: none passes, and the person is told which file it is and why.
func TestWhatCannotBeReadIsAsked(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := hostileProject(t, home)
	judge, err := effects.New(effects.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	e, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold}}, Home: home, Files: growing{}, Workspaces: []string{dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	const (
		pipe, large, noText, outside = "pipe.sh is a pipe, a device or a socket", "large.sh is too large to be read", "latin.sh is not text", "leads out of the workspace"
	)
	rows := map[string]string{
		"bash pipe.sh": pipe, "sh < pipe.sh": pipe, "cat pipe.sh | sh": pipe, ". ./pipe.sh": pipe, "./pipe.sh": pipe, "python3 pipe.sh": pipe, "zsh pipe.sh": pipe,
		"php pipe.sh": pipe, "BASH_ENV=pipe.sh bash ok.sh": pipe, "awk -f pipe.sh x": pipe, "sed -f pipe.sh x": pipe, "parallel < pipe.sh": pipe, "xargs -a pipe.sh sh -c": pipe,
		"bash sourcing.sh": pipe, "./sourcing.sh": pipe, "nohup bash pipe.sh &": pipe, "sudo bash pipe.sh": pipe, "make -C piped": "Makefile is a pipe, a device or a socket",
		"cd piped && make": "Makefile is a pipe, a device or a socket", "cd piped && npm test": "package.json is a pipe, a device or a socket",
		"sed -f gone.sed x": "gone.sed", "sed -i -f gone.sed x": "gone.sed",
		"bash large.sh": large, "./large.sh": large, "node large.sh": large, `sh -c "$(cat large.sh)"`: large, "sed -f large.sh x": large,
		"bash latin.sh": noText, "./latin.sh": noText, "ruby latin.sh": noText, "awk -f latin.sh x": noText,
		"bash out.sh": outside, "./out.sh": outside, "bash zero.sh": outside, "./zero.sh": outside, "bash loop.sh": "loop.sh is a link that leads nowhere",
		"bash folder.sh": "folder.sh is a folder", "bash program": "program is a program made for the machine", "./posing": "posing is not text",
		"bash grows.sh": "grows.sh grew while it was read",
		// Ordinary files still pass.
		"bash ok.sh": "", "./ok.sh": "", "bash inner.sh": "", "./program": "", ".venv/bin/python a.py": "", "make -C big": "", "cd big && make": "",
		"sed -f fine.sed x": "", "printf 's/a/b/' > new.sed; sed -f new.sed x": "",
		"ls pipe.sh": "", "test -p pipe.sh": "", "mkfifo other": "", "file large.sh": "",
	}
	if _, err := os.ReadFile(filepath.Join(dir, "closed.sh")); errors.Is(err, fs.ErrPermission) { // root may read everything
		rows["bash closed.sh"] = "closed.sh may not be read by vaglio"
	}
	for line, want := range rows {
		v, err := e.Judge(t.Context(), vaglio.Proposal{
			Session: "s", Executor: "Bash", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: dir, Roots: []string{dir}},
		})
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if v.Approved != (want == "") || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: approved %v (%s), want %q", line, v.Approved, v.Reason, want)
		}
	}
}

// everydayScripts returns scripts by file name that look like those of real projects. Each
// repeats a part with new names until it is large enough.
func everydayScripts() map[string]string {
	const size = 20 << 10
	parts := map[string]string{
		"x.sh": `
# Step %[1]d.
set -euo pipefail
ROOT%[1]d="out/pkg%[1]d"
log%[1]d() { echo "[step %[1]d] $*"; }
if [ ! -d "$ROOT%[1]d" ]; then
  mkdir -p "$ROOT%[1]d/out"
fi
for f in src/a%[1]d.txt src/b%[1]d.txt src/*.md; do
  cp "$f" "$ROOT%[1]d/out/"
  grep -n TODO "$f" | sort -u > "$ROOT%[1]d/out/found.txt" || true
done
git add -A
git status --short
VERSION=$(git describe --tags --always)
log%[1]d "building $VERSION"
docker compose ps
docker build -t app%[1]d:dev .
case "$1" in
  test) npm test ;;
  lint) npm run lint -- --max-warnings %[1]d ;;
  *) echo "usage: $0 test|lint" ;;
esac
while read -r line; do
  echo "$line" >> out%[1]d.log
done < list%[1]d.txt
curl -s "localhost:3000/health?step=%[1]d" | jq .status
tar czf "out%[1]d.tgz" -C "$ROOT%[1]d" out
wc -l out%[1]d.log
`,
		"x.py": `
import json, os, subprocess
from pathlib import Path

def step%[1]d(root):
    """Gathers what step %[1]d needs."""
    found = []
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name)
        if not name.endswith(".json"):
            continue
        with open(path) as f:
            found.append(json.load(f))
    out = Path("out") / "step%[1]d.json"
    out.write_text(json.dumps(found, indent=2))
    subprocess.run(["git", "status", "--short"], check=True)
    return {"count": len(found), "total": sum(r.get("n", 0) for r in found)}

print(step%[1]d("data"))
`,
		"x.js": `
const fs%[1]d = require("fs");
const { execSync } = require("child_process");

function step%[1]d(root) {
  const found = [];
  for (const name of fs%[1]d.readdirSync(root)) {
    if (!name.endsWith(".json")) continue;
    const row = JSON.parse(fs%[1]d.readFileSync(root + "/" + name, "utf8"));
    found.push({ name, total: row.items.map((i) => i.n * %[1]d).reduce((a, b) => a + b, 0) });
  }
  fs%[1]d.writeFileSync("out/step%[1]d.json", JSON.stringify(found, null, 2));
  execSync("git status --short");
  return found.length;
}

console.log(step%[1]d("data"));
`,
	}
	for name, part := range parts {
		var whole strings.Builder
		for i := 1; whole.Len() < size; i++ {
			fmt.Fprintf(&whole, part, i)
		}
		parts[name] = whole.String()
	}
	return parts
}

// BenchmarkSources measures what reading a script adds to a call, the first time and when the
// call repeats.
func BenchmarkSources(b *testing.B) {
	dir := "/home/u/app"
	files := folderOf{dir + "/.git/HEAD": "ref: refs/heads/main\n", dir + "/empty.sh": "echo\n"}
	for name, text := range everydayScripts() {
		files[dir+"/"+name] = text
	}
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		b.Fatal(err)
	}
	e, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold, Settled: true}}, Home: "/home/u", Files: files, Workspaces: []string{dir},
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, line := range map[string]string{"None": "grep -n x README.md", "Small": "sh empty.sh", "Shell": "sh x.sh", "Python": "python3 x.py", "JavaScript": "node x.js"} {
		for _, again := range []bool{false, true} {
			b.Run(name+map[bool]string{true: "Again"}[again], func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					p := vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": line}, Context: vaglio.Context{Cwd: dir}}
					if !again {
						p.Intent = strconv.Itoa(n)
					}
					if _, err := e.Judge(b.Context(), p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
