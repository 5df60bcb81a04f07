package install

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Found is a client's settings file that runs vaglio's hook.
type Found struct {
	// Client is the client's name, File the settings.
	Client, File string
	// Programs are the executables that the file runs as the hook, as written.
	Programs []string
	// Off says that the file turns the client's hooks off.
	Off bool
}

// maxSettings bounds a client's settings file, in bytes.
const maxSettings = 4 << 20

// Find returns the settings of all clients that run the hook in every session of
// the user with that home. Nothing but regular files is read.
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

// everywhere are the places of the file that hold for all of a user's sessions.
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

// found reads a settings file and says how it runs the hook; false says that it
// does not.
func (f *file) found(client, path string, text []byte) (Found, bool) {
	found := Found{Client: client, File: path}
	for _, off := range f.off {
		found.Off = found.Off || off.Match(text)
	}
	var doc any
	if plain, err := hujson.Standardize(slices.Clone(text)); err == nil && strictjson.UnmarshalLoose(plain, &doc) == nil {
		found.commands(doc, 0)
	} else {
		found.words(string(text))
	}
	slices.Sort(found.Programs)
	found.Programs = slices.Compact(found.Programs)
	return found, len(found.Programs) > 0
}

// commands looks for commands that run the hook, as a line or with the words
// beside it.
func (f *Found) commands(v any, depth int) {
	const deepest = 32
	if depth > deepest {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			f.commands(e, depth+1)
		}
	case map[string]any:
		for _, key := range []string{"command", "bash"} {
			if line, ok := v[key].(string); ok {
				f.program(line + wordsOf(v["args"]))
			}
		}
		for _, e := range v {
			f.commands(e, depth+1)
		}
	}
}

// wordsOf are a list's texts as the rest of a line.
func wordsOf(list any) string {
	words, _ := list.([]any)
	var b strings.Builder
	for _, w := range words {
		if s, ok := w.(string); ok {
			b.WriteString(" " + s)
		}
	}
	return b.String()
}

// program takes in the executable of a command that is `vaglio hook CLIENT` or
// `vaglio-hook CLIENT`.
func (f *Found) program(line string) {
	name, _, ok := strings.Cut(line, " hook "+f.Client)
	if !ok {
		name, _, ok = strings.Cut(line, " "+f.Client)
		ok = ok && filepath.Base(strings.Trim(name, `"'`)) == "vaglio-hook"
	}
	if ok {
		f.Programs = append(f.Programs, strings.Trim(name, `"'`))
	}
}

// words takes in the executables that a script or another text names.
func (f *Found) words(text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`[](),;", r) }) {
		if base := filepath.Base(word); filepath.IsAbs(word) && (base == "vaglio" || base == "vaglio-hook") {
			f.Programs = append(f.Programs, word)
		}
	}
}
