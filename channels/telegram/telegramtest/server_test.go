package telegramtest_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/strictjson"
)

func ann() telegramtest.User {
	return telegramtest.User{ID: 4711, FirstName: "Ann"}
}

// reply is the platform's envelope.
type reply struct {
	OK          bool             `json:"ok"`
	Result      strictjson.Value `json:"result"`
	Code        int              `json:"error_code"`
	Description string           `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		Migrate    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// bot calls the platform as any client would.
type bot struct {
	t      *testing.T
	client *http.Client
	base   string
}

func start(t *testing.T) (*telegramtest.Server, bot) {
	t.Helper()
	s := telegramtest.New()
	s.Start()
	t.Cleanup(s.Stop)
	return s, bot{t, s.Client(), "http://telegram.test/bot" + telegramtest.Token + "/"}
}

func (b bot) call(method string, pairs ...string) reply {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	res, err := b.client.PostForm(b.base+method, form)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(res)
}

func (b bot) read(res *http.Response) reply {
	b.t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var r reply
	if err := strictjson.UnmarshalLoose(body, &r); err != nil {
		b.t.Fatalf("%v in %s", err, body)
	}
	return r
}

// ids returns the ids of a batch of updates.
func (b bot) ids(pairs ...string) []int64 {
	b.t.Helper()
	r := b.call("getUpdates", pairs...)
	var list []struct {
		ID int64 `json:"update_id"`
	}
	if err := strictjson.UnmarshalLoose(r.Result, &list); err != nil {
		b.t.Fatalf("%v in %+v", err, r)
	}
	var ids []int64
	for _, u := range list {
		ids = append(ids, u.ID)
	}
	return ids
}

func TestSendingHoldsTheLimits(t *testing.T) {
	t.Parallel()
	s, b := start(t)
	chat := strconv.FormatInt(s.Private(ann()), 10)
	keyboard := func(data string) string {
		return fmt.Sprintf(`{"inline_keyboard":[[{"text":"A","callback_data":%q}]]}`, data)
	}
	for name, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"Fits":          {[]string{"text", strings.Repeat("é", 4096)}, ""},
		"TooLong":       {[]string{"text", strings.Repeat("x", 4097)}, "message is too long"},
		"MarkupIsFree":  {[]string{"text", "<b>" + strings.Repeat("&amp;", 4096) + "</b>", "parse_mode", "HTML"}, ""},
		"Empty":         {[]string{"text", " \n "}, "message text is empty"},
		"NoChat":        {[]string{"chat_id", "99", "text", "x"}, "chat not found"},
		"Data64Bytes":   {[]string{"text", "x", "reply_markup", keyboard(strings.Repeat("d", 64))}, ""},
		"Data65Bytes":   {[]string{"text", "x", "reply_markup", keyboard(strings.Repeat("d", 65))}, "BUTTON_DATA_INVALID"},
		"DataInBytes":   {[]string{"text", "x", "reply_markup", keyboard(strings.Repeat("я", 33))}, "BUTTON_DATA_INVALID"},
		"EmptyKeyboard": {[]string{"text", "x", "reply_markup", `{"inline_keyboard":[]}`}, ""},
		"NullKeyboard":  {[]string{"text", "x", "reply_markup", `{"inline_keyboard":null}`}, "must be of type Array"},
		"UnknownTag":    {[]string{"text", "a<br>b", "parse_mode", "HTML"}, `unsupported start tag "br"`},
		"OpenTag":       {[]string{"text", "<b>b", "parse_mode", "HTML"}, "can't find end tag"},
		"CrossedTags":   {[]string{"text", "<b><i>b</b></i>", "parse_mode", "HTML"}, "unmatched end tag"},
		"QuoteInQuote":  {[]string{"text", "<blockquote>a<blockquote>b</blockquote></blockquote>", "parse_mode", "HTML"}, "nested quotes"},
		"NoSuchReply":   {[]string{"text", "x", "reply_parameters", `{"message_id":99}`}, "message to be replied not found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.call("sendMessage", append([]string{"chat_id", chat}, c.pairs...)...)
			if c.want == "" && !r.OK || c.want != "" && (r.OK || r.Code != 400 || !strings.Contains(r.Description, c.want)) {
				t.Errorf("got %v %d %q, want %q", r.OK, r.Code, r.Description, c.want)
			}
		})
	}
}

func TestMarkupIsReadAsThePlatformDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source, text string
		entities     []telegramtest.Entity
	}{
		"References": {"a &lt;b&gt; &amp; &quot;&#39;&unknown;", `a <b> & "'&unknown;`, nil},
		"UTF16":      {"😀<b>x</b>", "😀x", []telegramtest.Entity{{Type: "bold", Offset: 2, Length: 1}}},
		"Expandable": {"<blockquote expandable><code>x</code></blockquote>", "x", []telegramtest.Entity{{Type: "code", Length: 1}, {Type: "expandable_blockquote", Length: 1}}},
		"Language":   {`<pre><code class="language-bash">ls</code></pre>`, "ls", []telegramtest.Entity{{Type: "pre", Length: 2, Language: "bash"}}},
		"Automatic": {"see https://evil.test/x @somebody", "see https://evil.test/x @somebody", []telegramtest.Entity{
			{Type: "url", Offset: 4, Length: 19}, {Type: "mention", Offset: 24, Length: 9},
		}},
		"NotInCode": {"<code>https://evil.test @somebody /start</code>", "https://evil.test @somebody /start", []telegramtest.Entity{{Type: "code", Length: 34}}},
		"Link":      {`<a href="https://x.test/?a=1&amp;b=2">y</a>`, "y", []telegramtest.Entity{{Type: "text_link", Length: 1, URL: "https://x.test/?a=1&b=2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, entities, err := telegramtest.ParseHTML(c.source)
			if err != nil || text != c.text {
				t.Errorf("got %q %v, want %q", text, err, c.text)
			}
			if d := cmp.Diff(c.entities, entities); d != "" {
				t.Errorf("entities (-want +got):\n%s", d)
			}
		})
	}
}

