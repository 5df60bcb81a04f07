package mask_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/mask"
)

// masks matches what stands for secrets.
var masks = regexp.MustCompile(`‹masked [0-9]+ chars #[0-9a-f]+›`)

// TestWhatIsShown checks what people read of the texts whose secrets other tests count:
// that a secret is hidden, and that nothing more is. After an intended change, run it with
// -update, and read what happened to which text.
func TestWhatIsShown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	show := func(texts ...string) {
		for _, text := range texts {
			text = strings.NewReplacer("⟦", "", "⟧", "").Replace(text)
			b.WriteString(strconv.Quote(masks.ReplaceAllString(masker.Mask(text), "‹›")) + "\n")
		}
	}
	show(spellings()...)
	seen, sealed := furtherSpellings()
	show(append(seen, sealed...)...)
	for _, name := range []string{"carried", "spellings", "ways"} {
		raw, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var rows map[string]any
		if err := strictjson.UnmarshalLoose(raw, &rows); err != nil {
			t.Fatal(err)
		}
		for _, group := range []string{"seen", "sealed", "secret", "everyday", "opened"} {
			eachText(rows[group], show)
		}
	}
	golden.Check(t, "testdata/shown.txt", b.String())
}

// eachText calls f for each text in a value, in order.
func eachText(v any, f func(...string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, one := range v {
			eachText(one, f)
		}
	case map[string]any:
		for _, group := range []string{"seen", "sealed", "secret", "everyday"} {
			eachText(v[group], f)
		}
	}
}

// TestEdges checks texts on the edge of being secret; what is masked stands in brackets.
func TestEdges(t *testing.T) {
	t.Parallel()
	for _, marked := range edges() {
		exactly(t, marked)
	}
}

