package shell

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// inner returns commands that must come out of every disguise unchanged.
func inner() []string {
	return []string{
		"rm -rf /", "rm -rf /home/user", "dd if=/dev/zero of=/dev/sda", "chmod -R 777 /etc", "cat /etc/shadow", "mkfs.ext4 /dev/sda1", "mv /etc /tmp/x", "tee /etc/passwd",
	}
}

// wrappers put a command, given as words, after something that runs it.
func wrappers() map[string]func(string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	return map[string]func(string) string{
		"sudo": func(s string) string { return "sudo -n " + s }, "env": func(s string) string { return "env A=b " + s }, "nohup": func(s string) string { return "nohup " + s },
		"nice": func(s string) string { return "nice -n 5 " + s }, "timeout": func(s string) string { return "timeout -k 1 9 " + s }, "setsid": func(s string) string { return "setsid " + s },
		"stdbuf": func(s string) string { return "stdbuf -o0 " + s }, "busybox": func(s string) string { return "busybox " + s }, "xargs": func(s string) string { return "xargs -r " + s },
		"command": func(s string) string { return "env command " + s }, "find": func(s string) string { return "find . -maxdepth 0 -exec " + s + " ';'" },
		"sh": func(s string) string { return "sh -c " + quote(s) }, "bash": func(s string) string { return "bash -lxc " + quote(s) }, "eval": func(s string) string { return "bash -c " + quote("eval "+quote(s)) },
		"watch": func(s string) string { return "watch " + quote(s) }, "su": func(s string) string { return "su -c " + quote(s) }, "script": func(s string) string { return "script -qc " + quote(s) + " /dev/null" },
		"ssh": func(s string) string { return "ssh h " + quote(s) }, "flock": func(s string) string { return "flock /tmp/l " + s },
	}
}

// around puts a command line among others that do not affect it.
func around() map[string]func(string) string {
	return map[string]func(string) string{
		"before": func(s string) string { return "ls; " + s }, "after": func(s string) string { return s + "; ls" }, "newline": func(s string) string { return "true\n" + s }, "and": func(s string) string { return "true && " + s },
		"or": func(s string) string { return "false || " + s }, "subshell": func(s string) string { return "( " + s + " )" }, "block": func(s string) string { return "{ " + s + "; }" }, "if": func(s string) string { return "if x; then " + s + "; fi" },
		"else": func(s string) string { return "if x; then y; else " + s + "; fi" }, "while": func(s string) string { return "while x; do " + s + "; done" }, "for": func(s string) string { return "for i in 1 2; do " + s + "; done" },
		"case": func(s string) string { return "case x in *) " + s + ";; esac" }, "function": func(s string) string { return "f() { " + s + "; }; f" }, "substitution": func(s string) string { return "echo \"$( " + s + " )\"" },
		"process": func(s string) string { return "cat <( " + s + " )" }, "pipe": func(s string) string { return "yes | " + s }, "piped": func(s string) string { return s + " | cat" }, "background": func(s string) string { return s + " &" },
		"redirect": func(s string) string { return s + " >/dev/null 2>&1" }, "negated": func(s string) string { return "! " + s }, "comment": func(s string) string { return s + " # fine" }, "trap": func(s string) string { return "trap \"" + s + "\" EXIT" },
		"heredoc": func(s string) string { return "bash <<'EOT'\n" + s + "\nEOT" }, "herestring": func(s string) string { return "bash <<< \"" + s + "\"" },
	}
}

// respell writes each word of a command in another way with the same meaning.
func respell(rnd *rand.Rand, command string) string {
	words := strings.Fields(command)
	for i, w := range words {
		switch rnd.IntN(7) {
		case 0:
			words[i] = "'" + w + "'"
		case 1:
			words[i] = `"` + w + `"`
		case 2:
			words[i] = w[:1] + "''" + w[1:]
		case 3:
			words[i] = `\` + w
		case 4:
			var b strings.Builder
			for _, c := range []byte(w) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
			words[i] = "$'" + b.String() + "'"
		case 5:
			words[i] = w[:1] + `"` + w[1:] + `"`
		}
	}
	return strings.Join(words, strings.Repeat(" ", 1+rnd.IntN(3)))
}

func runs(t *testing.T, src, want string) {
	t.Helper()
	s := Read(src, testOptions())
	for _, c := range s.Commands {
		var words []string
		for _, w := range c.Argv {
			words = append(words, w.String())
		}
		if got := strings.Join(words, " "); got == want || strings.HasPrefix(got, want+" ") {
			return
		}
	}
	t.Errorf("Read(%q)\n = %q %v\n, want %q among them", src, shown(s), kinds(s), want)
}

// TestMetamorphicWrappers checks that a command is found behind every pair of wrappers and some
// triples.
func TestMetamorphicWrappers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	ws := wrappers()
	names := make([]string, 0, len(ws))
	for n := range ws {
		names = append(names, n)
	}
	slices.Sort(names)
	cmds := inner()
	for _, a := range names {
		for _, b := range names {
			c := cmds[rnd.IntN(len(cmds))]
			third := names[rnd.IntN(len(names))]
			runs(t, ws[a](ws[b](c)), c)
			runs(t, ws[third](ws[a](ws[b](c))), c)
		}
	}
}

func TestMetamorphicSpelling(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		c := inner()[rnd.IntN(len(inner()))]
		runs(t, respell(rnd, c), c)
	}
}

func TestMetamorphicAround(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	as, ws := around(), wrappers()
	for a, put := range as {
		for _, c := range inner() {
			runs(t, put(c), c)
		}
		for b, other := range as {
			if b == "background" || b == "comment" || b == "negated" || b == "trap" || b == "heredoc" || b == "herestring" {
				continue // These end a line, or may not be nested.
			}
			if a == "trap" || a == "herestring" {
				continue // Their quotes do not nest.
			}
			c := inner()[rnd.IntN(len(inner()))]
			runs(t, put(other(c)), c)
		}
		for _, w := range ws {
			c := inner()[rnd.IntN(len(inner()))]
			if a != "trap" && a != "herestring" {
				runs(t, put(w(c)), c)
			}
		}
	}
}

// TestMetamorphicAppend checks that appended text never loses a command.
func TestMetamorphicAppend(t *testing.T) {
	for _, tail := range []string{"; ls", "\nls", " # x", "\n(", "\n\"", "; exit", "\n}", " && echo $(date)", "\nrm() { :; }", "; unset HOME", "\nalias rm=ls", "\ncat <<X\n"} {
		for _, c := range inner() {
			runs(t, c+tail, c)
		}
	}
}

// TestMetamorphicVariables checks that commands built from variables are found.
func TestMetamorphicVariables(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, c := range inner() {
		for range 20 {
			var set, use strings.Builder
			for i, w := range strings.Fields(c) {
				cut := rnd.IntN(len(w))
				fmt.Fprintf(&set, "v%d='%s'; w%d='%s'; ", i, w[:cut], i, w[cut:])
				fmt.Fprintf(&use, "\"$v%d\"${w%d} ", i, i)
			}
			runs(t, set.String()+use.String(), c)
			runs(t, "x='"+c+"'; $x", c)
			runs(t, "x='"+c+"'; eval \"$x\"", c)
			runs(t, "a=("+c+"); \"${a[@]}\"", c)
			runs(t, "set -- "+c+"; \"$@\"", c)
			runs(t, "f() { \"$@\"; }; f "+c, c)
		}
	}
}
