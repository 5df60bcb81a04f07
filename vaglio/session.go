package vaglio

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/vaglio/place"
)

// SessionID names the session that a call belongs to: the client's, where it
// states one, or else the turn.
func (p *Proposal) SessionID() string { return cmp.Or(p.Session, p.TurnID) }

// Fact is one thing that went through the gate in a session: what an approved
// call, or one that a person allowed, wrote, made or started. It says what the
// call would do when it was let through; whether it then worked, nobody knows.
type Fact struct {
	// Deed says what was done.
	Deed Deed `json:"deed"`
	// Path is to what, absolute and clean; of [Started] where it ran.
	Path string `json:"path,omitzero"`
	// New says that nothing lay at Path before.
	New bool `json:"new,omitzero"`
	// SHA256 is the digest of what was written, in hex, "" where that is not known.
	SHA256 string `json:"sha256,omitzero"`
	// Words are the program and its words, of [Started].
	Words []string `json:"words,omitzero"`
	// At is the moment at which it went through.
	At time.Time `json:"at,omitzero"`
	// Loaded says that what was written would be asked about or denied if it ran.
	Loaded bool `json:"loaded,omitzero"`
	// Later says that nobody weighed that yet: it is when something may run it.
	Later bool `json:"later,omitzero"`
	// weight tells it then; without one, what was to be weighed counts as loaded.
	weight *weight
	// text is what was written, where SHA256 is known; of Later, what is to be weighed.
	text string
	// shared says that another session started the same in the same place, so that
	// nothing tells whose it is.
	shared bool
}

// Deed is what a [Fact] tells.
type Deed string

// The deeds.
const (
	// Wrote is a file that was written, or a folder that was made.
	Wrote Deed = "wrote"
	// Built is a file that a program made of others, such as a compiler's.
	Built Deed = "built"
	// Fetched is a file that was downloaded.
	Fetched Deed = "fetched"
	// Unpacked is a folder into which files were put that the call does not name: those
	// of an archive or a repository.
	Unpacked Deed = "unpacked"
	// Moved is what was put to Path and lay elsewhere before.
	Moved Deed = "moved"
	// Started is a program that goes on running behind its call.
	Started Deed = "started"
	// Installed are packages.
	Installed Deed = "installed"
	// Entered is a folder that is a workspace of the session: the one in which
	// it began, where none is configured, or one that a person allowed.
	Entered Deed = "entered"
)

// The bounds of a session.
const (
	// MaxFacts is how many facts of a session are kept, the newest.
	MaxFacts = 1000
	// FactsKept is for how long.
	FactsKept = 24 * time.Hour
	// maxText is the largest content that is kept with a fact, maxOne how much the
	// contents and the rest of one session's facts may each be, and maxAll what all
	// that is remembered of all of them may be together, in bytes.
	maxText = 64 << 10
	maxOne  = 4 << 20
	maxAll  = 8 << 20
	// leastTexts is how much of that the contents keep where there are so many facts that
	// sessions have to go: those in use need theirs more than old ones their digests.
	leastTexts = 2 << 20
	// factSize is what a fact takes beside its texts, wordSize a word beside its letters.
	factSize = 128
	wordSize = 16
	// weightSize is what a text takes that waits to be weighed, beside itself.
	weightSize = 512
)

// Facts are what a session is known to have done, oldest first. They are never
// changed, only added to.
type Facts []Fact

// add returns the facts with more behind them, within the bounds of a session. It
// is for those who hold the newest facts of it alone: those that others hold begin
// the same list, and nothing that they see is written again.
func (f Facts) add(now time.Time, more ...Fact) Facts {
	out := append(f, more...)
	for i := len(f); i < len(out); i++ {
		if out[i].At.IsZero() {
			out[i].At = now
		}
	}
	first := max(0, len(out)-MaxFacts)
	for first < len(out) && now.Sub(out[first].At) > FactsKept {
		first++
	}
	out = out[first:]
	rest := maxOne
	for i, fact := range slices.Backward(out) {
		if rest -= fact.size(); rest < 0 {
			// What stood before would be held as long as the list has room to grow.
			return slices.Clone(out[i+1:]).within(maxOne)
		}
	}
	return out.within(maxOne)
}

// within returns the facts with the newest contents alone, up to so many bytes.
func (f Facts) within(left int) Facts {
	for i, fact := range slices.Backward(f) {
		if left -= len(fact.text); left < 0 && fact.text != "" {
			return slices.Concat(f[:i+1].withoutTexts(), f[i+1:])
		}
	}
	return f
}

// size is what a fact takes without the content of its file.
func (f *Fact) size() int {
	n := factSize + len(f.Path) + len(f.SHA256)
	if f.weight != nil {
		n += weightSize
	}
	for _, w := range f.Words {
		n += wordSize + len(w)
	}
	return n
}

// withoutTexts returns the facts without what the files hold: their digests stay.
func (f Facts) withoutTexts() Facts {
	out := slices.Clone(f)
	for i := range out {
		out[i].text, out[i].weight = "", nil
	}
	return out
}

// wrote is a fact of a file that holds a text.
func wrote(name, text string, known bool) Fact {
	f := Fact{Deed: Wrote, Path: name}
	if known {
		f.SHA256 = digestOf(text)
		if len(text) <= maxText {
			f.text = text
		}
	}
	return f
}

