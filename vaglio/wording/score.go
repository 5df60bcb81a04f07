package wording

import (
	"math"
	"strconv"
)

// Score formats a number from 0 to 1 as people write it, such as 0.05 or 0.8. It truncates
// after two digits, so that no score seems to reach a threshold that it missed.
func Score(x float64) string {
	const noise = 1e-9 // of floating point: 0.7 + 0.1 is 0.8
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	if x < 0 {
		return "-" + Score(-x)
	}
	return strconv.FormatFloat(math.Floor((x+noise)*100)/100, 'f', -1, 64)
}
