package slack_test

import (
	"errors"
	"slices"
	"strings"
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

// TestTheMembersOfAGroupDecideForALimitedTime checks to the instant how long those who were in
// a group may decide while it cannot be looked up.
func TestTheMembersOfAGroupDecideForALimitedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer w.stop()
		w.server.Fail("usergroups.users.list", 1000, slacktest.Fault{Error: "fatal_error"})
		const step = time.Second
		for span := 5 * step; ; span += step { // it took five seconds to start
			_, known := w.channel.Roster("slack:" + group)
			if may := w.channel.Approves("slack:" + bob); may != known {
				t.Fatalf("after %s the group is known: %t, its member may decide: %t", span, known, may)
			}
			if known != (span < 15*time.Minute) {
				t.Fatalf("after %s the group is known: %t", span, known)
			}
			if !known {
				break
			}
			time.Sleep(step)
		}
	})
}

// TestAListedPersonWaitsForNoLookup checks that no yes of somebody who is listed by name waits
// for a lookup of groups, and that a name is looked up again only if it is not known.
func TestAListedPersonWaitsForNoLookup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer w.stop()
		calls := func(method string) int { return len(w.server.Calls(method)) }
		w.server.Fail("users.info", 100, slacktest.Fault{Error: "internal_error"})
		w.press(ann, w.ask(command("make a")), "Allow once")
		w.server.Heal()
		groups, names := calls("usergroups.users.list"), calls("users.info")
		for _, line := range []string{"make b", "make c"} {
			a := w.ask(command(line))
			w.press(ann, a, "Allow once")
			if d := a.Approvals[0].Decision; d == nil || d.By.Name == ann {
				t.Errorf("%s: decided by %+v", line, d)
			}
		}
		if g, n := calls("usergroups.users.list")-groups, calls("users.info")-names; g != 0 || n != 1 {
			t.Errorf("for two more presses, groups were looked up %d times, names %d times", g, n)
		}
		w.press(bob, w.ask(command("make d")), "Allow once")
		if calls("usergroups.users.list") == groups {
			t.Error("the yes of a group's member waited for no lookup")
		}
	})
}

// TestALookupMakesNobodyAMember has somebody outside of the group press, again and again, when the
// group is looked up for them and when it is not.
func TestALookupMakesNobodyAMember(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer w.stop()
		a := w.ask(command("make a"))
		for i, later := range []time.Duration{0, time.Minute, time.Second, time.Minute} {
			answer := []string{"Allow once", "Deny"}[i/2] // before a yes, the group is looked up once more
			time.Sleep(later)
			before := len(w.server.Calls("usergroups.users.list"))
			w.press(eve, a, answer)
			if looked := len(w.server.Calls("usergroups.users.list")) > before; later == time.Minute && !looked {
				t.Error("the group was not looked up for somebody who may have joined it")
			}
			if d := a.Approvals[0].Decision; d != nil {
				t.Fatalf("%s later: decided by %+v", later, d.By)
			}
			w.wants(w.whispered(eve), "not among those who may decide")
		}
	})
}

// TestAMembersYesCountsByAFreshList checks to the instant how old a list of members may be by which
// a yes counts.
func TestAMembersYesCountsByAFreshList(t *testing.T) {
	t.Parallel()
	for age, looksUp := range map[time.Duration]bool{2*time.Second - time.Nanosecond: false, 2 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			defer w.stop()
			first, second := w.ask(command("make a")), w.ask(command("make b"))
			time.Sleep(time.Minute)
			listed := func() int { return len(w.server.Calls("usergroups.users.list")) }
			w.press(bob, first, "Allow once")
			time.Sleep(age)
			before := listed()
			w.press(bob, second, "Allow once")
			if got := listed() > before; got != looksUp {
				t.Errorf("by a list of %s: looked up %t", age, got)
			}
		})
	}
}

// TestACommandThatFailsIsToldSo lists what waits while nothing can be read.
func TestACommandThatFailsIsToldSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer w.stop()
		w.ask(command("make"))
		w.desk.Fail(errors.New("no room left"))
		id := w.server.Command(ann, home, "pending")
		synctest.Wait()
		if said := string(w.server.Delivery(id).Answer); !strings.Contains(said, "went wrong") || strings.Contains(said, "make") || strings.Contains(said, "no room") {
			t.Errorf("who lists what waits is told %q", said)
		}
	})
}
