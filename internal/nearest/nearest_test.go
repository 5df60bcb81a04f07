package nearest

import (
	"testing"
)

func TestTheNearestIsFound(t *testing.T) {
	t.Parallel()
	known := []string{"METNOS_DATA_DIR", "METNOS_JUDGE_KIND", "METNOS_JUDGE_THRESHOLD", "METNOS_LISTEN", "METNOS_LANG", "METNOS_POLICY", "METNOS_PUBLIC_URL"}
	for wrong, want := range map[string]string{
		"METNOS_JUDGE_TRESHOLD": "METNOS_JUDGE_THRESHOLD",
		"METNOS_DATADIR":        "METNOS_DATA_DIR",
		"METNOS_POLICY_FILE":    "METNOS_POLICY",
		"METNOS_LISTEN_ADDR":    "METNOS_LISTEN",
	} {
		if got := Of(wrong, known); got != want {
			t.Errorf("nearest to %s is %s, want %s", wrong, got, want)
		}
	}
}

func TestASlipIsNear(t *testing.T) {
	t.Parallel()
	known := []string{"pending", "policy", "serve", "why", "log"}
	for written, want := range map[string]string{
		"pendin": "pending", "PENDING": "pending", "polici": "policy", "srve": "serve", "wy": "why",
		"": "", "everything": "", "lgg": "log", "lgo": "log", "hwy": "why", "zzz": "", "w": "",
	} {
		if got := Slip(written, known); got != want {
			t.Errorf("%q is a slip for %q, want %q", written, got, want)
		}
	}
}
