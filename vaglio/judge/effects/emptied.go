package effects

import (
	"path"
	"strings"
)

// empties reports whether the shell opens the i-th written file only to empty
// it: the command has nothing to say.
func (v *invocation) empties(i int) bool {
	switch {
	case v.appends[i] || v.call != nil:
		return false
	case v.path == "" || v.name == ":" || v.name == "true":
		return true
	}
	return v.name == "cat" && len(v.args) == 1 && v.args[0].text == "/dev/null" || (v.name == "echo" || v.name == "printf") && len(v.args) == 1 && (v.args[0].text == "-n" || v.args[0].known && v.args[0].text == "")
}

// empty is the effect of emptying a file.
func (r *reading) empty(v *invocation, a arg) []Effect {
	if v.box != "" || scratchFile(a.text) {
		return r.write(v, a, "writes")
	}
	out := r.remove(v, a)
	for i := range out {
		out[i].Why = strings.Replace(out[i].Why, "deletes ", "empties ", 1)
	}
	return out
}

// scratchFile reports whether a file by its name is made to be overwritten.
func scratchFile(s string) bool {
	base := strings.ToLower(path.Base(s))
	switch path.Ext(base) {
	case ".img", ".iso", ".bin", ".raw", ".dat", ".tmp", ".log", ".out", ".txt", ".swap", "":
		return true
	}
	return strings.HasPrefix(base, "test") || strings.HasPrefix(base, "tmp") || strings.HasPrefix(base, "temp") || strings.HasPrefix(base, "random") || strings.HasPrefix(base, "dummy") || strings.HasPrefix(base, "fill") || strings.HasPrefix(base, "sample") || strings.HasPrefix(base, "zero") || strings.HasPrefix(base, "big")
}