// StartedBy is a fact of a program that goes on, with its words and those
// variables that are set to numbers: of others nobody will ask.
func StartedBy(cwd string, words []string) Fact {
	return Fact{Deed: Started, Path: cwd, Words: slices.DeleteFunc(words, func(w string) bool {
		name, value, set := strings.Cut(w, "=")
		return set && !strings.HasPrefix(name, "-") && strings.Trim(value, "0123456789") != ""
	})}
}

// WithTexts gives facts that were kept without the texts those of others that
// tell of the same content, and what weighs them.
func (f Facts) WithTexts(from Facts) Facts {
	out := slices.Clone(f)
	for i := range out {
		for j := range from {
			if from[j].Path == out[i].Path && from[j].SHA256 == out[i].SHA256 {
				if out[i].text = from[j].text; out[i].Later {
					out[i].Loaded, out[i].Later, out[i].weight = from[j].Loaded, from[j].Later, from[j].weight
				}
			}
		}
	}
	return out
}

// last is the newest fact that a file or a folder was written, made or moved to.
func (f Facts) last(name string) (Fact, bool) {
	for _, fact := range slices.Backward(f) {
		if fact.Path == name && slices.Contains([]Deed{Wrote, Built, Fetched, Moved}, fact.Deed) {
			return fact, true
		}
	}
	return Fact{}, false
}

// Text is what the session wrote into a file, as far as it is known.
func (f Facts) Text(name string) (string, bool) {
	fact, ok := f.last(name)
	return fact.text, ok && fact.SHA256 != "" && digestOf(fact.text) == fact.SHA256
}

// Wrote says whether the session itself put what is in the file there.
func (f Facts) Wrote(name string) bool {
	fact, ok := f.last(name)
	return ok && fact.Deed != Built
}

// Unpacked says whether a file lies in a folder into which files were put that no call
// names, and nothing else is known of it.
func (f Facts) Unpacked(name string) bool {
	_, known := f.last(name)
	return !known && slices.ContainsFunc(f, func(fact Fact) bool { return fact.Deed == Unpacked && isBelow(fact.Path, name) })
}

// Has says whether a deed is among the facts.
func (f Facts) Has(deed Deed) bool {
	return slices.ContainsFunc(f, func(fact Fact) bool { return fact.Deed == deed })
}

// Built says whether what is in the file was made by a program of other files.
func (f Facts) Built(name string) bool {
	fact, ok := f.last(name)
	return ok && fact.Deed == Built
}

// Changed are the files that the session wrote, each once.
func (f Facts) Changed() []string { return f.paths(Wrote, Fetched, Moved) }

// Loaded are the files that hold what would be asked about or denied if it ran.
func (f Facts) Loaded() []string {
	return slices.DeleteFunc(f.paths(Wrote, Moved), func(name string) bool { fact, _ := f.last(name); return !fact.isLoaded() })
}

// Fetched are the names, without their folders, of the files that the session
// downloaded. The map is the caller's.
func (f Facts) Fetched() map[string]bool {
	out := map[string]bool{}
	for _, name := range f.paths(Fetched) {
		out[path.Base(name)] = true
	}
	return out
}

func (f Facts) paths(of ...Deed) []string {
	var out []string
	for _, fact := range f {
		if slices.Contains(of, fact.Deed) {
			out = append(out, fact.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Made says whether all that lies at a path came to be in this session: nothing
// was there before, and nothing was moved there that was elsewhere.
func (f Facts) Made(name string) bool {
	made := false
	for _, fact := range f {
		switch {
		case fact.Deed == Moved && (isBelow(fact.Path, name) || isBelow(name, fact.Path)):
			made = false
		case fact.New && isBelow(fact.Path, name):
			made = true
		}
	}
	return made
}

// isBelow says that a path is a folder's, or lies in it.
func isBelow(folder, name string) bool { return place.Inside([]string{folder}, name) }

// Serves says whether the session started a program that names the port.
func (f Facts) Serves(port string) bool {
	if strings.Trim(port, "0123456789") != "" {
		return false
	}
	for _, fact := range f {
		if fact.Deed == Started && slices.ContainsFunc(fact.Words, func(w string) bool { return namesPort(w, port) }) {
			return true
		}
	}
	return false
}

// namesPort says whether a word is a number, or ends with one behind what parts
// an address or an option from it.
func namesPort(word, port string) bool {
	before, ok := strings.CutSuffix(word, port)
	return ok && port != "" && (before == "" || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "=") || before == "-p")
}

// Runs says whether a pattern, as pkill -f takes one, picks a program that the
// session started, and by more than the name of a program that many run.
func (f Facts) Runs(pattern string) bool {
	const least = 3 // shorter ones pick what nobody thought of
	re, err := regexp.CompilePOSIX(pattern)
	if err != nil || len(pattern) < least {
		return false
	}
	picked := false
	for _, fact := range f {
		if fact.Deed != Started {
			continue
		}
		picked = picked || re.MatchString(strings.Join(fact.Words, " "))
		if len(fact.Words) > 1 && re.MatchString(path.Base(fact.Words[0])) {
			return false // it picks all that this program runs
		}
	}
	return picked
}

// digestOf is the SHA-256 of a text, in hex.
func digestOf(text string) string {
	var part [512]byte // a copy of all of it would be as large as the text
	h := sha256.New()
	for len(text) > 0 {
		n := copy(part[:], text)
		_, _ = h.Write(part[:n]) // of a hash it cannot fail
		text = text[n:]
	}
	var in [2 * sha256.Size]byte
	hex.Encode(in[:], h.Sum(part[:0]))
	return string(in[:])
}
