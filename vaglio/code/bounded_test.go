package code_test

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell"
)

// TestPadded checks that a removal of / after much other code is found, or that the reading says
// that it stopped. A short run tries one language of each kind of block.
func TestPadded(t *testing.T) {
	tail := map[string]string{
		"python3": "import shutil;shutil.rmtree('/')", "perl": "system('rm -rf /');", "ruby": "system('rm -rf /')",
		"node": "require('fs').rmSync('/',{recursive:true})", "php": "system('rm -rf /');", "lua": "os.execute('rm -rf /')",
	}
	if testing.Short() {
		maps.DeleteFunc(tail, func(lang, _ string) bool { return lang != "node" })
	}
	rep := strings.Repeat
	for lang, end := range tail {
		one := "x=1\n"
		if lang == "perl" || lang == "php" {
			one = "$x=1;\n"
		}
		for name, pad := range map[string]string{
			"few": rep(one, 2_000), "lines": rep(one, 28_000), "most": rep(one, 120_000), "brackets": "x=" + rep("(", 100_000) + "\n", "calls": rep("f(",
				5_000) + rep(")", 5_000) + "\n",
			"quote": "y = \"\n" + rep(one, 100), "lists": "x=[" + rep("1,", 30_000) + "]\n", "concat": "x=" + rep("'a'+", 30_000) + "'a'\n",
			"strings": rep("'a'\n", 20_000),
			"open":    rep("{", 3_000) + "\n", "functions": rep("def f(a): f(f(a))\n", 2_000), "doubles": "x='aaaa'\n" + rep("x=x+x\n", 60),
			"regexps": "x=/" + rep("[/", 20_000) + "\n",
			"swaps":   rep("for x in y:\n", 20_000),
			"starts":  rep("import os\nos.system('ls')\n", 15_000),
			"names":   rep("a.b.c.d ", 20_000) + "\n", "ifs": rep("if a:\n", 2_000) + "\n", "templates": rep("`${", 80_000) + "\n",
		} {
			src := lang + " - <<'END'\n" + pad + end + "\nEND\n"
			src = src[:min(len(src), shell.MaxSource)]
			s := read(t, src)
			if slices.ContainsFunc(s.Problems, func(p shell.Problem) bool { return p.Kind == shell.ProblemInternal }) {
				t.Errorf("%s %s: %v", lang, name, s.Problems)
			}
			costly := slices.DeleteFunc(slices.Clone(s.Problems), func(p shell.Problem) bool { return p.Kind != shell.ProblemTooCostly })
			if len(costly) > 1 {
				t.Errorf("%s %s: that it does too much is said %d times", lang, name, len(costly))
			}
			if len(s.Problems) == 0 && !slices.ContainsFunc(s.Commands, removesRoot) {
				t.Errorf("%s %s: nothing found and nothing said: %.200s", lang, name, show(s))
			}
			if (name == "few" || name == "lines") && !slices.ContainsFunc(s.Commands, removesRoot) {
				t.Errorf("%s %s: not found: %.200s", lang, name, show(s))
			}
		}
	}
}

// TestTextsBesideEachOtherAreNoTower checks that adjacent texts are read one after the other: if
// they nested, this many would overflow the stack and end the process.
func TestTextsBesideEachOtherAreNoTower(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20))
	for _, part := range []string{`"a" `, `f"{a}b" `, "`a` "} {
		s := read(t, "python3 - <<'END'\nx = "+strings.Repeat(part, 100_000)+"\nEND\n")
		if len(s.Commands) == 0 && len(s.Problems) == 0 {
			t.Errorf("%s: nothing found and nothing said", part)
		}
	}
}

