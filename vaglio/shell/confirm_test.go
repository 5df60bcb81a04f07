package shell

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

// probeScript prints its words, so that bash's view of a source can be compared with the reader's.
const probeScript = "#!/bin/sh\nfor w do printf '<%s>' \"$w\"; done\necho\n"

// bashLines runs a source in bash, in an empty folder with only probe and the core utilities, and
// returns what the probes printed.
func bashLines(t *testing.T, src string) []string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to compare with")
	}
	bin, cwd := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "probe"), []byte(probeScript), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "--noprofile", "-c", src)
	cmd.Dir = cwd
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=/home/user", "LC_ALL=C.UTF-8"}
	var out bytes.Buffer
	cmd.Stdout = &out
	_ = cmd.Run() // A source may fail after its probes.
	var lines []string
	for l := range strings.Lines(out.String()) {
		lines = append(lines, strings.TrimSuffix(l, "\n"))
	}
	return lines
}

// readLines returns the probes of a source as the reader sees them. An unknown word shows as such
// and so never equals what bash prints.
func readLines(src string) []string {
	s := Read(src, Options{Home: "/home/user", Cwd: "/work"})
	var out []string
	for _, c := range s.Commands {
		if c.Name != "probe" || c.Wrapper {
			continue
		}
		var b strings.Builder
		for _, w := range c.Argv[1:] {
			b.WriteString("<" + w.String() + ">")
		}
		out = append(out, b.String())
	}
	return out
}

func compareWithBash(t *testing.T, src string) {
	t.Helper()
	got := readLines(src)
	want := bashLines(t, src)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\n read: %q\n bash: %q", src, got, want)
	}
}

const setting = `a='x y'; b=foo.tar.gz; c=; d=/u/v/w; e='a*b'; arr=(1 '2 3' 4); n=7; dx=1; dy="2 3"; d1=4; set -- p 'q r' s; ` + "\n"

func TestConfirmWords(t *testing.T) {
	for _, w := range []string{
		`a b`, `'a  b'`, `"a  b"`, `a\ b`, `a"b"'c'\d`, `$a`, `"$a"`, `${a}b`, `"${a}"b`, `$c`, `"$c"`, `x$c`, `$c$c`, `"$@"`, `$@`, `"$*"`, `$*`, `"x$@y"`, `$#`,
		`"${arr[@]}"`, `${arr[@]}`, `"${arr[*]}"`, `${arr[1]}`, `"${arr[1]}"`, `${#arr[@]}`, `${#a}`, `"x${arr[@]}y"`, `${b%.*}`, `${b%%.*}`, `${b#*.}`, `${b##*.}`, `${d##*/}`, `${d%/*}`,
		`${b/o/0}`, `${b//o/0}`, `${b/#f/F}`, `${b/%z/Z}`, `${b//[aeiou]/_}`, `${b^^}`, `${d,,}`, `${b:2}`, `${b:2:3}`, `${b: -3}`, `${b:0:-3}`, `${c:-d e}`, `"${c:-d e}"`, `${c-d}`, `${c:+x}`, `${a:+x y}`, `${c:=z}$c`,
		`${zz+x}`, `$((1+2))`, `$((n*2))`, `$((0x1f))`, `$((n%4))`, `$((-3/2))`, `$((1<<4|3))`, `$((n==7&&1))`, `{a,b}`, `x{a,b}y`, `{a,b}{c,d}`, `{1..5}`, `{5..1}`, `{a..e..2}`, `{01..10..3}`, `{a}`, `{}`, `{a,b`, `a,b}`,
		`{a,{b,c}d}`, `$d{x,y}`, `$d{1..1}`, `"$d"{x,y}`, `${d}{x,y}`, `x$d{x,y}"z"`, `$d{x,y}/z`, `"{a,b}"`, `\{a,b}`, `{'a b',c}`, `{$n,b}`, `~`, `~/x`, `"~"`, `x~`, `~+x`, `a=~/x`, `--a=~/x`, `$'a\tb'`, `$'\x41\102\u0043'`, `$'a\'b'`, `$"x"`, `$(echo a b)`, `"$(echo 'a  b')"`, "`echo a`", `$(printf '%s\n' a b)`, `"$(printf 'a\n\n')"`, `$(echo "$(echo x)")`,
		`'*'`, `"$e"`, `\*`, `*`, `[a-c]x`, `a?b`, `$e`, `[`, `!`, `a!b`, `-`, `--`, `=`, `a=b`, `#x`, `x#y`, `"a\"b"`, `"a\$b"`, `"a\\b"`, `"a\nb"`, `'a\nb'`, `a\
b`, `"a\
b"`, `$n$n`, `"$n"x"$a"`, `${n}0`, `$1`, `$2`, `"$2"`, `${2}x`, `$0x1`, `${!n}`, `${a/ /_}`, `"${a/x/$n}"`, `${d//\//.}`, `"${d#/u}"`, `${b%"$c"}`, `${b%".gz"}`, `"${b%.g?}"`, `${e#a\*}`, `"${e#'a*'}"`, `"${zz:-'q'}"`, `${zz:-'q'}`, `"${zz:-"r s"}"`, `${zz:-"r s"}`,
	} {
		if strings.HasPrefix(w, "#") || strings.Contains(w, "zz") || w == "$0x1" || w == "${!n}" {
			continue // A comment, or a variable that the environment may have.
		}
		compareWithBash(t, setting+"probe "+w)
	}
}

