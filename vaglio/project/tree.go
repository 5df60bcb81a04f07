package project

import (
	"regexp"

	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/shell"
)

// decode is [settings.Decode]. If a file is too large or expands too much, it is not known what it runs.
func (v *visit) decode(file, text string, into any) bool {
	ok, over := settings.Decode(file, text, into)
	if over {
		v.over(file, 1)
	}
	return ok
}

// comment matches a comment of JSON with comments.
var comment = regexp.MustCompile(`(?m)(^|[,{}\[\]\s])//.*$|/\*[^*]*\*/`)

// errUnparsed says why it is not known what a file of tasks has a tool run: the tool may read it all the same.
var errUnparsed = &shell.ClosedError{Why: "%s cannot be parsed"}

// parsed is [visit.decode] for a file of tasks that are asked for. JSON is YAML, but for its comments.
func (v *visit) parsed(file, text string, into any) bool {
	if v.decode(file, text, into) || v.decode(file, comment.ReplaceAllString(text, "$1"), into) {
		return true
	}
	if !v.among && v.once("unparsed "+file) {
		v.shut(file, 1, errUnparsed)
	}
	return false
}

// Manifests returns the names of the files that say which programs installing a project makes.
func Manifests() []string { return []string{"pyproject.toml", "package.json"} }

// manifests has these read for a program that may be what installing the project makes.
func (r *Reader) manifests(c *shell.TaskCall, rows []row) {
	for _, name := range Manifests() {
		if rows == nil && !r.base.Known(c.Name) {
			_, _ = c.Files.Content(joined(c.Cwd, name))
		}
	}
}

// Declares reports whether installing the project that a file is about makes a program of this name.
func Declares(file, text, name string) bool {
	var is struct {
		Name    string
		Bin     any
		Project struct{ Scripts map[string]any }
		Tool    struct {
			Poetry struct{ Scripts map[string]any }
		}
	}
	_, _ = settings.Decode(file, text, &is) // what cannot be decoded declares nothing
	bins, _ := is.Bin.(map[string]any)
	_, one := is.Bin.(string)
	return one && is.Name == name || bins[name] != nil || is.Project.Scripts[name] != nil || is.Tool.Poetry.Scripts[name] != nil
}
