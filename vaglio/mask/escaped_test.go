package mask_test

import (
	"strings"
	"testing"
)

// TestSecretsInOtherClothes masks secrets that are written as a part of an address, as a cookie
// under a name of its own, behind a scheme under any secret's name, or in a pair of a name and a
// value; what stands around them stays. An x stands for the secret.
func TestSecretsInOtherClothes(t *testing.T) {
	t.Parallel()
	const secret = "Zk3jX9qLm2Pz7RtY8wQv"
	m := masker
	for _, row := range []string{
		"curl 'https://x.io/1?u=postgres%3A%2F%2Fapp%3A§%40db.acme.io%3A5432%2Fapp'",
		"curl https://x.io/1?u=postgres%3a%2f%2fapp%3a§%40db.acme.io%3a5432&b=2",
		"curl 'https://x.io/1?a=1&b=api_key%3D§&c=3'",
		"curl 'https://x.io/1?h=Authorization%3A%20Bearer%20§'",
		"curl 'https://x.io/1?h=Authorization%3A+Bearer+§'",
		"open https://x.io/go?to=https%3A%2F%2Fy.io%2F%3Fpassword%3D§%26user%3Dann",
		"SESSION_COOKIE='sid=§' make push",
		"SESSION_COOKIE=§ make push",
		"COOKIE='sid=§; lang=‹' make push",
		"curl -H 'X-Session-Cookie: sid=§'",
		`{"session_cookie":"sid=§"}`,
		"X_AUTH='Bearer §' make",
		`MY_TOKEN="token §" make`,
		`{"auth_token":"Basic §"}`,
		`{"key":"DB_PASSWORD","value":"§"}`,
		`{"key":"DB_PASSWORD","val":"§"}`,
		`{"k":"API_TOKEN","v":"§"}`,
		`{"field":"password","value":"§"}`,
		"variable: DB_PASSWORD\n    value: §",
	} {
		text, _, _ := strings.Cut(row, "‹")
		text = strings.Replace(text, "§", secret, 1)
		got := m.Mask(text)
		begin, end, _ := strings.Cut(text, secret)
		if strings.Contains(got, secret) || !strings.HasPrefix(got, begin+"‹masked ") || !strings.HasSuffix(got, "›"+end) {
			t.Errorf("%s\nis masked as\n%s", text, got)
		}
	}
	got := m.Object(map[string]any{"env": []any{map[string]any{"key": "DB_PASSWORD", "val": secret, "n": "kept"}, map[string]any{"name": "colour", "value": "green"}}})
	list, _ := got["env"].([]any)
	first, _ := list[0].(map[string]any)
	second, _ := list[1].(map[string]any)
	if v, _ := first["val"].(string); !strings.HasPrefix(v, "‹masked ") || first["n"] != "kept" || second["value"] != "green" {
		t.Errorf("a pair is masked as %v", got)
	}
	for text, want := range map[string]string{
		"AUTH_BASIC='Basic YXBwOmh1bnRlcjJodW50ZXIy' make":               "AUTH_BASIC='Basic ‹",
		"SUPABASE_KEY=sbp_a1b2c3d4e5f60718293a4b5c6d7e8f9012345678 make": "SUPABASE_KEY=‹",
	} {
		if got := m.Mask(text); !strings.HasPrefix(got, want+"masked ") && !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " make") {
			t.Errorf("%s is masked as %s", text, got)
		}
	}
}

// TestOtherClothesWithoutASecret leaves alone what only looks like such clothes.
func TestOtherClothesWithoutASecret(t *testing.T) {
	t.Parallel()
	m := masker
	for _, text := range []string{
		"curl 'https://x.io/?q=name%3Dvalue%20and%20more'",
		"git log --format=%H%n%s --since=2.weeks",
		"date +%Y%m%d",
		`printf '%s=%s\n' "$key" "$value"`,
		"open https://x.io/login?next=https%3A%2F%2Fx.io%2Fhome%3Ftab%3Dkeys",
		"echo 100%",
		"basic usage: see README",
		"Basic YWJjZGVm is no login",
		"basic configuration",
		"has_cookie=true",
		`cookie_name = "sid"`,
		`session_cookie = request.cookies.get("sid")`,
		"cookie: str = None",
		`{"name":"id","value":"abc-17"}`,
		`{"key":"a","v":1}`,
		`{"key":"theme","value":"dark"}`,
		"PUBLIC_KEY=release_2024_candidate make",
		"CACHE_KEY=deps_linux make",
		"v: 3",
		"AUTH_TYPE='basic' make",
		`{"type":"bearer"}`,
	} {
		if got := m.Mask(text); got != text {
			t.Errorf("%s is masked as %s", text, got)
		}
	}
}
