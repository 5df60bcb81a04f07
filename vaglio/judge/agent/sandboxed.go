package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/sandbox"
)

// Sandboxed opens folders in sandboxes on this machine. It is safe for concurrent use.
type Sandboxed struct {
	// Host is the machine; nil means one without any sandbox.
	Host *sandbox.Host
	// Roots are the folders that may be shown.
	Roots []string
	// Hide reports whether a path holds a secret, which no judge is shown.
	Hide func(path string) bool
}

// Open opens a sandbox for the folders.
func (s Sandboxed) Open(ctx context.Context, folders []string, m *Manifest) (Workspace, error) {
	if s.Host == nil {
		return nil, &vaglio.JudgeError{Fault: "its tools cannot be kept in a sandbox here", Class: vaglio.FaultSandbox}
	}
	c := sandbox.Config{
		Host: s.Host, Roots: s.Roots, Mounts: folders, Hide: s.Hide,
		Network: sandbox.Network(m.Network), Scratch: sandbox.Scratch(m.Scratch),
		Limits: sandbox.Limits{Time: commandTime(ctx)},
	}
	for _, t := range m.Tools {
		c.Allow = append(c.Allow, t.Allow...)
	}
	box, err := sandbox.Open(ctx, c)
	if mount, ok := errors.AsType[sandbox.MountError](err); ok {
		return nil, &vaglio.JudgeError{Fault: "the " + mount.Error(), Class: vaglio.FaultMount, Err: err}
	}
	if err != nil {
		return nil, err
	}
	w := &sandboxed{box: box, refused: refusedBy(box.Layer(), m.Tools)}
	for _, t := range m.Tools {
		w.tools = append(w.tools, toolOf(box, t.Name))
	}
	return w, nil
}

// commandTime returns how long one command may take: nine tenths of the judge's time, so that the
// judge can still report the result, if that is more than a sandbox's default; otherwise 0, which
// means that default.
func commandTime(ctx context.Context) time.Duration {
	until, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	most := min(time.Until(until)/10*9, time.Hour)
	if most <= sandbox.DefaultTime {
		return 0
	}
	return most
}

// refusedBy returns the tools that run programs if the layer cannot run any.
func refusedBy(layer sandbox.Layer, tools []ToolUse) (all []string) {
	for _, t := range tools {
		if !layer.Runs() && (t.Name == ToolRun || t.Name == ToolAstGrep) {
			all = append(all, t.Name)
		}
	}
	return all
}

// sandboxed is a workspace in a sandbox.
type sandboxed struct {
	box     *sandbox.Sandbox
	tools   []Tool
	refused []string
}

func (w *sandboxed) Tools() []Tool     { return w.tools }
func (w *sandboxed) Layer() string     { return w.box.Layer().String() }
func (w *sandboxed) Refused() []string { return w.refused }
func (w *sandboxed) Close() error      { return w.box.Close() }

// boxed is one of a sandbox's tools.
type boxed struct {
	name string
	spec ToolSpec
	run  func(ctx context.Context, args []byte) (ToolResult, error)
}

func (b boxed) Name() string       { return b.name }
func (b boxed) Describe() ToolSpec { return b.spec }
func (b boxed) Run(ctx context.Context, args []byte) (ToolResult, error) {
	return b.run(ctx, args)
}

// with makes a tool's Run of a method that takes one request.
func with[Q, R any](box func(context.Context, Q) (R, error), failed func(*R) bool) func(context.Context, []byte) (ToolResult, error) {
	return func(ctx context.Context, args []byte) (ToolResult, error) {
		var q Q
		if err := strictjson.Unmarshal(args, &q); err != nil {
			return ToolResult{}, err
		}
		r, err := box(ctx, q)
		if err != nil {
			return ToolResult{}, err
		}
		text, err := strictjson.MarshalLossy(r)
		if err != nil {
			return ToolResult{}, fmt.Errorf("the result cannot be written: %w", err)
		}
		return ToolResult{Text: string(text), Failed: failed != nil && failed(&r)}, nil
	}
}

// objectOf returns the schema of an object with these properties.
func objectOf(properties string) strictjson.Value {
	return strictjson.Value(`{"type":"object","properties":{` + properties + `},"additionalProperties":false}`)
}

const (
	pathArg    = `"path":{"type":"string","description":"absolute"}`
	patternArg = `"pattern":{"type":"string"}`
)

func toolOf(box *sandbox.Sandbox, name string) Tool {
	switch name {
	case ToolRun:
		return boxed{name, ToolSpec{
			"Runs one allowed command in the agent's folder, without a shell: no pipes, redirections or expansions.",
			objectOf(`"command":{"type":"string"},"dir":{"type":"string","description":"absolute; may be left out where there is one folder"}`),
		}, with(box.Run, func(r *sandbox.RunResult) bool { return r.ExitCode != 0 })}
	case ToolAstGrep:
		return boxed{name, ToolSpec{
			"Finds code by its structure with ast-grep: $NAME stands for a node, $$$ for any number.",
			objectOf(patternArg + `,"language":{"type":"string"},"selector":{"type":"string"},` + pathArg),
		}, with(box.AstGrep, nil)}
	case ToolRead:
		return boxed{name, ToolSpec{
			"Reads a text file.",
			objectOf(pathArg + `,"line":{"type":"integer","description":"the first one, from 1"},"most":{"type":"integer","description":"how many lines"}`),
		}, with(box.Read, nil)}
	case ToolList:
		return boxed{name, ToolSpec{"Lists a folder.", objectOf(pathArg)}, with(box.List, nil)}
	default:
		return boxed{name, ToolSpec{
			"Finds lines that match a regular expression (RE2) in files.",
			objectOf(patternArg + `,` + pathArg + `,"name":{"type":"string","description":"a glob for names of files"}`),
		}, with(box.Search, nil)}
	}
}
