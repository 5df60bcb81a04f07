package hook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// claudeCodeName is how the client is called, here and by the tables of tools.
const claudeCodeName = "claude-code"

// claudeCode speaks Claude Code's PreToolUse hook.
func claudeCode() dialect {
	return dialect{
		name:   claudeCodeName,
		decode: decodeClaude,
		allow: func(reason, said string) []byte {
			return encodeClaude(claudeAnswer{Decision: "allow", Reason: reason, Said: said})
		},
		deny: func(reason string) []byte {
			return encodeClaude(claudeAnswer{Decision: "deny", Reason: reason})
		},
		settings: claudeSettings,
		maxText:  9500, // the client drops an answer with a text above 10,000
	}
}

// preToolUse is what Claude Code writes before a tool call, as far as it
// matters here. Fields that later versions add are no mistake.
type preToolUse struct {
	Session    string           `json:"session_id"`
	Transcript string           `json:"transcript_path"`
	Cwd        string           `json:"cwd"`
	Prompt     string           `json:"prompt_id"`
	Mode       string           `json:"permission_mode"`
	Event      string           `json:"hook_event_name"`
	Tool       string           `json:"tool_name"`
	Input      strictjson.Value `json:"tool_input"`
	ToolUse    string           `json:"tool_use_id"`
}

func decodeClaude(data []byte) (call, error) {
	var in preToolUse
	if err := strictjson.UnmarshalLoose(data, &in); err != nil {
		return call{}, unreadable(err)
	}
	switch {
	case in.Event != "PreToolUse":
		return call{}, errors.New("the hook is installed for another event than PreToolUse")
	case in.Tool == "":
		return call{}, errors.New("the hook's input names no tool")
	case in.Input.Kind() != '{':
		return call{}, errors.New("the hook's input has no tool_input that is an object")
	}
	var args vaglio.Args
	if err := strictjson.UnmarshalLoose(in.Input, &args); err != nil {
		return call{}, unreadable(err)
	}
	p := vaglio.Proposal{
		TurnID: in.Session, Executor: in.Tool, Args: args,
		Intent:  intentOf(in.Transcript),
		Context: vaglio.Context{Client: claudeCodeName, Mode: in.Mode, Cwd: in.Cwd},
	}
	if in.Prompt != "" {
		p.TurnID += ":" + in.Prompt
	}
	switch in.Tool {
	case "Bash":
		p.Context.Capability = vaglio.Capabilities{"code:exec"}
	case "Glob", "Grep", "LS", "NotebookRead", "Read":
		p.Context.Critical = new(bool)
	}
	return call{proposal: p, key: claudeKey(in)}, nil
}

// unreadable says where the input is not what was expected, and nothing of
// what stands there.
func unreadable(err error) error {
	what := "the hook's input is not the JSON that claude-code writes before a tool call"
	if at, syntax, _ := strictjson.Mistake(err); syntax {
		return fmt.Errorf("%s: byte %d cannot be read", what, at)
	}
	return errors.New(what)
}

// claudeKey names the call as the client does, so that a resumed session that
// asks again gets the answer that was given. A call without a name is a new
// one each time.
func claudeKey(in preToolUse) string {
	if in.Session == "" || in.ToolUse == "" {
		return "once:" + rand.Text()
	}
	key := in.Session + ":" + in.ToolUse
	invisible := func(r rune) bool { return r < '!' || r > '~' }
	if len(key) > 200 || strings.ContainsFunc(key, invisible) {
		sum := sha256.Sum256([]byte(key))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	return key
}

// claudeAnswer is the part of the answer that differs.
type claudeAnswer struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	// Said is read by the agent.
	Said string `json:"additionalContext,omitempty"`
}

func encodeClaude(a claudeAnswer) []byte {
	a.Event = "PreToolUse"
	out, err := strictjson.Marshal(map[string]claudeAnswer{"hookSpecificOutput": a})
	if err != nil {
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
			`"permissionDecisionReason":"vaglio: this call did not run: its hook failed inside"}}` + "\n")
	}
	return append(out, '\n')
}

// claudeSettings is for settings.json. The limit stands there in seconds; on a
// shorter one the client would run the tool while a person still thinks.
func claudeSettings(exe string) ([]byte, error) {
	if !filepath.IsAbs(exe) {
		return nil, errors.New("the hook must be installed with vaglio's absolute path")
	}
	type command struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Timeout int      `json:"timeout"`
	}
	type group struct {
		Matcher string    `json:"matcher"`
		Hooks   []command `json:"hooks"`
	}
	hooks := map[string][]group{"PreToolUse": {{"*", []command{
		{"command", exe, []string{"hook", "claude-code"}, int(DefaultLimit / time.Second)},
	}}}}
	out, err := strictjson.MarshalIndent(map[string]any{"hooks": hooks})
	if err != nil {
		return nil, fmt.Errorf("hook: encode the settings: %w", err)
	}
	return append(out, '\n'), nil
}
