package vaglio

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/vaglio/place"
)

// SessionID names the session that a call belongs to: the client's session if it names one, or else the turn.
func (p *Proposal) SessionID() string { return cmp.Or(p.Session, p.TurnID) }

// Fact is one thing that went through the gate in a session: what an approved call, or one that a person allowed, wrote, made or started. It describes what
// the call would do when it was let through; vaglio does not know whether it succeeded.
type Fact struct {
	// Deed says what was done.
	Deed Deed `json:"deed"`
	// Path is where it was done, absolute and clean; for [Started], the folder in which it ran.
	Path string `json:"path,omitzero"`
	// New says that nothing existed at Path before.
	New bool `json:"new,omitzero"`
	// Folder says that a folder was made, and nothing put into it.
	Folder bool `json:"folder,omitzero"`
	// Link says that what was moved there is a link to it.
	Link bool `json:"link,omitzero"`
	// Far says that what lies there came from elsewhere, and nobody was asked about it yet.
	Far bool `json:"far,omitzero"`
	// SHA256 is the digest of what was written, in hex; "" if that is not known.
	SHA256 string `json:"sha256,omitzero"`
	// Words are the program and its arguments, for [Started], paths for [Awaited], ports for [Opened]
	// and [Taken], and for Link where out of the workspace it leads.
	Words []string `json:"words,omitzero"`
	// At is when the call was let through.
	At time.Time `json:"at,omitzero"`
	// Loaded says that what was written would be asked about or denied if it ran.
	Loaded bool `json:"loaded,omitzero"`
	// Later says that Loaded is not decided yet: it is when something may run the file.
	Later bool `json:"later,omitzero"`
	// weight decides it then; if nil, the file counts as loaded.
	weight *weight
	// text is what was written, if SHA256 is known; with Later, what is to be weighed.
	text string
	// was is what the file held before the session first wrote it; "" if that is not known, or nothing.
	was string
	// shared says that another session started the same program in the same folder, so that a process of it cannot be attributed to either.
	shared bool
}

// leads reports whether a fact is that a link was made which leads out of the workspace.
func (f *Fact) leads() bool { return f.Link && len(f.Words) == 1 }

// Deed is what a [Fact] says was done.
type Deed string

// The deeds.
const (
	// Wrote is a file that was written, or a folder that was made.
	Wrote Deed = "wrote"
	// Built is a file that a program made from others, such as a compiler's output.
	Built Deed = "built"
	// Fetched is a file that was downloaded.
	Fetched Deed = "fetched"
	// Unpacked is a folder that received files that the call does not name, such as those of an archive or a repository.
	Unpacked Deed = "unpacked"
	// Let is where a call ran what the session had brought from elsewhere: a person was asked about it.
	Let Deed = "let"
	// Brought is a folder of a repository whose files were replaced by those of another commit.
	Brought Deed = "brought"
	// Moved is something that was moved to Path from elsewhere.
	Moved Deed = "moved"
	// Started is a program that keeps running after its call.
	Started Deed = "started"
	// Kept is a file into which a shell wrote the number of what it started.
	Kept Deed = "kept"
	// Installed is packages.
	Installed Deed = "installed"
	// Named is a path in the workspace, where nothing was, that a program which may write there was given.
	Named Deed = "named"
	// Entered is a folder that is a workspace of the session: the one in which it began if none is configured, or one that a person allowed.
	Entered Deed = "entered"
	// Exported is variables, named by Words, that later calls have if the shell goes on.
	Exported Deed = "exported"
	// Awaited is files, named by Words, that a call may run after it was judged: they were not there, or the call goes on.
	Awaited Deed = "awaited"
	// Opened is a port of this machine, the first of Words, at which a new container serves a database.
	Opened Deed = "opened"
	// Taken is ports, named by Words, at which something else may answer; without Words any.
	Taken Deed = "taken"
)

