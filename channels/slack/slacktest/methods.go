package slacktest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// answer is what a method returns besides "ok": the zero value means success.
type answer struct {
	err    string
	detail string // for response_metadata
	fields map[string]any
}

// method is one method of the Web API.
type method struct {
	// app says that it takes the app's token, not the bot's.
	app bool
	// scope is the scope that the app needs for it.
	scope string
	do    func(s *Server, args map[string]string) answer
}

// methods returns the methods that the fake knows.
func methods() map[string]method {
	return map[string]method{
		"auth.test":                    {do: (*Server).authTest},
		"apps.connections.open":        {app: true, scope: "connections:write", do: (*Server).open},
		"chat.postMessage":             {scope: "chat:write", do: (*Server).postMessage},
		"chat.update":                  {scope: "chat:write", do: (*Server).update},
		"chat.delete":                  {scope: "chat:write", do: (*Server).remove},
		"chat.postEphemeral":           {scope: "chat:write", do: (*Server).postEphemeral},
		"conversations.info":           {scope: "channels:read", do: (*Server).info},
		"conversations.history":        {scope: "channels:history", do: (*Server).history},
		"conversations.replies":        {scope: "channels:history", do: (*Server).replies},
		"users.info":                   {scope: "users:read", do: (*Server).userInfo},
		"usergroups.users.list":        {scope: "usergroups:read", do: (*Server).groupUsers},
		"files.getUploadURLExternal":   {scope: "files:write", do: (*Server).uploadURL},
		"files.completeUploadExternal": {scope: "files:write", do: (*Server).uploaded},
		"blocks.validate":              {do: (*Server).validate},
		"views.open":                   {do: (*Server).viewOpen},
		"views.update":                 {do: (*Server).viewUpdate},
		"views.publish":                {do: (*Server).viewPublish},
	}
}

// Scopes returns the scopes that an app needs for the methods that take a bot's token.
func Scopes() []string {
	var all []string
	for _, m := range methods() {
		if m.scope != "" && !m.app && !slices.Contains(all, m.scope) {
			all = append(all, m.scope)
		}
	}
	slices.Sort(all)
	return all
}

// granted returns the scopes that the app has.
func (s *Server) granted() []string {
	all := append(Scopes(), "commands", "groups:history", "groups:read")
	return slices.DeleteFunc(all, func(scope string) bool { return s.denied[scope] })
}

// ServeHTTP serves the Web API, uploads, and WebSockets.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == socketPath:
		s.serveSocket(w, r)
	case strings.HasPrefix(path, hookPath):
		s.serveHook(w, r)
	case strings.HasPrefix(path, uploadPath):
		s.takeUpload(w, r)
	case strings.HasPrefix(path, "/api/"):
		s.call(w, r, strings.TrimPrefix(path, "/api/"))
	default:
		http.NotFound(w, r)
	}
}

// maxBody is the largest request, in bytes; the largest is a file.
const maxBody = 64 << 20

func (s *Server) call(w http.ResponseWriter, r *http.Request, name string) {
	args, token, err := readArgs(r)
	time.Sleep(s.Takes(name))
	s.mu.Lock()
	defer s.mu.Unlock()
	args["_host"], s.host = r.Host, r.Host
	s.calls = append(s.calls, Request{name, args, time.Now()})
	fault := s.Next(name)
	if fault != nil && !fault.After {
		fault.write(w)
		return
	}
	var a answer
	if err != nil {
		a.err = "invalid_json"
	} else if a = s.admit(name, token); a.err == "" {
		a = methods()[name].do(s, args)
	}
	if fault != nil {
		fault.write(w)
		return
	}
	if token == BotToken {
		w.Header().Set("X-OAuth-Scopes", strings.Join(s.granted(), ","))
	}
	a.write(w)
}

// admit returns an error answer if a token may not call a method.
func (s *Server) admit(name, token string) answer {
	m, known := methods()[name]
	right, wrong := BotToken, AppToken
	if m.app {
		right, wrong = wrong, right
	}
	switch {
	case !known:
		return answer{err: "unknown_method"}
	case token == "":
		return answer{err: "not_authed"}
	case s.revoked != "":
		return answer{err: s.revoked}
	case token == wrong:
		return answer{err: "not_allowed_token_type"}
	case token != right:
		return answer{err: "invalid_auth"}
	case s.denied[m.scope]:
		return answer{err: "missing_scope", fields: map[string]any{"needed": m.scope, "provided": "chat:write"}}
	}
	return answer{}
}

