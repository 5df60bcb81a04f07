package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/store/bolt"
)

// TestKilledWhileDigestsAreSent kills the daemon again and again around the time
// at which a digest is due: at every call by which it is sent, before the call
// takes effect, after that, and when it was answered; and twice as often at
// random instants, from the start or the first of these calls on. Each window's digest must be in each chat once.
//
// A digest is due every day. The test reaches many of them by moving the time of
// the day at which it is due, a minute between one window and the next.
func TestKilledWhileDigestsAreSent(t *testing.T) {
	kills := 200
	if len(buildFlags) > 0 || testing.Short() {
		kills = 30
	}
	r := newPressRun(t, chosenSeed())
	r.run(kills)
	r.check()
}

// pressRun is one run: one store, several daemons over it, and the chats.
type pressRun struct {
	t     *testing.T
	seed  uint64
	dice  *rand.Rand
	h     *home
	args  []string
	chats []*pressChat
	// minute is the time of the day at which a digest is due now.
	minute int
	// met counts the kills by where they happened.
	met map[string]int

	mu sync.Mutex
	// point is where the daemon that runs now is killed, once, by kill.
	point pressPoint
	kill  func()
	// stir is closed and replaced whenever a chat was called.
	stir chan struct{}
}

// pressChat is one chat in which digests come.
type pressChat struct {
	http.Handler

	name string
	run  *pressRun
	// sends reports whether messages come or change by a method.
	sends func(method string) bool
	// texts are what the messages say.
	texts func() []string
	// half reports whether a digest's picture is still to come; nil where none does.
	half func() bool
	// calls counts the calls that send, of the daemon that runs now.
	calls int
}

// pressPoint is a call by which a digest is sent, and an instant of it; the zero
// one is none.
type pressPoint struct {
	chat   *pressChat
	call   int
	moment pressMoment
}

type pressMoment string

const (
	beforeEffect pressMoment = "before it took effect"
	beforeAnswer pressMoment = "before it was answered"
	afterAnswer  pressMoment = "after it was answered"
	fromThenOn   pressMoment = "at random from then on"
)

func (p pressPoint) String() string {
	if p.chat == nil {
		return "at random from the start on"
	}
	return fmt.Sprintf("%s, call %d, %s", p.chat.name, p.call, p.moment)
}

func newPressRun(t *testing.T, seed uint64) *pressRun {
	t.Helper()
	t.Logf("the seed is %d: go test ./cmd/vaglio -run %s -crash.seed=%d", seed, t.Name(), seed)
	r := &pressRun{t: t, seed: seed, dice: rand.New(rand.NewPCG(seed, 0)), met: map[string]int{}, stir: make(chan struct{})}
	// In this zone it is past noon: there is room for windows since midnight.
	zone := fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12)
	r.h = newHome(t, "METNOS_TZ="+zone, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711", "METNOS_TELEGRAM_APPROVERS=4711")
	bot := telegramtest.New()
	// texts counts the digests' texts by the messages that they answer.
	texts := func(all []telegramtest.Message) map[int]int {
		n := map[int]int{}
		for _, m := range all {
			if digestTitle.MatchString(m.Text) {
				n[m.ReplyTo]++
			}
		}
		return n
	}
	private := bot.Private(telegramtest.User{ID: 4711, FirstName: "Ann"})
	url := r.add(&pressChat{
		Handler: bot, name: "Telegram",
		sends: func(method string) bool {
			return strings.HasPrefix(method, "send") || strings.HasPrefix(method, "edit")
		},
		texts: func() (all []string) {
			// A picture that no digest's text answers is a digest too many.
			for _, m := range bot.Messages(private) {
				if m.Photo == nil || texts(bot.Messages(private))[m.ID] != 1 {
					all = append(all, m.Text)
				}
			}
			return all
		},
		half: func() bool {
			all := bot.Messages(private)
			return slices.ContainsFunc(all, func(m telegramtest.Message) bool { return m.Photo == nil && texts(all)[m.ID] > 0 })
		},
	})
	r.args = append(r.args, "--telegram-api", url)
	return r
}

