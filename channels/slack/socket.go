package slack

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	slackapi "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"github.com/metnos/vaglio/channels/platform"
)

const (
	// connections is how many sockets are kept open. The platform exchanges each one every
	// few hours and does not redeliver a press that found none open; the library closes the
	// old one before it opens the new one.
	connections = 2
	// silence is when a silent socket counts as dead. The platform pings every few seconds;
	// the library itself should notice after a minute.
	silence = 90 * time.Second
	// connectWithin is when an attempt to connect counts as failed.
	connectWithin = time.Minute
	// stagger keeps the two sockets from being exchanged at the same moment.
	stagger = 3 * time.Second
	// maxPayload is the largest message on a socket, in bytes: a press brings its message.
	maxPayload = 4 << 20
	// ackWithin is how long sending an acknowledgement may take.
	ackWithin = 5 * time.Second
)

// line is the state of one socket.
type line struct{ up bool }

var (
	errSilent  = errors.New("slack: a socket was silent for too long")
	errTooLong = errors.New("slack: no socket could be opened in time")
)

// keepSocket keeps one socket open until ctx ends.
func (l *loop) keepSocket(ctx context.Context, n int) {
	platform.Sleep(ctx, time.Duration(n)*stagger)
	for failures := 0; ctx.Err() == nil; failures++ {
		greeted, err := l.socket(ctx, n)
		l.stands(n, false)
		if ctx.Err() != nil {
			return
		}
		if greeted {
			failures = 0
		}
		pause := l.deaf(err, failures)
		l.log.WarnContext(ctx, "a slack socket ended; opening another", "socket", n, "error", err, "pause", pause)
		platform.Sleep(ctx, pause)
	}
}

// stands records the state of a socket.
func (l *loop) stands(n int, up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets[n] = line{up}
	if up || l.up() > 0 {
		l.heardAt = time.Now()
	}
	if up {
		l.hearing = platform.Trouble{}
		select {
		case l.kick <- struct{}{}:
		default:
		}
	}
}

// socket runs a client until it fails. greeted says that the platform had accepted it.
func (l *loop) socket(ctx context.Context, n int) (greeted bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	client := socketmode.New(l.api, socketmode.OptionReadLimit(maxPayload), socketmode.OptionDialer(l.dialer(&last)),
		socketmode.OptionLog(slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	finish := func(why error) error {
		cancel()
		return errors.Join(why, <-ended)
	}
	defer cancel()
	began, up := time.Now(), false
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return greeted, &callError{"socket", err}
		case <-tick.C:
			if err := stuck(up, began, time.Unix(0, last.Load())); err != nil {
				return greeted, finish(err)
			}
		case e := <-client.Events:
			switch e.Type {
			case socketmode.EventTypeHello:
				up, greeted = true, true
				l.stands(n, true)
			case socketmode.EventTypeConnecting:
				up, began = false, time.Now()
				l.stands(n, false)
			case socketmode.EventTypeConnectionError:
				// We choose the pause: the library's grows to minutes.
				failed, _ := e.Data.(*slackapi.ConnectionErrorEvent)
				_ = finish(nil) // it ends because it was told to
				return greeted, &callError{"apps.connections.open", failed}
			default:
				l.bring(ctx, client, e)
			}
		}
	}
}

// stuck returns why a socket is to be given up, or nil.
func stuck(up bool, began, last time.Time) error {
	switch {
	case up && time.Since(last) > silence:
		return errSilent
	case !up && time.Since(began) > connectWithin:
		return errTooLong
	default:
		return nil
	}
}

// dialer opens the socket's connection and notes when something was read.
func (l *loop) dialer(last *atomic.Int64) *websocket.Dialer {
	dial := l.config.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return &websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: callWithin, WriteBufferSize: 32 << 10,
		NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return heardConn{conn, last}, nil
		},
	}
}

// heardConn notes when something was read, including pings.
type heardConn struct {
	net.Conn
	last *atomic.Int64
}

// Read notes that the other side is there.
func (c heardConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.last.Store(time.Now().UnixNano())
	}
	return n, err
}

// bring passes on what a socket brought.
func (l *loop) bring(ctx context.Context, client *socketmode.Client, e socketmode.Event) {
	if e.Type == socketmode.EventTypeErrorBadMessage {
		// Its sender gets no acknowledgement, and therefore a warning or another try.
		l.log.WarnContext(ctx, "slack delivered something that cannot be read")
		return
	}
	if e.Request == nil || e.Request.EnvelopeID == "" {
		return
	}
	envelope := e.Request.EnvelopeID
	a := act{id: envelope, ack: &ack{send: func(payload any) {
		ctx, cancel := context.WithTimeout(ctx, ackWithin)
		defer cancel()
		if err := client.AckCtx(ctx, envelope, payload); err != nil {
			l.log.WarnContext(ctx, "an action on slack could not be acknowledged; what it decided stands", "error", err)
		}
	}}}
	switch data := e.Data.(type) {
	case slackapi.InteractionCallback:
		a.press = &data
	case slackapi.SlashCommand:
		a.command = &data
	case slackevents.EventsAPIEvent:
		a.event = &data
	}
	l.take(ctx, a.named())
}

// named gives the act the id that it keeps if it also comes another way.
func (a act) named() act {
	switch {
	case a.press != nil && a.press.TriggerID != "":
		a.id = a.press.TriggerID
	case a.command != nil && a.command.TriggerID != "":
		a.id = a.command.TriggerID
	case a.event != nil:
		if e, ok := a.event.Data.(*slackevents.EventsAPICallbackEvent); ok && e.EventID != "" {
			a.id = e.EventID
		}
	}
	return a
}