// TestWhatIsAddedToALongListIsNotLost adds to lists as long as are kept apart, and a little shorter and
// longer: the last element is the one that was added, or it is not known.
func TestWhatIsAddedToALongListIsNotLost(t *testing.T) {
	for _, n := range []int{255, 256, 257, 300} {
		names := strings.TrimSuffix(strings.Repeat("ls ", n), " ")
		for _, src := range []string{
			"python3 - <<'E'\nimport os\nl = '" + names + "'.split(' ')\nl.append('make')\nos.system(l[-1])\nE\n",
			"python3 - <<'E'\nimport os\nl = '" + names + "'.split(' ') + ['make']\nos.system(l[-1])\nE\n",
			"python3 - <<'E'\nimport os\nl = '" + names + "'.split(' ')\nl += ['make']\nfor c in l: os.system(c)\nE\n",
			"node - <<'E'\nlet l = '" + names + "'.split(' ')\nl.push('make')\nrequire('child_process').execSync(l.pop())\nE\n",
		} {
			s := read(t, src)
			if got := show(s); !strings.Contains(got, "make") && len(s.Problems) == 0 {
				t.Errorf("%d names and one more: %.300s%s", n, src[len(src)-100:], got)
			}
		}
	}
}

// TestADeepProgramIsLeftAtOnce checks that what follows the depth is not read, so that many such
// expressions cost no more than one.
func TestADeepProgramIsLeftAtOnce(t *testing.T) {
	deep := "x = " + strings.Repeat("(", 600) + "1" + strings.Repeat(")", 600) + "\n"
	s := read(t, "python3 - <<'END'\nopen('before', 'w')\n"+deep+deep+"open('behind', 'w')\nEND\n")
	if got := show(s); strings.Count(got, "!"+string(shell.ProblemTooDeep)) != 1 || !strings.Contains(got, "before") || strings.Contains(got, "behind") {
		t.Error(got)
	}
}

// TestWhatIsLeftOutOfManyTextsIsUnknown checks that a text joined with more texts than are kept apart
// may be any other, too.
func TestWhatIsLeftOutOfManyTextsIsUnknown(t *testing.T) {
	names := strings.Repeat("'a%d', ", 40)
	for i := range 40 {
		names = strings.Replace(names, "%d", fmt.Sprint(i), 1)
	}
	s := read(t, "python3 - <<'END'\nimport random\nopen('x' + random.choice(["+names+"]), 'w')\nEND\n")
	if !slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
		return c.Call != nil && slices.ContainsFunc(c.Call.Targets, shell.Word.HasUnknown)
	}) {
		t.Error(show(s))
	}
}

// TestUnknownRuns checks the problems of programs that run unknown text.
func TestUnknownRuns(t *testing.T) {
	for src, want := range map[string]shell.ProblemKind{
		`python3 -c "import os; os.system(input())"`:                                     shell.ProblemDynamicCode,
		`python3 -c "import os,sys; os.system(sys.stdin.read())"`:                        shell.ProblemDynamicCode,
		`python3 -c "exec(input())"`:                                                     shell.ProblemDynamicCode,
		`python3 -c "import os; os.system('ls ' + input())"`:                             shell.ProblemPartialCode,
		`python3 -c "import urllib.request as u; exec(u.urlopen('https://h/x').read())"`: shell.ProblemDownload,
		`python3 -c "import requests; exec(requests.get('https://h/x').text)"`:           shell.ProblemDownload,
		`node -e 'require("child_process").execSync(process.argv[9])'`:                   shell.ProblemDynamicCode,
		`node -e 'fetch("https://h/x").then(r => r.text()).then(t => eval(t))'`:          shell.ProblemDownload,
		`perl -e 'system(<STDIN>)'`:                                                      shell.ProblemDynamicCode,
		`perl -e 'fork while 1'`:                                                         shell.ProblemForkBomb,
		`ruby -e 'eval(gets)'`:                                                           shell.ProblemDynamicCode,
		`ruby -e 'fork while fork'`:                                                      shell.ProblemForkBomb,
		"python -c 'import os\nwhile True: os.fork()'":                                   shell.ProblemForkBomb,
		`curl x | python3`:                                                               shell.ProblemDownload,
		`php -r 'system($cmd);'`:                                                         shell.ProblemDynamicCode,
		`awk '{ system($0) }' f`:                                                         shell.ProblemDynamicCode,
		`lua -e 'os.execute(io.read())'`:                                                 shell.ProblemDynamicCode,
		`cobolish -e 'x' ; brainrun`:                                                     "",
	} {
		s := read(t, src)
		if want != "" && !slices.ContainsFunc(s.Problems, func(p shell.Problem) bool { return p.Kind == want }) {
			t.Errorf("Read(%s) = %s, want %q", src, show(s), want)
		}
	}
}

