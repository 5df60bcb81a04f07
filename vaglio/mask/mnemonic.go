package mask

import (
	"crypto/sha256"
	_ "embed" // The table.
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

//go:embed mnemonic.txt
var mnemonicText string

// mnemonicWords returns the words of mnemonics, each with its number.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var mnemonicWords = sync.OnceValue(func() map[string]int64 {
	all := map[string]int64{}
	for _, line := range rows.Of(mnemonicText) {
		for word := range strings.FieldsSeq(line) {
			all[word] = int64(len(all))
		}
	}
	return all
})

// The numbers of words in a mnemonic, and the length of a word in bytes.
const (
	leastWords, mostWords       = 12, 24
	shortestWord, longestWord   = 3, 8
	mostMnemonic, mostBetween   = 100, 6 // words in a row that are looked at; bytes between two
	mnemonicStep, bitsOfNumeral = 3, 11
)

// mnemonic finds a seed written as words, among those in a row that begin at sc.at. Its last bits check
// the others, so a dozen words of prose are none. What stands between the words may be a number or a sign.
func (sc *scanner) mnemonic() (from, to int) {
	if sc.at < sc.phraseEnd {
		return 0, 0
	}
	n := 0
	for w := range mnemonicAt(sc.text, sc.at) {
		n++
		sc.phraseEnd = w.to
	}
	if n < leastWords {
		return 0, 0
	}
	words, numbers := make([]extent, 0, n), make([]int64, 0, n)
	for w, number := range mnemonicAt(sc.text, sc.at) {
		words, numbers = append(words, w), append(numbers, number)
	}
	for _, w := range asPhrases(sc.text, secretOf(words, numbers)) {
		if w.from == sc.at {
			from, to = w.from, w.to
		} else {
			sc.holdPlace(w.from, w.to)
		}
	}
	return from, to
}

// mnemonicAt yields the words in a row that begin at a place, with their numbers.
func mnemonicAt(text string, at int) iter.Seq2[extent, int64] {
	return func(yield func(extent, int64) bool) {
		for range mostMnemonic {
			end := at + span(text[at:min(len(text), at+longestWord+1)], isLetter)
			if end-at < shortestWord || end-at > longestWord {
				return
			}
			number, is := mnemonicWords()[strings.ToLower(text[at:end])]
			if !is || !yield(extent{at, end}, number) {
				return
			}
			between := span(text[end:min(len(text), end+mostBetween+1)], func(c byte) bool { return !isLetter(c) && c < 0x80 })
			if between == 0 || between > mostBetween {
				return
			}
			at = end + between
		}
	}
}

// asPhrases returns words, of which those between which only blanks stand are one.
func asPhrases(text string, words []extent) (all []extent) {
	for _, w := range words {
		if n := len(all); n > 0 && strings.Trim(text[all[n-1].to:w.from], " ") == "" {
			all[n-1].to = w.to
		} else {
			all = append(all, w)
		}
	}
	return all
}

// secretOf returns those of the words in a row that are part of a mnemonic. By chance, one of sixteen rows
// of twelve words is one; the true one is always among them.
func secretOf(words []extent, numbers []int64) (all []extent) {
	end := 0
	for from := range numbers {
		for n := leastWords; n <= mostWords && from+n <= len(numbers); n += mnemonicStep {
			if checks(numbers[from : from+n]) {
				end = max(end, from+n)
			}
		}
		if from < end {
			all = append(all, words[from])
		}
	}
	return all
}

// checks reports whether the last bits of a mnemonic are the first ones of its seed's digest. Words that
// repeat were not drawn.
func checks(numbers []int64) bool {
	var all [(mostWords*bitsOfNumeral + 7) / 8]byte // the words' bits, and behind them zeros
	for i, n := range numbers {
		at := i * bitsOfNumeral
		var three [4]byte
		binary.BigEndian.PutUint32(three[:], uint32(n)<<(32-bitsOfNumeral-at%8)) //nolint:gosec // There are 2,048 words.
		for k, b := range three[:min(3, len(all)-at/8)] {
			all[at/8+k] |= b
		}
	}
	check, size := len(numbers)/mnemonicStep, len(numbers)/mnemonicStep*4
	digest := sha256.Sum256(all[:size])
	return digest[0]>>(8-check) == all[size]>>(8-check) && drawnApart(numbers)
}

// drawnApart reports whether few of the words repeat.
func drawnApart(numbers []int64) bool {
	distinct := 0
	for i, n := range numbers {
		if !slices.Contains(numbers[:i], n) {
			distinct++
		}
	}
	return distinct*2 >= len(numbers)
}

func isLetter(c byte) bool { return isLower(c) || isUpper(c) }

// wordsInRow returns how many short words in a row end before a sign, which may be a mnemonic; run is how
// many letters and digits stand before it. Numbers may stand between the words.
func wordsInRow(words, run int, s string, sign int) int {
	switch {
	case run > longestWord, 0 < run && run < shortestWord && !isDigit(s[sign-1]), strings.IndexByte("/=-|&", s[sign]) >= 0:
		return 0
	case run >= shortestWord:
		return words + 1
	default:
		return words
	}
}
