package vaglio

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// The limits on reading the files that one call runs.
const (
	// maxSource is the size of the largest file that is read, in bytes.
	maxSource  = 256 << 10
	maxSources = 200
	// maxRead is how much is read of all files together, in bytes.
	maxRead = 2 << 20
)

// Files reads files and folders where calls work. It opens only regular files and never
// blocks.
type Files interface {
	// Read returns the content of a file, given by its absolute and clean path, if it lies in
	// one of the folders and has at most limit bytes. Its error is a predicate that says why
	// not, such as "is not a regular file". Links that lead out of the folders are not followed.
	Read(folders []string, name string, limit int) ([]byte, error)
	// Look tells what lies at an absolute and clean path, and its real path, following all
	// links.
	Look(name string) (at string, kind FileKind)
	// List returns the entries of a folder in order of their names, links as [OtherFile]. If
	// the folder holds more than most entries, it returns any of them, and whole is false.
	// whole is also false if the folder cannot be read.
	List(name string, most int) (entries []Entry, whole bool)
}

// Entry is an entry of a folder.
type Entry struct {
	Name string
	Kind FileKind
}

// FileKind is what lies at a path.
type FileKind uint8

// The kinds.
const (
	// NoFile is nothing.
	NoFile FileKind = iota
	RegularFile
	Folder
	// OtherFile is a device, a pipe or a socket.
	OtherFile
	// HiddenFile is what vaglio may not see: something or nothing.
	HiddenFile
)

// Seen reports whether something is known to lie at a path.
func (k FileKind) Seen() bool { return k != NoFile && k != HiddenFile }

// The reasons why an existing file could not be read.
var (
	ErrIrregular = &shell.ClosedError{Why: "%s is a pipe, a device or a socket"}
	ErrForbidden = &shell.ClosedError{Why: "%s may not be read by vaglio"}
	ErrNowhere   = &shell.ClosedError{Why: "%s is a link that leads nowhere"}
	ErrNoName    = &shell.ClosedError{Why: "%s has a name that no file can have"}
	ErrGrew      = &shell.ClosedError{Why: "%s grew while it was read"}
	ErrShut      = &shell.ClosedError{Why: "%s lies in a folder that vaglio may not read", Usual: true}
	ErrFailed    = &shell.ClosedError{Why: "%s cannot be read"}
	ErrElsewhere = &shell.ClosedError{Why: "%s lies on another machine", Usual: true}
	ErrOutside   = &shell.ClosedError{Why: "%s leads out of the workspace", Usual: true}
	ErrTooLarge  = &shell.ClosedError{Why: "%s is too large to be read", Usual: true}
	errNoText    = &shell.ClosedError{Why: "%s is not text", Usual: true}
	errTooMany   = &shell.ClosedError{Why: "%s is one of too many files to read", Usual: true}
	ErrFolder    = &shell.ClosedError{Why: "%s is a folder", Usual: true, Inert: true}
	ErrCompiled  = &shell.ClosedError{Why: "%s is a program made for the machine", Usual: true, Inert: true}
)

// ErrAbsent says that the file does not exist in the folders.
var ErrAbsent = errors.New("is not there")

// sources reads the files of one call, each once.
type sources struct {
	files   Files
	places  *place.Table
	folders []string
	told    Facts
	list    []Source
	texts   map[string]string
	absent  map[string]bool
	shut    map[string]*shell.ClosedError // existing files that could not be read
	bytes   int
	left    int  // folder entries that may still be looked at
	looked  bool // in folders
	unseen  int  // files that were not seen, at least
	closed  bool // the call has been read: no further file is opened
}

// Content implements [shell.Files].
func (s *sources) Content(name string) (string, bool) {
	text, ok := s.texts[name]
	if ok || s.closed || s.absent[name] || len(s.list) == maxSources || s.known(name) {
		return text, ok
	}
	if s.texts == nil { // most calls run no file
		s.texts, s.absent, s.shut = map[string]string{}, map[string]bool{}, map[string]*shell.ClosedError{}
	}
	if len(name) > LongestPath { // A list of such names would be far larger than the call.
		s.shut[name] = ErrNoName
		return "", false
	}
	src := Source{Path: name}
	data, err := s.read(name, &src)
	switch {
	case errors.Is(err, ErrAbsent):
		s.absent[name] = true
		return "", false
	case err != nil:
		src.Unread = s.close(name, err, nil)
	default:
		src.holds(data)
		if ok = utf8.Valid(data); !ok {
			src.Unread = s.close(name, errNoText, data)
			break
		}
		text = string(data)
		s.texts[name] = text
		s.bytes += len(data)
	}
	s.list = append(s.list, src)
	return text, ok
}

