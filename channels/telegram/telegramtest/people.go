package telegramtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// User is a person with an account.
type User struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	Username  string `json:"username,omitempty"`
	Language  string `json:"language_code,omitempty"`
}

// Button is one button of an inline keyboard.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data,omitempty"`
	// Style is how the button looks: danger, success, primary, or empty.
	Style string `json:"style,omitempty"`
	URL   string `json:"url,omitempty"`
	// Copies is what the button copies, and Dead says that it does nothing.
	Copies *Copied   `json:"copy_text,omitzero"`
	Dead   *struct{} `json:"disabled,omitzero"`
}

// Copied is what a button copies.
type Copied struct {
	Text string `json:"text"`
}

// File is an attached document.
type File struct {
	Name string
	Data []byte
}

// Message is a message in a chat.
type Message struct {
	ID, Thread int
	Chat       int64
	From       User
	// Text is what people read; the markup is in Entities. For a document or a photo it is
	// the caption.
	Text     string
	Entities []Entity
	Keyboard [][]Button
	// Force says that the message opens a reply, and Selective that it does so only for
	// people whom it mentions.
	Force, Selective bool
	// ReplyTo is the id of the message that it replies to, 0 if none.
	ReplyTo int
	File    *File
	Photo   *File
	Silent  bool
	// Rich says that it is a rich message. Text then has its paragraphs and summaries as
	// lines, and the types of Entities are also "pre" and "details", which covers a summary
	// and what is behind it.
	Rich bool
	// Edited says that it was changed after it was sent.
	Edited bool
	At     time.Time
	// frozen says that the platform refuses edits.
	frozen bool
	// voice says that it is a voice message, with Text as its caption.
	voice bool
}

// Answer is what a person saw after a press.
type Answer struct {
	ID, Text string
	// Alert says that it stays until it is closed.
	Alert bool
	// User is who pressed; only they see it.
	User int64
}

// Buttons returns the buttons that send data or open an address, in reading order: not
// those that are dead, or copy a text.
func (m Message) Buttons() []Button {
	return slices.DeleteFunc(slices.Concat(m.Keyboard...), func(b Button) bool { return b.Data == "" && b.URL == "" })
}

func (m *Message) copy() Message {
	c := *m
	c.Entities, c.Keyboard = slices.Clone(m.Entities), slices.Clone(m.Keyboard)
	return c
}

// chat is a conversation that the bot is in.
type chat struct {
	id       int64
	kind     string
	messages map[int]*Message
	blocked  string // why the bot may not write; empty if it may
	moved    int64  // the supergroup that it became
	// topics are a forum's topics, by number; nil if the chat is not a forum.
	topics map[int]topic
	// members are the statuses of people and the bot in a group; the bot is a member if it
	// is not listed.
	members map[int64]standing
	// noPhotos says that the bot may not send photos.
	noPhotos bool
}

// topic is the state of a forum topic.
type topic string

const (
	topicOpen   topic = "open"
	topicClosed topic = "closed"
)

// query is a press that waits for its answer.
type query struct {
	at   time.Time
	user int64
}

// Private opens the chat between the bot and a person; its id is the person's.
func (s *Server) Private(u User) int64 {
	s.open(u.ID, "private")
	return u.ID
}

// Group puts the bot into a group with the (negative) id.
func (s *Server) Group(id int64) int64 {
	s.open(id, "supergroup")
	return id
}

func (s *Server) open(id int64, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id] = &chat{id: id, kind: kind, messages: map[int]*Message{}}
}

// Forum puts the bot into a group with the (negative) id and the topics.
func (s *Server) Forum(id int64, topics ...int) int64 {
	s.open(id, "supergroup")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id].topics = map[int]topic{}
	for _, n := range topics {
		s.chats[id].topics[n] = topicOpen
	}
	return id
}

// DeleteTopic removes a topic with everything in it.
func (s *Server) DeleteTopic(chatID int64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	delete(c.topics, n)
	maps.DeleteFunc(c.messages, func(_ int, m *Message) bool { return m.Thread == n })
}

// CloseTopic lets only admins write to a topic, or everybody again.
func (s *Server) CloseTopic(chatID int64, n int, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chatID].topics[n] = topicOpen
	if closed {
		s.chats[chatID].topics[n] = topicClosed
	}
}

// Block makes every message to the chat fail with 403 and the reason, such as "bot was
// blocked by the user"; an empty reason lets the bot in again. The bot is told about both.
func (s *Server) Block(chatID int64, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	c.blocked = reason
	was, is := "member", "kicked"
	if reason == "" {
		was, is = is, was
	}
	bot := User{ID: BotID, IsBot: true, FirstName: "Vaglio", Username: BotName}
	s.queue("my_chat_member", map[string]any{
		"chat": map[string]any{"id": c.id, "type": c.kind}, "from": User{ID: 1, FirstName: "Admin"}, "date": time.Now().Unix(),
		"old_chat_member": map[string]any{"user": bot, "status": was}, "new_chat_member": map[string]any{"user": bot, "status": is},
	}, MessageLives)
}

