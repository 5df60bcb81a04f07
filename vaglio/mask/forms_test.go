package mask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/strictjson"
)

// TestTokensAreAsLongAsTheirIssuersMakeThem checks that tokens are masked from their
// minimum length on, and that anything one character shorter is left.
func TestTokensAreAsLongAsTheirIssuersMakeThem(t *testing.T) {
	t.Parallel()
	for prefix, least := range map[string]int{
		"AIza": 35, "GOCSPX-": 20, "SG.": 40, "dckr_pat_": 20, "ntn_": 40, "pypi-AgE": 50, "rk_live_": 16, "rk_test_": 16, "rubygems_": 40, "AGE-SECRET-KEY-1": 40,
		"ghp_": 36, "gho_": 36, "ghu_": 36, "ghs_": 36, "ghr_": 36, "github_pat_": 22, "glpat-": 20, "gldt-": 20, "glrt-": 20, "glptt-": 20, "glcbt-": 20,
		"glsoat-": 20, "glagent-": 20, "glft-": 20, "hf_": 30, "hvs.": 24, "lin_api_": 30, "whsec_": 24, "shpat_": 30, "xapp-": 20, "xoxb-": 10, "xoxe-": 10,
		"xoxp-": 10, "sk-ant-": 20, "sk-proj-": 20, "sk-svcacct-": 20, "sk-or-": 20, "sk_live_": 16, "sk_test_": 16, "sk-": 20, "ya29.": 30, "npm_": 36, "dapi": 32, "dop_v1_": 60,
		"hooks.slack.com/services/": 20, "discord.com/api/webhooks/": 20,
	} {
		shown := ""
		if strings.Contains(prefix, "/") {
			shown = prefix
		}
		text := strings.Repeat("ab3_", least)[:least] // no shape that gives it away
		if prefix == "sk-" {
			text = fill(least)
		}
		exactly(t, "x "+shown+"⟦"+strings.TrimPrefix(prefix, shown)+text+"⟧ y")
		exactly(t, "x "+prefix+text[1:]+" y")
		if prefix[0] != 'g' { // a rule finds some of those within a word
			exactly(t, "xx"+prefix+text+" y")
		}
	}
	for _, key := range []string{"AKIA", "ASIA", "ABIA", "ACCA"} {
		exactly(t, "x ⟦"+key+capitals(16)+"⟧ y")
		exactly(t, "x "+key+capitals(15)+" y")
		exactly(t, "x "+key+capitals(17)+" y")
		exactly(t, "x "+key+capitals(16)+"a y")
	}
}

// TestNamesAndValues checks how a name is given a value: what belongs to the value, what
// the shell acts on, and what only looks like it.
func TestNamesAndValues(t *testing.T) {
	t.Parallel()
	for _, marked := range namesAndValues() {
		exactly(t, marked)
	}
}