// close records why a file could not be read, and returns the reason as text.
func (s *sources) close(name string, why error, head []byte) string {
	c, ok := errors.AsType[*shell.ClosedError](why)
	switch {
	case !ok:
		c = ErrFailed
	case c == errNoText && Compiled(head), c == ErrOutside && s.installed(name):
		c = ErrCompiled
	}
	s.shut[name] = c
	return why.Error()
}

// Compiled reports whether a file with this beginning is a machine program, which no shell
// would take for a script.
func Compiled(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.IndexByte(line, 0) >= 0 && slices.ContainsFunc([]string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}, func(magic string) bool {
		return bytes.HasPrefix(line, []byte(magic))
	})
}

// installed reports whether a name leads to where programs are installed, like the
// interpreter of a virtual environment.
func (s *sources) installed(name string) bool {
	at, kind := s.files.Look(name)
	return kind == RegularFile && path.Base(path.Dir(at)) == "bin" && s.places.Classes(at)&place.Temporary == 0
}

// Closed implements [shell.Files]: it says why a file was not read.
func (s *sources) Closed(name string) *shell.ClosedError {
	if c := s.shut[name]; c != nil || len(s.list) < maxSources || s.absent[name] {
		return c
	}
	if _, ok := s.texts[name]; ok {
		return nil
	}
	return errTooMany
}

// Below implements [shell.Files]. Once the call has been read, it finds only files that were
// read, and says whether these are all.
func (s *sources) Below(folder string, depth int, match func(rel string) bool) (files []string, whole bool) {
	if s.closed {
		whole = len(s.list)+s.unseen < maxSources
		for _, src := range s.list {
			switch rel, in := strings.CutPrefix(src.Path, folder+"/"); {
			case !in || depth >= 0 && strings.Count(rel, "/") > depth || !match(rel):
			case src.Unread != "":
				whole = false
			default:
				files = append(files, src.Path)
			}
		}
		slices.Sort(files)
		return files, whole
	}
	s.looked = true
	l := lister{
		files: s.files, folders: s.folders, left: &s.left, seen: map[string]bool{}, takes: match,
		enters: func(rel string) bool { return depth < 0 || strings.Count(rel, "/") < depth },
	}
	files, whole = l.below(folder, "")
	if !whole {
		s.unseen = maxSources
	}
	for i := range files {
		files[i] = path.Join(folder, files[i])
	}
	return files, whole
}

// read reads a file, or else takes what the session is known to have written there.
func (s *sources) read(name string, src *Source) ([]byte, error) {
	most, class := min(maxSource, maxRead-s.bytes), s.places.Classes(name)&(place.Skill|place.Secret|place.Own)
	folders, alone := s.folders, []string{path.Dir(name)} // no link leads out of that
	if class == place.Skill {
		folders = alone
	}
	data, err := s.files.Read(folders, name, most)
	if class == 0 && errors.Is(err, ErrAbsent) && s.steersGit(name) {
		data, err = s.files.Read(alone, name, most)
	}
	if err == nil {
		return data, nil
	}
	if text, told := s.told.Text(name); told {
		src.Told = true
		return []byte(text), nil
	}
	return nil, err
}

// steersGit reports whether a file, which may lie outside the workspace, says what git does in a folder: where its
// repository is, or a file of what git takes for one.
func (s *sources) steersGit(name string) bool {
	dir, base := path.Split(name)
	is := func(file string, kind FileKind) bool {
		_, k := s.files.Look(path.Join(strings.TrimSuffix(dir, "/hooks/"), file))
		return k == kind
	}
	return base == ".git" || is("HEAD", RegularFile) && is("objects", Folder) && is("refs", Folder)
}

// holds records the content of a source's file.
func (s *Source) holds(data []byte) {
	s.SHA256, s.Bytes, s.Lines, s.Head = digestOf(string(data)), len(data), lines(string(data)), head(data)
}