// The limits of a session.
const (
	// MaxFacts is how many facts of a session are kept; older ones are dropped.
	MaxFacts = 1000
	// FactsKept is how long they are kept.
	FactsKept = 24 * time.Hour
	// maxText is the largest content that is kept with a fact, maxOne limits the contents of one session's facts, and separately the rest of them, and maxAll
	// limits everything that is remembered of all sessions; all in bytes.
	maxText = 64 << 10
	maxOne  = 4 << 20
	maxAll  = 8 << 20
	// leastTexts is how much of maxAll the contents keep when whole sessions have to go:
	// sessions in use need their contents more than old sessions need their digests.
	leastTexts = 2 << 20
	// factSize is the size of a fact without its texts, wordSize of a word without its letters.
	factSize = 128
	wordSize = 16
	// weightSize is what a pending text needs besides itself.
	weightSize = 512
)

// Facts are what a session is known to have done, oldest first. They are immutable; adding to them makes a new list.
type Facts []Fact

// add returns the facts with more appended, within the limits of a session. It may append in place, so f must be the session's newest facts: older lists that
// others hold share its beginning, which is never overwritten.
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
	for i := range slices.Backward(out) {
		if rest -= out[i].size(); rest < 0 {
			// A subslice would keep the dropped facts in memory.
			return slices.Clone(out[i+1:]).within(maxOne)
		}
	}
	return out.within(maxOne)
}

// within returns the facts with only the newest contents, up to left bytes.
func (f Facts) within(left int) Facts {
	for i := range slices.Backward(f) {
		if left -= len(f[i].text) + len(f[i].was); left < 0 && len(f[i].text)+len(f[i].was) > 0 {
			return slices.Concat(f[:i+1].withoutTexts(), f[i+1:])
		}
	}
	return f
}

// size is the size of a fact without the content of its file, in bytes.
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

// withoutTexts returns the facts without the files' contents. The digests stay.
func (f Facts) withoutTexts() Facts {
	out := slices.Clone(f)
	for i := range out {
		out[i].text, out[i].was, out[i].weight = "", "", nil
	}
	return out
}

// wrote returns the fact that a file was written. text is its content, if known.
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

// StartedBy returns the fact that a program was started that keeps running, with its words
// and those variables that are set to numbers: nobody will ask for the others.
func StartedBy(cwd string, words []string) Fact {
	return Fact{Deed: Started, Path: cwd, Words: slices.DeleteFunc(words, func(w string) bool {
		name, value, set := strings.Cut(w, "=")
		return set && !strings.HasPrefix(name, "-") && strings.Trim(value, "0123456789") != ""
	})}
}

// WithTexts returns the facts with the texts, and what weighs them, of those facts in from that are about the same file with the same content.
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

// last returns the newest fact that a file or folder was written, made or moved to.
func (f Facts) last(name string) (Fact, bool) {
	for i := range slices.Backward(f) {
		if f[i].Path == name && f[i].leaves() {
			return f[i], true
		}
	}
	return Fact{}, false
}

// changes reports whether the session itself put something at the fact's path.
func (f *Fact) changes() bool {
	return slices.Contains([]Deed{Wrote, Fetched, Moved}, f.Deed) && !f.Folder
}

// leaves reports whether something other than a new folder lies at the fact's path since.
func (f *Fact) leaves() bool {
	return slices.Contains([]Deed{Wrote, Built, Fetched, Moved}, f.Deed) && !f.Folder
}

// Text returns what the session wrote into a file, if that is known.
func (f Facts) Text(name string) (string, bool) {
	fact, ok := f.last(name)
	return fact.text, ok && fact.SHA256 != "" && digestOf(fact.text) == fact.SHA256
}

// Wrote reports whether the session itself put the file's content there.
func (f Facts) Wrote(name string) bool {
	fact, ok := f.last(name)
	return ok && fact.Deed != Built
}

// Unpacked reports whether a file lies in a folder into which unnamed files were unpacked, and nothing else is known of it.
func (f Facts) Unpacked(name string) bool {
	_, known := f.last(name)
	return !known && f.any(func(fact *Fact) bool { return fact.Deed == Unpacked && isBelow(fact.Path, name) })
}

