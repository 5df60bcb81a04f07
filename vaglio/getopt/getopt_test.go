package getopt

import (
	"fmt"
	"strings"
	"testing"
)

// shown writes a split as its flags, "name" or "name=value" with ? for a guess and ! for off, a
// bar, and the operands.
func shown(g *Grammar, in Manner, line string) string {
	words := strings.Fields(line)
	s := g.Split(words, in, nil, nil)
	var out []string
	for _, f := range s.Flags {
		t := f.Name
		if f.Has {
			t += "=" + words[f.At][f.Cut:]
		}
		if f.Guessed {
			t += "?"
		}
		if f.Off {
			t += "!"
		}
		out = append(out, t)
	}
	return strings.Join(append(append(out, "|"), s.All()...), " ")
}

// of returns the grammar of a program p that is all there is in a table.
func of(tb testing.TB, rows string) *Grammar {
	tb.Helper()
	t, err := read("t.txt", "@list = -l --list\n[p] "+rows)
	if err != nil {
		tb.Fatal(err)
	}
	return t.grammars["p"]
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, line, want string
		in               Manner
	}{
		{rows: "", line: "a -b c --d e", want: "-b --d | a c e"},
		{rows: "-b", line: "a -b c d", want: "-b=c | a d"},
		{rows: "-b", line: "-bc d", want: "-bc -b=c | d"},
		{rows: "-b", line: "-abc d -b", want: "-abc -a -b=c -b | d"},
		{rows: "-b", line: "-aab c", want: "-aab -a -b=c |"},
		{rows: "-b", line: "-b=c d", want: "-b=c -b==c | d"},
		{rows: "-c", in: Manner{Signs: true}, line: "-c=x d", want: "-c=x | d"},
		{rows: "-b", line: "- -b -- -c", want: "-b=-- -c | -"},
		{rows: "-b", line: "a -- -b c", want: "| a -b c"},
		{rows: "--mode", line: "--mode=x --mode y --other=z --dry-run=none w", want: "--mode=x --mode=y --other=z --dry-run=none! | w"},
		{rows: "--mode", line: "--mod y --mo z", want: "--mode=y --mo | z"},
		{rows: "--mode", line: "--mod=y z", want: "--mode=y | z"},
		{rows: "-t --target-directory --to", in: Manner{Loose: true}, line: "--target-dir /etc x", want: "--target-dir=/etc? | /etc x"},
		{rows: "-t --target-directory --to", in: Manner{Loose: true}, line: "--ta=/etc x", want: "--ta=/etc | x"},
		{rows: "-t --target-directory --to", in: Manner{Loose: true}, line: "--t /etc -v", want: "--t=/etc? -v | /etc"},
		{rows: "-t --target-directory --to", in: Manner{Loose: true}, line: "-v x", want: "-v | x"},
		{rows: "-t --target-directory --to", in: Manner{Loose: true}, line: "x --targ", want: "--targ? | x"},
		{rows: "--watch-path --watch!", line: "--watch a --watch-p b", want: "--watch --watch-path=b | a"},
		{rows: "exact --watch-path", line: "--watch a --watch-path b", want: "--watch --watch-path=b | a"},
		{rows: "exact\nadd = --watch-path", line: "add --watch a", want: "--watch | add a"},
		{rows: "--watch-path --watch!", in: Manner{Loose: true}, line: "--watch a --wat b", want: "--watch --wat=b? | a b"},
		{rows: "-c --chdir", in: Manner{Leading: true}, line: "-c x --chdir y rm -rf z", want: "-c=x --chdir=y | rm -rf z"},
		{rows: "-c --chdir", in: Manner{Leading: true}, line: "-v -- rm -c", want: "-v | rm -c"},
		{rows: "single -exec -x --type", line: "-exec a --exec b -exe c -type d -x e -xf", want: "-exec=a --exec=b -exec=c -type=d -x=e -xf |"},
		{rows: "-p?", line: "-pSECRET x -p y", want: "-pSECRET -p=SECRET -p | x y"},
		{rows: "-S", in: Manner{Leading: true, Last: []string{"-S"}}, line: "-i -S x -S y", want: "-i -S=x | -S y"},
		{rows: "bundle -f -C", line: "xfC a.tar dir y -f z", want: "-x -f=a.tar -C=dir -f=z | y"},
		{rows: "bundle -f -C", line: "xxf a.tar", want: "-x -f=a.tar |"},
		{rows: "bundle -f -C", line: "-x f", want: "-x | f"},
		{rows: "modes -m", line: "file -w -R -m x", want: "-R -m=x | -w file"},
		{rows: "colon --eval", line: "--eval:a=b c", want: "--eval=a=b | c"},
		{rows: "colon --eval", line: "--eval=a:b --run:x", want: "--eval=a:b --run=x |"},
		{rows: "--eval", line: "--eval:a b", want: "--eval:a | b"},
		{rows: "once signals -s", line: "-9 -1", want: "-9 | -1"},
		{rows: "once signals -s", line: "-KILL 1 -s", want: "-KILL | 1 -s"},
		{rows: "once signals -s", line: "-1", want: "-1 |"},
		{rows: "once signals -s", line: "-s x 1", want: "-s=x | 1"},
		{rows: "@list -b", line: "-l a --list b -b c d", want: "-l=a --list=b -b=c | d"},
		{rows: "-C\nadd|rm = -m\nstash push = -p\n* =", line: "-C a add -C b -m c -p d", want: "-C=a -C -m=c -p | add b d"},
		{rows: "-C\nadd|rm = -m\nstash push = -p\n* =", line: "rm -m a", want: "-m=a | rm"},
		{rows: "-C\nadd|rm = -m\nstash push = -p\n* =", line: "stash -p push -p b", want: "-p -p=b | stash push"},
		{rows: "-C\nadd|rm = -m\nstash push = -p\n* =", line: "see -C a -m b", want: "-C -m | see a b"},
		{rows: "-m -c\n-m = -d", line: "-c a -m b -c c d -d e", want: "-c=a -m=b -c -d=e | c d"},
	} {
		if got := shown(of(t, c.rows), c.in, c.line); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.rows, c.line, got, c.want)
		}
	}
}

