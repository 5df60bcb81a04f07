package install

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// marked is a file to whose end we append a block, between two comments that let us find it.
type marked struct {
	block func(o Options) string
	// more returns further lines for the block if the rest of the file has room for them; it
	// may be nil.
	more func(rest []byte, o Options) string
	// check returns why the block cannot be added to the rest of the file.
	check func(rest []byte, block string) error
}

const (
	blockBegin = "# vaglio: begin (" + sign + ")\n"
	blockEnd   = "# vaglio: end\n"
)

// hermesHooks is the form of hermes-agent's shell hooks. A hook that fails blocks the tool.
func hermesHooks() form {
	return marked{check: checkYAML, more: hermesTransport, block: func(o Options) string {
		line := func(event string, wait time.Duration, closed string) string {
			return fmt.Sprintf("  %s:\n    - command: %s\n      timeout: %d\n%s", event, quoteYAML(o.shellLine()), int(wait/time.Second), closed)
		}
		closed := "      fail_closed: true\n"
		if o.Shadow {
			closed = ""
		}
		return "hooks:\n" + line("pre_tool_call", o.limit(), closed) + line("post_tool_call", tellsWithin, "") + line("post_approval_response", tellsWithin, "")
	}}
}

// hermesTransport sends the questions of hermes-agent's own gate to vaglio. It leaves a file
// alone that already has one of these keys.
func hermesTransport(rest []byte, o Options) string {
	f, err := parseYAML(rest)
	if err != nil || o.Shadow || hasKey(f, "plugins") || hasKey(f, "security") {
		return ""
	}
	return "plugins:\n  enabled:\n    - vaglio\nsecurity:\n  approval:\n    transport: vaglio\n"
}

// quoteYAML returns s in single quotes.
func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// checkYAML rejects a file with hooks of its own, which the block would replace.
func checkYAML(rest []byte, block string) error {
	f, err := parseYAML(rest)
	if err != nil {
		return err
	}
	if hasKey(f, "hooks") {
		return errors.New(`has "hooks" of its own and was left alone; put these lines into it by hand:` + "\n" + block)
	}
	if _, err := parseYAML(slices.Concat(rest, []byte("\n"+block))); err != nil {
		return errors.New("is not a plain mapping at its top, and was left alone")
	}
	return nil
}

// kimiHooks is the form of Kimi Code's hooks, which take these four keys and no others.
func kimiHooks() form {
	return marked{check: checkTOMLBlock, block: func(o Options) string {
		var b strings.Builder
		for _, e := range []struct {
			name string
			wait time.Duration
		}{{"PreToolUse", o.limit()}, {"PostToolUse", tellsWithin}, {"PostToolUseFailure", tellsWithin}, {"Stop", tellsWithin}} {
			fmt.Fprintf(&b, "[[hooks]]\nevent = %q\ncommand = %q\ntimeout = %d\n", e.name, o.shellLine(), int(e.wait/time.Second))
		}
		return b.String()
	}}
}

// checkTOMLBlock rejects a file whose hooks are written in a form that cannot be added to.
func checkTOMLBlock(rest []byte, block string) error {
	if err := checkTOML(rest); err != nil {
		return err
	}
	if checkTOML(slices.Concat(rest, []byte("\n"+block))) != nil {
		return errors.New(`has "hooks" in a form that cannot be added to, and was left alone; put these lines into it by hand:` + "\n" + block)
	}
	return nil
}

func (m marked) add(now []byte, o Options) ([]byte, error) {
	rest, _, err := m.cut(now)
	if err != nil {
		return nil, err
	}
	block := m.block(o)
	if m.more != nil {
		block += m.more(rest, o)
	}
	if err := m.check(rest, block); err != nil {
		return nil, err
	}
	if len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
		rest = append(bytes.Clone(rest), '\n')
	}
	out := append(bytes.Clone(rest), blockBegin+block+blockEnd...)
	if bytes.Equal(out, now) {
		return now, nil
	}
	return out, nil
}

func (m marked) remove(now []byte, _ Options) ([]byte, error) {
	rest, _, err := m.cut(now)
	if err != nil || len(rest) == 0 {
		return nil, err
	}
	return rest, nil
}

var blockTimeout = regexp.MustCompile(`timeout(?:: | = )([0-9]+)`)

func (m marked) holds(now []byte, _ Options) (bool, Limits, error) {
	_, block, err := m.cut(now)
	var wait time.Duration
	if found := blockTimeout.FindStringSubmatch(block); found != nil {
		wait, _ = time.ParseDuration(found[1] + "s")
	}
	return block != "", limitsIn(block, wait), err
}

// cut splits the file into our block and the rest.
func (m marked) cut(now []byte) (rest []byte, block string, err error) {
	before, after, found := strings.Cut(string(now), blockBegin)
	if !found {
		return now, "", nil
	}
	block, after, found = strings.Cut(after, blockEnd)
	if !found {
		return nil, "", errors.New("contains the beginning of vaglio's block but not its end; it was left alone")
	}
	return []byte(before + after), block, nil
}

func hasKey(f *ast.File, key string) bool {
	for _, doc := range f.Docs {
		m, ok := doc.Body.(*ast.MappingNode)
		if !ok {
			continue
		}
		for _, v := range m.Values {
			if v.Key.String() == key {
				return true
			}
		}
	}
	return false
}
