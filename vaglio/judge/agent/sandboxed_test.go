package agent

import (
	"slices"
	"testing"

	"github.com/metnos/vaglio/vaglio/judge/sandbox"
)

// What runs programs is refused wherever programs cannot be kept in.
func TestWhatALayerRefuses(t *testing.T) {
	var all []ToolUse
	for _, name := range ToolNames() {
		all = append(all, ToolUse{Name: name})
	}
	for layer, want := range map[sandbox.LayerName][]string{
		sandbox.LayerBubblewrap: nil, sandbox.LayerLandlock: {ToolRun, ToolAstGrep}, sandbox.LayerNone: {ToolRun, ToolAstGrep},
	} {
		if got := refusedBy(sandbox.Layer{Name: layer}, all); !slices.Equal(got, want) {
			t.Errorf("%s refuses %v, want %v", layer, got, want)
		}
	}
}