func TestEditsFollowTheRules(t *testing.T) {
	t.Parallel()
	s, b := start(t)
	chat := s.Private(ann())
	key := strconv.FormatInt(chat, 10)
	b.call("sendMessage", "chat_id", key, "text", "one", "reply_markup", `{"inline_keyboard":[[{"text":"A","callback_data":"a"}]]}`)
	m := s.Messages(chat)[0]
	id := strconv.Itoa(m.ID)
	edit := func(text string) string {
		return b.call("editMessageText", "chat_id", key, "message_id", id, "text", text).Description
	}
	if d := edit("two"); d != "" {
		t.Fatal(d)
	}
	if m, _ := s.Message(chat, m.ID); len(m.Buttons()) != 0 || m.Text != "two" || !m.Edited {
		t.Errorf("an edit without a keyboard leaves %+v", m)
	}
	if d := edit("two"); !strings.Contains(d, "message is not modified") {
		t.Errorf("the same text again: %q", d)
	}
	s.Freeze(chat, m.ID)
	if d := edit("three"); !strings.Contains(d, "can't be edited") {
		t.Errorf("a frozen message: %q", d)
	}
	s.Delete(chat, m.ID)
	if d := edit("three"); !strings.Contains(d, "message to edit not found") {
		t.Errorf("a deleted message: %q", d)
	}
	s.Block(chat, "bot was blocked by the user")
	if r := b.call("sendMessage", "chat_id", key, "text", "x"); r.Code != 403 || r.Description != "Forbidden: bot was blocked by the user" {
		t.Errorf("blocked: %+v", r)
	}
	group := s.Group(-100)
	s.Migrate(group, -200)
	if r := b.call("sendMessage", "chat_id", "-100", "text", "x"); r.Code != 400 || r.Parameters.Migrate != -200 {
		t.Errorf("migrated: %+v", r)
	}
}

func TestOffsetsConfirm(t *testing.T) {
	t.Parallel()
	s, b := start(t)
	chat := s.Private(ann())
	for range 120 {
		s.Say(ann(), chat, "hello")
	}
	first := b.ids()
	if len(first) != 100 || first[0] != 1000 {
		t.Fatalf("first batch: %v", first)
	}
	if again := b.ids(); again[0] != 1000 {
		t.Errorf("without an offset nothing is confirmed, got %v", again[0])
	}
	if rest := b.ids("offset", "1100"); len(rest) != 20 || rest[0] != 1100 || s.Queued() != 20 {
		t.Errorf("after the offset: %v, %d queued", rest, s.Queued())
	}
	if last := b.ids("offset", "-2"); len(last) != 2 || last[0] != 1118 {
		t.Errorf("a negative offset: %v", last)
	}
	if none := b.ids("offset", "1120"); len(none) != 0 {
		t.Errorf("all confirmed, and still %v", none)
	}
	s.RestartIDs(5)
	s.Say(ann(), chat, "after an idle week")
	if low := b.ids("offset", "1120"); len(low) != 1 || low[0] != 5 {
		t.Errorf("after the ids restarted: %v, want 5", low)
	}
}

func TestUpdatesExpireAndPollsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		chat := s.Private(ann())
		s.PressData(ann(), chat, 1, "x")
		s.Say(ann(), chat, "hello")
		time.Sleep(telegramtest.PressLives)
		if n := s.Queued(); n != 1 {
			t.Errorf("%d updates after 150 s, want the message alone", n)
		}
		time.Sleep(telegramtest.MessageLives)
		began := time.Now()
		if ids := b.ids("timeout", "90"); len(ids) != 0 || time.Since(began) != telegramtest.MaxPoll {
			t.Errorf("an empty poll gave %v after %s", ids, time.Since(began))
		}
	})
}

func TestTwoPollersConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		first := make(chan reply)
		go func() { first <- b.call("getUpdates", "timeout", "50") }()
		synctest.Wait()
		second := make(chan []int64)
		go func() { second <- b.ids("timeout", "50") }()
		if r := <-first; r.Code != 409 || !strings.Contains(r.Description, "only one bot instance") {
			t.Errorf("the first poller got %+v", r)
		}
		s.Say(ann(), s.Private(ann()), "hello")
		if ids := <-second; len(ids) != 1 {
			t.Errorf("the second poller got %v", ids)
		}
		s.SetWebhook("https://elsewhere.test")
		if r := b.call("getUpdates"); r.Code != 409 || !strings.Contains(r.Description, "webhook is active") {
			t.Errorf("with a webhook: %+v", r)
		}
	})
}

func TestPressesAreAnsweredInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		id := s.PressData(ann(), s.Private(ann()), 1, "x")
		if r := b.call("answerCallbackQuery", "callback_query_id", id, "text", strings.Repeat("x", 201)); r.OK {
			t.Error("201 characters were taken")
		}
		b.call("answerCallbackQuery", "callback_query_id", id, "text", "done", "show_alert", "true")
		if d := cmp.Diff([]telegramtest.Answer{{ID: id, Text: "done", Alert: true, User: ann().ID}}, s.Answers()); d != "" {
			t.Error(d)
		}
		time.Sleep(telegramtest.AnswerWithin + 1)
		if r := b.call("answerCallbackQuery", "callback_query_id", id); !strings.Contains(r.Description, "query is too old") {
			t.Errorf("a late answer: %+v", r)
		}
	})
}

func TestTroubleIsMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, b := start(t)
		s.Fail("getMe", 1, telegramtest.Fault{Code: 429, Description: "Too Many Requests: retry after 7", RetryAfter: 7})
		if r := b.call("getMe"); r.Code != 429 || r.Parameters.RetryAfter != 7 {
			t.Errorf("rate limit: %+v", r)
		}
		s.Slow(3 * time.Second)
		began := time.Now()
		if r := b.call("getMe"); !r.OK || time.Since(began) != 3*time.Second {
			t.Errorf("slow: %+v after %s", r, time.Since(began))
		}
		s.Slow(0)
		s.Revoke(true)
		if r := b.call("getMe"); r.Code != 401 {
			t.Errorf("revoked: %+v", r)
		}
		s.Revoke(false)
		s.Fail("", 1, telegramtest.Fault{Code: 502, Body: "<html>Bad Gateway</html>"})
		res, err := b.client.Get(b.base + "getMe")
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(res.Body); res.StatusCode != 502 || string(body) != "<html>Bad Gateway</html>" {
			t.Errorf("proxy: %d %s", res.StatusCode, body)
		}
		res.Body.Close()
		s.Stop()
		if res, err := b.client.Get(b.base + "getMe"); err == nil {
			res.Body.Close()
			t.Error("a stopped platform answered")
		}
		s.Start()
		if r := b.call("getMe"); !r.OK {
			t.Errorf("after the restart: %+v", r)
		}
		if n := len(s.Calls("getMe")); n != 5 {
			t.Errorf("%d calls of getMe are recorded, want 5", n)
		}
	})
}

func TestDocumentsAreKept(t *testing.T) {
	t.Parallel()
	s := telegramtest.New()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	b := bot{t, web.Client(), web.URL + "/bot" + telegramtest.Token + "/"}
	chat := s.Private(ann())
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("chat_id", strconv.FormatInt(chat, 10))
	_ = w.WriteField("caption", "<b>all of it</b>")
	_ = w.WriteField("parse_mode", "HTML")
	part, _ := w.CreateFormFile("document", "call.txt")
	_, _ = part.Write([]byte("the call"))
	_ = w.Close()
	res, err := b.client.Post(b.base+"sendDocument", w.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.read(res); !r.OK {
		t.Fatalf("%+v", r)
	}
	m := s.Messages(chat)[0]
	if m.File == nil || m.File.Name != "call.txt" || string(m.File.Data) != "the call" || m.Text != "all of it" {
		t.Errorf("got %+v", m)
	}
}
