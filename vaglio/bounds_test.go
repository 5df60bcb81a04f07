package vaglio_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// gate returns the engine as it ships.
func gate(tb testing.TB) *vaglio.Engine {
	tb.Helper()
	j, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		tb.Fatal(err)
	}
	return build(tb, vaglio.Config{
		Home:   "/home/u",
		Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: 0.3}, {Judge: j, MinScore: effects.Threshold, Reads: true}},
	})
}

func line(command string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": command}, Context: vaglio.Context{Cwd: "/home/u/app"}}
}

// hostile returns calls of about size bytes that cost much for their size.
func hostile(size int) map[string]vaglio.Proposal {
	fill := func(head, piece, tail string) vaglio.Proposal {
		return line(head + strings.Repeat(piece, max(1, (size-len(head)-len(tail))/len(piece))) + tail)
	}
	number := func(format, tail string) vaglio.Proposal {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(format, "%", fmt.Sprint(i)))
		}
		return line(b.String() + tail)
	}
	with := func(executor string, args vaglio.Args) vaglio.Proposal {
		return vaglio.Proposal{Executor: executor, Args: args, Context: vaglio.Context{Cwd: "/home/u/app"}}
	}
	tower := "ls"
	for {
		next := "echo " + base64.StdEncoding.EncodeToString([]byte(tower)) + "|base64 -d|sh"
		if len(next) > size {
			break
		}
		tower = next
	}
	elements := number(`d["k%"]=d["j%"]`+"\n", "").Args["command"]
	options := number(`ap.add_argument("--o%"); a = ap.parse_args(); open(a.o%, "w")`+"\n", "").Args["command"]
	handled := number(`p.option("-o%, --o% <d>", "", "a").action((a, o) => fs.writeFileSync(o.o%, a)); p.opts().o%; p.parse()`+"\n", "").Args["command"]
	commands := number("@app.command()\ndef f%(o%: Path = typer.Option(\"a\", \"--o%\")):\n  open(o%, \"w\")\n", "").Args["command"]
	names := number("src/parts/of/data%.csv ", "").Args["command"].(string)
	classes := number("class C%:\n  def __init__(self, a):\n    self.a% = a\nC%(1).f()\n", "").Args["command"]
	keys, env, lines := vaglio.Args{"command": "ls"}, map[string]any{}, []any{}
	for i := range size / 16 {
		keys[fmt.Sprintf("key%d", i)] = "value"
		env[fmt.Sprintf("KEY%d", i)] = "v"
	}
	for range size / 8 {
		lines = append(lines, "ls")
	}
	written, rep := "", strings.Repeat
	for i := range min(size/200, 4000) {
		written += fmt.Sprintf(">a%d;", i)
	}
	return map[string]vaglio.Proposal{
		"path_folders":      fill("unset PATH;PATH="+rep("a:", size/4)+";", "x;", ""),
		"path_written":      fill("PATH="+rep("a:", size/8)+"$PATH x;touch ", "b ", ""),
		"git_environment":   number("GIT_CONFIG_KEY_%=a ", "git x"),
		"globs_of_written":  fill(written+"cp ", "*a ", "d/"),
		"xargs_marks":       fill("xargs -I a echo "+rep("a", 9000)+" <<'E'\n", rep("b", 100)+"\n", "E\n"),
		"find_marks":        line("find " + rep(rep("b", size/32)+" ", 16) + "-exec echo " + rep("{}", size/32) + " ';'"),
		"tr_sets":           fill("", "echo x|tr "+rep("a", 5000)+" y|sh;", ""),
		"sed_patterns":      fill("sed '", "/a/", "'"),
		"gate_named":        fill("python3 -c '", "x=\"vaglio\"\n", "'"),
		"bats_tests":        fill("cat > a.bats <<'E'\n", "@test x {\n run ls\n}\n", "E\nmake\n"),
		"maven_words":       fill("cat > pom.xml <<'E'\n<executable>ls</executable><arguments>", "<argument>a</argument>", "</arguments>\nE\nmvn x\n"),
		"make_words":        fill("cat > Makefile <<'E'\nS := a.c b*.c\nall:\n", "\techo $(S:.c=.o) '$(patsubst a,b,$(shell ls))'\n", "E\nmake\n"),
		"filters_of_files":  fill("cat a ", "| sed s/a/b/ ", "| sh"),
		"renamed_globs":     fill("for f in *\\ *; do ", "mv \"$f\" \"${f// /_}\";", " done"),
		"parts_of_lists":    fill("node -e 'x=[1,2];", "x=x.slice(1);", "'"),
		"scripts":           number("./a%.sh;", ""),
		"curl_data":         fill("curl x.example ", "-d "+rep("a", 60)+" ", ""),
		"env_files":         fill("", "cat .env|", "cat"),
		"filter_words":      fill("a=$b;rev ", "\"$a\" ", "|sh"),
		"listed_words":      fill("ls /;a=$b;rev ", "\"$a\" ", ""),
		"listed_again":      fill("", "ls -d /a/* | xargs chmod 644\n", ""),
		"listed_names":      number("ls -d /a%/* | xargs rm\n", ""),
		"listed_scripts":    fill("", "bash $(ls *.sh)\n", ""),
		"moved_programs":    number("mv src/a%.ts lib/a%.ts\n", ""),
		"moved_by_folders":  number("mv a d%/a.py\n", ""),
		"edited_settings":   number("perl -i -pe 's/a/b/' ~/.bashrc%\n", ""),
		"tasks":             fill("", "make deploy ", ""),
		"linked_names":      line("ln -s " + names),
		"searched_names":    line("find " + names),
		"moved_names":       line("mv " + names + "d"),
		"make_appends":      fill("cat > Makefile <<'E'\n", "V += build/parts/x.o\n", "t:\n\trm $(V)\nE\nmake t"),
		"tar_folders":       fill("tar cf a ", "-C d x ", ""),
		"sql_nested":        fill("psql <<'E'\n", "select a, (", "\nE\n"),
		"list_grown":        fill("python3 - <<'E'\nl = []\n", "l.append('a')\n", "E\n"),
		"program_folders":   fill("python3 - <<'E'\nimport os\n", "os.chdir('d')\nos.remove('x')\n", "E\n"),
		"cmd_folders":       fill("cmd /c '", "cd d & ", "'"),
		"options_programs":  fill("gdb ", "-ex 'shell rm a' ", "x"),
		"classes":           with("python", vaglio.Args{"code": classes}),
		"deep_folders":      fill(rep("cd b;", 1200), "rm -r c/d e;", ""),
		"deleted_folders":   fill("", "cd build && rm -rf -- *\n", ""),
		"programs_of_swift": fill("cat > a.swift <<'E'\np.executableURL = URL(fileURLWithPath: \"sh\")\n", "p.arguments = [\"-c\", \"ls\"]\n", "E\nswift a.swift"),
		"deeper_folders":    fill("", "cd y; ./configure; ", ""),
		"wrapped_by_hosts":  fill("", "ssh host sudo reboot ", ""),
		"copied_from_hosts": fill("scp ", "host:/a . ", ""),
		"exported_words":    fill("export ", "FOO=1 ", ""),
		"added_to_settings": fill("echo ", "'script-shell=/tmp/x' >> .npmrc ", ""),
		"added_lines":       fill("", "echo '127.0.0.1 example.org' >> /etc/hosts\n", ""),
		"killed_by_name":    fill("pkill ", "v ", ""),
		"copied_again":      fill("", "PATH=$PWD/bin:$PATH; cp fake bin/vaglio-hook\n", ""),
		"put_into_folders":  fill("", "unzip a.zip -d /opt ", ""),
		"programs_started":  fill("python3 - <<'E'\nimport os\n", "os.system('ls')\n", "E\n"),
		"words_of_tcl":      fill("tclsh <<'E'\n", "set a b\n", "E"),
		"sql_updates":       fill("psql -c 'SELECT ", "(UPDATE a),", "1'"),
		"sql_meta":          fill("sqlite3 a.db <<'E'\n", ".tables\n", "E"),
		"braces":            line("echo " + strings.Repeat("{a,b}", 200)),
		"brace_words":       fill("echo ", "{a,b}{c,d}{e,f}{a,b} ", ""),
		"brace_sequence":    fill("", "rm {1..100000};", ""),
		"parens":            fill("", "(", ""),
		"substitutions":     fill("echo ", "$(", ""),
		"backquotes":        fill("echo ", "`ls`", ""),
		"find_exec":         fill("find . ", `-exec rm -rf x {} \; `, ""),
		"find_many":         fill("", `find . -exec rm {} \;;`, ""),
		"xargs":             fill("echo a|", "xargs ", "ls"),
		"sudo":              fill("", "sudo ", "ls"),
		"pipes":             fill("rm", "|rm", ""),
		"pipes_to_shells":   fill("echo ls", "|sh", ""),
		"ands":              fill("ls", "&&rm a", ""),
		"args":              fill("rm ", "a ", ""),
		"commands":          fill("", "a;", ""),
		"commands_cd":       fill("", "cd a;", ""),
		"commands_cp":       fill("", "cp a b;", ""),
		"commands_ln":       number("ln -s /x% y%;", ""),
		"background":        fill("", "a&", ""),
		"documents":         fill("", "cat <<E\nx\nE\n", ""),
		"document_to_shell": fill("sh <<E\n", "rm x\n", "E\n"),
		"doubling":          fill("x=a;", "x=$x$x;", ""),
		"doubled_words":     fill("x="+strings.Repeat("a", 5000)+";", "rm $x;", ""),
		"split_words":       fill("x='"+strings.Repeat("a ", 2000)+"';", "rm $x;", ""),
		"arrays":            fill("a=("+strings.Repeat("x ", 5000)+");", `rm "${a[@]}";`, ""),
		"array_append":      fill("", "a+=(x);", ""),
		"variables":         number("v%=x;", ""),
		"branch_variables":  number("if a;then x%=1;fi;", ""),
		"functions":         number("f%(){ f$;};", "f0"),
		"aliases":           fill("alias a='a a';", "a;", ""),
		"evals":             fill("", "eval ", "ls"),
		"eval_variable":     fill("x=ls;", `eval "$x";`, ""),
		"base64_tower":      line(tower),
		"globs":             fill("rm ", "*?[a-z]", ""),
		"glob_words":        fill("rm ", "*a* ", ""),
		"brackets":          fill("echo ", "[", ""),
		"arithmetic":        fill("echo $((", "1+", "1))"),
		"quotes":            fill("echo ", `'a'"b"`, ""),
		"replaced":          fill("x="+strings.Repeat("a", 5000)+";", "y=${x//a/b};", ""),
		"folders":           fill("cat /", "../", "etc/x"),
		"percents":          fill("cat ", "%2e%2e%2f", ""),
		"look_alikes":       fill("rm ", "ｒｍ\u200b ", ""),
		"lines":             fill("", "x=1\n", ""),
		"comments":          fill("", "# x\n", ""),
		"written_swift":     with("Write", vaglio.Args{"file_path": "a.swift", "content": fill("", `x = x + "a%"`+"\n", "").Args["command"]}),
		"written_python": with("Write", vaglio.Args{"file_path": "a.py", "content": fill("", "def f(a, b):\n    x = a + b\n"+
			"    return [int(v) for v in open(x).read().split(\",\")]\n", "").Args["command"]}),
		"keys":             with("Bash", keys),
		"environment":      with("Bash", vaglio.Args{"command": "ls", "env": env}),
		"list_of_lines":    with("Bash", vaglio.Args{"commands": lines}),
		"lines_and_env":    with("Bash", vaglio.Args{"commands": lines[:size/256], "env": env}),
		"words":            with("Bash", vaglio.Args{"command": "rm", "args": lines}),
		"map_elements":     with("python", vaglio.Args{"code": elements}),
		"options":          with("python", vaglio.Args{"code": options}),
		"options_handled":  with("node", vaglio.Args{"code": handled}),
		"options_commands": with("python", vaglio.Args{"code": commands}),
		"options_shell":    fill("while getopts a:b x -"+rep("b", size/8)+"; do :; done; set -- ", "-a x ", "; while getopts a:b x; do y=$OPTARG; done"),
		"ways":             fill("x=$(", "[ a ] && echo a || echo b; ", "echo)"),
		"content":          with("Write", vaglio.Args{"file_path": "a", "content": strings.Repeat("a line of text 100% / 2\n", size/24)}),
		"paths":            with("delete_file", vaglio.Args{"paths": lines}),
	}
}

