package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/llm"
	"github.com/metnos/vaglio/vaglio/judge/model"
)

// The names of the tools that a manifest may list.
const (
	ToolRun     = "cmd.run"
	ToolAstGrep = "ast_grep.search"
	ToolRead    = "fs.read"
	ToolList    = "fs.list"
	ToolSearch  = "fs.search"
)

// ToolNames returns these names.
func ToolNames() []string { return []string{ToolRun, ToolAstGrep, ToolRead, ToolList, ToolSearch} }

// Tool is something that a judge agent may use. It changes nothing that outlives the child
// execution.
type Tool interface {
	Name() string
	Describe() ToolSpec
	// Run executes a call. Its error is told to the judge as the tool's.
	Run(ctx context.Context, args []byte) (ToolResult, error)
}

// ToolSpec tells a model what a tool does and takes.
type ToolSpec struct {
	// Text says what the tool does.
	Text string
	// Args is the JSON Schema of the arguments, an object.
	Args strictjson.Value
}

// ToolResult is the result of a tool.
type ToolResult struct {
	Text string
	// Failed says that what was run failed, such as a test.
	Failed bool
}

// Workspaces opens the folders of a call for one child execution.
type Workspaces interface {
	// Open checks the folders, which are an agent's claims, and returns what the judge may use in
	// them. If it refuses, the error is a [*vaglio.JudgeError].
	Open(ctx context.Context, folders []string, m *Manifest) (Workspace, error)
}

// Workspace is what one child execution may use. It must be closed.
type Workspace interface {
	Tools() []Tool
	// Layer names the sandbox's mechanism.
	Layer() string
	// Refused returns the tools of the manifest that this mechanism cannot run.
	Refused() []string
	Close() error
}

const (
	// mostCalls is how many calls of one answer are executed.
	mostCalls = 8
	// longestResult is the maximum length of a tool's result for the model, in bytes.
	longestResult = 16 << 10
)

// call executes one call of the model, if nothing forbids it.
func (x *execution) call(ctx context.Context, c *model.ToolCall) (model.ToolResult, error) {
	text, failed, err := x.carry(ctx, c)
	if ctx.Err() != nil {
		return model.ToolResult{}, ctx.Err()
	}
	if err != nil {
		text, failed = err.Error(), true
	}
	text = llm.Shortened(masked(x.judge.config.Masker, text), longestResult)
	x.say("tool "+c.Name, text)
	return model.ToolResult{ID: c.ID, Quote: model.NewQuote("result of "+known(c.Name), text), Failed: failed}, nil
}

// known returns a tool's name if it is one of ours, because the model may have made it up.
func known(name string) string {
	if slices.Contains(ToolNames(), name) {
		return name
	}
	return "an unknown tool"
}

func (x *execution) carry(ctx context.Context, c *model.ToolCall) (text string, failed bool, err error) {
	var tool Tool
	for _, t := range x.tools {
		if t.Name() == c.Name {
			tool = t
		}
	}
	if tool == nil {
		return "", true, fmt.Errorf("there is no such tool; known: %s", x.named())
	}
	var args vaglio.Args
	if err := strictjson.Unmarshal(c.Args, &args); err != nil || args == nil {
		return "", true, fmt.Errorf("the arguments are not a JSON object with each key once")
	}
	p := vaglio.Proposal{
		Agent: x.judge.Kind(), TurnID: x.is.ID, Step: len(x.is.Transcript), Executor: c.Name, Args: args,
		Intent: "judge a proposed call: " + x.is.Executor,
	}
	if len(x.folders) > 0 {
		p.Context.Cwd, p.Context.Mounts = x.folders[0], x.folders
	}
	if c.Name == ToolRun {
		p.Context.Capability = vaglio.Capabilities{"code:exec"}
	}
	if err := x.permitted(ctx, p); err != nil {
		return "", true, err
	}
	r, err := tool.Run(ctx, c.Args)
	return r.Text, r.Failed, err
}

// permitted asks the guard and this judge's own judges about one of its calls.
func (x *execution) permitted(ctx context.Context, p vaglio.Proposal) error {
	denied, why, err := x.judge.config.Guard(ctx, p)
	switch {
	case err != nil:
		return fmt.Errorf("the call cannot be read: %w", err)
	case denied:
		return fmt.Errorf("the guard forbids it: %s", why)
	}
	for _, g := range x.judge.config.Gates {
		mine, cancel := ctx, func() {}
		if g.Timeout > 0 {
			mine, cancel = context.WithTimeout(ctx, g.Timeout)
		}
		r, err := g.Judge.Grade(mine, p)
		cancel()
		if err != nil {
			return fmt.Errorf("the judge %s gave no verdict on it: %w", g.Judge.Kind(), err)
		}
		if !(r.Score >= g.MinScore && r.Confidence >= g.MinConfidence) { // NaN must not pass
			return fmt.Errorf("the judge %s rejects it", g.Judge.Kind())
		}
	}
	return nil
}
