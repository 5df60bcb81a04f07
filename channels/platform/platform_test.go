package platform_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/channels/platform"
	"github.com/metnos/vaglio/templates"
)

// notes are something that a channel might note.
type notes struct{ Seen []int }

func (n notes) Clone() notes { return notes{slices.Clone(n.Seen)} }

func (n notes) Equal(o notes) bool { return slices.Equal(n.Seen, o.Seen) }

// disk stores the notes.
type disk struct {
	kept  notes
	fails error
	saves int
	// saving runs during a save.
	saving func()
}

func (d *disk) Load(context.Context) (notes, error) { return d.kept, d.fails }

func (d *disk) Save(_ context.Context, n notes) error {
	d.saves++
	if d.saving != nil {
		d.saving()
	}
	if d.fails == nil {
		d.kept = n
	}
	return d.fails
}

func TestNotesAreOnDiskFirst(t *testing.T) {
	t.Parallel()
	d := &disk{kept: notes{[]int{1}}}
	n, err := platform.Open(t.Context(), "chat", d)
	if err != nil {
		t.Fatal(err)
	}
	before := n.Now()
	// Meanwhile callers get the old notes, without waiting.
	d.saving = func() {
		if got := n.Now().Seen; !slices.Equal(got, []int{1}) {
			t.Errorf("before it is on disk the notes are %v", got)
		}
	}
	add := func(n *notes) { n.Seen[0]++; n.Seen = append(n.Seen, 2) }
	if err := n.Change(t.Context(), add); err != nil || !slices.Equal(n.Now().Seen, []int{2, 2}) || !d.kept.Equal(n.Now()) {
		t.Errorf("they are %v, on disk %v: %v", n.Now(), d.kept, err)
	}
	if !slices.Equal(before.Seen, []int{1}) {
		t.Errorf("notes that were read became %v", before.Seen)
	}
	d.saving = nil
	if err := n.Change(t.Context(), func(*notes) {}); err != nil || d.saves != 1 {
		t.Errorf("what changes nothing is written: %d times, %v", d.saves, err)
	}
	d.fails = errors.New("full")
	if err := n.Change(t.Context(), add); !errors.Is(err, d.fails) || !strings.HasPrefix(err.Error(), "chat: keep the notes: ") {
		t.Errorf("a full disk is told as %v", err)
	}
	if !slices.Equal(n.Now().Seen, []int{2, 2}) {
		t.Errorf("what is not on disk is noted: %v", n.Now())
	}
	if _, err := platform.Open(t.Context(), "chat", d); !errors.Is(err, d.fails) {
		t.Errorf("notes that cannot be read: %v", err)
	}
}

func TestAPauseHoldsItsLimitAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p platform.Pauses[string]
		p.Begin("a", time.Minute)
		if a, b := p.Left("a"), p.Left("b"); a != time.Minute || b != 0 {
			t.Errorf("a waits for %s, b for %s", a, b)
		}
		time.Sleep(40 * time.Second)
		p.Begin("b", time.Second)
		if a, b := p.Left("a"), p.Left("b"); a != 20*time.Second || b != time.Second {
			t.Errorf("later a waits for %s, b for %s", a, b)
		}
		time.Sleep(20 * time.Second)
		if a, b := p.Left("a"), p.Left("b"); a != 0 || b != 0 {
			t.Errorf("at the end a waits for %s, b for %s", a, b)
		}
	})
}

func TestSleepAndBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		platform.Sleep(t.Context(), 3*time.Second)
		platform.Sleep(t.Context(), -time.Second)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		platform.Sleep(ended, time.Hour)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it slept for %s", took)
		}
	})
	var waits []time.Duration
	for failures := range 8 {
		waits = append(waits, platform.Backoff(platform.FirstPause, platform.LongestPause, failures)/time.Second)
	}
	if want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}; !slices.Equal(waits, want) {
		t.Errorf("the pauses are %v, want %v", waits, want)
	}
	if d := platform.Backoff(time.Second, time.Minute, 1<<40); d != time.Minute {
		t.Errorf("after very many failures it waits for %s", d)
	}
}

func TestTroubleKeepsItsBeginning(t *testing.T) {
	t.Parallel()
	var l platform.Locale
	if err := l.Load(templates.BySlack); err != nil || l.Zone != time.UTC {
		t.Fatal(l.Zone, err)
	}
	synctest.Test(t, func(t *testing.T) {
		var wrong platform.Trouble
		if h := wrong.In(l.English()); !wrong.OK() || !h.OK() {
			t.Errorf("no trouble is told as %+v", h)
		}
		began := time.Now()
		wrong.Begin("trouble.net", nil)
		time.Sleep(time.Hour)
		wrong.Begin("trouble.slack.shut", templates.Values{"channel": templates.Theirs("C1"), "setting": templates.Theirs("THIS")})
		told := map[string]bool{}
		for _, lang := range templates.Langs() {
			h := wrong.In(l.In(lang))
			if !h.Since.Equal(began) || !strings.Contains(h.Problem, "C1") || !strings.Contains(h.Remedy, "THIS") || told[h.Problem] || told[h.Remedy] {
				t.Errorf("in %s: %+v", lang, h)
			}
			told[h.Problem], told[h.Remedy] = true, true
		}
	})
}

func TestBodyTakesWhatIsDelivered(t *testing.T) {
	t.Parallel()
	refuse := func(h http.Header) int {
		if h.Get("Who") != "platform" {
			return http.StatusUnauthorized
		}
		return 0
	}
	broken := func() *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", &failing{})
		r.Header.Set("Who", "platform")
		return r
	}
	post := func(who, body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Who", who)
		return r
	}
	for name, c := range map[string]struct {
		request *http.Request
		status  int
	}{
		"Taken":    {post("platform", "12345678"), http.StatusOK},
		"Get":      {httptest.NewRequest(http.MethodGet, "/", http.NoBody), http.StatusMethodNotAllowed},
		"Stranger": {post("me", "12345678"), http.StatusUnauthorized},
		"Large":    {post("platform", "123456789"), http.StatusRequestEntityTooLarge},
		"Broken":   {broken(), http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		body, ok := platform.Body(w, c.request, 8, refuse)
		if ok != (c.status == http.StatusOK) || w.Code != c.status || ok != bytes.Equal(body, []byte("12345678")) {
			t.Errorf("%s: %q, %t with %d", name, body, ok, w.Code)
		}
	}
	if _, ok := platform.Body(httptest.NewRecorder(), post("me", ""), 8, nil); !ok {
		t.Error("what nobody refuses is not taken")
	}
}

// failing is a body that breaks off.
type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("gone") }
