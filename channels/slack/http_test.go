package slack_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/slack"
	"github.com/metnos/vaglio/channels/slack/slacktest"
)

// direct passes requests to a handler, as a proxy does.
type direct struct{ to http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	d.to.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// overHTTP runs a test in a bubble, with the app reachable at an address.
func overHTTP(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.config.AppToken, w.config.SigningSecret = "", slacktest.SigningSecret
		w.build()
		w.server.Serve(direct{w.channel.Handler()})
		w.start()
		test(w)
		w.discreet()
	})
}

func TestTheDialogueOverHTTP(t *testing.T) {
	overHTTP(t, func(w *world) {
		if n := w.server.Sockets(); n != 0 {
			w.t.Errorf("%d sockets beside HTTP", n)
		}
		a, b, c := w.ask(command("make")), w.ask(command("make b")), w.ask(command("make c"))
		w.server.Duplicate()
		if d := w.press(ann, a, "Allow once"); d.Status != 200 || len(d.Answer) != 0 || w.desk.State(a) != approval.Allowed || len(w.desk.Taps()) != 1 {
			w.t.Errorf("a press: %+v", d)
		}
		w.press(ann, b, "Deny with words…")
		if _, err := w.server.Submit(ann, map[string]string{"words": ""}); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		v, _ := w.server.Modal(ann)
		w.wants(v.Errors["words"], "Only text")
		if _, err := w.server.Submit(ann, map[string]string{"words": "rather not"}); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
		if w.desk.State(b) != approval.Denied {
			w.t.Error("the words did not deny")
		}
		w.server.Say(ann, home, ts(c), "no")
		synctest.Wait()
		if w.desk.State(c) != approval.Denied {
			w.t.Error("words in the thread did not deny")
		}
		id := w.server.Command(ann, home, "pending")
		synctest.Wait()
		w.wants(string(w.server.Delivery(id).Answer), "Nothing waits", "ephemeral")
		w.server.OpenHome(ann)
		synctest.Wait()
		if _, ok := w.server.Home(ann); !ok {
			w.t.Error("there is no home tab")
		}
		if strings.Contains(w.log.String(), "could not be answered") {
			w.t.Errorf("what was answered is logged as if it was not: %s", w.log)
		}
	})
}

func TestForgedRequestsAreRefused(t *testing.T) {
	overHTTP(t, func(w *world) {
		h := w.channel.Handler()
		body := "command=%2Fvaglio&text=pending&user_id=" + ann + "&team_id=" + slacktest.TeamID
		send := func(change func(r *http.Request)) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, "/slack/commands", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			slacktest.Sign(r, []byte(body), slacktest.SigningSecret, time.Now())
			change(r)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			return rec
		}
		for name, c := range map[string]struct {
			change func(r *http.Request)
			want   int
		}{
			"Good":        {func(*http.Request) {}, 200},
			"NoSignature": {func(r *http.Request) { r.Header.Del("X-Slack-Signature") }, 401},
			"NoTimestamp": {func(r *http.Request) { r.Header.Del("X-Slack-Request-Timestamp") }, 401},
			"OtherSecret": {func(r *http.Request) { slacktest.Sign(r, []byte(body), strings.Repeat("0", 32), time.Now()) }, 401},
			"OtherBody":   {func(r *http.Request) { slacktest.Sign(r, []byte(body+"&x"), slacktest.SigningSecret, time.Now()) }, 401},
			"Old": {func(r *http.Request) {
				slacktest.Sign(r, []byte(body), slacktest.SigningSecret, time.Now().Add(-6*time.Minute))
			}, 401},
			"Future": {func(r *http.Request) {
				slacktest.Sign(r, []byte(body), slacktest.SigningSecret, time.Now().Add(6*time.Minute))
			}, 401},
			"WithinWindow": {func(r *http.Request) {
				slacktest.Sign(r, []byte(body), slacktest.SigningSecret, time.Now().Add(-4*time.Minute))
			}, 200},
			"OldVersion": {func(r *http.Request) { r.Header.Set("X-Slack-Signature", "v1"+r.Header.Get("X-Slack-Signature")[2:]) }, 401},
			"Get":        {func(r *http.Request) { r.Method = http.MethodGet }, 405},
			"OtherType":  {func(r *http.Request) { r.Header.Set("Content-Type", "text/") }, 400},
		} {
			if got := send(c.change).Code; got != c.want {
				w.t.Errorf("%s: %d, want %d", name, got, c.want)
			}
		}
		for name, c := range map[string]struct {
			kind, body string
			want       int
		}{
			"Challenge":  {"application/json", `{"type":"url_verification","token":"x","challenge":"abc"}`, 200},
			"BadJSON":    {"application/json", `{`, 400},
			"BadPayload": {"application/x-www-form-urlencoded", url.Values{"payload": {"{"}}.Encode(), 400},
			"BadForm":    {"application/x-www-form-urlencoded", "command=%2Fvaglio&user_id=" + ann + "&team_id=" + slacktest.TeamID + "&text=%zz", 400},
			"NoPayload":  {"application/x-www-form-urlencoded", "x=y", 400},
			"TooLong":    {"application/json", strings.Repeat(" ", 2<<20), 413},
		} {
			r := httptest.NewRequest(http.MethodPost, "/slack/events", strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			slacktest.Sign(r, []byte(c.body), slacktest.SigningSecret, time.Now())
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if rec.Code != c.want || name == "Challenge" && !strings.Contains(rec.Body.String(), `"abc"`) {
				w.t.Errorf("%s: %d %s, want %d", name, rec.Code, rec.Body, c.want)
			}
		}
	})
}

