package mask_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio/mask"
)

// fill makes the variable part of a token, so that the source contains no token for
// scanners to find.
func fill(n int) string { return strings.Repeat("aB3dE5gH7jK9", n/12+1)[:n] }

func capitals(n int) string { return strings.Repeat("A2B4C6D8", n/8+1)[:n] }

var masker = keyed(7)

// keyed returns the masker of an instance with its own secret.
func keyed(secret byte) mask.Masker {
	return mask.New(func(text []byte) []byte {
		h := hmac.New(sha256.New, []byte{secret})
		h.Write(text)
		return h.Sum(nil)
	})
}

func TestMaskFindsSecrets(t *testing.T) {
	jwt := "eyJ" + fill(20) + ".eyJ" + fill(40) + "." + fill(43)
	for name, tt := range map[string]struct{ before, secret, after string }{
		"LongName":            {strings.Repeat("SETTINGS_", 8) + "PASSWORD ", "Xk29dkQ8s1Ab", ""},
		"LongNameInParts":     {strings.Repeat("settings-", 8) + "password ", "Xk29dkQ8s1Ab", ""},
		"SetWithinQuotes":     {`config set x sh -c "config set db_password `, "Hunter2x9Z", `" and more`},
		"AWSKeyID":            {"aws_key ", "AK" + "IA" + capitals(16), " x"},
		"AWSTemporaryKeyID":   {"(", "AS" + "IA" + capitals(16), ")"},
		"AWSSecret":           {"AWS_SECRET_ACCESS_KEY=", fill(40), " aws s3 ls"},
		"GitHub":              {"git clone https://x-access-token:", "gh" + "p_" + fill(36), "@github.com/o/r"},
		"GitHubFineGrained":   {"", "github" + "_pat_" + fill(22), ""},
		"GitLab":              {"'", "gl" + "pat-" + fill(20), "'"},
		"Slack":               {"", "xo" + "xb-" + "123456789012-" + fill(24), "\n"},
		"SlackApp":            {"", "xa" + "pp-1-A01-" + fill(64), ""},
		"SlackWebhook":        {"curl https://hooks.slack.com/services/", "T00000000/B00000000/" + fill(24), " -d x"},
		"Telegram":            {"https://api.telegram.org/bot123456789:", "AA" + fill(33), "/getMe"},
		"TelegramBare":        {"123456789:", "AA" + fill(33), ""},
		"OpenAI":              {"", "s" + "k-" + fill(48), ""},
		"OpenAIProject":       {"", "s" + "k-proj-" + fill(48), ""},
		"Anthropic":           {"", "s" + "k-ant-api03-" + fill(80), ""},
		"Google":              {"?key=", "AI" + "za" + fill(35), "&q=1"},
		"GoogleOAuth":         {"", "ya" + "29." + fill(60), ""},
		"Stripe":              {"", "s" + "k_live_" + fill(24), ""},
		"StripeRestricted":    {"", "r" + "k_test_" + fill(24), ""},
		"NPM":                 {"", "np" + "m_" + fill(36), ""},
		"NPMRC":               {"//registry.npmjs.org/:_authToken=", "0f1e2d3c-aaaa-bbbb-cccc-111122223333", ""},
		"PyPI":                {"", "py" + "pi-AgE" + fill(60), ""},
		"HuggingFace":         {"", "h" + "f_" + fill(34), ""},
		"SendGrid":            {"", "S" + "G." + fill(22) + "." + fill(43), ""},
		"Vault":               {"", "hv" + "s." + fill(40), ""},
		"Age":                 {"", "AGE-SECRET" + "-KEY-1" + capitals(58), ""},
		"JWT":                 {"token ", jwt, " end"},
		"Bearer":              {`curl -H "Authorization: Bearer `, fill(32), `" https://x`},
		"BearerShort":         {`curl -H 'authorization: bearer `, "s3cr3t", `' https://x`},
		"BearerAlone":         {"Bearer ", fill(32), ""},
		"Basic":               {"Authorization: Basic ", "dXNlcjpwYXNz", "\n"},
		"BasicInJSON":         {`{"Authorization":"Basic `, "dXNlcjpwYXNz", `"}`},
		"HeaderWithoutScheme": {"Authorization: ", fill(20), ""},
		"APIKeyHeader":        {"X-Api-Key: ", fill(20), " x"},
		"HeaderWithCommas":    {"curl -H 'Authorization: ", "q7Wm2x,Zk9#tail8", "' https://x.example"},
		"CurlHeader":          {"curl -sH 'X-Api-Token: ", "abcdefghijk", "' https://x"},
		"Cookie":              {"Cookie: session=", "abcdef123", "; theme="},
		"ShellVariable":       {"PGPASSWORD=", "hunter2", " psql"},
		"ShellQuoted":         {"export DB_PASS='", "hun;ter2", "'"},
		"ShellDouble":         {`PASSWORD="`, "hunter2", `" run`},
		"Flag":                {"mysql --password ", "hunter2", " -u root"},
		"FlagEquals":          {"mysql --password=", "hunter2", " -u root"},
		"FlagToken":           {"gh auth --with-token ", "abc123def", ""},
		"CurlUser":            {"curl -u admin:", "hunter2", " https://x"},
		"CurlUserLong":        {"curl --user 'admin:", "hunter2", "' https://x"},
		"HTTPieAuth":          {"http --auth admin:", "hunter2", " example.org"},
		"SSHPass":             {"sshpass -p ", "hunter2", " ssh host"},
		"JSON":                {`{"password":"`, "hunter2", `","user":"u"}`},
		"JSONSpaced":          {`{"client_secret": "`, "abcd1234", `"}`},
		"JSONInString":        {`"{\"password\":\"`, "hunter2", `\"}"`},
		"CamelCase":           {`"clientSecret": "`, "abcd1234", `"`},
		"YAML":                {"db:\n  password: ", "swordfish", "\n  user: u"},
		"YAMLToken":           {"token: ", "abc123def", "\n"},
		"INI":                 {"password = ", "swordfish", "\n"},
		"GoLiteral":           {`apiKey := "`, "abcd1234", `"`},
		"Python":              {`api_key = '`, "abcd1234", `'`},
		"Arrow":               {`'secret' => '`, "abcd1234", `'`},
		"URLQuery":            {"https://x/y?access_token=", "abcd1234", "&z=1"},
		"URLUserinfo":         {"postgres://app:", "hunter2", "@db/app"},
		"URLUserinfoNoUser":   {"redis://:", "hunter2", "@cache:6379"},
		"URLTokenAsUser":      {"https://", fill(24), "@git.example/r"},
		"ConnectionString":    {"Server=x;Pwd=", "hunter2", ";Database=y"},
		"ODBC":                {"UID=app;PWD=", "hunter2", ";Server=x"},
		"PasswdVariable":      {"export PASSWD=", "hunter2", ""},
		"Azure":               {"AccountKey=", fill(60) + "==", ";EndpointSuffix=x"},
		"Passphrase":          {"passphrase=", "ünïcode", " x"},
		"ForgedMask":          {"", "‹masked", " 40 chars #3fa9c2d17be0›"},
		"UnfinishedMask":      {"a ", "‹masked", " 4"},
	} {
		t.Run(name, func(t *testing.T) {
			text := tt.before + tt.secret + tt.after
			got := masker.Mask(text)
			rest, ok := strings.CutPrefix(got, tt.before+"‹masked ")
			if !ok || !strings.HasSuffix(rest, "›"+tt.after) || strings.Contains(got, tt.secret+tt.after) && name != "ForgedMask" && name != "UnfinishedMask" {
				t.Fatalf("Mask(%q)\n gives %q", text, got)
			}
			if again := masker.Mask(got); again != got {
				t.Errorf("masking twice gives %q", again)
			}
			if other := masker.Mask(strings.Replace(text, tt.secret, tt.secret[:len(tt.secret)-1]+"Q", 1)); other == got {
				t.Errorf("another secret has the same mask: %q", got)
			}
			if mask.Shape(got[len(tt.before):]) == 0 {
				t.Errorf("a mask that does not look like one: %q", got)
			}
		})
	}
}

