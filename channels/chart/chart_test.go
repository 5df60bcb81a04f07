package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/chart"
)

func week(values ...[]int) chart.Chart {
	c := chart.Chart{
		Title: "Stopped", Last: true, Empty: "Nothing was stopped.",
		Categories: []string{"Sun\n15", "Mon\n16", "Tue\n17", "Wed\n18", "Thu\n19", "Fri\n20", "Sat\n21"},
	}
	for i, v := range values {
		c.Series = append(c.Series, chart.Series{Name: fmt.Sprintf("Kind %d", i), Tone: chart.Guard + chart.Tone(i), Values: v})
	}
	return c
}

// told returns what a drawing says. It fails if the drawing is not a well-formed element,
// or holds something a strict page does not allow.
func told(t *testing.T, svg []byte) []string {
	t.Helper()
	var said []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	in := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return said
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
			if !strings.Contains(" svg rect path text ", " "+in+" ") {
				t.Errorf("there is an element %s", in)
			}
			for _, a := range token.Attr {
				if a.Name.Local == "style" || a.Name.Local == "id" || strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") {
					t.Errorf("there is an attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if in == "text" {
				said = append(said, string(token))
			}
		case xml.EndElement:
			in = ""
		}
	}
}

func svg(t *testing.T, c chart.Chart) []byte {
	t.Helper()
	b, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func picture(t *testing.T, p chart.Picture) image.Image {
	t.Helper()
	b, err := p.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	// What Telegram accepts as a photo: 10 MB, with width and height of 10,000 together.
	if size.X != chart.PictureWidth || size.X+size.Y > 10_000 || len(b) > 1<<20 {
		t.Errorf("the picture is %v and has %d bytes", size, len(b))
	}
	return img
}

// dots counts the dots of a picture that have a color.
func dots(img image.Image, c color.NRGBA) int {
	size := img.Bounds()
	flat := image.NewNRGBA(size)
	draw.Draw(flat, size, img, size.Min, draw.Src)
	n := 0
	for i := 0; i < len(flat.Pix); i += 4 {
		if bytes.Equal(flat.Pix[i:i+4], []byte{c.R, c.G, c.B, c.A}) {
			n++
		}
	}
	return n
}

var (
	green = color.NRGBA{0x00, 0x91, 0x6a, 0xff}
	paper = color.NRGBA{0xfd, 0xfc, 0xf9, 0xff}
)

func TestEveryNumberIsLegible(t *testing.T) {
	for name, tt := range map[string]struct {
		values [][]int
		want   []string
	}{
		"Usual":                    {[][]int{{2, 3, 0, 1, 8, 4, 6}, {1, 3, 0, 3, 5, 1, 4}}, []string{"3", "6", "0", "4", "13", "5", "10"}},
		"Ten thousand":             {[][]int{{0, 0, 0, 0, 0, 0, 10_000}, {1, 0, 0, 0, 0, 0, 0}}, []string{"1", "0", "10000"}},
		"Too wide for the columns": {[][]int{{0, 0, 0, 0, 0, 0, 12_345_678_901}}, []string{"0", "5000000000", "15000000000"}},
		"Fewer values than days":   {[][]int{{7}}, []string{"7", "0"}},
		"Below nought":             {[][]int{{-7, 1}}, []string{"0", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := week(tt.values...)
			said := strings.Join(told(t, svg(t, c)), "|") + "|"
			for _, want := range append(tt.want, "Sun|15|", "Sat|21|") {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in %q", want, said)
				}
			}
			if img := picture(t, chart.Picture{Title: "Week", Charts: []chart.Chart{c, c}}); dots(img, paper) < 100_000 {
				t.Error("there is no paper around the charts")
			}
		})
	}
}

// TestTheSmallestIsInSight checks that one call among ten thousand can still be seen.
func TestTheSmallestIsInSight(t *testing.T) {
	with, without := week([]int{0, 0, 0, 0, 0, 0, 9999}), week([]int{0, 0, 0, 0, 0, 0, 9999})
	with.Series = append(with.Series, chart.Series{Name: "Allowed", Tone: chart.Allowed, Values: []int{0, 0, 0, 0, 0, 0, 1}})
	without.Series = append(without.Series, chart.Series{Name: "Allowed", Tone: chart.Allowed, Values: []int{0, 0, 0, 0, 0, 0, 0}})
	a := dots(picture(t, chart.Picture{Charts: []chart.Chart{with}}), green)
	b := dots(picture(t, chart.Picture{Charts: []chart.Chart{without}}), green)
	if a <= b {
		t.Errorf("%d green dots with the call, %d without it", a, b)
	}
}

func TestEqualPicturesAreEqualBytes(t *testing.T) {
	p := chart.Picture{Title: "Week", Charts: []chart.Chart{week([]int{2, 3, 0, 1, 8, 4, 6}, []int{1, 3, 0, 3, 5, 1, 4})}}
	a, err := p.PNG()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := p.PNG(); err != nil || !bytes.Equal(a, b) {
		t.Errorf("they differ: %v", err)
	}
}

func TestAnEmptyChartSaysSo(t *testing.T) {
	for _, kind := range []chart.Kind{chart.Columns, chart.Rows} {
		c := week([]int{0, 0, 0, 0, 0, 0, 0})
		c.Kind = kind
		if said := strings.Join(told(t, svg(t, c)), "|"); !strings.Contains(said, "Nothing was stopped.") {
			t.Errorf("it says %q", said)
		}
		c.Categories, c.Series = nil, nil
		told(t, svg(t, c))
	}
}

