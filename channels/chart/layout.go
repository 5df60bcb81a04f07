package chart

import (
	"math"
	"strings"
)

// The sizes of texts, and the heights of the area for columns.
const (
	titleSize = 16.0
	headSize  = 13.0
	textSize  = 11.0
	tightSize = 8.5
	tall      = 150.0
	low       = 64.0
)

// picture lays out charts below each other, on paper. The first one is the tallest, because
// the picture is about it.
func (s *scene) picture(p *Picture) {
	s.margin = 18
	s.y = s.margin + titleSize*0.8
	s.write(label{text: s.clip(p.Title, titleSize, true, s.inner()), x: s.margin, y: s.y, size: titleSize, bold: true, paint: ink()})
	if p.Lead != "" {
		s.y += textSize + 7
		s.write(label{text: s.clip(p.Lead, textSize, false, s.inner()), x: s.margin, y: s.y, size: textSize, paint: dim()})
	}
	s.y += 8
	for i := range p.Charts {
		s.y += headSize + 9
		s.write(label{text: p.Charts[i].Title, x: s.margin, y: s.y, size: headSize, bold: true, paint: ink()})
		s.y += 8
		height := low
		if i == 0 {
			height = tall
		}
		s.chart(&p.Charts[i], height)
	}
	s.y += s.margin - 6
}

// chart lays out a chart from the current position.
func (s *scene) chart(c *Chart, height float64) {
	if c.top() == 0 {
		height = low
	} else if len(c.Series) > 1 {
		s.legend(c)
	}
	if c.Kind == Rows {
		s.rows(c)
		return
	}
	s.columns(c, height)
}

// legend writes the names of the series, as many per line as fit.
func (s *scene) legend(c *Chart) {
	const swatch, gap, between, height = 12.0, 5.0, 14.0, 17.0
	x := s.margin
	for i := range c.Series {
		if c.Series[i].Sum() == 0 {
			continue // there is nothing to find in the chart
		}
		name := s.clip(c.Series[i].Name, textSize, false, s.inner()-swatch-gap)
		w := swatch + gap + s.wide(name, textSize, false)
		if x > s.margin && x+w > s.width-s.margin {
			x, s.y = s.margin, s.y+height
		}
		s.segment(box{x, s.y, swatch, swatch}, c.Series[i].Tone)
		s.write(label{text: name, x: x + swatch + gap, y: s.y + swatch - 2, size: textSize, paint: ink()})
		x += w + between
	}
	s.y += height + 4
}

// columns lays out columns. If there is room each column has its number on it; otherwise
// there is a scale at the side.
func (s *scene) columns(c *Chart, height float64) {
	head := s.head(c)
	top, n := c.top(), len(c.Categories)
	left, right := s.margin, s.width-s.margin
	size := s.numberSize(c, (right-left)/float64(max(1, n))-3)
	scale := float64(max(1, top))
	if size == 0 {
		marks := ticks(top)
		scale = float64(marks[len(marks)-1])
		gutter := 0.0
		for _, m := range marks {
			gutter = max(gutter, s.wide(c.number(m), textSize, false)+6)
		}
		s.y += textSize / 2
		for _, m := range marks {
			y := s.y + height*(1-float64(m)/scale)
			s.write(label{text: c.number(m), x: left + gutter - 6, y: y + textSize*0.35, anchor: end, size: textSize, paint: dim()})
			s.lines([]line{{left + gutter, y, right, y}}, 0.75, rule())
		}
		left += gutter
	} else {
		s.y += size + 3
	}
	base := s.y + height
	slot := (right - left) / float64(max(1, n))
	bar := min(slot*0.74, 44)
	if slot < 6 {
		bar = slot * 0.9
	}
	for i := range c.Categories {
		x := left + slot*float64(i) + (slot-bar)/2
		y := s.column(c, i, box{x, base, bar, height / scale}, size > 0 && !c.marks(i))
		number := label{text: c.number(c.Sum(i)), x: x + bar/2, y: y - 3, anchor: middle, size: size, bold: c.Last && i == n-1, paint: ink()}
		if c.marks(i) {
			s.mark(c.Mark, left+slot*c.Mark.At, head, base)
			wide := s.wide(number.text, size, number.bold) + 4
			s.rect(box{number.x - wide/2, y - 3 - size*0.8, wide, size}, paper())
		}
		if size > 0 && top > 0 {
			s.write(number)
		}
	}
	s.lines([]line{{left, base, right, base}}, 1, dim())
	if top == 0 {
		s.write(label{text: s.clip(c.Empty, headSize, false, right-left), x: (left + right) / 2, y: base - height/2 + 4, anchor: middle, size: headSize, paint: dim()})
	}
	s.y = base
	s.categories(c, left, slot)
}

// head reserves room for the words of a mark, and returns where the area for columns
// begins.
func (s *scene) head(c *Chart) float64 {
	if c.Mark != nil {
		s.y += textSize + 3
	}
	return s.y
}

