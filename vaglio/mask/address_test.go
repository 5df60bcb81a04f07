package mask_test

import (
	"strings"
	"testing"
)

// TestAnAddressKeepsWhereItGoes checks that an address under a secret's name keeps its host
// and path: where a call goes is not secret, whatever it is called.
func TestAnAddressKeepsWhereItGoes(t *testing.T) {
	t.Parallel()
	if got := masker.Object(map[string]any{"api_key": "https://x.example/a?id=hunter2x&b=5"})["api_key"].(string); strings.Contains(got, "b=5") {
		t.Errorf("of an argument what follows the question mark is masked whole: %s", got)
	}
	for value, r := range map[string]struct {
		shown  []string
		hidden []string
	}{
		"https://evil.example/steal":                         {shown: []string{"https://evil.example/steal"}},
		"https://evil.example/steal?id=hunter2x&b=5":         {[]string{"https://evil.example/steal?"}, []string{"hunter2x"}},
		"https://evil.example:8443/a/b?sig=hunter2x#end4u":   {[]string{"https://evil.example:8443/a/b?"}, []string{"hunter2x"}},
		"postgres://app:hunter2x@db.example/app":             {[]string{"postgres://app:", "@db.example/app"}, []string{"hunter2x"}},
		"https://hunter2x@evil.example/steal":                {[]string{"@evil.example/steal"}, []string{"hunter2x"}},
		"https://app:hunter2x@evil.example/steal?q=hunter3x": {[]string{"@evil.example/steal?"}, []string{"hunter2x", "hunter3x"}},
		"redis://:hunter2x@cache:6379":                       {[]string{"redis://:", "@cache:6379"}, []string{"hunter2x"}},
		"ftp://evil.example":                                 {shown: []string{"ftp://evil.example"}},
		"hunter2x://":                                        {shown: []string{"hunter2x://"}},
		"2hunter://evil":                                     {hidden: []string{"2hunter"}},
		"hunter2x:/evil":                                     {hidden: []string{"hunter2x"}},
	} {
		object := masker.Object(map[string]any{"client_secret": value})["client_secret"].(string)
		for carrier, text := range map[string]string{
			"line": "client_secret=" + value, "quoted": `client_secret="` + value + `" run`, "JSON": `{"client_secret": "` + value + `"}`, "flag": "run --client-secret " + value,
			"position": "gh secret set NAME --body " + value,
		} {
			if carrier != "position" || strings.Contains(value, "://") {
				check(t, carrier+" "+value, masker.Mask(text), r.shown, r.hidden)
			}
		}
		check(t, "argument "+value, object, r.shown, r.hidden)
		if again := masker.Object(map[string]any{"client_secret": object})["client_secret"]; again != object {
			t.Errorf("%s: masked twice it is %v", object, again)
		}
	}
}

func check(t *testing.T, what, got string, shown, hidden []string) {
	t.Helper()
	for _, s := range shown {
		if !strings.Contains(got, s) {
			t.Errorf("%s: %q does not show %q", what, got, s)
		}
	}
	for _, s := range hidden {
		if strings.Contains(got, s) {
			t.Errorf("%s: %q shows %q", what, got, s)
		}
	}
	if again := masker.Mask(got); again != got {
		t.Errorf("%s: masked twice it is %q", what, again)
	}
}

// TestATokenIsHiddenToItsEnd checks that a token that only the word before it reveals is
// hidden to its end, whichever of the characters of tokens it contains.
func TestATokenIsHiddenToItsEnd(t *testing.T) {
	t.Parallel()
	for _, joint := range []string{"", "+", "/", "~", "-", "_", "."} {
		text := "told: Bearer ab12cd34ef56gh78" + joint + "hunter2xhunter3y and more"
		check(t, "joined by "+joint, masker.Mask(text), []string{"told: Bearer ", " and more"}, []string{"hunter2x", "hunter3y"})
	}
}

// TestAValueIsHiddenToItsEnd checks that a value is hidden to its end, even if one of its
// characters begins like a mask, or a dollar sign begins nothing.
func TestAValueIsHiddenToItsEnd(t *testing.T) {
	t.Parallel()
	for _, joint := range []string{"€", "“", "‹", "‹x›", "$", "$x", "é", "%"} {
		for _, text := range []string{"password=ab12" + joint + "hunter2x run", "password='ab12" + joint + "hunter2x' run"} {
			check(t, text, masker.Mask(text), []string{"password=", " run"}, []string{"hunter2x"})
		}
	}
	check(t, "a dollar sign at the end", masker.Mask("password=hunter2x$"), []string{"password="}, []string{"hunter2x"})
}
