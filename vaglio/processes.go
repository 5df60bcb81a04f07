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
)

// Processes tells what runs on this machine. It stops and changes nothing.
type Processes interface {
	// List gives every process that can be seen.
	List() ([]Process, error)
	// Users gives the numbers of the processes that have a socket at a port of this
	// machine, or to one of that number. Its error says that some cannot be told.
	Users(port uint16) ([]int, error)
}

// Process is one that runs.
type Process struct {
	PID, Parent int
	// Name is what the system calls it, Words is its command line.
	Name  string
	Words []string
	// Cwd is the folder in which it is, "" where that cannot be seen, as of
	// another user's.
	Cwd string
	// Started is when, give or take [startedWithin].
	Started time.Time
}

const (
	// startedWithin is how far the start of a process may seem to lie before the
	// call that started it: clocks of processes count from the machine's start.
	startedWithin = time.Second
	// startsWithin is how long after its call a program may begin to run.
	startsWithin = 10 * time.Minute
	// nameOfProcess is how many bytes the system keeps of a process's name.
	nameOfProcess = 15
	// deepestBelow is how far below the program that a call started a process may be.
	deepestBelow = 32
)

// Running tells which of the processes that run a session started. Where the
// processes are not known it goes by the words of the calls alone, as [Facts] does.
type Running struct {
	facts Facts
	of    Processes // nil tells nothing
	once  sync.Once
	by    map[int]Process // once somebody asked
	err   error
}

// NewRunning tells of a session's processes among those that run; nil knows none.
func NewRunning(facts Facts, of Processes) *Running { return &Running{facts: facts, of: of} }

// list is what runs, by number, as it is when somebody first asks.
func (r *Running) list() (map[int]Process, error) {
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

// Started says whether the session started the process of a number, or what is
// above it. The first process nobody started.
func (r *Running) Started(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || !r.begins() {
		return false
	}
	by, err := r.list()
	return err == nil && r.started(by, n)
}

// begins says whether the session started anything at all: what runs is not looked
// at for one that did not.
func (r *Running) begins() bool {
	return slices.ContainsFunc(r.facts, func(f Fact) bool { return f.Deed == Started })
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

// began says whether a process is the program that a fact tells of: the same words,
// in the same folder, not before the call and soon after it.
func (f *Fact) began(p *Process) bool {
	after := p.Started.Sub(f.At)
	return f.Deed == Started && !f.shared && len(f.Words) > 0 && isBelow(f.Path, p.Cwd) && after > -startedWithin && after < startsWithin && f.runsAs(p.Words)
}

// runsAs says whether a command line is that of the program, which may be a script
// of an interpreter and may have put one text in the place of its words.
func (f *Fact) runsAs(line []string) bool {
	want, got := spoken(f.Words), spoken(strings.Fields(strings.Join(line, " ")))
	return sameProgram(got, want) || len(got) > 1 && slices.Contains(interpreters(), path.Base(got[0])) && sameProgram(got[1:], want)
}

func sameProgram(a, b []string) bool {
	return len(a) > 0 && len(a) == len(b) && path.Base(a[0]) == path.Base(b[0]) && slices.Equal(a[1:], b[1:])
}

// spoken are the words of a program without variables, each for itself.
func spoken(words []string) []string {
	all := strings.Fields(strings.Join(words, " "))
	return slices.DeleteFunc(all, func(w string) bool { return strings.Contains(w, "=") && !strings.HasPrefix(w, "-") })
}

// interpreters run programs that are installed as scripts.
func interpreters() []string {
	return []string{"sh", "bash", "dash", "zsh", "node", "nodejs", "bun", "deno", "python", "python3", "ruby", "perl", "php"}
}

// picked are those of the processes whose folder can be seen that a pattern finds,
// as pkill and pgrep search; nil where that is not known. What picks by more than a
// pattern picks fewer.
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

// wholeLine says whether an option makes a pattern one of whole command lines.
func wholeLine(o string) bool {
	return o == "--full" || strings.HasPrefix(o, "-") && !strings.HasPrefix(o, "--") && strings.Contains(o, "f")
}

// runs says whether what a pattern finds is the session's own: of what runs, or
// where nothing of that is known, by the words of the calls.
func (r *Running) runs(program, pattern string, options []string) bool {
	if !r.begins() {
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

// serves says whether the session's own programs use a port, and nobody else.
func (r *Running) serves(port string) bool {
	if r.facts.Serves(port) {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || r.of == nil || !r.begins() {
		return false
	}
	users, err := r.of.Users(uint16(n))
	if err != nil || len(users) == 0 {
		return false
	}
	by, err := r.list()
	return err == nil && !slices.ContainsFunc(users, func(pid int) bool { return !r.started(by, pid) })
}

// Finds says whether a search for processes, which lsof and pgrep are, finds those
// alone that the session started. Another program is no search.
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

// Stops says whether a program that stops others, by the names or the ports that
// it is given, stops those alone that the session started. Words are all of its own.
func (r *Running) Stops(program string, operands, words []string) bool {
	return !slices.ContainsFunc(operands, func(w string) bool {
		if program != "fuser" {
			return !r.runs(program, w, words)
		}
		port, isPort := strings.CutSuffix(w, "/tcp")
		return !isPort || !r.serves(port)
	})
}
