package wording_test

import (
	"math"
	"testing"

	"github.com/metnos/vaglio/vaglio/wording"
)

func TestScoresAreWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	sum := 0.7
	sum += 0.1
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.05: "0.05", 0.8: "0.8", 0.7: "0.7", 0.48: "0.48", 1.0 / 3: "0.33", 0.29: "0.29", 0.57: "0.57",
		sum: "0.8", 0.050000000000000044: "0.05", 0.499999: "0.49", 0.999: "0.99", -0.25: "-0.25", -0.3: "-0.3",
		math.Inf(1): "+Inf",
	} {
		if got := wording.Score(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}
