package chart

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	// dots are how many of a picture's dots make a pixel of the layout: phones
	// have three.
	dots = 3
	// PictureWidth is how wide a picture is, in dots.
	PictureWidth = pictureWidth * dots
)

// board draws a scene as dots.
type board struct {
	canvas *vgimg.Canvas
	scene  *scene
}

// png writes the scene as a PNG on paper.
func (s *scene) png(w io.Writer) error {
	c := vgimg.NewWith(
		vgimg.UseWH(vg.Points(s.width), vg.Points(s.y)), vgimg.UseDPI(72*dots), vgimg.UseBackgroundColor(paper().color))
	b := board{c, s}
	for _, draw := range s.draw {
		draw(b)
	}
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("chart: write the picture: %w", err)
	}
	return nil
}

// at turns a point of the layout into one of the canvas, whose origin is below.
func (b board) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Points(x), Y: vg.Points(b.scene.y - y)}
}

func (b board) rect(r box, p paint) {
	b.canvas.SetColor(p.color)
	var path vg.Path
	path.Move(b.at(r.x, r.y))
	path.Line(b.at(r.x+r.w, r.y))
	path.Line(b.at(r.x+r.w, r.y+r.h))
	path.Line(b.at(r.x, r.y+r.h))
	path.Close()
	b.canvas.Fill(path)
}

func (b board) lines(l []line, w float64, p paint) {
	b.canvas.SetColor(p.color)
	b.canvas.SetLineWidth(vg.Points(w))
	var path vg.Path
	for _, one := range l {
		path.Move(b.at(one.x1, one.y1))
		path.Line(b.at(one.x2, one.y2))
	}
	b.canvas.Stroke(path)
}

func (b board) text(t label) {
	b.canvas.SetColor(t.paint.color)
	x := t.x - t.width*float64(t.anchor)/2
	b.canvas.FillString(b.scene.face(t.size, t.bold), b.at(x, t.y), t.text)
}
