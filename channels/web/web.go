// Package web is the inbox in the browser: the channel that is always there. Its pages are
// rendered on the server from the current state, and load nothing from elsewhere. Without
// JavaScript they show and deny. A small script signs what is pressed, keeps the pages
// live, counts down, and adds keyboard shortcuts.
//
// The package shows and hands in; it decides nothing. What an agent, a judge or a turn
// wrote goes through [visible.Runs] before it reaches a page, and Allow is offered only on
// a page that shows the whole call.
//
// Nobody reads or presses anything without a session. A session starts from a one-time link
// ([Web.LoginLink]) and is a record, so it survives a restart and can be ended. No GET
// changes anything. What changes something is signed by a key that the browser made when it
// signed in and keeps for this origin ([proof]); a session without one can only look and
// deny.
package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/web/passkey"
	"github.com/metnos/vaglio/channels/web/proof"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// Web serves the inbox at /inbox and below. It is safe for concurrent use.
type Web struct {
	desk       Desk
	book       Book
	propose    func(context.Context, string, vaglio.Proposal) (approval.Answer, error)
	judgements func(context.Context, string) (vaglio.Judgement, error)
	samples    []Sample
	thresholds map[string]float64
	public     *url.URL
	trial      bool
	log        *slog.Logger

	sessions *sessions
	// proofs distinguishes who has a session's key from who has only its cookie.
	proofs *proof.Verifier
	// passkeys are required to allow serious calls once there is one; passkeysBy is called
	// before they change.
	passkeys   *passkey.Ring
	passkeysBy func(context.Context, approval.Announcement) error
	// signedInBy is called before each sign-in.
	signedInBy func(context.Context, Session) error
	codes      codes
	told       atomic.Pointer[sealer]
	texts      *templates.Set
	lang       templates.Lang
	zone       *time.Location
	pages      map[templates.Lang]func() (*template.Template, error)
	assets     map[string]asset
	streams    chan struct{}
	stopped    chan struct{}
	stopOnce   sync.Once
}

// Config configures the inbox.
type Config struct {
	// Desk lists what waits and takes the decisions.
	Desk Desk
	// Book answers questions about what happened.
	Book Book
	// Propose proposes a call from the page Try it, in the name of [TryAgent]. It must not
	// wait for the person, who is looking at the page. An error that the person may read is
	// an [*InputError].
	Propose func(ctx context.Context, agent string, p vaglio.Proposal) (approval.Answer, error)
	// Judgement returns what a judge agent did, by its id.
	Judgement func(ctx context.Context, id string) (vaglio.Judgement, error)
	// Samples are the ready-made calls of the page Try it.
	Samples []Sample
	// Thresholds maps kinds of judges to the least score that they require. The score of a
	// judge that is not listed is shown without one.
	Thresholds map[string]float64
	// Sessions stores who is signed in; nil forgets it when the process ends.
	Sessions Sessions
	// SignedIn is called before each sign-in; an error prevents it. Nil tells nobody.
	SignedIn func(context.Context, Session) error
	// Passkeys are those of the person who signs in; nil forgets them when the process
	// ends.
	Passkeys *passkey.Ring
	// PasskeysChange is called before each change of them; an error prevents it. Nil tells
	// nobody.
	PasskeysChange func(context.Context, approval.Announcement) error
	// Secret determines the cookie's name and, until [Web.Rekey], seals what the browser
	// carries from one page to the next. No session derives from it.
	Secret [32]byte
	// Public is the address at which people reach the inbox from elsewhere, such as
	// "https://vaglio.example.org". Empty means only from this machine.
	Public string
	// Trial says that agents can run as the user who serves, which every page mentions.
	Trial bool
	// Texts are what people read; nil means the embedded ones.
	Texts *templates.Set
	// Lang is the language for browsers that prefer none of the available ones.
	Lang templates.Lang
	// Zone is the time zone of what people read; nil means the machine's.
	Zone *time.Location
	// Log receives errors on our side.
	Log *slog.Logger
}

// Desk is where a person's taps go, and where the waiting cards come from.
type Desk interface {
	// Decide commits the tap, or says who was first.
	Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error)
	// Watch ticks after every change, until ctx ends.
	Watch(ctx context.Context) <-chan struct{}
	Cards
	Orders
}

// Cards gives access to the asks as a channel shows them, with its buttons.
type Cards interface {
	// Waiting yields the asks that wait, oldest first.
	Waiting(ctx context.Context) iter.Seq2[approval.Waiting, error]
	// Card returns the card of one ask.
	Card(ctx context.Context, ask approval.AskID, channel string) (approval.Card, error)
	// Reveal records that a person is about to be shown masked values of the ask.
	Reveal(ctx context.Context, ask approval.AskID, by approval.Person, channel string) error
	// Revealed returns the card with the values that decide what its calls do.
	Revealed(ctx context.Context, ask approval.AskID, channel string) (approval.Card, error)
}

