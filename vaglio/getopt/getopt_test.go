package getopt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/getopt"
)

// shown writes a split as its flags, "name" or "name=value" with ? for a guess and ! for off, a
// bar, and the operands.
func shown(g getopt.Grammar, line string) string {
	words := strings.Fields(line)
	g.Settle()
	s := g.Split(words, nil, nil)
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

func of(values string) getopt.Grammar {
	g := getopt.Grammar{Values: map[string]bool{}}
	for v := range strings.FieldsSeq(values) {
		g.Values[v] = true
	}
	return g
}

func TestSplit(t *testing.T) {
	t.Parallel()
	leading, signs, loose, single := of("-c --chdir"), of("-c"), of("-t --target-directory --to"), of("-exec -x --type")
	leading.Leading, signs.Signs, loose.Loose, single.Single = true, true, true, true
	glued, first, last := of(""), of("-v"), of("-S")
	glued.Glued, first.First, last.Last = map[string]bool{"-p": true}, map[string]bool{"-n": true}, []string{"-S"}
	last.Leading = true
	bundle, modes, once := of("-f -C"), of("-m"), of("-s")
	bundle.Bundle, modes.Modes, once.Once, once.Signals = true, true, true, true
	for _, c := range []struct {
		grammar    getopt.Grammar
		line, want string
	}{
		{getopt.Grammar{}, "a -b c --d e", "-b --d | a c e"},
		{of("-b"), "a -b c d", "-b=c | a d"},
		{of("-b"), "-bc d", "-bc -b=c | d"},
		{of("-b"), "-abc d -b", "-abc -a -b=c -b | d"},
		{of("-b"), "-aab c", "-aab -a -b=c |"},
		{of("-b"), "-b=c d", "-b=c -b==c | d"},
		{signs, "-c=x d", "-c=x | d"},
		{of("-b"), "- -b -- -c", "-b=-- -c | -"},
		{of("-b"), "a -- -b c", "| a -b c"},
		{of("--mode"), "--mode=x --mode y --other=z --dry-run=none w", "--mode=x --mode=y --other=z --dry-run=none! | w"},
		{of("--mode"), "--mod y --mo z", "--mode=y --mo | z"},
		{of("--mode"), "--mod=y z", "--mode=y | z"},
		{loose, "--target-dir /etc x", "--target-dir=/etc? | /etc x"},
		{loose, "--ta=/etc x", "--ta=/etc | x"},
		{loose, "--t /etc -v", "--t=/etc? -v | /etc"},
		{loose, "-v x", "-v | x"},
		{loose, "x --targ", "--targ? | x"},
		{leading, "-c x --chdir y rm -rf z", "-c=x --chdir=y | rm -rf z"},
		{leading, "-v -- rm -c", "-v | rm -c"},
		{single, "-exec a --exec b -exe c -type d -x e -xf", "-exec=a --exec=b -exec=c -type=d -x=e -xf |"},
		{glued, "-pSECRET x -p y", "-pSECRET -p=SECRET -p | x y"},
		{first, "-n a b -n c -v d", "-n=a -n -v=d | b c"},
		{last, "-i -S x -S y", "-i -S=x | -S y"},
		{bundle, "xfC a.tar dir y -f z", "-x -f=a.tar -C=dir -f=z | y"},
		{bundle, "xxf a.tar", "-x -f=a.tar |"},
		{bundle, "-x f", "-x | f"},
		{modes, "file -w -R -m x", "-R -m=x | -w file"},
		{once, "-9 -1", "-9 | -1"},
		{once, "-KILL 1 -s", "-KILL | 1 -s"},
		{once, "-1", "| -1"},
		{once, "-s x 1", "-s=x | 1"},
	} {
		if got := shown(c.grammar, c.line); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestSplitOfLongBundles checks that a long bundle makes few flags.
func TestSplitOfLongBundles(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"-" + strings.Repeat("ab", 1<<19), strings.Repeat("ab", 1<<19)} {
		g := getopt.Grammar{Bundle: true}
		s := g.Split([]string{word, "x"}, nil, nil)
		if len(s.Flags) > 3 || fmt.Sprint(s.All()) != "[x]" {
			t.Errorf("%.10s…: %d flags, operands %.40s", word, len(s.Flags), fmt.Sprint(s.All()))
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	g := of("-f --file -j")
	g.Settle()
	s := g.Split(strings.Fields("-f a --fil=b -j 4 -kf c x"), nil, nil)
	if got := fmt.Sprint(s.Values("-f", "--file"), s.All()); got != "[a b c] [x]" {
		t.Error(got)
	}
}
