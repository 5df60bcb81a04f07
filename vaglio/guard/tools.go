package guard

import "strings"

// carriedPrograms are the names that an unknown wrapper's words are searched
// for.
func carriedPrograms() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("rm shred dd mkfs chmod chown find sh bash zsh dash ksh python python3 perl ruby node vaglio " +
		"wipefs blkdiscard mke2fs mv rsync sudo env truncate tee") {
		names[name] = true
	}
	return names
}
