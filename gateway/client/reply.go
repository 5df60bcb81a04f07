package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxHead is the maximum length of a reply's head, in bytes.
const maxHead = 32 << 10

// An OddReplyError says what about a reply differs from what the daemon writes.
type OddReplyError struct{ What string }

func (e *OddReplyError) Error() string { return "an answer that is not HTTP/1.1: " + e.What }

func odd(format string, args ...any) error {
	return &OddReplyError{fmt.Sprintf(format, args...)}
}

// readReply reads one HTTP/1.1 reply (RFC 9112). It accepts only replies whose end is
// unambiguous: anything that two readers could frame differently is an error. If the reply
// is cut short, the error is [io.EOF] if nothing was read, else [io.ErrUnexpectedEOF].
func readReply(r *bufio.Reader) (*Reply, error) {
	h := head{lines: lines{r: r, left: maxHead}, length: -1}
	if err := h.read(); err != nil {
		return nil, err
	}
	body, err := h.body(r)
	if err != nil {
		return nil, whole(err)
	}
	return &Reply{Status: h.status, RetryAfter: h.retryAfter, Body: body, last: h.last}, nil
}

// whole turns io.EOF into io.ErrUnexpectedEOF, for use where more input was due.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// lines reads the lines of a head or of a chunked body, at most left bytes.
type lines struct {
	r    *bufio.Reader
	left int
}

// next returns the next line without its CR LF.
func (l *lines) next() (string, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if l.left -= len(part); l.left < 0 {
			return "", odd("lines of more than %d bytes", maxHead)
		}
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > 0 {
				err = whole(err)
			}
			return "", err
		}
	}
	text, ok := strings.CutSuffix(string(line), "\r\n")
	if !ok {
		return "", odd("a line that does not end in CR LF")
	}
	return text, nil
}

// head is the part of a reply before its body.
type head struct {
	lines

	status     int
	length     int // -1 if not given
	chunked    bool
	last       bool
	retryAfter string
}

func (h *head) read() error {
	line, err := h.next()
	if err != nil {
		return err
	}
	if h.status, err = statusOf(line); err != nil {
		return err
	}
	for {
		if line, err = h.next(); err != nil {
			return whole(err)
		}
		if line == "" {
			return h.framed()
		}
		if err := h.field(line); err != nil {
			return err
		}
	}
}

// statusOf parses a status line. A status below 200 announces another reply, which we never
// ask for.
func statusOf(line string) (int, error) {
	rest, ok := strings.CutPrefix(line, "HTTP/1.1 ")
	code, reason, spaced := strings.Cut(rest, " ")
	if !ok || !spaced || len(code) != 3 || !fieldValue(reason) {
		return 0, odd("its first line")
	}
	status, ok := number(code, 10)
	if !ok || status < 200 || status > 599 {
		return 0, odd("the status %q", code)
	}
	return status, nil
}

func (h *head) field(line string) error {
	name, value, ok := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !ok || !token(name) || !fieldValue(value) {
		return odd("a field of its head")
	}
	return h.take(strings.ToLower(name), value)
}

// take records what a field says about the reply.
func (h *head) take(name, value string) error {
	switch name {
	case "content-length":
		n, ok := number(value, 10)
		if !ok || h.length >= 0 {
			return odd("its length %q", value)
		}
		h.length = n
	case "transfer-encoding":
		if value != "chunked" || h.chunked {
			return odd("the encoding %q", value)
		}
		h.chunked = true
	case "content-encoding":
		return odd("the encoding %q", value)
	case "retry-after":
		h.retryAfter = value
	case "connection":
		h.last = true // Whatever Connection says, it does not promise to keep the connection open.
	}
	return nil
}

// framed checks that the head says unambiguously where the body ends.
func (h *head) framed() error {
	switch bare := h.status == statusNoContent || h.status == 304; {
	case bare && (h.length > 0 || h.chunked):
		return odd("a body after the status %d", h.status)
	case bare:
		h.length = 0
		return nil
	case h.chunked == (h.length >= 0):
		return odd("it does not say its length, or says it twice")
	case h.length > MaxReply:
		return ErrTooLarge
	}
	return nil
}

func (h *head) body(r *bufio.Reader) ([]byte, error) {
	if h.chunked {
		return chunks(r)
	}
	return appendFrom(nil, r, h.length)
}

// chunks reads a chunked body without extensions or trailers.
func chunks(r *bufio.Reader) ([]byte, error) {
	var body []byte
	for {
		// Each chunk header is a short line of its own.
		l := lines{r: r, left: maxHead}
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		n, ok := number(line, 16)
		if !ok {
			return nil, odd("the length of a part")
		}
		if n > MaxReply-len(body) {
			return nil, ErrTooLarge
		}
		if body, err = appendFrom(body, r, n); err != nil {
			return nil, err
		}
		if line, err = l.next(); err != nil {
			return nil, err
		}
		if line != "" {
			return nil, odd("what follows a part")
		}
		if n == 0 {
			return body, nil
		}
	}
}

// appendFrom reads n bytes and appends them. It allocates as they arrive, because a peer that
// announces a large body may send little.
func appendFrom(body []byte, r io.Reader, n int) ([]byte, error) {
	const room = 64 << 10
	for n > 0 {
		part := min(n, room)
		start := len(body)
		body = append(body, make([]byte, part)...)
		if _, err := io.ReadFull(r, body[start:]); err != nil {
			return nil, whole(err)
		}
		n -= part
	}
	return body, nil
}

// number parses s, digits only, as a number that fits in an int32.
func number(s string, base int) (int, bool) {
	n, err := strconv.ParseUint(s, base, 64)
	return int(min(n, math.MaxInt32)), err == nil && n <= math.MaxInt32
}

// token reports whether s is valid as a field name or a method.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return notVisible(r) || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// fieldValue reports whether s is valid as a field value.
func fieldValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && r != '\t' && notVisible(r) })
}

func notVisible(r rune) bool { return r <= ' ' || r > '~' }
