package web

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast checks WCAG's level AA: 4.5 to 1 for words, and 3 to 1 for the edges of
// controls and for the focus ring.
func TestContrast(t *testing.T) {
	css, err := builtin.ReadFile("assets/app.css")
	if err != nil {
		t.Fatal(err)
	}
	roots := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(roots) != 2 {
		t.Fatalf("%d palettes", len(roots))
	}
	light := palette(t, roots[0][1], nil)
	for name, p := range map[string]map[string]float64{"light": light, "dark": palette(t, roots[1][1], light)} {
		for _, pair := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "paper", 4.5},
			{"ink", "sheet", 4.5},
			{"ink", "sunk", 4.5},
			{"soft", "paper", 4.5},
			{"soft", "sheet", 4.5},
			{"soft", "sunk", 4.5},
			{"link", "paper", 4.5},
			{"link", "sheet", 4.5},
			{"on-yes", "yes", 4.5},
			{"on-yes", "yes-over", 4.5},
			{"yes", "done-sunk", 4.5},
			{"no", "sheet", 4.5},
			{"no", "no-sunk", 4.5},
			{"wait", "wait-sunk", 4.5},
			{"ink", "wait-sunk", 4.5},
			{"final", "final-sunk", 4.5},
			{"grave", "grave-sunk", 4.5},
			{"on-mark", "mark", 4.5},
			{"edge", "sheet", 3},
			{"edge", "paper", 3},
			{"ring", "paper", 3},
			{"ring", "sheet", 3},
			{"mark-edge", "sheet", 3},
			{"no", "line", 3},
			{"yes", "paper", 3},
			{"tone-plain", "sheet", 3},
			{"tone-passed", "sheet", 3},
			{"tone-guard", "sheet", 3},
			{"tone-denied", "sheet", 3},
			{"tone-expired", "sheet", 3},
			{"tone-withdrawn", "sheet", 3},
			{"tone-unasked", "sheet", 3},
			{"tone-waiting", "sheet", 3},
			{"tone-allowed", "sheet", 3},
		} {
			if got := contrast(p[pair.front], p[pair.back]); got < pair.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, under %.1f", name, pair.front, pair.back, got, pair.least)
			}
		}
	}
}

// palette reads the luminance of each color.
func palette(t *testing.T, css string, base map[string]float64) map[string]float64 {
	t.Helper()
	p := map[string]float64{}
	maps.Copy(p, base)
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
		n, err := strconv.ParseUint(m[2], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		p[m[1]] = 0.2126*linear(n>>16) + 0.7152*linear(n>>8&0xff) + 0.0722*linear(n&0xff)
	}
	if len(p) < 20 {
		t.Fatalf("only %d colours", len(p))
	}
	return p
}

func linear(c uint64) float64 {
	v := float64(c) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// TestAssetsStayAtHome checks that the style and the script load nothing, and that the
// style moves nothing for people who asked for reduced motion.
func TestAssetsStayAtHome(t *testing.T) {
	for _, name := range []string{"app.css", "app.js"} {
		body, err := builtin.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"@import", "url(", "//cdn", "http:", "https:", "eval(", "innerHTML =", "insertAdjacentHTML", "document.write"} {
			if strings.Contains(string(body), bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
	}
}
