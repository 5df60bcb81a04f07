package shell

import (
	"testing"
)

func FuzzRead(f *testing.F) {
	for _, src := range carriers() {
		f.Add(src)
	}
	for _, src := range []string{
		"echo {1..1000000000}", "x=$x$x; x=$x$x", ":(){ :|:& };:", "f() { f; }; f", "for((;;)); do :; done", "a[$((a))]=1", "((a=a))", "declare -n a=a; echo $a", "declare -n a=b b=a; $a",
		"eval 'eval \"$0\"'", "\uf8ff0\uf8fe", "echo \uf8ff99999\uf8fe", "python3 -c \"x = '' * 99; '%s' % (x,)\"", "perl -e '$x{'", "awk '{print $'", "node -e '`${'", "printf %*d", "printf '%99999999d' 1", "printf %.x a",
		"echo ${a:0:-1}", "echo ${a[@]:1:2}", "echo $((1/0)) $((1%0)) $((-9223372036854775808/-1))", "echo ${!a*} ${a@P}", "tr a-\xff b", "xxd -r <<< zz", "env -S '${' x", "xargs -I '' x", "find -exec", "sed s", "ssh -o", "git -c", "cat <<\n", "<<E",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s := Read(src, testOptions())
		for _, p := range s.Problems {
			if p.Kind == ProblemInternal {
				t.Fatalf("Read(%q): %s", src, p.Detail)
			}
		}
		if len(s.Commands) > maxCommands+1 {
			t.Fatalf("Read(%q) yields %d commands", src, len(s.Commands))
		}
		for _, c := range s.Commands {
			for _, w := range c.Argv {
				_, _, _ = w.String(), w.Parts(), w.Prefix()+w.Suffix()
			}
			if c.Span.Start > c.Span.End || c.Span.End > len(src)+1 {
				t.Fatalf("Read(%q): span %+v outside of the source", src, c.Span)
			}
		}
	})
}
