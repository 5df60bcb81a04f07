package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// switchCode is added to the packages with mutants: it declares the switches.
//
//go:embed switch.go.txt
var switchCode string

// lab tries the mutants of a group: it has the tests of their packages, built with every change that
// can be put behind a switch.
type lab struct {
	root, dir string
	out       io.Writer
	named     *regexp.Regexp      // the tests to use
	laid      map[string]string   // the overlay: files by the files they replace
	tests     map[string][]*trial // by package, fastest first
}

// trial is one test of a package.
type trial struct {
	name   string
	took   time.Duration // by the clock
	worked time.Duration // of a processor
	meets  map[int]bool  // the mutants that it executes
	broken bool          // fails without a change
}

func newLab(out io.Writer, o options, all []*mutant) (*lab, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	l := &lab{root: o.root, dir: dir, out: out, named: o.tests, tests: map[string][]*trial{}}
	if err := l.build(all); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) close() { os.RemoveAll(l.dir) }

// build builds the tests of every package, and records which mutants each test executes.
func (l *lab) build(all []*mutant) error {
	for i, m := range all {
		if m.edits != nil {
			m.id = i + 1
		}
	}
	if err := l.compile(all); err != nil {
		return err
	}
	packages := map[string]bool{}
	for _, m := range all {
		for _, p := range m.packages {
			packages[p] = true
		}
	}
	for p := range maps.Keys(packages) {
		if err := l.command("go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", l.overlay(), "-o", l.binary(p), p).Run(); err != nil {
			return fmt.Errorf("the tests of %s cannot be built: %w", p, err)
		}
		if err := l.program(p); err != nil {
			return err
		}
	}
	for p := range maps.Keys(packages) {
		if err := l.survey(p, len(all)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) programOf(p string) string { return l.binary(p) + ".program" }

func regular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// program builds the program of a package that is one, for its tests to start.
func (l *lab) program(p string) error {
	name, err := l.command("go", "list", "-f", "{{.Name}}", p).Output()
	if err == nil && strings.TrimSpace(string(name)) == "main" {
		err = l.command("go", "build", "-ldflags=-s -w", "-overlay", l.overlay(), "-o", l.programOf(p), p).Run()
	}
	if err != nil {
		return fmt.Errorf("the program of %s cannot be built: %w", p, err)
	}
	return nil
}

func (l *lab) overlay() string { return filepath.Join(l.dir, "overlay.json") }

func (l *lab) binary(p string) string {
	return filepath.Join(l.dir, strings.NewReplacer("/", "_", ".", "").Replace(p)+".test")
}

func (l *lab) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = l.root
	return c
}

var mistake = regexp.MustCompile(`(?m)^(\S+?\.go):(\d+)(?::\d+)?: `) // a long line has no column

// compile lays the switched files over the sources, and takes the switch from
// every mutant that does not compile behind one: of a line, numbers first.
func (l *lab) compile(all []*mutant) error {
	byFile := map[string][]*mutant{}
	for _, m := range all {
		if m.edits != nil {
			byFile[m.file] = append(byFile[m.file], m)
		}
	}
	for _, found := range byFile { // edits nest in the order of the file
		slices.SortStableFunc(found, func(a, b *mutant) int { return a.order - b.order })
	}
	for range 20 {
		if err := l.lay(byFile, len(all)); err != nil {
			return err
		}
		args := []string{"build", "-o", os.DevNull, "-gcflags=-e", "-overlay", l.overlay()}
		for file := range byFile {
			if p := "./" + filepath.ToSlash(filepath.Dir(l.short(file))); !slices.Contains(args, p) {
				args = append(args, p)
			}
		}
		said, err := l.command("go", args...).CombinedOutput()
		if err == nil {
			return nil
		}
		lost := 0
		for _, at := range mistake.FindAllStringSubmatch(string(said), -1) {
			line, _ := strconv.Atoi(at[2])
			lost += l.unswitch(byFile, at[1], line)
		}
		if lost == 0 {
			return fmt.Errorf("the switches do not compile: %s", said)
		}
	}
	return fmt.Errorf("the switches do not compile")
}

func (l *lab) short(file string) string {
	rel, err := filepath.Rel(l.root, file)
	if err != nil {
		return file
	}
	return rel
}

// unswitch removes the switches on a line, and returns how many.
func (l *lab) unswitch(byFile map[string][]*mutant, name string, line int) (lost int) {
	for file, found := range byFile {
		if at := filepath.Join(l.root, name); l.laid[file] != name && l.laid[file] != at && at != file {
			continue
		}
		numbers := slices.ContainsFunc(found, func(m *mutant) bool { return m.line == line && m.id > 0 && strings.HasSuffix(m.what, "one more") })
		for _, m := range found {
			if m.line == line && m.id > 0 && (!numbers || strings.HasSuffix(m.what, "one more")) {
				m.id = 0
				lost++
			}
		}
	}
	return lost
}

// lay writes the files with switches, the declarations of the switches, and the overlay's list.
func (l *lab) lay(byFile map[string][]*mutant, count int) error {
	l.laid = map[string]string{}
	put := func(file, text string) error {
		l.laid[file] = filepath.Join(l.dir, strconv.Itoa(len(l.laid))+".go")
		return os.WriteFile(l.laid[file], []byte(text), 0o600)
	}
	for file, found := range byFile {
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(found), func(m *mutant) bool { return m.id == 0 })
		if err := put(file, string(switched(src, kept))); err != nil {
			return err
		}
		own := filepath.Join(filepath.Dir(file), "mutant_switches.go")
		if l.laid[own] == "" {
			text := strings.NewReplacer("PACKAGE", packageOf(src), "COUNT", strconv.Itoa(count+1)).Replace(switchCode)
			if err := put(own, text); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": l.laid})
	if err != nil {
		return err
	}
	return os.WriteFile(l.overlay(), text, 0o600)
}

var packageLine = regexp.MustCompile(`(?m)^package (\w+)`)

func packageOf(src []byte) string { return string(packageLine.FindSubmatch(src)[1]) }

// survey runs each test of a package on its own, without a change.
func (l *lab) survey(p string, count int) error {
	list := l.command(l.binary(p), "-test.list", ".")
	list.Dir = filepath.Join(l.root, p)
	said, err := list.Output()
	if err != nil {
		return fmt.Errorf("the tests of %s do not tell their names: %w", p, err)
	}
	names := make(chan string)
	var mu sync.Mutex
	var group sync.WaitGroup
	for worker := range 2 {
		group.Go(func() {
			for name := range names {
				t := l.alone(p, name, worker)
				mu.Lock()
				l.tests[p] = append(l.tests[p], t)
				if t.broken {
					fmt.Fprintf(l.out, "not used: %s of %s fails by itself\n", name, p)
				}
				mu.Unlock()
			}
		})
	}
	for name := range strings.FieldsSeq(string(said)) {
		if l.named.MatchString(name) && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz")) {
			names <- name
		}
	}
	close(names)
	group.Wait()
	l.tests[p] = slices.DeleteFunc(l.tests[p], func(t *trial) bool { return t.broken })
	slices.SortFunc(l.tests[p], func(a, b *trial) int { return cmp.Compare(a.worked, b.worked) })
	return nil
}

// alone runs one test.
func (l *lab) alone(p, name string, worker int) *trial {
	met := filepath.Join(l.dir, fmt.Sprintf("met%d", worker))
	os.Remove(met)
	t := &trial{name: name, meets: map[int]bool{}}
	start := time.Now()
	t.broken, t.worked = l.fails(p, []string{name}, limit{5 * time.Minute, 5 * time.Minute}, 0, met)
	t.took = time.Since(start)
	text, _ := os.ReadFile(met)
	for id := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(id); err == nil {
			t.meets[n] = true
		}
	}
	return t
}

