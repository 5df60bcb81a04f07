package vaglio_test

import (
	"context"
	"fmt"

	"github.com/metnos/vaglio/vaglio"
)

// lookers is a judge that trusts tools that only look.
type lookers map[string]bool

// Kind names the judge.
func (lookers) Kind() string { return "lookers" }

// Grade returns 1 for a call of such a tool, and for any other less than every gate requires.
func (l lookers) Grade(_ context.Context, p vaglio.Proposal) (vaglio.GradientResult, error) {
	if l[p.Executor] {
		return vaglio.GradientResult{Score: 1, Confidence: 1, Reasoning: "it only looks"}, nil
	}
	return vaglio.GradientResult{Score: 0.2, Confidence: 1, Reasoning: "it may change something"}, nil
}

// A custom judge behind the guard: it is not asked about calls that the guard denies.
func ExampleJudge() {
	engine, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: lookers{"shell_exec": true, "list_dir": true}, MinScore: 0.5}},
		Home:   "/home/user",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range []vaglio.Proposal{
		{Executor: "list_dir", Args: vaglio.Args{"path": "src"}},
		{Executor: "send_mail", Args: vaglio.Args{"to": "everybody@example.com"}},
		{Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /"}},
	} {
		v, err := engine.Judge(context.Background(), p)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: approved %t, blocked by %q\n", p.Executor, v.Approved, v.BlockedBy)
	}
	// Output:
	// list_dir: approved true, blocked by ""
	// send_mail: approved false, blocked by "judge"
	// shell_exec: approved false, blocked by "guard"
}
