package slacktest_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/metnos/vaglio/channels/slack/slacktest"
)

const place = "C0000000001"

// inWorkspace runs a test with the real library on the fake platform.
func inWorkspace(t *testing.T, test func(t *testing.T, s *slacktest.Server, api *slack.Client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slacktest.New()
		s.AddUser(slacktest.User{ID: "U1", Name: "ann", RealName: "Ann"})
		s.AddChannel(place, "U1")
		s.Start()
		t.Cleanup(s.Stop)
		test(t, s, slack.New(slacktest.BotToken, slack.OptionAPIURL("http://slack.test/api/"),
			slack.OptionAppLevelToken(slacktest.AppToken), slack.OptionHTTPClient(s.Client())))
	})
}

// refused checks for an error of the platform.
func refused(t *testing.T, err error, word string) {
	t.Helper()
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); !ok || e.Err != word {
		t.Errorf("got %v, want %s", err, word)
	}
}

func plain(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
}

func button(id, value, text string) *slack.ButtonBlockElement {
	return slack.NewButtonBlockElement(id, value, plain(text))
}

func TestMessagesOfTheRealLibrary(t *testing.T) {
	inWorkspace(t, func(t *testing.T, s *slacktest.Server, api *slack.Client) {
		ctx := t.Context()
		if who, err := api.AuthTestContext(ctx); err != nil || who.TeamID != slacktest.TeamID {
			t.Fatalf("auth.test: %+v %v", who, err)
		}
		_, ts, err := api.PostMessageContext(ctx, place, slack.MsgOptionText("hi", true), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
			slack.MsgOptionBlocks(slack.NewHeaderBlock(plain("Head")), slack.NewActionBlock("", button("a", "v", "Go"))))
		if err != nil {
			t.Fatal(err)
		}
		m, _ := s.Message(place, ts)
		if m.Shown() != "Head" || len(m.Buttons()) != 1 || m.Buttons()[0].Value != "v" || m.Unfurls {
			t.Errorf("the message is %+v", m)
		}
		if _, _, _, err := api.UpdateMessageContext(ctx, place, ts, slack.MsgOptionText("done", true)); err != nil {
			t.Error(err)
		}
		if m, _ := s.Message(place, ts); m.Shown() != "done" || m.Edits != 1 {
			t.Errorf("the message is %+v", m)
		}
		if _, err := api.PostEphemeralContext(ctx, place, "U1", slack.MsgOptionText("psst", true)); err != nil || s.Ephemerals()[0].Text != "psst" {
			t.Errorf("%v %+v", err, s.Ephemerals())
		}
		const data = "all of it"
		if _, err := api.UploadFileContext(ctx, slack.UploadFileParameters{
			Content: data, FileSize: len(data), Filename: "a.txt", Channel: place, ThreadTimestamp: ts,
		}); err != nil {
			t.Fatal(err)
		}
		thread, _, _, err := api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{ChannelID: place, Timestamp: ts})
		if all := s.Messages(place); err != nil || len(thread) != 2 || string(all[1].File.Data) != data || all[1].ThreadTS != ts {
			t.Errorf("%v %+v", err, all)
		}
		if _, _, err := api.DeleteMessageContext(ctx, place, ts); err != nil {
			t.Error(err)
		}
		_, _, _, err = api.UpdateMessageContext(ctx, place, ts, slack.MsgOptionText("again", true))
		refused(t, err, "message_not_found")
	})
}

func TestRefusals(t *testing.T) {
	inWorkspace(t, func(t *testing.T, s *slacktest.Server, api *slack.Client) {
		ctx := t.Context()
		post := func(options ...slack.MsgOption) error {
			_, _, err := api.PostMessageContext(ctx, place, options...)
			return err
		}
		long := strings.Repeat("x", 3001)
		many := make([]slack.Block, 51)
		for i := range many {
			many[i] = slack.NewDividerBlock()
		}
		confirmed := button("a", "v", "x").WithConfirm(slack.NewConfirmationBlockObject(plain("x"), plain(long[:301]), plain("x"), plain("x")))
		var buttons []slack.BlockElement
		for i := range 26 {
			buttons = append(buttons, button(string(rune('a'+i)), "v", "x"))
		}
		for name, bad := range map[string][]slack.Block{
			"ManyBlocks": many, "LongHeader": {slack.NewHeaderBlock(plain(long[:151]))}, "LongSection": {slack.NewSectionBlock(plain(long), nil, nil)},
			"ManyButtons": {slack.NewActionBlock("", buttons...)}, "LongValue": {slack.NewActionBlock("", button("a", long[:2001], "x"))},
			"LongLabel": {slack.NewActionBlock("", button("a", "v", long[:76]))}, "SameActions": {slack.NewActionBlock("", button("a", "v", "x"), button("a", "w", "y"))},
			"LongActionID": {slack.NewActionBlock("", button(long[:256], "v", "x"))}, "LongConfirm": {slack.NewActionBlock("", confirmed)},
			"EmptyText": {slack.NewHeaderBlock(plain(""))}, "NoActions": {slack.NewActionBlock("")}, "LongBlockID": {slack.NewActionBlock(long[:256], button("a", "v", "x"))},
			"InputInAMessage": {slack.NewInputBlock("", plain("x"), nil, slack.NewPlainTextInputBlockElement(nil, "x"))},
		} {
			if err := post(slack.MsgOptionBlocks(bad...)); err == nil {
				t.Errorf("%s was taken", name)
			} else {
				refused(t, err, "invalid_blocks")
			}
		}
		var sections []slack.Block
		for range 4 {
			sections = append(sections, slack.NewSectionBlock(plain(long[:3000]), nil, nil))
		}
		refused(t, post(slack.MsgOptionBlocks(sections...)), "msg_blocks_too_long")
		refused(t, post(), "no_text")
		hi := slack.MsgOptionText("hi", true)
		s.Archive(place, true)
		refused(t, post(hi), "is_archived")
		s.Archive(place, false)
		s.Kick(place, true)
		refused(t, post(hi), "not_in_channel")
		s.Kick(place, false)
		s.Scope("chat:write", false)
		refused(t, post(hi), "missing_scope")
		s.Scope("chat:write", true)
		s.Revoke("token_revoked")
		refused(t, post(hi), "token_revoked")
		s.Revoke("")
		s.Pace(time.Second)
		_ = post(hi)
		if e, ok := errors.AsType[*slack.RateLimitedError](post(hi)); !ok || e.RetryAfter != time.Second {
			t.Errorf("two at once gave %v", e)
		}
		time.Sleep(time.Second)
		if err := post(hi); err != nil {
			t.Error(err)
		}
	})
}