// TestLargeCallsAreBounded counts the bytes that judging hostile calls allocates. This bounds
// their work as well as their memory, and does not depend on the machine.
// [BenchmarkLargeCalls] measures the time. A short run tries one size, at which hardly a bound of
// counts is reached; the full one also larger ones, because what is cut off by a bound at one size
// may be at its worst at another.
func TestLargeCallsAreBounded(t *testing.T) {
	race.Alone(t)
	const most = 200 << 20
	sizes := []int{4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10}
	if testing.Short() {
		sizes = sizes[:1]
	}
	e := gate(t)
	for _, size := range sizes {
		for name, p := range hostile(size) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := e.Judge(t.Context(), p)
			if _, shape := errors.AsType[*vaglio.ShapeError](err); err != nil && !shape {
				t.Errorf("%s of %d KiB: %v", name, size>>10, err)
			}
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
				t.Errorf("%s of %d KiB takes %d MiB, want %d at most", name, size>>10, taken>>20, most>>20)
			}
		}
	}
}

// BenchmarkLargeCalls measures calls of a quarter of a mebibyte, of which bounds of counts cut off less, and of a whole one.
func BenchmarkLargeCalls(b *testing.B) {
	e := gate(b)
	for _, size := range []int{256 << 10, 1 << 20} {
		for name, p := range hostile(size) {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = e.Judge(b.Context(), p)
				}
			})
		}
	}
}

