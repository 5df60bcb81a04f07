package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testOptions() Options {
	return Options{Home: "/home/user", User: "user", Cwd: "/work"}
}

// show writes a command as "words >target", without its wrappers.
func show(c Command) string {
	var words []string
	for _, w := range c.Argv {
		words = append(words, w.String())
	}
	for _, r := range c.Redirects {
		op := map[RedirectKind]string{RedirectRead: "<", RedirectWrite: ">", RedirectAppend: ">>", RedirectReadWrite: "<>"}[r.Kind]
		words = append(words, r.FD+op+r.Target.String())
	}
	return strings.Join(words, " ")
}

// shown returns all commands that do not carry another one.
func shown(s *Script) []string {
	var out []string
	for _, c := range s.Commands {
		if !c.Wrapper || len(c.Argv) == 0 {
			out = append(out, show(c))
		}
	}
	return out
}

func kinds(s *Script) []ProblemKind {
	var out []ProblemKind
	for _, p := range s.Problems {
		if !slices.Contains(out, p.Kind) {
			out = append(out, p.Kind)
		}
	}
	return out
}

// readCase is a source and the commands that it runs, one per line.
type readCase struct {
	name, src, want string
}

func checkReads(t *testing.T, cases []readCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := Read(c.src, testOptions())
			if diff := cmp.Diff(c.want, strings.Join(shown(s), "\n")); diff != "" {
				t.Errorf("Read(%q) (-want +got):\n%s", c.src, diff)
			}
			for _, p := range s.Problems {
				t.Errorf("Read(%q): unexpected problem %s: %s", c.src, p.Kind, p.Detail)
			}
		})
	}
}

func TestReadWords(t *testing.T) {
	checkReads(t, []readCase{
		{"Plain", "rm -rf /tmp/x", "rm -rf /tmp/x"},
		{"Quotes", `rm '-rf' "/a b"`, "rm -rf /a b"},
		{"QuoteRemoval", `r''m -r\f "/"`, "rm -rf /"},
		{"Escape", `\rm \/`, "rm /"},
		{"Ansi", `$'\x72\155' $'\u002f'`, "rm /"},
		{"Locale", `rm $"/"`, "rm /"},
		{"Continuation", "rm -rf \\\n/", "rm -rf /"},
		{"Comment", "echo hi # rm -rf /", "echo hi"},
		{"Tilde", "ls ~ ~/x ~user/y a~ '~'", "ls /home/user /home/user/x /home/user/y a~ ~"},
		{"TildeOther", "ls ~bob ~root", "ls ~bob /root"},
		{"TildeAssign", "dd of=~/x --of=~/x", "dd of=/home/user/x --of=~/x"},
		{"TildePath", "P=~/a:~/b; echo $P", "echo /home/user/a:/home/user/b"},
		{"Braces", "echo {a,b}{1,2} x{,y} {} a{b} {a,{b,c}}", "echo a1 a2 b1 b2 x xy {} a{b} a b c"},
		{"Sequence", "echo {1..3} {c..a} {01..03} {1..9..4}", "echo 1 2 3 c b a 01 02 03 1 5 9"},
		{"BracesQuoted", `echo "{a,b}" '{a,b}' \{a,b}`, "echo {a,b} {a,b} {a,b}"},
		{"Arithmetic", "echo $((1+2*3)) $((0x10)) $((2**10))", "echo 7 16 1024"},
		{"Empty", `echo "" ''`, "echo  "},
	})
}

