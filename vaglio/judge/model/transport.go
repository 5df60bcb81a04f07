package model

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxAnswer is the maximum size of a server's response, in bytes.
const maxAnswer = 4 << 20

// errAway means that a server redirected us. The conversation and the key are only for the server
// that the operator named.
var errAway = errors.New("model: the server redirects, which is not followed")

// Server is where a model is asked.
type Server struct {
	// URL is the address of the API, such as http://127.0.0.1:11434/v1.
	URL string
	// Key is the server's secret; empty sends none.
	Key string
	// Model is the server's name for the model.
	Model string
	// Proxy returns the proxy for a request, as in [http.Transport]; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
}

// WithoutKey returns an error whose text does not contain our key: servers quote a key that they do
// not accept, and it must not end up in the log.
func (s Server) WithoutKey(err error) error {
	if err == nil || s.Key == "" || !strings.Contains(err.Error(), s.Key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), s.Key, "(our key)"))
}

// HTTP returns a client for one server. It follows no redirects and limits how much it reads. A
// request's own context limits its time.
func (s Server) HTTP() *http.Client {
	t := &http.Transport{
		Proxy: s.Proxy, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{
		Transport:     bounded{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errAway },
	}
}

// bounded limits the responses of a transport.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	noted, _ := r.Context().Value(laterKey{}).(*Later)
	taken, _ := r.Context().Value(trafficKey{}).(*traffic)
	answer, err := b.next.RoundTrip(taken.over(r))
	if err != nil {
		return nil, err
	}
	noted.note(answer.Header)
	answer.Body = &struct {
		io.Reader
		io.Closer
	}{io.LimitReader(taken.back(answer.Body), maxAnswer), answer.Body}
	return answer, nil
}

// Later records when a server asks to come back, which libraries drop. It is put into a request's
// context under [LaterKey].
type Later struct{ after atomic.Int64 }

type laterKey struct{}

// LaterKey returns the key of a [*Later] in a request's context.
func LaterKey() any { return laterKey{} }

// After returns how long the server asked to wait.
func (l *Later) After() time.Duration { return time.Duration(l.after.Load()) }

func (l *Later) note(h http.Header) {
	if l == nil {
		return
	}
	if seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16); err == nil {
		l.after.Store(int64(seconds) * int64(time.Second))
	}
}
