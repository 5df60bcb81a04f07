package vaglio

import (
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/realpath"
)

// machine is all that an engine may ask while it judges: the files and links of a machine,
// and its users' homes.
type machine interface {
	Files
	realpath.Machine
}

// disk is this machine.
type disk struct {
	Files
	realpath.Here
}

// elsewhere is another machine, which cannot be asked.
type elsewhere struct{ realpath.Here }

func (elsewhere) Read([]string, string, int) ([]byte, error)     { return nil, ErrElsewhere }
func (elsewhere) Look(name string) (at string, kind FileKind)    { return name, NoFile }
func (elsewhere) List(string, int) (entries []Entry, whole bool) { return nil, false }
func (elsewhere) Readlink(string) (string, realpath.Kind)        { return "", realpath.Missing }

// on returns the engine for the machine on which a call would run.
func (e *Engine) on(p *Proposal) *Engine {
	if !p.Elsewhere {
		return e
	}
	far := *e
	far.files, far.spaces.files, far.machine, far.runs = elsewhere{}, elsewhere{}, elsewhere{}, nil
	return &far
}

// asked is a machine that records the questions of one judgement and their answers. A
// judgement depends on the proposal and these answers alone: if both are the same again, so
// is the judgement. It is not safe for concurrent use.
type asked struct {
	of      machine
	answers map[question]answer
	// kept says that the answers are looked at after the judgement, too: then what was read
	// is among them.
	kept bool
	// bytes is the size of the questions and the answers.
	bytes int
	// lost says that a question was not recorded.
	lost bool
}

// question is a question to a machine.
type question struct {
	of      topic
	limit   int
	name    string
	folders string // for a file's content, each followed by a NUL
}

// topic is what a question is about.
type topic uint8

const (
	aboutContent topic = iota
	aboutKind
	aboutFolder
	aboutLink
	aboutHome
)

// answer is what the machine said. The content of a file or folder is kept as a digest.
type answer struct {
	text string
	kind uint8
	sum  [sha256.Size]byte
}

// note records an answer. If the machine now answers a question differently, the judgement
// depended on a changing answer and cannot be reused.
func (a *asked) note(q question, is answer) {
	was, known := a.answers[q]
	switch {
	case known:
		a.lost = a.lost || was != is
	case a.bytes >= mostKeptOne:
		a.lost = true
	default:
		a.answers[q] = is
		a.bytes += len(q.name) + len(q.folders) + len(is.text) + bytesOfAnswer
	}
}

// bytesOfAnswer estimates what a question and its answer need besides their texts.
const bytesOfAnswer = 150

// holds reports whether the machine still answers as it did.
func (a *asked) holds() bool {
	for q, was := range a.answers {
		if a.answerTo(q) != was {
			return false
		}
	}
	return true
}

// answerTo asks the machine a question again.
func (a *asked) answerTo(q question) answer {
	switch q.of {
	case aboutContent:
		data, err := a.of.Read(strings.Split(strings.TrimSuffix(q.folders, "\x00"), "\x00"), q.name, q.limit)
		return ofContent(data, err)
	case aboutKind:
		at, kind := a.of.Look(q.name)
		return answer{text: at, kind: uint8(kind)}
	case aboutFolder:
		return ofFolder(a.of.List(q.name, q.limit))
	case aboutLink:
		target, kind := a.of.Readlink(q.name)
		return answer{text: target, kind: uint8(kind)}
	default:
		return answer{text: a.of.HomeOf(q.name)}
	}
}

// ofContent is the answer about a file that was read, or could not be.
func ofContent(data []byte, err error) answer {
	switch {
	case errors.Is(err, ErrAbsent):
		return answer{}
	case err != nil:
		return answer{text: err.Error(), kind: 1}
	}
	return answer{kind: 2, sum: sha256.Sum256(data)}
}

// ofFolder is the answer about a folder that was listed.
func ofFolder(entries []Entry, whole bool) answer {
	all := make([]byte, 0, 1<<10)
	for _, e := range entries {
		all = append(append(all, e.Name...), 0, byte(e.Kind))
	}
	return answer{text: strconv.FormatBool(whole), sum: sha256.Sum256(all)}
}

// Read implements [Files].
func (a *asked) Read(folders []string, name string, limit int) ([]byte, error) {
	data, err := a.of.Read(folders, name, limit)
	if a.kept {
		a.note(question{aboutContent, limit, name, strings.Join(folders, "\x00") + "\x00"}, ofContent(data, err))
	}
	return data, err //nolint:wrapcheck // it stands between the engine and its files, and is not seen
}

// Look implements [Files].
func (a *asked) Look(name string) (at string, kind FileKind) {
	is := a.ask(question{of: aboutKind, name: name})
	return is.text, FileKind(is.kind)
}

// List implements [Files].
func (a *asked) List(name string, most int) (entries []Entry, whole bool) {
	entries, whole = a.of.List(name, most)
	if a.kept {
		a.note(question{of: aboutFolder, name: name, limit: most}, ofFolder(entries, whole))
	}
	return entries, whole
}

// Readlink implements [realpath.Machine].
func (a *asked) Readlink(name string) (string, realpath.Kind) {
	is := a.ask(question{of: aboutLink, name: name})
	return is.text, realpath.Kind(is.kind)
}

// HomeOf implements [realpath.Machine].
func (a *asked) HomeOf(name string) string { return a.ask(question{of: aboutHome, name: name}).text }

// ask asks the machine a question whose answer holds all that it says, once in a judgement.
func (a *asked) ask(q question) answer {
	is, known := a.answers[q]
	if known {
		return is
	}
	is = a.answerTo(q)
	a.note(q, is)
	return is
}

// running wraps the processes of a machine. They change all the time, so a judgement that
// looked at them is never reused.
type running struct {
	Processes
	told *asked
}

// List implements [Processes].
func (r running) List() ([]Process, error) {
	r.told.lost = true
	return r.Processes.List() //nolint:wrapcheck // it stands between the engine and what runs, and is not seen
}

// Users implements [Processes].
func (r running) Users(port uint16) ([]int, error) {
	r.told.lost = true
	return r.Processes.Users(port) //nolint:wrapcheck // as above
}

// Free implements [Processes].
func (r running) Free(port uint16) (bool, error) {
	r.told.lost = true
	return r.Processes.Free(port) //nolint:wrapcheck // as above
}
