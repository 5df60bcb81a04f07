package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Limits on what an agent may send.
const (
	// MaxBody is the maximum size of a body, in bytes.
	MaxBody = 1 << 20
	// MaxWait is the longest wait that a request may ask for.
	MaxWait = 10 * time.Minute
	// MaxKey is the maximum length of an Idempotency-Key, in characters.
	MaxKey = 200
)

// rooms holds buffers for reading bodies and writing answers.
var rooms sync.Pool //nolint:gochecknoglobals // What they held is nothing to the next request, which writes over it.

// mostRoom is the capacity of the largest buffer that is kept for reuse, in bytes.
const mostRoom = 32 << 10

// room returns the call's buffer, emptied. It belongs to the call until it is released.
func (x *exchange) room() *bytes.Buffer {
	if x.buf == nil {
		if x.buf, _ = rooms.Get().(*bytes.Buffer); x.buf == nil {
			x.buf = new(bytes.Buffer)
		}
	}
	x.buf.Reset()
	return x.buf
}

// release gives the buffer back once the body has been decoded or the answer sent. A call that
// waits for a person holds none.
func (x *exchange) release() {
	if x.buf != nil && x.buf.Cap() <= mostRoom {
		rooms.Put(x.buf)
	}
	x.buf = nil
}

// body reads the request's JSON. The bytes are valid until the call is released.
func (x *exchange) body() ([]byte, error) {
	if err := x.jsonOnly(); err != nil {
		return nil, err
	}
	if x.r.ContentLength > MaxBody {
		return nil, tooLarge()
	}
	rc := http.NewResponseController(x.w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyWithin)) // the recorder of a test supports none
	buf := x.room()
	buf.Grow(int(max(x.r.ContentLength, 512)) + bytes.MinRead)
	_, err := buf.ReadFrom(http.MaxBytesReader(x.w, x.r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, unreadable(err)
	}
	// The body is here. What follows may wait for as long as people take.
	_ = rc.SetReadDeadline(time.Time{})
	x.read = true
	return buf.Bytes(), nil
}

// unreadable returns the problem of a body that ended early or arrived too slowly.
func unreadable(err error) error {
	p := &problemError{
		Type: "body", Title: "The body cannot be read", Status: http.StatusBadRequest,
		Detail: "the body ended before its announced length",
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.Status, p.Detail = http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %s", bodyWithin)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) && p.Status == http.StatusBadRequest {
		p.Detail = "the body could not be read to its end"
	}
	return p
}

func tooLarge() error {
	return &problemError{
		Type: "too-large", Title: "The body is too large", Status: http.StatusRequestEntityTooLarge,
		Detail: fmt.Sprintf("the body is larger than %d bytes", MaxBody),
	}
}

func (x *exchange) jsonOnly() error {
	mediaType, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	charset, given := params["charset"]
	if err == nil && mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return &problemError{
		Type: "media-type", Title: "Not JSON", Status: http.StatusUnsupportedMediaType,
		Detail: "the body must be sent with Content-Type: application/json, in UTF-8",
	}
}

// located adds the line number to an error about data.
func located(err error, data []byte) error {
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	p := shapeProblem(e)
	p.Line = 1 + bytes.Count(data[:min(max(int(e.Offset), 0), len(data))], []byte("\n"))
	return p
}

// query returns the value of the only parameter that the route knows, or "". Any other
// parameter is an error: ignoring it would hide a mistake.
func (x *exchange) query(known string) (string, error) {
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return "", badParameter("the query cannot be read: it must be of the form name=value&name=value")
	}
	for name, vs := range values {
		switch {
		case known == "":
			return "", badParameter("this call takes no query parameters")
		case name != known:
			return "", badParameter(fmt.Sprintf("a query parameter is unknown: this call takes only %q", known))
		case len(vs) > 1:
			return "", badParameter(fmt.Sprintf("the query parameter %q is given more than once", known))
		}
	}
	return values.Get(known), nil
}

// wait returns how long the request asks to wait for a person.
func (x *exchange) wait() (time.Duration, error) {
	if x.r.URL.RawQuery == "" {
		return 0, nil
	}
	given, err := x.query("wait")
	if err != nil || given == "" {
		return 0, err
	}
	wait, err := time.ParseDuration(given)
	if err != nil {
		return 0, badParameter(`wait must be a duration with its unit, such as "30s" or "5m"`)
	}
	if wait < 0 || wait > MaxWait {
		return 0, badParameter("wait must be between 0s and 10m: ask again when it is over")
	}
	return wait, nil
}

func badParameter(detail string) error {
	return &problemError{Type: "parameter", Title: "A parameter is wrong", Status: http.StatusBadRequest, Detail: detail}
}

// key returns the Idempotency-Key, or "" if there is none.
func (x *exchange) key() (string, error) {
	given := x.r.Header.Values("Idempotency-Key")
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	invisible := func(r rune) bool { return r < '!' || r > '~' }
	if len(given) > 1 || key == "" || len(key) > MaxKey || strings.ContainsFunc(key, invisible) {
		return "", badParameter(fmt.Sprintf("Idempotency-Key must be one value of 1 to %d visible ASCII characters", MaxKey))
	}
	return key, nil
}
