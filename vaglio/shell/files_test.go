package shell_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/project"
	"github.com/metnos/vaglio/vaglio/shell"
)

// onDisk holds files by path.
type onDisk map[string]string

func (d onDisk) Content(path string) (string, bool) {
	text, ok := d[path]
	return text, ok
}

func (onDisk) Closed(string) *shell.ClosedError { return nil }

func (d onDisk) Below(folder string, depth int, match func(string) bool) (files []string, whole bool) {
	for name := range d {
		if rel, in := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); in && (depth < 0 || strings.Count(rel, "/") <= depth) && match(rel) {
			files = append(files, name)
		}
	}
	return files, len(files) <= 300 // more may not be looked at
}

// TestFiles checks lines that run files: what is found, its place, and what counts as not read.
func TestFiles(t *testing.T) {
	t.Parallel()
	disk := onDisk{
		"/w/a.sh":       "#!/bin/bash\nset -e\n\nif true; then\n  rm -rf \"$HOME\"/x\nfi\n",
		"/w/b.sh":       "sh a.sh\n",
		"/w/args.sh":    "rm -rf \"$1\"\n",
		"/w/odd.sh":     "$(cat unknown)\nrm -rf /late\n",
		"/w/broken.sh":  "rm -rf /early\nif then fi (\n",
		"/w/self.sh":    "sh self.sh\nsh self.sh\n",
		"/w/x.py":       "import shutil\nshutil.rmtree('/data')\n",
		"/w/x.js":       "require('child_process').execSync('rm js')\n",
		"/w/x.php":      "<?php system('rm php');\n",
		"/w/x.rb":       "system('rm rb')\n",
		"/w/bin":        "\x7fELF\x00",
		"/w/env.sh":     "export A=/etc\n",
		"/w/Makefile":   "all:\n\techo\n\nx:\n\trm -rf /m\n",
		"/w/.npmrc":     "",
		"/w/deep/a.sh":  "rm -rf ./here\n",
		"/w/slow.sh":    strings.Repeat("x=1\n", 200_000) + "rm -rf /slow\n",
		"/w/heavy":      strings.Repeat("#", 250_000),
		"/w/often.sh":   strings.Repeat("./heavy\n", 200),
		"/w/chain.sh":   "sh chain.sh\nrm -rf /chain\n",
		"/w/after.mess": "",
		"/w/d/1.sh":     "rm one\n",
		"/w/d/2.sh":     "rm two\n",
		"/w/d/e/3.sh":   "rm three\n",
		"/x/4.sh":       "rm four\n",
		"/w/s.sed":      "1e rm sed\n",
		"/w/a.awk":      "BEGIN { system(\"rm awk\") }\n",
	}
	for i := range 250 {
		disk[fmt.Sprintf("/w/many/%d.sh", i)] = ""
	}
	for _, tt := range []struct{ line, want string }{
		{"bash a.sh", "rm -rf /h/x @/w/a.sh:5"},
		{"sh < a.sh", "rm -rf /h/x @/w/a.sh:5"},
		{"cat a.sh | bash", "rm -rf /h/x @/w/a.sh:5"},
		{`bash -c "$(cat a.sh)"`, "rm -rf /h/x @/w/a.sh:5"},
		{`eval "$(< a.sh)"`, "rm -rf /h/x @/w/a.sh:5"},
		{"./a.sh", "rm -rf /h/x @/w/a.sh:5"},
		{"timeout 5 ./a.sh", "rm -rf /h/x @/w/a.sh:5"},
		{"bash b.sh", "rm -rf /h/x @/w/a.sh:5"},
		{"cd deep && bash a.sh", "rm -rf ./here @/w/deep/a.sh:1"},
		{"bash args.sh /etc", "rm -rf /etc @/w/args.sh:1"},
		{". ./env.sh; rm -rf $A", "rm -rf /etc"},
		{"BASH_ENV=a.sh bash -c true", "rm -rf /h/x @/w/a.sh:5"},
		{"python3 x.py", "python:shutil.rmtree /data @/w/x.py:2"},
		{"make x", "rm -rf /m @/w/Makefile:5"},
		{"node x.js", "rm js @/w/x.js:1"},
		{"node --check x.js", ""},
		{"node x.js --check", "rm js @/w/x.js:1"},
		{"node -r ./x.js --check y.js", "rm js @/w/x.js:1"},
		{"php -l x.php", ""},
		{"php x.php -l", "rm php @/w/x.php:1"},
		{"ruby -cw x.rb", ""},
		{"ruby x.rb -c", "rm rb @/w/x.rb:1"},
		{"make", ""},
		{"make -f - <<< $'x:\\n\\trm a'", "rm a"},
		{"make -f <(printf 'x:\\n\\trm a')", "printf x:\\n\\trm a rm a @/dev/fd/64:2 rm a"},
		{"make -f /dev/stdin <<< $'x: ; rm a'", "rm a"},
		{"make --eval='x:;rm a'", "make --eval=x:;rm a rm a"},
		{"make --eval='$(shell rm a)'", "make --eval=$(shell rm a) rm a"},
		{"printf 'x:\\n\\trm %s b\\n' \"$UNKNOWN\" > m; make -f m x", "printf x:\\n\\trm %s b\\n ${UNKNOWN} rm ${UNKNOWN} b"},
		{"curl -o Makefile http://h/x; make", "! download"},
		{"bash odd.sh", "rm -rf /late @/w/odd.sh:2 ! script file"},
		{"bash broken.sh", "rm -rf /early @/w/broken.sh:1 ! script file"},
		{"bash none.sh", "! script file"},
		{"./bin", ""},
		{"bash self.sh", ""},
		{"bash slow.sh; rm -rf /next", "rm -rf /next ! script file"},
		{"bash often.sh; rm -rf /next", "rm -rf /next ! script file"},
		{"bash chain.sh | cat", strings.TrimSuffix(strings.Repeat("rm -rf /chain @/w/chain.sh:2 ", 3), " ")}, // endless, but one after the other
		{"echo 'rm -rf /w2' > a.sh; bash a.sh", "echo rm -rf /w2 rm -rf /w2"},
		{"ssh host bash /w/a.sh", "! script file"},
		{"for f in ./d/*.sh; do bash \"$f\"; done", "rm one @/w/d/1.sh:1 rm two @/w/d/2.sh:1 ! script file"},
		{"bash d/?.sh", "rm one @/w/d/1.sh:1 rm two @/w/d/2.sh:1 ! script file"},
		{"bash d/*/3.sh", "rm three @/w/d/e/3.sh:1 ! script file"},
		{"bash d/**/3.sh", "rm three @/w/d/e/3.sh:1 ! script file"},
		{"cd d; ./[1-2].sh", "rm one @/w/d/1.sh:1 rm two @/w/d/2.sh:1 ! dynamic name"},
		{"for f in d/*.sh; do . $f; done", "rm one @/w/d/1.sh:1 rm two @/w/d/2.sh:1 ! script file"},
		{"cat d/?.sh | sh", "rm one @/w/d/2.sh:1 rm two @/w/d/2.sh:2"},
		{"bash d/x.sh d/*.sh", "! script file"},
		{"bash none/*.sh", "! script file"},
		{"find d -name '*.sh' -exec sh {} ';'", "rm one @/w/d/1.sh:1 rm two @/w/d/2.sh:1 rm three @/w/d/e/3.sh:1 ! script file ! script file"},
		{"find d -name '*.sh' -exec {} +", "rm one @/w/d/1.sh:1 rm two @/w/d/2.sh:1 rm three @/w/d/e/3.sh:1 ! dynamic name ! dynamic name"},
		{"for i in 1 2; do echo rm $i > n$i.sh; done; for f in n*.sh; do sh $f; done", "echo rm 1 echo rm 2 rm 1 rm 2 ! script file"},
		{"bash many/*.sh", "! dynamic code ! script file"},
		{"sed -f s.sed d/1.sh", "rm sed @/w/s.sed:1"},
		{"awk -f a.awk d/1.sh", "rm awk @/w/a.awk:1"},
		{strings.Repeat("sed -i s/z/z/ d/1.sh; ", 40) + "sh d/1.sh", "rm one @/w/d/1.sh:1 ! closed file"},
		{"echo 1e rm late > n.sed; sed -f n.sed d/1.sh", "echo 1e rm late rm late"},
		{"echo rm late > n.sh & wait; sh n.sh", "echo rm late rm late"},
	} {
		s := shell.Read(tt.line, shell.Options{Home: "/h", Cwd: "/w", Files: disk, Tasks: project.Default(), Programs: code.Default()})
		var got []string
		for _, c := range s.Commands {
			text := words(c.Argv)
			if !strings.Contains(text, "rm") {
				continue
			}
			if c.File != "" {
				text += fmt.Sprintf(" @%s:%d", c.File, c.Line)
			}
			got = append(got, text)
		}
		for _, p := range s.Problems {
			if p.Kind != shell.ProblemPartialCode {
				got = append(got, "! "+string(p.Kind))
			}
		}
		if all := strings.Join(got, " "); all != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.line, all, tt.want)
		}
	}
}

