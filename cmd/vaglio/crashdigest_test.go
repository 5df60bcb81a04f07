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
	"github.com/metnos/vaglio/channels/slack/slacktest"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/bolt"
)

// TestKilledWhileDigestsAreSent repeatedly kills the daemon around the time a digest is due: at
// every call that sends it, before the call takes effect, after that, and after its answer; and
// more often at random instants after the start or after the first of these calls. Each window's
// digest must be in each chat once, with one picture.
//
// A digest is due every day. The test produces many by moving the time of day at which it is due by
// a minute for each window.
func TestKilledWhileDigestsAreSent(t *testing.T) {
	t.Parallel()
	kills := 40
	if race.Detector || testing.Short() {
		kills = 3
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
	// minute is the time of day at which a digest is due now.
	minute int
	// fresh is set if the next window's digest has not been begun.
	fresh bool
	// starting is how long a daemon takes from its start to the first call that sends a digest, and
	// sending from there to well after the last.
	starting, sending time.Duration
	// met counts the kills by where they happened.
	met map[string]int

	mu sync.Mutex
	// point is where kill kills the current daemon, once.
	point pressPoint
	kill  func()
	// first is when it made the first call that sends a digest.
	first time.Time
	// stir is closed and replaced whenever a chat is called.
	stir chan struct{}
}

// pressChat is a chat that receives digests.
type pressChat struct {
	http.Handler

	name string
	run  *pressRun
	// sends reports whether a method posts or changes messages.
	sends func(method string) bool
	// told returns the chat's digests, in order, and the texts of its other messages.
	told func() (digests []pressDigest, others []string)
	// calls counts the current daemon's calls that send.
	calls int
}

// pressDigest is a digest in a chat.
type pressDigest struct {
	// end is the end of its window, in minutes since midnight; -1 if the window did not begin one
	// minute earlier.
	end int
	// pictures is how many pictures it has.
	pictures int
}

// pressPoint is a moment of a call that sends a digest; the zero value is none.
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
	// In this zone it is past noon, so there is room for windows since midnight.
	zone := fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12)
	r.h = newHome(t, "METNOS_TZ="+zone)
	r.onTelegram()
	r.onSlack()
	return r
}

