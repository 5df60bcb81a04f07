package wording

import (
	"math"
	"strconv"
)

// Score says a number from 0 to 1 as people write it, such as 0.05 or 0.8. What
// two digits do not hold is cut off, so that no score looks as if it reached a
// threshold that it missed.
func Score(x float64) string {
	const noise = 1e-9 // of the arithmetic: 0.7 + 0.1 is 0.8
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	if x < 0 {
		return "-" + Score(-x)
	}
	return strconv.FormatFloat(math.Floor((x+noise)*100)/100, 'f', -1, 64)
}
