package vaglio

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Processes tells what is running on this machine. It stops and changes nothing.
type Processes interface {
	// List returns every process that can be seen.
	List() ([]Process, error)
	// Users returns the PIDs of the processes that have a socket at a port of this machine,
	// or one connected to a port of that number. It returns an error if it cannot find all of
	// them.
	Users(port uint16) ([]int, error)
	// Free reports whether nobody at all has a socket at a port of this machine.
	Free(port uint16) (bool, error)
}

// Process is a running process.
type Process struct {
	PID, Parent int
	// Name is the system's name for it; Words are its command line.
	Name  string
	Words []string
	// Cwd is its working folder; "" if that cannot be seen, as with another user's process.
	Cwd string
	// Started is its start time, accurate to [startedWithin].
	Started time.Time
}

const (
	// startedWithin is how long before the call that started it a process may seem to start:
	// the system counts start times from boot.
	startedWithin = time.Second
	// startsWithin is how long after its call a program may begin to run.
	startsWithin = 10 * time.Minute
	// nameOfProcess is how many bytes of a process's name the system keeps.
	nameOfProcess = 15
	// deepestBelow is how many levels below a started program a descendant may be.
	deepestBelow = 32
)

// Running tells which running processes a session started. If the processes are not known, it
// goes by the words of the calls alone, like [Facts].
type Running struct {
	facts  Facts
	begins bool // the call itself starts some of it
	*machineList
}

// machineList is what runs on the machine.
type machineList struct {
	of   Processes // nil tells nothing
	once sync.Once
	by   map[int]Process // once somebody asked
	err  error
}

// NewRunning returns a session's view of the processes; with nil, no processes are known.
func NewRunning(facts Facts, of Processes) *Running {
	return &Running{facts: facts, machineList: &machineList{of: of}}
}

// Fork returns a view for one reading of a call, to which [Running.Begin] adds what the call starts.
func (r *Running) Fork() *Running {
	return &Running{facts: slices.Clip(r.facts), machineList: r.machineList}
}

// Begin adds a program that the call starts.
func (r *Running) Begin(f Fact) { r.facts, r.begins = append(r.facts, f), true }

// list is what runs, by number, as it is when somebody first asks.
func (r *machineList) list() (map[int]Process, error) {
	r.once.Do(func() {
		if r.err = errors.New("what runs is not known"); r.of == nil {
			return
		}
		var all []Process
		all, r.err = r.of.List()
		r.by = make(map[int]Process, len(all))
		for i := range all {
			r.by[all[i].PID] = all[i]
		}
	})
	return r.by, r.err
}

// Started reports whether the session started the process with that PID, or one of its
// ancestors. Nobody started the first process. If the session started nothing at all, there is
// no need to look at the processes, here as below.
func (r *Running) Started(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || !r.facts.Has(Started) {
		return false
	}
	by, err := r.list()
	return err == nil && r.started(by, n)
}

func (r *Running) started(by map[int]Process, pid int) bool {
	for range deepestBelow {
		p, ok := by[pid]
		if !ok || pid <= 1 {
			return false
		}
		if slices.ContainsFunc(r.facts, func(f Fact) bool { return f.began(&p) }) {
			return true
		}
		pid = p.Parent
	}
	return false
}

// began reports whether a process is the program that the fact is about: it has the same
// words and the same folder, and began not before the call and soon after it.
func (f *Fact) began(p *Process) bool {
	after := p.Started.Sub(f.At)
	return f.Deed == Started && !f.shared && len(f.Words) > 0 && isBelow(f.Path, p.Cwd) && after > -startedWithin && after < startsWithin && f.runsAs(p.Words)
}

// runsAs reports whether a command line is that of the fact's program, which may be run as a
// script by an interpreter and may have rewritten its command line as one text.
func (f *Fact) runsAs(line []string) bool {
	want, got := spoken(f.Words), spoken(strings.Fields(strings.Join(line, " ")))
	return sameProgram(got, want) || len(got) > 1 && wordclass.Is("interpreter", wordclass.Bare(path.Base(got[0]))) && sameProgram(got[1:], want)
}

func sameProgram(a, b []string) bool {
	return len(a) > 0 && len(a) == len(b) && path.Base(a[0]) == path.Base(b[0]) && slices.Equal(a[1:], b[1:])
}

// spoken splits a program's words at blanks and drops variable assignments.
func spoken(words []string) []string {
	all := strings.Fields(strings.Join(words, " "))
	return slices.DeleteFunc(all, func(w string) bool { return strings.Contains(w, "=") && !strings.HasPrefix(w, "-") })
}

