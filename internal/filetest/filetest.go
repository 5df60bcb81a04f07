// Package filetest helps tests that keep files in memory: it lists their folders.
package filetest

import (
	"maps"
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
