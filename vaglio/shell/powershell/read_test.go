package powershell_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/powershell"
)

// render writes how a line was read: commands, then problems.
func render(s *shell.Script) string {
	return renderBeside(s, func(*shell.Command) string { return "" })
}

// renderBeside writes what else is told of a command beside it.
func renderBeside(s *shell.Script, beside func(*shell.Command) string) string {
	var b strings.Builder
	for _, c := range s.Commands {
		if c.Call != nil && c.Call.Verb == shell.VerbRead && len(c.Call.Targets) == 0 {
			continue // known to touch nothing
		}
		if c.Wrapper {
			continue
		}
		var words []string
		if c.Privileged {
			words = append(words, "privileged")
		}
		if c.Remote != nil {
			words = append(words, "on "+c.Remote.Target.String()+":")
		}
		switch {
		case c.Call != nil:
			words = append(words, string(c.Call.Verb)+":")
			for _, w := range c.Call.Targets {
				words = append(words, spelled(w))
			}
		default:
			for _, w := range c.Argv {
				words = append(words, w.String())
			}
		}
		for _, r := range c.Redirects {
			words = append(words, cmp.Or(map[shell.RedirectKind]string{shell.RedirectRead: "<", shell.RedirectAppend: ">>"}[r.Kind], ">"), r.Target.String())
		}
		for _, a := range c.Assigns {
			words = append(words, a.Name+"="+a.Value.String())
		}
		b.WriteString(strings.Join(words, " ") + beside(&c) + "\n")
	}
	for _, p := range s.Problems {
		b.WriteString("! " + string(p.Kind) + "\n")
	}
	return b.String()
}

// where tells apart from what a command is: its folder, unless it is the usual one, and whether it may not
// run (?), may run many times (*) or is not waited for (&).
func where(c *shell.Command) string {
	told := ""
	if cwd := c.Cwd.String(); cwd != usual {
		told = " @ " + cwd
	}
	for i, is := range []bool{c.Conditional, c.InLoop, c.Background} {
		if is {
			told += " " + "?*&"[i:i+1]
		}
	}
	return told
}

// usual is the folder in which the lines run.
const usual = "/home/u/app"

// scripts are the files in the folder of the lines.
type scripts struct{ shell.NoFolders }

func (scripts) Content(path string) (string, bool) {
	text, ok := map[string]string{usual + "/known.ps1": "Remove-Item in-ps1", usual + "/known.bat": "del in-bat"}[path]
	return text, ok
}

// TestRead compares how lines are read with testdata/read.txt: a line and how it is read,
// separated by a line of dashes.
func TestRead(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/read.txt")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.SplitSeq(string(data), "\n---\n") {
		line, want, _ := strings.Cut(strings.TrimSpace(row), "\n=>")
		o := shell.Options{Home: "/home/u", User: "u", Cwd: usual, Files: scripts{}}
		got := ""
		if rest, ok := strings.CutPrefix(line, "cmd> "); ok {
			got = render(powershell.ReadCmd(rest, o))
		} else if rest, ok := strings.CutPrefix(line, "sh> "); ok {
			o.Foreign = powershell.Carried
			got = render(shell.Read(rest, o))
		} else if rest, ok := strings.CutPrefix(line, "where> "); ok {
			got = renderBeside(powershell.Read(rest, o), where)
		} else {
			got = render(powershell.Read(line, o))
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s\n got: %s\nwant: %s", line, got, want)
		}
	}
}

