package replay

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/hook"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// tape is what has been read.
type tape struct {
	since time.Time
	// older counts the calls before since, and newest is the time of the last of them.
	older         int
	newest        time.Time
	files, unread int
	unreadAt      []Unread
	// folder is the requested path if that is a folder.
	folder string
	all    []*call
	// calls are the calls that may still get an answer, by client and ID. A session that continues
	// in another file is copied there.
	calls map[string]*call
}

// call is one call that was made.
type call struct {
	proposal vaglio.Proposal
	at       time.Time
	// ended says that an answer to the call was read; refused that, according to it, somebody or
	// the client refused the call.
	ended, refused bool
	// recorded says that the file would contain an answer.
	recorded bool
}

// ran reports whether the call ran, as far as is known.
func (c *call) ran() bool { return !c.refused && (c.ended || !c.recorded) }

// endings returns the file name extensions of files with calls.
func endings() []string { return []string{".jsonl", ".ndjson"} }

// read reads a file, or all files with calls in a folder. Only the requested path itself must be
// readable.
func (t *tape) read(ctx context.Context, path string) error {
	path = filepath.Clean(path)
	info, err := regular.Folder(filepath.Dir(path)).Open(filepath.Base(path))
	if err != nil {
		return err //nolint:wrapcheck // It names the file.
	}
	stat, err := info.Stat()
	_ = info.Close()
	if err != nil {
		return err //nolint:wrapcheck // It names the file.
	}
	if !stat.IsDir() {
		return t.file(path)
	}
	t.folder = path
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.skip(name, 0, cause(err))
		case d.Type().IsRegular() && slices.Contains(endings(), filepath.Ext(name)):
			if err := t.file(name); err != nil {
				t.skip(name, 0, cause(err))
			}
		}
		return nil
	})
	// Order sessions from several files by time.
	slices.SortStableFunc(t.all, func(a, b *call) int { return a.at.Compare(b.at) })
	return err //nolint:wrapcheck // It is ctx's.
}

// cause returns a system error about a file without the file's name.
func cause(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func (t *tape) file(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err //nolint:wrapcheck // It names the file.
	}
	defer f.Close()
	return t.lines(f, path)
}

// lines reads the lines of one file.
func (t *tape) lines(from io.Reader, path string) error {
	t.files++
	s := script{tape: t, path: path}
	for in := jsonrpc.NewReader(from); ; {
		line, err := in.Next()
		s.number = in.Number()
		if len(line) > 0 {
			s.line(line)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonrpc.ErrLong):
			s.bad(err.Error())
		case err != nil:
			return err //nolint:wrapcheck // It names the file.
		}
	}
}

// script is one file while it is being read.
type script struct {
	*tape
	// path is the file, and number the current line's number.
	path   string
	number int
	// session, root and cwd describe the client's session: its ID, the folder in which it began,
	// and its current folder.
	session, root, cwd string
	// turn and words are the user's latest.
	turn, words string
}

// entry is a line in any of the formats that are read.
type entry struct {
	// Executor is set in a proposal.
	Executor string `json:"executor"`
	Time     string `json:"timestamp"`
	Type     string `json:"type"`
	// These are set by Claude Code.
	Session string `json:"sessionId"`
	Cwd     string `json:"cwd"`
	Prompt  string `json:"promptId"`
	Message struct {
		Content strictjson.Value `json:"content"`
	} `json:"message"`
	// Permission is set in a call's answer.
	Permission struct {
		Decision string `json:"decision"`
	} `json:"permissionDecision"`
	// Payload is set by Codex.
	Payload strictjson.Value `json:"payload"`
}

func (s *script) line(line []byte) {
	var e entry
	if strictjson.UnmarshalLoose(line, &e) != nil {
		// The last line of a transcript may still be being written.
		s.bad("is not a JSON object of a form that is known")
		return
	}
	at, _ := time.Parse(time.RFC3339Nano, e.Time) // an entry without a time counts
	switch {
	case e.Executor != "":
		s.proposal(line, at)
	case e.Payload != nil:
		s.codex(&e, at)
	case (e.Type == "user" || e.Type == "assistant") && e.Message.Content != nil:
		s.claude(&e, line, at)
	}
}

// proposal takes a proposal in the format of `vaglio judge`.
func (s *script) proposal(line []byte, at time.Time) {
	var timed map[string]strictjson.Value
	if strictjson.UnmarshalLoose(line, &timed) == nil && timed["timestamp"] != nil {
		delete(timed, "timestamp") // added by shadow mode
		if bare, err := strictjson.Marshal(timed); err == nil {
			line = bare
		}
	}
	p, err := vaglio.DecodeProposal(line)
	if err != nil {
		s.bad(err.Error())
		return
	}
	s.add("", &call{proposal: p, at: at})
}

// bad records that the line holds a call that cannot be read.
func (s *script) bad(why string) { s.skip(s.path, s.number, why) }

// mostPlaces is how many unreadable places are kept.
const mostPlaces = 1000

// skip records what could not be read, by its path relative to the requested folder.
func (t *tape) skip(path string, line int, why string) {
	if below, err := filepath.Rel(t.folder, path); err == nil && t.folder != "" {
		path = below
	}
	if t.unread++; t.unread <= mostPlaces {
		t.unreadAt = append(t.unreadAt, Unread{path, line, why})
	}
}

