package visible

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed" // the names are data
	"sort"
	"strconv"
	"strings"
	"sync"
)

//go:generate sh -c "go -C ../../tools run ./runenames > names.txt.gz"

//go:embed names.txt.gz
var packedNames []byte

// unicodeNames are Unicode's names of characters. They are unpacked when a note first needs
// one: most texts need no notes.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var unicodeNames = sync.OnceValue(func() names { return readNames(packedNames) })

// nameOf returns Unicode's name of a character, such as "CYRILLIC SMALL LETTER A", a label
// in <> for a character without a name of its own, or "".
func nameOf(c rune) string {
	all := unicodeNames()
	i := sort.Search(len(all), func(i int) bool { return all[i].first > c }) - 1
	if i < 0 || c > all[i].last {
		return ""
	}
	return all[i].name
}

// names is sorted by character.
type names []span

// span is a run of characters that share a name.
type span struct {
	first, last rune
	name        string
}

// readNames reads what tools/runenames wrote. If it cannot be read, which a test would
// notice, it yields no names.
func readNames(packed []byte) (all names) {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	next := rune(0)
	for lines := bufio.NewScanner(unpacked); lines.Scan(); {
		name := lines.Text()
		if at, ok := strings.CutPrefix(name, "@"); ok {
			next = number(at, 16)
			continue
		}
		name, count, many := strings.Cut(name, "*")
		last := next
		if many {
			last += number(count, 10) - 1
		}
		all = append(all, span{next, last, name})
		next = last + 1
	}
	return all
}

func number(s string, base int) rune {
	n, err := strconv.ParseInt(s, base, 32)
	if err != nil {
		return 0
	}
	return rune(n)
}
