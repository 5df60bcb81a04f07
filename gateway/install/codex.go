package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Trusted is one of our hooks as Codex lists it. Codex silently skips every hook that nobody
// has trusted.
type Trusted struct {
	Key, Hash string
	// Asks says that Codex, as it is configured now, runs the hook before each tool call.
	Asks bool
}

// askWithin bounds how long Codex may take to list its hooks.
const askWithin = 30 * time.Second

// CodexHooks asks the codex program for the hooks in effect in dir, and returns ours with their
// hashes.
func CodexHooks(ctx context.Context, program, dir string, env []string) ([]Trusted, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err //nolint:wrapcheck // It says what failed.
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err //nolint:wrapcheck // It says what failed.
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start codex: %w", err)
	}
	hooks, err := listHooks(in, out, dir)
	_ = in.Close()
	cancel()
	_ = cmd.Wait() // it has been killed, so how it exited says nothing
	if err != nil {
		return nil, fmt.Errorf("ask codex for its hooks: %w", err)
	}
	return hooks, nil
}

// CodexTrust asks Codex, if it is on the PATH, whether it runs the hook in dir.
func CodexTrust(ctx context.Context, dir string, env []string) Trust {
	program, err := exec.LookPath("codex")
	if err != nil {
		return TrustUnknown
	}
	hooks, err := CodexHooks(ctx, program, dir, env)
	switch {
	case err != nil:
		return TrustUnknown
	case slices.ContainsFunc(hooks, func(h Trusted) bool { return h.Asks }):
		return TrustGiven
	}
	return TrustMissing
}

// say writes one line of JSON.
func say(w io.Writer, v any) error {
	line, err := strictjson.Marshal(v)
	if err != nil {
		return err //nolint:wrapcheck // It says what failed.
	}
	_, err = w.Write(append(line, '\n'))
	return err //nolint:wrapcheck // It says what failed.
}

func listHooks(in io.Writer, out io.Reader, dir string) ([]Trusted, error) {
	type object = map[string]any
	err := errors.Join(
		say(in, object{"method": "initialize", "id": 0, "params": object{"clientInfo": object{"name": "vaglio", "title": "vaglio", "version": "1"}}}),
		say(in, object{"method": "initialized"}),
		say(in, object{"method": "hooks/list", "id": 1, "params": object{"cwds": []string{dir}}}),
	)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var answer struct {
			ID     *int `json:"id"`
			Result struct {
				Data []struct {
					Hooks []struct {
						Key     string `json:"key"`
						Event   string `json:"eventName"`
						Command string `json:"command"`
						Hash    string `json:"currentHash"`
						Enabled bool   `json:"enabled"`
						Status  string `json:"trustStatus"`
					} `json:"hooks"`
				} `json:"data"`
			} `json:"result"`
		}
		if strictjson.UnmarshalLoose(lines.Bytes(), &answer) != nil || answer.ID == nil || *answer.ID != 1 {
			continue
		}
		var hooks []Trusted
		for _, d := range answer.Result.Data {
			for _, h := range d.Hooks {
				if len(hooksOf(h.Command)) > 0 {
					runs := h.Enabled && (h.Status == "trusted" || h.Status == "managed")
					hooks = append(hooks, Trusted{h.Key, h.Hash, runs && h.Event == "preToolUse"})
				}
			}
		}
		return hooks, nil
	}
	return nil, errors.New("it ended without an answer")
}

// CodexConfig returns the file in which Codex keeps the hooks it trusts.
func CodexConfig(home string) string { return filepath.Join(home, ".codex", "config.toml") }

// TrustCodex plans to write the hashes of the hooks into Codex's config.toml. Without hooks, it
// plans to remove those of the hooks in hooksFile.
func TrustCodex(home, hooksFile string, hooks []Trusted) (Change, error) {
	c := Change{Path: CodexConfig(home), Mode: private}
	var err error
	if c.Before, err = readFile(c.Path); err != nil {
		return c, err
	}
	if c.bare, err = trust(c.Before, hooksFile, nil); err != nil {
		return c, fmt.Errorf("%s: %w", c.Path, err)
	}
	if c.After, err = trust(c.Before, hooksFile, hooks); err != nil {
		return c, fmt.Errorf("%s: %w", c.Path, err)
	}
	return c, nil
}

var tomlHeader = regexp.MustCompile(`^\s*\[`)

// trust removes the tables of hooksFile's hooks and adds those of hooks. Everything else stays
// byte for byte.
func trust(now []byte, hooksFile string, hooks []Trusted) ([]byte, error) {
	if err := checkTOML(now); err != nil {
		return nil, err
	}
	var out strings.Builder
	skip := false
	for line := range strings.Lines(string(now)) {
		if tomlHeader.MatchString(line) {
			skip = strings.HasPrefix(strings.TrimSpace(line), `[hooks.state.`+strconv.Quote(hooksFile)[:len(strconv.Quote(hooksFile))-1]+":")
		}
		if !skip {
			out.WriteString(line)
		}
	}
	rest := out.String()
	if len(hooks) > 0 && rest != "" && !strings.HasSuffix(rest, "\n") {
		rest += "\n"
	}
	for _, h := range hooks {
		rest += fmt.Sprintf("[hooks.state.%s]\ntrusted_hash = %s\n", strconv.Quote(h.Key), strconv.Quote(h.Hash))
	}
	if now == nil && rest == "" {
		return nil, nil
	}
	if err := checkTOML([]byte(rest)); err != nil {
		return nil, errors.New("holds hooks.state in a form that cannot be added to; trust the hook in codex's /hooks screen instead")
	}
	return []byte(rest), nil
}