func edges() []string {
	const many = "q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM" // 36 letters and digits, of high entropy
	rows := []string{
		// issuers' tokens
		"x sk-" + strings.Repeat("a", 60) + "A1bbbb", "x ⟦sk-" + strings.Repeat("a", 59) + "A1bbbb⟧", "x sk-" + strings.Repeat("a1", 20), "x sk-" + strings.Repeat("aB", 20),
		"x ⟦ops_eyJ" + strings.Repeat(many, 90) + "⟧ y", "x ⟦A3-A1B2C3-D4E5F6G7H8J-9KLMN-PQRST-UVWXY⟧", "xA3-A1B2C3-D4E5F6G7H8J-9KLMN-PQRST-UVWXY",
		"adafruit_key = ⟦" + strings.Repeat("a", 32) + "⟧", "x 123456:⟦A" + fill(34) + "⟧", "x 12345:A" + fill(34),
		// addresses
		"https://x.example/webhook", "https://x.example/webhook/", "curl https://x.example/a/webhook/⟦hunter2xhunter2x9⟧", "curl https://x.example/webhook/⟦hunter2xhunter2x⟧", "curl https://x.example/webhooks/⟦1/hunter2xhunter2x9⟧",
		"x.example/a/webhook/hunter2xhunter2x9", "see https://x.example then /webhook/hunter2xhunter2x9", "curl https://x.example/webhook/hunter2xhunte9",
		"curl https://x/?abc=hunter2x", "?sig=⟦hunter2xAA⟧", "sig=hunter2xAA", "a?sig=⟦hunter2xAA⟧&b",
		// names and references
		"password=file:/x/y", "password=env:NAME", "password=fd:3", "password=⟦as:hunter2x⟧", "read TOKEN <<< ⟦hunter2x⟧", "read NAME <<< hunter2x token",
		"read X <<< ⟦hunter2x⟧; curl -u me:$X https://x", "it was identified. Written by 'hunter2x' today", "grant identified by '⟦hunter2x⟧'",
		// cards and social security numbers, which open as much as a password does
		"pay --card-number ⟦4242424242424242⟧ --amount 20", `{"cardNumber": "⟦4242 4242 4242 4242⟧"}`, "credit_card_number: ⟦4242 4242 4242 4242⟧, ok", "pin: ⟦123 456⟧\n", "credit_card_number=⟦4242424242424242⟧", "x --ssn ⟦123-45-6789⟧", "user_ssn: ⟦123-45-6789⟧",
		"social_security_number=⟦123-45-6789⟧", "card_id=card_1Px", "iban=IT60X0542811101000000123456", "account_number=12345678",
		// .pgpass
		"db.example:*:shop:me:⟦hunter2x⟧", "db.example:5432:shop:me:⟦hunter2x⟧\n*:*:*:me:⟦hunter3x⟧\n", "see db.example:5432:shop:me:hunter2x",
		// handed in
		"printf 'a:⟦hunter2x⟧\nb:⟦hunter3x⟧' | chpasswd", `printf 'a:⟦hunter2x⟧\nb:⟦hunter3x⟧\n' | chpasswd`, "printf 'a:⟦hunter2x⟧\\nb:⟦hunter3x⟧\nc:⟦hunter4x⟧' | chpasswd", "printf 'a:⟦hunter2x⟧\nb:⟦hunter3x⟧\\nc:⟦hunter4x⟧' | chpasswd",
		"echo ⟦hunter2x⟧ | ssh a b c d e f passwd", "echo hunter2x | ssh a b c d e f g passwd", "htpasswd --init <<< hunter2x", "htpasswd -ni me <<< ⟦hunter2x⟧",
		"docker x login -p hunter2x", "docker --x y login -p ⟦hunter2x⟧", "docker --x=y login -p ⟦hunter2x⟧", "docker --x=y z login -p hunter2x", "docker --x y z login -p hunter2x",
		`printf 'a:⟦hunter2x⟧\n:⟦hunter3x⟧' | chpasswd`, "x ⟦gldt-" + fill(10) + "." + fill(9) + "⟧ y", "x gldt-" + fill(10) + "." + fill(8) + " y",
		`printf 'a:⟦hunter2x⟧\n\nb:⟦hunter3x⟧\nc:⟦hunter4x⟧' | chpasswd`,
		"client_secret=https://***@h/x", "x 123456:A" + fill(33), "echo  | passwd", "chpasswd <<EOF\nroot:⟦hunter2x⟧", "chpasswd <<EOF\nroot:⟦hunter2x⟧\n\nann:⟦hunter3x⟧\nEOF\nbob:hunter4x",
		"mysql \\\n -p⟦hunter2x⟧", "mysql; x -u me -p ⟦hunter2x⟧", "mysql x -u me -p hunter2x", "it is identified x 'hunter2x'", "identified; x by 'hunter2x'", "the name x value=hunter2x",
		"x eyJ" + fill(20), "x eyJ" + fill(20) + ".eyJ" + fill(20), "x ⟦eyJ" + fill(20) + ".eyJ" + fill(20) + ".⟧ y", "x eyJ" + fill(6) + ".eyJ" + fill(20) + "." + fill(20),
		"private-lines: 1\n" + strings.Repeat("A", 64),
		// calls of functions
		"connect('a', 'b', 'c', '⟦hunter2x⟧', 'd')", "set('password', '⟦hunter2x⟧', 'x')", "set('user', 'hunter2x')", "set('password')", "hash_password('⟦hunter2x⟧')", "hash_password(x)", "auth=('me', '⟦hunter2x⟧')", "login('me', 'Bearer ⟦hunter2x⟧')",
		"login('hunter2x')", "login('me', '⟦hunter2x⟧')", "connect('a', 'hunter2x')", "connect('a', 'b', '⟦hunter2x⟧')",
		// one verb behind another, a pipe without a blank, addresses where a secret is expected
		`ssh h x config set a b "app config set DB_PASSWORD ⟦hunter2x⟧"`, "echo ⟦hunter2x⟧|passwd --stdin root", "printf 'root:⟦hunter2x⟧'|chpasswd",
		"DATABASE_PASSWORD=postgres://u:⟦hunter2x⟧@h/db", "PASSWORD=x:///a@b", "PASSWORD=x://h:80/a@b", "redis-cli -xa hunter2x", "PASSWORD=x://h/?⟦k=hunter2x⟧",
		"jq --arg token ⟦hunter2x⟧ .", "jq --arg name hunter2x .", "jq --args token hunter2x .", `PASSWORD="⟦--hunter2x⟧"`, "PASSWORD=⟦--hunter2x⟧", "x PASSWORD= --hunter2x", "PASSWORD=⟦.password⟧", "PASSWORD=x.password",
		"smbclient //s/x -U me%⟦hunter2x#y⟧", "smbclient //s/x -U 'me%⟦hunter2x#y⟧'", "PASSWORD=x://?⟦k=hunter2x⟧", "adafruit_key = ab-⟦AKIAABCDEFGHIJKLMNOP⟧⟦-fghijklm⟧",
		"sqlplus @hunter2x/y", "sqlplus me/⟦hunter2x⟧@h", "smbclient //s/x -U %⟦hunter2x⟧", "SORT_KEY=ab1!cd2e-f3g4h", "SORT_KEY=⟦ab1!cd2e3f3g4h⟧",
		"<apiToken>⟦hunter⟧</apiToken>", "login('me', 'someone')", "login('me', 'hunter2x$(id)')", "password = ⟦Hunter-X9y⟧", "password = Read-Host", "password = ⟦Hunter-⟧",
	}
	rows = append(
		rows, "identified with "+strings.Repeat("x", 60)+" by '⟦hunter2x⟧'", "identified with "+strings.Repeat("x", 61)+" by 'hunter2x'",
		"x set a:pw --value=⟦hunter2x9⟧", "login('me', 'hunter2x.c')", "curl -sSfu me:⟦hunter2x⟧ https://x", "login('me', '⟦hunter.2x⟧')", "login('me', '⟦hun2ter.abcdefgh⟧')", "x ⟦xoxb-"+fill(11)+"⟧", "login('me', '⟦hunter2x.⟧')",
	)
	for _, kind := range "abcdeoprs" { // Slack's tokens
		rows = append(rows, "x ⟦xox"+string(kind)+"-"+fill(12)+"⟧ y", "x xox"+string(kind)+"_"+fill(12)+" y")
	}
	rows = append(rows, "x xoxz-"+fill(12)+" y")
	key := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0B", 2)
	frame := strings.Repeat("OF ", 17) + "OF"
	rows = append(rows, "-----BEGIN PRIVATE KEY-----\n⟦"+fill(24)+"⟧\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n"+fill(23)+"\n-----END PRIVATE KEY-----")
	rows = append(rows, "-----BEGIN "+frame+" PRIVATE KEY-----\n⟦"+key+"⟧\n-----END X-----", "-----BEGIN "+frame+"A PRIVATE KEY-----\n⟦"+key+"⟧\n-----END X-----", "-----BEGIN PRIVATE KEY-----\n⟦"+key+"⟧\nx: ⟦ghp_"+fill(36)+"⟧\n-----END PRIVATE KEY-----")
	rows = append(rows, "-----BEGIN PRIVATE KEY-----\n⟦"+key+"⟧\n-----BEGIN PRIVATE KEY-----\n⟦"+key+"⟧\n-----END PRIVATE KEY-----", "Private-Lines: 1\n⟦"+key+"⟧\n", "Private-Lines: 1\n⟦"+key+"⟧\nPrivate-MAC: "+key)
	return rows
}