func TestConfirmStatements(t *testing.T) {
	for _, src := range []string{
		`for x in 1 "2 3" {4..5}; do probe "$x"; done`,
		`for x; do probe "$x"; done`,
		`f() { probe "$@"; shift; probe "$1" $#; }; f a 'b c' d`,
		`f() { local a=1; g; }; g() { probe "$a"; }; f; probe "$a"`,
		`x=1; (x=2; probe $x); probe $x`,
		`x=1; { x=2; }; probe $x`,
		`x=1 probe "$n"`,
		`eval "probe '$a' \$n"`,
		`sh -c 'probe "$0" "$@"' z "$a" b`,
		`bash -c "probe '$a'"`,
		`echo "probe $n" | sh`,
		`sh <<< "probe '$a'"`,
		"sh <<E\nprobe $n \"\\$HOME\"\nE",
		"sh <<'E'\nprobe \"$HOME\"\nE",
		"sh <<-E\n\tprobe $n\n\tE",
		`printf '%s\n' "probe 1" 'probe 2' | bash`,
		`printf 'probe \162\155' | bash`,
		`echo cHJvYmUgaGk= | base64 -d | sh`,
		`echo 'ih eborp' | rev | sh`,
		`echo 'qrobe x' | tr q p | sh`,
		`printf '1 2\n3\n' | xargs probe a`,
		`printf '1 2\n3\n' | xargs -I{} probe '<{}>'`,
		`printf '1\n2\n' | xargs -n 2 probe`,
		`env A=b probe x`,
		`env -S 'probe "a b" c' d`,
		`nice -n 1 timeout 5 probe "$a"`,
		`nohup probe x`,
		`command probe x; builtin eval 'probe y'`,
		`exec probe x`,
		`source <(echo probe x)`,
		`. /dev/stdin <<< 'probe y'`,
		`echo 'probe z' > f; . ./f; sh f; bash < f`,
		"alias p='probe 1'\nshopt -s expand_aliases",
		`set -- a b; probe "$2"; set c; probe "$1"`,
		`IFS=,; x=a,b,,c; probe $x "$x"`,
		`IFS=:; x=':a: b :'; probe $x`,
		`x='  a  b '; probe $x`,
		`read -r x y <<< 'a b c'; probe "$x" "$y"`,
		`IFS=: read -r x y <<< 'a:b:c'; true`,
		`mapfile -t l <<< $'a\nb c'; probe "${l[@]}"`,
		`declare -n r=a; probe "$r"`,
		`declare -u U=abc; probe $U`,
		`printf -v x '%s-%s' 1 2; probe $x`,
		`arr+=(5); probe "${arr[@]}"; arr[0]=z; probe "${arr[0]}"`,
		`x=a; x+=b; probe $x`,
		`unset a; probe "${a-unset}"`,
		`probe "$(cd /; pwd)"`,
		`cd /usr; cd ..; probe "$PWD"; cd - >/dev/null; true`,
		`pushd / >/dev/null; probe "$PWD"`,
		`trap 'probe bye' EXIT`,
		`probe "$(dirname /a/b)" "$(basename /a/b.c .c)"`,
		`probe $(seq 3)`,
		`probe "$(< /dev/null)"`,
		`exec 5<<< 'probe q'; . /dev/fd/5`,
		`exec {fd}<<< 'r s'; read -u $fd x y; probe "$y"`,
		`probe "$(cat <<X
a $n
X
)"`,
	} {
		compareWithBash(t, setting+src)
	}
}