func TestReadVariables(t *testing.T) {
	checkReads(t, []readCase{
		{"Assign", "a=r; b=m; $a$b -rf /", "rm -rf /"},
		{"Split", `x="rm -rf /"; $x; "$x"`, "rm -rf /\nrm -rf /"},
		{"Home", `rm "$HOME"/* ${HOME}/x ${HOME%/user}`, "rm /home/user/* /home/user/x /home"},
		{"Unknown", `rm "$X/y" "${X}"`, "rm ${X}/y ${X}"},
		{"Default", `unset x; echo ${x:-/a} ${x-/b} ${x:+c}`, "unset x\necho /a /b"},
		{"Alternate", `x=1; echo ${x:+c} ${x:-d}`, "echo c 1"},
		{"AssignDefault", `unset x; : "${x:=/a}"; echo $x`, "unset x\n: /a\necho /a"},
		{"Suffix", `f=a.tar.gz; echo ${f%.*} ${f%%.*} ${f#*.} ${f##*.}`, "echo a.tar a tar.gz gz"},
		{"Replace", `c='rm xx-rf /x/'; echo "${c/xx/}" "${c//x/y}" "${c/#r/R}" "${c/%\//!}"`, "echo rm -rf /x/ rm yy-rf /y/ Rm xx-rf /x/ rm xx-rf /x!"},
		{"Case", `t=Rm; echo ${t,,} ${t^^} ${t,} ${t^}`, "echo rm RM ${t} ${t}"},
		{"Slice", `t=abcdef; echo ${t:1:2} ${t: -2} ${t:3} ${#t}`, "echo bc ef def 6"},
		{"Indirect", `a=b; b=/x; echo ${!a}`, "echo /x"},
		{"IndirectReference", `b=/x; declare -n a=b; echo ${!a}`, "echo b"},
		{"IndirectUnknown", `a=$UNKNOWN; echo ${!a}`, "echo ${?}"},
		{"IndirectElement", `b=(/x); a='b[0]'; echo ${!a}`, "echo ${?}"},
		{"Reference", "TARGET=rm; declare -n TOOL=TARGET; $TOOL /", "rm /"},
		{"Lowered", "declare -l T=RM; $T /", "rm /"},
		{"DeclareExpandsFirst", "A=rm; declare A=echo B=$A; $B /", "rm /"},
		{"Append", "x=r; x+=m; $x /", "rm /"},
		{"Array", `a=(rm -rf /); "${a[@]}"; echo "${a[1]}" ${#a[@]} "${a[*]}"`, "rm -rf /\necho -rf 3 rm -rf /"},
		{"ArrayIndex", `a[2]=x; a[0]=y; echo "${a[2]}${a[0]}"`, "echo xy"},
		{"Map", `declare -A m; m[k]=/v; echo "${m[k]}"`, "echo ${m}"},
		{"Positional", `set -- rm -rf /; "$@"; shift; echo "$1" $#`, "set -- rm -rf /\nrm -rf /\nshift\necho -rf 2"},
		{"EmptyPositional", `set --; echo "$@" x`, "set --\necho x"},
		{"IFS", `IFS=.; x="rm.-rf./"; $x`, "rm -rf /"},
		{"IFSExpansion", "rm${IFS}-rf$IFS/", "rm -rf /"},
		{"Export", "export T=/; bash -c 'rm -rf $T'", "export\nrm -rf /"},
		{"PrefixAssign", "T=/x rm y", "rm y"},
		{"PrintfV", `printf -v x %s rm; $x /`, "rm /"},
		{"Read", `read -r a b <<< "rm -rf /"; $a $b`, "read -r a b\nrm -rf /"},
		{"Mapfile", "mapfile -t l <<< $'/a\\n/b'; echo ${l[1]}", "mapfile -t l\necho /b"},
		{"Let", "let n=2+3; echo $n", "echo ${n}"},
		{"ArithmeticCommand", "((n=4)); ((n++)); echo $n", "echo ${n}"},
		{"Cwd", `echo "$PWD"`, "echo /work"},
	})
}

func TestReadAlternatives(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"If", `T=echo; if [ -d x ]; then T=rm; fi; $T /`, "rm /"},
		{"Else", `if a; then T=/x; else T=/; fi; rm $T`, "rm /"},
		{"Case", `case $1 in a) D=/etc;; b) D=/usr;; esac; rm -r $D`, "rm -r /usr"},
		{"And", `true && TOOL=rm || TOOL=echo; $TOOL /`, "rm /"},
		{"UnknownDefault", `rm -rf "${ROOT:-/}"`, "rm -rf /"},
		{"UnknownAlternate", `rm -rf ${X:+/}`, "rm -rf /"},
		{"LoopCarries", `x=; while read y; do x=$x/; rm "$x"; done`, "rm //"},
		{"LoopFeedsNext", `while a; do rm -rf $n; n=/; done`, "rm -rf /"},
		{"CdBranch", `cd /x || cd /; rm -rf *`, "rm -rf *"},
		{"SameInCommand", `if a; then x=/a; else x=/b; fi; cp $x/1 $x/2`, "cp /b/1 /b/2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shown(Read(c.src, testOptions()))
			if !slices.Contains(got, c.want) {
				t.Errorf("Read(%q) = %q, want %q among them", c.src, got, c.want)
			}
		})
	}
	got := shown(Read(`if a; then x=/a; else x=/b; fi; cp $x/1 $x/2`, testOptions()))
	if slices.Contains(got, "cp /a/1 /b/2") {
		t.Errorf("one variable has two values in one command: %q", got)
	}
}

