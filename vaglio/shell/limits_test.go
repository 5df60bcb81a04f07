package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

// TestReadBounded checks that sources with endless or exponential work end; otherwise the test
// runs into its deadline.
func TestReadBounded(t *testing.T) {
	race.Alone(t)
	var chain, vars strings.Builder
	for i := range 30 {
		fmt.Fprintf(&chain, "f%d() { f%d; f%d; }; ", i, i+1, i+1)
	}
	for i := range 60_000 {
		fmt.Fprintf(&vars, "v%d=x;", i)
	}
	rep := strings.Repeat
	for name, src := range map[string]string{
		"Calls": chain.String() + "f0", "EvalDoubles": `e='eval "$e"; eval "$e"'; eval "$e"`, "Replace": "x=" + rep("a", 4000) + rep("; y=${x//a*a*a*b/c}", 2000), "Trim": "x=" + rep("a", 4000) + rep("; y=${x##*a*a*a*b}", 2000),
		"Loops": rep("while a; do ", 40) + "x=$x$x; ls; " + rep("done; ", 40), "ForLoops": rep("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "ls; " + rep("done; ", 12), "Pipes": rep("a|", 300_000) + "a", "Ands": rep("a&&", 300_000) + "a",
		"Variables": vars.String(), "Arithmetic": "echo $((" + rep("1+", 300_000) + "1))", "Array": "a=(" + rep("x ", 500_000) + "); for i in \"${a[@]}\"; do ls; done", "Append": rep("a+=(x);", 100_000), "Brackets": "echo " + rep("[", 500_000),
		"Documents": rep("sh <<E\nls\nE\n", 80_000), "Sudo": rep("sudo ", 200_000) + "ls", "EnvSplits": "env -S '" + rep("env -S env ", 20_000) + "ls'", "PythonCalls": "python -c '" + rep("f(", 100_000) + "'", "PerlStrings": "perl -e '" + rep("\"$x$y\".", 60_000) + "'",
		"Finds": "find " + rep("a ", 50_000) + rep("-exec rm {} + ", 20_000), "Substitutions": rep("x=$(echo $x a); ", 50_000), "Tildes": "a=" + rep("~:", 300_000), "Forever": "for ((;;)); do a=$a$a; done", "SelfAlias": "alias a='a b'; a", "References": "declare -n a=b b=a; echo $a",
		"Reading": "while read l; do rm $l; done <<< \"" + rep("a\n", 300_000) + "\"", "Sequence": "for i in {1..1000000000}; do rm $i; done", "Width": "printf '%999999999d' 1 | sh", "Self": "f() { f; }; f", "SelfArithmetic": "a=a; echo $((a))",
	} {
		t.Run(name, func(t *testing.T) {
			if s := Read(src, testOptions()); slices.Contains(kinds(s), ProblemInternal) {
				t.Errorf("the reader failed: %v", s.Problems)
			}
		})
	}
}

func TestReadIsDeterministic(t *testing.T) {
	for name, src := range carriers() {
		a, b := Read(src, testOptions()), Read(src, testOptions())
		if !slices.Equal(shown(a), shown(b)) || !slices.Equal(kinds(a), kinds(b)) {
			t.Errorf("%s: two readings of %q differ", name, src)
		}
	}
}