// spelled writes a word, with a backslash before each sign of a pattern that stands for itself.
func spelled(w shell.Word) string {
	var b strings.Builder
	for _, p := range w.Parts() {
		text := shell.NewWord(p).String()
		if p.Kind == shell.PartText {
			text = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// TestBounds puts a deletion after every limit: what is not read must be reported.
func TestBounds(t *testing.T) {
	t.Parallel()
	tail := "\nRemove-Item C:\\Windows -Recurse"
	for name, src := range map[string]string{
		"length": strings.Repeat(" ", shell.MaxSource) + tail, "brackets": strings.Repeat("(", 200) + tail, "blocks": strings.Repeat("& {", 200) + tail,
		"statements": strings.Repeat("$x=1\n", 150_000) + tail, "doubling": "$a='aaaaaaaa'" + strings.Repeat("; $a=$a+$a", 40) + tail,
		"functions": "function f{" + strings.Repeat("f;", 500) + "};f" + tail, "open index": "$a" + strings.Repeat("[", 100) + tail,
		"heads": strings.Repeat("if(1){", 200) + tail, "defaults": strings.Repeat("function f($a=", 200) + tail, "texts": strings.Repeat(`"$(`, 200) + tail,
		"list": strings.Repeat("$a,", 300_000) + tail, "comments": strings.Repeat("<#", 200) + tail, "entries": strings.Repeat("@{a=", 200) + tail,
		"programs": strings.Repeat("x\n", 20_000) + tail, "quote": "'" + tail, "pipes": "ls" + strings.Repeat(" | % {$_}", 60_000) + tail,
	} {
		for kind, read := range map[string]func(string, shell.Options) *shell.Script{"powershell": powershell.Read, "cmd": powershell.ReadCmd} {
			s := read(src, shell.Options{})
			if len(s.Problems) == 0 && !strings.Contains(render(s), "C:/Windows") && kind == "powershell" {
				t.Errorf("%s: the deletion is neither found nor told to be unread", name)
			}
			if again := read(src, shell.Options{}); render(again) != render(s) {
				t.Errorf("%s, %s: read differently the second time", kind, name)
			}
		}
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]powershell.Dialect{
		`ls -la src`:                    powershell.Posix,
		`grep -rn "Get-ChildItem" docs`: powershell.Posix,
		`cat > x.ps1 <<'EOF'` + "\nRemove-Item C:\\\nEOF": powershell.Posix,
		`git commit -m 'use $env:PATH'`:                   powershell.Posix,
		`apt-get update`:                                  powershell.Posix,
		`iex --version`:                                   powershell.Posix,
		`sed -i 's/a\.b/c/' x`:                            powershell.Posix,
		`$HOME/bin/x = y`:                                 powershell.Posix,
		`$x=1`:                                            powershell.Posix,
		`sleep 9 & "./x y"`:                               powershell.Posix,
		`make && "./x y"`:                                 powershell.Posix,
		`make &&  "./x y" & "./z"`:                        powershell.Posix,
		`case a in a) b ;& "c") d ;; esac`:                powershell.Posix,
		`echo "see $(Get-ChildItem-notes.sh)"`:            powershell.Posix,
		`echo '$((Get-ChildItem x).Length)'`:              powershell.Posix,
		`echo "$(cat Get-ChildItem.md)"`:                  powershell.Posix,
		`ls 2>&1 | grep "x"`:                              powershell.Posix,
		`make >& "log"`:                                   powershell.Posix,
		`& "C:/Program Files/x.exe" -a`:                   powershell.PowerShell,
		`cd "src"; & "./build it.ps1"`:                    powershell.PowerShell,
		`& $tool --version`:                               powershell.PowerShell,
		`"Size: $((Get-Item 'a b').Length)"`:              powershell.PowerShell,
		`Get-ChildItem -Recurse`:                          powershell.PowerShell,
		`$r = curl x; if ($r) { "ok" }`:                   powershell.PowerShell,
		`$p='x'; foreach ($y in @("a")) { $y }`:           powershell.PowerShell,
		`echo $env:PATH`:                                  powershell.PowerShell,
		`cd src; remove-item x`:                           powershell.PowerShell,
		`.\build.cmd x`:                                   powershell.PowerShell,
		`rd/s/q C:\x`:                                     powershell.Cmd,
		`del /f /s /q C:\*`:                               powershell.Cmd,
		`type %USERPROFILE%\.aws\credentials`:             powershell.Cmd,
		`for /d %i in (C:\Users\*) do rd /s /q %i`:        powershell.Cmd,
		`if exist x del x`:                                powershell.Cmd,
		`@@if not exist x md x`:                           powershell.Cmd,
		`if existing x`:                                   powershell.Posix,
		`echo %PATH%`:                                     powershell.Cmd,
		`echo %PATH%x`:                                    powershell.Posix,
		`echo %PATH%\bin`:                                 powershell.Cmd,
		`date +%s%N`:                                      powershell.Posix,
		`copy a b`:                                        powershell.Posix,
		`copy /y a b`:                                     powershell.Cmd,
		`copy .\src b`:                                    powershell.Cmd,
		`ls /tmp /y`:                                      powershell.Posix,
		`ls .\src`:                                        powershell.PowerShell,
		`ls "C:\x"`:                                       powershell.Posix,
		`cat C:\x.txt`:                                    powershell.PowerShell,
		`grep a:\\b x`:                                    powershell.Posix,
		`echo "Get-ChildItem x`:                           powershell.Posix,
		`echo 'x' Get-ChildItem`:                          powershell.Posix,
		`echo 'x'; Get-ChildItem`:                         powershell.PowerShell,
		`echo "$env:PATH"`:                                powershell.PowerShell,
		`echo 'see $env:PATH'`:                            powershell.Posix,
		`[System.IO.File]::Exists("x")`:                   powershell.PowerShell,
		`ls | gci`:                                        powershell.PowerShell,
		`echo gci`:                                        powershell.Posix,
		`echo "$(Get-Content x)"`:                         powershell.PowerShell,
		`x=1 echo a`:                                      powershell.Posix,
		`$x == 1`:                                         powershell.Posix,
	} {
		if got := powershell.Looks(line); got != want {
			t.Errorf("Looks(%q) = %d, want %d", line, got, want)
		}
	}
}

// The name of what runs a text says its language, whatever the text looks like.
func TestOf(t *testing.T) {
	t.Parallel()
	for executor, want := range map[string]powershell.Dialect{
		"PowerShell": powershell.PowerShell, "run_pwsh": powershell.PowerShell, "cmdExe": powershell.Cmd, "batch-file": powershell.Cmd,
		"Bash": powershell.Posix, "zsh": powershell.Posix, "run_command": powershell.Cmd, "command": powershell.Cmd,
	} {
		const text = `del /q C:\x`
		if got := powershell.Of(executor, text); got != want {
			t.Errorf("Of(%q) = %d, want %d", executor, got, want)
		}
		if want == powershell.Posix {
			continue
		}
		if got := render(powershell.ReadAs(want, "rem del x", shell.Options{})); (got == "") != (want == powershell.Cmd) {
			t.Errorf("a comment of cmd is read as %q in dialect %d", got, want)
		}
	}
}

// TestLineEnds checks that every kind of line end ends a command, and that a backtick before any
// of them continues it.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	want := render(powershell.Read("ls a\nri b", shell.Options{Home: "/h"}))
	for _, end := range []string{"\r\n", "\r", "\n\r", "`\n\n", " `\r\n\n", " `\r\r"} {
		if got := render(powershell.Read("ls a"+end+"ri b", shell.Options{Home: "/h"})); got != want {
			t.Errorf("%q: got %s, want %s", end, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	data, err := os.ReadFile("testdata/read.txt")
	if err != nil {
		f.Fatal(err)
	}
	for row := range strings.SplitSeq(string(data), "\n---\n") {
		line, _, _ := strings.Cut(row, "\n=>\n")
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, read := range []func(string, shell.Options) *shell.Script{powershell.Read, powershell.ReadCmd} {
			for _, p := range read(src, shell.Options{Home: "/home/u"}).Problems {
				if p.Kind == shell.ProblemInternal {
					t.Fatalf("%q: %s", src, p.Detail)
				}
				if p.Kind == shell.ProblemUnparsable {
					t.Fatalf("%q: denied as no program", src)
				}
			}
		}
		powershell.Looks(src)
	})
}