// behind returns command lines that each exceed one limit of the shell's reader. CRIME marks
// where a command that must not be approved stands, behind that limit.
func behind() map[string]string {
	rep := strings.Repeat
	long := rep("a", 1<<20)
	var alternatives, frames, functions, entries, fields, names, texts strings.Builder
	python := func(code string) string { return "python3 - <<'E'\nimport os\nd = {}\n" + code + "\nE\n" }
	node := func(code string) string {
		return "node - <<'E'\nconst {execSync} = require('child_process');\n" + code + "\nE\n"
	}
	elements := rep("'ls', ", 256) + "'CRIME'"
	for i := range 12 {
		fmt.Fprintf(&alternatives, "if a$RANDOM; then x='echo %d'; fi; ", i)
	}
	for i := range 8 {
		fmt.Fprintf(&frames, "if a$RANDOM; then y%d=a; else y%d=b; fi; ", i, i)
	}
	for i := range 300 {
		fmt.Fprintf(&entries, "'k%d': 'ls', ", i)
		fmt.Fprintf(&fields, "d['k%d'] = 'ls'\n", i)
		fmt.Fprintf(&names, "a%d, ", i)
	}
	for i := range 40 {
		fmt.Fprintf(&texts, "if a:\n  x = 'ls %d'\n", i)
	}
	for i := range 20 {
		fmt.Fprintf(&functions, "f%d() { f%d; f%d; }; ", i, i+1, i+1)
	}
	defined, copies := "cat > rc <<'E'\n", ""
	for i := range 310 {
		copies += fmt.Sprintf("cp -r s t%d; ", i)
		defined += fmt.Sprintf("f%d() { :; }\n", i)
	}
	return map[string]string{
		"MaxSource":       rep("ls\n", 400_000) + "CRIME",
		"MaxDepth":        rep("(", 120) + "CRIME" + rep(")", 120),
		"maxSteps":        rep("ls;", 60_000) + "CRIME",
		"maxMarks":        rep("# a b c d e f\n", 40_000) + "CRIME",
		"maxCommands":     rep("a\n", 110_000) + "CRIME",
		"MaxSize":         "x='CRIME;'; y=" + long[:len(long)-100] + "; y=$y$y; eval \"$x $y\"",
		"maxFields":       "echo {1..60}{1..60}{1..60} | sh; CRIME",
		"maxPasses":       frames.String() + "x='CRIME'; $y0$y1$y2$y3$y4$y5$y6$y7 x; eval \"$x\"",
		"maxFrames":       rep("$(", 3_000) + "CRIME" + rep(")", 3_000),
		"maxCalls":        "n=0; f() { n=$((n+1)); if [ $n = 5 ]; then CRIME; fi; f; }; f",
		"maxProblems":     rep("$x a;", 1_100) + rep("(", 120) + "CRIME" + rep(")", 120),
		"maxMounts":       "docker run " + rep("-v /home/u/app:/a ", 64) + "-v /:/h alpine sh -c 'cd /h && CRIME'",
		"maxBraces":       "echo " + rep("{a,b}", 201) + "; CRIME",
		"maxSequence":     "for i in {1..100}; do CRIME; done",
		"maxStack":        rep("pushd a;", 70) + "CRIME",
		"MaxPath":         "cd " + rep("a/", 3_000) + "; CRIME",
		"maxFlags":        "printf '%00000001s' 'CRIME' | sh",
		"maxBracket":      "ls [" + rep("a", 600) + "]; CRIME",
		"maxGuesses":      "foo " + rep("sudo ", 20) + "CRIME",
		"maxMoves":        "mkdir s; printf 'all:\\n\\tCRIME\\n' > s/Makefile; " + copies + "cp -r s z; make -C z",
		"maxMatches":      "for i in {1..210}; do echo ls > s$i.sh; done; echo 'CRIME' > sz.sh; for f in s*.sh; do sh \"$f\"; done",
		"maxStarts":       "find " + rep("d ", 20) + "-exec sh -c 'CRIME' \\;",
		"MaxPattern":      "x=" + rep("a", 5_000) + "'CRIME'; eval \"${x##" + rep("a", 5_000) + "}\"",
		"maxLexemes":      "python3 -c '" + rep("x=1;", 40_000) + "import os;os.system(\"CRIME\")'",
		"maxRecords":      "printf '" + rep(`echo a\n`, 100) + `CRIME\n` + "' | sh",
		"maxElements":     "python3 -c 'import os\nfor x in [" + rep(`"ls",`, 100) + `"CRIME"` + "]: os.system(x)'",
		"maxAgain":        "python3 -c 'import os\ndef f(x): os.system(x)\n" + rep("f(\"ls\")\n", 3_000) + "f(\"CRIME\")'",
		"maxAlternatives": alternatives.String() + "if b$RANDOM; then x='CRIME'; fi; eval \"$x\"",
		"maxRounds":       "for c in " + rep("ls ", 2_100) + "'CRIME'; do eval \"$c\"; done",
		"maxRunners":      `for n in 1 2 3 4 5 6; do printf '#!./r%d\n' $((n+1)) > r$n; chmod +x r$n; done; printf '#!/bin/sh\nCRIME\n' > r7; chmod +x r7; ./r1`,
		"maxAlts":         python(texts.String() + "if a:\n  x = 'CRIME'\nos.system(x)"),
		"maxList":         python("for x in [" + rep("'ls', ", 300) + "'CRIME']:\n  os.system(x)"),
		"maxListMap":      python("d = {" + entries.String() + "'x': 'CRIME'}\nos.system(d['x'])"),
		"maxListFields":   python(fields.String() + "d['x'] = 'CRIME'\nos.system(d['x'])"),
		"maxListValues":   python(fields.String() + "d['x'] = 'CRIME'\nfor x in d.values():\n  os.system(x)"),
		"maxListNames":    python("z = 'ls'\n" + names.String() + "z = " + rep("'ls', ", 300) + "'CRIME'\nos.system(z)"),
		"maxListSum":      python("for x in [" + rep("'ls', ", 200) + "] + [" + elements + "]:\n  os.system(x)"),
		"maxListOr":       python("d = [" + rep("'ls', ", 200) + "]\nif a:\n  d = [" + elements + "]\nos.system(d[i])"),
		"maxListGrown":    python("l = []\n" + rep("l.append('ls')\n", 300) + "l.append('CRIME')\nfor x in l:\n  os.system(x)"),
		"maxListOptions":  python("import argparse\np = argparse.ArgumentParser()\n" + rep("p.add_argument('--x', default='ls')\n", 300) + "p.set_defaults(x='CRIME')\nos.system(p.parse_args().x)"),
		"maxListCalls":    python("list(map(os.system, [" + elements + "]))"),
		"maxListEach":     node("[" + elements + "].forEach(x => execSync(x))"),
		"maxListMember":   node("const d = {" + strings.ReplaceAll(entries.String(), "'k", "'j") + "x: 'CRIME'}; execSync(d.x)"),
		"glued":           python("c = 'ls'\nif a:\n  c = 'CRIME'\nos.system(c + [" + rep("'', ", 40) + "])"),
		"marks":           "echo x | xargs -I@ sh -c ': " + rep("@ ", 10_100) + "\nCRIME'",
		"definitions":     defined + "ls() { CRIME; }\nE\nBASH_ENV=rc bash -c ls",
		"background":      "echo 'CRIME' > x.sh & wait; sh x.sh",
		"otherKey":        python("d = {'a': 'ls'}\nd.update({'x': 'CRIME'})\nos.system(d['x'])"),
		"maxOutputs":      "eval \"" + rep("$(a && echo : || echo ls);", 5) + "$(b && echo 'CRIME' || echo ls)\"",
		"commandCost":     functions.String() + "f0; CRIME",
	}
}

// TestNothingHidesBehindABound puts a crime behind every limit of the reader: the call is
// denied, asked or sent back, but never approved.
func TestNothingHidesBehindABound(t *testing.T) {
	race.Alone(t)
	e := gate(t)
	rows := behind()
	for name, source := range rows {
		for _, crime := range []string{"rm -rf /", "git push --force"} {
			v, err := e.Judge(t.Context(), line(strings.ReplaceAll(source, "CRIME", crime)))
			if _, shape := errors.AsType[*vaglio.ShapeError](err); err != nil && !shape {
				t.Errorf("%s: %v", name, err)
			}
			if v.Approved {
				t.Errorf("%s: %q is approved behind it: %s", name, crime, v.Reason)
			}
		}
	}
	bound := regexp.MustCompile(`^(max|Max)[A-Z]`)
	for _, name := range slices.Concat(constants(t, "shell"), constants(t, "shell/word"), constants(t, "shell/search")) {
		if _, ok := rows[name]; bound.MatchString(name) && !ok {
			t.Errorf("there is no row for the bound %s", name)
		}
	}
}

// constants returns the names of a package's constants.
func constants(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, raw, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range values.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
