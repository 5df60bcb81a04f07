package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// MaxLine is the maximum length of a message on a line, in bytes.
const MaxLine = 64 << 20

// ErrLong means that a line was longer than [MaxLine]. The line was skipped.
var ErrLong = fmt.Errorf("is longer than %d bytes", MaxLine)

// Reader reads messages, one per line.
type Reader struct {
	r      *bufio.Reader
	max    int
	number int
}

// NewReader returns a reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10), max: MaxLine} }

// Number returns the number of the line that Next returned or rejected last, counted from 1.
func (r *Reader) Number() int { return r.number }

// Next returns the next line that is not blank, without its newline. The caller owns the
// bytes. After [ErrLong], more lines may follow. The last line need not end in a newline.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if len(bytes.TrimSpace(line)) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Each calls take for every line. Its error says why reading stopped. If a line is too long,
// Each passes the response to it to answer and goes on; if answer is nil, it stops.
func (r *Reader) Each(take, answer func(message []byte)) error {
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case answer != nil && errors.Is(err, ErrLong):
			answer(Failure(ID{}, CodeInvalid, "vaglio: the message "+err.Error()))
		case err != nil:
			return err
		default:
			take(line)
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	var line []byte
	long := false
	r.number++
	for {
		part, err := r.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > r.max; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, ErrLong
		default:
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// endsElsewhere reports whether a reader may end a line at r, other than at a line feed.
func endsElsewhere(r rune) bool { return r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029' }

// asOneLine writes those ends of lines so that JSON keeps its meaning.
var asOneLine = strings.NewReplacer("\r", " ", "\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`) //nolint:gochecknoglobals // It is never changed.

// Writer writes messages, one per line. It is safe for concurrent use.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes one complete message, on a line that every reader takes for one. Some readers
// also end lines elsewhere, and what looks like one message here would be several to them, of
// which nobody has read the others. In JSON a carriage return is white space, and the other
// ends of lines can stand only in texts.
func (w *Writer) Send(message []byte) error {
	line := make([]byte, 0, len(message)+1)
	line = append(append(line, message...), '\n')
	if bytes.ContainsFunc(line, endsElsewhere) {
		line = []byte(asOneLine.Replace(string(line)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(line)
	return err //nolint:wrapcheck // The stream's own says it all.
}
