// Package imports finds the files of its own project that a program takes in.
package imports

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Finder finds the imports of one language. It may be used by many at a time.
type Finder struct {
	statement *regexp.Regexp
	ends      []string
	// paths says that an import is a path, not a dotted name, which may be one of
	// several with commas between.
	paths bool
}

// most bounds how many imports of one program are found.
const most = 200

// Finders returns the finders of all languages, by language.
func Finders() map[string]*Finder {
	return map[string]*Finder{
		"python": {
			statement: regexp.MustCompile(`(?m)(?:^|;)[ \t]*(?:import|from)[ \t]+(\.*\w[\w., \t]*)`),
			ends:      []string{".py", "/__init__.py"},
		},
		"node": {
			statement: regexp.MustCompile(`(?:\brequire|\bimport|\bfrom)\s*\(?\s*["'](\.{1,2}/[^"'\n]+)["']`),
			ends:      []string{"", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts"},
			paths:     true,
		},
	}
}

// In returns for each import of a program the files that it may mean, the
// likeliest first, below the program's folder.
func (f *Finder) In(dir, text string) [][]string {
	var names []string
	for _, m := range f.statement.FindAllStringSubmatch(text, most) {
		if f.paths {
			names = append(names, m[1])
			continue
		}
		for name := range strings.SplitSeq(m[1], ",") {
			if words := strings.Fields(name); len(words) > 0 {
				names = append(names, strings.ReplaceAll(strings.TrimLeft(words[0], "."), ".", "/"))
			}
		}
	}
	slices.Sort(names)
	var all [][]string
	for _, name := range slices.Compact(names) {
		var files []string
		for _, end := range f.ends {
			files = append(files, path.Join(dir, name+end))
		}
		all = append(all, files)
	}
	return all
}
