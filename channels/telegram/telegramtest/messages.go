package telegramtest

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/strictjson"
)

// content is what a call wants a message to hold.
type content struct {
	text     string
	entities []Entity
	keyboard [][]Button
	force    bool
	// selective opens the reply only for people whom the text mentions.
	selective bool
	// newer says that the keyboard has buttons that older servers do not know.
	newer bool
	// rich says that the content is a rich message.
	rich bool
}

// readContent checks text and keyboard as the platform does.
func readContent(p map[string]string, text string, limit int) (content, *Fault) {
	c := content{text: strings.TrimSpace(text)}
	switch p["parse_mode"] {
	case "":
		c.entities = automatic(c.text, nil)
	case "HTML":
		var err error
		if c.text, c.entities, err = ParseHTML(strings.TrimSpace(text)); err != nil {
			return c, bad(err.Error())
		}
	default:
		return c, bad("unsupported parse_mode")
	}
	switch n := utf8.RuneCountInString(c.text); {
	case n > limit && limit == MaxCaption:
		return c, bad("message caption is too long")
	case n > limit:
		return c, bad("message is too long")
	case n == 0 && limit == MaxText:
		return c, bad("message text is empty")
	}
	return c, c.markup(p["reply_markup"])
}

// markup reads the keyboard.
func (c *content) markup(source string) *Fault {
	if source == "" {
		return nil
	}
	var m struct {
		Keyboard    *[][]Button `json:"inline_keyboard"`
		Force       bool        `json:"force_reply"`
		Selective   bool        `json:"selective"`
		Placeholder string      `json:"input_field_placeholder"`
	}
	if err := strictjson.UnmarshalLoose([]byte(source), &m); err != nil {
		return bad("can't parse reply keyboard markup JSON object")
	}
	if m.Force {
		c.force, c.selective = true, m.Selective
		if utf8.RuneCountInString(m.Placeholder) > maxPlaceholder {
			return bad("REPLY_MARKUP_INVALID")
		}
		return nil
	}
	if m.Keyboard == nil {
		return bad("can't parse inline keyboard button: Field \"inline_keyboard\" must be of type Array")
	}
	return c.inline(*m.Keyboard)
}

// inline checks the buttons.
func (c *content) inline(rows [][]Button) *Fault {
	n := 0
	for _, row := range rows {
		for _, b := range row {
			n++
			if f := b.fault(); f != nil {
				return f
			}
			c.newer = c.newer || b.Copies != nil || b.Dead != nil
		}
	}
	if n > MaxButtons {
		return bad("reply markup is too long")
	}
	if n > 0 {
		c.keyboard = rows
	}
	return nil
}

// unallowed is how a server refuses a button of an unknown kind.
func unallowed() *Fault {
	return bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
}

// sorts returns of how many kinds the button is; the platform wants one.
func (b Button) sorts() (n int) {
	for _, is := range []bool{b.Data != "", b.URL != "", b.Copies != nil, b.Dead != nil} {
		if is {
			n++
		}
	}
	return n
}

// fault returns the platform's objection to a button, if any.
func (b Button) fault() *Fault {
	switch {
	case b.Text == "":
		return bad("can't parse inline keyboard button: text must be non-empty")
	case b.sorts() > 1:
		return bad("can't parse inline keyboard button: exactly one optional field must be used")
	case b.Copies != nil && (b.Copies.Text == "" || utf8.RuneCountInString(b.Copies.Text) > maxCopied):
		return bad("can't parse inline keyboard button: BUTTON_COPY_TEXT_INVALID")
	case b.URL != "" && !strings.HasPrefix(b.URL, "https://"):
		return bad("inline keyboard button URL '" + b.URL + "' is invalid: Wrong HTTP URL")
	case b.sorts() == 0:
		return unallowed()
	case len(b.Data) > MaxData:
		return bad("BUTTON_DATA_INVALID")
	}
	return nil
}

// reach finds the chat of a call; s.mu must be held. The result for a migrated chat is its
// new id.
func (s *Server) reach(p map[string]string) (*chat, any, *Fault) {
	id, _ := strconv.ParseInt(p["chat_id"], 10, 64)
	c := s.chats[id]
	switch {
	case c == nil:
		return nil, nil, bad("chat not found")
	case c.moved != 0:
		return nil, c.moved, bad("group chat was upgraded to a supergroup chat")
	case c.blocked != "":
		return nil, nil, &Fault{Code: 403, Description: "Forbidden: " + c.blocked}
	}
	return c, nil, nil
}

// attached is what a message has besides its caption.
type attached struct{ document, photo *File }

