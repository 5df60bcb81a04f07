package slacktest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Message is a message in a channel.
type Message struct {
	Channel, TS string
	// ThreadTS is the message whose thread it is in; empty for none.
	ThreadTS string
	// User is the author.
	User string
	// Text is the fallback, and Blocks what is shown.
	Text   string
	Blocks []Block
	// Unfurls says that links in it would be fetched and shown.
	Unfurls bool
	File    *File
	Edits   int
}

// Ephemeral is what one person was told.
type Ephemeral struct {
	Channel, User, ThreadTS, Text string
	Blocks                        []Block
	At                            time.Time
}

// File is an uploaded file.
type File struct {
	ID, Name, Title string
	// Alt describes it for people who do not see it.
	Alt  string
	Data []byte
}

// Shown returns what a person reads of the message.
func (m Message) Shown() string {
	if len(m.Blocks) == 0 {
		return m.Text
	}
	return Shown(m.Blocks)
}

// Buttons returns the message's buttons in their order.
func (m Message) Buttons() []Button { return buttons(m.Blocks) }

// channel is one conversation.
type channel struct {
	id       string
	members  []string
	archived bool
	messages []*Message
	last     time.Time
}

// tooFast is the platform's word for a call that came too soon.
const tooFast = "ratelimited"

// maxTextLength is where the platform cuts off a text.
const maxTextLength = 40000

func (s *Server) message(channelID, ts string) *Message {
	c := s.channels[channelID]
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.TS == ts })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// place finds the channel that the app wants to write to.
func (s *Server) place(id string) (*channel, answer) {
	c := s.channels[id]
	switch {
	case c == nil:
		return nil, answer{err: "channel_not_found"}
	case c.archived:
		return nil, answer{err: "is_archived"}
	case !slices.Contains(c.members, BotUID):
		return nil, answer{err: "not_in_channel"}
	}
	return c, answer{}
}

// content reads the text and the blocks of a message.
func (s *Server) content(args map[string]string) (text string, blocks []Block, a answer) {
	text = args["text"]
	if utf8.RuneCountInString(text) > maxTextLength {
		text = string([]rune(text)[:maxTextLength])
	}
	if raw := args["blocks"]; raw != "" {
		if err := strictjson.UnmarshalLoose([]byte(raw), &blocks); err != nil {
			return "", nil, answer{err: "invalid_blocks_format"}
		}
	}
	if text == "" && len(blocks) == 0 {
		return "", nil, answer{err: "no_text"}
	}
	if a := s.checkMessage(blocks); a.err != "" {
		return "", nil, a
	}
	return text, blocks, answer{}
}

func (s *Server) postMessage(args map[string]string) answer {
	c, a := s.place(args["channel"])
	if a.err != "" {
		return a
	}
	text, blocks, a := s.content(args)
	if a.err != "" {
		return a
	}
	if wait := time.Until(c.last.Add(s.pace)); s.pace > 0 && wait > 0 {
		return answer{err: tooFast, fields: map[string]any{"retry_after": wait}}
	}
	c.last = time.Now()
	m := s.post(c, Message{
		User: BotUID, Text: text, Blocks: blocks, ThreadTS: args["thread_ts"],
		Unfurls: args["unfurl_links"] != "false" || args["unfurl_media"] != "false",
	})
	return answer{fields: map[string]any{"channel": c.id, "ts": m.TS, "message": s.picture(m)}}
}

// post puts a message into a channel.
func (s *Server) post(c *channel, m Message) *Message {
	m.Channel, m.TS = c.id, s.stamp()
	for i := range m.Blocks {
		s.name(m.Blocks[i])
	}
	c.messages = append(c.messages, &m)
	return &m
}

// name gives a block the id that the app left out.
func (s *Server) name(b Block) {
	if b.text("block_id") == "" {
		b["block_id"] = s.id("b")
	}
}

func (s *Server) update(args map[string]string) answer {
	c, a := s.place(args["channel"])
	if a.err != "" {
		return a
	}
	m := s.message(c.id, args["ts"])
	switch {
	case m == nil:
		return answer{err: "message_not_found"}
	case m.User != BotUID:
		return answer{err: "cant_update_message"}
	}
	text, blocks, a := s.content(args)
	if a.err != "" {
		return a
	}
	for i := range blocks {
		s.name(blocks[i])
	}
	m.Text, m.Blocks, m.Edits = text, blocks, m.Edits+1
	return answer{fields: map[string]any{"channel": c.id, "ts": m.TS, "text": text, "message": s.picture(m)}}
}

