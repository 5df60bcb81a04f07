package mask_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// inert matches the parts of a secret that no shell acts on; the rest is shown.
var inert = regexp.MustCompile("[^\\s\"'`\\\\;&|<>(){}\\[\\]]{8,}")

// frame matches what may be shown of a key block and of a URL.
var frame = regexp.MustCompile(`-----[A-Z ]+-----|\\n|^https?://[^/]+/`)

// TestMaskAgainstTheOracle masks samples of every gitleaks rule, and looks for what
// gitleaks found in them. tools/secrets made the file.
func TestMaskAgainstTheOracle(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/secrets.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	found, missed, generic, genericMissed := 0, 0, 0, 0
	for lines.Scan() {
		var s struct {
			Text  string `json:"text"`
			Found []struct {
				Rule   string `json:"rule"`
				Secret string `json:"secret"`
			} `json:"found"`
		}
		if err := strictjson.UnmarshalLoose(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		masked := masker.Mask(s.Text)
		for _, f := range s.Found {
			left := ""
			secret := f.Secret
			if f.Rule == "private-key" || strings.HasPrefix(secret, "http") {
				secret = frame.ReplaceAllString(secret, "\n")
			}
			for _, part := range inert.FindAllString(secret, -1) {
				if strings.Contains(masked, part) {
					left = part
				}
			}
			if f.Rule == "generic-api-key" {
				generic++
				if left != "" {
					genericMissed++
					t.Logf("only a name: %q", s.Text)
				}
				continue
			}
			found++
			if left != "" {
				missed++
				t.Errorf("%s: %q is left in\n%q\nmade from\n%q", f.Rule, left, masked, s.Text)
			}
		}
	}
	t.Logf("of %d secrets %d are missed; of %d that only a name gives away, %d", found, missed, generic, genericMissed)
	if err := lines.Err(); err != nil || found < 2000 {
		t.Errorf("%d secrets were looked for; %v", found, err)
	}
}
