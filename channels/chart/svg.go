package chart

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
)

// page draws a scene as an element of a page. It has no style attributes, which a page with
// a strict policy does not allow, and no ids, which two charts would share.
type page struct{ b bytes.Buffer }

// svg returns the scene as an element that says alt to people who do not see it.
func (s *scene) svg(alt string) []byte {
	p := &page{}
	fmt.Fprintf(&p.b, `<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img" aria-label="%s">`,
		short(s.width), short(s.y), html.EscapeString(visible(alt)))
	for _, draw := range s.draw {
		draw(p)
	}
	p.b.WriteString("</svg>")
	return p.b.Bytes()
}

// hex returns the color for a page that does not know the class.
func (p paint) hex() string { return fmt.Sprintf("#%02x%02x%02x", p.color.R, p.color.G, p.color.B) }

func (p *page) rect(b box, with paint) {
	fmt.Fprintf(&p.b, `<rect class="%s" fill="%s" x="%s" y="%s" width="%s" height="%s"/>`,
		with.class, with.hex(), short(b.x), short(b.y), short(b.w), short(b.h))
}

func (p *page) lines(l []line, w float64, with paint) {
	fmt.Fprintf(&p.b, `<path class="%s-line" fill="none" stroke="%s" stroke-width="%s" d="`, with.class, with.hex(), short(w))
	for _, one := range l {
		fmt.Fprintf(&p.b, "M%s %sL%s %s", short(one.x1), short(one.y1), short(one.x2), short(one.y2))
	}
	p.b.WriteString(`"/>`)
}

func (p *page) text(t label) {
	fmt.Fprintf(&p.b, `<text class="%s" fill="%s" x="%s" y="%s" font-size="%s"`,
		t.paint.class, t.paint.hex(), short(t.x), short(t.y), short(t.size))
	if t.anchor != start {
		fmt.Fprintf(&p.b, ` text-anchor="%s"`, [...]string{"start", "middle", "end"}[t.anchor])
	}
	if t.bold {
		p.b.WriteString(` font-weight="bold"`)
	}
	p.b.WriteString(">" + html.EscapeString(t.text) + "</text>")
}

// short formats a length to a tenth, without a trailing zero.
func short(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
