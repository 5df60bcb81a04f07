package slack_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// TestRoster looks up who is in the listed group while it changes, and while it cannot be
// looked up.
func TestRoster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		wants := func(known bool, want ...string) {
			t.Helper()
			got, ok := w.channel.Roster("slack:" + group)
			if ok != known || !slices.Equal(got, want) {
				t.Errorf("the group is %v, %v; want %v, %v", got, ok, want, known)
			}
		}
		wants(false)
		w.start()
		defer w.stop()
		wants(true, "slack:"+bob)
		w.server.SetGroup(group, ann, bob)
		time.Sleep(6 * time.Minute)
		wants(true, "slack:"+ann, "slack:"+bob)
		for _, other := range []string{group, "telegram:" + group, "slack:S0000000099", "slack:" + ann} {
			if got, known := w.channel.Roster(other); known || got != nil {
				t.Errorf("%s is %v, %v", other, got, known)
			}
		}
		w.server.DropGroup(group) // whoever was in it may decide no more
		time.Sleep(6 * time.Minute)
		wants(false)
		w.server.SetGroup(group, ann, bob)
		time.Sleep(6 * time.Minute)
		w.server.Fail("usergroups.users.list", 1000, slacktest.Fault{Error: "fatal_error"})
		time.Sleep(10 * time.Minute)
		wants(true, "slack:"+ann, "slack:"+bob)
		time.Sleep(10 * time.Minute)
		wants(false)
		if slack.IsGroup("slack:"+ann) || slack.IsGroup(group) || !slack.IsGroup("slack:"+group) {
			t.Error("a group is told from a person by its id")
		}
	})
}
