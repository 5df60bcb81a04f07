package hosts

import (
	"strings"
	"testing"
)

func TestPrefix(t *testing.T) {
	t.Parallel()
	p, err := ParsePrefix("https://Flows.example.com/resume/")
	if err != nil || p.String() != "https://flows.example.com:443/resume" {
		t.Fatalf("%v %v", p, err)
	}
	for text, want := range map[string]bool{
		"https://flows.example.com/resume":             true,
		"https://flows.example.com:443/resume/a?run=1": true,
		"https://FLOWS.example.com/resume/a/":          true,
		"https://flows.example.com/resumed":            false,
		"https://flows.example.com/":                   false,
		"https://flows.example.com:8443/resume":        false,
		"http://flows.example.com/resume":              false,
		"https://flows.example.com.evil.org/resume":    false,
		"https://evil.org\\@flows.example.com/resume":  false,
		"https://flows.example.com@evil.org/resume":    false,
		"https://a:b@flows.example.com/resume":         false,
		"https://flows.example.com/resume/../admin":    false,
		"https://flows.example.com/resume/%2e%2e/x":    false,
		"https://flows.example.com/resume/%2Fadmin":    false,
		"https://flows.example.com/resume//admin":      false,
		"https://flows.example.com/resume/a%2Fb":       false,
		"https://flows.example.com/resume/a%5Cb":       false,
		"https://flows.example.com/resume#x":           false,
		"https:flows.example.com/resume":               false,
		"//flows.example.com/resume":                   false,
		"file:///resume":                               false,
		"":                                             false,
	} {
		if got := p.Holds(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	whole, err := ParsePrefix("http://127.0.0.1:8080")
	if err != nil || !whole.Holds("http://127.0.0.1:8080/x") || !whole.Holds("http://127.0.0.1:8080") || whole.Holds("http://127.0.0.2:8080/x") {
		t.Errorf("%v %v", whole, err)
	}
	six, err := ParsePrefix("http://[::1]:8080/x")
	if err != nil || six.String() != "http://[::1]:8080/x" || !six.Holds("http://[::1]:8080/x/y") {
		t.Errorf("%v %v", six, err)
	}
	longest := "https://flows.example.com/resume/" + strings.Repeat("x", 2000-len("https://flows.example.com/resume/"))
	if !p.Holds(longest) || p.Holds(longest+"x") {
		t.Errorf("of %d bytes: %t, of one more: %t", len(longest), p.Holds(longest), p.Holds(longest+"x"))
	}
	for _, text := range []string{
		"", "flows.example.com", "http://flows.example.com/x", "https://u:p@flows.example.com", "https://flows.example.com/?a=b", "https:///x",
		"https://flows.example.com/a/../b", "ftp://flows.example.com", "https://flows.example.com/#", "https://%zz",
	} {
		if _, err := ParsePrefix(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzPrefix(f *testing.F) {
	p, err := ParsePrefix("https://flows.example.com/resume")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("https://flows.example.com/resume/a")
	f.Add("https://flows.example.com/resume/%2e%2e/a")
	f.Fuzz(func(t *testing.T, text string) {
		if u, err := address(text); p.Holds(text) && (err != nil || hostPort(u) != "flows.example.com:443" || u.User != nil) {
			t.Errorf("%q is held", text)
		}
	})
}