// TestSubstitutionAlternatives holds every way through a substitution, and no other, to be a
// value of its own: two ways glued to one name would be a file that there is not.
func TestSubstitutionAlternatives(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"If", `p "$(if [ a ]; then echo /x; else echo /y; fi)"`, "p /x|p /y"},
		{"IfOnly", `p "$(if [ a ]; then echo /x; fi)"`, "p |p /x"},
		{"Elif", `p "$(if [ a ]; then echo 1; elif [ b ]; then echo 2; else echo 3; fi)"`, "p 1|p 2|p 3"},
		{"Case", `p "$(case $1 in a) echo /x;; *) echo /y;; esac)"`, "p /x|p /y"},
		{"AndOr", `p "$([ -d a ] && echo /x || echo /y)"`, "p /x|p /y"},
		{"Or", `p "$(a || echo /y)"`, "p $(a)|p /y"},
		{"OrPrinted", `p "$( (printf /; false) || printf etc)"`, "p /|p /etc|p etc"},
		{"And", `p "$(a >/dev/null && echo /x)"`, "p |p /x"},
		{"Return", `f() { if [ a ]; then echo /x; return; fi; echo /y; }; p "$(f)"`, "p /x|p /y"},
		{"ReturnPrefix", `f() { printf /; [ a ] && { printf x; return; }; printf y; }; p "$(f)"`, "p /x|p /y"},
		{"ReturnOfOneFunction", `f() { echo 1; return; }; g() { printf 0; f; }; p "$(g)"`, "p 01"},
		{"Exit", `p "$(a && { echo 1; exit; }; echo 2)"`, "p $(a)1|p 2"},
		{"Pieces", `p "$(printf /; if [ a ]; then printf x; else printf y; fi; printf z)"`, "p /xz|p /yz"},
		{"Subshell", `p "$( (if [ a ]; then echo /x; else echo /y; fi) )"`, "p /x|p /y"},
		{"Redirected", `p "$({ if [ a ]; then echo /x; else echo /y; fi; } 2>/dev/null)"`, "p /x|p /y"},
		{"Away", `p "$(if [ a ]; then echo /x >f; else echo /y; fi)"`, "p |p /y"},
		{"Pipe", `p "$(if [ a ]; then echo ax; else echo ay; fi | tr a b)"`, "p bx\nby"},
		{"Nested", `p "$(echo "$(if [ a ]; then echo 1; else echo 2; fi)"/x)"`, "p 1/x|p 2/x"},
		{"Assigned", `d=$(a && echo /x || echo /y); p $d`, "p $(a)/x|p /y"},
		{"Twice", `p $(if [ a ]; then echo 1; else echo 2; fi)$(if [ b ]; then echo 3; else echo 4; fi)`, "p 13|p 14|p 23|p 24"},
		{"Eval", `p "$(eval 'if [ a ]; then echo 1; else echo 2; fi')"`, "p 1|p 2"},
		{"ProcessBeside", `p "$(q <(echo 1); if [ a ]; then echo 2; else echo 3; fi)"`, "p $(q)2|p $(q)3"},
		{"Same", `p "$(if [ a ]; then echo 1; else echo 1; fi)"`, "p 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, line := range shown(Read(c.src, testOptions())) {
				if strings.HasPrefix(line, "p ") && !slices.Contains(got, line) {
					got = append(got, line)
				}
			}
			slices.Sort(got)
			want := strings.Split(c.want, "|")
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("Read(%q) = %q, want %q", c.src, got, want)
			}
		})
	}
}

