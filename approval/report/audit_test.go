package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// TestEveryVerdictOfTheWindowIsTold checks what the audit log is compared with: each verdict
// of the window once, whether its ask, its step or both were kept, and every repeat.
func TestEveryVerdictOfTheWindowIsTold(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	both, opening := asked(1, 1)
	alone, _ := asked(2, 2)       // its step was lost
	outside, late := asked(3, 24) // of the next window
	joined := opening
	v := *opening.Verdict
	v.TS = digestSeconds(digestAt(3))
	joined.Verdict, joined.At, joined.Again, joined.Repeats = &v, digestAt(3), []float64{digestSeconds(digestAt(4)), digestSeconds(digestAt(23)), digestSeconds(digestAt(25))}, 3
	passed := ruled("", 5)
	passed.Verdict.Approved, passed.Verdict.BlockedBy, passed.Proposal.Executor = true, vaglio.PhaseNone, secret
	often := ruled("path.auth", 6)
	often.Again, often.Repeats = []float64{digestSeconds(digestAt(7))}, 6
	oftenLater := ruled("path.auth", -2)
	oftenLater.Again, oftenLater.Repeats = []float64{digestSeconds(digestAt(24))}, 6
	wrong := approval.Step{At: digestAt(8), Error: "no such executor"}

	var got []string
	b := report.NewDigestBuilder(report.Window{From: digestAt(0), To: digestAt(24)}, approval.NewMasker(approval.Secret{1}))
	b.Tell(func(j report.Judgement) {
		name, _, _ := strings.Cut(j.Executor, " ") // of a mask
		text := fmt.Sprintf("%v %s", j.Phase, name)
		if j.TS != 0 {
			text = fmt.Sprintf("%v at %v", text, approval.Instant(j.TS).Sub(digestStart).Hours())
		}
		if j.Again {
			text += fmt.Sprint(" again ", j.Unlisted)
		}
		got = append(got, text)
	})
	for _, a := range []approval.Ask{both, alone, outside} {
		b.Ask(&a)
	}
	for _, s := range []approval.Step{opening, late, joined, passed, often, oftenLater, wrong} {
		b.Step(&s)
	}
	want := []string{
		"judge shell_exec at 1", "judge shell_exec at 2",
		"judge shell_exec at 3", "judge shell_exec at 4 again 0", "judge shell_exec at 23 again 0",
		" ‹masked at 5", "guard read at 6", "guard read at 7 again 0", "guard read again 5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