func TestMaskLeavesTheRest(t *testing.T) {
	for name, text := range map[string]string{
		"Command":         "rm -rf ./build && go test ./... -run 'TestX' | tee out.txt",
		"SHA256":          "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"SumLine":         "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  file.tar.gz",
		"GitHash":         "git show 8782eee1f0a9b3c4d5e6f708192a3b4c5d6e7f80",
		"UUID":            "id=123e4567-e89b-12d3-a456-426614174000",
		"Base64":          "echo aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ= | base64 -d",
		"GoCode":          "token = lexer.Next()\nif token == eof {\n\treturn token, nil\n}",
		"GoDeclaration":   "token := s.scan()\npassword := readPassword()",
		"GoStruct":        "type T struct {\n\tToken Token `json:\"token\"`\n}",
		"TypeScript":      "password: string;\ntoken: Token;",
		"PythonArgument":  "def login(user, password: str, token=None):",
		"Comparison":      `if password == "" {`,
		"Counts":          "max_tokens=4096 token_count: 12 tokens: 99",
		"Path":            "--token ./token.txt --password-file=/run/secrets/db secret=/etc/x/y",
		"PasswordFile":    "password_file=hunter2",
		"Variable":        `curl -H "Authorization: Bearer $TOKEN" --password $PASS PASSWORD="${PW}"`,
		"Substitution":    `TOKEN=$(cat /run/token) PASSWORD="$(rm -rf ~)" x`,
		"Backtick":        "PASSWORD=`rm -rf ~` x",
		"Stars":           "password=******** token: xxxxxxxx",
		"Nothing":         `"token": null, "secret": true, "password": ""`,
		"Kebab":           "npm i sk-learn-something-very-long-name risk-management-for-everyone",
		"KeyWords":        "primary key=5 keyboard: qwerty monkey=banana",
		"URL":             "https://example.org:8080/a?b=c#d",
		"Time":            "at 12:30:45 and 123456:abc",
		"WordPass":        "pass: 12 fail: 3",
		"PublicKey":       "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
		"NoKey":           "-----BEGIN PRIVATE KEY-----\nrm -rf home\n-----END PRIVATE KEY-----",
		"Prose":           "The password is asked for; a token of thanks. Secret: nobody knows.",
		"ShellFolder":     `docker run -v "$PWD":/w -e PWD=/data/in OLDPWD=/srv/one`,
		"Sudoers":         `echo "me ALL=(ALL) NOPASSWD:ALL, PASSWD: LIST" >> /etc/sudoers`,
		"Alias":           `alias pwd='echo -n $(/bin/pwd) | pbcopy'`,
		"AuthMethod":      "swaks --auth CRAM-MD5 --to x",
		"Author":          "author: someone, authority=9",
		"BearerOfNews":    "Bearer of bad news",
		"CurlUserAlone":   "curl -u admin https://x; sort -u file:name",
		"AWSAccountThing": "AKIAlooksLikeOne AKIA1234",
	} {
		t.Run(name, func(t *testing.T) {
			if got := masker.Mask(text); got != text {
				t.Errorf("Mask(%q)\n gives %q", text, got)
			}
		})
	}
}

