package report_test

import (
	"slices"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval/report"
)

// TestAnOpenWindowSaysSo checks that the digest of a window that is not over says so first,
// and when it will be sent.
func TestAnOpenWindowSaysSo(t *testing.T) {
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		digest report.Digest
		want   []string
		never  string
	}{
		"empty":   {report.Digest{Open: true, Next: at, Before: "2026-11-22"}, []string{"title.open.empty", "next", "before"}, "title.empty"},
		"waiting": {report.Digest{Open: true, Next: at, Before: "2026-11-22", Counts: report.Counts{Judged: 1, Vetoed: 1, Fates: report.Fates{Waiting: 1}}}, []string{"title.open", "next", "before", "judged", "vetoed", "fate.waiting.open"}, "fate.waiting"},
		"unsent":  {report.Digest{Open: true}, []string{"title.open.empty"}, "next"},
		"over":    {report.Digest{}, []string{"title.empty"}, "before"},
	} {
		var keys []string
		for _, l := range tt.digest.Lines() {
			keys = append(keys, l.Key)
		}
		if len(keys) < len(tt.want) || !slices.Equal(keys[:len(tt.want)], tt.want) || slices.Contains(keys, tt.never) {
			t.Errorf("%s: the lines are %v, want %v and no %s", name, keys, tt.want, tt.never)
		}
	}
}
