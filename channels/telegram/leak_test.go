package telegram_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
)

// spoiled makes calls of one method fail in one way, with the token wherever a platform, a
// proxy or a network could put it.
type spoiled struct {
	next   http.RoundTripper
	method string
	way    way

	mu   sync.Mutex
	hits int
}

func (s *spoiled) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "telegram.test" {
		return nil, fmt.Errorf("the token was carried to %s", r.URL)
	}
	if !strings.HasSuffix(r.URL.Path, "/"+s.method) {
		return s.next.RoundTrip(r)
	}
	s.mu.Lock()
	s.hits++
	s.mu.Unlock()
	if r.Body != nil {
		defer r.Body.Close()
	}
	out := s.way(r)
	if out.err != nil {
		return nil, out.err
	}
	res := &http.Response{
		StatusCode: out.code, Status: fmt.Sprint(out.code, " ", telegramtest.Token), Header: http.Header{}, Body: out.body, Request: r,
	}
	if k, v, ok := strings.Cut(out.header, ": "); ok {
		res.Header.Set(k, v)
	}
	return res, nil
}

// made returns how many calls were spoiled.
func (s *spoiled) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

// way is a way in which a call fails.
type way func(r *http.Request) failure

type failure struct {
	err    error
	code   int
	header string
	body   io.ReadCloser
}

// said answers with a status and a body.
func said(code int, header, body string) way {
	return func(*http.Request) failure {
		return failure{code: code, header: header, body: io.NopCloser(strings.NewReader(body))}
	}
}

// broken is a body that ends with an error.
type broken struct{ read bool }

func (b *broken) Read(p []byte) (int, error) {
	if b.read {
		return 0, errors.New("reset while reading /bot" + telegramtest.Token + "/")
	}
	b.read = true
	return copy(p, `{"ok":tr`), nil
}

func (b *broken) Close() error { return nil }