// TestMaskHidesNoCommand checks that where a secret and a command meet, the command stays
// visible.
func TestMaskHidesNoCommand(t *testing.T) {
	for _, text := range []string{
		`PASSWORD="$(rm -rf ~)" true`, "TOKEN=abcd1234;rm -rf ~", "token='abcd' rm -rf ~ ''", `X='token=' rm -rf ~ ''`,
		`password=\"a rm -rf ~ \"`, "PASSWORD=a$(rm -rf ~)b", "secret=a`rm -rf ~`b", "--password x | rm -rf ~", "token=<(rm -rf ~)",
		"password=\nrm -rf ~", "api_key=abcd1234&rm -rf ~", "-----BEGIN PRIVATE KEY-----\nMIIB\nrm -rf ~\n-----END PRIVATE KEY-----",
		"Authorization: Bearer abcdefgh12345678;rm -rf ~", "https://u:pass@h;rm -rf ~", "Cookie: a=bcde;rm -rf ~", "‹masked rm -rf ~›",
	} {
		if got := masker.Mask(text); !strings.Contains(got, "rm -rf ~") {
			t.Errorf("Mask(%q) hides the command: %q", text, got)
		}
	}
}

func TestMaskPrivateKey(t *testing.T) {
	line := "MI" + fill(62)
	for name, text := range map[string]string{
		"PEM":        "-----BEGIN RSA PRIVATE KEY-----\n" + line + "\n" + fill(64) + "\nab3=\n-----END RSA PRIVATE KEY-----\nrest",
		"OpenSSH":    "x '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk" + fill(40) + "\nab3=\n-----END OPENSSH PRIVATE KEY-----'",
		"Cut":        "-----BEGIN PRIVATE KEY-----\n" + line,
		"UnderAName": "password=-----BEGIN PRIVATE KEY-----\n" + line + "\n-----END PRIVATE KEY-----",
		"InString":   `"-----BEGIN PRIVATE KEY-----\n` + line + `\n` + fill(64) + `\n-----END PRIVATE KEY-----"`,
	} {
		t.Run(name, func(t *testing.T) {
			got := masker.Mask(text)
			for _, part := range []string{line[2:40], fill(30), "ab3="} {
				if strings.Contains(got, part) {
					t.Errorf("%q is left in %q", part, got)
				}
			}
			if !strings.Contains(got, "-----BEGIN ") || !strings.Contains(got, "PRIVATE KEY-----") || masker.Mask(got) != got {
				t.Errorf("masked as %q", got)
			}
		})
	}
}

