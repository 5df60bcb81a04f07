package telegramtest

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// maxRequest is the largest request, in bytes.
const maxRequest = 64 << 20

// ServeHTTP serves the Bot API: /bot<token>/<method>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	params, files, err := read(r)
	if err != nil {
		s.reply(w, nil, bad(err.Error()))
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, Request{method, params, time.Now()})
	revoked := s.revoked
	fault := s.fault(method)
	s.mu.Unlock()
	if slow := s.Takes(method); slow > 0 {
		timer := time.NewTimer(slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case token != Token || revoked:
		s.reply(w, nil, &Fault{Code: 401, Description: "Unauthorized"})
	case fault != nil && !fault.After:
		s.reply(w, nil, fault)
	default:
		result, failed := s.call(r.Context(), method, params, files)
		if failed == nil {
			failed = fault
		}
		s.reply(w, result, failed)
	}
}

// fault returns the fault of the next call of a method, or nil.
func (s *Server) fault(method string) *Fault {
	if f := s.Next(method); f != nil && !f.Pass {
		return f
	}
	return nil
}

func bad(description string) *Fault {
	return &Fault{Code: 400, Description: "Bad Request: " + strings.TrimPrefix(description, "Bad Request: ")}
}

// read returns a request's fields, and its files by the names of their fields.
func read(r *http.Request) (map[string]string, map[string]*File, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	params := map[string]string{}
	if kind != "multipart/form-data" {
		if err := r.ParseForm(); err != nil {
			return nil, nil, err
		}
		for k := range r.Form {
			params[k] = r.Form.Get(k)
		}
		return params, nil, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, err
	}
	files := map[string]*File{}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			// The server notices only at the body's end that a client has left.
			_, err := io.Copy(io.Discard, r.Body)
			return params, files, err
		}
		if err != nil {
			return nil, nil, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, nil, err
		}
		if part.FileName() != "" {
			files[part.FormName()] = &File{part.FileName(), data}
			continue
		}
		params[part.FormName()] = string(data)
	}
}

// reply writes the platform's envelope.
func (s *Server) reply(w http.ResponseWriter, result any, f *Fault) {
	if f != nil && f.Body != "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = io.WriteString(w, f.Body) //nolint:gosec // The test's own text; a client that left has no use for it.
		return
	}
	envelope, code := map[string]any{"ok": true, "result": result}, http.StatusOK
	if f != nil {
		code = f.Code
		envelope = map[string]any{"ok": false, "error_code": f.Code, "description": f.Description}
		switch {
		case f.Code == http.StatusTooManyRequests:
			envelope["parameters"] = map[string]any{"retry_after": f.RetryAfter}
		case strings.Contains(f.Description, "upgraded to a supergroup"):
			envelope["parameters"] = map[string]any{"migrate_to_chat_id": result}
		}
	}
	body, err := strictjson.Marshal(envelope)
	if err != nil {
		code, body = http.StatusInternalServerError, []byte(`{"ok":false,"error_code":500,"description":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(body) // a client that left does not need it
}

func (s *Server) sendRich(p map[string]string) (any, *Fault) {
	if !s.takesRich() {
		return nil, &Fault{Code: 404, Description: "Not Found: method not found"}
	}
	return s.send(p, nil)
}

func (s *Server) sendDocument(p map[string]string, f *File) (any, *Fault) {
	if f == nil || len(f.Data) == 0 {
		return nil, bad("file must be non-empty")
	}
	return s.send(p, &attached{document: f})
}

// call runs one method.
func (s *Server) call(ctx context.Context, method string, p map[string]string, files map[string]*File) (any, *Fault) {
	switch method {
	case "getUpdates":
		return s.getUpdates(ctx, p)
	case "sendMessage":
		return s.send(p, nil)
	case "sendRichMessage":
		return s.sendRich(p)
	case "sendDocument":
		return s.sendDocument(p, files["document"])
	case "sendPhoto":
		return s.sendPhoto(p, files["photo"])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "editMessageText":
		return s.edit(p)
	case "editMessageMedia":
		return s.media(p, files)
	case "deleteMessage":
		return s.delete(p)
	case "answerCallbackQuery":
		return s.answer(p)
	default:
		return s.settle(method, p)
	}
}

// settle runs the methods about the bot itself; s.mu must be held.
func (s *Server) settle(method string, p map[string]string) (any, *Fault) {
	switch method {
	case "getMe":
		return map[string]any{
			"id": BotID, "is_bot": true, "first_name": "Vaglio", "username": BotName,
			"can_join_groups": true, "can_read_all_group_messages": s.readsAll, "supports_inline_queries": false,
		}, nil
	case "getChat":
		return s.getChat(p)
	case "getChatMember":
		return s.getChatMember(p)
	case "sendChatAction":
		return s.chatAction(p)
	case "getWebhookInfo":
		return s.hookInfo(), nil
	case "setWebhook":
		return s.setWebhook(p)
	case "deleteWebhook":
		s.deleteWebhook(p)
		return true, nil
	case "setMyCommands":
		var list []Command
		if err := strictjson.UnmarshalLoose([]byte(p["commands"]), &list); err != nil {
			return nil, bad("can't parse commands JSON object")
		}
		s.commands[p["language_code"]] = list
		return true, nil
	default:
		return nil, &Fault{Code: 404, Description: "Not Found"}
	}
}