// Has reports whether a deed is among the facts.
func (f Facts) Has(deed Deed) bool {
	return f.any(func(fact *Fact) bool { return fact.Deed == deed })
}

// any reports whether one of the facts is such. A session has many: they are not copied.
func (f Facts) any(is func(*Fact) bool) bool {
	for i := range f {
		if is(&f[i]) {
			return true
		}
	}
	return false
}

// Built reports whether a program made the file's content from other files.
func (f Facts) Built(name string) bool {
	fact, ok := f.last(name)
	return ok && fact.Deed == Built
}

// Changed returns the files that the session wrote, each once.
func (f Facts) Changed() []string { return f.paths((*Fact).changes) }

// Loaded returns the files whose content would be asked about or denied if it ran, and those that were fetched.
func (f Facts) Loaded() []string {
	last := make(map[string]*Fact, len(f))
	for i := range f {
		if f[i].leaves() {
			last[f[i].Path] = &f[i]
		}
	}
	return f.paths(func(fact *Fact) bool {
		return fact.Deed == Fetched || (fact.Deed == Wrote || fact.Deed == Moved) && !fact.Folder && last[fact.Path].isLoaded()
	})
}

// Fetched returns the names, without folders, of the files that the session downloaded. The caller owns the map.
func (f Facts) Fetched() map[string]bool {
	out := map[string]bool{}
	for i := range f {
		if f[i].Deed == Fetched {
			out[path.Base(f[i].Path)] = true
		}
	}
	return out
}

// Exported returns the variables that earlier calls of the session may have set.
func (f Facts) Exported() (names []string) {
	for i := range f {
		if f[i].Deed == Exported {
			names = append(names, f[i].Words...)
		}
	}
	return names
}

// paths returns the paths of such facts, each once.
func (f Facts) paths(are func(*Fact) bool) []string {
	var out []string
	for i := range f {
		if are(&f[i]) {
			out = append(out, f[i].Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Made reports whether all that lies at a path was created in this session: nothing was there before, and nothing was moved there from elsewhere.
func (f Facts) Made(name string) bool {
	made := false
	for i := range f {
		switch fact := &f[i]; {
		case fact.Deed == Moved && (isBelow(fact.Path, name) || isBelow(name, fact.Path)):
			made = false
		case fact.New && isBelow(fact.Path, name):
			made = true
		}
	}
	return made
}

// Touched reports whether anything was put at a path, or into a folder above it that may have brought it.
func (f Facts) Touched(name string) bool {
	return f.any(func(fact *Fact) bool { return fact.puts() && isBelow(fact.Path, name) })
}

// MovedTo reports whether something was moved to a path, or below it. A link that is removed with its folder leaves what it leads to.
func (f Facts) MovedTo(name string) bool {
	return f.any(func(fact *Fact) bool {
		over, under := isBelow(fact.Path, name), isBelow(name, fact.Path)
		return fact.Deed == Moved && (over && !under || under && !fact.Link)
	})
}

// isBelow reports whether a path is the folder or lies in it.
func isBelow(folder, name string) bool { return place.Inside([]string{folder}, name) }

// Serves reports whether the session started a program that names the port.
func (f Facts) Serves(port string) bool {
	if strings.Trim(port, "0123456789") != "" {
		return false
	}
	return f.any(func(fact *Fact) bool {
		return fact.Deed == Started && slices.ContainsFunc(fact.Words, func(w string) bool { return namesPort(w, port) })
	})
}

// namesPort reports whether a word is the port, or ends with it behind the separator of an address or an option.
func namesPort(word, port string) bool {
	before, ok := strings.CutSuffix(word, port)
	return ok && port != "" && (before == "" || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "=") || before == "-p")
}

// Runs reports whether a pattern, as pkill -f takes it, matches a program that the session
// started, and not merely the name of a program that others run, too.
func (f Facts) Runs(pattern string) bool {
	const least = 3 // shorter patterns match by accident
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
		if len(fact.Words) > 1 && re.MatchString(path.Base(fact.Words[0])) && !f.ownProgram(&fact, pattern) {
			return false // it matches everything that runs this program
		}
	}
	return picked
}
