package main

import (
	"bufio"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// group is a part of the list of targets that is measured separately.
type group struct {
	name    string
	targets []target
}

// target is one line of the list: files, and the packages that test them.
type target struct {
	files    []string
	packages []string
}

// mutants returns the mutants of a group, without those that no test could notice.
func (g *group) mutants(o options, same *equivalents) ([]*mutant, error) {
	var all []*mutant
	for _, t := range g.targets {
		for _, f := range t.files {
			found, err := mutantsOf(o.root, f, t.packages)
			if err != nil {
				return nil, err
			}
			all = append(all, slices.DeleteFunc(found, func(m *mutant) bool { return !o.contains(m) || same.has(m) })...)
		}
	}
	return all, nil
}

// rows calls f for each row of a list. A row that starts with # is a comment.
func rows(list string, f func(place, row string) error) error {
	file, err := os.Open(list)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		row := strings.TrimSpace(lines.Text())
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		if err := f(fmt.Sprintf("%s:%d", list, n), row); err != nil {
			return err
		}
	}
	return lines.Err()
}

// readTargets reads rows of the form `files… : packages…` under `[group]`.
func readTargets(root, list string) ([]*group, error) {
	var all []*group
	err := rows(list, func(place, row string) error {
		if name, ok := strings.CutPrefix(row, "["); ok {
			all = append(all, &group{name: strings.TrimSuffix(name, "]")})
			return nil
		}
		files, packages, ok := strings.Cut(row, ":")
		if !ok || len(all) == 0 {
			return fmt.Errorf("%s: want `files : packages` below a `[group]`", place)
		}
		t := target{packages: strings.Fields(packages)}
		for pattern := range strings.FieldsSeq(files) {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil || len(found) == 0 {
				return fmt.Errorf("%s: %s matches no file", place, pattern)
			}
			t.files = append(t.files, slices.DeleteFunc(found, isNoTarget)...)
		}
		g := all[len(all)-1]
		g.targets = append(g.targets, t)
		return nil
	})
	return all, err
}

// isNoTarget reports whether a file is a test, or Go for another system, whose lines no test here
// executes.
func isNoTarget(file string) bool {
	if filepath.Ext(file) != ".go" {
		return false
	}
	here, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file))
	return strings.HasSuffix(file, "_test.go") || err == nil && !here
}

// equivalents are changes that no test could notice, by [mutant.key], and whether each was found.
type equivalents struct {
	list string
	met  map[string]bool
}

// readEquivalent reads rows of the form `file | line's text | change | reason`.
func readEquivalent(list string) (*equivalents, error) {
	all := &equivalents{list, map[string]bool{}}
	err := rows(list, func(place, row string) error {
		parts := strings.Split(row, " | ")
		if len(parts) != 4 {
			return fmt.Errorf("%s: want `file | line | change | reason`", place)
		}
		all.met[strings.Join(parts[:3], " | ")] = false
		return nil
	})
	return all, err
}

func (e *equivalents) has(m *mutant) bool {
	_, ok := e.met[m.key]
	if ok {
		e.met[m.key] = true
	}
	return ok
}

// stale returns an error if a row is for a change that can no longer be made. It only checks if all
// files were examined.
func (e *equivalents) stale(o options) error {
	if o.only != "" || o.group != "" {
		return nil
	}
	for key, met := range e.met {
		if !met {
			return fmt.Errorf("%s: no such change can be made: %s", e.list, key)
		}
	}
	return nil
}
