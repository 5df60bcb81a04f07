package about_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// batched puts calls into one that makes them.
func batched(calls ...vaglio.Proposal) vaglio.Proposal {
	var list []any
	for _, c := range calls {
		list = append(list, map[string]any{"tool": c.Executor, "parameters": map[string]any(c.Args)})
	}
	return vaglio.Proposal{Executor: "batch", Args: vaglio.Args{"tool_calls": list}, Context: calls[0].Context}
}

// A denial covers a call however it is made, also inside another one, and spreads to none that does
// more. No grant covers a batch.
func TestBatchesAreAboutTheirCalls(t *testing.T) {
	t.Parallel()
	n := newNamer(t)
	push, look := command("git push --force origin feature"), command("git status")
	remove := vaglio.Proposal{Executor: "mcp__shop__delete_order", Args: vaglio.Args{"id": "7"}, Context: push.Context}
	other := vaglio.Proposal{Executor: "mcp__shop__delete_order", Args: vaglio.Args{"id": "8"}, Context: push.Context}
	key := func(p vaglio.Proposal) string {
		k, known := n.Key(p)
		if !known {
			t.Errorf("%v has no key", p.Args)
		}
		return k
	}
	for _, same := range [][2]vaglio.Proposal{
		{push, batched(push)},
		{push, batched(look, push)},
		{push, batched(push, push, look)},
		{remove, batched(look, remove)},
		{batched(push, remove), batched(remove, push)},
	} {
		if a, b := key(same[0]), key(same[1]); a != b {
			t.Errorf("%v is %s, %v is %s", same[0].Args, a, same[1].Args, b)
		}
	}
	for _, differ := range [][2]vaglio.Proposal{
		{push, batched(push, remove)}, {remove, batched(other)}, {batched(push, remove), batched(push, other)}, {push, batched(command("git push --force origin main"))},
	} {
		if a, b := key(differ[0]), key(differ[1]); a == b {
			t.Errorf("%v and %v are both %s", differ[0].Args, differ[1].Args, a)
		}
	}
	mild := command("git push origin main")
	if alone, about := n.Of(mild), n.Of(batched(mild)); !alone.Mild || about.Mild || about.Whole || about.Subjects.Key() != alone.Subjects.Key() {
		t.Errorf("alone it is about %+v, in a batch %+v", alone, about)
	}
	if about := n.Of(batched(look)); about.Mild || len(about.Subjects) > 0 {
		t.Errorf("looking is about %+v", about)
	}
}