// exactly masks a text, and checks that exactly what stands in brackets is masked.
func exactly(t *testing.T, marked string) {
	t.Helper()
	plain := strings.NewReplacer("⟦", "", "⟧", "").Replace(marked)
	want := regexp.MustCompile(`⟦[^⟧]*⟧`).ReplaceAllString(marked, "‹›")
	if got := masks.ReplaceAllString(masker.Mask(plain), "‹›"); got != want {
		t.Errorf("%q\n became %q", marked, got)
	}
}

// TestCopied checks that masks which somebody else wrote are masked, wherever they stand, and
// that text in their shape which is not genuine is left to [mask.Masker.Mask].
func TestCopied(t *testing.T) {
	t.Parallel()
	genuine := masker.Mask("password=hunter2")[len("password="):]
	forged := strings.Replace(genuine, "7", "8", 1)
	for text, n := range map[string]int{"": 0, "plain": 0, genuine: 1, "a " + genuine + genuine + " b": 2, forged: 0, forged + genuine: 1, "‹masked ": 0} {
		got := masker.Copied(text).(string)
		if strings.Count(got, "‹masked ") != strings.Count(text, "‹masked ") || strings.Count(got, genuine) != 0 || (got == text) != (n == 0) {
			t.Errorf("%q became %q", text, got)
		}
		if again := masker.Copied(got).(string); (again == got) != (n == 0) {
			t.Errorf("%q, copied again, became %q", got, again)
		}
	}
	other := masker.Copied(genuine)
	got := masker.Copied(map[string]any{genuine: []any{genuine, "x", 7, nil, map[string]any{"a": genuine}}})
	want := map[string]any{other.(string): []any{other, "x", 7, nil, map[string]any{"a": other}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestShapeOfMasks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"‹masked 8 chars #3fa9c2d17be0›": true, "‹masked 123456789 chars #3fa9c2d17be0›": true, "‹masked 1234567890 chars #3fa9c2d17be0›": false,
		"‹masked  chars #3fa9c2d17be0›": false, "‹masked 8 chars #3fa9c2d17be›": false, "‹masked 8 chars #3fa9c2d17be01›": false, "‹masked 8 chars #3FA9c2d17be0›": false,
		"‹masked 8 chars #3fa9c2d17be0": false, "masked 8 chars": false, "‹masked 8 char #3fa9c2d17be0›": false,
	} {
		if got := mask.Shape(text + " more"); got > 0 != want || got > 0 && got != len(text) {
			t.Errorf("%s has the shape of a mask over %d bytes", text, got)
		}
	}
}

// TestFor checks that what a tool is given for a secret is masked, by the tool's name.
func TestFor(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		tool string
		args map[string]any
		want map[string]any
		// keeps says that a value is no secret.
		keeps bool
	}{
		{"mcp__vault__update_secret", map[string]any{"name": "prod/stripe", "value": "correct-horse-battery"}, map[string]any{"name": "prod/stripe", "value": "‹›"}, false},
		{"put_secret_value", map[string]any{"id": "db", "content": "hunter2x"}, map[string]any{"id": "db", "content": "‹›"}, false},
		{"update_secret", map[string]any{"value": []any{"hunter2x", "ok"}}, map[string]any{"value": []any{"‹›", "‹›"}}, false},
		{"update_secret", map[string]any{"value": map[string]any{"user": "anna", "of": []any{map[string]any{"key": "hunter2x"}}}}, map[string]any{"value": map[string]any{"user": "‹›", "of": []any{map[string]any{"key": "‹›"}}}}, false},
		{"create_user", map[string]any{"password": map[string]any{"old": "hunter2x", "new": "hunter3x", "once": true}}, map[string]any{"password": map[string]any{"old": "‹›", "new": "‹›", "once": true}}, true},
		{"create_user", map[string]any{"password": map[string]any{"type": "plain", "value": "hunter2x"}}, map[string]any{"password": map[string]any{"type": "plain", "value": "‹›"}}, true},
		{"mcp__alarm__disarm", map[string]any{"site": "Home", "code": "4711"}, map[string]any{"site": "Home", "code": "‹›"}, true},
		{"unlockDoor", map[string]any{"code": strictjson.Number("4711")}, map[string]any{"code": "‹›"}, true},
		{"ha_call_service", map[string]any{"service": "lock.unlock", "data": map[string]any{"code": "4711"}}, map[string]any{"service": "lock.unlock", "data": map[string]any{"code": "‹›"}}, true},
		{"open_gate", map[string]any{"gate_code": "2580"}, map[string]any{"gate_code": "‹›"}, true},
		{"run_block", map[string]any{"code": "print(1)"}, map[string]any{"code": "print(1)"}, true},
		{"delete_secret_version", map[string]any{"secret": "db-pass", "version": "4"}, map[string]any{"secret": "db-pass", "version": "4"}, true},
		{"mcp__az__keyvault_secret_create", map[string]any{"secret": "db-password", "value": "hunter2x"}, map[string]any{"secret": "db-password", "value": "‹›"}, true},
		{"add_secret_version", map[string]any{"secret_id": "db-pass", "payload": "hunter2x"}, map[string]any{"secret_id": "db-pass", "payload": "‹›"}, true},
		{"put_secret_value", map[string]any{"secret": "db-pass", "secret_string": "hunter2x"}, map[string]any{"secret": "db-pass", "secret_string": "‹›"}, false},
		{"access_secret_version", map[string]any{"secret": "db-pass", "version": "4"}, map[string]any{"secret": "db-pass", "version": "4"}, true},
		{"set_secret", map[string]any{"secret": "API_KEY", "value": "hunter2x"}, map[string]any{"secret": "API_KEY", "value": "‹›"}, false},
		{"set_secret", map[string]any{"secret": "Sup3rS3cret99", "value": "hunter2x"}, map[string]any{"secret": "‹›", "value": "‹›"}, false},
		{"set_secret", map[string]any{"secret": "correct-horse"}, map[string]any{"secret": "‹›"}, false},
		{"update_client", map[string]any{"secret": "correct-horse", "value": "x"}, map[string]any{"secret": "‹›", "value": "x"}, true},
		{"put_parameter", map[string]any{"name": "/prod/db/pass", "value": "Sup3rS3cret99"}, map[string]any{"name": "/prod/db/pass", "value": "‹›"}, true},
		{"send_coins", map[string]any{"token": "ETH"}, map[string]any{"token": "ETH"}, true},
		{"delete_coupon", map[string]any{"code": "2026"}, map[string]any{"code": "2026"}, true},
		{"createSecret", map[string]any{"data": map[string]any{"value": "hunter2x"}}, map[string]any{"data": map[string]any{"value": "‹›"}}, false},
		{"mcp__dns__update_record", map[string]any{"name": "www", "value": "203.0.113.7"}, map[string]any{"name": "www", "value": "203.0.113.7"}, true},
		{"browser_type", map[string]any{"element": "Password field", "ref": "e3", "text": "Hunter2Hunter2!"}, map[string]any{"element": "Password field", "ref": "e3", "text": "‹›"}, true},
		{"fill", map[string]any{"selector": "#login_password", "value": "Hunter2Hunter2!"}, map[string]any{"selector": "#login_password", "value": "‹›"}, true},
		{"fill", map[string]any{"selector": "#user", "value": "ann"}, map[string]any{"selector": "#user", "value": "ann"}, true},
		{"", map[string]any{"value": "hunter2x"}, map[string]any{"value": "hunter2x"}, true},
	} {
		got := masker.For(r.tool).Object(r.args)
		if diff := cmp.Diff(r.want, got, cmp.Transformer("masks", func(text string) string { return masks.ReplaceAllString(text, "‹›") })); diff != "" {
			t.Errorf("%s: %s", r.tool, diff)
		}
		if known := masker.For(r.tool).Knowing(map[string]any{"value": "hunter2x"}).Mask("it is hunter2x here"); strings.Contains(known, "hunter2x") != r.keeps {
			t.Errorf("%s: what is said of it became %s", r.tool, known)
		}
	}
}

// TestReplaced checks that the caller's replacement stands for every secret.
func TestReplaced(t *testing.T) {
	t.Parallel()
	var secrets []string
	args := map[string]any{"command": "mysql -phunter2x; curl -u me:hunter3x https://x", "password": "hunter4x", "list": []any{"PASSWORD=hunter5x"}}
	got := mask.Replaced("", args, func(secret string) string { secrets = append(secrets, secret); return "…" })
	want := map[string]any{"command": "mysql -p…; curl -u me:… https://x", "password": "…", "list": []any{"PASSWORD=…"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for secret := range strings.FieldsSeq("hunter2x hunter3x hunter4x hunter5x") {
		if !slices.Contains(secrets, secret) {
			t.Errorf("%s is not among %q", secret, secrets)
		}
	}
}
