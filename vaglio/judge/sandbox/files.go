package sandbox

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	toolRead = "fs.read"
	toolList = "fs.list"
	// mostSkipped limits how many bytes are read to reach a line.
	mostSkipped = 64 * mib
	// mostListed limits how many entries of a folder are read.
	mostListed = 10_000
)

// ReadRequest asks for lines of a file.
type ReadRequest struct {
	Path string `json:"path"`           // absolute, in one of the mounts
	Line int    `json:"line,omitempty"` // the first one; 0 means 1
	Most int    `json:"most,omitempty"` // how many lines; 0 means all
}

// ReadResult contains lines of a file, as many as fit [Limits.Output].
type ReadResult struct {
	Path  string `json:"path"` // symlinks resolved
	Bytes int64  `json:"bytes"`
	Line  int    `json:"line"`  // the first one in Text
	Lines int    `json:"lines"` // how many are in Text
	Text  string `json:"text"`
	// Cut says what is missing from Text; empty if everything requested is there.
	Cut string `json:"cut,omitempty"`
}

// Read reads lines of a text file.
func (s *Sandbox) Read(ctx context.Context, q ReadRequest) (r ReadResult, err error) {
	if q.Line < 0 || q.Most < 0 {
		return r, ToolError{toolRead, "line and most are not below 0"}
	}
	m, rel, err := s.inMount(toolRead, q.Path)
	if err != nil {
		return r, err
	}
	err = s.confined(ctx, m, func() error {
		f, at, err := s.open(toolRead, m, rel)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return ToolError{toolRead, fmt.Sprintf("%q is %s, not a file", q.Path, kindOf(info.Mode()))}
		}
		r = ReadResult{Path: at, Bytes: info.Size(), Line: max(q.Line, 1)}
		return r.fill(ctx, f, q.Most, s.limits.Output)
	})
	return r, err
}

// fill reads the requested lines into r.
func (r *ReadResult) fill(ctx context.Context, f io.Reader, most, output int) error {
	in := bufio.NewReaderSize(f, 64<<10)
	if isBinary(in) {
		return ToolError{toolRead, fmt.Sprintf("%q is not text: it is %d bytes with zeros among them", r.Path, r.Bytes)}
	}
	var text strings.Builder
	skipped := 0
	for line := 1; r.Cut == ""; {
		part, err := in.ReadSlice('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		newline := bytes.HasSuffix(part, []byte("\n"))
		if line >= r.Line {
			r.take(&text, part, line, most, output, newline || ended)
		} else if skipped += len(part); skipped > mostSkipped {
			return ToolError{toolRead, fmt.Sprintf("line %d is more than %d MiB into the file", r.Line, mostSkipped/mib)}
		}
		if newline {
			line++
		}
		if ended {
			break
		}
	}
	r.Text = strings.ToValidUTF8(text.String(), "\uFFFD")
	return nil
}

// take adds a line, or a part of a long one, as far as there is room.
func (r *ReadResult) take(text *strings.Builder, part []byte, line, most, output int, whole bool) {
	switch {
	case len(part) == 0:
	case most > 0 && r.Lines == most:
		r.Cut = fmt.Sprintf("the lines from %d on", line)
	case text.Len()+len(part) > output && r.Lines > 0 && line == r.Line+r.Lines && whole:
		r.Cut = fmt.Sprintf("the lines from %d on", line)
	case text.Len()+len(part) > output:
		text.Write(part[:output-text.Len()])
		r.Cut = fmt.Sprintf("what is beyond %d bytes, in line %d", output, line)
	default:
		text.Write(part)
		if whole {
			r.Lines++
		}
	}
}

// isBinary reports whether a file begins as no text does.
func isBinary(in *bufio.Reader) bool {
	head, _ := in.Peek(8 << 10)
	return bytes.IndexByte(head, 0) >= 0
}

// ListRequest asks what is in a folder.
type ListRequest struct {
	Path string `json:"path"` // absolute, in one of the mounts
}

// ListResult lists the contents of a folder by name, as many entries as fit [Limits.Output].
type ListResult struct {
	Path    string  `json:"path"` // symlinks resolved
	Entries []Entry `json:"entries"`
	Cut     string  `json:"cut,omitempty"` // says what is left out
}

// Entry is one name in a folder.
type Entry struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`            // file, folder, link, or another kind
	Bytes int64  `json:"bytes,omitempty"` // of a file
}

// List lists a folder, without what is hidden.
func (s *Sandbox) List(ctx context.Context, q ListRequest) (r ListResult, err error) {
	m, rel, err := s.inMount(toolList, q.Path)
	if err != nil {
		return r, err
	}
	err = s.confined(ctx, m, func() error {
		f, at, err := s.open(toolList, m, rel)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err == nil && !info.IsDir() {
			err = ToolError{toolList, fmt.Sprintf("%q is %s, not a folder", q.Path, kindOf(info.Mode()))}
		}
		if err != nil {
			return err
		}
		all, err := f.ReadDir(mostListed + 1)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		r.Path = at
		s.list(&r, m, rel, all)
		return nil
	})
	return r, err
}

// list adds the entries that were read from a folder.
func (s *Sandbox) list(r *ListResult, m *mount, rel string, all []fs.DirEntry) {
	if len(all) > mostListed {
		all = all[:mostListed]
		r.Cut = fmt.Sprintf("what is beyond the first %d entries", mostListed)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	room := s.limits.Output
	r.Entries = []Entry{}
	for _, d := range all {
		if s.hide(filepath.Join(r.Path, d.Name())) {
			continue
		}
		e := Entry{Name: strings.ToValidUTF8(d.Name(), "\uFFFD"), Kind: kindOf(d.Type())}
		if info, err := m.root.Lstat(filepath.Join(rel, d.Name())); err == nil && info.Mode().IsRegular() {
			e.Bytes = info.Size()
		}
		// The size of an entry as JSON, besides its name.
		if room -= len(e.Name) + 48; room < 0 {
			r.Cut = fmt.Sprintf("all but the first %d of %d entries", len(r.Entries), len(all))
			return
		}
		r.Entries = append(r.Entries, e)
	}
}

// open opens the file at rel in a mount, and returns its real path. Symlinks are followed as long as
// they stay in the mount.
func (s *Sandbox) open(tool string, m *mount, rel string) (*os.File, string, error) {
	asked := filepath.Join(m.path, rel)
	if s.isHidden(m, asked) {
		return nil, "", ToolError{tool, fmt.Sprintf("%q is a place of secrets, which no judge sees", asked)}
	}
	// O_NONBLOCK: a pipe without a writer must not block us.
	f, err := m.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", ToolError{tool, fmt.Sprintf("%q cannot be opened: %s", asked, reason(err))}
	}
	place, err := placeOfFile(f)
	if err == nil {
		if in, ok := below(place, m.source); ok {
			at := filepath.Join(m.path, in)
			if !s.isHidden(m, at) {
				return f, at, nil
			}
			err = errors.New("it leads to a place of secrets, which no judge sees")
		} else {
			err = errors.New("it leads out of the folder")
		}
	}
	_ = f.Close()
	return nil, "", ToolError{tool, fmt.Sprintf("%q cannot be opened: %s", asked, reason(err))}
}

// isHidden reports whether a path, or a folder above it within the mount, is hidden.
func (s *Sandbox) isHidden(m *mount, path string) bool {
	for path != m.path && len(path) > 1 {
		if _, found := slices.BinarySearch(m.hidden, path); found || s.hide(path) { // by its name, or as what a hidden link leads to
			return true
		}
		path = filepath.Dir(path)
	}
	return false
}

// kindOf returns the name of a file type.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}
