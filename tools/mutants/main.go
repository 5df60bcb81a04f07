// Command mutants measures how well the tests hold what matters most: it
// changes one line at a time in files that decide about security, runs the
// tests that should notice, and prints the changes that nobody noticed.
//
// A change is laid over the file with `go test -overlay`, so that the tree is
// never touched. Which changes are tried is drawn by a fixed seed, the same
// each time for the same sources.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// target is one line of the list: files, and the packages whose tests hold them.
type target struct {
	files    []string
	packages []string
}

// outcome is what became of a mutant.
type outcome uint8

const (
	killed    outcome = iota // a test failed
	survived                 // every test passed
	stillborn                // it does not compile, so it is no mutant
)

func main() {
	root := flag.String("root", "..", "the repository's folder")
	list := flag.String("targets", "mutants/targets.txt", "the list of files and of the packages that test them")
	count := flag.Int("n", 80, "how many mutants to try")
	least := flag.Float64("least", 95, "the share of killed mutants below which the exit code is 1, in percent")
	seed := flag.Uint64("seed", 1, "draws which mutants are tried")
	only := flag.String("only", "", "try only files whose path holds this text")
	flag.Parse()
	if err := run(os.Stdout, *root, *list, *only, *count, *seed, *least); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, list, only string, count int, seed uint64, least float64) error {
	targets, err := readTargets(root, list)
	if err != nil {
		return err
	}
	var all []mutant
	for _, t := range targets {
		for _, f := range t.files {
			if !strings.Contains(f, only) {
				continue
			}
			found, err := mutantsOf(root, f, t.packages)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return errors.New("the list names no file with a line that can be changed")
	}
	r := rand.New(rand.NewPCG(seed, seed))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	dead, alive := try(out, root, all, count)
	share := 100 * float64(dead) / float64(max(dead+alive, 1))
	fmt.Fprintf(out, "%d of %d mutants killed (%.1f %%), of %d that could be made\n", dead, dead+alive, share, len(all))
	if share < least {
		return fmt.Errorf("fewer than %.0f %% were killed", least)
	}
	return nil
}

// readTargets reads lines of the form `files… : packages…`; # begins a comment.
func readTargets(root, list string) ([]target, error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []target
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		files, packages, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%s:%d: want `files : packages`", list, n)
		}
		t := target{packages: strings.Fields(packages)}
		for pattern := range strings.FieldsSeq(files) {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil || len(found) == 0 {
				return nil, fmt.Errorf("%s:%d: %s matches no file", list, n, pattern)
			}
			t.files = append(t.files, slices.DeleteFunc(found, func(f string) bool { return strings.HasSuffix(f, "_test.go") })...)
		}
		all = append(all, t)
	}
	return all, lines.Err()
}

// try runs mutants, a few side by side, until enough of them compiled.
func try(out io.Writer, root string, all []mutant, count int) (dead, alive int) {
	const workers, patience = 2, 3 * time.Minute
	var mu sync.Mutex
	next := 0
	take := func() (mutant, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= len(all) || dead+alive >= count {
			return mutant{}, false
		}
		next++
		return all[next-1], true
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for m, ok := take(); ok; m, ok = take() {
				got := m.test(root, patience)
				mu.Lock()
				switch got {
				case killed:
					dead++
				case survived:
					alive++
					fmt.Fprintf(out, "survived %s:%d: %s\n", m.file, m.line, m.what)
				case stillborn:
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return dead, alive
}

// test runs the tests of the packages that hold a mutant's file. What does not
// end in time counts as noticed.
func (m mutant) test(root string, patience time.Duration) outcome {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return stillborn
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, filepath.Base(m.file))
	overlay := filepath.Join(dir, "overlay.json")
	file, _ := filepath.Abs(m.file)
	if os.WriteFile(changed, m.text, 0o600) != nil ||
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, file, changed), 0o600) != nil {
		return stillborn
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, "go", append([]string{"test", "-short", "-vet=off", "-overlay", overlay}, m.packages...)...)
	run.Dir = root
	said, err := run.CombinedOutput()
	switch {
	case err == nil:
		return survived
	case strings.Contains(string(said), "[build failed]"), strings.Contains(string(said), "[setup failed]"):
		return stillborn
	default:
		return killed
	}
}