func (f Fault) write(w http.ResponseWriter) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	if f.Body == "" && f.Error != "" {
		w.Header().Set("Content-Type", "application/json")
		f.Body = `{"ok":false,"error":"` + f.Error + `"}`
	}
	if f.Code != 0 {
		w.WriteHeader(f.Code)
	}
	_, _ = io.WriteString(w, f.Body) // a client that left needs no answer
}

func (a answer) write(w http.ResponseWriter) {
	body := map[string]any{"ok": a.err == ""}
	maps.Copy(body, a.fields)
	if a.err == tooFast {
		after, _ := a.fields["retry_after"].(time.Duration)
		Fault{Error: a.err, Code: http.StatusTooManyRequests, RetryAfter: after}.write(w)
		return
	}
	if a.err != "" {
		body["error"] = a.err
	}
	if a.detail != "" {
		body["response_metadata"] = map[string]any{"messages": []string{"[ERROR] " + a.detail}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = strictjson.MarshalWrite(w, body) // a client that left needs no answer
}

// readArgs reads a form or a JSON object. JSON values other than strings stay JSON.
func readArgs(r *http.Request) (args map[string]string, token string, err error) {
	args = map[string]string{}
	r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
	token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		raw := map[string]strictjson.Value{}
		if err := strictjson.ReadLoose(r.Body, &raw); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return args, token, err
		}
		for k, v := range raw {
			args[k] = string(v)
			if v.Kind() == '"' {
				var text string
				if err := strictjson.UnmarshalLoose(v, &text); err != nil {
					return args, token, err
				}
				args[k] = text
			}
		}
		return args, token, nil
	}
	if err := r.ParseForm(); err != nil {
		return args, token, err
	}
	for k := range r.Form {
		args[k] = r.Form.Get(k)
	}
	if args["token"] != "" {
		token = args["token"]
	}
	delete(args, "token")
	return args, token, nil
}

func (s *Server) authTest(map[string]string) answer {
	return answer{fields: map[string]any{
		"url": TeamURL, "team": "Team", "user": "vaglio", "team_id": TeamID, "user_id": BotUID, "bot_id": BotID,
		"enterprise_id": s.enterprise, "is_enterprise_install": s.wide,
	}}
}

func (s *Server) userInfo(args map[string]string) answer {
	u := s.users[args["user"]]
	if u == nil {
		return answer{err: "user_not_found"}
	}
	return answer{fields: map[string]any{"user": map[string]any{
		"id": u.ID, "team_id": u.Team, "name": u.Name, "real_name": u.RealName, "is_bot": u.Bot,
		"profile":         map[string]any{"real_name": u.RealName, "display_name": u.Name},
		"enterprise_user": map[string]any{"id": u.ID, "enterprise_id": u.Enterprise},
	}}}
}

func (s *Server) groupUsers(args map[string]string) answer {
	users, ok := s.groups[args["usergroup"]]
	if s.wide && args["team_id"] != TeamID {
		return answer{err: "missing_argument"}
	}
	if !ok {
		return answer{err: "no_such_subteam"}
	}
	return answer{fields: map[string]any{"users": users}}
}

func (s *Server) info(args map[string]string) answer {
	c := s.channels[args["channel"]]
	if c == nil {
		return answer{err: "channel_not_found"}
	}
	return answer{fields: map[string]any{"channel": map[string]any{
		"id": c.id, "name": strings.ToLower(c.id), "is_channel": true, "is_archived": c.archived, "is_member": slices.Contains(c.members, BotUID),
	}}}
}

// id makes a unique id.
func (s *Server) id(kind string) string {
	s.serial++
	return fmt.Sprintf("%s%010d", kind, s.serial)
}

// stamp makes a message's timestamp, which is its id in the channel.
func (s *Server) stamp() string {
	s.lastTS = max(s.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.lastTS/1e6, s.lastTS%1e6)
}
