package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	toolSearch = "fs.search"
	// mostSearched and mostBytes limit what one search examines.
	mostSearched = 100_000
	mostBytes    = 256 * mib
	// longestLine is how much is shown of a line that matches, in bytes.
	longestLine = 400
	// longestPattern is the maximum length of a regular expression, in bytes.
	longestPattern = 1000
)

// SearchRequest asks where a regular expression matches a line of a file.
type SearchRequest struct {
	Pattern string `json:"pattern"`        // in RE2's syntax
	Path    string `json:"path,omitempty"` // absolute, a file or folder in one of the mounts; optional if there is only one mount
	Name    string `json:"name,omitempty"` // a glob for file names, such as *.go
}

// SearchResult contains the matching lines, as many as fit [Limits.Output].
type SearchResult struct {
	Matches []Match `json:"matches"`
	Files   int     `json:"files"`         // how many were searched
	Cut     string  `json:"cut,omitempty"` // says what is left out
}

// Match is a matching line.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// search is a search in progress.
type search struct {
	*Sandbox
	mount   *mount
	pattern *regexp.Regexp
	name    string
	result  SearchResult
	entries int
	bytes   int64
	room    int
}

// Search searches files line by line. It skips hidden and binary files, and does not follow
// symlinks.
func (s *Sandbox) Search(ctx context.Context, q SearchRequest) (SearchResult, error) {
	if q.Pattern == "" || len(q.Pattern) > longestPattern {
		return SearchResult{}, ToolError{toolSearch, fmt.Sprintf("pattern is a regular expression of 1 to %d bytes", longestPattern)}
	}
	pattern, err := regexp.Compile(q.Pattern)
	if err != nil {
		return SearchResult{}, ToolError{toolSearch, "pattern is not a regular expression in RE2's syntax: " + err.Error()}
	}
	if _, err := path.Match(q.Name, ""); err != nil {
		return SearchResult{}, ToolError{toolSearch, fmt.Sprintf("name %q is not a glob", q.Name)}
	}
	m, rel, err := s.inMount(toolSearch, q.Path)
	if err != nil {
		return SearchResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.Time)
	defer cancel()
	run := search{Sandbox: s, mount: m, pattern: pattern, name: q.Name, room: s.limits.Output}
	run.result.Matches = []Match{}
	err = s.confined(ctx, m, func() error {
		if _, err := m.root.Stat(rel); err != nil {
			return ToolError{toolSearch, fmt.Sprintf("%q cannot be opened: %s", filepath.Join(m.path, rel), reason(err))}
		}
		return fs.WalkDir(m.root.FS(), filepath.ToSlash(rel), func(rel string, d fs.DirEntry, err error) error {
			return run.visit(ctx, rel, d, err)
		})
	})
	return run.result, err
}

// visit searches one file, or decides whether to enter a folder.
func (r *search) visit(ctx context.Context, rel string, d fs.DirEntry, err error) error {
	r.entries++
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		// Unreadable files are not searched.
		return skipEntry(d)
	case r.entries > mostSearched:
		r.result.Cut = fmt.Sprintf("what is beyond the first %d files and folders", mostSearched)
		return fs.SkipAll
	case r.isHidden(r.mount, filepath.Join(r.mount.path, rel)):
		return skipEntry(d)
	case !d.Type().IsRegular():
		return nil
	}
	if r.name != "" {
		if ok, _ := path.Match(r.name, d.Name()); !ok {
			return nil
		}
	}
	f, at, err := r.open(toolSearch, r.mount, rel)
	if err != nil {
		return nil //nolint:nilerr // a file that went away, or is not ours to read, is not searched
	}
	defer f.Close()
	// It may have become something else since the folder was read.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // as above
	}
	r.result.Files++
	return r.lines(ctx, f, at)
}

// lines searches an open file.
func (r *search) lines(ctx context.Context, f io.Reader, at string) error {
	in := bufio.NewReaderSize(f, 64<<10)
	if isBinary(in) {
		r.result.Files--
		return nil
	}
	for line := 1; ; {
		part, err := in.ReadSlice('\n')
		if r.bytes += int64(len(part)); r.bytes > mostBytes {
			r.result.Cut = fmt.Sprintf("what is beyond the first %d MiB", mostBytes/mib)
			return fs.SkipAll
		}
		if text := bytes.TrimSuffix(part, []byte("\n")); len(part) > 0 && r.pattern.Match(text) && !r.add(at, line, text) {
			return fs.SkipAll
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			line++
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			// The end, or a failure of this file alone.
			return nil //nolint:nilerr // as above
		}
	}
}

// add records a matching line, and reports whether there is room for more.
func (r *search) add(at string, line int, text []byte) bool {
	shown := strings.ToValidUTF8(string(text[:min(len(text), longestLine)]), "\uFFFD")
	if len(text) > longestLine {
		shown += fmt.Sprintf("… (%d bytes more)", len(text)-longestLine)
	}
	if r.room -= len(at) + len(shown) + 48; r.room < 0 {
		r.result.Cut = fmt.Sprintf("the matches after the first %d", len(r.result.Matches))
		return false
	}
	r.result.Matches = append(r.result.Matches, Match{at, line, shown})
	return true
}
