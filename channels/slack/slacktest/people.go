package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// AckWithin is when a person sees that an act was lost.
const AckWithin = 3 * time.Second

// Delivery is one act of a person on its way to the app.
type Delivery struct {
	ID string
	// Kind is the kind of envelope: interactive, slash_commands or events_api.
	Kind string
	Sent time.Time
	// Acked is when the app acknowledged it in time; zero otherwise.
	Acked time.Time
	// Answer is what came with the acknowledgement.
	Answer strictjson.Value
	// Status is the HTTP status; 0 in Socket Mode.
	Status int
	// Lost says that there was nobody to deliver it to.
	Lost bool

	view string
}

// Delivery returns the state of an act's delivery.
func (s *Server) Delivery(id string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.delivered[id]; d != nil {
		return *d
	}
	return Delivery{}
}

// Deliveries returns the state of all deliveries, in no particular order.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Delivery, 0, len(s.delivered))
	for _, d := range s.delivered {
		all = append(all, *d)
	}
	return all
}

// Serve makes the platform deliver by signed HTTP requests to https://vaglio.test/slack/…
// over the transport, instead of by sockets.
func (s *Server) Serve(over http.RoundTripper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = over
}

// Press presses the first button of a message with that label.
func (s *Server) Press(user, channelID, ts, label string) (string, error) {
	s.mu.Lock()
	m := s.message(channelID, ts)
	if m == nil {
		s.mu.Unlock()
		return "", fmt.Errorf("slacktest: no message %s", ts)
	}
	all := buttons(m.Blocks)
	i := slices.IndexFunc(all, func(b Button) bool { return b.Text == label })
	s.mu.Unlock()
	if i < 0 {
		return "", fmt.Errorf("slacktest: no button %q among %+v", label, all)
	}
	return s.PressButton(user, channelID, ts, all[i]), nil
}

// PressButton presses a button that the message may have had at some time.
func (s *Server) PressButton(user, channelID, ts string, b Button) string {
	s.mu.Lock()
	p := s.act(user, "block_actions")
	m := s.message(channelID, ts)
	if m == nil {
		m = &Message{TS: ts, User: BotUID}
	}
	p["container"] = map[string]any{"type": "message", "message_ts": ts, "channel_id": channelID, "is_ephemeral": false}
	p["channel"] = map[string]any{"id": channelID, "name": strings.ToLower(channelID)}
	p["message"] = s.picture(m)
	p["state"] = map[string]any{"values": map[string]any{}}
	p["response_url"] = s.hook(user, channelID)
	p["actions"] = []any{map[string]any{
		"type": "button", "action_id": b.ActionID, "block_id": b.BlockID, "value": b.Value, "action_ts": s.stamp(),
		"text": map[string]any{"type": "plain_text", "text": b.Text},
	}}
	s.mu.Unlock()
	return s.deliver("interactive", p, "")
}

// Submit submits the modal that the person has open, with a value for each of its blocks.
func (s *Server) Submit(user string, values map[string]string) (string, error) {
	v, ok := s.Modal(user)
	if !ok {
		return "", fmt.Errorf("slacktest: %s has no modal open", user)
	}
	s.mu.Lock()
	state := map[string]any{}
	for _, b := range v.Blocks {
		if b.text("type") == "input" {
			id := b.text("block_id")
			state[id] = map[string]any{b.block("element").text("action_id"): map[string]any{"type": "plain_text_input", "value": values[id]}}
		}
	}
	p := s.act(user, "view_submission")
	picture := v.picture()
	picture["state"] = map[string]any{"values": state}
	p["view"] = picture
	s.mu.Unlock()
	return s.deliver("interactive", p, v.ID), nil
}

// act begins a person's interaction.
func (s *Server) act(user, kind string) map[string]any {
	u := s.users[user]
	if u == nil {
		u = &User{ID: user, Name: user, Team: TeamID}
	}
	var team, enterprise any = map[string]any{"id": TeamID, "domain": "team"}, nil
	if s.enterprise != "" {
		enterprise = map[string]any{"id": s.enterprise, "name": "Org"}
	}
	if s.wide {
		team = nil
	}
	return map[string]any{
		"type": kind, "api_app_id": AppID, "token": "legacy", "trigger_id": s.trigger(user), "is_enterprise_install": s.wide,
		"team": team, "enterprise": enterprise,
		"user": map[string]any{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.Team},
	}
}

// Grid makes the workspace one of an organization; wide says that the whole organization
// installed the app, and not just the workspace.
func (s *Server) Grid(enterprise string, wide bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enterprise, s.wide = enterprise, wide
}