// onTelegram sends digests to Ann's private chat, where the text is a reply to the picture.
func (r *pressRun) onTelegram() {
	bot := telegramtest.New()
	private := bot.Private(telegramtest.User{ID: 4711, FirstName: "Ann"})
	r.h.env = append(r.h.env, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_TELEGRAM_CHAT=4711", "METNOS_TELEGRAM_APPROVERS=4711")
	url := r.add(&pressChat{
		Handler: bot, name: "Telegram",
		sends: func(method string) bool {
			return strings.HasPrefix(method, "send") || strings.HasPrefix(method, "edit")
		},
		told: func() (digests []pressDigest, others []string) {
			photos := map[int]string{}
			for _, m := range bot.Messages(private) {
				if end, ok := digestOf(m.Text); ok {
					d := pressDigest{end: end}
					if _, ok := photos[m.ReplyTo]; ok {
						d.pictures++
						delete(photos, m.ReplyTo)
					}
					digests = append(digests, d)
				} else if m.Photo != nil {
					photos[m.ID] = m.Text
				} else {
					others = append(others, m.Text)
				}
			}
			return digests, slices.AppendSeq(others, maps.Values(photos))
		},
	})
	r.args = append(r.args, "--telegram-api", url)
}

// onSlack sends digests to a channel, where the picture is in the text's thread.
func (r *pressRun) onSlack() {
	team := slacktest.New()
	team.AddUser(slacktest.User{ID: slackAnn, Name: "ann", RealName: "Ann"})
	team.AddChannel(slackHome, slackAnn)
	r.h.env = append(r.h.env, "METNOS_SLACK_BOT_TOKEN="+slacktest.BotToken, "METNOS_SLACK_APP_TOKEN="+slacktest.AppToken,
		"METNOS_SLACK_CHANNEL="+slackHome, "METNOS_SLACK_APPROVERS="+slackAnn)
	url := r.add(&pressChat{
		Handler: team, name: "Slack",
		sends: func(method string) bool {
			return strings.HasPrefix(method, "chat.") || strings.HasPrefix(method, "files.")
		},
		told: func() (digests []pressDigest, others []string) {
			at := map[string]int{}
			for _, m := range team.Messages(slackHome) {
				head, threaded := at[m.ThreadTS]
				if end, ok := digestOf(m.Shown()); ok {
					at[m.TS] = len(digests)
					digests = append(digests, pressDigest{end: end})
				} else if threaded && m.File != nil {
					digests[head].pictures++
				} else {
					others = append(others, m.Shown())
				}
			}
			return digests, others
		},
	})
	r.t.Cleanup(team.Drop)
	r.args = append(r.args, "--slack-api", url+"/api")
}

// add adds a chat that receives digests, and returns its platform's address.
func (r *pressRun) add(c *pressChat) string {
	r.t.Helper()
	c.run = r
	r.chats = append(r.chats, c)
	return serveHandler(r.t, c)
}

// fail reports what went wrong, with the seed.
func (r *pressRun) fail(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("seed %d: "+format, append([]any{r.seed}, args...)...)
}

// afterwards is how long after a digest's last call a daemon may live: long enough to record that
// the digest was sent.
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
	if c.calls == 1 {
		if c.run.first.IsZero() {
			c.run.first = time.Now()
		}
	}
	c.run.mu.Unlock()
	c.run.reached(p, c.run.within())
	p.moment = beforeEffect
	if c.run.reached(p, 0) {
		panic(http.ErrAbortHandler) // the call never arrived
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

// reached kills the daemon within the given time if this is the planned point, and reports whether
// it is.
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

// within returns how long a daemon may live from the first call that sends a digest: twice as long
// after a kill, so that it can finish what was begun.
func (r *pressRun) within() time.Duration {
	if r.fresh {
		return r.sending
	}
	return 2 * r.sending
}

// killWithin kills the current daemon at a random instant within the given time.
func (r *pressRun) killWithin(d time.Duration) {
	if d <= 0 {
		r.kill()
		return
	}
	time.AfterFunc(time.Duration(r.dice.Int64N(int64(d))), r.kill)
}

// begin starts a daemon that will be killed at the point.
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
	r.first, r.point, r.kill = time.Time{}, p, func() { _ = s.cmd.Process.Kill() } // it may be dying already
	return s
}

// run lets one daemon after another send digests, and kills each.
func (r *pressRun) run(kills int) {
	r.t.Helper()
	began := time.Now()
	r.settle()
	r.undisturbed()
	points := r.points()
	todo := slices.Clone(points)
	r.dice.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	for n := range kills {
		var p pressPoint
		switch {
		case r.fresh && len(todo) > 0:
			// All calls of a digest are still to come.
			p, todo = todo[0], todo[1:]
		case n%2 == 0:
			p = pressPoint{r.chats[r.dice.IntN(len(r.chats))], 1, fromThenOn}
		}
		s := r.begin(p)
		if p.chat == nil {
			r.reached(p, r.starting+r.within())
		}
		if !r.ended(s) {
			return
		}
		if r.fresh = r.shown(); r.fresh {
			r.minute++
		}
	}
	r.undisturbed()
	r.t.Logf("%d kills, %d windows, the sending begins %s after the start and takes %s, %s in all", kills, r.minute-1,
		r.starting.Round(time.Millisecond), r.sending.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	for _, where := range slices.Sorted(maps.Keys(r.met)) {
		r.t.Logf("killed %d times: %s", r.met[where], where)
	}
	for _, p := range points {
		if r.met[p.String()] == 0 && len(todo) == 0 {
			r.fail("no daemon was killed at the point %s", p)
		}
	}
}

// settle lets a daemon record, for each chat, that nothing before midnight is to be sent.
func (r *pressRun) settle() {
	r.t.Helper()
	for noted := 0; noted < len(r.chats); {
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
		noted = 0
		for _, err := range db.List(r.t.Context(), approval.Query{Kind: approval.KindMeta, Prefix: "digest/"}) {
			if err == nil {
				noted++
			}
		}
		if err := db.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	r.minute = 1
}

// undisturbed lets a daemon send the next window's digest, and measures how long that takes.
func (r *pressRun) undisturbed() {
	r.t.Helper()
	began := time.Now()
	s := r.begin(pressPoint{})
	r.await(s, r.shown)
	ended := time.Now()
	s.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting, r.sending = r.first.Sub(began), ended.Sub(r.first)+afterwards
	r.minute++
	r.fresh = true
}

// points returns all instants at which the last daemon could have been killed while sending a
// digest.
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

// ended waits for the end of a daemon that is to be killed. One that sent everything without
// reaching its point is killed soon after.
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

// await waits until is is true or the daemon ends, and reports the former.
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
			for _, c := range r.chats {
				digests, others := c.told()
				r.t.Logf("%s has %v and %q; %d calls were made", c.name, digests, others, c.calls)
			}
			r.fail("the digest of the window that ends at minute %d does not come\n%s", r.minute, s.log)
			s.kill()
			r.t.FailNow()
		}
	}
}

// shown reports whether the digest that is due now is in each chat.
func (r *pressRun) shown() bool {
	return !slices.ContainsFunc(r.chats, func(c *pressChat) bool {
		digests, _ := c.told()
		return !slices.Contains(digests, pressDigest{r.minute, 1})
	})
}

var digestTitle = regexp.MustCompile(`Digest, \D*(?:\d+ \w+\D+)?(\d\d):(\d\d)\D+(?:\d+ \w+\D+)?(\d\d):(\d\d)`)

// digestOf returns the end of the window if a text is a digest.
func digestOf(text string) (end int, ok bool) {
	found := digestTitle.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	at := func(i int) int {
		hour, _ := strconv.Atoi(found[i])
		minute, _ := strconv.Atoi(found[i+1])
		return hour*60 + minute
	}
	if end = at(3); at(1) != end-1 {
		return -1, true
	}
	return end, true
}

// check compares the chats with the windows that were due.
func (r *pressRun) check() {
	r.t.Helper()
	var want []pressDigest
	for end := 1; end < r.minute; end++ {
		want = append(want, pressDigest{end, 1})
	}
	for _, c := range r.chats {
		got, others := c.told()
		if !slices.Equal(got, want) {
			r.fail("%s has the digests of the windows that end at, with so many pictures, %v; want each to %d once, with one", c.name, got, len(want))
		}
		for _, text := range others {
			if !strings.Contains(text, "Your digest is on its way. If it does not appear here,") {
				r.fail("%s has a message that says %q", c.name, text)
			}
		}
		r.t.Logf("%s: %d digests; %d messages say that one is being made", c.name, len(got), len(others))
	}
}