// Book is the record of what was proposed and what became of it.
type Book interface {
	// Find returns the ask with the id, with an approval of that id, or with the unique
	// prefix of one.
	Find(ctx context.Context, id string) (approval.Ask, error)
	// History returns a page of the matching entries, newest first.
	History(ctx context.Context, f approval.Filter) (approval.Page, error)
	// Steps returns steps of one turn, in order.
	Steps(ctx context.Context, q approval.TurnQuery) (approval.TurnPage, error)
	// Why returns the card that a person names, of an ask or of what was refused without
	// one.
	Why(ctx context.Context, id, channel string) (approval.Card, error)
	Reports
}

// Reports cover periods of time.
type Reports interface {
	// Digest returns the digest that was due on a day such as "2026-11-21"; an empty day
	// means the window that is not over. A [*report.DayError] says that there is none.
	Digest(ctx context.Context, day string) (report.Digest, error)
	// Statistics returns how the gate was used in a range of days. A [*report.RangeError]
	// says that the range is invalid.
	Statistics(ctx context.Context, r report.Range) (report.Statistics, error)
}

// TryAgent is the agent in whose name the page Try it proposes.
const TryAgent = "try-it"

// Sample is a ready-made call for the page Try it.
type Sample struct {
	// Name is the sample's name in the form, such as "guard".
	Name string
	// Title and Explain tell the person what the call is and what will happen.
	Title, Explain string
	Proposal       vaglio.Proposal
}

// InputError is a mistake in a proposal, in words that its writer may read.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *InputError) Unwrap() error { return e.Err }

const (
	// maxStreams is the most live connections; one browser needs one.
	maxStreams = 64
	// maxRead limits how many of the asks that wait are read for a list, and maxWeight how
	// many bytes of calls: an agent that floods the inbox must not lock out its owner.
	maxRead   = 500
	maxWeight = 4 << 20
)

// New returns the inbox, or an error that names what is missing in c.
func New(ctx context.Context, c Config) (*Web, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	w := &Web{
		desk: c.Desk, book: c.Book, judgements: c.Judgement, propose: c.Propose, samples: c.Samples,
		thresholds: c.Thresholds, trial: c.Trial, log: c.Log,
		proofs: proof.New(), streams: make(chan struct{}, maxStreams), stopped: make(chan struct{}),
	}
	if c.Public != "" {
		public, err := url.Parse(c.Public)
		if err != nil || public.Hostname() == "" || (public.Scheme != "http" && public.Scheme != "https") {
			return nil, errors.New(`web: Public: must be an address such as "https://vaglio.example.org"`)
		}
		w.public = public
	}
	if w.signedInBy = c.SignedIn; w.signedInBy == nil {
		w.signedInBy = func(context.Context, Session) error { return nil }
	}
	if err := w.takePasskeys(ctx, &c); err != nil {
		return nil, err
	}
	var err error
	if w.sessions, err = openSessions(ctx, c.Secret, c.Sessions); err != nil {
		return nil, err
	}
	if err := w.Rekey(c.Secret); err != nil {
		return nil, err
	}
	if w.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	return w, w.speak(c)
}

// speak prepares the pages in every language, each when its first reader comes.
func (w *Web) speak(c Config) (err error) {
	if w.zone = c.Zone; w.zone == nil {
		w.zone = time.Local
	}
	if w.texts, w.lang = c.Texts, c.Lang; w.texts == nil {
		if w.texts, err = templates.Load(nil); err != nil {
			return err
		}
	}
	w.texts = w.texts.By(templates.ByPage)
	w.pages = map[templates.Lang]func() (*template.Template, error){}
	for _, lang := range templates.Langs() {
		w.pages[lang] = sync.OnceValues(func() (*template.Template, error) { return w.loadPages(w.texts.In(lang, w.zone)) })
	}
	return nil
}

func (c *Config) check() error {
	var errs []error
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"Desk", c.Desk == nil},
		{"Book", c.Book == nil},
		{"Propose", c.Propose == nil},
		{"Secret", c.Secret == [32]byte{}},
		{"Log", c.Log == nil},
	} {
		if f.missing {
			errs = append(errs, fmt.Errorf("web: %s: must be set", f.name))
		}
	}
	return errors.Join(errs...)
}

