package mask_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/golden"
)

// TestWhichCharactersDecide removes and doubles each character of a text in turn, and marks
// those on which it depends what is masked: - if it changes without the character, + if it
// changes with two of them, * if both. So it shows where each rule begins and ends. After
// an intended change, run it with -update, and read which marks have moved. Each of these
// texts, masked twice, is as it was masked once.
func TestWhichCharactersDecide(t *testing.T) {
	t.Parallel()
	const longest = 150 // bytes: the keys and tokens of other tests are longer
	seen, sealed := furtherSpellings()
	var b strings.Builder
	for _, text := range slices.Concat(spellings(), seen, sealed, positions(), edges(), namesAndValues()) {
		text = strings.NewReplacer("⟦", "", "⟧", "").Replace(text)
		if len(text) <= longest && !strings.ContainsAny(text, "\t\r") {
			b.WriteString(strings.ReplaceAll(text, "\n", "⏎") + "\n" + strings.TrimRight(deciding(t, text), " ") + "\n")
		}
	}
	golden.Check(t, "testdata/decides.txt", b.String())
}

// deciding returns a line with a mark below each character that decides.
func deciding(t *testing.T, text string) string {
	var marks strings.Builder
	chars, was := []rune(text), hiddenIn(t, text)
	for i := range chars {
		less := hiddenIn(t, string(slices.Delete(slices.Clone(chars), i, i+1))) != string(slices.Delete([]rune(was), i, i+1))
		more := hiddenIn(t, string(slices.Insert(slices.Clone(chars), i, chars[i]))) != string(slices.Insert([]rune(was), i, []rune(was)[i]))
		marks.WriteByte(map[[2]bool]byte{{true, false}: '-', {false, true}: '+', {true, true}: '*', {}: ' '}[[2]bool{less, more}])
	}
	return marks.String()
}

// hiddenIn returns a text with a sign in place of each character that is masked.
func hiddenIn(t *testing.T, text string) string {
	t.Helper()
	chars, masked, at := []rune(text), masker.Mask(text), 0
	if again := masker.Mask(masked); again != masked {
		t.Errorf("%q is masked as %q, and twice as %q", text, masked, again)
	}
	for {
		m := counted.FindStringSubmatchIndex(masked)
		if m == nil {
			return string(chars)
		}
		at += utf8.RuneCountInString(masked[:m[0]])
		n, _ := strconv.Atoi(masked[m[2]:m[3]])
		for range n {
			chars[at] = '•'
			at++
		}
		masked = masked[m[1]:]
	}
}

// counted matches a mask, and how many characters it stands for.
var counted = regexp.MustCompile(`‹masked ([0-9]+) chars #[0-9a-f]+›`)