// add lets digests come in a chat, and returns its platform's address.
func (r *pressRun) add(c *pressChat) string {
	r.t.Helper()
	c.run = r
	r.chats = append(r.chats, c)
	return serveHandler(r.t, c)
}

// fail tells what went wrong, with the seed.
func (r *pressRun) fail(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("seed %d: "+format, append([]any{r.seed}, args...)...)
}

// afterwards is how long after the last call of a digest a daemon may live: long
// enough to keep that it was sent.
const afterwards = 20 * time.Millisecond

// ServeHTTP passes calls on, and kills the daemon at its point.
func (c *pressChat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !c.sends(path.Base(r.URL.Path)) {
		c.Handler.ServeHTTP(w, r)
		return
	}
	c.run.mu.Lock()
	c.calls++
	p := pressPoint{chat: c, call: c.calls, moment: fromThenOn}
	c.run.mu.Unlock()
	c.run.reached(p, afterwards)
	p.moment = beforeEffect
	if c.run.reached(p, 0) {
		panic(http.ErrAbortHandler) // what it asked for never came
	}
	answer := httptest.NewRecorder()
	c.Handler.ServeHTTP(answer, r)
	p.moment = beforeAnswer
	if c.run.reached(p, 0) {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a daemon that was killed does not read it
	_ = http.NewResponseController(w).Flush()
	p.moment = afterAnswer
	c.run.reached(p, 3*time.Millisecond)
}

// reached kills the daemon within the time if that is planned for the point, and
// reports whether it was.
func (r *pressRun) reached(p pressPoint, within time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.stir)
	r.stir = make(chan struct{})
	if p != r.point {
		return false
	}
	r.met[p.String()]++
	r.point = pressPoint{}
	r.killWithin(within)
	return true
}

// killWithin kills the daemon that runs now at a random instant within the time.
func (r *pressRun) killWithin(d time.Duration) {
	if d <= 0 {
		r.kill()
		return
	}
	time.AfterFunc(time.Duration(r.dice.Int64N(int64(d))), r.kill)
}

// begin starts a daemon that is killed at the point.
func (r *pressRun) begin(p pressPoint) *served {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.h.begin(func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, r.args...)
		cmd.Env = append(cmd.Env, fmt.Sprintf("METNOS_DIGEST_AT=%02d:%02d", r.minute/60, r.minute%60))
	})
	for _, c := range r.chats {
		c.calls = 0
	}
	r.point, r.kill = p, func() { _ = s.cmd.Process.Kill() } // it may be dying already
	return s
}

