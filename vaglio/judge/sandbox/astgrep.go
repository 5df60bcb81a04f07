package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

const (
	toolAstGrep = "ast_grep.search"
	astGrep     = "ast-grep"
)

// AstGrepRequest asks where the code of a folder has a structure.
type AstGrepRequest struct {
	Pattern  string `json:"pattern"`  // code, with $NAME for any one node and $$$ for any number
	Language string `json:"language"` // as ast-grep names it: go, python, typescript
	// Selector names the kind of node within Pattern that is meant, for patterns that
	// alone are no whole code, as Go's calls.
	Selector string `json:"selector,omitempty"`
	Path     string `json:"path,omitempty"` // absolute, a file or folder in one of the mounts; may be left out where there is one
}

// AstGrepResult is what was found, as many matches as fit [Limits.Output].
type AstGrepResult struct {
	Matches []Match `json:"matches"`
	Cut     string  `json:"cut,omitempty"`
}

// AstGrep searches code by its structure, with the real ast-grep.
func (s *Sandbox) AstGrep(ctx context.Context, q AstGrepRequest) (r AstGrepResult, err error) {
	if layer := s.Layer(); !layer.Runs() {
		return r, ToolError{toolAstGrep, "is refused here: " + layer.Why}
	}
	if err := q.check(); err != nil {
		return r, err
	}
	m, rel, err := s.inMount(toolAstGrep, q.Path)
	if err != nil {
		return r, err
	}
	// One match a line, so that a cut leaves whole matches before it.
	argv := []string{astGrep, "run", "--pattern=" + q.Pattern, "--lang=" + q.Language, "--json=stream", "--color=never"}
	if q.Selector != "" {
		argv = append(argv, "--selector="+q.Selector)
	}
	argv = append(argv, "--", filepath.Join(m.path, rel))
	// From the root, so that a configuration of the project is not read.
	out, err := s.run(ctx, toolAstGrep, argv, "/")
	switch {
	case err != nil:
		return r, err
	case out.Ended != "":
		return r, ToolError{toolAstGrep, "was ended: " + out.Ended}
	// Without a match it ends with 1, like grep.
	case out.ExitCode > 1, out.ExitCode == 1 && out.Stderr.Bytes > 0:
		return r, ToolError{toolAstGrep, strings.TrimSpace(out.Stderr.Text)}
	}
	return matches(out.Stdout)
}

// check tells what is wrong with a request.
func (q AstGrepRequest) check() error {
	word := func(s string) bool {
		return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+#-") == ""
	}
	switch {
	case q.Pattern == "" || len(q.Pattern) > longestCommand/2 || strings.ContainsRune(q.Pattern, 0):
		return ToolError{toolAstGrep, fmt.Sprintf("pattern is code of 1 to %d bytes", longestCommand/2)}
	case !word(q.Language):
		return ToolError{toolAstGrep, fmt.Sprintf("language is %q; it is a name like go, python or typescript", q.Language)}
	case q.Selector != "" && !word(q.Selector):
		return ToolError{toolAstGrep, fmt.Sprintf("selector is %q; it is a kind of node like call_expression", q.Selector)}
	}
	return nil
}

// found is what ast-grep says of one match.
type found struct {
	Text  string `json:"text"`
	File  string `json:"file"`
	Range struct {
		Start struct {
			Line int `json:"line"` // from 0
		} `json:"start"`
	} `json:"range"`
}

// matches reads what ast-grep wrote: one object a line. Only whole lines before a
// cut are read.
func matches(out Output) (r AstGrepResult, err error) {
	text := out.Text
	if out.Cut != "" {
		text = text[:out.head]
		text = text[:strings.LastIndexByte(text, '\n')+1]
		r.Cut = fmt.Sprintf("the matches after the first %d bytes of %d", len(text), out.Bytes)
	}
	r.Matches = []Match{}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var f found
		if err := strictjson.UnmarshalLoose([]byte(line), &f); err != nil {
			return r, fmt.Errorf("%s: its answer cannot be read: %w", toolAstGrep, err)
		}
		r.Matches = append(r.Matches, Match{Path: filepath.Clean(f.File), Line: f.Range.Start.Line + 1, Text: shorten(f.Text)})
	}
	return r, nil
}

// shorten bounds the text of one match.
func shorten(text string) string {
	if len(text) <= longestLine {
		return text
	}
	return strings.ToValidUTF8(text[:longestLine], "") + fmt.Sprintf("… (%d bytes more)", len(text)-longestLine)
}