// LoginLink returns a link that signs one person in, once, within ten minutes. base is the
// address that serves the inbox, such as "http://127.0.0.1:8787".
func (w *Web) LoginLink(base string) string {
	return strings.TrimRight(base, "/") + "/inbox/login?code=" + w.codes.mint()
}

// Stop ends the live connections, which a server's Shutdown would wait for. The pages
// continue to be served.
func (w *Web) Stop() { w.stopOnce.Do(func() { close(w.stopped) }) }

// Handler serves /inbox and everything below it.
func (w *Web) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /inbox", w.signedIn(w.inbox))
	mux.Handle("GET /inbox/history", w.signedIn(w.history))
	mux.Handle("GET /inbox/history/export", w.signedIn(w.export))
	mux.Handle("GET /inbox/digest", w.signedIn(w.digest))
	mux.Handle("GET /inbox/statistics", w.signedIn(w.statistics))
	mux.Handle("GET /inbox/frame", w.signedIn(w.frame))
	mux.Handle("GET /inbox/ask/{id}", w.signedIn(w.ask))
	mux.Handle("GET /inbox/edit/{id}", w.signedIn(w.editPage))
	mux.Handle("GET /inbox/turn", w.signedIn(w.turn))
	mux.Handle("GET /inbox/turn/{agent}/{turn}", w.signedIn(w.turn))
	if w.judgements != nil {
		mux.Handle("GET /inbox/judgement/{id}", w.signedIn(w.judgement))
	}
	mux.Handle("GET /inbox/passkeys", w.signedIn(w.passkeysPage))
	mux.Handle("GET /inbox/try", w.signedIn(w.tryPage))
	mux.Handle("GET /inbox/events", w.signedIn(w.events))
	mux.Handle("GET /inbox/nonce", w.open(w.nonce))
	mux.Handle("GET /inbox/login", w.open(w.loginPage))
	mux.Handle("GET /inbox/manifest.webmanifest", w.open(w.manifest))
	mux.Handle("GET /inbox/worker.js", w.open(w.worker))
	mux.Handle("GET /inbox/assets/{name}", w.open(w.asset))
	mux.Handle("GET /inbox/", w.signedIn(w.elsewhere))
	mux.Handle("POST /inbox/decide", w.acting(denies, w.decide))
	mux.Handle("POST /inbox/order", w.acting(stops, w.order))
	mux.Handle("POST /inbox/edit", w.acting(never, w.edit))
	mux.Handle("POST /inbox/reveal", w.acting(never, w.reveal))
	mux.Handle("POST /inbox/passkeys", w.acting(never, w.changePasskeys))
	mux.Handle("POST /inbox/renew", w.acting(never, w.renew))
	mux.Handle("POST /inbox/try", w.acting(never, w.try))
	mux.Handle("POST /inbox/login", w.open(w.login))
	mux.Handle("POST /inbox/logout", w.open(w.logout))

	same := http.NewCrossOriginProtection()
	same.SetDenyHandler(w.open(func(http.ResponseWriter, *http.Request) error {
		return &pageError{
			Status: http.StatusForbidden, Title: text{Key: "web.fault.site.title"},
			Text: text{Key: "web.fault.site"},
		}
	}))
	return w.armour(same.Handler(mux))
}

// frame is a page with nothing but the menu and what waits: the script fetches it for pages
// that stand still.
func (w *Web) frame(rw http.ResponseWriter, r *http.Request) error {
	return w.render(rw, r, page{Status: http.StatusOK, Name: "frame", Title: text{Key: "web.inbox"}})
}

// elsewhere answers for paths below /inbox that are not pages.
func (w *Web) elsewhere(rw http.ResponseWriter, r *http.Request) error {
	if r.URL.Path == "/inbox/" {
		http.Redirect(rw, r, "/inbox", http.StatusSeeOther)
		return nil
	}
	return &pageError{
		Status: http.StatusNotFound, Title: text{Key: "web.fault.page.title"},
		Text: text{Key: "web.fault.page"},
	}
}

// Name is the channel's name in records.
const Name = "web"

// Channel is the inbox as a place where people are asked. Its zero value is ready to use.
// The pages are rendered from the current state at every look, so there is nothing to
// deliver and nothing to amend; a card gets its buttons by being recorded here.
type Channel struct{}

// Name returns [Name].
func (Channel) Name() string { return Name }

// Post returns the ask's id, under which the card has its page.
func (Channel) Post(_ context.Context, c approval.Card) (string, error) { return string(c.Ask), nil }

// Amend does nothing: the page shows the state.
func (Channel) Amend(context.Context, string, approval.Card) error { return nil }
