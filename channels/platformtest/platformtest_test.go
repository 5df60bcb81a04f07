package platformtest_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/channels/platformtest"
)

func TestTheNetworkCarriesAndIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n platformtest.Network
		client := n.Client()
		get := func() (string, error) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://anywhere.test/", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(req)
			if err != nil {
				return "", err
			}
			defer func() { _ = res.Body.Close() }()
			b, err := io.ReadAll(res.Body)
			return string(b), err
		}
		if _, err := get(); err == nil {
			t.Error("a network that was not started carries")
		}
		asked := make(chan struct{})
		n.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(asked)
			select {
			case <-time.After(time.Hour): // the bubble's hour, so nobody waits
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(w, "late")
		}))
		n.Start(http.NotFoundHandler())
		if got, err := get(); got != "late" || err != nil {
			t.Errorf("the first server answers %q, %v", got, err)
		}
		n.Stop()
		n.Stop()
		if _, err := get(); err == nil {
			t.Error("a stopped network carries")
		}
		asked = make(chan struct{})
		n.Start(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done() }))
		failed := make(chan error)
		go func() { _, err := get(); failed <- err }()
		<-asked
		n.Stop()
		if <-failed == nil {
			t.Error("a request outlives the network")
		}
	})
}

func TestTroubleComesInOrderAndOnce(t *testing.T) {
	t.Parallel()
	var trouble platformtest.Trouble[string]
	next := func(method string) string {
		if f := trouble.Next(method); f != nil {
			return *f
		}
		return ""
	}
	trouble.Fail("send", 2, "busy")
	trouble.Fail("", 1, "down")
	for i, step := range []struct{ method, want string }{{"edit", "down"}, {"edit", ""}, {"send", "busy"}, {"send", "busy"}, {"send", ""}} {
		if got := next(step.method); got != step.want {
			t.Errorf("call %d, of %s, meets %q, want %q", i, step.method, got, step.want)
		}
	}
	trouble.Fail("send", 1, "busy")
	trouble.Heal()
	if got := next("send"); got != "" {
		t.Errorf("after it healed a call meets %q", got)
	}
	trouble.Slow(time.Second)
	if trouble.Slow(time.Minute, "photo"); trouble.Takes("text") != time.Second || trouble.Takes("photo") != time.Minute {
		t.Errorf("calls take %s and %s", trouble.Takes("text"), trouble.Takes("photo"))
	}
}
