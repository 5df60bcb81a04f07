package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/seals"
	"github.com/metnos/vaglio/store/bolt"
)

// folders returns a doctor for a home that only the test uses.
func folders(t *testing.T) *Doctor {
	t.Helper()
	home, err := os.MkdirTemp("", "vaglio") //nolint:usetesting // A socket's path is short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return &Doctor{DataDir: filepath.Join(home, "metnos"), AuditDir: filepath.Join(home, "metnos", "vaglio"), Listen: "127.0.0.1:0"}
}

// said returns the findings about a subject, each as its grade, text and remedy.
func said(c *Chart, subject string) []string {
	var all []string
	for _, f := range c.Findings {
		if f.Subject == subject {
			all = append(all, string(f.Grade)+": "+f.Text+"|"+f.Remedy)
		}
	}
	return all
}

// expect checks that there is one finding about the subject, with the grade and with these words in
// its text or remedy.
func expect(t *testing.T, c *Chart, subject string, g approval.Grade, words ...string) {
	t.Helper()
	all := said(c, subject)
	if len(all) != 1 || !strings.HasPrefix(all[0], string(g)+": ") {
		t.Errorf("of %s is said %q; want %s", subject, all, g)
		return
	}
	for _, w := range words {
		if !strings.Contains(all[0], w) {
			t.Errorf("of %s is said %q, without %q", subject, all[0], w)
		}
	}
}

// put writes a file with a mode.
func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func nothing(context.Context, *bolt.Look) error { return nil }

// TestBeforeTheFirstStart looks where nothing exists: nothing is wrong, and looking creates nothing.
func TestBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	d := folders(t)
	if !d.Files(t.Context(), nothing) {
		t.Error("a store that is not there holds something that was not seen")
	}
	expect(t, &d.Chart, "data folder", approval.Noted, "is not there yet; the first start makes it")
	expect(t, &d.Chart, "store", approval.Noted, "There is none yet")
	expect(t, &d.Chart, "disk", approval.Fine, "MiB are free")
	expect(t, &d.Chart, "audit log", approval.Fine, "can be written.")
	expect(t, &d.Chart, "address", approval.Fine, "is free")
	if d.Wrong() != 0 {
		t.Errorf("wrong are %d of %+v", d.Wrong(), d.Findings)
	}
	if _, err := os.Stat(d.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made the folder: %v", err)
	}
}

