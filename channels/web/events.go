package web

import (
	"context"
	"io"
	"net/http"
	"time"
)

const (
	// beatEvery keeps proxies from closing a quiet stream, and detects readers that have
	// left.
	beatEvery = 15 * time.Second
	// sendWithin is how long a reader may take for one message.
	sendWithin = 10 * time.Second
)

// events is the stream that tells a page that something changed. It says nothing else: the
// page fetches itself again, so that there is only one way in which anything is shown.
func (w *Web) events(rw http.ResponseWriter, r *http.Request) error {
	select {
	case <-w.stopped:
		rw.Header().Set("Retry-After", "5")
		return &pageError{
			Status: http.StatusServiceUnavailable, Title: text{Key: "web.fault.stopping.title"},
			Text: text{Key: "web.fault.stopping"},
		}
	default:
	}
	select {
	case w.streams <- struct{}{}:
		defer func() { <-w.streams }()
	default:
		rw.Header().Set("Retry-After", "30")
		return &pageError{
			Status: http.StatusServiceUnavailable, Title: text{Key: "web.fault.streams.title"},
			Text: text{Key: "web.fault.streams"},
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	ticks := w.desk.Watch(ctx)

	rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	rw.Header().Set("X-Accel-Buffering", "no")
	s := stream{rw, http.NewResponseController(rw)}
	// A server's limit on reading a request is not meant for its answer.
	_ = s.c.SetReadDeadline(time.Time{})
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	// The first tick makes a page catch up with what it missed.
	err := s.send("retry: 2000\nevent: tick\ndata: {}\n\n")
	for err == nil && w.signed(r) {
		select {
		case <-ctx.Done():
			return nil
		case <-w.stopped:
			return nil
		case _, ok := <-ticks:
			if !ok {
				return nil
			}
			err = s.send("event: tick\ndata: {}\n\n")
		case <-beat.C:
			err = s.send(": beat\n\n")
		}
	}
	return nil // a reader that left is not an error of ours, and the answer has begun
}

// stream writes messages that must not wait in a buffer.
type stream struct {
	w io.Writer
	c *http.ResponseController
}

func (s stream) send(message string) error {
	// A writer without deadlines has other means; only the limit is lost.
	_ = s.c.SetWriteDeadline(time.Now().Add(sendWithin))
	defer func() { _ = s.c.SetWriteDeadline(time.Time{}) }()
	if _, err := io.WriteString(s.w, message); err != nil {
		return err
	}
	return s.c.Flush()
}