func (s *Server) remove(args map[string]string) answer {
	c := s.channels[args["channel"]]
	if c == nil {
		return answer{err: "channel_not_found"}
	}
	m := s.message(c.id, args["ts"])
	switch {
	case m == nil:
		return answer{err: "message_not_found"}
	case m.User != BotUID:
		return answer{err: "cant_delete_message"}
	}
	c.messages = slices.DeleteFunc(c.messages, func(o *Message) bool { return o == m })
	return answer{fields: map[string]any{"channel": c.id, "ts": m.TS}}
}

func (s *Server) postEphemeral(args map[string]string) answer {
	c, a := s.place(args["channel"])
	if a.err != "" {
		return a
	}
	if !slices.Contains(c.members, args["user"]) {
		return answer{err: "user_not_in_channel"}
	}
	text, blocks, a := s.content(args)
	if a.err != "" {
		return a
	}
	s.whispers = append(s.whispers, Ephemeral{c.id, args["user"], args["thread_ts"], cmp.Or(Shown(blocks), text), blocks, time.Now()})
	return answer{fields: map[string]any{"message_ts": s.stamp()}}
}

// replies returns a thread, oldest first. A cursor is the timestamp of the last message of
// the previous page.
func (s *Server) replies(args map[string]string) answer {
	c := s.channels[args["channel"]]
	if c == nil {
		return answer{err: "channel_not_found"}
	}
	if s.message(c.id, args["ts"]) == nil {
		return answer{err: "thread_not_found"}
	}
	limit, err := strconv.Atoi(cmp.Or(args["limit"], "999"))
	if err != nil || limit < 1 || limit > 999 {
		return answer{err: "invalid_limit"}
	}
	var all []any
	for _, m := range c.messages {
		if m.TS != args["ts"] && m.ThreadTS != args["ts"] || args["cursor"] != "" && m.TS <= args["cursor"] {
			continue
		}
		if len(all) == limit {
			last, _ := all[limit-1].(map[string]any)
			return answer{fields: map[string]any{"messages": all, "has_more": true, "response_metadata": map[string]any{"next_cursor": last["ts"]}}}
		}
		all = append(all, s.picture(m))
	}
	return answer{fields: map[string]any{"messages": all, "has_more": false}}
}

// history returns the messages of a channel, without the threads, newest first. A cursor is
// the timestamp of the last message of the previous page.
func (s *Server) history(args map[string]string) answer {
	c := s.channels[args["channel"]]
	switch {
	case c == nil:
		return answer{err: "channel_not_found"}
	case !slices.Contains(c.members, BotUID):
		return answer{err: "not_in_channel"}
	}
	limit, err := strconv.Atoi(args["limit"])
	if err != nil || limit < 1 || limit > 999 {
		return answer{err: "invalid_limit"}
	}
	all := []any{}
	for _, m := range slices.Backward(c.messages) {
		if m.ThreadTS != "" || m.TS <= args["oldest"] || args["cursor"] != "" && m.TS >= args["cursor"] {
			continue
		}
		if len(all) == limit {
			last, _ := all[limit-1].(map[string]any)
			return answer{fields: map[string]any{"messages": all, "has_more": true, "response_metadata": map[string]any{"next_cursor": last["ts"]}}}
		}
		all = append(all, s.picture(m))
	}
	return answer{fields: map[string]any{"messages": all, "has_more": false}}
}

// picture returns a message as the platform encodes it.
func (s *Server) picture(m *Message) map[string]any {
	p := map[string]any{"type": "message", "ts": m.TS, "user": m.User, "text": m.Text}
	if m.User == BotUID {
		p["bot_id"], p["app_id"], p["team"] = BotID, AppID, TeamID
	}
	if len(m.Blocks) > 0 {
		p["blocks"] = m.Blocks
	}
	if m.ThreadTS != "" {
		p["thread_ts"] = m.ThreadTS
	}
	if m.File != nil {
		p["files"] = []any{map[string]any{"id": m.File.ID, "name": m.File.Name, "title": m.File.Title, "size": len(m.File.Data)}}
	}
	return p
}

// Raw returns the message's blocks as JSON, as the app sent them.
func (m Message) Raw() string {
	raw, err := strictjson.Marshal(m.Blocks)
	if err != nil {
		return err.Error()
	}
	v := strictjson.Value(raw)
	_ = v.Indent() // what was just marshalled is JSON
	return strings.TrimSpace(string(v))
}
