package install

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Found is a client's settings file that runs vaglio's hook.
type Found struct {
	// Client is the client's name, File the path of the settings.
	Client, File string
	// Programs are the executables that the file runs as the hook, as written.
	Programs []string
	// Off says that the file turns off the client's hooks.
	Off bool
}

// maxSettings is the maximum size of a settings file, in bytes. Claude Code's own file, in
// which it records its work in every project, grows to several MiB.
const maxSettings = 32 << 20

// Find returns the settings files, of all clients, that run the hook in every session of the
// user with the given home folder. It reads only regular files.
func Find(home string) []Found {
	var all []Found
	for client, t := range targets() {
		for i := range t.files {
			for _, path := range t.files[i].everywhere(home) {
				text, whole, err := regular.Read(path, maxSettings)
				if err != nil || !whole {
					continue
				}
				if f, ok := t.files[i].found(client, path, text); ok {
					all = append(all, f)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Found) int { return strings.Compare(a.File, b.File) })
	return all
}

// Settings returns the files that could disable the hook in clients that have it: all files
// that these clients read, whether they exist or not, and the names of the files that count in a
// project besides the user's. Project files that hold only hooks are included for every client.
func Settings(home string) (files, local []string) {
	installed := Find(home)
	for client, t := range targets() {
		has := slices.ContainsFunc(installed, func(f Found) bool { return f.Client == client })
		for i := range t.files {
			f := &t.files[i]
			if has {
				files = append(files, f.everywhere(home)...)
			}
			for _, name := range append([]string{f.project}, f.also...) {
				if name != "" && !filepath.IsAbs(name) && (has || f.holdsHooksAlone(name)) {
					local = append(local, name)
				}
			}
		}
	}
	slices.Sort(files)
	slices.Sort(local)
	return files, local
}

// holdsHooksAlone reports whether the file can hold nothing but hooks, or is ours. Find does not
// see a client whose hook is installed in a project alone, so such files always count.
func (f *file) holdsHooksAlone(name string) bool {
	_, ours := f.form.(whole)
	return ours || strings.Contains(name, "hooks")
}

// everywhere returns the paths of the file that apply to all of a user's sessions.
func (f *file) everywhere(home string) []string {
	var all []string
	for _, path := range append([]string{f.user, f.managed}, f.also...) {
		switch {
		case path == "":
		case filepath.IsAbs(path):
			all = append(all, path)
		default:
			all = append(all, filepath.Join(home, path))
		}
	}
	return all
}

// found parses a settings file. It returns false if the file does not run the hook.
func (f *file) found(client, path string, text []byte) (Found, bool) {
	found := Found{Client: client, File: path}
	for name, off := range f.off {
		found.Off = found.Off || name != othersOff && off.Match(text)
	}
	var doc any
	if plain, err := hujson.Standardize(slices.Clone(text)); err == nil && strictjson.UnmarshalLoose(plain, &doc) == nil {
		found.Programs = hooksIn(doc, 0)
	} else {
		found.Programs = hooksInText(string(text))
	}
	slices.Sort(found.Programs)
	found.Programs = slices.Compact(found.Programs)
	return found, len(found.Programs) > 0
}

// hooksIn returns the programs of the hooks in a document. A command is a line for a shell, or
// a program with a list of arguments beside it.
func hooksIn(v any, depth int) (programs []string) {
	const deepest = 32
	if depth > deepest {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			programs = append(programs, hooksIn(e, depth+1)...)
		}
	case map[string]any:
		command, _ := v["command"].(string)
		if args, ok := v["args"].([]any); ok {
			words := []string{command}
			for _, w := range args {
				word, _ := w.(string)
				words = append(words, word)
			}
			programs = hooksAmong(words)
		} else {
			bash, _ := v["bash"].(string)
			programs = append(hooksOf(command), hooksOf(bash)...)
		}
		for _, e := range v {
			programs = append(programs, hooksIn(e, depth+1)...)
		}
	}
	return programs
}

// hooksInText returns the programs of the hooks that a script, a plugin or a YAML file runs with
// an absolute path. It reads the text as lines of a shell and as words between punctuation.
func hooksInText(text string) (programs []string) {
	for line := range strings.Lines(text) {
		programs = append(programs, hooksOf(line)...)
	}
	between := strings.NewReplacer(`"`, " ", "'", " ", "`", " ", "[", " ", "]", " ", ",", " ", "(", " ", ")", " ", ";", " ").Replace(text)
	programs = append(programs, hooksOf(between)...)
	return slices.DeleteFunc(programs, func(p string) bool { return !filepath.IsAbs(p) })
}

// lineWord matches a word of a simple command line, with quotes as a shell reads them.
var lineWord = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)

// hooksOf returns the programs of the hooks that a command line runs.
func hooksOf(line string) []string {
	words := lineWord.FindAllString(line, -1)
	for i := range words {
		words[i] = strings.Trim(words[i], `"'`)
	}
	return hooksAmong(words)
}

// hooksAmong returns the programs of each `vaglio hook` and `vaglio-hook CLIENT` among words.
func hooksAmong(words []string) (programs []string) {
	for i, w := range words[:max(0, len(words)-1)] {
		base, next := filepath.Base(w), words[i+1]
		if base == "vaglio-hook" && next != "" || base == "vaglio" && next == "hook" {
			programs = append(programs, w)
		}
	}
	return programs
}
