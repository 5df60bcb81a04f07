package chart

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

const (
	// dots is the number of dots of a picture per pixel of the layout: phones have three.
	dots = 3
	// PictureWidth is the width of a picture, in dots.
	PictureWidth = pictureWidth * dots
)

// board draws a scene as dots.
type board struct {
	image  *image.RGBA
	scene  *scene
	raster vector.Rasterizer
}

// png writes the scene as a PNG on paper.
func (s *scene) png(w io.Writer) error {
	b := &board{image: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(s.width*dots)), int(math.Ceil(s.y*dots)))), scene: s}
	draw.Draw(b.image, b.image.Rect, image.NewUniform(paper().color), image.Point{}, draw.Src)
	for _, draw := range s.draw {
		draw(b)
	}
	if err := png.Encode(w, few(b.image)); err != nil {
		return fmt.Errorf("chart: write the picture: %w", err)
	}
	return nil
}

// few returns a picture in its 256 most frequent colors, with each rarer shade of an edge
// replaced by the nearest of them. Encoding then takes a third of the time, and the file is
// a third as large.
func few(from *image.RGBA) *image.Paletted {
	to := image.NewPaletted(from.Rect, nil)
	counts := make(map[color.RGBA]int, 1024)
	runs(from, func(_, dots int, c color.RGBA) { counts[c] += dots })
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	for _, c := range frequent[:min(len(frequent), 256)] {
		to.Palette = append(to.Palette, c)
	}
	index := make(map[color.RGBA]uint8, len(frequent))
	for _, c := range frequent {
		index[c] = uint8(to.Palette.Index(c)) //nolint:gosec // Below 256.
	}
	runs(from, func(at, dots int, c color.RGBA) {
		nearest := index[c]
		for i := range dots {
			to.Pix[at+i] = nearest
		}
	})
	return to
}

// runs calls tell with the start, the length and the color of each run of equal dots.
func runs(of *image.RGBA, tell func(at, dots int, c color.RGBA)) {
	begin := 0
	for i := 4; i <= len(of.Pix); i += 4 {
		if dot := [4]uint8(of.Pix[begin:]); i == len(of.Pix) || dot != [4]uint8(of.Pix[i:]) {
			tell(begin/4, (i-begin)/4, color.RGBA{dot[0], dot[1], dot[2], dot[3]})
			begin = i
		}
	}
}

// corner is a point of the picture, in dots.
type corner struct{ x, y float64 }

func at(x, y float64) corner { return corner{x * dots, y * dots} }

func (b *board) rect(r box, p paint) {
	b.fill(p, [4]corner{at(r.x, r.y), at(r.x+r.w, r.y), at(r.x+r.w, r.y+r.h), at(r.x, r.y+r.h)})
}

func (b *board) lines(l []line, w float64, p paint) {
	all := make([][4]corner, 0, len(l))
	for _, one := range l {
		long := math.Hypot(one.x2-one.x1, one.y2-one.y1)
		if long == 0 {
			continue
		}
		dx, dy := (one.x2-one.x1)/long*w/2, (one.y2-one.y1)/long*w/2
		all = append(all, [4]corner{
			at(one.x1-dy, one.y1+dx), at(one.x2-dy, one.y2+dx), at(one.x2+dy, one.y2-dx), at(one.x1+dy, one.y1-dx),
		})
	}
	b.fill(p, all...)
}

// fill colors areas that all run around in the same direction: where they overlap, opposite
// directions would leave a hole. It only processes what they cover, because a picture has a
// thousand of them.
func (b *board) fill(p paint, areas ...[4]corner) {
	on := covered(areas).Intersect(b.image.Rect)
	if on.Empty() {
		return
	}
	b.raster.Reset(on.Dx(), on.Dy())
	for _, a := range areas {
		for i, c := range a {
			x, y := float32(c.x-float64(on.Min.X)), float32(c.y-float64(on.Min.Y))
			if i == 0 {
				b.raster.MoveTo(x, y)
			} else {
				b.raster.LineTo(x, y)
			}
		}
		b.raster.ClosePath()
	}
	b.raster.Draw(b.image, on, image.NewUniform(p.color), image.Point{})
}

// covered returns the bounding box of the areas, in dots.
func covered(areas [][4]corner) image.Rectangle {
	var on image.Rectangle
	for _, a := range areas {
		low, high := a[0], a[0]
		for _, c := range a {
			low = corner{min(low.x, c.x), min(low.y, c.y)}
			high = corner{max(high.x, c.x), max(high.y, c.y)}
		}
		on = on.Union(image.Rect(int(math.Floor(low.x)), int(math.Floor(low.y)), int(math.Ceil(high.x)), int(math.Ceil(high.y))))
	}
	return on
}

func (b *board) text(t label) {
	from := at(t.x-t.width*float64(t.anchor)/2, t.y)
	d := font.Drawer{
		Dst: b.image, Src: image.NewUniform(t.paint.color), Face: b.scene.face(t.size, t.bold),
		Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round(from.x * 64)), Y: fixed.Int26_6(math.Round(from.y * 64))},
	}
	d.DrawString(t.text)
}
