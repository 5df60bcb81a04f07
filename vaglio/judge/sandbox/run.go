package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const toolRun = "cmd.run"

// RunRequest asks to run a command, in one of two forms.
type RunRequest struct {
	Argv    []string `json:"argv,omitempty"`    // program and arguments
	Command string   `json:"command,omitempty"` // one plain command, see [SplitCommand]
	Dir     string   `json:"dir,omitempty"`     // absolute, in one of the mounts; optional if there is only one mount
}

// RunResult is how a command ended.
type RunResult struct {
	Argv []string `json:"argv"`
	// ExitCode is 128 plus the signal's number if a signal ended the command, and -1 if a limit
	// did.
	ExitCode int `json:"exit_code"`
	// Ended says which limit ended the command; empty if it ended by itself.
	Ended    string        `json:"ended,omitempty"`
	Stdout   Output        `json:"stdout"`
	Stderr   Output        `json:"stderr"`
	Duration time.Duration `json:"-"`
}

// Output is what a command wrote to one stream, or its start and end if that exceeds
// [Limits.Output].
type Output struct {
	Text  string `json:"text"`
	Bytes int64  `json:"bytes"` // all that was written
	Cut   string `json:"cut,omitempty"`

	head int // bytes of Text before the cut
}

// Run runs an allowed command. A failing command is a result; an error is a [ToolError], a failure
// of the sandbox, or the end of ctx.
func (s *Sandbox) Run(ctx context.Context, q RunRequest) (RunResult, error) {
	if layer := s.Layer(); !layer.Runs() {
		return RunResult{}, ToolError{toolRun, "is refused here: " + layer.Why}
	}
	argv, err := q.argv()
	if err != nil {
		return RunResult{}, err
	}
	if !s.isAllowed(argv) {
		return RunResult{}, ToolError{toolRun, fmt.Sprintf("%q is not in the list of this judge, which has %s", strings.Join(argv, " "), s.allowedInWords())}
	}
	dir, err := s.folder(q.Dir)
	if err != nil {
		return RunResult{}, err
	}
	return s.run(ctx, toolRun, argv, dir)
}

// argv returns the words of the request.
func (q RunRequest) argv() ([]string, error) {
	switch {
	case len(q.Argv) > 0 && q.Command != "":
		return nil, ToolError{toolRun, "either argv or command is given, not both"}
	case len(q.Argv) == 0:
		argv, err := SplitCommand(q.Command)
		if err != nil {
			return nil, ToolError{toolRun, fmt.Sprintf("%q is not one plain command: %s", q.Command, err)}
		}
		return argv, nil
	}
	size := 0
	for _, word := range q.Argv {
		if strings.ContainsRune(word, 0) {
			return nil, ToolError{toolRun, "a word of argv has a zero byte"}
		}
		size += len(word) + 1
	}
	if size > longestCommand {
		return nil, ToolError{toolRun, fmt.Sprintf("argv has %d bytes, at most %d", size, longestCommand)}
	}
	return q.Argv, nil
}

// folder returns where a command runs: in a folder of a mount or, without dir, in the only mount or
// else the root.
func (s *Sandbox) folder(dir string) (string, error) {
	if dir == "" && len(s.mounts) != 1 {
		return "/", nil
	}
	m, rel, err := s.inMount(toolRun, dir)
	if err != nil {
		return "", err
	}
	if info, err := m.root.Stat(rel); err != nil || !info.IsDir() {
		return "", ToolError{toolRun, fmt.Sprintf("dir %q is not a folder", dir)}
	}
	return filepath.Join(m.path, rel), nil
}

// run runs a program in a folder as the sandbox shows it.
func (s *Sandbox) run(ctx context.Context, tool string, argv []string, dir string) (RunResult, error) {
	if err := ctx.Err(); err != nil {
		return RunResult{}, err
	}
	program, err := s.host.program(argv[0])
	if err != nil {
		return RunResult{}, ToolError{tool, err.Error()}
	}
	r, err := s.execute(ctx, program, argv, dir)
	r.Argv = argv
	return r, err
}

// excerpt keeps the start and the end of what is written to it.
type excerpt struct {
	most int // bytes kept, head and tail together
	head []byte
	tail []byte // a ring once it is full
	next int    // where the ring continues
	all  int64
}

// Write never fails: what does not fit is only counted.
func (e *excerpt) Write(p []byte) (int, error) {
	n := len(p)
	e.all += int64(n)
	if room := e.most/2 - len(e.head); room > 0 {
		k := min(room, len(p))
		e.head = append(e.head, p[:k]...)
		p = p[k:]
	}
	size := e.most - e.most/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	for len(p) > 0 {
		if len(e.tail) < size {
			k := min(size-len(e.tail), len(p))
			e.tail = append(e.tail, p[:k]...)
			p = p[k:]
			continue
		}
		k := copy(e.tail[e.next:], p)
		e.next = (e.next + k) % size
		p = p[k:]
	}
	return n, nil
}

// output returns what was kept.
func (e *excerpt) output() Output {
	tail := string(e.tail[e.next:]) + string(e.tail[:e.next])
	o := Output{Bytes: e.all}
	head := string(e.head)
	if e.all > int64(len(head)+len(tail)) {
		head, tail = wholeLines(head, tail)
		o.Cut = fmt.Sprintf("%d bytes in the middle", e.all-int64(len(head)+len(tail)))
		tail = fmt.Sprintf("\n[… %s left out …]\n", o.Cut) + tail
	}
	head = strings.ToValidUTF8(head, "\uFFFD")
	o.Text, o.head = head+strings.ToValidUTF8(tail, "\uFFFD"), len(head)
	return o
}

// wholeLines drops the partial lines at a cut, unless they are most of the text: a masker would not
// recognise half a secret.
func wholeLines(head, tail string) (string, string) {
	if end := strings.LastIndexByte(head, '\n'); end >= len(head)/2 {
		head = head[:end+1]
	}
	if end := strings.IndexByte(tail, '\n'); end >= 0 && end < len(tail)/2 {
		tail = tail[end+1:]
	}
	return head, tail
}
