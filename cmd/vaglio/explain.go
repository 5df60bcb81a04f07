package main

import (
	"bytes"
	"context"
	"encoding/json" //nolint:depguard // What is written here is ours; nothing is read with it.
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/explain"
	"github.com/metnos/vaglio/internal/judging"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// maxProposal is the maximum size of a proposal, in bytes, as in the API.
const maxProposal = 1 << 20

func newExplain(std stdio) *cobra.Command {
	e := &explaining{std: std}
	cmd := &cobra.Command{
		Use:   "explain [file]",
		Short: "Show what a call would do, and how it is judged",
		Long: `Explain one proposal, without a daemon: how its arguments are read, which places they
name and what cannot be read; what the call would do and to what; which rule of the
guard it breaks; what each judge says; and the verdict. The proposal is JSON, from the
file or from the input, or a command line, with --command.

The threshold, the judges and the executors are those of the environment, as in
'vaglio judge'. Nothing is run, and nothing is kept.

Exit codes: 0 explained, whatever the verdict; 2 a mistake in the command line, in
the configuration or in the proposal. 'vaglio judge' tells verdicts apart.`,
		Example: `  vaglio explain --command 'git push --force origin main' --intent 'publish my work'
  echo '{"executor":"read_file","args":{"path":"/etc/shadow"}}' | vaglio explain --json`,
		Args: asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				e.file = args[0]
			}
			if cmd.Flags().Changed("command") && strings.TrimSpace(e.command) == "" {
				return &exitError{exitUsage, errors.New("--command is empty; give the line that is to be explained")}
			}
			return e.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&e.asJSON, "json", false, "print JSON")
	f.StringVar(&e.command, "command", "", "explain this command line")
	f.StringVar(&e.cwd, "cwd", "", "with --command: the folder in which it would run; this one if left out")
	f.StringVar(&e.intent, "intent", "", "with --command: what the user asked for")
	f.StringVar(&e.policy, "policy", "", "path of the policy file, instead of METNOS_POLICY")
	return cmd
}

// explaining is one run of `vaglio explain`.
type explaining struct {
	std                                stdio
	asJSON                             bool
	file, command, cwd, intent, policy string
}

func (e *explaining) run(ctx context.Context) error {
	c, err := loadConfig()
	if err == nil && e.policy != "" {
		c.Policy = e.policy
	}
	p, mistake := policyfile.Load(c.Policy, c.Home)
	if err := errors.Join(err, mistake); err != nil {
		return &configError{err}
	}
	x, err := e.explain(ctx, c, p)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return e.print(&x, c.Texts.In(c.Lang, c.Zone))
}

func (e *explaining) explain(ctx context.Context, c config, p policyfile.Policy) (x explain.Explanation, err error) {
	proposal, err := e.proposal()
	if err != nil {
		return x, err
	}
	reader, err := newEffects(c, p)
	if err != nil {
		return x, err
	}
	masker := passingMasker()
	engine, err := newEngine(ctx, c, p, nil, nil, judging.Offline(masker.Masker))
	if err != nil {
		return x, err
	}
	return explain.New(ctx, engine, reader, masker, c.Home, proposal)
}

// proposal reads the proposal to explain.
func (e *explaining) proposal() (vaglio.Proposal, error) {
	if e.command != "" {
		if e.file != "" {
			return vaglio.Proposal{}, errors.New("give a file or --command, not both")
		}
		return e.shell()
	}
	in := e.std.in
	if e.file != "" && e.file != "-" {
		f, err := os.Open(e.file)
		if err != nil {
			return vaglio.Proposal{}, datafolder.Plain(err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxProposal+1))
	if err != nil {
		return vaglio.Proposal{}, datafolder.Plain(err)
	}
	if len(b) > maxProposal {
		return vaglio.Proposal{}, fmt.Errorf("the proposal is longer than %d bytes", maxProposal)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return vaglio.Proposal{}, errors.New("there is nothing to explain; give a line with --command, a file, or a proposal on the input")
	}
	return vaglio.DecodeProposal(b)
}

// shell makes a proposal of the given command line.
func (e *explaining) shell() (vaglio.Proposal, error) {
	cwd := e.cwd
	if cwd == "" {
		var err error
		if cwd, err = os.Getwd(); err != nil {
			return vaglio.Proposal{}, datafolder.Plain(err)
		}
	}
	return vaglio.Proposal{
		Intent: e.intent, Executor: "shell_exec", Args: vaglio.Args{"command": e.command},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: cwd},
	}, nil
}

func (e *explaining) print(x *explain.Explanation, texts *templates.Texts) error {
	if e.asJSON {
		enc := json.NewEncoder(e.std.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(x)
	}
	_, err := io.WriteString(e.std.out, x.Text(texts))
	return err
}
