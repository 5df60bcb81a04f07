package mask

import (
	"crypto/sha256"
	"math/big"
	"math/rand"
	"strings"
	"testing"
)

// phrase writes a seed as words.
func phrase(seed []byte) []string {
	byNumber := make([]string, len(mnemonicWords()))
	for word, n := range mnemonicWords() {
		byNumber[n] = word
	}
	check := uint(len(seed) / 4)
	digest := sha256.Sum256(seed)
	all := new(big.Int).SetBytes(seed)
	all.Or(all.Lsh(all, check), big.NewInt(int64(digest[0]>>(8-check))))
	words := make([]string, (len(seed)*8+int(check))/bitsOfNumeral)
	for i := len(words) - 1; i >= 0; i-- {
		words[i] = byNumber[new(big.Int).And(all, big.NewInt(2047)).Int64()]
		all.Rsh(all, bitsOfNumeral)
	}
	return words
}

// TestMnemonics writes seeds as people and programs do. Nothing of them is shown, and what stands around
// them is.
func TestMnemonics(t *testing.T) {
	t.Parallel()
	if n := len(mnemonicWords()); n != 2048 {
		t.Fatalf("%d words", n)
	}
	m := New(func(b []byte) []byte { d := sha256.Sum256(b); return d[:] })
	r := rand.New(rand.NewSource(39))
	for _, bytes := range []int{16, 20, 24, 28, 32} {
		for range 40 {
			seed := make([]byte, bytes)
			for i := range seed {
				seed[i] = byte(r.Intn(256))
			}
			words := phrase(seed)
			if got := strings.Join(phrase(make([]byte, 16)), " "); got != strings.Repeat("abandon ", 11)+"about" {
				t.Fatal(got)
			}
			plain := strings.Join(words, " ")
			for _, row := range []struct{ before, text, after string }{
				{"", plain, ""},
				{"it is: ", plain, ", and hold it"},
				{"cast wallet import me --mnemonic '", plain, "'"},
				{`MNEMONIC="`, plain, `" npx hardhat deploy --network main`},
				{`{"accounts":{"mnemonic":"`, plain, `"}}`},
				{"const m = [\"", strings.Join(words, `", "`), `"];`},
				{"1. ", strings.Join(words, "\n1. "), "\n"},
				{"", strings.ToUpper(plain), ""},
				{"", strings.Join(words, "  "), ""},
				{"", strings.Join(words, "\n"), "\n"},
			} {
				got := m.Mask(row.before + row.text + row.after)
				if !strings.HasPrefix(got, row.before) || !strings.HasSuffix(got, row.after) {
					t.Errorf("%q hides too much: %s", row.before, got)
				}
				shown := strings.FieldsFunc(strings.ToLower(got[len(row.before):max(len(row.before), len(got)-len(row.after))]), func(c rune) bool { return c < 'a' || c > 'z' })
				for _, word := range shown {
					if word != "masked" && word != "chars" && len(word) >= shortestWord && strings.Contains(plain, word) && !hexWord(word) {
						t.Fatalf("%q: %q is left in %s", row.before, word, got)
					}
				}
			}
		}
	}
	for _, text := range []string{
		"legal winner thank year wave sausage worth useful legal winner thank zoo", // checks nothing
		"legal winner thank year wave sausage worth useful legal winner thank",
		strings.Repeat("abandon ", 11) + "about", strings.Repeat("word ", 400),
		"this company must provide enough food for every family until winter comes again and then sell what stays",
		"add build test check clean cover deploy docs edit fetch format install lint move open pull push run",
	} {
		if got := m.Mask(text); got != text {
			t.Errorf("%s", got)
		}
	}
}

func hexWord(word string) bool { return strings.Trim(word, "abcdef") == "" }