// listen runs a Socket Mode client and returns it, to be read from.
func listen(t *testing.T, s *slacktest.Server, api *slack.Client) *socketmode.Client {
	t.Helper()
	c := socketmode.New(api, socketmode.OptionDialer(&websocket.Dialer{NetDialContext: s.Dial}), socketmode.OptionLog(slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = c.RunContext(ctx) }()
	t.Cleanup(func() { cancel(); s.Stop(); <-done })
	return c
}

// heard returns the next event of a kind.
func heard(t *testing.T, c *socketmode.Client, kind socketmode.EventType) socketmode.Event {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		select {
		case e := <-c.Events:
			if e.Type == kind {
				return e
			}
		case <-patience:
			t.Fatalf("no event %s came", kind)
		}
	}
}

func TestSocketModeOfTheRealLibrary(t *testing.T) {
	inWorkspace(t, func(t *testing.T, s *slacktest.Server, api *slack.Client) {
		c := listen(t, s, api)
		heard(t, c, socketmode.EventTypeHello)
		_, ts, _ := api.PostMessageContext(t.Context(), place, slack.MsgOptionBlocks(slack.NewActionBlock("", button("a", "v", "Go"))))
		id, err := s.Press("U1", place, ts, "Go")
		if err != nil {
			t.Fatal(err)
		}
		e := heard(t, c, socketmode.EventTypeInteractive)
		press, _ := e.Data.(slack.InteractionCallback)
		if press.User.ID != "U1" || press.Channel.ID != place || press.Container.MessageTs != ts || press.ActionCallback.BlockActions[0].Value != "v" {
			t.Errorf("the press is %+v", press)
		}
		if err := c.Ack(*e.Request); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if d := s.Delivery(id); d.Acked.IsZero() || d.Lost {
			t.Errorf("the press fared %+v", d)
		}
		view := slack.ModalViewRequest{Type: slack.VTModal, Title: plain("Words"), Submit: plain("Deny"), Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock("words", plain("Words"), nil, slack.NewPlainTextInputBlockElement(nil, "text")),
		}}}
		if _, err := api.OpenViewContext(t.Context(), press.TriggerID, view); err != nil {
			t.Fatal(err)
		}
		_, err = api.OpenViewContext(t.Context(), press.TriggerID, view)
		refused(t, err, "exchanged_trigger_id")
		if _, err := s.Submit("U1", map[string]string{"words": "no, thanks"}); err != nil {
			t.Fatal(err)
		}
		e = heard(t, c, socketmode.EventTypeInteractive)
		press, _ = e.Data.(slack.InteractionCallback)
		if press.View.State.Values["words"]["text"].Value != "no, thanks" {
			t.Errorf("the modal says %+v", press.View.State)
		}
		_ = c.Ack(*e.Request, map[string]any{"response_action": "errors", "errors": map[string]string{"words": "too short"}})
		synctest.Wait()
		if v, _ := s.Modal("U1"); v.Errors["words"] != "too short" {
			t.Errorf("the modal shows %+v", v)
		}
		s.Command("U1", place, "help")
		e = heard(t, c, socketmode.EventTypeSlashCommand)
		if cmd, _ := e.Data.(slack.SlashCommand); cmd.Text != "help" {
			t.Errorf("the command is %+v", cmd)
		}
		time.Sleep(4 * time.Second)
		_, err = api.OpenViewContext(t.Context(), e.Data.(slack.SlashCommand).TriggerID, view)
		refused(t, err, "expired_trigger_id")
		_ = c.Ack(*e.Request)
		s.Disconnect("refresh_requested")
		heard(t, c, socketmode.EventTypeHello)
		s.Duplicate()
		s.Say("U1", place, ts, "words")
		first, second := heard(t, c, socketmode.EventTypeEventsAPI), heard(t, c, socketmode.EventTypeEventsAPI)
		if first.Request.EnvelopeID != second.Request.EnvelopeID {
			t.Error("the second delivery is another one")
		}
	})
}

func TestSignedDeliveries(t *testing.T) {
	inWorkspace(t, func(t *testing.T, s *slacktest.Server, _ *slack.Client) {
		var paths []string
		s.Serve(trip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			v, err := slack.NewSecretsVerifier(r.Header, slacktest.SigningSecret)
			if err != nil {
				return nil, err
			}
			_, _ = v.Write(body)
			if err := v.Ensure(); err != nil {
				return nil, err
			}
			paths = append(paths, r.URL.Path)
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}))
		id := s.Command("U1", place, "help")
		synctest.Wait()
		if d := s.Delivery(id); d.Acked.IsZero() || d.Status != 200 || len(paths) != 1 || paths[0] != "/slack/commands" {
			t.Errorf("the command fared %+v %v", d, paths)
		}
	})
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
