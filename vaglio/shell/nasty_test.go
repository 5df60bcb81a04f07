package shell

import (
	"fmt"
	"strings"
)

// nasty returns sources of shapes that cost much for their size, up to a mebibyte divided by
// share.
//
//nolint:maintidx // A table.
func nasty(share int) map[string]string {
	// What repeats only a few times is about depth and stays.
	const few = 500
	rep := func(unit string, n int) string {
		if n > few {
			n = max(few, n/share)
		}
		return strings.Repeat(unit, n)
	}
	fill := func(pre, unit, post string) string {
		n := (MaxSource - len(pre) - len(post)) / len(unit)
		return pre + strings.Repeat(unit, n/share) + post
	}
	num := func(format string, n int) string {
		var b strings.Builder
		if n > few {
			n = max(few, n/share)
		}
		for i := range n {
			fmt.Fprintf(&b, format, i)
			if b.Len() > MaxSource-100 {
				break
			}
		}
		return b.String()
	}
	return map[string]string{
		"Doubling":        "x=a; " + rep("x=$x$x; ", 50),
		"DoublingUse":     "x=a; " + rep("x=$x$x; ", 19) + rep("echo $x;", 1000),
		"DoublingUseArg":  "x=a; " + rep("x=$x$x; ", 16) + rep("echo $x;", 10000),
		"DoublingQuoted":  "x='a b c *'; " + rep("x=\"$x $x\"; ", 15) + rep("echo $x;", 1000),
		"DoublingMany":    fill("x=aaaa;", "x=$x$x;", ""),
		"DoublingPair":    fill("x=aaaa;y=b;", "x=$x$y;y=$y$x;", ""),
		"AppendMany":      fill("x=aaaa;", "x+=a;", ""),
		"AppendSelf":      fill("x=aaaa;", "x+=$x;", ""),
		"UnknownDoubling": fill("", "x=$x$x$y;", ""),
		"Braces":          "echo " + rep("{1..9}", 50),
		"BracesMany":      fill("echo ", "{1..9}{1..9} ", ""),
		"BracesMany4":     fill("echo ", "{1..9}{1..9}{1..9}{1..9};echo ", ""),
		"BracesBig":       fill("", "echo {1..99999};", ""),
		"BracesNest":      "echo " + rep("{a,", 20000) + rep("}", 20000),
		"BracesNest2":     fill("echo ", "{a,{b,{c,{d,e}}}}", ""),
		"BracesComma":     fill("echo {", "a,", "}"),
		"BracesOpen":      fill("echo ", "{a,", ""),
		"Subshells":       rep("(", 90) + "ls" + rep(")", 90),
		"SubshellsMany":   fill("", "((((ls))));", ""),
		"SubshellsMany2":  fill("", "( ( ( (ls) ) ) );", ""),
		"Pipes":           fill("a", "|a", ""),
		"PipesEcho":       fill("echo a", "|cat", ""),
		"PipesText":       fill("echo "+rep("a", 100000), "|cat", ""),
		"PipesTr":         fill("echo "+rep("a", 10000), "|tr a b", ""),
		"PipesRev":        fill("echo "+rep("a", 10000), "|rev", ""),
		"PipesSed":        fill("echo "+rep("a", 1000), "|sed s/a/b/g", ""),
		"PipesSort":       fill("printf '%s\n' "+rep("a ", 1000), "|sort", ""),
		"PipesB64":        fill("echo "+rep("a", 1000), "|base64", ""),
		"PipesHead":       fill("echo "+rep("a", 1000), "|head -n1", ""),
		"PipesCut":        fill("echo "+rep("a ", 1000), "|cut -d' ' -f1-", ""),
		"PipesAwk":        fill("echo "+rep("a ", 1000), "|awk '{print $1}'", ""),
		"PipesXargs":      fill("echo "+rep("a ", 1000), "|xargs echo", ""),
		"PipesTee":        fill("echo "+rep("a ", 1000), "|tee f", ""),
		"Heredocs":        fill("", "cat <<E\na\nE\n", ""),
		"HeredocsSh":      fill("", "sh <<E\na\nE\n", ""),
		"HeredocsPy":      fill("", "python <<E\na()\nE\n", ""),
		"HeredocsOne":     fill("cat", " <<E", "\n"),
		"HeredocBig":      fill("bash <<E\n", "ls -l\n", "E\n"),
		"HeredocNested": func() string {
			s := "ls"
			for i := range 30 {
				s = fmt.Sprintf("bash <<E%d\n%s\nE%d", i, s, i)
			}
			return s
		}(),
		"HeredocTabs":    fill("cat <<-E\n", "\t\t$x\n", "E\n"),
		"Herestrings":    fill("", "cat <<<a;", ""),
		"Case":           fill("case $x in ", "a) ls;;", " esac"),
		"CasePatterns":   fill("case $x in a", "|b", ") ls;; esac"),
		"CaseAssign":     fill("case $x in ", "a) y=1;;", " esac"),
		"CaseAssignMany": "case $x in " + num("a) y%d=1;;", 100000) + " esac",
		"CaseFall":       fill("case $x in ", "a) y=1;;&", " esac"),
		"CaseNest":       rep("case x in a) ", 50) + "y=1" + rep(";; esac", 50),
		"If":             fill("", "if a; then b; fi;", ""),
		"Elif":           fill("if a; then b;", "elif c; then d;", "fi"),
		"ElifAssign":     fill("if a; then b;", "elif c; then x=1;", "fi"),
		"ElifAssignMany": "if a; then b;" + num("elif c; then x%d=1;", 100000) + "fi",
		"IfNest":         rep("if a; then x=1;", 48) + rep("fi;", 48),
		"Arith":          fill("echo $((1", "+1", "))"),
		"ArithMany":      fill("", "echo $((1+1));", ""),
		"ArithParens":    "echo $((" + rep("(", 5000) + "1" + rep(")", 5000) + "))",
		"ArithVars":      fill("a=b; b=c; c=d; d=e; e=1;", "echo $((a));", ""),
		"ArithVarText":   "a='" + rep("1+", 100000) + "1'; " + rep("echo $((a));", 1000),
		"ArithChain": func() string {
			s := "a0=1;"
			for i := range 30 {
				s += fmt.Sprintf("a%d=a%d+a%d;", i+1, i, i)
			}
			return s + "echo $((a30))"
		}(),
		"ArithTern":         fill("echo $((", "1?2:", "3))"),
		"ArithUnary":        fill("echo $((", "- ", "3))"),
		"ArithPow":          fill("", "echo $((9**999));", ""),
		"Assigns":           num("v%d=x;", 200000),
		"AssignsLine":       num("v%d=x ", 200000),
		"AssignsCmd":        num("v%d=x ", 200000) + "ls",
		"AssignsEnv":        "env " + num("v%d=x ", 200000) + "ls",
		"AssignsIf":         "if a; then " + num("v%d=x;", 200000) + "fi",
		"AssignsSub":        "( " + num("v%d=x;", 200000) + ")",
		"AssignsLoop":       "while a; do " + num("v%d=x;", 200000) + "done",
		"AssignsSubMany":    num("v%d=x;", 1000) + rep("(x=1);", 100000),
		"AssignsNestedIf":   rep("if a; then ", 40) + num("v%d=x;", 50000) + rep("fi;", 40),
		"AssignsNestedLoop": rep("while a; do ", 20) + num("v%d=x;", 50000) + rep("done;", 20),
		"Alternatives":      num("if a; then x%[1]d=1; else x%[1]d=2; fi;", 10) + "echo $x0$x1$x2$x3$x4$x5$x6$x7$x8$x9",
		"AlternativesUse":   num("if a; then x%[1]d=1; else x%[1]d=2; fi;", 6) + rep("echo $x0$x1$x2$x3$x4$x5;", 20000),
		"AlternativesGrow":  "if a; then x=1; else x=2; fi;" + rep("x=$x$x;", 1000),
		"AlternativesBig":   "if a; then x=" + rep("1", 300000) + "; else x=" + rep("2", 300000) + "; fi;" + rep("echo $x;", 10000),
		"AndAssign":         fill("a", "&& x=1", ""),
		"OrAssign":          fill("a", "|| x=1", ""),
		"Words":             fill("echo ", "a ", ""),
		"WordsQuoted":       fill("echo ", "'a' ", ""),
		"WordsVar":          fill("echo ", "$a ", ""),
		"WordsGlob":         fill("echo ", "* ", ""),
		"WordsSplit":        "x='" + rep("a ", 5000) + "';" + rep("echo $x;", 20000),
		"WordsSplitBig":     "x='" + rep("a ", 200000) + "';" + rep("echo $x;", 20000),
		"WordsFor":          "x='" + rep("a ", 1000) + "';" + rep("for i in $x; do ls; done;", 5000),
		"WordsRm":           fill("rm ", "a ", ""),
		"WordsSudo":         fill("sudo rm ", "a ", ""),
		"WordsUnknown":      fill("mystery ", "a ", ""),
		"WordsUnknownDestr": fill("mystery ", "rm a ", ""),
		"WordsXargs":        fill("echo ", "a ", "| xargs -I{} rm {}"),
		"WordsXargsMany":    "echo " + rep("a ", 9000) + "| xargs -I{} rm " + rep("{} ", 9000),
		"WordsXargsLines":   "printf '%s\\n' " + rep("a ", 90000) + "| xargs -I{} sh -c 'rm {}'",
		"WordsParallel":     fill("parallel rm {} ::: ", "a ", ""),
		"WordsFind":         fill("find ", "a ", "-exec rm {} +"),
		"Pattern":           "x=" + rep("a", 4000) + rep("; y=${x//a*a*a*b/c}", 2000),
		"PatternTrim":       "x=" + rep("a", 4000) + rep("; y=${x##*a*a*a*b}", 2000),
		"PatternTrimBig":    "x=" + rep("a", 500000) + rep("; y=${x##*b}", 20000),
		"PatternTrimBig2":   "x=" + rep("a", 500000) + rep("; y=${x%%b*}", 20000),
		"PatternChain":      fill("x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;", "x=${x/a/aa};", ""),
		"PatternChainAll":   fill("x=aaaa;", "x=${x//a/aa};", ""),
		"PatternExt":        "x=" + rep("a", 4000) + rep("; y=${x//+(a|aa|aaa)b/c}", 2000),
		"Slice":             "x=" + rep("a", 500000) + rep("; y=${x:1}", 20000),
		"Length":            "x=" + rep("a", 500000) + rep("; y=${#x}", 20000),
		"Upper":             "x=" + rep("a", 500000) + rep("; y=${x^^}", 20000),
		"Default":           fill("", "echo ${a:-${b:-${c:-d}}};", ""),
		"DefaultNest":       "echo " + rep("${a:-", 3000) + rep("}", 3000),
		"Indirect":          fill("a=b; b=c; c=d;", "echo ${!a};", ""),
		"Names":             num("v%d=x;", 50000) + rep("echo ${!v*};", 10000),
		"Array":             fill("a=(", "x ", ");echo ${a[@]}"),
		"ArrayAppend":       fill("", "a+=(x);", ""),
		"ArrayIndex":        num("a[%d]=x;", 200000),
		"ArrayUse":          "a=(" + rep("x ", 5000) + ");" + rep("echo ${a[@]};", 10000),
		"ArrayUseQuoted":    "a=(" + rep("x ", 5000) + ");" + rep("echo \"${a[*]}\";", 10000),
		"ArrayNest":         "a=(" + rep("x ", 10) + ");" + rep("a=(${a[@]} ${a[@]});", 1000),
		"ArrayLen":          "a=(" + rep("x ", 5000) + ");" + rep("echo ${#a[@]};", 10000),
		"Assoc":             "declare -A m;" + num("m[k%d]=x;", 100000),
		"SetArgs":           "set -- " + rep("x ", 9000) + ";" + rep("echo $@;", 10000),
		"SetShift":          "set -- " + rep("x ", 9000) + ";" + rep("shift;", 10000),
		"SetGrow":           "set -- a;" + rep("set -- $@ $@;", 10000),
		"Functions":         num("f%d() { ls; };", 50000),
		"FunctionsCall":     "f() { ls; };" + rep("f;", 200000),
		"FunctionsArgs":     "f() { ls $@; }; f " + rep("a ", 200000),
		"FunctionsDyn":      num("f%d() { ls; };", 50000) + "$x",
		"FunctionsNest":     "f() { g; }; g() { h; }; h() { ls; };" + rep("f;", 100000),
		"FunctionsChain": func() string {
			s := ""
			for i := range 30 {
				s += fmt.Sprintf("f%d() { f%d; f%d; };", i, i+1, i+1)
			}
			return s + "f0"
		}(),
		"Aliases": num("alias a%d=ls;", 50000) + rep("a1;", 10000),
		"AliasChain": func() string {
			s := ""
			for i := range 60 {
				s += fmt.Sprintf("alias a%d='a%d a%d';\n", i, i+1, i+1)
			}
			return s + "a0"
		}(),
		"Subst":         fill("", "echo $(ls);", ""),
		"SubstNest":     rep("echo $(", 45) + rep(")", 45),
		"SubstBacktick": fill("", "echo `ls`;", ""),
		"ProcSubst":     fill("cat ", "<(ls) ", ""),
		"Eval":          fill("", "eval 'ls';", ""),
		"EvalVar":       "x='ls;ls;ls;ls;';" + rep("eval \"$x$x$x$x\";", 50000),
		"EvalBig":       "x='" + rep("ls;", 1000) + "';" + rep("eval \"$x\";", 1000),
		"EvalDoubles":   `e='eval "$e"; eval "$e"'; eval "$e"`,
		"BashC":         fill("", "bash -c ls;", ""),
		"BashCNest": func() string {
			s := "ls"
			for range 12 {
				s = "bash -c '" + strings.ReplaceAll(s, "'", `'\''`) + "'"
				if len(s) > 500000 {
					break
				}
			}
			return s
		}(),
		"Python":          fill("python -c '", "os.system(\"ls\");", "'"),
		"PythonNest":      "python -c '" + rep("f(", 100000) + "'",
		"PythonConcat":    fill("python -c 'x=1;", "x=x+x;", "'"),
		"PythonConcatStr": fill("python -c 'x=\"a\";", "x+=x;", "'"),
		"PythonAlt":       fill("python -c 'x=[1,2,3];", "os.remove(x);", "'"),
		"PythonFor":       fill("python -c '", "for x in [1,2,3]: os.remove(x)\n", "'"),
		"PythonMany":      fill("", "python -c 'import os; os.remove(1)';", ""),
		"PythonListNest":  fill("python -c '", "[", "'"),
		"PythonStr":       fill("python -c '", "\"a\" ", "'"),
		"PythonFstr":      fill("python -c '", "f\"{a}\" ", "'"),
		"PythonExec":      "python -c '" + rep("exec(\"", 50) + "'",
		"Perl":            fill("perl -e '", "system(\"ls\");", "'"),
		"PerlStr":         fill("perl -e '", "\"$x$y\".", "'"),
		"Node":            fill("node -e '", "`${a}`+", "'"),
		"Awk":             fill("awk '", "{print $1 | \"ls\"}", "'"),
		"Awk2":            fill("awk '", "a b ", "'"),
		"Make":            fill("make -f - <<E\nall:\n", "\tls\n", "E\n"),
		"MakeShell":       fill("make -f - <<E\n", "$(shell ls)", "\nE\n"),
		"Crontab":         fill("crontab - <<E\n", "* * * * * ls\n", "E\n"),
		"SedE":            fill("sed '", "e ls\n", "'"),
		"SedExprs":        fill("echo a | sed ", "-e s/a/b/ ", ""),
		"SedRegex":        "echo " + rep("a", 1000) + " | sed -E '" + rep("s/(a*)*b/c/;", 10000) + "'",
		"Printf":          fill("printf '", "%s", "' a"),
		"PrintfRepeat":    fill("printf '%s' ", "a ", ""),
		"PrintfPair":      "printf '" + rep("x", 5000) + "%s' " + rep("a ", 100000) + " | sh",
		"PrintfWidth":     fill("", "printf '%4000d' 1 | sh;", ""),
		"PrintfWidth1":    fill("printf '", "%4000d", "' 1 | sh"),
		"Tildes":          fill("a=", "~:", ""),
		"Brackets":        fill("echo ", "[", ""),
		"Brackets2":       fill("echo ", "[a", ""),
		"Backslash":       fill("echo ", "\\a", ""),
		"Quotes":          fill("echo ", "\"a\"", ""),
		"Ansi":            fill("echo ", "$'\\x41'", ""),
		"DollarOpen":      fill("echo ", "${", ""),
		"ParenOpen":       fill("", "(", ""),
		"SubstOpen":       fill("", "$(", ""),
		"BraceOpen":       fill("", "{ ", ""),
		"IfOpen":          fill("", "if ", ""),
		"ArithOpen":       fill("", "$((", ""),
		"DblOpen":         fill("", "\"$(", ""),
		"HereOpen":        fill("", "<<a ", ""),
		"HereOpenNum":     num("cat <<E%d;", 100000),
		"Garbage":         fill("", "\x00\xff", ""),
		"Newlines":        fill("", "\n", ""),
		"Semis":           fill("", ";", ""),
		"Comments":        fill("", "#a\n", ""),
		"Background":      fill("", "a&", ""),
		"Redirs":          fill("a ", ">b ", ""),
		"RedirsHere":      fill("cat ", "<<<b ", ""),
		"RedirsMany":      fill("", "a>b;", ""),
		"RedirsFiles":     num("echo a>f%d;", 100000),
		"AppendFile":      fill("", "echo a>>b;", ""),
		"CatFile":         "echo " + rep("a", 300000) + ">f;" + rep("cat f f f>g;", 10000),
		"CatGrow":         "echo a>f;" + rep("cat f f>g;cat g g>f;", 10000),
		"Reads":           fill("", "read x<<<a;", ""),
		"ReadLoop":        "while read l; do rm $l; done <<< \"" + rep("a\n", 300000) + "\"",
		"Mapfile":         "mapfile -t a <<< \"" + rep("a\n", 300000) + "\";" + rep("echo ${a[@]};", 1000),
		"For":             fill("", "for i in 1 2 3; do ls; done;", ""),
		"ForBig":          fill("for i in ", "1 ", "; do ls; done"),
		"ForNest":         rep("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "ls; " + rep("done; ", 12),
		"ForC":            fill("", "for ((i=0;i<9;i++)); do ls; done;", ""),
		"While":           fill("", "while a; do b; done;", ""),
		"WhileNest":       rep("while a; do ", 40) + "x=$x$x; ls; " + rep("done; ", 40),
		"Trap":            fill("", "trap ls EXIT;", ""),
		"Cd":              fill("", "cd a;", ""),
		"CdUse":           fill("", "cd a;ls;", ""),
		"Pushd":           fill("", "pushd a;", ""),
		"Local":           "f() { " + rep("local x=1;", 50000) + "}; f",
		"LocalRec":        "f() { local x=$1; f $x$x; }; f aaaaaaaaaaaaaaaa",
		"Decl":            fill("", "declare x=1;", ""),
		"DeclLine":        fill("declare ", "x=1 ", ""),
		"Ref":             fill("declare -n r=x;", "r=1;", ""),
		"Sudo":            fill("", "sudo ", "ls"),
		"EnvS":            "env -S '" + rep("env -S env ", 20000) + "ls'",
		"EnvSBig":         "env -S '" + rep("a ", 200000) + "'",
		"Git":             fill("git ", "-c alias.a=!ls ", "a"),
		"Test":            fill("[[ a ", "&& a ", "]]"),
		"TestOld":         fill("[ a ", "-a a ", "]"),
		"TestParens":      "[[ " + rep("( ", 3000) + "a" + rep(" )", 3000) + " ]]",
		"Seq":             fill("", "for i in $(seq 9999); do ls; done;", ""),
		"SeqBig":          fill("", "echo $(seq 99999);", ""),
		"Yes":             fill("", "yes | head -n 9999 | sh;", ""),
		"Bomb":            fill("", ":(){ :|:& };:;", ""),
		"UnknownName":     fill("", "$x;", ""),
		"UnknownNameArgs": fill("$x ", "a ", ""),
		"Holes":           fill("", "sh -c \"ls $x\";", ""),
		"HolesOne":        fill("sh -c \"", "ls $x;", "\""),
		"Xxd":             fill("echo ", "61", " | xxd -r -p | sh"),
		"B64":             fill("echo ", "bHMK", " | base64 -d | sh"),
		"Ssh":             fill("", "ssh h ls;", ""),
		"Docker":          fill("", "docker run a ls;", ""),
		"NotFound":        fill("command_not_found_handle() { ls; }\n", "a;", ""),
		"HashP":           fill("hash -p /bin/rm w;", "w;", ""),
	}
}