// add keeps a call, unless it is too old or was seen before.
func (s *script) add(name string, c *call) {
	if name != "" && s.calls[name] != nil {
		return
	}
	if !c.at.IsZero() && c.at.Before(s.since) {
		s.older++
		if c.at.After(s.newest) {
			s.newest = c.at
		}
		return
	}
	if name != "" {
		s.calls[name] = c
	}
	s.all = append(s.all, c)
}

// record keeps a call from a client's transcript.
func (s *script) record(r hook.Recorded, at time.Time) {
	p, err := r.Proposal()
	if err == nil {
		p.Intent = s.words
		if r.Client == claudeCode && s.root != "" {
			p.Context.Roots = []string{s.root}
		}
		var data []byte
		if data, err = strictjson.Marshal(p); err == nil {
			var proposal vaglio.Proposal
			if proposal, err = vaglio.DecodeProposal(data); err == nil {
				s.add(r.Client+"\x00"+r.Call, &call{proposal: proposal, at: at, recorded: true})
			}
		}
	}
	if err != nil {
		s.bad(err.Error())
	}
}

// The clients whose transcripts are read.
const (
	claudeCode = "claude-code"
	codex      = "codex"
)

// part is one part of a message in Claude Code's transcript.
type part struct {
	Type  string           `json:"type"`
	ID    string           `json:"id"`
	Name  string           `json:"name"`
	Input strictjson.Value `json:"input"`
	// These are set in a call's answer.
	Of      string           `json:"tool_use_id"`
	Failed  bool             `json:"is_error"`
	Content strictjson.Value `json:"content"`
}

func (s *script) claude(e *entry, line []byte, at time.Time) {
	if s.session != e.Session || s.root == "" {
		s.session, s.root = e.Session, e.Cwd
	}
	if words := hook.UserWords(line); words != "" {
		s.words, s.turn = words, e.Prompt
	}
	var parts []part
	if strictjson.UnmarshalLoose(e.Message.Content, &parts) != nil {
		return
	}
	for _, p := range parts {
		switch p.Type {
		case "tool_use":
			s.record(hook.Recorded{
				Client: claudeCode, Session: e.Session, Turn: s.turn, Call: p.ID, Cwd: e.Cwd, Tool: p.Name, Input: p.Input,
			}, at)
		case "tool_result":
			s.ended(claudeCode, p.Of, p.Failed && (e.Permission.Decision == "reject" || refusal(string(p.Content))))
		}
	}
}

// ended records how a call ended.
func (s *script) ended(client, id string, refused bool) {
	if c := s.calls[client+"\x00"+id]; c != nil {
		c.ended, c.refused = true, refused
	}
}

// refusal reports whether the answer to a call says that the call did not run.
func refusal(answer string) bool {
	for _, words := range []string{
		"The user doesn't want to proceed with this tool use", "The user doesn't want to take this action", "Permission to use ",
		"Permission for this action has been denied", "hook error: ", "haven't granted it yet", // Claude Code
		"rejected by user", "aborted by user", "Command blocked by PreToolUse hook", "approval denied", "unsupported call: ", // Codex
	} {
		if strings.Contains(answer, words) {
			return true
		}
	}
	return false
}

// item is the payload of a line in Codex's rollout.
type item struct {
	Type      string           `json:"type"`
	ID        string           `json:"id"`
	Cwd       string           `json:"cwd"`
	Turn      string           `json:"turn_id"`
	Call      string           `json:"call_id"`
	Name      string           `json:"name"`
	Arguments string           `json:"arguments"`
	Input     string           `json:"input"`
	Output    strictjson.Value `json:"output"`
	Action    struct {
		Command []string `json:"command"`
		Cwd     string   `json:"working_directory"`
	} `json:"action"`
}

func (s *script) codex(e *entry, at time.Time) {
	var i item
	if strictjson.UnmarshalLoose(e.Payload, &i) != nil {
		var kind struct {
			Type string `json:"type"`
		}
		if strictjson.UnmarshalLoose(e.Payload, &kind) != nil || strings.HasSuffix(kind.Type, "_call") {
			s.bad("is not a call of a form that is known")
		}
		return
	}
	r := hook.Recorded{Client: codex, Session: s.session, Turn: s.turn, Call: i.Call, Cwd: s.cwd, Tool: i.Name}
	switch {
	case e.Type == "session_meta":
		s.session, s.root, s.cwd = i.ID, i.Cwd, i.Cwd
	case e.Type == "turn_context":
		s.cwd, s.turn = i.Cwd, i.Turn
	case i.Type == "function_call":
		r.Input = strictjson.Value(i.Arguments)
		s.record(r, at)
	case i.Type == "custom_tool_call":
		r.Input = objectOf("patch", i.Input)
		s.record(r, at)
	case i.Type == "local_shell_call":
		r.Tool, r.Input = "local_shell", objectOf("command", i.Action.Command)
		if i.Action.Cwd != "" {
			r.Cwd = i.Action.Cwd
		}
		s.record(r, at)
	case strings.HasSuffix(i.Type, "_call_output"):
		s.ended(codex, i.Call, refusal(string(i.Output)))
	}
}

// objectOf returns an object with one member.
func objectOf(name string, v any) strictjson.Value {
	out, err := strictjson.Marshal(map[string]any{name: v})
	if err != nil {
		return nil
	}
	return out
}