// TestMarksInAProgramAreNoHoles has programs forge the marks that stand for words of the shell which
// are not known.
func TestMarksInAProgramAreNoHoles(t *testing.T) {
	for _, n := range []string{"0", "1", "2", "-1", "99999999999999999999", "", "x"} {
		s := read(t, "python3 -c \"open('a\uf8fd"+n+"\uf8fcb$X', 'w')\"")
		if !slices.ContainsFunc(s.Commands, func(c shell.Command) bool {
			return c.Call != nil && c.Call.Verb == shell.VerbWrite && len(c.Call.Targets) == 1 && strings.HasPrefix(c.Call.Targets[0].String(), "a")
		}) || slices.ContainsFunc(s.Problems, func(p shell.Problem) bool { return p.Kind == shell.ProblemInternal }) {
			t.Errorf("%q: %s", n, show(s))
		}
	}
}

// TestListsThatDouble checks that lists which each line doubles are read to an end, whatever goes through them, and
// that nothing is hidden behind them or in them.
func TestListsThatDouble(t *testing.T) {
	t.Parallel()
	for lang, tt := range map[string]struct {
		first, line, tail, gone string
		uses                    []string
	}{
		"python3": {
			"a = ['x', y]\n", "a = [a, a]\n", "shutil.rmtree('/')\n", "os.remove(a)\n",
			[]string{"b = a[0:1]", "b = a + a", "print(a[1:][0])", "d = {'k': a}\nprint(d['k'][0:2])", "print(list(reversed(a)))", "b = sorted(a)", "for b in a: print(b)", "print(a == a)"},
		},
		"node": {
			"let a = ['x', y];\n", "a = [a, a];\n", "fs.rmSync('/', {recursive: true});\n", "fs.rmSync(a);\n",
			[]string{"a.filter(x => x).concat(a);", "a.slice(0, 1);", "a.map(x => x);", "a.flat(9);", "b = [...a].sort();"},
		},
		"ruby": {"a = ['x', y]\n", "a = [a, a]\n", "FileUtils.rm_rf('/')\n", "File.delete(a)\n", []string{"b = a[0..1]", "b = a.flatten.first", "b = a.sort.uniq", "b, c = a"}},
		"php":  {"$a = ['x', $y];\n", "$a = [$a, $a];\n", "system('rm -rf /');\n", "unlink($a);\n", []string{"$b = array_slice($a, 0, 1);", "foreach ($a as $b) { print($b); }"}},
	} {
		for _, use := range tt.uses {
			s := read(t, lang+" - <<'END'\n"+tt.first+strings.Repeat(tt.line, 40)+use+"\n"+tt.tail+"END\n")
			if !slices.ContainsFunc(s.Commands, removesRoot) {
				t.Errorf("%s %s: the end was not read: %.200s", lang, use, show(s))
			}
		}
		if s := read(t, lang+" - <<'END'\n"+tt.first+strings.Repeat(tt.line, 40)+tt.gone+"END\n"); len(s.Problems) == 0 && !slices.ContainsFunc(s.Commands, removesUnknown) {
			t.Errorf("%s %s: nothing found and nothing said: %.200s", lang, tt.gone, show(s))
		}
	}
}

func removesUnknown(c shell.Command) bool {
	return c.Call != nil && (c.Call.Verb == shell.VerbDeleteTree || c.Call.Verb == shell.VerbDelete) && slices.ContainsFunc(c.Call.Targets, shell.Word.HasUnknown)
}
