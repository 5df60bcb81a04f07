// Package imports finds the files of its own project that a program imports.
package imports

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Finder finds the imports of one language. It is safe for concurrent use.
type Finder struct {
	statement *regexp.Regexp
	ends      []string
	// parts separates the folders in a module name, of which one statement may list several,
	// separated by commas; "" if imports are paths. A second group of the statement is a path from the file's folder.
	parts string
	// settings is the file that may name what a folder stands for.
	settings string
	// Variable is the environment variable with further folders to search for imports. Only
	// paths that begin with a dot are certainly not searched there.
	Variable string
}

// most is the maximum number of imports found in one program.
const most = 200

// Finders returns the finders by language.
func Finders() map[string]*Finder {
	return map[string]*Finder{
		"python": {
			statement: regexp.MustCompile(`(?m)(?:(?:^|;)[ \t]*(?:import|from)[ \t]+|\b(?:import_module|__import__|run_module)\([ \t]*["'])(\.*\w[\w., \t]*|\.+[ \t]+import[ \t]+\w[\w, \t]*)`),
			ends:      []string{".py", "/__init__.py"},
			parts:     ".",
			Variable:  "PYTHONPATH",
		},
		"node": {
			statement: regexp.MustCompile(`(?:\brequire|\bimport|\bfrom)\s*\(?\s*["']([^"'\n]+)["']|"(?:main|module|exports|import|require|default|node|\.)"\s*:\s*"([^"\n]+)"`),
			ends:      []string{"", ".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts"},
			Variable:  "NODE_PATH",
			settings:  "package.json",
		},
		"perl": {
			statement: regexp.MustCompile(`(?m)(?:^|[;{}])\s*(?:use|require|do)\s+["']?([\w./][\w./:-]*)`),
			ends:      []string{".pm", ""},
			parts:     "::",
			Variable:  "PERL5LIB",
		},
		"php": {
			statement: regexp.MustCompile(`\b(?:include|require)(?:_once)?\b[^;"'\n]*["']([^"'\n]+)["']`),
			ends:      []string{""},
		},
		"ruby": {
			statement: regexp.MustCompile(`(?m)(?:^|;)\s*(?:require|load|require_relative|autoload\s*\(?\s*:\w+\s*,)\s*\(?\s*["']([^"'\n]+)["']`),
			ends:      []string{"", ".rb"},
			Variable:  "RUBYLIB",
		},
		"octave": { // any name may be that of a file
			statement: regexp.MustCompile(`\b([a-zA-Z]\w*)\b`),
			ends:      []string{".m"},
		},
		"lua": {
			statement: regexp.MustCompile(`\brequire\b\s*\(?\s*["']([^"'\n]+)["']`),
			ends:      []string{".lua", "/init.lua"},
			parts:     ".",
		},
	}
}

// In returns, for each import of a program and each folder it may be in, the files that it may mean
// there, the likeliest first. The folders are the program's own and those in search.
func (f *Finder) In(dir string, search []string, text string) (all [][]string) {
	for _, name := range f.Names(text) {
		all = append(all, f.Files(dir, search, name)...)
	}
	return all
}

// rerouted reports whether a program may look for its imports in further folders.
func rerouted(text string) bool {
	return slices.ContainsFunc([]string{"sys.path", "$LOAD_PATH", "$:", "@INC", "use lib", "package.path"}, func(s string) bool { return strings.Contains(text, s) })
}

// Alike returns which of some files a program may import by a name that settings lead elsewhere, as those of @lib/x and #x do, or, if the program
// itself or an archive among the folders in search leads them elsewhere, by any: files that end as the name does.
func (f *Finder) Alike(search, files []string, text string) (all [][]string) {
	elsewhere := rerouted(text) || slices.ContainsFunc(search, func(at string) bool { return path.Ext(at) != "" })
	for _, name := range f.Names(text) {
		if !strings.ContainsAny(name[:1], "@#~$") && (!elsewhere || strings.HasPrefix(name, ".")) {
			continue
		}
		ends := f.ends
		for _, file := range files {
			if name[0] == '#' { // settings may give it any
				ends = append(slices.Clip(f.ends), path.Ext(file))
			}
			means := func(end string) bool { return strings.HasSuffix(file, "/"+strings.Trim(path.Base(name), "@#~$")+end) }
			if slices.ContainsFunc(ends, means) {
				all = append(all, []string{file})
			}
		}
	}
	return all
}

// Names returns what a program imports in so many words, each once.
func (f *Finder) Names(text string) (names []string) {
	for _, m := range f.statement.FindAllStringSubmatch(text, most) {
		if m[1] == "" {
			m[1] = "./" + m[2]
		}
		names = append(names, f.modules(m[1])...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Files returns, for each folder that a module may be in, the files that it may mean there.
func (f *Finder) Files(dir string, search []string, name string) (all [][]string) {
	for _, folder := range f.folders(dir, search, name) {
		var files []string
		for _, end := range f.ends {
			files = append(files, path.Join(folder, name+end))
		}
		if all = append(all, files); f.settings != "" && path.Ext(name) == "" {
			all = append(all, []string{path.Join(folder, name, f.settings)})
		}
	}
	return all
}

// modules returns the paths of the modules that a statement names. For Python's "a import b, c",
// they are those of a and of b and c below it.
func (f *Finder) modules(statement string) (names []string) {
	if f.parts == "" {
		return []string{statement}
	}
	module := ""
	for i, name := range strings.Split(statement, ",") {
		words := strings.Fields(name)
		if i == 0 && len(words) > 2 && words[1] == "import" {
			module = words[0] + f.parts
			names, words = append(names, words[0]), words[2:]
		}
		if len(words) > 0 {
			names = append(names, module+words[0])
		}
	}
	for i, name := range names {
		names[i] = strings.ReplaceAll(strings.Trim(name, "."), f.parts, "/")
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// folders returns the folders in which to look for a name.
func (f *Finder) folders(dir string, search []string, name string) []string {
	switch {
	case strings.HasPrefix(name, "."):
		return []string{dir}
	case strings.HasPrefix(name, "/") && f.Variable != "":
		return []string{"/"}
	case strings.HasPrefix(name, "/"): // behind __DIR__, php's are below a folder
		return []string{dir, "/"}
	case f.Variable == "NODE_PATH":
		return search
	}
	return append(slices.Clip(search), dir)
}
