package patch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell"
)

const (
	diffBody = "@@ -1 +1 @@\n-a\n+b\n"
	plain    = "--- a/dir/x\n+++ b/dir/x\n" + diffBody
	outside  = "--- a/../../y\n+++ b/../../y\n" + diffBody
	wrapped  = "*** Begin Patch\n*** Update File: e.py\n@@\n-a\n+b\n*** Delete File: f.py\n*** End Patch"
)

// done lists the calls and problems of a script, one per line.
func done(s *shell.Script) string {
	var out []string
	for i := range s.Commands {
		if c := &s.Commands[i]; c.Call != nil {
			line := string(c.Call.Verb)
			for _, w := range c.Call.Targets {
				line += " " + w.String()
			}
			out = append(out, line)
		}
	}
	for i := range s.Problems {
		out = append(out, "problem "+string(s.Problems[i].Kind))
	}
	return strings.Join(out, "; ")
}

func doc(text string) string { return " <<'END'\n" + text + "\nEND\n" }

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ command, want string }{
		{"ls -l", ""},
		{"git apply" + doc(plain), "write dir/x"},
		{"git apply -p0" + doc(plain), "write a/dir/x; write b/dir/x"},
		{"git apply --directory=sub -p2" + doc(plain), "write sub/x"},
		{"git -C /srv apply --dir sub" + doc(plain), "write sub/dir/x"},
		{"git -C /srv -C in apply" + doc(plain), "write dir/x"},
		{"git -C /srv apply --directory=/in" + doc(plain), "write /in/dir/x"},
		{"git -c a=b apply -" + doc(outside), "write ../../y"},
		{"git apply -px" + doc(plain), "write dir/x"},
		{"git apply -p99" + doc(plain), "problem partial code"},
		{"git apply -p100" + doc(plain), "write dir/x"},
		{"git apply" + doc("diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n"), "permissions x y"},
		{"git apply" + doc("diff --git a/x y b/z w\nold mode 100644\nnew mode 100755\n"), "problem partial code"},
		{"git apply" + doc("diff --git a/d/x y b/e/x y\nold mode 100644\nnew mode 100755\n"), "problem partial code"},
		{"git apply" + doc("diff --git a/xx b/y\nold mode 100644\nnew mode 100755\n"), "permissions xx; permissions y"},
		{"git apply" + doc("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n"), "delete x"},
		{"git apply" + doc("diff --git a/x b/x\n3d\nold mode 100644\nnew mode 100755\n"), "permissions x; problem partial code"},
		{"git apply" + doc("diff --git a/x b/y\ncopy from x\ncopy to y\n"), "copy x y"},
		{"git apply" + doc("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"), "write x"},
		{"git apply" + doc("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"), "delete x"},
		{"git apply --check" + doc(outside), ""},
		{"git apply --stat" + doc(outside), ""},
		{"git apply --stat --apply" + doc(outside), "write ../../y"},
		{"git am" + doc("From: a\n\n"+plain), "write dir/x"},
		{"git am --abort", ""},
		{"git am --continue", ""},
		{"git log apply", ""},
		{"git; git -C; git --version; git am" + doc(plain), "write dir/x"},
		{"git apply fix.patch", "problem script file"},
		{"git diff HEAD~1 | git apply -R", "problem script file"},
		{"curl -s https://x.example/p | git apply", "problem download"},
		{"git apply <<E\n$P\nE", "problem dynamic code"},
		{"printf '%s' \"$P\" | patch -p1", "problem dynamic code"},
		{"patch -p1" + doc(plain), "write dir/x"},
		{"patch" + doc(plain), "write dir/x; write x"},
		{"patch -d /srv -p1" + doc(plain), "write /srv/dir/x"},
		{"patch -d /srv -p1 --dry-run" + doc(plain), ""},
		{"patch --strip=1 --dir /srv" + doc(plain), "write /srv/dir/x"},
		{"patch -Rp1" + doc(plain), "write dir/x"},
		{"patch -p1 -o /out" + doc(plain), "write dir/x; write /out"},
		{"patch /etc/hosts" + doc(plain), "write /etc/hosts"},
		{"patch -p1 < fix.patch", "problem script file"},
		{"patch -p1 -i fix.patch", "problem script file"},
		{"patch /etc/hosts fix.patch", "write /etc/hosts; problem script file"},
		{"patch -d \"$D\" -p1" + doc(plain), "write ${D}/dir/x"},
		{"cat > p.diff" + doc(outside) + "git apply p.diff", "write ../../y"},
		{"cat > p.diff" + doc(outside) + "patch -p1 < p.diff", "write ../../y"},
		{"tee p.diff" + doc(outside) + "patch -p1 -i p.diff", "write ../../y"},
		{"apply_patch" + doc(wrapped), "write e.py; delete f.py"},
		{"apply_patch '" + wrapped + "'", "write e.py; delete f.py"},
		{"apply_patch '" + outside + "'", "write ../../y"},
		{"cd sub && bash -lc \"apply_patch <<'E'\n" + wrapped + "\nE\"", "write e.py; delete f.py"},
		{"sudo applypatch" + doc(wrapped), "write e.py; delete f.py"},
		{"tee a.diff b.diff" + doc(outside) + "patch -p1 -i b.diff", "write ../../y"},
		{"cat > p.diff" + doc(outside) + "patch -p1 -i p.diff", "write ../../y"},
		{"cat q.diff" + doc(outside) + "patch -p1 -i q.diff", "problem script file"},
		{"cat >> p.diff" + doc(outside) + "patch -p1 -i p.diff", "problem script file"},
		{"git -C /srv apply" + doc(plain), "write dir/x"},
		{"git -C apply apply" + doc(plain), "write dir/x"},
		{"patch -p1 -- /etc/hosts" + doc(plain), "write /etc/hosts"},
		{"patch -p1 -i" + doc(plain), "write dir/x"},
		{"patch --st=1" + doc(plain), "write dir/x; write x"},
		{"patch --str=1" + doc(plain), "write dir/x"},
		{"apply_patch hello", "problem partial code"},
		{"sort > p.diff" + doc(outside) + "patch -p1 -i p.diff", "problem script file"},
		{"apply_patch '*** Begin Patch\n*** Add File\n+a\n*** End Patch'", "problem partial code"},
		{"git apply" + doc("diff --git \n"+plain), "write dir/x"},
		{"git apply" + doc("diff --git d/x-e/x\nold mode 100644\nnew mode 100755\n"), "problem partial code"},
		{"apply_patch \"$P\"", "problem dynamic code"},
		{"git apply" + doc("nothing"), "problem partial code"},
		{"git apply" + doc("diff --git a/x b/x\nrename from x\nrename to y\ndiff --git a/l b/l\nnew file mode 120000\n"+
			"--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\ndiff --git a/r b/r\nold mode 100644\nnew mode 100755\n"), "move x y; link /etc l; permissions r"},
	} {
		t.Run(r.command, func(t *testing.T) {
			t.Parallel()
			read := shell.Read(r.command, shell.Options{Cwd: "/w"})
			got := Expand(read, &shell.Options{})
			if s := done(got); s != r.want {
				t.Errorf("Expand found %q, want %q", s, r.want)
			}
		})
	}
}