// head returns the first lines of a text. If the first line is too long, it is cut at a
// blank, so that no word is cut, which might be a secret.
func head(data []byte) string {
	const most, mostBytes = 5, 400
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return ""
	}
	text := string(data[:min(len(data), mostBytes+1)])
	if len(data) > mostBytes {
		text = text[:max(strings.LastIndexByte(text, '\n'), 0)]
		if text == "" {
			text = string(data[:mostBytes])
			text = strings.ToValidUTF8(text[:max(strings.LastIndexAny(text, " \t"), 0)], "")
		}
	}
	all := strings.SplitN(text, "\n", most+1)
	return strings.TrimRight(strings.Join(all[:min(len(all), most)], "\n"), " \t\r\n")
}

// lines counts the lines of a text, including an unterminated last one.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// known reports whether a file has been tried before; if so, it could not be read.
func (s *sources) known(name string) bool {
	return slices.ContainsFunc(s.list, func(src Source) bool { return src.Path == name })
}

func (e *Engine) kindOf(name string) FileKind {
	if e.files == nil {
		return NoFile
	}
	_, kind := e.files.Look(name)
	return kind
}

// sees reports whether a folder is on this machine, so that a file not found there is known
// not to exist.
func (e *Engine) sees(folder string) bool {
	_, kind := e.files.Look(path.Clean(folder))
	return kind == Folder
}

// absent reports whether it is known that nothing is at a path, or matches it, seen from a folder on this machine.
func (e *Engine) absent(name, cwd string) bool {
	if e.files == nil || !path.IsAbs(name) || len(name) > LongestPath || e.kindOf(name) != NoFile || !e.sees(cwd) {
		return false
	}
	return !strings.ContainsAny(name, "*?[") || e.noneMatches(name, cwd)
}

// noneMatches reports whether it is known that a folder on this machine holds nothing that a pattern of names
// in it matches, hidden or not.
func (e *Engine) noneMatches(pattern, cwd string) bool {
	const most = 2000
	folder, name := path.Split(pattern)
	if folder = path.Clean(folder); strings.ContainsAny(folder, "*?[") || strings.ContainsAny(name, `(\`) {
		return false
	}
	if e.kindOf(folder) == NoFile {
		return e.absent(folder, cwd)
	}
	all, whole := e.files.List(folder, most)
	return whole && !slices.ContainsFunc(all, func(f Entry) bool {
		fits, err := path.Match(strings.ToLower(strings.ReplaceAll(name, "[!", "[^")), strings.ToLower(f.Name))
		return fits || err != nil
	})
}

// steers reports whether a file would steer what runs by itself: in a folder for settings of a
// workspace or a home, or in the workspace itself. A copy of a whole project elsewhere steers nothing.
func (e *Engine) steers(p *Proposal, name string) bool {
	if reading.TellsClient(name) {
		return true
	}
	return slices.ContainsFunc(append([]string{e.spaces.home, p.Context.Cwd}, p.Context.Site.Workspaces...), func(root string) bool {
		rel, below := strings.CutPrefix(name, root+"/")
		return below && root != "" && (strings.HasPrefix(rel, ".") || !strings.Contains(rel, "/")) && e.spaces.places.Classes(name)&place.Control != 0
	})
}

// digestOf is the SHA-256 of a text, in hex.
func digestOf(text string) string {
	var part [512]byte // converting the whole text would copy it
	h := sha256.New()
	for len(text) > 0 {
		n := copy(part[:], text)
		_, _ = h.Write(part[:n]) // a hash never fails
		text = text[n:]
	}
	var in [2 * sha256.Size]byte
	hex.Encode(in[:], h.Sum(part[:0]))
	return string(in[:])
}

// stood returns what a file holds before the session first writes it, "" if that is not known.
func (e *Engine) stood(p *Proposal, name string) string {
	if e.files == nil || len(p.Context.Site.Readable) == 0 || p.Facts.firstAt(name) != nil {
		return ""
	}
	data, err := e.files.Read(p.Context.Site.Readable, name, maxSource)
	if err != nil || !utf8.Valid(data) {
		return ""
	}
	return string(data)
}
