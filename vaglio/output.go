package vaglio

import (
	"path"
	"regexp"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
)

// outputs are the files in which a project says which folders its builds fill: git ignores one, or a
// task makes it. %s is the folder's name.
//
//nolint:gochecknoglobals // Only looked at.
var outputs = map[string]string{
	".gitignore": `(?m)^/?(?:\*\*/)?%s/?[ \t\r]*$`,
	"Makefile":   outputOfTask, "GNUmakefile": outputOfTask, "makefile": outputOfTask, "justfile": outputOfTask, "Taskfile.yml": outputOfTask,
}

// outputOfTask matches a folder that something is written into, made or removed, also by a variable with
// such a name.
const outputOfTask = `(?m)(?:\s(?:-o|--out|--output|--outdir|--out-dir|--dest|mkdir -p|rm -rf?)[ =]+|` +
	`^\s*(?:BIN|OUT|DIST)\w*\s*[:?]?=\s*|^)(?:\./|\$\(CURDIR\)/)?%s(?:/[^:\s]*)?\s*(?:[:;&]|\s-|\s\.|$)`

// isOutput reports whether the project's own files call a folder the output of its builds: those that
// lie beside it, and what git ignores by that name in all folders below. What the session put there
// itself counts for nothing.
func (e *Engine) isOutput(p *Proposal, folder string) bool {
	beside, name := path.Dir(folder), regexp.QuoteMeta(path.Base(folder))
	for file, says := range outputs {
		if e.saysOutput(p, path.Join(beside, file), name, says) {
			return true
		}
	}
	for at := path.Dir(beside); place.Inside(p.Context.Site.Workspaces, at); at = path.Dir(at) {
		if e.saysOutput(p, path.Join(at, ".gitignore"), name, strings.Replace(outputs[".gitignore"], "/?", "", 1)) {
			return true
		}
	}
	return false
}

// saysOutput reports whether a file calls a folder an output, and nothing in it a source.
func (e *Engine) saysOutput(p *Proposal, file, name, says string) bool {
	if p.Facts.Touched(file) || p.Facts.Has(Brought) {
		return false
	}
	data, err := e.files.Read(p.Context.Site.Readable, file, maxSource)
	if err != nil {
		return false
	}
	made := regexp.MustCompile(strings.ReplaceAll(says, "%s", name))
	other := regexp.MustCompile(`(?m)^!.*` + name + `|(?:^|[^\w-])` + name + `/`) // kept, or a source
	return made.Match(data) && !other.Match(made.ReplaceAll(data, nil))
}
