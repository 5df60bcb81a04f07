package vaglio_test

import (
	"math"
	"os"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
)

const home = "/home/u"

// newEngine returns an engine with only the rule-based judge.
func newEngine(tb testing.TB, threshold float64) *vaglio.Engine {
	tb.Helper()
	e, err := vaglio.New(vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: threshold}},
		Kind:   judge.KindRules,
		Home:   home,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// stricter lists the rows that the seeds' core approves and our guard denies, because each is
// another spelling of an attack.
var stricter = map[string]string{
	"audit_SAFE2":     "path.auth", // /tmp/../etc/shadow
	"path_15":         "path.auth", // //etc/passwd
	"path_19":         "path.auth", // leading blank
	"path_33":         "path.proc", // /proc/self/environ
	"path_55":         "path.auth", // percent-encoded
	"path_56":         "path.auth", // /tmp/../etc/shadow
	"key_not_scanned": "path.auth", // a map key
	"cmd_12":          "shell.rm_root",
	"cmd_18":          "shell.rm_home",
	"cmd_cap_list":    "shell.rm_root",
	"cmd_dict":        "shell.rm_root",
	"cmd_key_script":  "shell.rm_root",
	"cmd_nested":      "shell.rm_root",

	// What the structural layer finds in a command or a path.
	"path_41":        "disk.device",       // /dev/mapper/x
	"path_51":        "path.secrets",      // ~/.kube/config
	"path_52":        "path.secrets",      // ~/.netrc
	"path_54":        "path.secrets",      // ~/.docker/config.json
	"cmd_05":         "tree.root",         // rm -rfv /
	"cmd_07":         "tree.root",         // rm --recursive --force /
	"cmd_13":         "tree.root",         // rm -rf "/"
	"cmd_17":         "tree.home",         // rm -rf ~u
	"cmd_37":         "process.fork_bomb", // :(){ :|: & };:
	"cmd_38":         "process.fork_bomb", // by another name
	"cmd_45":         "mode.tree",         // chmod -R a+rwx /
	"cmd_52":         "tree.root",         // r\m -rf /
	"cmd_passwd_mid": "path.auth_read",    // cat /etc/passwd
}

type expected struct {
	Approved  bool         `json:"approved"`
	BlockedBy vaglio.Phase `json:"blocked_by"`
	Score     float64      `json:"score"`
	JudgeKind string       `json:"judge_kind"`
}

type seedRow struct {
	id       string
	proposal vaglio.Proposal
	expected expected
}

// seedRows returns the seeds' rows, decoded like any other proposal.
func seedRows(t *testing.T) []seedRow {
	t.Helper()
	data, err := os.ReadFile("testdata/conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]any
	if err := strictjson.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	var rows []seedRow
	for _, v := range table["metnos"].([]any) {
		row := v.(map[string]any)
		r := seedRow{id: row["id"].(string)}
		into(t, row["expected"], &r.expected)
		body, err := strictjson.Marshal(map[string]any{
			"executor": row["executor"], "args": row["args"], "intent": row["intent"], "context": row["context"],
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.proposal, err = vaglio.DecodeProposal(body); err != nil {
			t.Fatalf("%s: %v", r.id, err)
		}
		rows = append(rows, r)
	}
	if len(rows) != 141 {
		t.Fatalf("%d rows, want 141", len(rows))
	}
	return rows
}

func into(t *testing.T, from, to any) {
	t.Helper()
	raw, err := strictjson.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := strictjson.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

func TestSeedRows(t *testing.T) {
	e := newEngine(t, 0.30)
	denied := map[string]bool{}
	for _, row := range seedRows(t) {
		t.Run(row.id, func(t *testing.T) {
			v, err := e.Judge(t.Context(), row.proposal)
			if err != nil {
				t.Fatal(err)
			}
			if v.Rule != nil && row.expected.Approved {
				denied[row.id] = true
				if stricter[row.id] != v.Rule.ID {
					t.Errorf("denied by %s, want %q", v.Rule.ID, stricter[row.id])
				}
			} else if got := (expected{v.Approved, v.BlockedBy, rounded(v.Score), v.JudgeKind}); got != row.expected {
				t.Errorf("got %+v, want %+v (%s)", got, row.expected, v.Reason)
			}
			if v.TS <= 0 || v.Reason == "" {
				t.Errorf("no time or no reason: %+v", v)
			}
			// The judge's score equals the seed's even where our guard is stricter.
			if row.expected.Approved {
				r, err := judge.Rules().Grade(t.Context(), row.proposal)
				if want := row.expected.Score; err != nil || rounded(r.Score) != want {
					t.Errorf("score %v (%v), want %v", r.Score, err, want)
				}
			}
		})
	}
	for id := range stricter {
		if !denied[id] {
			t.Errorf("row %s is not denied any more", id)
		}
	}
}

// rounded rounds a score as in the rows of the table. The thresholds and the judge's own
// tests check the last digits.
func rounded(f float64) float64 { return math.Round(f*100) / 100 }

func TestSeedThresholds(t *testing.T) {
	write := vaglio.Proposal{Executor: "write_files", Intent: "write it", Args: vaglio.Args{"path": "/tmp/x"}}
	null := vaglio.Proposal{Executor: "write_files", Intent: "nulla", Args: vaglio.Args{"path": "/tmp/x"}}
	tests := map[string]struct {
		threshold float64
		proposal  vaglio.Proposal
		score     float64
		approved  bool
		reason    string
	}{
		"0.8":  {0.8, write, 0.7999999999999999, false, "judge: score 0.80 < threshold 0.80 (intent matches executor)"},
		"0.7":  {0.7, null, 0.7, true, "approved: score 0.70 (base score)"},
		"0.99": {0.99, null, 0.7, false, "judge: score 0.70 < threshold 0.99 (base score)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := newEngine(t, tt.threshold).Judge(t.Context(), tt.proposal)
			if err != nil || v.Approved != tt.approved || v.Score != tt.score || v.Reason != tt.reason {
				t.Errorf("got %+v %v", v, err)
			}
			if v.Approved != (v.BlockedBy == vaglio.PhaseNone) || (!v.Approved && v.BlockedBy != vaglio.PhaseJudge) {
				t.Errorf("blocked by %q", v.BlockedBy)
			}
		})
	}
	// A threshold of NaN would approve everything, so it is refused.
	nan := func() float64 { z := 0.0; return z / z }()
	for _, bad := range []float64{nan, -0.1, 1.1} {
		_, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: bad}}})
		if err == nil {
			t.Errorf("threshold %v is accepted", bad)
		}
	}
	if _, err := vaglio.New(vaglio.Config{}); err == nil {
		t.Error("an engine without judges is accepted")
	}
}