// mark draws a line across the columns, with its text above them.
func (s *scene) mark(m *Mark, x, head, base float64) {
	s.lines([]line{{x, head, x, base}}, 1.5, ink())
	s.write(label{text: m.Text, x: x, y: head - 3, anchor: middle, size: textSize, bold: true, paint: ink()})
}

// marks reports whether the mark is at a column's position.
func (c *Chart) marks(category int) bool {
	return c.Mark != nil && min(len(c.Categories)-1, int(c.Mark.At)) == category
}

// column stacks a category's numbers. unit is the column's position and width, and the
// height of one. column returns where the column ends.
func (s *scene) column(c *Chart, category int, unit box, numbered bool) float64 {
	// least keeps a single call visible among ten thousand.
	const least, gap, figure = 2.0, 1.0, 9.5
	y := unit.y
	for i := range c.Series {
		n := c.Series[i].at(category)
		if n == 0 {
			continue
		}
		h := max(least, unit.h*float64(n))
		b := box{unit.x, y - h, unit.w, max(least/2, h-gap)}
		s.segment(b, c.Series[i].Tone)
		y -= h
		text := c.number(n)
		wide := s.wide(text, figure, false) + 5
		if numbered && n != c.Sum(category) && b.h >= figure+3 && wide <= b.w {
			mid := box{b.x + (b.w-wide)/2, b.y + (b.h-figure-1)/2, wide, figure + 1}
			s.rect(mid, paper())
			s.write(label{text: text, x: b.x + b.w/2, y: mid.y + figure*0.86, anchor: middle, size: figure, paint: ink()})
		}
	}
	return y
}

// categories writes the names below the columns: all of them, or every n-th, counted from
// the last.
func (s *scene) categories(c *Chart, left, slot float64) {
	n, deepest, widest := len(c.Categories), 0, 0.0
	for _, name := range c.Categories {
		parts := lines(name)
		deepest = max(deepest, len(parts))
		for _, p := range parts {
			widest = max(widest, s.wide(p, textSize, true)+6)
		}
	}
	every := max(1, int(math.Ceil(widest/slot)))
	for i, name := range c.Categories {
		if (n-1-i)%every != 0 {
			continue
		}
		strong := c.Last && i == n-1
		for j, p := range lines(name) {
			tone := dim()
			if strong {
				tone = ink()
			}
			s.write(label{
				text: s.clip(p, textSize, strong, slot*float64(every)), x: left + slot*(float64(i)+0.5), y: s.y + (textSize+3)*float64(j+1),
				anchor: middle, size: textSize, bold: strong, paint: tone,
			})
		}
	}
	s.y += (textSize+3)*float64(deepest) + 4
}

// lines returns the lines of a category's label, at most two.
func lines(name string) []string { return strings.SplitN(name, "\n", 2) }

// rows lays out rows: a name, a bar and its number.
func (s *scene) rows(c *Chart) {
	const high, gap = 20.0, 8.0
	top := c.top()
	if top == 0 {
		s.y += high
		s.write(label{text: s.clip(c.Empty, headSize, false, s.inner()), x: s.width / 2, y: s.y, anchor: middle, size: headSize, paint: dim()})
		s.y += high
		return
	}
	names, figure := 0.0, s.wide(c.number(top), textSize, true)
	for _, name := range c.Categories {
		names = max(names, s.wide(name, textSize, false))
	}
	names = min(names, s.inner()*0.42)
	left := s.margin + names + gap
	unit := (s.width - s.margin - left - figure - 5) / float64(top)
	for i, name := range c.Categories {
		s.write(label{text: s.clip(name, textSize, false, names), x: s.margin + names, y: s.y + high*0.68, anchor: end, size: textSize, paint: ink()})
		x := left
		for j := range c.Series {
			if n := c.Series[j].at(i); n > 0 {
				w := max(2, unit*float64(n))
				s.segment(box{x, s.y + 3, max(1, w-1), high - 6}, c.Series[j].Tone)
				x += w
			}
		}
		s.write(label{text: c.number(c.Sum(i)), x: x + 5, y: s.y + high*0.68, size: textSize, paint: ink()})
		s.y += high
	}
	s.lines([]line{{left - 0.5, s.y - high*float64(len(c.Categories)), left - 0.5, s.y}}, 1, dim())
	s.y += 2
}

// numberSize returns the largest size at which every column's number fits, or 0 if none
// does.
func (s *scene) numberSize(c *Chart, room float64) float64 {
	for size := textSize; size >= tightSize; size -= 0.5 {
		fits := true
		for i := range c.Categories {
			fits = fits && s.wide(c.number(c.Sum(i)), size, c.Last) <= room
		}
		if fits {
			return size
		}
	}
	return 0
}

// ticks returns the numbers of a scale up to at least top: 0, the end and round numbers in
// between.
func ticks(top int) []int {
	// The steps are 1, 2, 5, 10, 20, 50 and so on.
	step := 1
	for k := 0; step*4 < top; k++ {
		if k%3 == 1 {
			step = step * 5 / 2
		} else {
			step *= 2
		}
	}
	var all []int
	for n := 0; ; n += step {
		all = append(all, n)
		if n >= max(1, top) {
			return all
		}
	}
}
