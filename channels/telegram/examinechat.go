package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/platform"
)

// pairing finds out whether there is a chat, and somebody who may decide.
func (e *examiner) pairing() {
	const subject = "telegram pairing"
	chat, placed := e.place()
	people := e.people()
	switch {
	case !placed:
		e.found(subject, approval.Wrong, "Nobody has paired with the bot, so there is no chat that cards go to.",
			"Run 'vaglio pair' while the daemon serves, and send the bot what it prints.")
	case len(people) == 0:
		e.found(subject, approval.Wrong, fmt.Sprintf("Cards go to chat %d, and nobody may decide there.", chat),
			"Run 'vaglio pair' while the daemon serves, or name people in METNOS_TELEGRAM_APPROVERS.")
	default:
		e.found(subject, approval.Fine, fmt.Sprintf("Cards go to chat %d; %s may decide.", chat, numbers(people)), "")
	}
}

// people returns those who may decide.
func (e *examiner) people() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.approvers)
	if person := e.notes.Now().Person; person != 0 && !slices.Contains(all, person) {
		all = append(all, person)
	}
	return all
}

func numbers(all []int64) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(texts, ", ")
}

// chat finds out whether the bot can write where cards go.
func (e *examiner) chat(ctx context.Context) {
	const subject = "telegram chat"
	id, placed := e.place()
	if !placed {
		e.found(subject, approval.Unseen, "There is none yet.", "")
		return
	}
	var r room
	if err := e.ask(ctx, "getChat", tgbotapi.Params{"chat_id": strconv.FormatInt(id, 10)}, &r); err != nil {
		e.unreachable(subject, err)
		return
	}
	if !e.writes(ctx, id, &r) {
		return
	}
	what := "It is a chat with one person"
	if r.Type != "private" {
		what = fmt.Sprintf("It is the %s %q", r.Type, visible.Text(r.Title))
	}
	e.found(subject, approval.Fine, what+", and takes what the bot writes.", "")
	if r.Type != "private" {
		e.group(ctx, id, &r)
	}
}

// closed reports what keeps the chat from accepting messages.
func (e *examiner) closed(subject string, key phrase) {
	h := platform.Trouble{Key: key}.In(e.locale.English())
	e.found(subject, approval.Wrong, h.Problem, h.Remedy)
}

// unreachable reports why a chat is closed to the bot.
func (e *examiner) unreachable(subject string, err error) {
	p, ok := errors.AsType[*PlatformError](err)
	switch {
	case ok && p.MigrateTo != 0:
		e.found(subject, approval.Wrong, fmt.Sprintf("The group became a supergroup with the number %d.", p.MigrateTo),
			fmt.Sprintf("Set METNOS_TELEGRAM_CHAT to %d if it names the group; a paired chat is followed by itself.", p.MigrateTo))
	case ok && p.topicless():
		e.closed(subject, troubleTopic)
	case ok && p.shut():
		e.closed(subject, troubleShut)
	case ok && p.gone():
		e.closed(subject, troubleGone)
	default:
		e.failed(subject, err)
	}
}

// writes finds out whether the chat accepts messages, without sending one: the person sees
// for a moment that the bot is typing.
func (e *examiner) writes(ctx context.Context, id int64, r *room) bool {
	const subject = "telegram chat"
	p := tgbotapi.Params{"chat_id": strconv.FormatInt(id, 10), "action": "typing"}
	if e.topic != 0 {
		p["message_thread_id"] = strconv.FormatInt(e.topic, 10)
		if !r.Forum {
			e.found(subject, approval.Wrong, "METNOS_TELEGRAM_TOPIC is set, and the chat has no topics.",
				"Unset METNOS_TELEGRAM_TOPIC, or switch the group's topics on.")
			return false
		}
	}
	var done bool
	if err := e.ask(ctx, "sendChatAction", p, &done); err != nil {
		e.unreachable(subject, err)
		return false
	}
	return true
}

// standing is somebody's status in a chat.
type standing struct {
	Status string `json:"status"`
	// Sends, Photos and IsMember are given for restricted users.
	Sends    bool `json:"can_send_messages"`
	Photos   bool `json:"can_send_photos"`
	IsMember bool `json:"is_member"`
}

// shows reports whether they may send photos to a chat.
func (s *standing) shows(r *room) bool {
	switch s.Status {
	case "restricted":
		return s.Photos
	case "member":
		return r.Members == nil || r.Members.Photos
	default:
		return true
	}
}

// inside reports whether they are in the chat.
func (s *standing) inside() bool {
	return s.Status != "left" && s.Status != "kicked" && (s.Status != "restricted" || s.IsMember)
}

func (e *examiner) stand(ctx context.Context, chat, person int64) (s standing, err error) {
	err = e.ask(ctx, "getChatMember", tgbotapi.Params{
		"chat_id": strconv.FormatInt(chat, 10), "user_id": strconv.FormatInt(person, 10),
	}, &s)
	return s, err
}

// group finds out the status of the bot and of the people in a group.
func (e *examiner) group(ctx context.Context, id int64, r *room) {
	const rights, privacy = "telegram rights", "telegram privacy"
	s, err := e.stand(ctx, id, e.self.ID)
	switch {
	case err != nil:
		e.failed(rights, err)
	case !s.inside():
		e.found(rights, approval.Wrong, "The bot is not a member of the group.", "Add the bot to the group.")
	case s.Status == "restricted" && !s.Sends:
		e.found(rights, approval.Wrong, "The bot may not write in the group.", "Let an admin of the group give the bot the right to send messages.")
	case r.Type == "channel":
		e.found(rights, approval.Noted, "The chat is a channel: its cards can be pressed, and nobody can answer them in words.", "")
	case !s.shows(r):
		e.found(rights, approval.Noted, "The group does not let the bot send photos, so text replaces a digest's picture; an admin can change that.", "")
	default:
		e.found(rights, approval.Fine, "The bot is its "+s.Status+"; it needs no right but to write.", "")
	}
	if e.self.ReadsAll {
		e.found(privacy, approval.Noted, "The bot receives every message of its groups, but needs only commands and replies; BotFather's /setprivacy keeps the others from it.", "")
	}
	e.seers(ctx, id)
}

// seers finds out whether those who may decide are in the group.
func (e *examiner) seers(ctx context.Context, id int64) {
	var out []int64
	for _, person := range e.people() {
		// About others the platform gives reliable answers only if the bot is an admin.
		if s, err := e.stand(ctx, id, person); err == nil && !s.inside() || notThere(err) {
			out = append(out, person)
		}
	}
	if len(out) > 0 {
		e.found("telegram people", approval.Wrong, numbers(out)+" may decide, and cannot see the cards: not in the group.",
			"Add them to the group, or take them out of METNOS_TELEGRAM_APPROVERS.")
	}
}

// notThere reports whether the platform says that a chat has no such member.
func notThere(err error) bool {
	p, ok := errors.AsType[*PlatformError](err)
	return ok && p.Code == http.StatusBadRequest && p.says("user not found", "member not found", "PARTICIPANT_ID_INVALID", "USER_NOT_PARTICIPANT")
}