// TestTooMuchIsReadInBrief checks that nothing is hidden behind what spends the budget: a script that
// calls its functions too often is read once more, each of them once; what is still too much, or nests
// too deep, counts as not read.
func TestTooMuchIsReadInBrief(t *testing.T) {
	t.Parallel()
	step := "t() {\n" + strings.Repeat("  echo \"step $1\"\n", 60) + "}\n"
	var often, twice strings.Builder
	for i := range 900 {
		fmt.Fprintf(&often, "t %d\n", i)
	}
	for i := range 30 {
		fmt.Fprintf(&twice, "f%d() { f%d a; f%d b; }\n", i+1, i, i)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"behind":     {step + often.String() + "rm x", "rm x"},
		"chain":      {"f0() { echo; }\n" + twice.String() + "f30\nrm x", "rm x, unread"},
		"arguments":  {step + "r() { rm $1; }\nr a\n" + often.String() + "r b", "rm a, rm ${?}"},
		"in a text":  {step + often.String() + "eval 'rm x'", "rm x"},
		"folder":     {step + "cd sub\n" + often.String() + "rm $PWD/x", "rm /w/sub/x"},
		"variable":   {step + "D=a\n" + often.String() + "D=$D/b; rm $D", "rm a/b"},
		"still much": {step + "for a in {1..64}; do for b in {1..64}; do for c in {1..64}; do echo; done; done; done\n" + strings.Repeat("echo {1..64}{1..64}\n", 200) + "rm x", "unread"},
	} {
		s := shell.Read("bash x.sh", shell.Options{Home: "/h", Cwd: "/w", Files: onDisk{"/w/x.sh": tt.text}})
		var got []string
		for _, c := range s.Commands {
			if text := words(c.Argv); strings.HasPrefix(text, "rm ") && !slices.Contains(got, text) {
				got = append(got, text)
			}
		}
		if len(s.Unparsed) > 0 {
			got = append(got, "unread")
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, all, tt.want)
		}
	}
}

func words(argv []shell.Word) string {
	all := make([]string, len(argv))
	for i, w := range argv {
		all[i] = w.String()
	}
	return strings.Join(all, " ")
}

// TestFindOfNothing checks that find with bounds that exclude everything causes no problem.
func TestFindOfNothing(t *testing.T) {
	t.Parallel()
	for _, p := range shell.Read("find -mindepth 1 -maxdepth 0 -exec rm x ';'", shell.Options{}).Problems {
		t.Errorf("%s: %s", p.Kind, p.Detail)
	}
}
