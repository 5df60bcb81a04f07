package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
)

func TestReadyzTellsOfChannels(t *testing.T) {
	well := func(name string) dispatcher.ChannelHealth { return dispatcher.ChannelHealth{Name: name} }
	ill := func(name string) dispatcher.ChannelHealth {
		return dispatcher.ChannelHealth{Name: name, Health: approval.Health{
			Problem: "Telegram refuses the bot token.", Remedy: "Take the current one.", Since: time.Now(),
		}}
	}
	for name, tt := range map[string]struct {
		channels []dispatcher.ChannelHealth
		status   int
		word     string
	}{
		"None":     {nil, http.StatusOK, "ready"},
		"AllWell":  {[]dispatcher.ChannelHealth{well("telegram"), well("web")}, http.StatusOK, "ready"},
		"OneIsIll": {[]dispatcher.ChannelHealth{ill("telegram"), well("web")}, http.StatusOK, "degraded"},
		"AllAreIll": {
			[]dispatcher.ChannelHealth{ill("slack"), ill("telegram")}, http.StatusServiceUnavailable, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, func(c *Config) { c.Channels = func() []dispatcher.ChannelHealth { return tt.channels } })
			r := b.do(t, "GET", "/readyz", "")
			if r.status != tt.status {
				t.Fatalf("status %d %s", r.status, r.body)
			}
			metrics := string(b.do(t, "GET", "/metrics", "").body)
			for _, c := range tt.channels {
				want := "vaglio_channel_up{channel=\"" + c.Name + "\"} " + map[bool]string{true: "1", false: "0"}[c.OK()]
				if !strings.Contains(metrics, want+"\n") {
					t.Errorf("the metrics lack %s", want)
				}
			}
			if tt.word == "" {
				return
			}
			var got readiness
			if err := strictjson.UnmarshalLoose(r.body, &got); err != nil || got.Status != tt.word || len(got.Channels) != len(tt.channels) {
				t.Fatalf("got %s, %v", r.body, err)
			}
			for i, c := range tt.channels {
				if one := got.Channels[i]; one.Name != c.Name || one.OK != c.OK() || one.Problem != c.Problem || one.Remedy != c.Remedy || !one.Since.Equal(c.Since) {
					t.Errorf("channel %s: %+v", c.Name, one)
				}
			}
		})
	}
}

// What needs no token is told only to who asks for this machine by a name that no page can rebind; by
// the socket, to everybody.
func TestPublicCallsCheckTheHost(t *testing.T) {
	b := serve(t, func(c *Config) { c.Known = func(host string) bool { return host == "localhost:8787" } })
	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/openapi.yaml"} {
		for host, want := range map[string]bool{"localhost:8787": true, "evil.example:8787": false, "": false, "localhost.evil.example": false} {
			for name, h := range map[string]http.Handler{"network": b.api.Network(), "socket": b.api.Local()} {
				r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
				r.Host = host
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if refused := w.Code == http.StatusMisdirectedRequest; refused == (want || name == "socket") {
					t.Errorf("%s of %q by the %s is answered %d", path, host, name, w.Code)
				}
			}
		}
	}
}