// TestWhatIsWrongIsFound breaks one thing of a sound folder at a time.
func TestWhatIsWrongIsFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(t *testing.T, d *Doctor)
		subject string
		grade   approval.Grade
		words   []string
	}{
		"nothing":            {func(*testing.T, *Doctor) {}, "files", approval.Fine, []string{"Only you can read"}},
		"nothing, the store": {func(*testing.T, *Doctor) {}, "store", approval.Fine, []string{"can be read"}},
		"a folder for all": {func(t *testing.T, d *Doctor) {
			if err := os.Chmod(d.DataDir, 0o770); err != nil {
				t.Fatal(err)
			}
		}, "data folder", approval.Wrong, []string{"can be written by others (mode 0770)", "|Run chmod go-w "}},
		"a file for a folder": {func(_ *testing.T, d *Doctor) {
			d.DataDir = filepath.Join(d.DataDir, datafolder.StoreFile)
		}, "data folder", approval.Wrong, []string{"is not a folder", "METNOS_DATA_DIR"}},
		"a store for all": {func(t *testing.T, d *Doctor) {
			if err := os.Chmod(d.path(datafolder.StoreFile), 0o640); err != nil {
				t.Fatal(err)
			}
		}, "files", approval.Wrong, []string{datafolder.StoreFile + " can be read or written by others (mode 0640)", "|Run chmod 600 "}},
		"a token for all": {func(t *testing.T, d *Doctor) {
			put(t, d.path(datafolder.TokenFile), "x", 0o644)
		}, "files", approval.Wrong, []string{datafolder.TokenFile, "(mode 0644)"}},
		"a token for a group": {func(t *testing.T, d *Doctor) {
			put(t, d.path(datafolder.TokenFile), "x", 0o640)
		}, "files", approval.Fine, nil},
		"a key for all": {func(t *testing.T, d *Doctor) {
			put(t, d.path(datafolder.KeyFile), "x", 0o604)
		}, "files", approval.Wrong, []string{datafolder.KeyFile}},
		"an older history": {func(t *testing.T, d *Doctor) {
			put(t, d.path(datafolder.LostFile), "x", 0o600)
		}, "history", approval.Wrong, []string{RolledBackText, "vaglio log verify", datafolder.LostFile}},
		"a file for a socket": {func(t *testing.T, d *Doctor) {
			put(t, d.path(datafolder.AgentSocket), "", 0o600)
		}, "sockets", approval.Wrong, []string{"is in the way: it is not a socket"}},
		"a socket that was left": {func(t *testing.T, d *Doctor) {
			listen(t, d, datafolder.AgentSocket)
		}, "sockets", approval.Noted, []string{"A daemon that was killed left some"}},
		"a store that is none": {func(t *testing.T, d *Doctor) {
			put(t, d.path(datafolder.StoreFile), strings.Repeat("no store ", 2000), 0o600)
		}, "store", approval.Wrong, []string{"Restore the file from a backup"}},
		"a store that is held": {func(t *testing.T, d *Doctor) {
			db := open(t, d)
			t.Cleanup(func() { _ = db.Close() })
		}, "store", approval.Wrong, []string{"A process holds ", "Stop that process"}},
		"an ask that is damaged": {func(t *testing.T, d *Doctor) {
			db := open(t, d)
			_, err := db.Update(t.Context(), approval.KindAsk, "aaaa", func(r approval.Record) (approval.Record, error) {
				r.Body = []byte(`{"v":`)
				return r, nil
			})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}, "records", approval.Wrong, []string{"ask aaaa cannot be read", "Restore the store from a backup if the record matters"}},
		"an ask of a newer vaglio": {func(t *testing.T, d *Doctor) {
			db := open(t, d)
			_, err := db.Update(t.Context(), approval.KindAsk, "aaaa", func(r approval.Record) (approval.Record, error) {
				r.Body = []byte(`{"v":9999,"ask":{}}`)
				return r, nil
			})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}, "records", approval.Wrong, []string{"ask aaaa cannot be read", "Use the newer vaglio that wrote it"}},
		"an address that is taken": {func(t *testing.T, d *Doctor) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			d.Listen = l.Addr().String()
		}, "address", approval.Wrong, []string{"is taken by another program", "METNOS_LISTEN"}},
		"an address of elsewhere": {func(_ *testing.T, d *Doctor) {
			d.Listen = "192.0.2.1:1"
		}, "address", approval.Wrong, []string{"Nothing can listen there", "METNOS_LISTEN"}},
		"an audit log elsewhere": {func(_ *testing.T, d *Doctor) {
			d.AuditDir = filepath.Join(filepath.Dir(d.DataDir), "other", "vaglio")
		}, "audit log", approval.Fine, []string{"METNOS_DATA_DIR does not move it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := folders(t)
			if err := open(t, d).Close(); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, d)
			seen := d.Files(t.Context(), nothing)
			expect(t, &d.Chart, tt.subject, tt.grade, tt.words...)
			wrong := 0
			if tt.grade == approval.Wrong {
				wrong = 1
			}
			// A file in place of the folder breaks everything in it.
			if d.Wrong() != wrong && name != "a file for a folder" {
				t.Errorf("wrong are %d, want %d: %+v", d.Wrong(), wrong, d.Findings)
			}
			if tt.subject == "store" && seen != (tt.grade == approval.Fine) {
				t.Errorf("the store was seen: %t", seen)
			}
		})
	}
}

