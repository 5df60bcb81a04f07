package chart

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// scene is a drawing independent of what it is drawn on. Lengths are in pixels of a phone,
// from the upper left corner.
type scene struct {
	regular, bold *opentype.Font
	faces         map[grade]font.Face
	draw          []func(surface)
	// stretch is how much wider texts may come out than in the fonts.
	stretch float64
	// margin is left free on all sides; y is how far down the drawing has come.
	width, margin, y float64
}

// surface is what a scene is drawn on.
type surface interface {
	rect(b box, p paint)
	// lines draws lines of one width, each from its first point to its second.
	lines(l []line, width float64, p paint)
	text(t label)
}

type box struct{ x, y, w, h float64 }

type line struct{ x1, y1, x2, y2 float64 }

// label is a text; at its position is the start, the middle or the end of the baseline.
type label struct {
	text   string
	x, y   float64
	anchor anchor
	size   float64
	bold   bool
	paint  paint
	width  float64
}

type anchor int

const (
	start anchor = iota
	middle
	end
)

// The widths of drawings: a chat shows a picture as wide as a small phone, and a page has
// its own margins.
const (
	pictureWidth = 360.0
	pageWidth    = 304.0
)

func newScene(width float64) (*scene, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("chart: read the font: %w", err)
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("chart: read the bold font: %w", err)
	}
	return &scene{regular: regular, bold: bold, faces: map[grade]font.Face{}, stretch: 1, width: width}, nil
}

// grade is one size of one of the fonts.
type grade struct {
	size float64
	bold bool
}

// face returns a font at a size, in dots. Faces are cached: a drawing writes a hundred
// texts in four grades.
func (s *scene) face(size float64, bold bool) font.Face {
	g := grade{size, bold}
	if f, ok := s.faces[g]; ok {
		return f
	}
	from := s.regular
	if bold {
		from = s.bold
	}
	f, err := opentype.NewFace(from, &opentype.FaceOptions{Size: size, DPI: 72 * dots})
	if err != nil {
		f = basicfont.Face7x13 // no size is refused; a plain text would still be one
	}
	s.faces[g] = f
	return f
}

// wide returns the width of a text. Letters that the font does not have are assumed to be
// as wide as they are high, like those that a page draws in another font.
func (s *scene) wide(text string, size float64, bold bool) float64 {
	f := s.face(size, bold)
	others := 0
	known := strings.Map(func(r rune) rune {
		if _, ok := f.GlyphAdvance(r); ok {
			return r
		}
		others++
		return -1
	}, text)
	return (float64(font.MeasureString(f, known))/64/dots + size*float64(others)) * s.stretch
}

// longest is how many bytes of a text are considered: more never fit.
const longest = 400

// clip returns the text, or as much of it as is no wider than most.
func (s *scene) clip(text string, size float64, bold bool, most float64) string {
	if len(text) <= longest && s.wide(text, size, bold) <= most {
		return text
	}
	text = text[:min(len(text), longest)]
	for text != "" {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
		if s.wide(text+"…", size, bold) <= most {
			return text + "…"
		}
	}
	return ""
}

// inner is the width of the drawing without its margins.
func (s *scene) inner() float64 { return s.width - 2*s.margin }

func (s *scene) rect(b box, p paint) {
	s.draw = append(s.draw, func(f surface) { f.rect(b, p) })
}

func (s *scene) lines(l []line, w float64, p paint) {
	if len(l) > 0 {
		s.draw = append(s.draw, func(f surface) { f.lines(l, w, p) })
	}
}

// write writes a text, moving it if it would leave the drawing.
func (s *scene) write(l label) {
	if l.text = visible(l.text); l.text == "" {
		return
	}
	l.width = s.wide(l.text, l.size, l.bold)
	left := l.x - l.width*float64(l.anchor)/2
	l.x += max(0, s.margin-left) - max(0, left+l.width-(s.width-s.margin))
	s.draw = append(s.draw, func(f surface) { f.text(l) })
}

// visible replaces unprintable characters and invalid bytes.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// segment draws a part of a column or of a row in its tone.
func (s *scene) segment(b box, t Tone) {
	const least = 4.0 // a pattern would not be visible in less
	l := t.look()
	s.rect(b, l.paint)
	if min(b.w, b.h) >= least {
		s.lines(hatch(b, l.pattern), 0.9, paper())
	}
}

// hatch returns the lines of a pattern, cut at the box's sides.
func hatch(b box, p pattern) []line {
	const apart = 6.0
	var all []line
	switch p {
	case level, squared:
		for y := b.y + b.h - apart; y > b.y+2; y -= apart {
			all = append(all, line{b.x, y, b.x + b.w, y})
		}
		if p == squared {
			all = append(all, hatch(b, upright)...)
		}
	case upright:
		for x := b.x + b.w - apart; x > b.x+2; x -= apart {
			all = append(all, line{x, b.y, x, b.y + b.h})
		}
	case rising, crossed:
		// On a rising line, x+y is constant.
		for d := apart * (math.Floor((b.x+b.y)/apart) + 1); d < b.x+b.w+b.y+b.h; d += apart {
			x1, x2 := max(b.x, d-b.y-b.h), min(b.x+b.w, d-b.y)
			all = append(all, line{x1, d - x1, x2, d - x2})
		}
		if p == crossed {
			all = append(all, hatch(b, falling)...)
		}
	case falling:
		for d := apart * (math.Floor((b.y-b.x-b.w)/apart) + 1); d < b.y+b.h-b.x; d += apart {
			x1, x2 := max(b.x, b.y-d), min(b.x+b.w, b.y+b.h-d)
			all = append(all, line{x1, x1 + d, x2, x2 + d})
		}
	case solid:
	}
	return all
}