// send implements sendMessage, sendDocument and sendPhoto.
func (s *Server) send(p map[string]string, with *attached) (any, *Fault) {
	text, limit := p["text"], MaxText
	if with != nil {
		text, limit = p["caption"], MaxCaption
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, moved, fault := s.reach(p)
	if fault != nil {
		return moved, fault
	}
	if fault := s.tooFast(chat); fault != nil {
		return nil, fault
	}
	c, fault := s.content(p, text, limit)
	if fault == nil && c.newer && s.old {
		fault = unallowed()
	}
	if fault != nil {
		return nil, fault
	}
	reply, fault := chat.repliesTo(p["reply_parameters"])
	if fault != nil {
		return nil, fault
	}
	thread, fault := chat.thread(p["message_thread_id"])
	if fault != nil {
		return nil, fault
	}
	s.lastID++
	m := &Message{
		ID: s.lastID, Thread: thread, Chat: chat.id, From: User{ID: BotID, IsBot: true, FirstName: "Vaglio", Username: BotName},
		Text: c.text, Entities: c.entities, Keyboard: c.keyboard, Rich: c.rich, Force: c.force, Selective: c.selective, ReplyTo: reply,
		Silent: p["disable_notification"] == "true", At: time.Now(),
	}
	if with != nil {
		m.File, m.Photo = with.document, with.photo
	}
	chat.messages[m.ID] = m
	return s.wire(chat, m, true), nil
}

// tooFast refuses a message that comes too soon after others, if the platform counts them:
// 20 a minute in a group; elsewhere one a second, and 20 more at once.
func (s *Server) tooFast(c *chat) *Fault {
	within := func(d time.Duration) (n int) {
		for _, m := range c.messages {
			if m.From.IsBot && time.Since(m.At) < d {
				n++
			}
		}
		return n
	}
	fast := within(time.Minute) >= 20
	if c.id > 0 {
		fast = within(time.Second) > 20 || within(20*time.Second) >= 40
	}
	if !s.paced || !fast {
		return nil
	}
	s.refused++
	return &Fault{Code: http.StatusTooManyRequests, Description: "Too Many Requests: retry after 1", RetryAfter: 1}
}

// repliesTo returns the message that reply_parameters name, 0 if there are none.
func (c *chat) repliesTo(source string) (int, *Fault) {
	if source == "" {
		return 0, nil
	}
	var reply struct {
		ID      int  `json:"message_id"`
		Without bool `json:"allow_sending_without_reply"`
	}
	if err := strictjson.UnmarshalLoose([]byte(source), &reply); err != nil {
		return 0, bad("can't parse reply parameters JSON object")
	}
	if c.messages[reply.ID] == nil && !reply.Without {
		return 0, bad("message to be replied not found")
	}
	return reply.ID, nil
}

// thread returns the topic that a message is sent to.
func (c *chat) thread(number string) (int, *Fault) {
	n, _ := strconv.Atoi(number)
	switch {
	case n == 0:
		return 0, nil
	case c.topics[n] == topicOpen:
		return n, nil
	case c.topics[n] == topicClosed:
		return 0, bad("TOPIC_CLOSED")
	default:
		return 0, bad("message thread not found")
	}
}

// delete implements deleteMessage; s.mu must be held.
func (s *Server) delete(p map[string]string) (any, *Fault) {
	chat, moved, fault := s.reach(p)
	if fault != nil {
		return moved, fault
	}
	id, _ := strconv.Atoi(p["message_id"])
	m := chat.messages[id]
	switch {
	case m == nil:
		return nil, bad("message to delete not found")
	case m.From.ID != BotID || time.Since(m.At) >= DeleteWithin:
		return nil, bad("message can't be deleted")
	}
	delete(chat.messages, id)
	return true, nil
}

// editable finds the message that an edit is for; s.mu must be held.
func (s *Server) editable(p map[string]string) (*chat, *Message, any, *Fault) {
	chat, moved, fault := s.reach(p)
	if fault != nil {
		return nil, nil, moved, fault
	}
	id, _ := strconv.Atoi(p["message_id"])
	m := chat.messages[id]
	switch {
	case m == nil:
		return nil, nil, nil, bad("message to edit not found")
	case m.From.ID != BotID || m.frozen:
		return nil, nil, nil, bad("message can't be edited")
	}
	return chat, m, nil, nil
}

// edit implements editMessageText; s.mu must be held.
func (s *Server) edit(p map[string]string) (any, *Fault) {
	chat, m, moved, fault := s.editable(p)
	if fault != nil {
		return moved, fault
	}
	if m.File != nil || m.Photo != nil || m.Rich {
		return nil, bad("there is no text in the message to edit")
	}
	c, fault := readContent(p, p["text"], MaxText)
	if fault == nil && c.newer && s.old {
		fault = unallowed()
	}
	if fault != nil {
		return nil, fault
	}
	if c.text == m.Text && reflect.DeepEqual(c.entities, m.Entities) && reflect.DeepEqual(c.keyboard, m.Keyboard) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.Text, m.Entities, m.Keyboard, m.Edited = c.text, c.entities, c.keyboard, true
	return s.wire(chat, m, true), nil
}

// answer implements answerCallbackQuery; s.mu must be held.
func (s *Server) answer(p map[string]string) (any, *Fault) {
	q := s.queries[p["callback_query_id"]]
	if q == nil || time.Since(q.at) > AnswerWithin {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	if utf8.RuneCountInString(p["text"]) > MaxAnswer {
		return nil, bad("MESSAGE_TOO_LONG")
	}
	s.answers = append(s.answers, Answer{p["callback_query_id"], p["text"], p["show_alert"] == "true", q.user})
	return true, nil
}