// open opens the store, and creates it if it does not exist.
func open(t *testing.T, d *Doctor) *bolt.DB {
	t.Helper()
	if err := os.MkdirAll(d.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(d.path(datafolder.StoreFile), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// listen creates a socket that nobody listens on, as a killed daemon leaves it.
func listen(t *testing.T, d *Doctor, name string) {
	t.Helper()
	path := d.path(name)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(path, 0o600), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestWhatAChannelNeedsIsReadFromTheStore checks what happens if reading the store fails.
func TestWhatAChannelNeedsIsReadFromTheStore(t *testing.T) {
	t.Parallel()
	d := folders(t)
	if err := open(t, d).Close(); err != nil {
		t.Fatal(err)
	}
	seen := d.Files(t.Context(), func(context.Context, *bolt.Look) error { return errors.New("the notes are torn") })
	expect(t, &d.Chart, "store", approval.Wrong, "the notes are torn.", "Restore the file from a backup, or use the newer vaglio")
	if seen {
		t.Error("what could not be read was seen")
	}
}

func TestUnreadRecordsAreCounted(t *testing.T) {
	t.Parallel()
	damaged := &approval.UnreadError{Kind: approval.KindAsk, ID: "a", Err: errors.New("torn")}
	newer := &approval.UnreadError{Kind: approval.KindAsk, ID: "b", Err: &approval.FormError{What: "ask", Found: 9, Known: 3}}
	older := &approval.UnreadError{Kind: approval.KindAsk, ID: "c", Err: &approval.FormError{What: "ask", Found: 0, Known: 3}}
	for _, tt := range []struct {
		all  []*approval.UnreadError
		want string
	}{
		{nil, ""},
		{[]*approval.UnreadError{newer, newer}, "cannot be read: 2; a newer vaglio wrote them."},
		{[]*approval.UnreadError{damaged, older}, "cannot be read: 2; they are damaged."},
		{[]*approval.UnreadError{damaged, newer, older}, "cannot be read: 3; a newer vaglio wrote 1 of them, and the others are damaged."},
	} {
		if got := UnreadWarning(tt.all); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%d records: %q, want %q", len(tt.all), got, tt.want)
		}
	}
	var c Chart
	c.unread(slices.Repeat([]*approval.UnreadError{damaged}, unreadNamed+2))
	all := said(&c, "records")
	if len(all) != unreadNamed+1 || !strings.Contains(all[unreadNamed], "2 more cannot be read") {
		t.Errorf("%d are told, the last is %q", len(all), all[len(all)-1])
	}
}

// ward is a channel for tests.
type ward struct {
	name  string
	finds []approval.Finding
	by    approval.Person
	err   error
	alone []bool
}

func (w *ward) Name() string { return w.name }

func (w *ward) Examine(_ context.Context, alone bool) []approval.Finding {
	w.alone = append(w.alone, alone)
	return w.finds
}

func (w *ward) Rehearse(ctx context.Context, alone bool) (approval.Person, error) {
	w.alone = append(w.alone, alone)
	if w.err == nil && w.by.ID == "" { // nobody presses the button
		<-ctx.Done()
		return approval.Person{}, ctx.Err()
	}
	return w.by, w.err
}

func TestATestCardIsToldOf(t *testing.T) {
	t.Parallel()
	ann := approval.Person{ID: "fake:1", Name: "An\u202en"}
	for name, tt := range map[string]struct {
		channel string
		ward    ward
		grade   approval.Grade
		words   string
	}{
		"pressed":    {"fake", ward{by: ann}, approval.Fine, "⟨U+202E⟩n (fake:1) pressed the test card's button"},
		"unpressed":  {"fake", ward{err: approval.ErrUntapped}, approval.Wrong, "Nobody who may decide pressed"},
		"unpaired":   {"fake", ward{err: approval.ErrUnpaired}, approval.Wrong, "vaglio pair"},
		"unsent":     {"fake", ward{err: errors.New("no route")}, approval.Wrong, "could not be sent, or its press not be fetched: no route."},
		"no channel": {"other", ward{by: ann}, approval.Wrong, "There is no chat yet"},
	} {
		tt.ward.name = "fake"
		f := Rehearse(t.Context(), []Patient{&tt.ward}, tt.channel, true)
		if f.Subject != tt.channel+" tap" || f.Grade != tt.grade || !strings.Contains(f.Text+"|"+f.Remedy, tt.words) {
			t.Errorf("%s: %+v", name, f)
		}
		if name == "pressed" && !slices.Equal(tt.ward.alone, []bool{true}) {
			t.Errorf("it was told %v of whether it is alone", tt.ward.alone)
		}
	}
}

// TestADaemonThatEndsWaitsForNoPress stops a daemon whose test card nobody answers.
func TestADaemonThatEndsWaitsForNoPress(t *testing.T) {
	t.Parallel()
	stopping := make(chan struct{})
	d := Daemon{Patients: []Patient{&ward{name: "fake"}}, Stopping: stopping}
	close(stopping)
	r, err := d.Rehearse(t.Context(), "fake")
	if err != nil || r.Finding.Grade != approval.Wrong {
		t.Errorf("%+v, %v", r, err)
	}
}

// keeper and checker are a daemon's store and log, working or not.
type keeper struct{ err error }

func (k keeper) Ping(context.Context) error { return k.err }
func (keeper) Path() string                 { return "/data/vaglio.db" }

type checker struct{ err error }

func (c checker) Check() error { return c.err }

// TestADaemonTellsHowItStands checks a daemon that is well, and then with each of its parts broken.
func TestADaemonTellsHowItStands(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.json")
	put(t, file, "{}", 0o600)
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	put(t, policy, "closed: true", 0o600)
	fine := []approval.Finding{{Subject: "fake chat", Grade: approval.Fine}}
	sound := func() (*Daemon, *ward) {
		w := &ward{name: "fake", finds: fine}
		return &Daemon{
			Address: func() string { return "127.0.0.1:1" }, AuditDir: "/audit", Policy: policy, Rules: []byte("closed: true"),
			Store: keeper{}, Audit: checker{}, Unread: func() []*approval.UnreadError { return nil },
			Health:   func() []dispatcher.ChannelHealth { return []dispatcher.ChannelHealth{{Name: "fake"}, {Name: "web"}} },
			Patients: []Patient{w}, Telegram: true, Slack: true,
			Gate: seals.New([]seals.File{{Path: file, What: "it runs the hook"}}), Off: func() []string { return nil },
			Silences: func() []string { return nil },
		}, w
	}
	d, w := sound()
	x := d.Examine(t.Context())
	if x.Wrong() != 0 || !slices.Equal(x.Channels, []string{"fake"}) || !slices.Equal(w.alone, []bool{false}) {
		t.Errorf("a sound one: %+v", x)
	}
	expect(t, &x.Chart, "store", approval.Fine, "can be written")
	expect(t, &x.Chart, "audit log", approval.Fine, "/audit can be written")
	expect(t, &x.Chart, "gate", approval.Fine, "unchanged since the start")
	expect(t, &x.Chart, "web", approval.Fine, "It works.")
	for _, silent := range []string{"fake", "policy", "telegram", "slack", "records"} {
		if all := said(&x.Chart, silent); len(all) > 0 {
			t.Errorf("a sound one says of %s: %q", silent, all)
		}
	}
	ill := func() []dispatcher.ChannelHealth {
		return []dispatcher.ChannelHealth{{Name: "fake", Health: approval.Health{Problem: "It is shut.", Remedy: "Open it."}}}
	}
	for name, tt := range map[string]struct {
		spoil   func(d *Daemon, w *ward)
		subject string
		grade   approval.Grade
		words   []string
	}{
		"a full disk":        {func(d *Daemon, _ *ward) { d.Store = keeper{errors.New("no room")} }, "store", approval.Wrong, []string{"Nothing can be saved: no room."}},
		"a log that is full": {func(d *Daemon, _ *ward) { d.Audit = checker{errors.New("no room")} }, "audit log", approval.Wrong, []string{"no room.", "give /audit to the user who serves"}},
		"a silence": {func(d *Daemon, _ *ward) {
			d.Silences = func() []string { return []string{"claude goes on without asking."} }
		}, "gate", approval.Wrong, []string{"goes on without asking", "vaglio status"}},
		"another policy":        {func(d *Daemon, _ *ward) { d.Rules = []byte("closed: false") }, "policy", approval.Noted, []string{"restart the daemon to use it"}},
		"a longer policy":       {func(d *Daemon, _ *ward) { d.Rules = []byte("closed: t") }, "policy", approval.Noted, []string{"restart the daemon to use it"}},
		"a policy that is gone": {func(d *Daemon, _ *ward) { d.Policy += ".gone" }, "policy", approval.Wrong, []string{"does not start"}},
		"a policy that others write": {func(d *Daemon, _ *ward) {
			d.Policy += ".open"
			put(t, d.Policy, "closed: true", 0o666)
		}, "policy", approval.Wrong, []string{"can be written by others"}},
		"no Telegram": {func(d *Daemon, _ *ward) { d.Telegram = false }, "telegram", approval.Noted, []string{"METNOS_TELEGRAM_TOKEN"}},
		"no Slack":    {func(d *Daemon, _ *ward) { d.Slack = false }, "slack", approval.Noted, []string{"METNOS_SLACK_BOT_TOKEN"}},
		"hooks that are off": {func(d *Daemon, _ *ward) {
			d.Off = func() []string { return []string{"/s.json"} }
			d.Gate = seals.New([]seals.File{{Path: file + ".gone", What: "it runs the hook"}})
			put(t, file+".gone", "{}", 0o600)
		}, "gate", approval.Wrong, nil},
		"a channel that is ill": {func(d *Daemon, _ *ward) { d.Health = ill }, "fake", approval.Wrong, []string{"It is shut.|Open it."}},
		"a channel that was found ill": {func(d *Daemon, w *ward) {
			w.finds = []approval.Finding{{Subject: "fake chat", Grade: approval.Wrong, Text: "It is shut."}}
			d.Health = ill // is not reported twice
		}, "fake chat", approval.Wrong, []string{"It is shut."}},
		"a record that cannot be read": {func(d *Daemon, _ *ward) {
			d.Unread = func() []*approval.UnreadError {
				return []*approval.UnreadError{{Kind: approval.KindAsk, ID: "a", Err: errors.New("torn")}}
			}
		}, "records", approval.Wrong, []string{"ask a cannot be read: torn."}},
	} {
		d, w := sound()
		tt.spoil(d, w)
		x := d.Examine(t.Context())
		if name == "hooks that are off" {
			if all := said(&x.Chart, "gate"); len(all) != 2 || !strings.Contains(strings.Join(all, "\n"), "/s.json turns every hook off") {
				t.Errorf("%s: %q", name, all)
			}
			continue
		}
		expect(t, &x.Chart, tt.subject, tt.grade, tt.words...)
		wrong := 0
		if tt.grade == approval.Wrong {
			wrong = 1
		}
		if x.Wrong() != wrong {
			t.Errorf("%s: wrong are %d of %+v", name, x.Wrong(), x.Findings)
		}
	}
}

// TestADaemonIsLookedAtFromOutside asks a daemon over its address and its proxy.
func TestADaemonIsLookedAtFromOutside(t *testing.T) {
	t.Parallel()
	for _, tt := range map[string]struct {
		answer  http.HandlerFunc
		subject string
		grade   approval.Grade
		words   string
	}{
		"ready": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"degraded\u202e"}`)) }, "readiness", approval.Fine, "says degraded⟨U+202E⟩."},
		"not ready": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			_, _ = w.Write([]byte(`{"detail":"no room."}`))
		}, "readiness", approval.Wrong, "not ready (503): no room."},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }, "readiness", approval.Wrong, "does not answer at"},
		"moved":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "public address", approval.Wrong, "answers 302 to /healthz"},
		"public":  {func(http.ResponseWriter, *http.Request) {}, "public address", approval.Fine, "leads to the daemon"},
	} {
		s := httptest.NewServer(tt.answer)
		d := Doctor{Version: "this"}
		d.BesideDaemon(t.Context(), &Examination{Version: "this", Address: strings.TrimPrefix(s.URL, "http://"), Public: s.URL})
		s.Close()
		expect(t, &d.Chart, "daemon", approval.Fine, "It is running")
		expect(t, &d.Chart, tt.subject, tt.grade, tt.words)
	}
}

// TestTheTerminalAndTheDaemonAreCompared checks a command and a daemon that differ in build and
// channels.
func TestTheTerminalAndTheDaemonAreCompared(t *testing.T) {
	t.Parallel()
	d := folders(t)
	if err := os.MkdirAll(d.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.Version, d.Telegram, d.Slack = "this", true, true
	s := httptest.NewServer(http.NotFoundHandler())
	gone := strings.TrimPrefix(s.URL, "http://")
	s.Close()
	d.BesideDaemon(t.Context(), &Examination{Version: "another", Address: gone, Public: s.URL, Chart: Chart{[]approval.Finding{{Subject: "its own"}}}})
	if all := said(&d.Chart, "daemon"); len(all) != 2 || !strings.Contains(all[1], "another build") {
		t.Errorf("of the daemon: %q", all)
	}
	expect(t, &d.Chart, "readiness", approval.Wrong, "does not answer at "+gone)
	expect(t, &d.Chart, "public address", approval.Noted, "cannot be reached from this machine")
	expect(t, &d.Chart, "sockets", approval.Wrong, "is not there, though a daemon serves")
	expect(t, &d.Chart, "telegram", approval.Wrong, "This terminal has a bot token")
	expect(t, &d.Chart, "slack", approval.Wrong, "This terminal has an app's token")
	if len(said(&d.Chart, "its own")) != 1 {
		t.Error("what the daemon said of itself is not told")
	}
}

func TestFindingsAreWritten(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	err := Write(&b, []approval.Finding{
		{Subject: "store", Grade: approval.Fine, Text: "well"},
		{Subject: "telegram chat", Grade: approval.Wrong, Text: "one\ntwo\x1b", Remedy: "mend it"},
	})
	lines := strings.Split(b.String(), "\n")
	if err != nil || len(lines) != 5 || !strings.HasSuffix(lines[0], " well") || strings.Index(lines[1], "one") != strings.Index(lines[2], "two") ||
		!strings.HasSuffix(lines[3], "→ mend it") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
