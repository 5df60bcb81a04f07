package telegramtest

import (
	"slices"
	"strconv"
)

// standing is somebody's status in a group.
type standing struct {
	status string
	// mute says that a restricted member may not write.
	mute bool
}

// Join gives somebody a status in a group, as the platform names it: "member",
// "administrator", "restricted", which is also mute, "left" or "kicked". It may be the bot,
// which is not told.
func (s *Server) Join(chatID, user int64, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	if c.members == nil {
		c.members = map[int64]standing{}
	}
	c.members[user] = standing{status, status == "restricted"}
}

// ReadAll gives the bot every message of its groups, or only those meant for it:
// BotFather's /setprivacy.
func (s *Server) ReadAll(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readsAll = all
}

// bot returns the bot's status in a group.
func (c *chat) bot() standing {
	if m, ok := c.members[BotID]; ok {
		return m
	}
	return standing{status: "member"}
}

// getChat answers if the chat is shared with the bot; a person who blocked it stays
// visible. s.mu must be held.
func (s *Server) getChat(p map[string]string) (any, *Fault) {
	c, moved, fault := s.reach(p)
	if fault != nil && fault.Code == 403 {
		id, _ := strconv.ParseInt(p["chat_id"], 10, 64)
		if c = s.chats[id]; c.kind == "private" {
			fault = nil
		}
	}
	if fault != nil {
		return moved, fault
	}
	chat := map[string]any{"id": c.id, "type": c.kind, "is_forum": c.topics != nil}
	if c.kind == "private" {
		chat["first_name"] = "Somebody"
	} else {
		chat["title"] = "The group"
		chat["permissions"] = map[string]any{"can_send_messages": true, "can_send_photos": !c.noPhotos}
	}
	return chat, nil
}

// getChatMember is about groups; s.mu must be held.
func (s *Server) getChatMember(p map[string]string) (any, *Fault) {
	c, moved, fault := s.reach(p)
	if fault != nil {
		return moved, fault
	}
	user, err := strconv.ParseInt(p["user_id"], 10, 64)
	if err != nil || user <= 0 {
		return nil, bad("invalid user_id specified")
	}
	m, ok := c.members[user]
	switch {
	case user == BotID:
		m = c.bot()
	case !ok:
		return nil, bad("user not found")
	}
	return map[string]any{
		"user": User{ID: user, IsBot: user == BotID, FirstName: "Somebody"}, "status": m.status,
		"is_member": !slices.Contains([]string{"left", "kicked"}, m.status), "can_send_messages": !m.mute, "can_send_photos": !m.mute && !c.noPhotos,
	}, nil
}

// chatAction implements sendChatAction; s.mu must be held.
func (s *Server) chatAction(p map[string]string) (any, *Fault) {
	c, moved, fault := s.reach(p)
	if fault != nil {
		return moved, fault
	}
	if p["action"] == "" {
		return nil, bad("wrong parameter action in request")
	}
	if c.bot().mute {
		return nil, bad("not enough rights to send text messages to the chat")
	}
	if _, fault := c.thread(p["message_thread_id"]); fault != nil {
		return nil, fault
	}
	return true, nil
}
