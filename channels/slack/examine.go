package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// Examine examines the state of the app, and changes nothing. alone says that no Run hears
// people, here or in another process of ours. Its findings show no secrets.
func (c *Channel) Examine(ctx context.Context, alone bool) []approval.Finding {
	e := &examiner{Channel: c, alone: alone}
	if !e.token(ctx) {
		for _, subject := range []string{"slack scopes", subjectPresses, "slack channel", "slack groups", subjectCards} {
			e.found(subject, approval.Unseen, "Not checked: it needs an answer from Slack.", "")
		}
		return e.findings
	}
	e.presses(ctx)
	for _, at := range e.all() {
		e.room(ctx, at)
	}
	e.rosters(ctx)
	e.cards(ctx)
	return e.findings
}

// Scopes returns the scopes that the app's manifest asks for.
func Scopes() []string {
	return []string{
		"channels:history", "channels:read", "chat:write", "commands", "files:write",
		"groups:history", "groups:read", "usergroups:read", "users:read",
	}
}

// examiner is one examination of the app.
type examiner struct {
	*Channel
	alone    bool
	findings []approval.Finding
}

// examineWithin limits each call, so that a platform that does not answer does not hold up
// a person at a terminal.
const examineWithin = 8 * time.Second

const (
	subjectPresses = "slack presses"
	subjectCards   = "slack cards"
)

func (e *examiner) found(subject string, g approval.Grade, text, remedy string) {
	e.findings = append(e.findings, approval.Finding{Subject: subject, Grade: g, Text: text, Remedy: remedy})
}

// wrong reports a trouble that people are told about, too.
func (e *examiner) wrong(subject string, t platform.Trouble) {
	h := t.In(e.config.English())
	e.found(subject, approval.Wrong, h.Problem, h.Remedy)
}

// ask makes a call that changes nothing.
func (e *examiner) ask(ctx context.Context, method string, call func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	return e.do(ctx, method, call)
}

// failed reports a call that did not answer the question.
func (e *examiner) failed(subject string, err error) {
	told := diagnose(err).In(e.config.English())
	text, remedy := told.Problem, told.Remedy
	status, _ := errors.AsType[slackapi.StatusCodeError](err)
	pause, paused := errors.AsType[*slackapi.RateLimitedError](err)
	switch {
	case text != "":
	case paused:
		text, remedy = "Slack asks for a pause.", fmt.Sprintf("Ask again in %s.", max(pause.RetryAfter, platform.FirstPause).Round(time.Second))
	case status.Code >= http.StatusInternalServerError, means(err) == meansUnsure:
		text, remedy = "Slack answers with errors: "+err.Error()+".", "Ask again later: it is most likely down."
	case status.Code != 0, word(err) != "":
		text, remedy = "Slack gave an unexpected answer: "+cardtext.Clip(err.Error(), 200)+".", "Check the address of the Web API, and what stands between."
	default:
		text, remedy = "Slack cannot be reached: "+cardtext.Clip(err.Error(), 200)+".", "Check the network, the name service and the proxy on the way to slack.com."
	}
	e.found(subject, approval.Wrong, text, remedy)
}

// token finds out who the app is, and what it may do.
func (e *examiner) token(ctx context.Context) bool {
	var who *slackapi.AuthTestResponse
	err := e.ask(ctx, "auth.test", func(ctx context.Context) (err error) {
		who, err = e.api.AuthTestContext(ctx)
		return err
	})
	if err != nil {
		e.failed("slack token", err)
		return false
	}
	e.found("slack token", approval.Fine, "Slack takes it: the app is "+cardtext.Clip(who.User, 80)+" in "+cardtext.Clip(who.Team, 80)+".", "")
	e.clock(who.Header.Get("Date"))
	e.scopes(who.Header.Get("X-Oauth-Scopes"))
	return true
}