func TestMaskTagsAreKeyed(t *testing.T) {
	text := "PASSWORD=hunter2 OTHER_PASSWORD=hunter2 PASSWORD=hunter3"
	got := masker.Mask(text)
	words := strings.Fields(strings.ReplaceAll(got, "OTHER_", ""))
	if slices.Compare(words[:4], words[4:8]) != 0 || words[3] == words[11] {
		t.Errorf("equal secrets need equal masks, others not: %s", got)
	}
	if other := keyed(8).Mask(text); other == got {
		t.Error("another instance makes the same tags")
	}
	if again := keyed(8).Mask(got); again == got {
		t.Error("another instance takes the mask for its own")
	}
}

// TestLongHostileTexts masks texts that give the scanner as much as possible to look at in
// every place. A scanner that looks at the same place many times would not finish with a
// text of a megabyte, which a call may have.
func TestLongHostileTexts(t *testing.T) {
	race.Alone(t)
	size := 1 << 20
	if testing.Short() {
		size = 16 << 10 // enough to meet every way through the scanner
	}
	for _, unit := range []string{
		"set \"", "secrets set \"a ", "login-set 'b ", "a-password b", "a-", "token:", "token:a", "token-", "authorization:", "A_TOKEN_A=1", "A_KEY=1", "set password for:", "secrets set-", "login-", "eyJ-", "sk-", "-", "--user ", "-p ", "cookie:", "token:/a/", "token:./", "token:=", "token=‹", "token=$", "token: ", "a=", ":", "://", "‹masked ",
		"-----BEGIN PRIVATE KEY-----MI", "-----BEGIN PRIVATE KEY-----", "bearer ", "1:", "1", "password=\"", "a/", "\\\"", "--token ",
		"sudo mysql ", "sudo mysql -px ", "echo ", "echo a|chpasswd ", "identified ", "password ", "value=", "name:value:", "\"name\":\"password\",\"value\":", "curl '",
		strings.Repeat("QUFB", 10) + "\n", strings.Repeat("QUFB", 19) + "\n", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tTUlJTUlJTUlJTUlJ", "Private-Key:02:02:", `a\n\\n`, "QUFB/", "${A:-", "A_KEY=",
	} {
		text := strings.Repeat(unit, size/len(unit))
		if masked := masker.Mask(text); masked == "" {
			t.Errorf("%q: masked to nothing", unit)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, seed := range []string{
		"", "password=hunter2", `{"token":"abcd1234"}`, "AKIA" + capitals(16), "eyJ" + fill(20) + ".eyJ" + fill(20) + "." + fill(20),
		"-----BEGIN PRIVATE KEY-----\nMI" + fill(62) + "\n-----END PRIVATE KEY-----", "https://u:p@h", "1234567:A" + fill(40),
		"‹masked 40 chars #3fa9c2d17be0›", "Cookie: a=b; c=d", "curl -u a:b --password c", "Authorization: Bearer x", "=:-\xff‹",
		"‹masked‹masked", "token=‹masked 4 chars #000000000000›abcd", "client_secret=https://a:bcde@h/p?x=1234&y#z",
	} {
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		got := masker.Mask(text)
		if again := masker.Mask(got); again != got {
			t.Fatalf("Mask(%q)\n once %q\ntwice %q", text, got, again)
		}
		if text != other && !strings.Contains(text+other, "‹") && masker.Mask(other) == got {
			t.Fatalf("%q and %q have the same mask %q", text, other, got)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	plain := strings.Repeat("find ./src -name '*.go' -newer go.mod -exec wc -l {} + | sort -n; ", 20)[:1024]
	for name, text := range map[string]string{
		"Plain1KiB":   plain,
		"OneSecret":   plain[:980] + " PGPASSWORD=hunter2 psql -h db -U app db -c x"[:44],
		"JSONLike1KB": strings.Repeat(`{"path":"/home/u/app","mode":"0644","key":"value","n":12},`, 20)[:1024],
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				masker.Mask(text)
			}
		})
	}
}

// largeTexts are texts that are each made of one piece, with numbers in it.
func largeTexts(size int) map[string]string {
	all := map[string]string{}
	for name, piece := range map[string]string{
		"Cookies":   "Cookie: a=",
		"Mnemonic":  "legal winner thank year wave sausage worth useful legal winner thank yellow\n",
		"Pairs":     `["key",`,
		"Variables": "curl -u a:$V% x\n",
		"Pgpass":    "h:5432:db:u%:secret%\n",
		"Options":   "-u a% -p b% ",
		"Quotes":    `set password "a ' b% `,
		"Setters":   "set password secrets set ",
		"Scripts":   `expect "password" send `,
		"Documents": "docker login --password-stdin h <<E\npw%\nE\n",
		"Logins":    "docker login -u a% -p pw% h; ",
		"Keys":      "-----BEGIN A% PRIVATE KEY-----\nAAAA\n",
		"Encoded":   "cGFzc3dvcmQ9aHVudGVyMmh1bnRlcjI ",
		"Escapes":   "password%3Dabc%ab%25",
		"Nested":    `{"a%": {"password": `,
		"Odd":       "a%' ",
	} {
		var text strings.Builder
		for i := 0; text.Len() < size; i++ {
			text.WriteString(strings.ReplaceAll(piece, "%", strconv.Itoa(i)))
		}
		all[name] = text.String()
	}
	return all
}

// TestLargeTextsAreBounded counts the bytes that masking hostile texts reads as words of commands,
// and those that it allocates. What grows with the square of a text's size takes sixteen times as
// much for four times the text. [BenchmarkLargeTexts] measures the time.
func TestLargeTextsAreBounded(t *testing.T) {
	race.Alone(t)
	const size, most = 4 << 10, 8          // a list that grows may double once more
	masker.Mask("password=hunter2hunter2") // so that what is built at first use is built
	taken := func(text string) (least [2]int) {
		for range 3 { // a collection empties the pools that a text is masked with
			var before, after runtime.MemStats
			var read int
			runtime.ReadMemStats(&before)
			masker.Counting(&read).Mask(text)
			runtime.ReadMemStats(&after)
			if allocated := int(after.TotalAlloc - before.TotalAlloc); least[1] == 0 || allocated < least[1] {
				least = [2]int{read, allocated}
			}
		}
		return least
	}
	small, large := largeTexts(size), largeTexts(4*size)
	for name := range small {
		one, four := taken(small[name]), taken(large[name])
		for i, what := range []string{"reads", "allocates"} {
			if four[i] > most*max(one[i], size) {
				t.Errorf("%s: %s %d bytes for %d of text, and %d for four times as much", name, what, one[i], size, four[i])
			}
		}
	}
}

// BenchmarkLargeTexts masks texts of one mebibyte. The time of each must grow with its size.
func BenchmarkLargeTexts(b *testing.B) {
	for name, text := range largeTexts(1 << 20) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				masker.Mask(text)
			}
		})
	}
}
