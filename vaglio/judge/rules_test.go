package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/vaglio"
)

func grade1(t *testing.T, p vaglio.Proposal) vaglio.GradientResult {
	t.Helper()
	r, err := Rules().Grade(t.Context(), p)
	if err != nil || r.Judge != KindRules || r.Confidence != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	return r
}

func TestScoresToTheLastDigit(t *testing.T) {
	no, yes := false, true
	type args = vaglio.Args
	tests := map[string]struct {
		executor, intent string
		args             args
		critical         *bool
		score            float64
		notes            string
	}{
		"base":           {"fs_read", "", args{"path": "/tmp/a"}, nil, 0.7, "base score"},
		"named":          {"fs_read", "read it", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"climbs":         {"fs_read", "", args{"path": "../x"}, nil, 0.49999999999999994, "possible path traversal ('..' in path)"},
		"odd_key":        {"fs_read", "", args{"my-key": 1}, nil, 0.6, "anomalous args key: 'my-key'"},
		"first_odd_key":  {"fs_read", "", args{"z-z": 1, "a-a": 2}, nil, 0.6, "anomalous args key: 'a-a'"},
		"not_critical":   {"fs_read", "", args{}, &no, 0.75, "base score"},
		"critical":       {"fs_read", "", args{}, &yes, 0.7, "base score"},
		"most":           {"fs_read", "read", args{}, &no, 0.85, "intent matches executor"},
		"least":          {"fs_read", "", args{"a.b": "../x"}, nil, 0.3999999999999999, "possible path traversal ('..' in path); anomalous args key: 'a.b'"},
		"all":            {"fs_read", "read", args{"": "../x"}, &no, 0.5499999999999999, "intent matches executor; possible path traversal ('..' in path); anomalous args key: ''"},
		"nested_climb":   {"fs_read", "", args{"a": map[string]any{"b": []any{1, "x/.."}}}, nil, 0.49999999999999994, "possible path traversal ('..' in path)"},
		"key_no_climb":   {"fs_read", "", args{"a": map[string]any{"../x": 1}}, nil, 0.7, "base score"},
		"key_newline":    {"fs_read", "", args{"a\n": 1}, nil, 0.7, "base score"},
		"key_newlines":   {"fs_read", "", args{"a\n\n": 1}, nil, 0.6, "anomalous args key: 'a\n\n'"},
		"key_digit":      {"fs_read", "", args{"1a": 1}, nil, 0.6, "anomalous args key: '1a'"},
		"nested_key_ok":  {"fs_read", "", args{"a": map[string]any{"x-y": 1}}, nil, 0.7, "base score"},
		"short_token":    {"fs_go", "fs go", args{}, nil, 0.7, "base score"},
		"whole_name":     {"fs.read", "use fs.read now", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"parts_of_name":  {"read-file", "read the file", args{}, nil, 0.7, "base score"},
		"upper_token":    {"FS_READ", "read", args{}, nil, 0.7, "base score"},
		"space_splits":   {"fs\u00a0\u2003read", "read", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"separator":      {"fs\x1cread", "read", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"zwsp_no_split":  {"fs\u200bread", "read", args{}, nil, 0.7, "base score"},
		"three_letters":  {"città_èàù", "usa èàù", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"two_letters":    {"x_èà", "usa èà", args{}, nil, 0.7, "base score"},
		"upper_accents":  {"x_perché", "PERCHÉ", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"final_sigma":    {"x_λόγος", "ΛΌΓΟΣ", args{}, nil, 0.7999999999999999, "intent matches executor"},
		"dotted_capital": {"x_i\u0307st", "İST", args{}, nil, 0.7999999999999999, "intent matches executor"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := grade1(t, vaglio.Proposal{Executor: tt.executor, Intent: tt.intent, Args: tt.args, Context: vaglio.Context{Critical: tt.critical}})
			if r.Score != tt.score || r.Reasoning != tt.notes {
				t.Errorf("got %v %q, want %v %q", r.Score, r.Reasoning, tt.score, tt.notes)
			}
		})
	}
}

func TestSignals(t *testing.T) {
	no := false
	r := grade1(t, vaglio.Proposal{Executor: "fs_read", Intent: "read", Args: vaglio.Args{"a-b": "../x"}, Context: vaglio.Context{Critical: &no}})
	want := []vaglio.Signal{
		{Category: "intent", Score: 1, Message: "intent matches executor"},
		{Category: "path_traversal", Message: "possible path traversal ('..' in path)"},
		{Category: "args_keys", Message: "anomalous args key: 'a-b'"},
		{Category: "critical", Score: 1, Message: "the executor is declared not critical"},
	}
	if diff := cmp.Diff(want, r.Signals); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkRules(b *testing.B) {
	p := vaglio.Proposal{Executor: "fs_read", Intent: "read my notes in /tmp/n.txt", Args: vaglio.Args{"path": "/tmp/n.txt"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Rules().Grade(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}
