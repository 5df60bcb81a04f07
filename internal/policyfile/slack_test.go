package policyfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
		"Bare":     {[]string{slackOps}, on, `goes to the channel "C0000000002"; there is`, nil},
		"Off":      {[]string{"slack:" + slackOps}, Chats{}, `goes to the channel "slack:C0000000002"; there is web`, nil},
		"Telegram": {[]string{"telegram:4711"}, on, `goes to the channel "telegram:4711"; there is`, nil},
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
