package cardtext_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// TestLines shows the lines that people are asked about before a command that is long or cut, and
// none before one that is seen at a glance.
func TestLines(t *testing.T) {
	t.Parallel()
	texts := textsIn(t, templates.English)
	long := strings.Repeat("echo step\n", 250) + "git push --force origin main\n" + strings.Repeat("echo step\n", 49)
	for name, tt := range map[string]struct {
		command string
		lines   []int
		budget  int
		want    string
	}{
		"Long":    {long, []int{251}, 600, "Line 251 of 300:\ngit push --force origin main\necho step\n"},
		"Cut":     {"a\nrm -rf b " + strings.Repeat("x", 300) + "\nc", []int{2}, 40, "Line 2 of 3:\nrm -rf b "},
		"Several": {long, []int{1, 2, 3, 251}, 600, "Line 1 of 300:\necho step\nLine 2 of 300:\necho step\nLine 3 of 300:\necho step\n… and 1 other line like that\necho step\n"},
		"Glance":  {"a\nrm -rf b\nc", []int{2}, 600, "a\nrm -rf b\nc\n"},
		"Screen":  {strings.Repeat("echo step\n", 18) + "rm -rf b\necho end", []int{19}, cardtext.Everything, "echo step\n"},
		"Further": {strings.Repeat("echo step\n", 19) + "rm -rf b\necho end", []int{20}, cardtext.Everything, "Line 20 of 21:\nrm -rf b\necho step\n"},
		"Wide":    {"a\nrm -rf b\n" + strings.Repeat("x", 600), []int{2}, cardtext.Everything, "Line 2 of 3:\nrm -rf b\na\n"},
		"Unknown": {long, nil, 600, "echo step\n"},
	} {
		card := approval.Card{Items: []approval.Item{{State: approval.Pending, Executor: "sh", Command: tt.command, Lines: tt.lines, Args: approval.CommandArgs(tt.command)}}}
		got := cardtext.Read(card, texts).Call(0, tt.budget, 0).String()
		if _, got, _ = strings.Cut(got, "sh\n"); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %.120q does not begin with %q", name, got, tt.want)
		}
	}
	card := approval.Card{Items: []approval.Item{{State: approval.Pending, Executor: "sh", Command: long, Lines: []int{251}}}}
	if file := string(cardtext.Read(card, texts).File().Data); !strings.Contains(file, "Line 251 of 300:\n    git push --force origin main\ncommand:\n    echo step\n") {
		t.Errorf("the file says %.200q", file)
	}
	card.Items[0].Lines = []int{1, 2, 3, 4, 251}
	if file := string(cardtext.Read(card, texts).File().Data); strings.Count(file, "Line ") != 3 || !strings.Contains(file, "… and 2 other lines like that\ncommand:\n") {
		t.Errorf("of many lines, the file says %.300q", file)
	}
}
