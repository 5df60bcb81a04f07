package reading

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/memo"
	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

// remembered reads a program that a tool finds by itself once, however many calls of a session run it. What was read before costs a call little of its budget.
type remembered struct {
	shell.ProgramReader

	kept *memo.Map[found, *recalled]
}

const (
	mostRemembered = 4 << 20 // bytes of the programs that are kept
	costRecalled   = 16      // by how much they cost less
)

// programs reads the programs of all calls.
//
//nolint:gochecknoglobals // Made once; it guards what it keeps.
var programs = &remembered{ProgramReader: code.Default(), kept: memo.New[found, *recalled](mostRemembered)}

// found is all of a program that its reader is given.
type found struct {
	language, path, cwd string
	tool                string // that runs it, with its first operand, and what it reads
	text                string // its digest
	imported, settings  bool
}

// recalled is what was read of a program, and what its reader asked for: each question, and the answer.
type recalled struct {
	shell.ProgramResult

	questions []func(p *shell.Program) string
	answers   []string
}

// Read implements [shell.ProgramReader].
func (r *remembered) Read(p *shell.Program) *shell.ProgramResult {
	text, known := p.Text.Text()
	if !known || !p.File || !p.Found || p.Words == nil || p.Path == "" || p.Record != nil || p.Args != nil {
		return r.ProgramReader.Read(p)
	}
	key := found{p.Language, p.Path, p.Cwd, fmt.Sprint(p.Words(2), p.Stdin), digest(text), p.Imported, p.Settings}
	if was, ok := r.kept.Get(key); ok && was.holds(p) {
		out := was.ProgramResult
		out.Steps = min(1+out.Steps/costRecalled, p.Steps)
		return &out
	}
	now := &recalled{}
	now.ProgramResult = *r.ProgramReader.Read(now.through(p))
	if !slices.ContainsFunc(now.Actions, isCutShort) {
		r.kept.Put(key, now, len(text))
	}
	return &now.ProgramResult
}

// isCutShort reports whether a program was not read to its end, for reasons that may not hold again.
func isCutShort(s shell.ProgramStep) bool {
	return s.Problem != nil && (s.Problem.Kind == shell.ProblemTooCostly || s.Problem.Kind == shell.ProblemInternal)
}

// holds reports whether all answers are the same now.
func (r *recalled) holds(p *shell.Program) bool {
	for i, question := range r.questions {
		if question(p) != r.answers[i] {
			return false
		}
	}
	return true
}

// through returns the program with everything noted that its reader asks for.
func (r *recalled) through(p *shell.Program) *shell.Program {
	ask := func(question func(p *shell.Program) string) {
		r.questions, r.answers = append(r.questions, question), append(r.answers, question(p))
	}
	q := *p
	q.Home = func(user string) shell.Word {
		ask(func(p *shell.Program) string { return p.Home(user).String() })
		return p.Home(user)
	}
	q.Env = func(name string) (shell.Word, bool) {
		ask(func(p *shell.Program) string { w, unset := p.Env(name); return fmt.Sprint(w, unset) })
		return p.Env(name)
	}
	q.Content = func(file shell.Word) (shell.Word, bool) {
		ask(func(p *shell.Program) string { w, known := p.Content(file); return fmt.Sprint(w, known) })
		return p.Content(file)
	}
	q.Words = func(most int) []shell.Word {
		ask(func(p *shell.Program) string { return fmt.Sprint(p.Words(most)) })
		return p.Words(most)
	}
	q.Beside = sync.OnceValue(func() []string {
		ask(func(p *shell.Program) string { return digest(p.Beside()...) })
		return p.Beside()
	})
	q.Source = func(file string) (string, bool) {
		ask(func(p *shell.Program) string { text, known := p.Source(file); return fmt.Sprint(digest(text), known) })
		return p.Source(file)
	}
	q.Lies = func(file string) bool {
		ask(func(p *shell.Program) string { return fmt.Sprint(p.Lies(file)) })
		return p.Lies(file)
	}
	return &q
}

func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return string(sum[:])
}