// run lets one daemon after another send digests, and kills each.
func (r *pressRun) run(kills int) {
	r.t.Helper()
	began := time.Now()
	r.settle()
	sending := r.undisturbed()
	points := r.points()
	for n := range kills {
		var p pressPoint
		switch n % 3 {
		case 0:
			if n/3%len(points) == 0 {
				r.dice.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
			}
			p = points[n/3%len(points)]
		case 1:
			p = pressPoint{r.chats[r.dice.IntN(len(r.chats))], 1, fromThenOn}
		}
		s := r.begin(p)
		if p.chat == nil {
			r.reached(p, sending+afterwards)
		}
		if !r.ended(s) {
			return
		}
		if r.shown() {
			r.minute++
		}
	}
	r.undisturbed()
	r.t.Logf("%d kills, %d windows, a digest is sent %s after the start, %s in all", kills, r.minute, sending.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	for _, where := range slices.Sorted(maps.Keys(r.met)) {
		r.t.Logf("killed %d times: %s", r.met[where], where)
	}
	for _, p := range points {
		if r.met[p.String()] == 0 && kills >= 12*len(points) {
			r.fail("no daemon was killed at the point %s", p)
		}
	}
}

// settle lets a daemon note until when nobody is told: midnight.
func (r *pressRun) settle() {
	r.t.Helper()
	for noted := false; !noted; {
		s := r.begin(pressPoint{})
		select {
		case <-s.greeting:
		case <-s.done:
			r.t.Fatalf("the daemon ended at its start: %s\n%s", s.cmd.ProcessState, s.log)
		}
		s.stop()
		db, err := bolt.Open(r.h.data("vaglio.db"), bolt.Options{})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, err := range db.List(r.t.Context(), approval.Query{Kind: approval.KindMeta, Prefix: "digest/"}) {
			noted = noted || err == nil
		}
		if err := db.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	r.minute = 1
}

// undisturbed lets a daemon send the next window's digest, and returns how long
// that took from its start.
func (r *pressRun) undisturbed() time.Duration {
	r.t.Helper()
	began := time.Now()
	s := r.begin(pressPoint{})
	r.await(s, r.shown)
	took := time.Since(began)
	s.stop()
	r.minute++
	return took
}

// points are all instants at which the daemon that ran last could have been
// killed while it sent a digest.
func (r *pressRun) points() (all []pressPoint) {
	for _, c := range r.chats {
		for call := range c.calls {
			for _, m := range []pressMoment{beforeEffect, beforeAnswer, afterAnswer} {
				all = append(all, pressPoint{c, call + 1, m})
			}
		}
	}
	return all
}

// ended waits for the end of a daemon that is to be killed. One that sent
// everything and did not come to its point is killed soon after.
func (r *pressRun) ended(s *served) bool {
	r.t.Helper()
	if r.await(s, r.shown) {
		r.mu.Lock()
		r.killWithin(afterwards)
		r.mu.Unlock()
		<-s.done
	}
	status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || status.Signal() != syscall.SIGKILL {
		r.fail("the daemon ended by itself: %s\n%s", s.cmd.ProcessState, s.log)
		return false
	}
	return true
}

// await waits until something is so, or the daemon ends, and reports the former.
func (r *pressRun) await(s *served, is func() bool) bool {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		stir := r.stir
		r.mu.Unlock()
		if is() {
			return true
		}
		select {
		case <-stir:
		case <-s.done:
			return false
		case <-deadline:
			r.fail("the digest of the window that ends at minute %d does not come\n%s", r.minute, s.log)
			s.kill()
			r.t.FailNow()
		}
	}
}

// shown reports whether the digest that is due now is in each chat.
func (r *pressRun) shown() bool {
	return !slices.ContainsFunc(r.chats, func(c *pressChat) bool { return !slices.Contains(c.windows(), r.minute) || c.half != nil && c.half() })
}

var digestTitle = regexp.MustCompile(`Digest, (\d\d):(\d\d) – (\d\d):(\d\d)`)

// windows are the ends of the windows whose digests are in the chat, in minutes
// since midnight. One that does not begin a minute before its end is -1.
func (c *pressChat) windows() (all []int) {
	for _, text := range c.texts() {
		if found := digestTitle.FindStringSubmatch(text); found != nil {
			at := func(i int) int {
				hour, _ := strconv.Atoi(found[i])
				minute, _ := strconv.Atoi(found[i+1])
				return hour*60 + minute
			}
			if end := at(3); at(1) == end-1 {
				all = append(all, end)
			} else {
				all = append(all, -1)
			}
		}
	}
	return all
}

// check holds the chats against the windows that were due.
func (r *pressRun) check() {
	r.t.Helper()
	var want []int
	for end := 1; end < r.minute; end++ {
		want = append(want, end)
	}
	for _, c := range r.chats {
		got := c.windows()
		if !slices.Equal(got, want) {
			r.fail("%s has the digests of the windows that end at %v, want each to %d once", c.name, got, len(want))
		}
		waits := 0
		for _, text := range c.texts() {
			switch {
			case strings.Contains(text, "Your digest is being made. If it does not come here, another message has it."):
				waits++
			case !digestTitle.MatchString(text):
				r.fail("%s has a message that says %q", c.name, text)
			}
		}
		r.t.Logf("%s: %d digests; %d messages say that one is being made", c.name, len(got), waits)
	}
}
