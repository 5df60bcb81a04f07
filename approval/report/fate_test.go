package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// became returns what the lines of a digest say of calls that a judge vetoed.
func became(d report.Digest) string {
	var keys []string
	for _, l := range d.Lines() {
		if key, ok := strings.CutPrefix(l.Key, "fate."); ok {
			keys = append(keys, key)
		} else if key, ok := strings.CutPrefix(l.Key, "run."); ok {
			keys = append(keys, key)
		} else if l.Key == "vetoed" || l.Key == "carried" || l.Key == "settled" {
			keys = append(keys, l.Key)
		}
	}
	return strings.Join(keys, " ")
}

// TestAFateIsThatOfTheWindow checks that what comes after a window, or exactly at its end,
// is not told, and that a call that was over before it is not told again.
func TestAFateIsThatOfTheWindow(t *testing.T) {
	t.Parallel()
	at := func(a *approval.Ask, minutes time.Duration) time.Time { return a.OpenedAt.Add(minutes * time.Minute) }
	ended := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	began := func(a *approval.Ask) {
		decided(t, a, approval.ChoiceAllow, 20*time.Minute, "web:ann")
		ended(a.Redeem(a.Approvals[0].ID, "f", at(a, 25)))
	}
	ran := func(a *approval.Ask, succeeded bool) {
		began(a)
		ended(a.Report(a.Approvals[0].ID, approval.Outcome{Succeeded: succeeded, At: at(a, 28)}))
	}
	lives := map[string]func(*approval.Ask){
		"succeeded": func(a *approval.Ask) { ran(a, true) },
		"failed":    func(a *approval.Ask) { ran(a, false) },
		"denied":    func(a *approval.Ask) { decided(t, a, approval.ChoiceDeny, 20*time.Minute, "web:ann") },
		"expired":   func(a *approval.Ask) { a.Lapse(at(a, 60)) },
		"withdrawn": func(a *approval.Ask) { ended(a.Withdraw(a.Approvals[0].ID, at(a, 20))) },
		"replaced":  func(a *approval.Ask) { ended(a.Supersede(a.Approvals[0].ID, at(a, 20))) },
		"lapsed": func(a *approval.Ask) {
			decided(t, a, approval.ChoiceAllow, 20*time.Minute, "web:ann") // for ten minutes
			a.Lapse(at(a, 200))
		},
		"lost": func(a *approval.Ask) {
			began(a)
			a.Lapse(at(a, 2000)) // a day without a report
		},
	}
	for _, row := range []struct {
		life     string
		from, to time.Duration // minutes after the call was asked
		want     string
	}{
		{"denied", 0, 20, "vetoed waiting"},
		{"denied", 0, 21, "vetoed denied"},
		{"denied", 20, 30, "carried denied"},
		{"denied", 21, 30, ""},
		{"denied", 10, 15, "carried waiting"},
		{"expired", 0, 60, "vetoed waiting"},
		{"expired", 0, 61, "vetoed expired"},
		{"withdrawn", 0, 20, "vetoed waiting"},
		{"withdrawn", 0, 21, "vetoed withdrawn"},
		{"replaced", 0, 20, "vetoed waiting"},
		{"replaced", 0, 21, "vetoed superseded"},
		{"succeeded", 0, 20, "vetoed waiting"},
		{"succeeded", 0, 25, "vetoed allowed unused"},
		{"succeeded", 0, 28, "vetoed allowed running"},
		{"succeeded", 0, 29, "vetoed allowed succeeded"},
		{"succeeded", 10, 60, "carried allowed succeeded"},
		{"succeeded", 21, 60, "settled succeeded"},
		{"succeeded", 26, 28, "settled running"},
		{"succeeded", 29, 60, ""},
		{"failed", 0, 29, "vetoed allowed failed"},
		{"lapsed", 0, 30, "vetoed allowed unused"},
		{"lapsed", 0, 31, "vetoed allowed lapsed"},
		{"lapsed", 25, 60, "settled lapsed"},
		{"lapsed", 31, 60, ""},
		{"lost", 0, 25 + 24*60, "vetoed allowed running"},
		{"lost", 0, 26 + 24*60, "vetoed allowed unknown"},
		{"lost", 30, 26 + 24*60, "settled unknown"},
		{"lost", 26 + 24*60, 3000, ""},
	} {
		a, s := asked(1, 0)
		lives[row.life](&a)
		w := report.Window{From: at(&a, row.from), To: at(&a, row.to)}
		if got := became(build(w, []approval.Ask{a}, []approval.Step{s})); got != row.want {
			t.Errorf("%s from minute %d to %d: %q, want %q", row.life, row.from, row.to, got, row.want)
		}
	}
}