// ways returns the ways in which a call can fail.
func ways() map[string]way {
	refusal := func(code int, text string) way {
		return said(code, "", fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q,"parameters":{"retry_after":2}}`, code, text+" /bot"+telegramtest.Token+"/x"))
	}
	return map[string]way{
		"Refused": func(r *http.Request) failure {
			return failure{err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused " + r.URL.String())}}
		},
		"URLError": func(r *http.Request) failure {
			return failure{err: &url.Error{Op: "Post", URL: r.URL.String(), Err: &url.Error{Op: "proxy", URL: r.URL.String(), Err: io.ErrUnexpectedEOF}}}
		},
		"Escaped": func(*http.Request) failure {
			return failure{err: errors.New("bad path " + url.QueryEscape("/bot"+telegramtest.Token+"/x") + " " + url.PathEscape(telegramtest.Token))}
		},
		"Timeout": func(r *http.Request) failure {
			<-r.Context().Done()
			return failure{err: fmt.Errorf("%s: %w", r.URL, r.Context().Err())}
		},
		"Half": func(*http.Request) failure {
			return failure{code: 200, body: &broken{}}
		},
		"Redirect":     said(302, "Location: https://evil.example/bot"+telegramtest.Token+"/x", ""),
		"RedirectBad":  said(307, "Location: ://"+telegramtest.Token, ""),
		"Page":         said(502, "", "<html>/bot"+telegramtest.Token+"/x"),
		"NotJSON":      said(200, "", `{"ok":true,"result":`+telegramtest.Token),
		"OtherJSON":    said(200, "", `"`+telegramtest.Token+`"`),
		"WrongResult":  said(200, "", `{"ok":true,"result":"`+telegramtest.Token+`"}`),
		"Unauthorized": refusal(401, "Unauthorized"),
		"Forbidden":    refusal(403, "Forbidden"),
		"NotFound":     refusal(404, "Not Found"),
		"Conflict":     refusal(409, "Conflict"),
		"BadRequest":   refusal(400, "Bad Request"),
		"Flood":        refusal(429, "Too Many Requests"),
		"Internal":     refusal(500, "Internal Server Error"),
	}
}

// TestNoFailureShowsTheToken makes every call of the API fail in every way, and checks
// errors, log, health and chat.
func TestNoFailureShowsTheToken(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	methods := []string{
		"getMe", "setMyCommands", "getUpdates", "sendMessage", "sendDocument", "editMessageText", "answerCallbackQuery",
		"deleteMessage", "setWebhook", "getWebhookInfo", "deleteWebhook",
	}
	for _, method := range methods {
		for name, way := range ways() {
			t.Run(method+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { spoil(t, method, way) })
			})
		}
	}
}

func spoil(t *testing.T, method string, how way) {
	w := newWorld(t)
	w.chat = w.server.Private(ann())
	w.memory.Notes = telegram.Notes{Chat: w.chat, Person: ann().ID}
	s := &spoiled{next: w.config.Client.Transport, method: method, way: how}
	client := *w.config.Client
	client.Transport = s
	switch method {
	case "setWebhook", "getWebhookInfo":
		w.config.Webhook = hookAddress
	case "deleteWebhook":
		w.memory.Notes.Webhook = hookAddress
		w.server.SetWebhook(hookAddress)
	}
	healthy := w.config.Client
	w.start()
	a := w.ask(command("make"))
	long := newAsk(t, command(strings.Repeat("long ", 2000)))
	if err := w.channel.Remind(t.Context(), a.Cards[0].Ref, card(a)); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.memory.Notes.Menu = "" // so that the menu is set again

	w.config.Client = &client
	if method == "deleteWebhook" {
		w.memory.Notes.Webhook = hookAddress
		w.server.SetWebhook(hookAddress)
	}
	w.start()
	w.server.Say(ann(), w.chat, "/status")
	w.server.PressData(ann(), w.chat, w.shown(a).ID, w.shown(a).Buttons()[1].Data)
	time.Sleep(70 * time.Second)
	w.desk.Change(func() {
		if a.Waiting() {
			_, _ = a.Decide(approval.Tap{Ask: a.ID, Choice: approval.ChoiceDeny, By: approval.Person{ID: "web:owner"}}, time.Now(), time.Minute)
		}
	})
	_, err := w.channel.Post(t.Context(), card(newAsk(t, command("make b"))))
	_, err2 := w.channel.Post(t.Context(), card(long))
	errs := []error{err, err2, w.amend(a), w.channel.Notify(t.Context(), approval.Notice{Agent: "coder"})}
	b := newAsk(t, command("make c"))
	errs = append(errs, w.channel.Remind(t.Context(), a.Cards[0].Ref, card(b)))
	health := fmt.Sprint(w.channel.Health())
	w.stop()
	w.config.Client = healthy
	if s.made() == 0 {
		t.Error("the call was never made")
	}

	_, secret, _ := strings.Cut(telegramtest.Token, ":")
	places := []string{w.log.String(), health}
	for _, err := range errs {
		places = append(places, chain(err)...)
	}
	for _, m := range w.server.Messages(w.chat) {
		places = append(places, m.Text)
	}
	for _, a := range w.server.Answers() {
		places = append(places, a.Text)
	}
	for _, p := range places {
		if strings.Contains(p, secret) || strings.Contains(p, url.QueryEscape(telegramtest.Token)) || strings.Contains(p, "evil.example") {
			t.Fatalf("the token shows in %q", p)
		}
	}
}

// chain returns the texts of an error and of everything it wraps.
func chain(err error) []string {
	if err == nil {
		return nil
	}
	quoted, _ := strictjson.Marshal(err.Error())
	all := []string{err.Error(), string(quoted), fmt.Sprintf("%+v %#v", err, err)}
	switch e := err.(type) { //nolint:errorlint // The chain itself is looked at.
	case interface{ Unwrap() error }:
		all = append(all, chain(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, chain(one)...)
		}
	}
	return slices.Compact(all)
}

// TestARedirectIsNotFollowed checks where the token goes.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := *w.config.Client
	s := &spoiled{next: client.Transport, method: "sendMessage", way: said(302, "Location: https://evil.example/bot/sendMessage", "")}
	client.Transport = s
	w.config.Client, w.config.Chat = &client, 5
	ch, err := telegram.New(t.Context(), w.config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ch.Post(t.Context(), card(newAsk(t, command("make"))))
	if err == nil || strings.Contains(err.Error(), "carried") || s.made() != 1 {
		t.Errorf("%v, %d calls", err, s.made())
	}
}
