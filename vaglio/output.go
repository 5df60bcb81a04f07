package vaglio

import (
	"path"
	"regexp"
	"strings"
)

// outputs are the files in which a project says which folders its builds fill: git ignores one, or a
// task makes it. %s is the folder's name.
var outputs = map[string]string{
	".gitignore": `(?m)^/?(?:\*\*/)?%s/?[ \t\r]*$`,
	"Makefile":   outputOfTask, "GNUmakefile": outputOfTask, "makefile": outputOfTask, "justfile": outputOfTask, "Taskfile.yml": outputOfTask,
}

// outputOfTask matches a folder that something is written into, made or removed, also by a variable with
// such a name.
const outputOfTask = `(?m)(?:\s(?:-o|--out|--output|--outdir|--out-dir|--dest|mkdir -p|rm -rf?)[ =]+|` +
	`^\s*(?:BIN|OUT|DIST)\w*\s*[:?]?=\s*|^)(?:\./|\$\(CURDIR\)/)?%s(?:/[^:\s]*)?\s*(?:[:;&]|\s-|\s\.|$)`

// isOutput reports whether the project's own files call a folder the output of its builds: those that
// lie beside it. What the session put there itself counts for nothing.
func (e *Engine) isOutput(p *Proposal, folder string) bool {
	beside, name := path.Dir(folder), regexp.QuoteMeta(path.Base(folder))
	other := regexp.MustCompile(`(?m)^!.*` + name + `|(?:^|[^\w-])` + name + `/`) // kept, or a source
	for file, says := range outputs {
		at := path.Join(beside, file)
		if p.Facts.Touched(at) || p.Facts.Has(Brought) {
			continue
		}
		data, err := e.files.Read(p.Context.Site.Readable, at, maxSource)
		made := regexp.MustCompile(strings.ReplaceAll(says, "%s", name))
		if err == nil && made.Match(data) && !other.Match(made.ReplaceAll(data, nil)) {
			return true
		}
	}
	return false
}
