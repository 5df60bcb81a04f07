// Package filetest helps tests that keep files in memory, or start programs that read files.
package filetest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
)

// List lists a folder of files that are stored by path, as [vaglio.Files] does.
func List[T any](files map[string]T, folder string, most int) ([]vaglio.Entry, bool) {
	in := map[string]vaglio.FileKind{}
	for file := range files {
		if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/"); ok && rest != "" {
			first, _, deep := strings.Cut(rest, "/")
			if in[first] = vaglio.RegularFile; deep {
				in[first] = vaglio.Folder
			}
		}
	}
	var out []vaglio.Entry
	for _, name := range slices.Sorted(maps.Keys(in)) {
		out = append(out, vaglio.Entry{Name: name, Kind: in[name]})
	}
	return out[:min(len(out), most)], len(out) <= most
}

// Uses tells Go what the programs that a package's tests start read: files, and folders with all
// below them. Go takes the result of unchanged tests from its cache, and by itself notes only what
// the tests' own process opens.
func Uses(paths ...string) error {
	for _, path := range paths {
		if err := filepath.WalkDir(path, func(file string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			_, err = os.Stat(file)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