func TestReadStatements(t *testing.T) {
	checkReads(t, []readCase{
		{"List", "a; b && c || d", "a\nb\nc\nd"},
		{"Pipe", "a | b |& c", "a\nb\nc"},
		{"Background", "a & b", "a\nb"},
		{"Negated", "! rm x", "rm x"},
		{"Subshell", "(a; (b))", "a\nb"},
		{"Block", "{ a; b; }", "a\nb"},
		{"If", "if a; then b; elif c; then d; else e; fi", "a\nb\nc\nd\ne"},
		{"While", "while a; do b; done", "a\nb"},
		{"For", "for f in 1 2; do rm $f; done", "rm 1\nrm 2"},
		{"ForGlob", `for d in /dev/sd?; do mkfs "$d"; done`, "mkfs /dev/sd?"},
		{"ForArgs", "set -- a b; for f; do rm $f; done", "set -- a b\nrm a\nrm b"},
		{"Select", "select f in 1; do rm $f; done", "rm 1"},
		{"Case", "case x in a) b;; c|d) e;; esac", "b\ne"},
		{"Function", `f() { rm -rf "$1"; }; f /; f ~`, "rm -rf /\nrm -rf /home/user"},
		{"FunctionLocal", `x=/a; f() { local x=/b; rm $x; }; f; rm $x`, "rm /b\nrm /a"},
		{"FunctionKeyword", `function f { rm "$@"; }; f 1 2`, "rm 1 2"},
		{"FunctionUncalled", `f() { rm -rf /; }; ls`, "ls"},
		{"FunctionShadows", `ls() { rm "$@"; }; ls /; command ls /`, "rm /\nls /"},
		{"NotFound", "command_not_found_handle() { rm -rf /; }; missing", "missing\nrm -rf /"},
		{"Coproc", "coproc rm x", "rm x"},
		{"Time", "time rm x", "rm x"},
		{"Test", `[[ -f $(rm x) ]]`, "rm x"},
		{"Substitution", "echo $(rm x) `rm y`", "rm x\nrm y\necho"},
		{"SubstitutionInAssign", "x=$(rm y)", "rm y"},
		{"SubstitutionInRedirect", "echo x >$(rm y; echo f)", "rm y\necho f\necho x >f"},
		{"SubstitutionInArithmetic", "echo $(( $(cat /etc/shadow) + 1 ))", "cat /etc/shadow\necho ${?}"},
		{"ProcessSubstitution", "diff <(rm x) <(rm y)", "rm x\nrm y\ndiff /dev/fd/64 /dev/fd/65"},
		{"ReadFile", `echo "$(</etc/shadow)"`, "</etc/shadow\necho $(cat /etc/shadow)"},
		{"Redirects", "a >b 2>>c <d &>e <>f 2>&1", "a >b 2>>c <d >e <>f"},
		{"RedirectOnly", "> /dev/sda", ">/dev/sda"},
		{"RedirectBlock", "{ a; } > f", ">f\na"},
		{"Here", "cat <<E\nrm -rf /\nE", "cat"},
	})
}

func TestReadCwd(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"Cd", "cd /etc; x", "/etc"},
		{"Relative", "cd a/../b; x", "/work/b"},
		{"Home", "cd; x", "/home/user"},
		{"Back", "cd /etc; cd -; x", "/work"},
		{"Up", "cd /usr && cd .. && x", "/"},
		{"Subshell", "(cd /); x", "/work"},
		{"SubshellInside", "(cd /; x)", "/"},
		{"Pushd", "pushd /a; pushd /b; popd; x", "/a"},
		{"Env", "env -C /etc x", "/etc"},
		{"EnvScope", "env -C /etc y; x", "/work"},
		{"Sudo", "sudo -D /etc x", "/etc"},
		{"Pipe", "cd / | true; x", "/work"},
		{"Background", "cd / & x", "/work"},
		{"Unknown", `cd "$D"; x`, "${D}"},
		{"UnknownBelow", `cd "$D"; cd a; x`, "${D}/a"},
		{"ShellCode", "bash -c 'cd /'; x", "/work"},
		{"SshForgets", "ssh h x", "${PWD}"},
		{"Login", "sudo -i x", "/root"},
		{"LoginOf", "sudo -iu bob x", "~bob"},
		{"LoginOfOneself", "sudo -u user --login x", "/home/user"},
		{"ShellOf", "sudo -su bob x", "/work"},
		{"SuLogin", "su - bob -c x", "~bob"},
		{"SuLoginLong", "su --login -c x", "/root"},
		{"Su", "su bob -c x", "/work"},
		{"SuOfAnyone", `su - "$U" -c x`, "/work"},
		{"SuScope", "su - -c y; x", "/work"},
		{"SuHome", "su bob -c 'cd; x'", "~bob"},
		{"SuKeepsHome", "su -m bob -c 'cd; x'", "/home/user"},
		{"RunuserKeepsHome", "runuser -u bob -- sh -c 'cd; x'", "/home/user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Read(c.src, testOptions())
			for _, cmd := range s.Commands {
				if cmd.Name == "x" {
					if got := cmd.Cwd.String(); got != c.want {
						t.Errorf("Read(%q): x runs in %s, want %s", c.src, got, c.want)
					}
					return
				}
			}
			t.Errorf("Read(%q): x does not run", c.src)
		})
	}
	s := Read("git -C /etc status", testOptions())
	if got := s.Commands[0].Cwd.String(); got != "/etc" {
		t.Errorf("git -C: cwd %s, want /etc", got)
	}
}
