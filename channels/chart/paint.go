package chart

import "image/color"

// paint is what something is drawn with. In a drawing for pages it is also a class, such as
// "chart-guard", for which a page sets the color of its dark look.
type paint struct {
	class string
	color color.NRGBA
}

// pattern is how a series looks without its color.
type pattern int

const (
	solid pattern = iota
	rising
	falling
	level
	upright
	squared
	crossed
)

// look is how a tone is drawn.
type look struct {
	paint   paint
	pattern pattern
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff} //nolint:gosec // Bytes of a color.
}

func paper() paint { return paint{"chart-paper", rgb(0xfdfcf9)} }
func ink() paint   { return paint{"chart-ink", rgb(0x1d2430)} }
func dim() paint   { return paint{"chart-dim", rgb(0x5c6675)} }
func rule() paint  { return paint{"chart-rule", rgb(0xc9ced6)} }

// look returns how a tone is drawn. The colors are those of Okabe and Ito, which
// color-blind people can tell apart; the light ones are darker, so that each contrasts with
// paper by at least 3:1 (WCAG 1.4.11).
func (t Tone) look() look {
	switch t {
	case Passed:
		return look{paint{"chart-passed", rgb(0x3d96cc)}, solid}
	case Guard:
		return look{paint{"chart-guard", rgb(0x0067a3)}, crossed}
	case Denied:
		return look{paint{"chart-denied", rgb(0xd04f00)}, rising}
	case Expired:
		return look{paint{"chart-expired", rgb(0xb7639a)}, falling}
	case Withdrawn:
		return look{paint{"chart-withdrawn", rgb(0x7a6bb5)}, upright}
	case Unasked:
		return look{paint{"chart-unasked", rgb(0x6f7a87)}, squared}
	case Waiting:
		return look{paint{"chart-waiting", rgb(0xb98000)}, level}
	case Allowed:
		return look{paint{"chart-allowed", rgb(0x00916a)}, solid}
	default:
		return look{paint{"chart-plain", rgb(0x4a6fa5)}, solid}
	}
}
