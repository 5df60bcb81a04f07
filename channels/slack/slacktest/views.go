package slacktest

import (
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// View is a modal, or a person's home tab.
type View struct {
	ID, Hash, Type, User string
	Title, CallbackID    string
	// Metadata is what the app stored in the view for itself.
	Metadata string
	Blocks   []Block
	// Errors are what the app said is wrong with inputs, by block id.
	Errors map[string]string
	Closed bool
}

// Shown returns what a person reads in the view.
func (v View) Shown() string { return Shown(v.Blocks) }

// Buttons returns the view's buttons.
func (v View) Buttons() []Button { return buttons(v.Blocks) }

// trigger is a person's act that a view may answer, once and soon.
type trigger struct {
	user string
	at   time.Time
	used bool
}

// triggerLives is how long a view may answer an act.
const triggerLives = 3 * time.Second

// trigger makes a trigger.
func (s *Server) trigger(user string) string {
	id := s.id("trigger.")
	s.triggers[id] = &trigger{user: user, at: time.Now()}
	return id
}

// validate says what is wrong with a message or a view, without showing it to anybody.
func (s *Server) validate(args map[string]string) answer {
	var a answer
	if raw := args["view"]; raw != "" {
		_, a = readView(raw, "modal")
	} else {
		var m struct {
			Blocks []Block `json:"blocks"`
		}
		if err := strictjson.UnmarshalLoose([]byte(args["message"]), &m); err != nil {
			return answer{err: "invalid_arguments"}
		}
		a = s.checkMessage(m.Blocks)
	}
	if a.err != "" {
		text, at, _ := strings.Cut(a.detail, " [json-pointer:")
		a.fields = map[string]any{"errors": []any{map[string]any{"pointer": strings.TrimSuffix(at, "]"), "code": "failed_constraint", "message": text}}}
	}
	return a
}

// readView reads and checks a view.
func readView(raw, kind string) (View, answer) {
	var b Block
	if err := strictjson.UnmarshalLoose([]byte(raw), &b); err != nil {
		return View{}, answer{err: "invalid_arguments", detail: "view is not JSON"}
	}
	v := View{
		Type: b.text("type"), Title: b.block("title").text("text"), CallbackID: b.text("callback_id"),
		Metadata: b.text("private_metadata"), Blocks: b.list("blocks"),
	}
	c := &blockCheck{ids: map[string]bool{}, view: true}
	if v.Type != kind {
		c.bad("/view/type", "must be %s", kind)
	}
	if len(v.Blocks) == 0 || len(v.Blocks) > MaxViewBlocks {
		c.bad("/view/blocks", "between 1 and %d items allowed", MaxViewBlocks)
	}
	c.length("/view/callback_id", v.CallbackID, 0, MaxID)
	c.length("/view/private_metadata", v.Metadata, 0, MaxMetadata)
	if kind == "modal" {
		c.modal(b)
	}
	c.all(v.Blocks)
	if c.problem != "" {
		return View{}, answer{err: "invalid_arguments", detail: c.problem}
	}
	return v, answer{}
}

func (c *blockCheck) modal(b Block) {
	c.object("/view/title", b.block("title"), MaxViewTitle, true)
	inputs := slices.ContainsFunc(b.list("blocks"), func(one Block) bool { return one.text("type") == "input" })
	if inputs && b["submit"] == nil {
		c.bad("/view/submit", "missing required field: submit")
	}
	for _, key := range []string{"submit", "close"} {
		if b[key] != nil {
			c.object("/view/"+key, b.block(key), MaxViewTitle, true)
		}
	}
}

func (s *Server) viewOpen(args map[string]string) answer {
	t := s.triggers[args["trigger_id"]]
	switch {
	case t == nil:
		return answer{err: "invalid_trigger_id"}
	case t.used:
		return answer{err: "exchanged_trigger_id"}
	case time.Since(t.at) > triggerLives:
		return answer{err: "expired_trigger_id"}
	}
	v, a := readView(args["view"], "modal")
	if a.err != "" {
		return a
	}
	t.used = true
	v.ID, v.User = s.id("V"), t.user
	return s.show(&v)
}

// show stores a view and answers with it.
func (s *Server) show(v *View) answer {
	v.Hash = s.id("hash.")
	for i := range v.Blocks {
		s.name(v.Blocks[i])
	}
	s.views[v.ID] = v
	return answer{fields: map[string]any{"view": v.picture()}}
}

func (v *View) picture() map[string]any {
	return map[string]any{
		"id": v.ID, "hash": v.Hash, "type": v.Type, "callback_id": v.CallbackID, "private_metadata": v.Metadata, "team_id": TeamID,
		"app_id": AppID, "bot_id": BotID, "blocks": v.Blocks, "title": map[string]any{"type": "plain_text", "text": v.Title},
	}
}

// raw returns the argument's value; a hash that is JSON null counts as unset.
func raw(args map[string]string, key string) string {
	if args[key] == "null" {
		return ""
	}
	return args[key]
}

func (s *Server) viewUpdate(args map[string]string) answer {
	old := s.views[args["view_id"]]
	switch hash := raw(args, "hash"); {
	case old == nil || old.Closed:
		return answer{err: "not_found"}
	case hash != "" && hash != old.Hash:
		return answer{err: "hash_conflict"}
	}
	v, a := readView(args["view"], old.Type)
	if a.err != "" {
		return a
	}
	v.ID, v.User = old.ID, old.User
	return s.show(&v)
}

func (s *Server) viewPublish(args map[string]string) answer {
	user := args["user_id"]
	if s.users[user] == nil {
		return answer{err: "user_not_found"}
	}
	old := s.homes[user]
	if hash := raw(args, "hash"); hash != "" && (old == nil || hash != old.Hash) {
		return answer{err: "hash_conflict"}
	}
	v, a := readView(args["view"], "home")
	if a.err != "" {
		return a
	}
	v.ID, v.User = s.id("V"), user
	if old != nil {
		v.ID = old.ID
	}
	s.homes[user] = &v
	return s.show(&v)
}