// scopes compares what the token grants with the manifest.
func (e *examiner) scopes(header string) {
	const subject = "slack scopes"
	if strings.TrimSpace(header) == "" {
		e.found(subject, approval.Unseen, "Slack's answer names none.", "")
		return
	}
	var granted []string
	for one := range strings.SplitSeq(header, ",") {
		granted = append(granted, strings.TrimSpace(one))
	}
	missing := slices.DeleteFunc(Scopes(), func(s string) bool { return slices.Contains(granted, s) })
	more := slices.DeleteFunc(granted, func(s string) bool { return slices.Contains(Scopes(), s) })
	switch {
	case len(missing) > 0:
		e.wrong(subject, platform.Trouble{Key: troubleScope, Values: templates.Values{"scopes": templates.Theirs(strings.Join(missing, ", "))}})
	case len(more) > 0:
		e.found(subject, approval.Noted, "The app has more rights than it needs: "+cardtext.Clip(strings.Join(more, ", "), 200)+".", "")
	default:
		e.found(subject, approval.Fine, "They are those of the manifest.", "")
	}
}

// presses finds out whether what people do reaches us. No method tells whether
// interactivity is on; a rehearsal does.
func (e *examiner) presses(ctx context.Context) {
	e.mu.Lock()
	hearing, up := e.hearing, e.up()
	e.mu.Unlock()
	switch {
	case e.config.AppToken == "":
		e.deliveries()
	case !e.alone && up > 0:
		e.found(subjectPresses, approval.Fine, fmt.Sprintf("The daemon hears them, over %d of %d connections.", up, connections), "")
	case !e.alone && !hearing.OK():
		e.wrong(subjectPresses, hearing)
	default:
		e.door(ctx)
	}
}

// door finds out whether a socket could be opened, without opening one.
func (e *examiner) door(ctx context.Context) {
	err := e.ask(ctx, "apps.connections.open", func(ctx context.Context) error {
		_, _, err := e.api.StartSocketModeContext(ctx)
		return err
	})
	switch {
	case err == nil:
		e.found(subjectPresses, approval.Fine, "Slack lets the app open a connection for them.", "")
	case word(err) == "too_many_websockets":
		e.wrong(subjectPresses, platform.Trouble{Key: troubleFull})
	case means(err) == meansToken:
		e.found(subjectPresses, approval.Wrong, "Slack refuses the app-level token.",
			"Take one with the scope connections:write from the app's page Basic Information, and see that Socket Mode is on.")
	default:
		e.failed(subjectPresses, err)
	}
}

// room finds out whether cards can be put where they are to go.
func (e *examiner) room(ctx context.Context, at *Conversation) {
	subject := "slack channel"
	if at != e.own {
		subject += " " + at.id
	}
	var ch *slackapi.Channel
	err := e.ask(ctx, "conversations.info", func(ctx context.Context) (err error) {
		ch, err = e.api.GetConversationInfoContext(ctx, &slackapi.GetConversationInfoInput{ChannelID: at.id})
		return err
	})
	t := at.diagnose(err)
	switch {
	case !t.OK():
	case err != nil:
		e.failed(subject, err)
		return
	case ch.IsArchived:
		t = at.closed()
	case !ch.IsMember:
		t = at.shut()
	default:
		e.found(subject, approval.Fine, "Cards go to #"+cardtext.Clip(ch.Name, 80)+", where the app is a member.", "")
		return
	}
	e.wrong(subject, t)
}

// rosters finds out whether the user groups exist and have members.
func (e *examiner) rosters(ctx context.Context) {
	const subject = "slack groups"
	n := 0
	for _, id := range e.config.Approvers {
		if !groupID.MatchString(id) {
			continue
		}
		n++
		var members []string
		err := e.ask(ctx, "usergroups.users.list", func(ctx context.Context) (err error) {
			members, err = e.api.GetUserGroupMembersContext(ctx, id)
			return err
		})
		switch {
		case says(err, "no_such_subteam", "subteam_not_found"):
			e.found(subject, approval.Wrong, "There is no user group "+id+", so nobody decides by it.", "Correct METNOS_SLACK_APPROVERS or the policy's routes.")
		case err != nil:
			e.failed(subject, err)
		case len(members) == 0:
			e.found(subject, approval.Wrong, "The user group "+id+" is empty, so nobody decides by it.", "Put people into it, or take it from those who may decide.")
		default:
			e.found(subject, approval.Fine, fmt.Sprintf("%s has %d members.", id, len(members)), "")
		}
	}
	if n == 0 {
		e.found(subject, approval.Noted, "None decides: people are listed one by one.", "")
	}
}