func namesAndValues() []string {
	return []string{
		// signs
		"PASSWORD=⟦hunter2⟧ run", "PASSWORD = '⟦hunter2⟧'", "PASSWORD == 'hunter2'", "PASSWORD := '⟦hunter2⟧'", "PASSWORD := hunter2x", "'password' => '⟦hunter2⟧'", "password: ⟦hunter2⟧",
		"PASSWORD        = '⟦hunter2⟧'", "PASSWORD         = 'hunter2'", "PASSWORD=        ⟦hunter2⟧", "environ['PASSWORD'] = '⟦hunter2⟧'", `{\"password\": \"⟦hunter2⟧\"}`, `{"password": "⟦hunter2⟧"}`,
		"password: {{ '⟦hunter2⟧' }}", "password: {{ hunter2 }}", `password=\"⟦hunter2⟧\"`, "PASSWORD=⟦hunter2⟧;ls", "PASSWORD=⟦hunter2⟧,x", "PASSWORD='⟦hunter2,x#y⟧'", "PASSWORD=⟦hunter2⟧#x", "PASSWORD=$(cat x)", "PASSWORD=⟦ab⟧$(cat x)",
		"PASSWORD=${X}", "PASSWORD=$X", "PASSWORD=⟦$1x$y⟧", "PASSWORD=⟦ab$⟧",
		// what a name means
		"PWD=/home/u", "OLDPWD=~/x", "PWD=.", "PWD=⟦hunter2⟧", "u ALL=(ALL) NOPASSWD: /bin/ls", "u ALL=(ALL) PASSWD: /bin/ls", "alias pwd='ls -l'", "pwd=⟦hunter2⟧", "ssh_key_secret_name: hunter2x", "secretName: hunter2x",
		"token: ⟦refresh2⟧", "arn:aws:x:secret:name-2", "token:refresh2", "my_token:⟦refresh2⟧", "x:token:refresh2", "POETRY_PYPI_TOKEN_PYPI=⟦hunter2x⟧", "TOKENS_A=hunter2x", "A_SECRET_B=⟦hunter2x⟧", "A_DBPASS_B=⟦hunter2x⟧",
		"a_secret_b=hunter2x",
		// headers
		"Authorization: Bearer ⟦hunter2⟧", "authorization: token ⟦hunter2⟧", "Authorization: Digest ⟦hunter2⟧", "Authorization: ApiKey ⟦hunter2⟧", "Authorization: Negotiate ⟦hunter2⟧", "Authorization: AWS4-HMAC-SHA256 ⟦hunter2⟧", "Authorization: Basic ⟦hunter2⟧",
		"Authorization: Other hunter2", "Bearer ⟦hunter2hunter2x9⟧", "Bearer hunter2hunter2", "Bearer hunterhunterhunterx", "Cookie: a=⟦hunter2⟧; b=⟦hunter3⟧", "Set-Cookie: a=⟦hunter2⟧\nb=hunter3",
		"curl -H 'Cookie: sid=⟦hunter2x⟧' 'https://x.example/?page=2&day=monday'",
		// addresses
		"git clone https://⟦" + strings.Repeat("a", 20) + "⟧@h/x", "git clone https://" + strings.Repeat("a", 19) + "@h/x", "x://u:⟦p⟧@h", "x://u:p/@h", "x://u:@h", "x://:⟦p⟧@h", "x://u:$P@h", "//u:p@h",
		// elements of XML and settings by name
		"<password>⟦hunter2⟧</password>", "<password>⟦hunter2⟧</x", "<password>hunter2", "<user>hunter2</user>", "< password>hunter2</password>", `{"name": "DB_PASSWORD", "value": "⟦hunter2x⟧"}`, `{"name": "REGION", "value": "hunter2x"}`,
		"name=token value=⟦hunter2x⟧", "x config set DB_PASSWORD --value ⟦hunter2x⟧", "token --value ⟦hunter2x⟧", `{"type": "password", "value": "⟦hunter2x⟧"}`,
		"CREDENTIALS=me:⟦hunter2x⟧", "CREDENTIALS=:hunter2x", "CREDENTIALS=me:a/b", "psql -c \"CREATE USER u PASSWORD '$PW'\"", "psql -c \"CREATE USER u PASSWORD '⟦hunter2⟧'\"",
		// handed in
		"echo ⟦hunter2x⟧ | x --password-file -", "echo ⟦hunter2x⟧ | x --password-file=/dev/stdin", "echo hunter2x | x --password-file y", "echo ⟦hunter2x⟧ | x --passphrase-fd 0", "echo hunter2x | x --passphrase-fd 3",
		"echo ⟦hunter2x⟧ | x --with-token-stdin", "echo hunter2x | x --user-stdin", "mysql ; x -u me -p ⟦hunter2x⟧",
		// flags
		"x --password ⟦hunter2⟧", "x --password -v", "x --password x.txt", "x ---password hunter2", "x --auth me:⟦hunter2⟧", "x --auth CRAM-MD5", "x --auth ⟦hunter2x⟧", "curl -u me:⟦hunter2⟧ h", "curl -u me h", "x -u me:hunter2 h",
		"x --token-file hunter2x", "x -p ⟦hunter2x⟧ -u me", "x -u me -p ⟦hunter2x⟧", "x -u me -p 5432", "x -u me run -p hunter2x", "x --username me -pw ⟦hunter2x⟧", "x -p hunter2x -v me",
		// what is no secret
		"password=true", "password: null", "password=xxxx", "password=****", "password=...", "password=----", "password=changeme", "password=./x", "password=/a/b", "password=~/x", "password=../x", "password=/x", "password=⟦/xyzw⟧",
		"password: string", "token = get_token()", "token = list[0]", "password: see below", "password: ⟦hunter⟧", "password: ⟦hunter⟧\nmore", "password: hunter more", "password = ⟦hunter2⟧ more", "password = config.password", "password=config.password",
	}
}

