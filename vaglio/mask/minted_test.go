package mask_test

import (
	"math/rand"
	"strings"
	"testing"
)

// TestTokensOfAnyIssuer checks that a prefix and what is drawn at random are a token, and what
// else looks like that is none.
func TestTokensOfAnyIssuer(t *testing.T) {
	t.Parallel()
	const drawn = "o7RrU5YKyyQHxhDo2X93cjhls45GQio2ZvzXQYXkJXVwFcOL"
	for _, prefix := range []string{"gsk_", "xai-", "r8_", "sb_secret_", "phx_", "figd_", "acme_live_", "pk-lf-", "fc-"} {
		exactly(t, "echo ⟦"+prefix+drawn+"⟧ done")
		exactly(t, "echo ⟦"+prefix+drawn[:37]+"⟧, done")
		exactly(t, "echo ⟦"+prefix+drawn[:20]+"_"+drawn[20:]+"⟧")
		if prefix == "sb_secret_" {
			exactly(t, "echo ⟦"+prefix+drawn[:20]+"⟧")
		} else {
			exactly(t, "echo "+prefix+drawn[:20]) // an object's id
		}
	}
	exactly(t, "x ⟦sbp_a6ca7cff00d796c25410335b400141212b62c376⟧ y")
	exactly(t, "x ⟦ATATT3xFfGF0"+strings.Repeat("zjrx6fWiFijfzYMywu7O", 8)+"⟧ y")
	for _, text := range []string{
		"pi_3MtwBwLkdIwHu7ix28a3tqPa", "toolu_01XFDUDYJgAACzvnptvVoYEL", "build_a6ca7cff00d796c25410335b400141212b62c376",
		`"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ1LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="`,
		"git checkout feature-AddSupportForHTTP2StreamsInVersion34OfTheProxy", "com_Example_Application2_MainActivityTest4_KeepsItsState5",
		"test_ReadsHTTP2HeadersOfIPv6AddressesUnderTLS13WithoutCopying", "x-550e8400-e29b-41d4-a716-446655440000",
		"test_ReadReadSHA256BucketTokenValueUTF8Page3", "my_NodeHeaderEC2UrlKeeps0Version6Request", "test_LottoX509Pagina4NodoSecchio5FlussoIPv6",
		"data-dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZyAxMjM0", "test_secret_ReadsFromVaultWhenRotated2",
		"EXPECTED_TOTAL_OF_2024_AND_2025_PLUS_2026_IN_EUR", "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms",
	} {
		exactly(t, "x "+text+" y")
	}
}

// TestAKnownUserHidesNoPassword checks arguments in which an issuer's rule masks the user.
func TestAKnownUserHidesNoPassword(t *testing.T) {
	t.Parallel()
	const secret = "Zx9kQ2mW8rT5yU1iO4pA7sD3fG6hJ0lK"
	text := "curl -u SK0123456789abcdef0123456789abcdef:" + secret + " https://api.twilio.com"
	for _, key := range []string{"command", "data", "x"} {
		for _, form := range []string{text, "echo '" + text + "'", "cd x; " + text} {
			if got := masker.Object(map[string]any{key: form})[key].(string); strings.Contains(got, secret) {
				t.Errorf("%s: %s", key, got)
			}
		}
	}
}

// TestCommandsInProse checks programs in what a user asks for.
func TestCommandsInProse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"please use mysql -u root -p⟦hunter2x⟧ for it", "Run ssh-keygen -p -P ⟦YcTLiTzJbk⟧ -f k", "log in with docker login -u me -p ⟦hunter2x9⟧",
		"what mysql -phunter2x means", "a zip -P of the folder", "use zip and unzip for it", "with curl -sS https://x.example",
	} {
		exactly(t, text)
	}
}

// TestWhatSignsARequest checks headers and parameters whose issuer is in no list.
func TestWhatSignsARequest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"curl -H 'Authorization: Bot ⟦MTAllcwpGeUXQYHX.Adt6Mz.CK71OE7n3X4v⟧' https://x", "Authorization: Other hunter2", "Authorization: Required for 2 users",
		"curl 'https://b.example/k?X-Amz-Date=20261127&X-Amz-Signature=⟦1939b53182e4e349d98729e7c6be9ff907a76cc0⟧'",
		"curl 'https://b.example/k?signature=⟦1939b53182e4⟧&x=1'", "the signature=int of f", "git log --show-signature=yes",
	} {
		exactly(t, text)
	}
	for _, row := range []struct {
		list []any
		want string
	}{
		{[]any{"X-Auth-Token", "f8333c4774ec50cd1c1bac7adac1a4b7d0b352ad"}, "‹›"},
		{[]any{"password", "hunter2x"}, "‹›"},
		{[]any{"Authorization", "Bearer x.y.z"}, "‹›"},
		{[]any{"token", "list"}, "list"},
		{[]any{"kubectl", "token", "create"}, "token"},
	} {
		got := masker.Object(map[string]any{"headers": []any{row.list}})["headers"].([]any)[0].([]any)[1].(string)
		if strings.HasPrefix(got, "‹masked") != (row.want == "‹›") {
			t.Errorf("%v: %s", row.list, got)
		}
	}
}

// TestDrawnTokensAreFound measures on tokens drawn from a fixed seed how many are found by their shape.
func TestDrawnTokensAreFound(t *testing.T) {
	t.Parallel()
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	r := rand.New(rand.NewSource(1))
	for length, least := range map[int]int{30: 97, 40: 99} {
		const all = 2000
		found := 0
		for range all {
			token := make([]byte, length)
			for i := range token {
				token[i] = letters[r.Intn(len(letters))]
			}
			if masker.Mask("echo gsk_"+string(token)) != "echo gsk_"+string(token) {
				found++
			}
		}
		if found*100 < all*least {
			t.Errorf("of %d characters, %d of %d are found", length, found, all)
		}
	}
}
