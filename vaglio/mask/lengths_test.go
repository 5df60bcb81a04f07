package mask_test

import (
	"encoding/base64"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
)

// TestFromWhichLengthOnSecretsAreMasked puts words of every length, of several alphabets,
// behind each beginning of a token that the reader knows and into the usual places of a
// secret, and writes which lengths are masked. After an intended change, run it with
// -update, and read which bounds have moved.
func TestFromWhichLengthOnSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const longest = 150
	var lengths []int // all, and of longer ones some
	for n := 0; n < longest; n += 1 + n/70*4 {
		lengths = append(lengths, n)
	}
	lengths = append(lengths, longest)
	var b strings.Builder
	for _, form := range slices.Concat(beginnings(t), []string{
		"%", "x %.", "password=%", "token: %", "KEY=%", "Authorization: Bearer %", "curl -u me:% x", "https://me:%@x.example/", "https://x.example/?token=%", "mysql -p% x",
		"--password-file=<(echo %)", "% --password-file=<(echo )", "x --token-command 'echo %'", "x --secret %", "openssl passwd %", "app auth %", "echo % > /run/secrets/db_password", `{"secret": "%"}`, "PWD=%", "xoxb-%", "123456789:%", "eyJ%.eyJ%.%", "eyJ%.eyJhIjoxfQ.x", "-----BEGIN PRIVATE KEY-----\n%\n",
		"-----BEGIN PRIVATE KEY-----\n%\n-----END PRIVATE KEY-----", "-----BEGIN PGP MESSAGE-----\n\n%\n=abcd\n-----END PGP MESSAGE-----",
	}) {
		for _, alphabet := range [][2]string{
			{"digits", "0123456789"},
			{"hex", "fa0123456789abcdef"},
			{"Hex", "0123456789ABCDEF"},
			{"lower", "abcdefghijklmnopqrstuvwxyz0123456789"},
			{"upper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"},
			{"signs", "abcdefghiABCDEFGHI0123456789-_"},
			{"poor", "aaaaaaaaaaaaab1"},
			{"same", "x"},
			{"mixed", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
			{"base64", "abcdwxyzABCDWXYZ0123456789+/"},
		} {
			word := randomWord(alphabet[1], longest)
			fmt.Fprintf(&b, "%-30s %-7s%s\n", strings.ReplaceAll(form, "\n", "⏎"), alphabet[0], ranges(lengths, func(n int) bool {
				text := strings.ReplaceAll(form, "%", word[:n])
				return masker.Mask(text) != text
			}))
		}
	}
	golden.Check(t, "testdata/lengths.txt", b.String())
}

// beginnings returns the texts in the reader of tokens, each before a word.
func beginnings(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "token.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && len(text) > 1 && !slices.Contains(all, text+"%") {
				all = append(all, text+"%")
			}
		}
		return true
	})
	return all
}

// randomWord returns a word without a pattern, the same at each run.
func randomWord(alphabet string, length int) string {
	r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, length)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// TestOnlyTextsAreDecoded decodes base64 that holds a secret in a text, not in bytes that
// are no text.
func TestOnlyTextsAreDecoded(t *testing.T) {
	t.Parallel()
	for text, masked := range map[string]bool{
		"here is the password=hunter22x7 for you all": true, "here is\tthe\r\npassword=hunter22x7 for you": true, "hé! è the password=hunter22x7 for you all": true,
		"password=hunter22x7": false, "token is password=hunter22x7 a": true,
		"here is \x01 password=hunter22x7 for you all": false, "here is \x7f password=hunter22x7 for you all": false, "here is \x01 password=hunter22x7 for you\nall": false, "here is password=hunter22x7 for you\n\x01 all": true, "here is \xff password=hunter22x7 for you all": false,
	} {
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		if got := masker.Mask("data " + encoded); (got != "data "+encoded) != masked {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestWordsBehindBase64 puts words of every length behind base64. The secret in it is hidden,
// and so is no word but those that could be a further line of it.
func TestWordsBehindBase64(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 64, 76} {
		for lines := 1; lines <= 3; lines++ {
			text := "the password=hunter2x " + strings.Repeat("and more of it ", 20)
			for _, short := range []int{0, 1, 2, 3, 9} { // bytes that the last line has less
				encoded := base64.StdEncoding.EncodeToString([]byte(text[:width*lines/4*3-short]))
				wrapped := strings.Join(slices.Collect(chunks(encoded, width)), "\n")
				for n := 1; n <= width+9; n++ {
					if n%4 == 0 && n <= width && short == 0 {
						continue
					}
					got := masker.Mask(wrapped + "\n" + strings.Repeat("z", n))
					if lines > 1 && strings.Contains(got, encoded[:width]) || !strings.HasSuffix(got, "\n"+strings.Repeat("z", n)) {
						t.Errorf("%d lines of %d, %d bytes short, and a word of %d:\n%s", lines, width, short, n, got)
					}
				}
			}
		}
	}
}

// chunks yields a text in pieces of a size.
func chunks(text string, size int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" && yield(text[:min(size, len(text))]) {
			text = text[min(size, len(text)):]
		}
	}
}

// TestPairsOfAPrintedKey masks the bytes of a private key as programs print it, whatever
// digits they have.
func TestPairsOfAPrintedKey(t *testing.T) {
	t.Parallel()
	for _, pair := range []string{"00", "99", "aa", "ff", "AA", "FF", "0f", "F0"} {
		line := strings.TrimSuffix(strings.Repeat(pair+":", 15), ":")
		if got := masker.Mask("Private-Key: (2048 bit)\npriv:\n    " + line + "\n    " + line + "\n"); strings.Contains(got, line) {
			t.Errorf("%s is left in %s", pair, got)
		}
	}
}

// TestHeadersAreMaskedToTheirEnd has signs in a header's value that end a bare one.
func TestHeadersAreMaskedToTheirEnd(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"Bearer ", "Basic ", "Token ", "digest ", "ApiKey ", "Negotiate ", "AWS4-HMAC-SHA256 "} {
		for _, line := range []string{"Authorization: %", "curl -H 'Authorization: %' https://x.example/"} {
			text := strings.ReplaceAll(line, "%", scheme+"q7Wm2x,Zk9#tail8")
			if got := masker.Mask(text); strings.Contains(got, "tail8") || !strings.Contains(got, scheme) {
				t.Errorf("%s: %s", text, got)
			}
		}
	}
}