// Migrate turns a group into a supergroup with a new id, and tells the bot.
func (s *Server) Migrate(from, to int64) {
	s.open(to, "supergroup")
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[from]
	c.moved = to
	s.lastID++
	s.queue("message", map[string]any{
		"message_id": s.lastID, "date": time.Now().Unix(), "chat": map[string]any{"id": from, "type": "group"},
		"from": User{ID: 1087968824, IsBot: true, FirstName: "Group"}, "sender_chat": map[string]any{"id": from, "type": "group"},
		"migrate_to_chat_id": to,
	}, MessageLives)
}

// Delete removes a message, as a person can.
func (s *Server) Delete(chatID int64, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.chats[chatID].messages, id)
}

// Freeze makes the platform refuse edits of a message.
func (s *Server) Freeze(chatID int64, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chatID].messages[id].frozen = true
}

// Say sends a text or a command to the bot and returns the message's id.
func (s *Server) Say(u User, chatID int64, text string) int { return s.Reply(u, chatID, 0, text) }

// Reply answers a message of the chat with a text and returns its own id.
func (s *Server) Reply(u User, chatID int64, to int, text string) int {
	return s.write(u, chatID, to, text, "")
}

// ReplyPhoto answers with a picture that has a caption.
func (s *Server) ReplyPhoto(u User, chatID int64, to int, caption string) int {
	return s.write(u, chatID, to, caption, "photo")
}

// ReplyVoice answers with a voice message that has a caption.
func (s *Server) ReplyVoice(u User, chatID int64, to int, caption string) int {
	return s.write(u, chatID, to, caption, "voice")
}

// write sends a text, or a caption with what carries it.
func (s *Server) write(u User, chatID int64, to int, text, bearer string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	s.lastID++
	m := &Message{ID: s.lastID, Chat: chatID, From: u, Text: text, ReplyTo: to, At: time.Now(), voice: bearer == "voice"}
	if bearer == "photo" {
		m.Photo = &File{}
	}
	if answered := c.messages[to]; answered != nil {
		m.Thread = answered.Thread
	}
	c.messages[m.ID] = m
	s.queue("message", s.wire(c, m, true), MessageLives)
	return m.ID
}

// Press presses the first button of the message with the label and returns the query's id;
// it fails if there is no such label.
func (s *Server) Press(u User, chatID int64, id int, label string) (string, error) {
	m, ok := s.Message(chatID, id)
	if !ok {
		return "", fmt.Errorf("no message %d in chat %d", id, chatID)
	}
	for _, b := range m.Buttons() {
		if b.Text == label && b.Data != "" {
			return s.PressData(u, chatID, id, b.Data), nil
		}
	}
	return "", fmt.Errorf("message %d has no button %q but %v", id, label, m.Buttons())
}

// PressData sends a press with arbitrary data, as a modified client can.
func (s *Server) PressData(u User, chatID int64, id int, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("q%d", s.nextID)
	s.queries[key] = &query{at: time.Now(), user: u.ID}
	press := map[string]any{"id": key, "from": u, "chat_instance": "1", "data": data}
	if c := s.chats[chatID]; c != nil {
		press["message"] = map[string]any{"message_id": id, "date": 0, "chat": map[string]any{"id": chatID, "type": c.kind}}
		if m := c.messages[id]; m != nil {
			press["message"] = s.wire(c, m, true)
		}
	}
	s.queue("callback_query", press, PressLives)
	return key
}

// wire returns a message as the platform encodes it; s.mu must be held.
func (s *Server) wire(c *chat, m *Message, deep bool) map[string]any {
	w := map[string]any{
		"message_id": m.ID, "date": m.At.Unix(), "from": m.From,
		"chat": map[string]any{"id": c.id, "type": c.kind},
	}
	text, entities := "text", "entities"
	if m.File != nil {
		w["document"] = map[string]any{"file_id": "f", "file_unique_id": "f", "file_name": m.File.Name, "file_size": len(m.File.Data)}
		text, entities = "caption", "caption_entities"
	}
	if m.Photo != nil {
		w["photo"] = []any{map[string]any{"file_id": "p", "file_unique_id": "p", "width": 90, "height": 90, "file_size": len(m.Photo.Data)}}
		text, entities = "caption", "caption_entities"
	}
	if m.voice {
		w["voice"] = map[string]any{"file_id": "v", "file_unique_id": "v", "duration": 3}
		text, entities = "caption", "caption_entities"
	}
	if m.Rich {
		w["rich_message"] = map[string]any{"blocks": []any{map[string]any{"type": "paragraph", "text": m.Text}}}
		return s.around(c, m, w, deep)
	}
	if m.Text != "" {
		w[text] = m.Text
	}
	if len(m.Entities) > 0 {
		w[entities] = m.Entities
	}
	return s.around(c, m, w, deep)
}

// around adds what a message has beside its content.
func (s *Server) around(c *chat, m *Message, w map[string]any, deep bool) map[string]any {
	if m.Keyboard != nil {
		w["reply_markup"] = map[string]any{"inline_keyboard": m.Keyboard}
	}
	if m.Thread != 0 {
		w["message_thread_id"], w["is_topic_message"] = m.Thread, true
	}
	if to := c.messages[m.ReplyTo]; to != nil && deep {
		w["reply_to_message"] = s.wire(c, to, false)
	}
	return w
}