// TestWhatAPatchMakesIsKnown checks that the content of a file that a patch creates is known
// afterwards, under its absolute path.
func TestWhatAPatchMakesIsKnown(t *testing.T) {
	t.Parallel()
	const made = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+ls\n"
	for command, want := range map[string]string{
		"git apply" + doc(made):                      "/w/x",
		"git -C sub apply" + doc(made):               "/w/sub/x",
		"git -C /srv -C in apply" + doc(made):        "/srv/in/x",
		"git -C sub apply --directory=d" + doc(made): "/w/sub/d/x",
		"git -C apply apply" + doc(made):             "/w/apply/x",
		"patch -d sub -p1" + doc(made):               "/w/sub/x",
		"git -C /srv apply" + doc(made):              "/srv/x",
		"git -C \"$D\" apply" + doc(made):            "",
		"ssh host git apply" + doc(made):             "",
		"git apply" + doc(plain):                     "",
		"cd \"$D\"; git apply" + doc(made):           "",
	} {
		s := Expand(shell.Read(command, shell.Options{Cwd: "/w"}), &shell.Options{Cwd: "/w"})
		var got []string
		for name, text := range s.Wrote {
			if got = append(got, name); !text.Is("ls\n") {
				t.Errorf("%s: %s holds %s", command, name, text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s makes %q, want %q", command, got, want)
		}
	}
}

// files holds texts by path.
type files struct {
	shell.NoFolders
	texts map[string]string
}

func (f files) Content(name string) (string, bool) {
	text, ok := f.texts[name]
	return text, ok
}

// TestAPatchInAFile checks that a patch in a file is read if the file can be read.
func TestAPatchInAFile(t *testing.T) {
	t.Parallel()
	o := shell.Options{Cwd: "/w", Files: files{texts: map[string]string{"/w/d.patch": plain, "/w/sub/d.patch": plain}}}
	for command, want := range map[string]string{
		"git apply d.patch":                           "write dir/x",
		"git -C sub apply d.patch":                    "write dir/x",
		"git am d.patch":                              "write dir/x",
		"patch -p1 -i d.patch":                        "write dir/x",
		"patch -p1 < d.patch":                         "write dir/x",
		"cat d.patch | patch -p1":                     "write dir/x",
		"git apply --directory=.c d.patch":            "write .c/dir/x",
		"git apply --check d.patch":                   "",
		"git apply other.patch":                       "problem script file",
		"hg import d.patch":                           "write dir/x",
		"git apply *.patch":                           "problem dynamic code",
		"for p in *.patch; do git apply \"$p\"; done": "problem dynamic code",
		"ssh host git apply d.patch":                  "problem script file",
		"echo no > d.patch; patch < d.patch":          "problem partial code",
	} {
		if got := done(Expand(shell.Read(command, o), &o)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	spent := &shell.Budget{}
	for spent.Spend(1 << 20) {
	}
	got := Expand(shell.Read("git apply d.patch", o), &shell.Options{Cwd: "/w", Files: o.Files, Budget: spent})
	if s := done(got); s != "problem script file" {
		t.Errorf("without a budget: %q", s)
	}
}

func TestExpandKeepsSurroundings(t *testing.T) {
	t.Parallel()
	s := Expand(shell.Read("cd sub && sudo patch -p1"+doc(plain)+"ls", shell.Options{Cwd: "/w"}), &shell.Options{Cwd: "/w"})
	i := slices.IndexFunc(s.Commands, func(c shell.Command) bool { return c.Call != nil })
	if i < 1 {
		t.Fatal("no call")
	}
	c := s.Commands[i]
	if !c.Cwd.Is("/w/sub") || !c.Privileged || len(c.Redirects) > 0 || c.Wrapper || s.Commands[i-1].Name != "patch" || s.Commands[len(s.Commands)-1].Name != "ls" {
		t.Errorf("the call is %+v", c)
	}
}

// TestManyNames checks that a header with very many names is read whole, in time proportional to
// its size.
func TestManyNames(t *testing.T) {
	t.Parallel()
	const n = 100_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "+++ %d\n", i)
	}
	list, err := Parse(b.String()+diffBody, Options{})
	if err != nil || len(list) != n {
		t.Fatalf("%d changes, %v", len(list), err)
	}
}

// TestLarge checks that a patch of the largest size is read whole.
func TestLarge(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var b strings.Builder
	for range n {
		b.WriteString("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
	}
	b.WriteString("--- a/../y\n+++ b/../y\n" + diffBody)
	list, err := Parse(b.String(), Options{Strip: 1})
	if err != nil || len(list) != n+1 || list[n].Path != "../y" {
		t.Fatalf("%d changes, %v", len(list), err)
	}
}
