// Package chart draws small charts of counts: pictures for chats, which must be readable on
// a phone and on any background, and drawings for pages, which adopt the page's colors.
// Both come from the same layout.
//
// A chart can be read without its colors: every series has its own pattern, and columns
// carry numbers. It contains no links, scripts or styles, so that a page with a strict
// policy may hold it. Equal charts are equal bytes.
package chart

import (
	"bytes"
	"strconv"
	"strings"
)

// Chart is how many of something there were, by category. Whoever shows it also shows a
// table with the same numbers.
type Chart struct {
	Title string
	// Categories are the days or kinds that are counted; "\n" begins the second line of a
	// column's label. Labels that do not fit are cut with an ellipsis, or only every n-th
	// one is shown.
	Categories []string
	// Series are stacked, the first one at the axis.
	Series []Series
	Kind   Kind
	// Last sets the last category apart from the others: the chart is shown because of it.
	Last bool
	// Mark is a line across the columns; nil means none.
	Mark *Mark
	// Empty is shown if every number is 0.
	Empty string
	// Number formats a count in the reader's language; nil formats plain digits.
	Number func(int) string
	// Words describe the drawing for people who do not see it; empty means the title and
	// the sums.
	Words string
}

// Series is one kind of thing counted.
type Series struct {
	Name string
	Tone Tone
	// Values belong to the categories, in order. None is negative.
	Values []int
}

// Mark is a line across columns, such as a limit.
type Mark struct {
	// At is its position: 0 is before the first column, 1 between the first and the second.
	At   float64
	Text string
}

// Kind is the orientation of a chart.
type Kind int

// The kinds of charts.
const (
	// Columns are next to each other: for days, and for ranges of a measure.
	Columns Kind = iota
	// Rows are below each other: for names.
	Rows
)

// Tone is what a series means. It decides the color and the pattern, so that a meaning
// looks the same in every chart.
type Tone int

// Plain is for a chart with a single series that is neither good nor bad.
const (
	// Plain is for a chart with one series that is neither good nor bad.
	Plain Tone = iota
	// Passed are calls that judges let pass.
	Passed
	// Guard are calls that the guard refused.
	Guard
	// Denied are calls that a person denied.
	Denied
	// Expired are calls that nobody answered in time.
	Expired
	// Withdrawn are calls that the agent took back or replaced.
	Withdrawn
	// Unasked are calls about which nobody was asked, or not again.
	Unasked
	// Waiting are calls that still waited.
	Waiting
	// Allowed are calls that a person allowed once.
	Allowed
)

// Sum returns the total of a category.
func (c *Chart) Sum(category int) int {
	n := 0
	for _, s := range c.Series {
		n += s.at(category)
	}
	return n
}

// Sum returns the total of a series.
func (s *Series) Sum() int {
	n := 0
	for _, v := range s.Values {
		n += v
	}
	return n
}

func (s *Series) at(category int) int {
	if category >= len(s.Values) {
		return 0
	}
	return max(0, s.Values[category])
}

// top returns the largest total of a category.
func (c *Chart) top() int {
	top := 0
	for i := range c.Categories {
		top = max(top, c.Sum(i))
	}
	return top
}

func (c *Chart) number(n int) string {
	if c.Number == nil {
		return strconv.Itoa(n)
	}
	return c.Number(n)
}

// wordsMost is how many categories [Chart.Alt] names individually.
const wordsMost = 14

// Alt describes in words what the drawing shows.
func (c *Chart) Alt() string {
	if c.Words != "" {
		return c.Words
	}
	if c.top() == 0 {
		return strings.TrimSpace(c.Title + ": " + c.Empty)
	}
	var said []string
	if len(c.Series) > 1 || len(c.Categories) > wordsMost {
		for _, s := range c.Series {
			n := 0
			for i := range c.Categories {
				n += s.at(i)
			}
			said = append(said, s.Name+" "+c.number(n))
		}
	}
	if len(c.Categories) <= wordsMost {
		for i, name := range c.Categories {
			said = append(said, strings.ReplaceAll(name, "\n", " ")+": "+c.number(c.Sum(i)))
		}
	}
	return c.Title + ". " + strings.Join(said, ", ") + "."
}

// Fold returns the chart with at most most categories: the first ones, and one for all the
// others, whose name rest returns given their number. Sort the categories before calling
// it.
func (c *Chart) Fold(most int, rest func(n int) string) Chart {
	if len(c.Categories) <= most {
		return *c
	}
	keep := most - 1
	folded := *c
	folded.Categories = append(append([]string{}, c.Categories[:keep]...), rest(len(c.Categories)-keep))
	folded.Series = nil
	for _, s := range c.Series {
		f := Series{Name: s.Name, Tone: s.Tone, Values: make([]int, keep+1)}
		for i := range c.Categories {
			f.Values[min(i, keep)] += s.at(i)
		}
		folded.Series = append(folded.Series, f)
	}
	return folded
}

// SVG returns the chart as an element for a page, without the title. Its text has the
// page's font and color; see the classes of [paint] for the others.
func (c *Chart) SVG() ([]byte, error) {
	s, err := newScene(pageWidth)
	if err != nil {
		return nil, err
	}
	s.stretch = pageStretch
	s.chart(c, tall)
	return s.svg(c.Alt()), nil
}

// pageStretch is how much wider the widest common fonts of pages are than the font that
// texts are measured with.
const pageStretch = 1.16

// Picture is one or more charts under one title.
type Picture struct {
	Title string
	// Lead is a line below the title.
	Lead   string
	Charts []Chart
}

// PNG returns the picture, [PictureWidth] dots wide, on a background of its own.
func (p *Picture) PNG() ([]byte, error) {
	s, err := newScene(pictureWidth)
	if err != nil {
		return nil, err
	}
	s.picture(p)
	var b bytes.Buffer
	if err := s.png(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
