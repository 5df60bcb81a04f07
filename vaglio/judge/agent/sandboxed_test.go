package agent

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/vaglio/judge/sandbox"
)

// Tools that run programs are refused wherever programs cannot be confined.
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

// A judge with much time may let a command take long, and keeps time for its verdict.
func TestTheTimeOfACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for left, want := range map[time.Duration]time.Duration{
			time.Minute: 0, 2 * time.Minute: 0, 5 * time.Minute: 270 * time.Second, 30 * time.Minute: 27 * time.Minute, 3 * time.Hour: time.Hour, -time.Second: 0,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			if got := commandTime(ctx); got != want {
				t.Errorf("with %s left a command has %s, want %s", left, got, want)
			}
			cancel()
		}
		if got := commandTime(t.Context()); got != 0 {
			t.Errorf("without an end a command has %s", got)
		}
	})
}
