package place

import (
	"iter"
	"strings"
)

// maxPath is the longest path that a kernel takes, in bytes.
const maxPath = 4096

// IsMeant reports whether a text can only be meant as a path.
func IsMeant(s string) bool {
	if s == "" {
		return false
	}
	return s[0] == '/' && !strings.HasPrefix(s, "//") || s[0] == '~' || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		s[0] == '.' && strings.Contains(s, "/") || strings.HasPrefix(s, "file:/")
}

// InWord yields what a word of a command may name: the word itself, what follows an equal sign, an at sign, a colon or a comma in it, or what follows an
// option's letter. It yields "" for a part that is no name: none follows words of a sentence, such as the name of a test.
func InWord(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if word == "" || strings.HasPrefix(word, "--exclude") || strings.HasPrefix(word, "--ignore") || strings.HasPrefix(word, "--include") ||
			!yield(whole(word)) {
			return
		}
		spaced := false
		for i := range len(word) - 1 {
			if strings.IndexByte("=@:,", word[i]) < 0 {
				spaced = spaced || word[i] == ' '
				continue
			}
			part := partAt(word, i+1)
			if spaced || !IsMeant(part) {
				part = ""
			}
			spaced = false
			if !yield(part) {
				return
			}
		}
	}
}

// partAt returns the part of a word that begins at a byte, up to the next separator of a list.
func partAt(word string, i int) string {
	part := strings.TrimLeft(word[i:min(len(word), i+maxPath)], "@<")
	if end := strings.IndexAny(part, ";,:"); end > 0 && part[0] != 'f' {
		return part[:end]
	}
	return part
}

// whole returns what a word names as a whole: itself, or what follows an option's letter; "" if nothing.
func whole(word string) string {
	const letter = len("-o")
	switch {
	case word[0] != '-':
		return word
	case len(word) > letter && word[1] != '-' && strings.IndexByte("/~@", word[letter]) >= 0:
		return strings.TrimPrefix(word[letter:], "@")
	default:
		return ""
	}
}