// deafWriter fails every write of an answer.
type deafWriter struct{ *httptest.ResponseRecorder }

func (deafWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestAnAnswerThatDoesNotArriveIsTold checks that a lost answer is reported, because what
// the request decided stands nevertheless.
func TestAnAnswerThatDoesNotArriveIsTold(t *testing.T) {
	overHTTP(t, func(w *world) {
		body := "command=%2Fvaglio&text=pending&user_id=" + ann + "&team_id=" + slacktest.TeamID
		r := httptest.NewRequest(http.MethodPost, "/slack/commands", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		slacktest.Sign(r, []byte(body), slacktest.SigningSecret, time.Now())
		w.channel.Handler().ServeHTTP(deafWriter{httptest.NewRecorder()}, r)
		if !strings.Contains(w.log.String(), "could not be answered") {
			w.t.Errorf("nothing is told: %s", w.log)
		}
	})
}

func TestWithoutALoopARequestIsSentBack(t *testing.T) {
	overHTTP(t, func(w *world) {
		a := w.ask(command("make"))
		w.stop()
		if d := w.press(ann, a, "Allow once"); !d.Acked.IsZero() {
			w.t.Errorf("acknowledged by nobody: %+v", d)
		}
		time.Sleep(5 * time.Second)
		// It is sent back before the platform gives up, which it does after three seconds.
		const body = "command=%2Fvaglio&text=pending&user_id=" + ann + "&team_id=" + slacktest.TeamID
		r := httptest.NewRequest(http.MethodPost, "/slack/commands", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		slacktest.Sign(r, []byte(body), slacktest.SigningSecret, time.Now())
		rec, began := httptest.NewRecorder(), time.Now()
		if w.channel.Handler().ServeHTTP(rec, r); rec.Code != 503 || time.Since(began) != 2*time.Second {
			w.t.Errorf("%d after %s", rec.Code, time.Since(began))
		}
	})
}

func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	good := slack.Config{BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, Channel: home, Approvers: []string{ann, group}, Memory: &memory{}}
	for name, c := range map[string]struct {
		change func(c *slack.Config)
		want   string
	}{
		"AppTokenAsBot":  {func(c *slack.Config) { c.BotToken = slacktest.AppToken }, "xoxb-"},
		"BotTokenAsApp":  {func(c *slack.Config) { c.AppToken = slacktest.BotToken }, "xapp-"},
		"BothModes":      {func(c *slack.Config) { c.SigningSecret = slacktest.SigningSecret }, "exactly one"},
		"NoMode":         {func(c *slack.Config) { c.AppToken = "" }, "exactly one"},
		"ShortSecret":    {func(c *slack.Config) { c.AppToken, c.SigningSecret = "", "hunter2" }, "32 hexadecimal"},
		"ChannelByName":  {func(c *slack.Config) { c.Channel = "#deploys" }, "C0123456789"},
		"ApproverByName": {func(c *slack.Config) { c.Approvers = []string{"@ann"} }, "@ann"},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := slack.New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "FAKEtoken") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := slack.New(t.Context(), good); err != nil {
		t.Error(err)
	}
}