// Command sends a slash command.
func (s *Server) Command(user, channelID, text string) string {
	s.mu.Lock()
	p := map[string]any{
		"token": "legacy", "team_id": TeamID, "team_domain": "team", "channel_id": channelID, "channel_name": strings.ToLower(channelID),
		"user_id": user, "user_name": user, "command": "/vaglio", "text": text, "api_app_id": AppID, "is_enterprise_install": strconv.FormatBool(s.wide),
		"enterprise_id": s.enterprise,
		"response_url":  s.hook(user, channelID), "trigger_id": s.trigger(user),
	}
	if u := s.users[user]; u != nil {
		p["user_name"], p["team_id"] = u.Name, u.Team
	}
	s.mu.Unlock()
	return s.deliver("slash_commands", p, "")
}

// Say writes a message, in a thread if one is given, and returns its timestamp and the
// delivery's id.
func (s *Server) Say(user, channelID, thread, text string) (ts, id string) {
	s.mu.Lock()
	c := s.channels[channelID]
	m := s.post(c, Message{User: user, Text: text, ThreadTS: thread})
	e := map[string]any{
		"type": "message", "channel": channelID, "channel_type": "channel", "user": user, "text": text, "ts": m.TS, "event_ts": m.TS, "team": TeamID,
	}
	if u := s.users[user]; u != nil && u.Team != TeamID {
		e["user_team"], e["source_team"] = u.Team, u.Team
	}
	if thread != "" {
		e["thread_ts"] = thread
	}
	s.mu.Unlock()
	return m.TS, s.Event(e)
}

// OpenHome opens the app's home tab.
func (s *Server) OpenHome(user string) string {
	return s.Event(map[string]any{"type": "app_home_opened", "user": user, "channel": "D0000000001", "tab": "home", "event_ts": "1700000000.000001"})
}

// Event delivers an event.
func (s *Server) Event(e map[string]any) string {
	s.mu.Lock()
	p := map[string]any{
		"token": "legacy", "team_id": TeamID, "enterprise_id": s.enterprise, "api_app_id": AppID, "type": "event_callback", "event_id": s.id("Ev"),
		"event_time": time.Now().Unix(), "event": e,
	}
	s.mu.Unlock()
	return s.deliver("events_api", p, "")
}

// deliver delivers an act to the app: to one of its sockets, or its address.
func (s *Server) deliver(kind string, payload map[string]any, view string) string {
	s.mu.Lock()
	d := &Delivery{ID: s.id("envelope-"), Kind: kind, Sent: time.Now(), view: view}
	s.delivered[d.ID] = d
	over := s.endpoint
	var to []*socket
	if n := len(s.sockets); n > 0 && !s.mute {
		s.next++
		to = append(to, s.sockets[s.next%n])
		if s.twice {
			to = append(to, s.sockets[(s.next+1)%n])
		}
	}
	d.Lost = over == nil && len(to) == 0
	times := 1
	if s.twice {
		times = 2
	}
	s.twice = false
	s.mu.Unlock()
	if over != nil {
		s.working.Go(func() {
			for range times {
				s.request(over, d, payload)
			}
		})
		return d.ID
	}
	for _, k := range to {
		k.send(map[string]any{
			"envelope_id": d.ID, "type": kind, "payload": payload, "accepts_response_payload": kind != "events_api",
		})
	}
	return d.ID
}

// request delivers by a signed request.
func (s *Server) request(over http.RoundTripper, d *Delivery, payload map[string]any) {
	raw, err := strictjson.Marshal(payload)
	if err != nil {
		return
	}
	path, kind, body := "/slack/interactivity", "application/x-www-form-urlencoded", ""
	switch d.Kind {
	case "interactive":
		body = url.Values{"payload": {string(raw)}}.Encode()
	case "slash_commands":
		path = "/slack/commands"
		form := url.Values{}
		for k, v := range payload {
			form.Set(k, fmt.Sprint(v))
		}
		body = form.Encode()
	default:
		path, kind, body = "/slack/events", "application/json", string(raw)
	}
	ctx, cancel := context.WithTimeout(context.Background(), AckWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://vaglio.test"+path, strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", kind)
	Sign(r, []byte(body), SigningSecret, time.Now())
	res, err := over.RoundTrip(r)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		d.Lost = true
		return
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxBody)) // a truncated answer counts as none
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Status = res.StatusCode; res.StatusCode == http.StatusOK {
		s.settle(d, bytes.TrimSpace(answer))
	}
}

// Sign signs a request as the platform does.
func Sign(r *http.Request, body []byte, secret string, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte("v0:" + stamp + ":"))
	m.Write(body)
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(m.Sum(nil)))
}

// settle records an acknowledgement that came in time, and does what it asks of a modal.
func (s *Server) settle(d *Delivery, answer strictjson.Value) {
	if d == nil || !d.Acked.IsZero() || time.Since(d.Sent) > AckWithin {
		return
	}
	d.Acked, d.Answer = time.Now(), answer
	v := s.views[d.view]
	if v == nil {
		return
	}
	var said struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}
	if len(answer) > 0 {
		_ = strictjson.UnmarshalLoose(answer, &said) // an unreadable answer closes the modal
	}
	if v.Errors = said.Errors; said.Action != "errors" {
		v.Closed = true
	}
}
