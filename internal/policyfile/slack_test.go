package policyfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
)

const (
	slackHome = "C0000000001"
	slackAnn  = "U00000000A1"
	slackOps  = "C0000000002"
)

// onChannels returns a policy whose one route goes to the channels.
func onChannels(channels ...string) string {
	return fmt.Sprintf("approval: {routes: [{name: team, channels: ['%s'], approvers: ['slack:%s']}], rules: [{route: team}]}\n",
		strings.Join(channels, "', '"), slackAnn)
}

// Who decides on a chat is everybody with an id there, as a member or by a route, each once. An id of
// another chat, or that is not a person's, is nobody's.
func TestWhoDecidesOnTheChats(t *testing.T) {
	t.Parallel()
	r := &approval.Routing{
		Members: []approval.Member{{Name: "ann", IDs: []string{"telegram:1", "slack:" + slackAnn}}, {Name: "bob", IDs: []string{"telegram:1", "telegram:7"}}},
		Routes: []approval.Route{
			{Name: "team", Approvers: []string{"ann", "telegram:7", "telegram:8", "telegram:0", "telegram:-9", "telegram:x", "slack:U2", "slack:" + slackAnn, "8", "web:3"}, Groups: []string{"slack:S3"}},
			{Name: "all", Approvers: []string{approval.Anyone, "slack:U2"}, Groups: []string{"slack:S3"}},
		},
	}
	if ids := TelegramIDs(r); !slices.Equal(ids, []int64{1, 7, 8}) {
		t.Errorf("on Telegram %v decide", ids)
	}
	if ids := SlackIDs(r); !slices.Equal(ids, []string{slackAnn, "U2", "S3"}) {
		t.Errorf("on Slack %v decide", ids)
	}
	if (Chats{Telegram: true}).None() || (Chats{Slack: true}).None() || !(Chats{}).None() {
		t.Error("a chat that is on is none, or none is one")
	}
}

// Besides its own channel Slack's app updates those that routes name, and those that still show a card
// of an ask that waits. A store that cannot be read is told of: the cards there would never change.
func TestTheOtherChannelsOfSlack(t *testing.T) {
	t.Parallel()
	store := asks{}
	keep := func(body []byte) { store.all = append(store.all, approval.Record{Body: body}) }
	shownOn := func(channel string) []byte {
		t.Helper()
		body, err := approval.EncodeAsk(approval.Ask{Cards: []approval.Shown{{Channel: channel}}})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	keep(shownOn("slack:C0000000007"))
	keep([]byte("{")) // hides no other
	keep(shownOn("slack:C0000000008"))
	keep(shownOn("telegram"))
	r := &approval.Routing{Routes: []approval.Route{{Name: "team", Channels: []string{"slack:" + slackOps, "slack", "web"}}}}
	got, err := SlackOthers(t.Context(), store, r)
	slices.Sort(got)
	if want := []string{slackOps, "C0000000007", "C0000000008"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	store.err = errors.New("the disk is gone")
	if _, err := SlackOthers(t.Context(), store, r); !errors.Is(err, store.err) {
		t.Errorf("of a store that cannot be read: %v", err)
	}
}

// asks lists the asks that wait, and ends with an error.
type asks struct {
	all []approval.Record
	err error
}

func (a asks) List(_ context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		for _, r := range a.all {
			if q.Kind != approval.KindAsk || !q.Open || !yield(r, nil) {
				return
			}
		}
		if a.err != nil {
			yield(approval.Record{}, a.err)
		}
	}
}

// A route to a Slack channel that is invalid or unreachable is reported in one sentence.
func TestRoutesToChannelsOfSlack(t *testing.T) {
	t.Parallel()
	on := Chats{Slack: true, SlackChannel: slackHome}
	for name, c := range map[string]struct {
		channels []string
		c        Chats
		wrong    string
		want     []string
	}{
		"One":      {[]string{"slack:" + slackOps}, on, "", []string{"slack:" + slackOps}},
		"Several":  {[]string{"slack:" + slackOps, "web", "slack"}, on, "", []string{"slack:" + slackOps, "web", "slack"}},
		"ItsOwn":   {[]string{"slack:" + slackHome}, on, "", []string{"slack"}},
		"OwnTwice": {[]string{"slack:" + slackHome, "slack"}, on, `goes to the channel "slack" twice`, nil},
		"Twice":    {[]string{"slack:" + slackOps, "slack:" + slackOps}, on, `goes to the channel "slack:C0000000002" twice`, nil},
		"ByName":   {[]string{"slack:#ops"}, on, `route "team" goes to the channel "slack:#ops"; a channel of Slack's is named by its id, such as "slack:C0123456789"`, nil},
		"APerson":  {[]string{"slack:" + slackAnn}, on, "is named by its id", nil},
		"Bare":     {[]string{slackOps}, on, `goes to the channel "C0000000002"; known:`, nil},
		"Off":      {[]string{"slack:" + slackOps}, Chats{}, `goes to the channel "slack:C0000000002"; known: web`, nil},
		"Telegram": {[]string{"telegram:4711"}, on, `goes to the channel "telegram:4711"; known:`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse("p.yaml", []byte(onChannels(c.channels...)), "/home/u")
			if err == nil {
				err = p.CheckChannels(c.c)
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Fatalf("got %v, want %q", err, c.wrong)
			}
			if err == nil && !slices.Equal(p.Routing.Routes[0].Channels, c.want) {
				t.Errorf("it goes to %q, want %q", p.Routing.Routes[0].Channels, c.want)
			}
		})
	}
}
