package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// atOnce is how many cards are decided while the rooms are closed.
const atOnce = 8

// rooms closes every chat to the bot, each in a different way, or opens them again.
func (e *everywhere) rooms(shut bool) {
	e.team.Archive(slackOps, shut)
	e.team.Kick(slackDeploy, shut)
	e.chat.Block(e.chat.chat, map[bool]string{true: "bot was blocked by the user"}[shut])
}

// shows returns, for each surface, a function that reports whether the call's card, which contains
// says, is there, with or without buttons.
func (e *everywhere) shows(ask approval.ID, says string, open bool) map[string]func() bool {
	surfaces := map[string]func() bool{
		"telegram": func() bool {
			return slices.ContainsFunc(e.chat.Messages(e.chat.chat), func(m telegramtest.Message) bool {
				return strings.Contains(m.Text, says) && (len(m.Buttons()) > 0) == open && (open || strings.Contains(m.Text, "Denied by owner"))
			})
		},
		"inbox": func() bool {
			page := e.owner.get("/inbox/ask/" + string(ask.Ask())).body
			return strings.Contains(page, says) && (len(buttons(e.t, page)) > 0) == open
		},
	}
	for _, id := range []string{slackOps, slackDeploy} {
		surfaces[id] = func() bool {
			return slices.ContainsFunc(e.team.Messages(id), func(m slacktest.Message) bool {
				return strings.Contains(m.Shown(), says) && hasButtons(m) == open && (open || strings.Contains(m.Shown(), "Denied by owner"))
			})
		}
	}
	return surfaces
}

// agree waits until every surface shows every card that way, and returns how long after began each
// one did.
func (e *everywhere) agree(began time.Time, asks map[string]approval.ID, open bool) (took []time.Duration) {
	e.t.Helper()
	var left []func() bool
	for says, id := range asks {
		for _, shows := range e.shows(id, says, open) {
			left = append(left, shows)
		}
	}
	e.team.await("all cards to agree", func() bool {
		left = slices.DeleteFunc(left, func(shows func() bool) bool {
			is := shows()
			if is {
				took = append(took, time.Since(began))
			}
			return is
		})
		return len(left) == 0
	})
	return took
}

// BenchmarkCardsAgreeAfterRoomsOpen posts asks to Telegram, two Slack channels and the inbox, and
// decides them in the inbox while no chat lets the daemon in. It measures the time from the rooms'
// opening until each surface shows the decision.
func BenchmarkCardsAgreeAfterRoomsOpen(b *testing.B) {
	e := servedEverywhere(b)
	var took []time.Duration
	n := 0
	for b.Loop() {
		asks := map[string]approval.ID{}
		for range atOnce {
			n++
			branch := fmt.Sprintf("topic-%d-end", n)
			body := strings.NewReplacer("main", branch, "t-81", "t-"+branch).Replace(forcePush)
			asks[branch] = e.s.agent("POST", "/v1/proposals", body).answer(b).Approval.ID
		}
		e.agree(time.Now(), asks, true)
		e.rooms(true)
		updates, edits := len(e.team.Calls("chat.update")), len(e.chat.Calls("editMessageText"))
		for _, id := range asks {
			form := buttons(b, e.owner.get("/inbox/ask/"+string(id.Ask())).body)["deny"]
			if r := e.owner.post("/inbox/decide", form); r.status != http.StatusOK {
				b.Fatalf("the inbox answers %d", r.status)
			}
		}
		// One try has failed in each chat, so each card waits for its next one.
		e.team.await("the failures", func() bool {
			return len(e.team.Calls("chat.update")) >= updates+2*atOnce && len(e.chat.Calls("editMessageText")) >= edits+atOnce
		})
		opened := time.Now()
		e.rooms(false)
		took = append(took, e.agree(opened, asks, false)...)
	}
	slices.Sort(took)
	for _, share := range []int{50, 99} {
		b.ReportMetric(float64(took[(len(took)-1)*share/100].Milliseconds()), fmt.Sprintf("p%d-ms", share))
	}
	b.ReportMetric(0, "ns/op")
}
