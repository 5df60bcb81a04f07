package policyfile

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/operation"
)

// TestWhatSparesNoQuestionIsTold describes a program that vaglio knows beside one that it does not.
func TestWhatSparesNoQuestionIsTold(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := Policy{Programs: map[string]operation.Reach{"rm": "workspace", "tixly": "workspace"}}
	if err := p.Describe(&b, Judging{Kind: "effects"}, Chats{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rm reaches: workspace (vaglio knows it: this spares no question)\n", "tixly reaches: workspace\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