// picked returns the processes that a pattern finds, as pkill and pgrep search, and whether
// the session started each; nil if that is not known. Processes whose folder cannot be seen
// are left out. Options that narrow the search are ignored, so it may return too many.
func (r *Running) picked(program, pattern string, options []string) map[int]bool {
	by, err := r.list()
	if err != nil {
		return nil
	}
	whole := slices.ContainsFunc(options, wholeLine)
	if program == "killall" && !slices.Contains(options, "-r") && !slices.Contains(options, "--regexp") {
		name := path.Base(pattern)
		pattern = "^" + regexp.QuoteMeta(name[:min(len(name), nameOfProcess)])
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil
	}
	out := map[int]bool{}
	for pid, p := range by {
		text := p.Name
		if whole {
			text = strings.Join(p.Words, " ")
		}
		if p.Cwd != "" && re.MatchString(text) {
			out[pid] = r.started(by, pid)
		}
	}
	return out
}

// wholeLine reports whether an option matches the pattern against whole command lines.
func wholeLine(o string) bool {
	return o == "--full" || strings.HasPrefix(o, "-") && !strings.HasPrefix(o, "--") && strings.Contains(o, "f")
}

// runs reports whether all that a pattern finds is the session's own: among the running
// processes or, if it finds none of them, by the words of the calls.
func (r *Running) runs(program, pattern string, options []string) bool {
	if !r.facts.Has(Started) {
		return false
	}
	if found := r.picked(program, pattern, options); len(found) > 0 {
		for _, own := range found {
			if !own {
				return false
			}
		}
		return true
	}
	return r.facts.Runs(pattern)
}

// serves reports whether only the session's own programs use a port, or will: where nothing is, what the call starts.
func (r *Running) serves(port string) bool {
	if r.facts.Serves(port) {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || r.of == nil || !r.facts.Has(Started) {
		return false
	}
	users, err := r.of.Users(uint16(n))
	if err != nil || len(users) == 0 {
		return err == nil && r.begins
	}
	by, err := r.list()
	return err == nil && !slices.ContainsFunc(users, func(pid int) bool { return !r.started(by, pid) })
}

// Finds reports whether a search for processes, by lsof or pgrep, finds only processes that
// the session started. search is false for any other program.
func (r *Running) Finds(program string, words []string) (own, search bool) {
	looked := 0
	for _, w := range words {
		port := w[strings.LastIndexByte(w, ':')+1:]
		var found bool
		switch {
		case program == "lsof" && port != w && port != "":
			found = r.serves(port)
		case program == "pgrep" && !strings.HasPrefix(w, "-"):
			found = r.runs(program, w, words)
		default:
			continue
		}
		if !found {
			return false, true
		}
		looked++
	}
	return looked > 0, program == "lsof" || program == "pgrep"
}

// Stops reports whether a program that stops processes, by the names or ports in operands,
// stops only those that the session started. words are all its words.
func (r *Running) Stops(program string, operands, words []string) bool {
	return !slices.ContainsFunc(operands, func(w string) bool {
		if program != "fuser" {
			return !r.runs(program, w, words)
		}
		port, isPort := strings.CutSuffix(w, "/tcp")
		return !isPort || !r.serves(port)
	})
}

// ownProgram reports whether what was started is a program that the session built, and a pattern is its name.
func (f Facts) ownProgram(fact *Fact, pattern string) bool {
	return path.Base(fact.Words[0]) == pattern && strings.Contains(fact.Words[0], "/") && f.Built(path.Join(fact.Path, fact.Words[0]))
}

// Keeps reports whether a file holds the number of a process that the session started: a shell wrote it there, or the
// program itself, which was given the name where nothing was. Nothing else was put there since.
func (f Facts) Keeps(file string) bool {
	kept, named, given := false, false, false
	for i := range f {
		switch fact := &f[i]; {
		case fact.puts() && isBelow(fact.Path, file):
			kept, named = false, false
		case fact.Deed == Kept:
			kept = kept || fact.Path == file
		case fact.Deed == Named:
			named = named || isBelow(fact.Path, file)
		case fact.Deed == Started:
			given = given || slices.ContainsFunc(fact.Words, func(w string) bool { return path.Join(fact.Path, w[strings.IndexByte(w, '=')+1:]) == file })
		}
	}
	return kept || named && given
}

// Opens reports whether a container that the session made, with nothing in it from before, serves a
// database at a port, and nothing else that the session started or let through may answer there.
func (f Facts) Opens(port string) bool {
	opened := func(fact *Fact) bool { return fact.Deed == Opened && slices.Contains(fact.Words, port) }
	other := func(fact *Fact) bool {
		switch fact.Deed {
		case Taken:
			return len(fact.Words) == 0 || slices.Contains(fact.Words, port)
		case Started:
			return slices.Contains(Numbers(fact.Words...), port)
		default:
			return false
		}
	}
	return f.any(opened) && !f.any(other)
}

// Numbers returns the whole numbers in words.
func Numbers(words ...string) []string {
	return strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool { return r < '0' || r > '9' })
}

// Free reports whether nothing has a socket at a port of this machine; known is false if nothing tells.
func (r *Running) Free(port string) (free, known bool) {
	n, err := strconv.ParseUint(port, 10, 16)
	if r.of == nil || err != nil {
		return false, false
	}
	free, err = r.of.Free(uint16(n))
	return free && err == nil, true
}