// TestArgumentsUnderNames checks what is masked of a value because of the name it stands
// under.
func TestArgumentsUnderNames(t *testing.T) {
	t.Parallel()
	const uuid = "12345678-aaaa-4bbb-8ccc-123456789012"
	for _, row := range []struct {
		name         string
		value, shown any
	}{
		{"password", "hunter2", "‹›"},
		{"password", "correct horse battery", "‹›"},
		{"password", "rm -rf x", "rm -rf x"},
		{"password", "a\nb", "a\nb"},
		{"password", "a`b`", "a`b`"},
		{"password", "a$(b)", "a$(b)"},
		{"password", "a${b}", "a${b}"},
		{"password", "$HOME", "$HOME"},
		{"password", "", ""},
		{"password", strictjson.Number("1234"), "‹›"},
		{"password", strictjson.Number("123"), strictjson.Number("123")},
		{"size", strictjson.Number("1234"), strictjson.Number("1234")},
		{"password", true, true},
		{"password", []any{"hunter2", strictjson.Number("1234")}, []any{"‹›", "‹›"}},
		{"password", map[string]any{"hint": "hunter2"}, map[string]any{"hint": "‹›"}},
		{"auth", map[string]any{"password": "hunter2"}, map[string]any{"password": "‹›"}},
		{"authorization", "Bearer a; b", "‹›"},
		{"cookie", "a=b; c=d", "‹›"},
		{"credentials", "me:hunter2", "‹›"},
		{"credentials", "hunter2", "hunter2"},
		{"credentials", ":hunter2", ":hunter2"},
		{"credentials", "me:a/b", "me:a/b"},
		{"credentials", strictjson.Number("1234"), strictjson.Number("1234")},
		{"note", "PASSWORD=hunter2 run", "PASSWORD=‹› run"},
		{"heroku_key", uuid, "‹›"},
		{"heroku_key", uuid + strings.Repeat(" ", 512-len("heroku_key"+uuid)), "‹›" + strings.Repeat(" ", 512-len("heroku_key"+uuid))},
		{"heroku_key", uuid + strings.Repeat(" ", 513-len("heroku_key"+uuid)), uuid + strings.Repeat(" ", 513-len("heroku_key"+uuid))}, // too long to be just one
		{"args", []any{"--password", "hunter2", "x"}, []any{"--password", "‹›", "x"}},
		{"args", []any{"--password", strictjson.Number("123456")}, []any{"--password", "‹›"}},
		{"args", []any{"--port", strictjson.Number("123456")}, []any{"--port", strictjson.Number("123456")}},
		{"args", []any{"password", "hunter2"}, []any{"password", "hunter2"}},
		{"args", []any{"--cookie", "hunter2"}, []any{"--cookie", "hunter2"}},
		{"args", []any{"curl", "-u", "me:hunter2", "https://x"}, []any{"curl", "-u", "me:‹›", "https://x"}},
		{"args", append(words(63), "mysql", "-phunter2x"), append(words(63), "mysql", "-phunter2x")}, // this is further than the masker looks
		{"args", []any{"isql", "", "me", "hunter2x"}, []any{"isql", "", "me", "‹›"}},
		{"args", []any{"isql", "a b", "me", "hunter2x"}, []any{"isql", "a b", "me", "‹›"}},
		{"args", []any{"isql", "it's", "me", "hunter2x"}, []any{"isql", "it's", "me", "‹›"}},
		{"args", append(words(5), ";", "mysql", "-phunter2x"), append(words(5), ";", "mysql", "-p‹›")},
	} {
		got := masked(masker.Object(map[string]any{row.name: row.value})[row.name])
		if diff := cmp.Diff(row.shown, got); diff != "" {
			t.Errorf("%s: %v\n%s", row.name, row.value, diff)
		}
	}
	secret := "ghp_" + fill(36)
	if got := masker.Object(map[string]any{"command": "/" + secret + "/mysql", "args": []any{}}); strings.Contains(fmt.Sprint(got), secret) {
		t.Errorf("the program's folder shows a secret: %v", got)
	}
	if got := masker.Texts([]string{"x", "password=hunter2"}); got[0] != "x" || strings.Contains(got[1], "hunter2") {
		t.Error(got)
	}
}

func words(n int) (all []any) {
	for range n {
		all = append(all, "a")
	}
	return all
}

// masked returns a value with its masks abbreviated.
func masked(v any) any {
	switch v := v.(type) {
	case string:
		return masks.ReplaceAllString(v, "‹›")
	case []any:
		all := []any{}
		for _, one := range v {
			all = append(all, masked(one))
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, one := range v {
			all[name] = masked(one)
		}
		return all
	default:
		return v
	}
}
