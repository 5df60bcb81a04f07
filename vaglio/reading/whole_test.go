package reading_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	lines "github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

// TestWholeReadings pins the whole reading of calls of every shape: which texts run, as what and
// how certainly, what surrounds them, and what else is recorded.
func TestWholeReadings(t *testing.T) {
	calls, err := os.ReadFile("testdata/whole.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n, line := range lines.Of(string(calls)) {
		line = strings.TrimSpace(line)
		fmt.Fprintf(&b, "%s\n%s", line, wholly(reader().Read(callOf(t, n, line))))
	}
	golden.Check(t, "testdata/whole.golden", b.String())
}

// callOf reads a row: an executor, its arguments, and what else is known.
func callOf(t *testing.T, n int, line string) reading.Call {
	t.Helper()
	executor, rest, _ := strings.Cut(line, " ")
	args, known, _ := strings.Cut(rest, "} | ")
	if known != "" {
		args += "}"
	}
	c := reading.Call{Executor: executor, Cwd: cwd}
	if err := strictjson.UnmarshalLoose([]byte(args), &c.Args); err != nil {
		t.Fatalf("row %d: %v", n, err)
	}
	declared := map[string]any{}
	for word := range strings.FieldsSeq(known) {
		switch word {
		case "cap":
			c.Capabilities = []string{"code:exec"}
		case "shell":
			c.Shell = true
		default:
			declared[word] = true
			c.Schema = map[string]any{"properties": declared}
		}
	}
	return c
}

// wholly formats a reading, one line for each part of it.
func wholly(rd *reading.Reading) string {
	var b strings.Builder
	flag := func(is bool, name string) {
		if is {
			b.WriteString(" " + name)
		}
	}
	b.WriteString("   ")
	flag(rd.Runs, "runs")
	flag(rd.OnlyRuns, "only")
	flag(rd.DryRun, "dry")
	flag(rd.Patched, "patched")
	flag(rd.Deed.Lists, "lists")
	flag(rd.Deed.Greps, "greps")
	flag(rd.Deed.Local, "local")
	flag(rd.Deed.Remote, "remote")
	fmt.Fprintf(&b, " %s\n", rd.Deed.Verb)
	for _, c := range rd.Commands {
		fmt.Fprintf(&b, "    %s as %s", c.At, c.Language)
		flag(c.Final, "final")
		flag(c.Doubt, "doubt")
		flag(c.Verb, "verb")
		flag(c.Shift > 0, fmt.Sprint("shift ", c.Shift))
		flag(len(c.Env) > 0, fmt.Sprint(c.Env))
		fmt.Fprintf(&b, " %q:", c.Text)
		for _, run := range c.Script.Commands {
			dir, _ := run.Cwd.Text()
			fmt.Fprintf(&b, " %s%s@%s", run.Name, run.Argv[min(1, len(run.Argv)):], dir)
			flag(run.Remote != nil, "away")
		}
		b.WriteByte('\n')
	}
	for _, of := range [...]struct {
		name string
		list []reading.Text
	}{
		{"path", rd.Paths},
		{"url", rd.URLs},
		{"statement", rd.Statements},
		{"recipient", rd.Recipients},
	} {
		for _, n := range of.list {
			fmt.Fprintf(&b, "    %s %s %q\n", of.name, n.At, n.Text)
		}
	}
	for _, o := range rd.Operations {
		fmt.Fprintf(&b, "    %s %s\n", o.Verb, o.Object.Word)
	}
	for _, g := range rd.Gaps {
		fmt.Fprintf(&b, "    gap %s %s\n", g.At, g.Why)
	}
	return b.String()
}