// TestConfirmRandom compares random words, built from significant pieces, with bash.
func TestConfirmRandom(t *testing.T) {
	race.Alone(t)
	pieces := []string{
		"a", "'b c'", `"d  e"`, `\f`, "${a}", `"$a"`, "${c}", `"$c"`, "${b%.*}", `"${b##*.}"`, "${n}", "{x,y}", "{1..3}", "$((n+1))", "$(echo g h)", `"$(echo g  h)"`, `$'\t'`,
		"${arr[1]}", `"${arr[@]}"`, "$@", `"$@"`, "~/", "/q", ".", "*", "=", ",", "-", "${d}", "${d//u/U}", `"${a:1}"`, "${c:-z}", `"${c:-y z}"`,
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var src strings.Builder
	src.WriteString(setting)
	for range 300 {
		src.WriteString("probe")
		for range 1 + rnd.IntN(3) {
			src.WriteString(" ")
			for range 1 + rnd.IntN(4) {
				src.WriteString(pieces[rnd.IntN(len(pieces))])
			}
		}
		src.WriteString("\n")
	}
	got := readLines(src.String())
	want := bashLines(t, src.String())
	lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(src.String(), setting), "\n"), "\n")
	if len(want) != len(got) || len(lines) != len(got) {
		t.Fatalf("%d probes, bash has %d, want %d", len(got), len(want), len(lines))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s\n read: %s\n bash: %s", lines[i], got[i], want[i])
		}
	}
}

// TestConfirmFlow puts statements of testdata/flow.txt together at random, each of which makes a name of
// the one before, and checks that no name is taken for another one than bash computes. The full run has
// four times as many programs.
func TestConfirmFlow(t *testing.T) {
	race.Alone(t)
	text, err := os.ReadFile("testdata/flow.txt")
	if err != nil {
		t.Fatal(err)
	}
	steps, ends, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n===\n")
	programs := 600
	if testing.Short() {
		programs = 50
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range programs {
		src := flowing(rnd, strings.Split(steps, "\n---\n"), strings.Split(ends, "\n---\n"))
		s := Read(src, Options{Home: "/home/user", Cwd: "/work"})
		if len(s.Problems) > 0 {
			continue // a finding
		}
		read := probed(s)
		for _, line := range bashLines(t, src) {
			if !slices.ContainsFunc(read, func(re *regexp.Regexp) bool { return re.MatchString(line) }) {
				t.Errorf("%s\n read: %v\n bash: %q", src, read, line)
			}
		}
	}
}

// flowing makes a program of some of the steps and one of the ends. Letters between at signs are names, or texts.
func flowing(rnd *rand.Rand, steps, ends []string) string {
	texts := []string{"src", "out", "dist", "tmp", "lib", "app", "x", "old", "new", "log", "a-b", "c_d"}
	oneOf := func(list []string) string { return list[rnd.IntN(len(list))] }
	var src strings.Builder
	name := func(n int, what string) string { return what + strconv.Itoa(n) }
	src.WriteString("n0=" + oneOf(texts) + "\n")
	last := 1 + rnd.IntN(4)
	for n := range last {
		fill := strings.NewReplacer("@v@", name(n, "n"), "@n@", name(n+1, "n"), "@a@", name(n, "a"), "@b@", name(n, "b"), "@c@", name(n, "c"),
			"@s@", oneOf(texts), "@t@", oneOf(texts), "@w@", oneOf(texts), "@z@", oneOf(texts), "@i@", strconv.Itoa(rnd.IntN(3)), "@j@", strconv.Itoa(1+rnd.IntN(4)))
		src.WriteString(fill.Replace(oneOf(steps)) + "\n")
	}
	src.WriteString(strings.ReplaceAll(oneOf(ends), "@v@", name(last, "n")) + "\n")
	return src.String()
}

// probed returns what the probes of a script print as far as it is known.
func probed(s *Script) (all []*regexp.Regexp) {
	for _, c := range s.Commands {
		if c.Name != "probe" || c.Wrapper {
			continue
		}
		var b strings.Builder
		uncertain := false
		for _, w := range c.Argv[1:] {
			b.WriteString("<")
			for _, p := range w.Parts() {
				uncertain = uncertain || p.Splits || p.MayBeEmpty || passed(w) // it may be several words, or none
				if p.Kind == PartText {
					b.WriteString(regexp.QuoteMeta(p.Text))
				} else {
					b.WriteString(".*")
				}
			}
			b.WriteString(">")
		}
		if uncertain {
			b.Reset()
			b.WriteString(".*")
		}
		all = append(all, regexp.MustCompile("^"+b.String()+"$"))
	}
	return all
}
