package install

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// yamlBlock is a file of YAML to which a block is put at the end, between two
// comments that find it again.
type yamlBlock struct{ block func(o Options) string }

const (
	blockBegin = "# vaglio: begin (" + sign + ")\n"
	blockEnd   = "# vaglio: end\n"
)

// hermesHooks are the shell hooks of hermes-agent. A hook that fails blocks the
// tool there.
func hermesHooks() form {
	return yamlBlock{func(o Options) string {
		line := func(event string, wait time.Duration, closed string) string {
			return fmt.Sprintf("  %s:\n    - command: %s\n      timeout: %d\n%s", event, quoteYAML(o.shellLine()), int(wait/time.Second), closed)
		}
		closed := "      fail_closed: true\n"
		if o.Shadow {
			closed = ""
		}
		return "hooks:\n" + line("pre_tool_call", o.limit(), closed) + line("post_tool_call", tellsWithin, "")
	}}
}

// quoteYAML writes a text in single quotes.
func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (y yamlBlock) add(now []byte, o Options) ([]byte, error) {
	rest, _, err := y.cut(now)
	if err != nil {
		return nil, err
	}
	f, err := parseYAML(rest)
	if err != nil {
		return nil, err
	}
	if hasKey(f, "hooks") {
		return nil, errors.New(`has "hooks" of its own and was left alone; put these lines into it by hand:` + "\n" + y.block(o))
	}
	if len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
		rest = append(bytes.Clone(rest), '\n')
	}
	out := append(bytes.Clone(rest), blockBegin+y.block(o)+blockEnd...)
	if _, err := parseYAML(out); err != nil {
		return nil, errors.New("is not a plain mapping at its top, and was left alone")
	}
	if bytes.Equal(out, now) {
		return now, nil
	}
	return out, nil
}

func (y yamlBlock) remove(now []byte, _ Options) ([]byte, error) {
	rest, _, err := y.cut(now)
	if err != nil || len(rest) == 0 {
		return nil, err
	}
	return rest, nil
}

func (y yamlBlock) holds(now []byte, _ Options) (bool, Limits, error) {
	_, block, err := y.cut(now)
	m := regexp.MustCompile(`timeout: ([0-9]+)`).FindStringSubmatch(block)
	var wait time.Duration
	if m != nil {
		wait, _ = time.ParseDuration(m[1] + "s")
	}
	return block != "", limitsIn(block, wait), err
}

// cut takes the block out.
func (y yamlBlock) cut(now []byte) (rest []byte, block string, err error) {
	before, after, found := strings.Cut(string(now), blockBegin)
	if !found {
		return now, "", nil
	}
	block, after, found = strings.Cut(after, blockEnd)
	if !found {
		return nil, "", errors.New("holds the beginning of vaglio's block and not its end; it was left alone")
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
