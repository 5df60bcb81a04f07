// Command mutants measures how well the tests cover what matters most: it changes one line at a
// time in files that decide about security, runs the tests that should notice, and prints the
// changes that no test noticed.
//
// Most changes are built into the tests at once, each behind a switch that the environment turns on,
// so that one build serves them all and a change is only tried with the tests that execute it. The
// rest are built one by one. Everything is laid over the files with `-overlay`, so that the tree is
// never touched. A seed selects the changes, the same ones each time for the same sources.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// options are the flags of the command line.
type options struct {
	root, targets, equivalent string
	group, only               string
	tests                     *regexp.Regexp
	count                     int
	least                     float64
	seed                      uint64
}

// outcome is the result of trying a mutant.
type outcome uint8

const (
	killed    outcome = iota // a test failed
	survived                 // every test passed
	stillborn                // it does not compile, so it does not count
)

func main() {
	var o options
	flag.StringVar(&o.root, "root", "..", "the repository's folder")
	flag.StringVar(&o.targets, "targets", "mutants/targets.txt", "the list of files and of the packages that test them")
	flag.StringVar(&o.equivalent, "equivalent", "mutants/equivalent.txt", "the list of changes that no test could notice")
	flag.StringVar(&o.group, "group", "", "try one group of the list alone")
	flag.StringVar(&o.only, "only", "", "try only changes whose file:line: holds one of these texts, separated by commas")
	flag.IntVar(&o.count, "n", 80, "how many mutants to try of each group")
	flag.Float64Var(&o.least, "least", 95, "the share of killed mutants of a group below which the exit code is 1, in percent")
	flag.Uint64Var(&o.seed, "seed", 1, "draws which mutants are tried")
	tests := flag.String("tests", "", "use only tests whose name matches: the share that they kill is a lower bound")
	flag.Parse()
	o.tests = regexp.MustCompile(*tests)
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, o options) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	o.root = root
	groups, err := readTargets(o.root, o.targets)
	if err != nil {
		return err
	}
	same, err := readEquivalent(o.equivalent)
	if err != nil {
		return err
	}
	var found bool
	var failed []error
	for _, g := range groups {
		if o.group != "" && o.group != g.name {
			continue
		}
		all, err := g.mutants(o, same)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			continue
		}
		found = true
		if err := measure(out, o, g.name, all); err != nil {
			failed = append(failed, err)
		}
	}
	if !found {
		return errors.New("the list names no file with a line that can be changed")
	}
	return errors.Join(append(failed, same.stale(o))...)
}

// measure tries some of a group's mutants, and prints the share that was killed.
func measure(out io.Writer, o options, name string, all []*mutant) error {
	r := rand.New(rand.NewPCG(o.seed, o.seed))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	l, err := newLab(out, o, all)
	if err != nil {
		return err
	}
	defer l.close()
	rooms := try(out, l, all, o.count)
	dead, tried := 0, 0
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		t := rooms[room]
		dead, tried = dead+t.dead, tried+t.tried
		fmt.Fprintf(out, "%s: %d of %d\n", room, t.dead, t.tried)
	}
	share := 100 * float64(dead) / float64(max(tried, 1))
	fmt.Fprintf(out, "%s: %d of %d mutants killed (%.1f %%), of %d that could be made\n", name, dead, tried, share, len(all))
	if share < o.least {
		return fmt.Errorf("%s: fewer than %.0f %% were killed", name, o.least)
	}
	return nil
}

// tally is how many mutants of a folder compiled, and how many of them were killed.
type tally struct{ dead, tried int }

// try runs mutants, a few in parallel, until enough of them have compiled. It returns what came of
// them by folder.
func try(out io.Writer, l *lab, all []*mutant, count int) map[string]tally {
	const workers = 2
	var mu sync.Mutex
	rooms, dead, tried, next := map[string]tally{}, 0, 0, 0
	take := func() (*mutant, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= len(all) || tried >= count {
			return nil, false
		}
		next++
		return all[next-1], true
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for m, ok := take(); ok; m, ok = take() {
				got, by := l.test(m)
				if got == stillborn {
					continue
				}
				mu.Lock()
				room := path.Dir(m.place)
				t := rooms[room]
				tried, t.tried = tried+1, t.tried+1
				if got == killed {
					dead, t.dead = dead+1, t.dead+1
				} else {
					fmt.Fprintf(out, "survived %s%d: %s (%s)\n", m.place, m.column, m.what, by)
				}
				rooms[room] = t
				if tried%25 == 0 { // what a run that is stopped has found out
					fmt.Fprintf(out, "so far %d of %d mutants killed\n", dead, tried)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return rooms
}

// contains reports whether a mutant should be tried.
func (o options) contains(m *mutant) bool {
	return slices.ContainsFunc(strings.Split(o.only, ","), func(part string) bool { return strings.Contains(m.place, part) })
}