// specimen returns a card with everything that a card of one call may have.
func specimen() approval.Card {
	args := `{"to": "ann@example.com", "text": "` + strings.Repeat("A line of a letter. ", 30) + `"}`
	return approval.Card{
		Ask: "specimen", Agent: "coder", Intent: "write to Ann", OpenedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
		Buttons: []approval.Button{{Choice: approval.ChoiceAllow, Token: "allow"}, {Choice: approval.ChoiceDeny, Token: "deny"}},
		Items:   []approval.Item{{Approval: "specimen-1", State: approval.Pending, Executor: "send_mail", Args: args}},
	}
}

// cards asks the platform whether it would accept a card and the window for words. Nobody
// sees them.
func (e *examiner) cards(ctx context.Context) {
	v := &cardView{Card: cardtext.Read(specimen(), e.texts), folds: true}
	card := func() any { return map[string]any{"blocks": v.fit().done()} }
	problem, err := e.validate(ctx, "message", card())
	open := problem != "" && err == nil
	if open {
		v.folds = false
		problem, err = e.validate(ctx, "message", card())
	}
	if problem == "" && err == nil {
		l := loop{Channel: e.Channel}
		problem, err = e.validate(ctx, "view", l.modal("specimen", e.own.id, denying()))
	}
	switch {
	case says(err, "unknown_method"):
		e.found(subjectCards, approval.Unseen, "Slack does not say here whether it takes them.", "")
	case err != nil:
		e.failed(subjectCards, err)
	case problem != "":
		e.found(subjectCards, approval.Wrong, "Slack would refuse them: "+cardtext.Clip(problem, 200)+".", "Report it with this line: cards are shown in short until then.")
	case open:
		e.found(subjectCards, approval.Noted, "Slack takes them, but nothing that folds: long arguments stand open.", "")
	default:
		e.found(subjectCards, approval.Fine, "Slack takes them, and the window for words.", "")
	}
}

// validate asks the platform to check a message or a view, and returns what it would
// refuse. The library has no method for it.
func (e *examiner) validate(ctx context.Context, kind string, what any) (problem string, err error) {
	body, err := strictjson.Marshal(what)
	if err != nil {
		return "", err
	}
	var said struct {
		OK     bool   `json:"ok"`
		Error  string `json:"error"`
		Errors []struct {
			Pointer string `json:"pointer"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	const method = "blocks.validate"
	err = e.ask(ctx, method, func(ctx context.Context) error {
		form := url.Values{kind: {string(body)}}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(e.config.API, "/")+"/"+method, strings.NewReader(form.Encode()))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+e.config.BotToken)
		res, err := e.config.Client.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return slackapi.StatusCodeError{Code: res.StatusCode, Status: res.Status}
		}
		if err := strictjson.ReadLoose(io.LimitReader(res.Body, maxSaid), &said); err != nil {
			return err
		}
		if !said.OK && len(said.Errors) == 0 && means(slackapi.SlackErrorResponse{Err: said.Error}) != meansBlocks {
			return slackapi.SlackErrorResponse{Err: said.Error}
		}
		return nil
	})
	if err != nil || said.OK {
		return "", err
	}
	for _, one := range said.Errors {
		return one.Message + " at " + one.Pointer, nil
	}
	return said.Error, nil
}

// maxSaid is the most that is read of an answer.
const maxSaid = 1 << 20
