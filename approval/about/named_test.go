package about_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/about"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestNamedCalls compares what calls are about with a golden file, fact by fact, because
// answers are bound to those facts.
func TestNamedCalls(t *testing.T) {
	t.Parallel()
	const name = "testdata/named.txt"
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge.Rules()}}, Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	namer := newNamer(t)
	var out strings.Builder
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		out.WriteString(line)
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p := command(line)
		if strings.HasPrefix(line, "{") {
			p = vaglio.Proposal{Context: vaglio.Context{Cwd: testCwd}}
			var call struct {
				Executor string      `json:"executor"`
				Args     vaglio.Args `json:"args"`
			}
			if err := strictjson.Unmarshal([]byte(line), &call); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			p.Executor, p.Args = call.Executor, call.Args
		}
		out.WriteString(told(namer.Of(engine.Seen(p))))
	}
	golden.Check(t, name, out.String())
}

// TestHomesThatAreNotTold checks that ~ means the home directory in which the call runs if
// the namer was given none.
func TestHomesThatAreNotTold(t *testing.T) {
	t.Parallel()
	j, err := effects.New(effects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	namer, err := about.New(j, "")
	if err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]string{
		"/home/bob/x": "/home/bob/y", "/home/bob": "/home/bob/y", "/Users/bob/x/z": "/Users/bob/y",
		"/home": "/home/~/y", "/srv/bob/x": "/srv/bob/x/~/y", "home/bob/x": "home/bob/x/~/y",
	} {
		p := vaglio.Proposal{Executor: "delete_file", Args: vaglio.Args{"path": "~/y"}, Context: vaglio.Context{Cwd: cwd}}
		if got := told(namer.Of(p)); got != "\tfiles: delete path="+strconv.Quote(want)+"\n" {
			t.Errorf("in %s: %s", cwd, got)
		}
	}
	p := command("cd \"$D\" && kubectl delete -f ~/a.yaml")
	p.Context.Cwd = "/home/bob/x"
	if got := told(namer.Of(p)); !strings.Contains(got, strconv.Quote("/home/bob/a.yaml")) {
		t.Errorf("where the folder is not known: %s", got)
	}
}

// TestCallsWithoutAFolder checks that calls without a working directory are named if it
// does not matter.
func TestCallsWithoutAFolder(t *testing.T) {
	t.Parallel()
	namer := newNamer(t)
	for line, named := range map[string]bool{
		"git push origin main": false, "terraform destroy": false, "npm publish": false, "rm -rf src": false, "kubectl delete -f a.yaml": false,
		"shutdown now": false, "kill 7": true, "kubectl delete pod web": true, "rm -rf /srv/x": true, "terraform -chdir=/srv destroy": true,
	} {
		p := command(line)
		p.Context.Cwd = ""
		if _, ok := namer.Key(p); ok != named {
			t.Errorf("%s: %s", line, told(namer.Of(p)))
		}
	}
}

// TestArgumentsThatAreNoJSON checks that arguments that are not valid JSON name nothing,
// because no form of the call could be what an answer is bound to.
func TestArgumentsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	namer := newNamer(t)
	for _, executor := range []string{"transfer", "send_email", "kubectl_delete"} {
		p := vaglio.Proposal{Executor: executor, Args: vaglio.Args{"to": "ann@x.example", "amount": math.NaN()}, Context: vaglio.Context{Cwd: testCwd}}
		if key, ok := namer.Key(p); ok {
			t.Errorf("%s: %q", executor, key)
		}
		p.Args["amount"] = strictjson.Number("7")
		if _, ok := namer.Key(p); !ok {
			t.Errorf("%s with a number has no name", executor)
		}
	}
}

// told returns what a call is about, with a line for each subject.
func told(a approval.About) string {
	if len(a.Subjects) == 0 && !a.Whole && !a.Mild {
		return "\tnothing\n"
	}
	var out strings.Builder
	for _, s := range a.Subjects {
		fmt.Fprintf(&out, "\t%s: %s", s.System, s.Verb)
		for _, f := range s.Object {
			fmt.Fprintf(&out, " %s=%q", f.Name, f.Value)
		}
		out.WriteString("\n")
	}
	if a.Whole {
		out.WriteString("\twhole\n")
	}
	if a.Mild {
		out.WriteString("\tmild\n")
	}
	return out.String()
}
