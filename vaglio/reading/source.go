package reading

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of what is read of the files that one call runs.
const (
	// MaxSource is the size of the largest file that is read, in bytes.
	MaxSource  = 256 << 10
	maxSources = 200
	maxRead    = 2 << 20 // bytes of all files together
)

// Files reads what lies in the folders in which calls work. It follows nothing
// out of them, opens regular files only and waits for none.
type Files interface {
	// Read returns what a file holds, by its absolute and clean path, if it lies
	// in one of the folders and has at most limit bytes. Its error says in one
	// sentence part why not, such as "is no regular file".
	Read(folders []string, name string, limit int) ([]byte, error)
}

// ErrAbsent says that there is no such file in the folders.
var ErrAbsent = errors.New("is not there")

// Source is a file whose content a call would run.
type Source struct {
	// Path is absolute and clean.
	Path string
	// SHA256 is the digest of its content, in hex, "" if it could not be read.
	SHA256 string
	// Lines and Bytes are how much it holds.
	Lines, Bytes int
	// Why says in one sentence part why it could not be read, "" if it could.
	Why string
}

// sources reads the files of one call, each once.
type sources struct {
	files   Files
	folders []string
	list    []Source
	texts   map[string]string
	absent  map[string]bool
	bytes   int
	closed  bool // the call was read: what it runs is known, or counts as unread
}

// Content reads a file for [shell.Files].
func (s *sources) Content(name string) (string, bool) {
	text, ok := s.texts[name]
	if ok || s.closed || s.absent[name] || len(s.list) == maxSources || s.known(name) {
		return text, ok
	}
	data, err := s.files.Read(s.folders, name, min(MaxSource, maxRead-s.bytes))
	if errors.Is(err, ErrAbsent) {
		s.absent[name] = true
		return "", false
	}
	src := Source{Path: name}
	if err != nil {
		src.Why = err.Error()
	} else {
		sum := sha256.Sum256(data)
		src.SHA256, src.Bytes = hex.EncodeToString(sum[:]), len(data)
	}
	switch {
	case err != nil:
	case !utf8.Valid(data):
		src.Why = "is no text"
	default:
		text, ok = string(data), true
		src.Lines = lines(text)
		s.texts[name] = text
		s.bytes += len(data)
	}
	s.list = append(s.list, src)
	return text, ok
}

// lines counts the lines of a text, with one that nothing ends.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// known says whether a file was found not to be readable before.
func (s *sources) known(name string) bool {
	return slices.ContainsFunc(s.list, func(src Source) bool { return src.Path == name })
}
