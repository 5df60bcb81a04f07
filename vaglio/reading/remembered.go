package reading

import (
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

// remembered reads a program that a tool finds by itself once, however many calls of a session run it.
// What was read before costs a call little of its budget.
type remembered struct {
	shell.ProgramReader

	mu   sync.Mutex
	kept map[found]recalled
	size int
}

// mostRemembered limits the texts of the programs that are kept, in bytes; costRecalled is by how much
// they cost less.
const (
	mostRemembered = 4 << 20
	costRecalled   = 16
)

// programs reads the programs of all calls.
var programs = &remembered{ProgramReader: code.Default(), kept: map[found]recalled{}}

// found is all of a program that its reader is given.
type found struct {
	language, path, cwd, words string
	text                       [sha256.Size]byte
	imported, settings         bool
}

// recalled is what was read of a program, and what its reader asked for.
type recalled struct {
	shell.ProgramResult

	asked []answer
}

// answer is what the reader was told: again says it by what holds now.
type answer struct {
	word  shell.Word
	text  string
	is    bool
	again func(p *shell.Program) answer
}

// Read implements [shell.ProgramReader].
func (r *remembered) Read(p *shell.Program) *shell.ProgramResult {
	text, known := p.Text.Text()
	if !known || !p.File || !p.Found || p.Path == "" || p.Record != nil || p.Args != nil {
		return r.ProgramReader.Read(p)
	}
	var words strings.Builder
	for _, w := range append(p.Words, p.Stdin) {
		words.WriteString(w.String() + "\x00")
	}
	key := found{p.Language, p.Path, p.Cwd, words.String(), sha256.Sum256([]byte(text)), p.Imported, p.Settings}
	r.mu.Lock()
	was, ok := r.kept[key]
	r.mu.Unlock()
	if ok && was.holds(p) {
		out := was.ProgramResult
		out.Steps = min(1+out.Steps/costRecalled, p.Steps)
		return &out
	}
	var asks recalled
	out := r.ProgramReader.Read(asks.through(p))
	for i := range out.Actions {
		if at := out.Actions[i].Problem; at != nil && (at.Kind == shell.ProblemTooCostly || at.Kind == shell.ProblemInternal) {
			return out
		}
	}
	asks.ProgramResult = *out
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += len(text); r.size > mostRemembered {
		clear(r.kept)
		r.size = len(text)
	}
	r.kept[key] = asks
	return out
}

// holds reports whether all answers are the same now.
func (r *recalled) holds(p *shell.Program) bool {
	for i := range r.asked {
		was := &r.asked[i]
		if now := was.again(p); now.is != was.is || now.text != was.text || !now.word.Equal(was.word) {
			return false
		}
	}
	return true
}

// through returns the program with everything noted that its reader asks for.
func (r *recalled) through(p *shell.Program) *shell.Program {
	ask := func(again func(p *shell.Program) answer) answer {
		a := again(p)
		a.again = again
		r.asked = append(r.asked, a)
		return a
	}
	q := *p
	q.Home = func(user string) shell.Word {
		return ask(func(p *shell.Program) answer { return answer{word: p.Home(user)} }).word
	}
	q.Env = func(name string) (shell.Word, bool) {
		a := ask(func(p *shell.Program) answer { w, unset := p.Env(name); return answer{word: w, is: unset} })
		return a.word, a.is
	}
	q.Content = func(file shell.Word) (shell.Word, bool) {
		a := ask(func(p *shell.Program) answer { w, known := p.Content(file); return answer{word: w, is: known} })
		return a.word, a.is
	}
	if p.Beside != nil {
		q.Beside = func() []string {
			var all []string
			ask(func(p *shell.Program) answer {
				all = p.Beside()
				sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
				return answer{text: string(sum[:])}
			})
			return all
		}
	}
	if p.Source != nil {
		q.Source = func(file string) (text string, ok bool) {
			ask(func(p *shell.Program) answer {
				text, ok = p.Source(file)
				sum := sha256.Sum256([]byte(text))
				return answer{text: string(sum[:]), is: ok}
			})
			return text, ok
		}
	}
	if p.Lies != nil {
		q.Lies = func(file string) bool {
			return ask(func(p *shell.Program) answer { return answer{is: p.Lies(file)} }).is
		}
	}
	return &q
}
