package policyfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
)

// checkSlackChannels rejects channel names that look like Slack's but are not.
func checkSlackChannels(r *approval.Routing) error {
	var all []error
	for i := range r.Routes {
		for at, name := range r.Routes[i].Channels {
			if approval.Platform(name) != slack.Name || approval.IsPlain(name) || slack.IsConversation(name) {
				continue
			}
			all = append(all, &approval.RoutingError{
				What:    fmt.Sprintf("route %q", r.Routes[i].Name),
				Problem: fmt.Sprintf(`goes to the channel %q; a channel of Slack's is named by its id, such as "slack:C0123456789", which is at the foot of its details`, name),
				Place:   fmt.Sprintf("/routes/%d/channels/%d", i, at),
			})
		}
	}
	return errors.Join(all...)
}

// slackChannels returns the Slack channels that routes name, without duplicates.
func slackChannels(r *approval.Routing) []string {
	var names []string
	for i := range r.Routes {
		names = append(names, r.Routes[i].Channels...)
	}
	return conversations(names)
}

// conversations returns those names that are Slack channels given by ID, without duplicates.
func conversations(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slack.IsConversation(name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// ownSlackChannel lets routes also name the app's own channel by its ID: it is the same channel, and
// no ask may be shown there twice.
func ownSlackChannel(r *approval.Routing, own string) {
	r.Routes = slices.Clone(r.Routes)
	for i := range r.Routes {
		to := &r.Routes[i]
		to.Channels = slices.Clone(to.Channels)
		for j, name := range to.Channels {
			if own != "" && name == slack.Name+":"+own {
				to.Channels[j] = slack.Name
			}
		}
	}
}

// Lister lists stored records.
type Lister interface {
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
}

// SlackOthers returns the IDs of the channels, besides the app's own, that the app must update:
// those of routes, and those that still show a card sent under an earlier configuration.
func SlackOthers(ctx context.Context, store Lister, r *approval.Routing) ([]string, error) {
	names := slackChannels(r)
	for record, err := range store.List(ctx, approval.Query{Kind: approval.KindAsk, Open: true}) {
		if err != nil {
			return nil, fmt.Errorf("look for cards on slack: %w", err)
		}
		ask, err := approval.DecodeAsk(record.Body)
		if err != nil {
			continue // The dispatcher reports it.
		}
		for i := range ask.Cards {
			names = append(names, ask.Cards[i].Channel)
		}
	}
	return slackIDsOf(conversations(names)), nil
}

// RoutedSlackChannels returns the IDs of the Slack channels that routes name.
func RoutedSlackChannels(r *approval.Routing) []string { return slackIDsOf(slackChannels(r)) }

// slackIDsOf returns the platform's IDs of channels.
func slackIDsOf(names []string) []string {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = strings.TrimPrefix(name, slack.Name+":")
	}
	return ids
}

// SlackIDs returns the IDs of the people and user groups who decide on Slack by a route.
func SlackIDs(r *approval.Routing) []string {
	var ids []string
	add := func(all []string) {
		for _, id := range all {
			if one, ok := strings.CutPrefix(id, slack.Name+":"); ok && !slices.Contains(ids, one) {
				ids = append(ids, one)
			}
		}
	}
	for i := range r.Members {
		add(r.Members[i].IDs)
	}
	for i := range r.Routes {
		add(r.Routes[i].Approvers)
		add(r.Routes[i].Groups)
	}
	return ids
}