// TestSplitOfLongBundles checks that a long bundle makes few flags.
func TestSplitOfLongBundles(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"-" + strings.Repeat("ab", 1<<19), strings.Repeat("ab", 1<<19)} {
		g := of(t, "bundle")
		s := g.Split([]string{word, "x"}, Manner{}, nil, nil)
		if len(s.Flags) > 3 || fmt.Sprint(s.All()) != "[x]" {
			t.Errorf("%.10s…: %d flags, operands %.40s", word, len(s.Flags), fmt.Sprint(s.All()))
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	bsd := of(t, "-i? -e").Split([]string{"-i", "", "-e", "s", "f"}, Manner{}, nil, nil)
	if got := fmt.Sprintf("%q %q", bsd.Values("-i", "-e"), bsd.All()); got != `["" "s"] ["f"]` {
		t.Error(got)
	}
	s := of(t, "-f --file -j").Split(strings.Fields("-f a --fil=b -j 4 -kf c x"), Manner{}, nil, nil)
	if got := fmt.Sprint(s.Values("-f", "--file"), s.All()); got != "[a b c] [x]" {
		t.Error(got)
	}
}

// TestMistakesInTheTable checks that an error names its place. No program has its options in two
// places.
func TestMistakesInTheTable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a] -b\n[c a] -d":    `t.txt:2:4: "a" has its options elsewhere`,
		"[a] -b -c -b":        `t.txt:1:5: "-b" is not an option, or is listed twice`,
		"[a] -b? -b":          `t.txt:1:9: "-b" is not an option, or is listed twice`,
		"@l = -b\n[a] @l -b":  `t.txt:2:8: "-b" is not an option, or is listed twice`,
		"[a] -b\n  bundel":    `t.txt:2:3: "bundel" is not an option, or is listed twice`,
		"[a] -b\nrun = value": `t.txt:2:7: "value" is not an option, or is listed twice`,
		"[a -b":               `t.txt:1:1: want [names] attributes, words = attributes or @list = elements, got "[a"`,
		"run = -b":            `t.txt:1:1: "run" stands below no [names]`,
		"[a]\nrun -b":         `t.txt:2:1: want [names] attributes, words = attributes or @list = elements, got "run"`,
	} {
		if _, err := read("t.txt", text); err == nil || err.Error() != want {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	if _, err := read("options.txt", tableText); err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]string{
		"git": "-C", "python3": "-m", "python3.12": "-W", "partclone.ext4": "-o", "make": "-j",
	} {
		if !Of(name).Takes(option) {
			t.Errorf("%s %s takes no value", name, option)
		}
	}
	for name, option := range map[string]string{"git": "-y", "nothing": "-x", "parallel": "-t", "mkfs": "-y"} {
		if Of(name).Takes(option) {
			t.Errorf("%s %s takes a value", name, option)
		}
	}
	if g := Of("git"); !g.Under("commit").Takes("-m") || g.Under("push", "x").Takes("-m") {
		t.Error("a subcommand of git has other options")
	}
}
