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

// AstGrepRequest asks where the code in a folder has a given structure.
type AstGrepRequest struct {
	Pattern  string `json:"pattern"`  // code, with $NAME for any one node and $$$ for any number of nodes
	Language string `json:"language"` // as ast-grep names it: go, python, typescript
	// Selector names the kind of node within Pattern to match, for patterns that are not complete
	// code on their own, such as Go's calls.
	Selector string `json:"selector,omitempty"`
	Path     string `json:"path,omitempty"` // absolute, a file or folder in one of the mounts; optional if there is only one mount
}

// AstGrepResult is what was found, as many matches as fit [Limits.Output].
type AstGrepResult struct {
	Matches []Match `json:"matches"`
	Cut     string  `json:"cut,omitempty"`
}

// AstGrep searches code by structure with ast-grep.
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
	// One match per line, so that a cut leaves whole matches before it.
	argv := []string{astGrep, "run", "--pattern=" + q.Pattern, "--lang=" + q.Language, "--json=stream", "--color=never"}
	if q.Selector != "" {
		argv = append(argv, "--selector="+q.Selector)
	}
	argv = append(argv, "--", filepath.Join(m.path, rel))
	// Run in the root folder, so that ast-grep does not read the project's configuration.
	out, err := s.run(ctx, toolAstGrep, argv, "/")
	switch {
	case err != nil:
		return r, err
	case out.Ended != "":
		return r, ToolError{toolAstGrep, "was ended: " + out.Ended}
	// Without a match it exits with 1, like grep.
	case out.ExitCode > 1, out.ExitCode == 1 && out.Stderr.Bytes > 0:
		return r, ToolError{toolAstGrep, strings.TrimSpace(out.Stderr.Text)}
	}
	return matches(out.Stdout)
}

// check returns what is wrong with a request.
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

// found is ast-grep's output for one match.
type found struct {
	Text  string `json:"text"`
	File  string `json:"file"`
	Range struct {
		Start struct {
			Line int `json:"line"` // from 0
		} `json:"start"`
	} `json:"range"`
}

// matches parses ast-grep's output, one object per line. It only reads whole lines before a cut.
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

// shorten limits the text of one match.
func shorten(text string) string {
	if len(text) <= longestLine {
		return text
	}
	return strings.ToValidUTF8(text[:longestLine], "") + fmt.Sprintf("… (%d bytes more)", len(text)-longestLine)
}
