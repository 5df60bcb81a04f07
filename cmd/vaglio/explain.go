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

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/wording"
)

// maxProposal bounds a proposal that explain reads, in bytes, as the API does.
const maxProposal = 1 << 20

func newExplain(std stdio) *cobra.Command {
	e := &explaining{std: std}
	cmd := &cobra.Command{
		Use:   "explain [file]",
		Short: "Show what a call was read to do, and how it is judged",
		Long: `Explain one proposal without a daemon: what its arguments were read as, with the
places that they name and what could not be read; what that does and to what,
which guard rule it breaks, what each judge says, and the verdict. The proposal is JSON,
from the file or from the input; or a command line, with --command.

The threshold, the judges and the executors are those of the environment, as in
'vaglio judge'. Nothing is run, and nothing is kept.

Exit codes: 0 explained, whatever the verdict; 2 a mistake in the command line, in
the configuration or in the proposal. 'vaglio judge' tells verdicts apart.`,
		Example: `  vaglio explain --command 'git push --force origin main' --intent 'publish my work'
  echo '{"executor":"read_file","args":{"path":"/etc/shadow"}}' | vaglio explain --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg(cmd, args)
		},
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

// explanation is what explain prints.
type explanation struct {
	Proposal vaglio.Proposal `json:"proposal"`
	// Error is a mistake of shape or scope; then there is no verdict.
	Error string `json:"error,omitempty"`
	// Reading is what guard and judges see of the call.
	Reading readingView `json:"reading"`
	// Effects are what the call was read to do, and Notes what was not read.
	Effects []effectView    `json:"effects"`
	Notes   []string        `json:"notes"`
	Verdict *vaglio.Verdict `json:"verdict"`
	// Refusal is what the agent would be told.
	Refusal *approval.Refusal `json:"refusal,omitempty"`
}

func (e *explaining) run(ctx context.Context) error {
	c, err := loadConfig()
	if err == nil && e.policy != "" {
		c.Policy = e.policy
	}
	p, mistake := loadPolicy(c.Policy, c.Home)
	if err := errors.Join(err, mistake); err != nil {
		return &configError{err}
	}
	x, err := e.explain(ctx, c, p)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return e.print(x)
}

func (e *explaining) explain(ctx context.Context, c config, p policy) (x explanation, err error) {
	if x.Proposal, err = e.proposal(); err != nil {
		return x, err
	}
	reader, err := newEffects(c, p)
	if err != nil {
		return x, err
	}
	engine, err := newEngine(c, p, nil, nil)
	if err != nil {
		return x, err
	}
	if x.Reading, err = viewOf(engine, x.Proposal, c.Home); err != nil {
		return x, err
	}
	read := reader.Read(engine.Known(x.Proposal))
	x.say(read)
	v, err := engine.Judge(ctx, x.Proposal)
	if mistake := mistakeOf(err); mistake != nil {
		x.Error = mistake.Error()
		return x, nil
	}
	if err != nil {
		return x, err
	}
	x.Verdict = &v
	if !v.Approved {
		r := approval.Refuse(x.Proposal, v)
		x.Refusal = &r
	}
	return x, nil
}

// proposal reads what is to be explained.
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
			return vaglio.Proposal{}, plain(err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxProposal+1))
	if err != nil {
		return vaglio.Proposal{}, plain(err)
	}
	if len(b) > maxProposal {
		return vaglio.Proposal{}, fmt.Errorf("the proposal is longer than %d bytes", maxProposal)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return vaglio.Proposal{}, errors.New("there is nothing to explain; give a line with --command, a file, or a proposal on the input")
	}
	return vaglio.DecodeProposal(b)
}

// shell makes a proposal of the command line that was given.
func (e *explaining) shell() (vaglio.Proposal, error) {
	cwd := e.cwd
	if cwd == "" {
		var err error
		if cwd, err = os.Getwd(); err != nil {
			return vaglio.Proposal{}, plain(err)
		}
	}
	return vaglio.Proposal{
		Intent: e.intent, Executor: "shell_exec", Args: vaglio.Args{"command": e.command},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: cwd},
	}, nil
}

func (e *explaining) print(x explanation) error {
	if e.asJSON {
		enc := json.NewEncoder(e.std.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(x)
	}
	_, err := io.WriteString(e.std.out, x.text())
	return err
}

// effectView is an effect, said in English.
type effectView struct {
	effects.Effect
	Why string `json:"why"`
}

// say keeps what a call was read to do.
func (x *explanation) say(read effects.Reading) {
	for _, e := range read.Effects {
		x.Effects = append(x.Effects, effectView{e, e.Why.String()})
	}
	for _, n := range read.Notes {
		note, _ := n.In(wording.English)
		x.Notes = append(x.Notes, note)
	}
}

// text is the explanation for a person at a terminal. What strangers wrote is
// made visible.
func (x *explanation) text() string {
	if x.Error != "" {
		return entry("mistake", x.Error)
	}
	var b strings.Builder
	x.Reading.write(&b)
	label := "read"
	for _, e := range x.Effects {
		b.WriteString(entry(label, fmt.Sprintf("%s (%s, %s, reach %s, sure %.0f %%)", e.Why, e.Kind, e.Reversibility, e.Reach, 100*e.Sure)))
		label = ""
	}
	for _, note := range x.Notes {
		b.WriteString(entry("not read", note))
	}
	v := x.Verdict
	if v.Rule == nil {
		b.WriteString(entry("guard", "lets it through"))
	} else {
		b.WriteString(entry("guard", "denies it by the rule "+v.Rule.ID+". "+v.Rule.Why))
		b.WriteString(entry("", "Instead: "+v.Rule.Instead))
	}
	for _, r := range v.Results {
		b.WriteString(entry("judge", fmt.Sprintf("%s gives it %.2f: %s", r.Judge, r.Score, r.Reasoning)))
		for _, s := range r.Signals {
			b.WriteString(entry("", fmt.Sprintf("- %s %.2f: %s", s.Category, s.Score, s.Message)))
		}
	}
	b.WriteString(entry("verdict", verdictWords(v)))
	return b.String()
}

// entry is one line of an explanation.
func entry(label, text string) string {
	return fmt.Sprintf("%-9s %s\n", label, visible.Text(text))
}

// verdictWords says what becomes of the call.
func verdictWords(v *vaglio.Verdict) string {
	switch v.BlockedBy {
	case vaglio.PhaseGuard:
		return "denied for good. " + v.Reason
	case vaglio.PhaseJudge:
		return "denied; a person would be asked. " + v.Reason
	case vaglio.PhaseNone:
	}
	return v.Reason
}