func TestManyCategoriesAreThinnedOut(t *testing.T) {
	c := chart.Chart{Title: "Calls", Series: []chart.Series{{Name: "Calls"}}}
	for i := range 90 {
		c.Categories = append(c.Categories, fmt.Sprintf("%d Nov", i))
		c.Series[0].Values = append(c.Series[0].Values, i*7)
	}
	said := strings.Join(told(t, svg(t, c)), "|")
	// 89*7 is 623: the scale ends at 800, and the last day has its name.
	if !strings.Contains(said, "|800|") || !strings.HasSuffix(said, "89 Nov") || strings.Count(said, "Nov") > 12 {
		t.Errorf("it says %q", said)
	}
}

func TestRowsCutNamesAndKeepNumbers(t *testing.T) {
	c := chart.Chart{Kind: chart.Rows, Title: "Vetoed", Series: []chart.Series{{Name: "Vetoed", Values: []int{40, 2, 1}}}}
	c.Categories = []string{"shell_exec", strings.Repeat("very_long_name_", 9), `<script>&"`}
	said := told(t, svg(t, c))
	if len(said) != 6 || said[0] != "shell_exec" || said[1] != "40" || !strings.HasSuffix(said[2], "…") || said[4] != `<script>&"` {
		t.Errorf("it says %q", said)
	}
	// A character that the font lacks is as wide as it is high, so 12 of 11 pixels do not
	// fit.
	c.Categories[1] = strings.Repeat("語", 12)
	if said := told(t, svg(t, c)); len(said[2]) > len("語")*11+len("…") || !strings.HasSuffix(said[2], "…") {
		t.Errorf("it says %q", said)
	}
	c.Words = `"><script>`
	if b := svg(t, c); bytes.Contains(b, []byte("<script")) {
		t.Errorf("a word left its attribute: %s", b)
	}
}

func TestFoldSumsTheRest(t *testing.T) {
	c := chart.Chart{Categories: []string{"a", "b", "c", "d", "e"}, Series: []chart.Series{{Values: []int{5, 4, 3, 2, 1}}, {Values: []int{1, 1}}}}
	rest := func(n int) string { return fmt.Sprintf("%d others", n) }
	f := c.Fold(3, rest)
	if got := fmt.Sprint(f.Categories, f.Series); got != "[a b 3 others] [{ 0 [5 4 6]} { 0 [1 1 0]}]" {
		t.Error(got)
	}
	if got := c.Fold(5, rest); len(got.Categories) != 5 || c.Series[0].Values[2] != 3 {
		t.Errorf("%v, %v", got, c)
	}
}

func TestAltTellsTheNumbers(t *testing.T) {
	c := week([]int{2, 3, 0, 1, 8, 4, 6}, []int{1, 0, 0, 0, 0, 0, 0})
	if got := c.Alt(); got != "Stopped. Kind 0 24, Kind 1 1, Sun 15: 3, Mon 16: 3, Tue 17: 0, Wed 18: 1, Thu 19: 8, Fri 20: 4, Sat 21: 6." {
		t.Error(got)
	}
	c = week([]int{0})
	if got := c.Alt(); !strings.Contains(got, "Nothing was stopped.") {
		t.Error(got)
	}
}

func isPaper(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	return uint8(r>>8) == paper.R && uint8(g>>8) == paper.G && uint8(b>>8) == paper.B
}

// TestAMarkIsDrawn checks that a limit crosses the columns, with its label, also at both
// ends, and that no number is hidden behind it.
func TestAMarkIsDrawn(t *testing.T) {
	for _, at := range []float64{0, 0.5, 3, 6.99, 7} {
		c := week([]int{1, 22, 3, 44, 5, 6, 7})
		c.Mark = &chart.Mark{At: at, Text: "wants 0.75"}
		drawn := string(svg(t, c))
		said := strings.Join(told(t, []byte(drawn)), "|")
		if strings.Count(said, "wants 0.75") != 1 || strings.Count(drawn, "chart-ink-line") != 1 {
			t.Errorf("at %v it says %q", at, said)
		}
		for _, n := range []string{"1", "22", "3", "44", "5", "6", "7"} {
			if !strings.Contains(said+"|", "|"+n+"|") && !strings.HasPrefix(said, n+"|") {
				t.Errorf("at %v the number %s is gone: %q", at, n, said)
			}
		}
	}
}

// FuzzChart checks that the drawing is well-formed whatever names and numbers there are.
func FuzzChart(f *testing.F) {
	f.Add("Sat\n24", "Guard", 7, 10_000, false)
	f.Add("\x00<b>\u202e", "\xff&\"", -1, 1<<40, true)
	f.Fuzz(func(t *testing.T, category, series string, a, b int, rows bool) {
		const most = 1 << 50 // of what can be counted: sums of it still fit
		a, b = min(a, most), min(b, most)
		c := chart.Chart{
			Title: category, Last: true, Empty: series, Categories: []string{category, series, "x"},
			Series: []chart.Series{{Name: series, Values: []int{a, b}}, {Name: category, Tone: chart.Denied, Values: []int{b, 0, a}}},
		}
		if rows {
			c.Kind = chart.Rows
		}
		told(t, svg(t, c))
	})
}