// limit is what tests may take before they count as endless: of the clock, and of a
// processor, so that a busy machine is not a verdict and an endless loop ends soon.
type limit struct{ clock, work time.Duration }

// fails runs tests of a package, and reports whether one failed, and what they took of
// a processor. What exceeds the limit fails, and what wants more than 6 GB of its own: the
// files that a store maps do not count. A mutant of 0 is none; met is where to note which were met.
func (l *lab) fails(p string, names []string, most limit, mutant int, met string) (bool, time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), most.clock)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -d 6000000; ulimit -t "$1"; shift; exec "$@"`, "sh", strconv.Itoa(1+int(most.work.Seconds())), l.binary(p),
		"-test.short", "-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	c.Dir = filepath.Join(l.root, p)
	c.Env = append(overlaid(l.overlay()), "GOGC=400", "MUTANT="+strconv.Itoa(mutant), "MUTANTS_MET="+met) // a third less work: the heaps are small
	if program := l.programOf(p); regular(program) {
		c.Env = append(c.Env, "VAGLIO_BUILT="+program)
	}
	err := c.Run()
	return err != nil, c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// overlaid returns the environment in which Go builds the changed files, also where a test itself
// builds a program, such as the daemon that it starts.
func overlaid(overlay string) []string {
	return append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
}

// test tries one mutant, and says how.
func (l *lab) test(m *mutant) (outcome, string) {
	if m.id == 0 {
		return l.built(m)
	}
	tried := 0
	for _, p := range m.packages {
		var names []string
		var took, worked time.Duration
		flush := func() bool {
			if len(names) == 0 {
				return false
			}
			bad, _ := l.fails(p, names, limit{20*time.Second + 10*took, 2*time.Second + 4*worked}, m.id, "")
			names, took, worked = nil, 0, 0
			return bad
		}
		for _, t := range l.tests[p] {
			if !t.meets[m.id] {
				continue
			}
			tried++
			names, took, worked = append(names, t.name), took+t.took, worked+t.worked
			if worked > time.Second && flush() {
				return killed, ""
			}
		}
		if flush() {
			return killed, ""
		}
	}
	return survived, fmt.Sprintf("%d tests come by it", tried)
}

// built tries a mutant without a switch: it builds the packages' tests with the change.
func (l *lab) built(m *mutant) (outcome, string) {
	dir, err := os.MkdirTemp(l.dir, "mutant")
	if err != nil {
		return stillborn, ""
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	if os.WriteFile(changed, m.text, 0o600) != nil ||
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, m.file, changed), 0o600) != nil {
		return stillborn, ""
	}
	for _, p := range m.packages {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		c := exec.CommandContext(ctx, "go", "test", "-short", "-failfast", "-vet=off", p)
		c.Dir, c.Env = l.root, overlaid(overlay)
		said, err := c.CombinedOutput()
		cancel()
		switch {
		case err == nil:
		case strings.Contains(string(said), "[build failed]"), strings.Contains(string(said), "[setup failed]"):
			return stillborn, ""
		default:
			return killed, ""
		}
	}
	return survived, "built alone"
}
