package vaglio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/catalog"
)

// Tally counts the outcomes of a stream's lines.
type Tally struct {
	// Approved and Denied count verdicts. A call with the wrong shape or out of its scope
	// also counts as denied, because it may not run.
	Approved, Denied int
	// Unreadable counts lines that hold no proposal.
	Unreadable int
}

// longestLine bounds one line of a stream, in bytes.
const longestLine = 1 << 20

// lineError is the output for a line without a verdict.
type lineError struct {
	Line  int       `json:"line"`
	Error lineFault `json:"error"`
}

type lineFault struct {
	// Kind is "input", "shape", or the kind of the catalog's error.
	Kind    string `json:"kind"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Stream reads one JSON proposal per line and writes one JSON verdict per line, in order and
// in constant memory. For a line without a verdict it writes
//
//	{"line":3,"error":{"kind":"input","field":"/args","message":"…"}}
//
// with the number of the line, and goes on; it skips blank lines. It flushes its output
// whenever no more input is waiting, so that two programs can talk line by line. Its error is
// that of ctx, r or w.
func Stream(ctx context.Context, e *Engine, r io.Reader, w io.Writer) (Tally, error) {
	s := stream{engine: e, in: bufio.NewReaderSize(r, 64<<10), out: bufio.NewWriterSize(w, 64<<10)}
	err := s.run(ctx)
	return s.tally, errors.Join(err, s.out.Flush())
}

type stream struct {
	engine *Engine
	// sessions are the effects of the approved calls, by session or turn.
	sessions Sessions
	in       *bufio.Reader
	out      *bufio.Writer
	line     []byte // the current line, reused
	number   int
	tally    Tally
}

func (s *stream) run(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		tooLong, err := s.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("vaglio: read line %d: %w", s.number, err)
		}
		if e := s.answer(ctx, tooLong); e != nil {
			return e
		}
		if err != nil {
			return nil
		}
		if s.in.Buffered() == 0 {
			if err := s.out.Flush(); err != nil {
				return fmt.Errorf("vaglio: write: %w", err)
			}
		}
	}
}

// next reads one line into s.line. It discards a line that is too long.
func (s *stream) next() (tooLong bool, err error) {
	s.number++
	s.line = s.line[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		if !tooLong {
			if len(s.line)+len(part) > longestLine+1 {
				tooLong = true
				s.line = s.line[:0]
			} else {
				s.line = append(s.line, part...)
			}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return tooLong, err
		}
	}
}

// answer writes the output for the current line.
func (s *stream) answer(ctx context.Context, tooLong bool) error {
	if s.number == 1 {
		s.line = bytes.TrimPrefix(s.line, []byte("\ufeff"))
	}
	line := bytes.TrimSpace(s.line)
	if tooLong {
		s.tally.Unreadable++
		return s.fault(lineFault{Kind: "input", Message: "the line is longer than 1 MiB; give a shorter one"})
	}
	if len(line) == 0 {
		return nil
	}
	p, err := DecodeProposal(line)
	if err != nil {
		s.tally.Unreadable++
		f := lineFault{Kind: "input", Message: err.Error()}
		if bad, ok := errors.AsType[*strictjson.Error](err); ok {
			f.Field = bad.Path
		}
		return s.fault(f)
	}
	p.Facts = s.sessions.Facts(&p)
	v, err := s.engine.Judge(ctx, p)
	if fault, ok := faultOfCall(err); ok {
		s.tally.Denied++
		return s.fault(fault)
	}
	if err != nil {
		return err
	}
	if v.Approved {
		s.tally.Approved++
		s.sessions.Note(&p, time.Now(), v.Did)
	} else {
		s.tally.Denied++
	}
	return s.write(v)
}

// faultOfCall says why a call has no verdict, if the call itself is to blame.
func faultOfCall(err error) (lineFault, bool) {
	if bad, ok := errors.AsType[*catalog.Error](err); ok {
		return lineFault{Kind: string(bad.Kind), Field: bad.Field, Message: bad.Msg}, true
	}
	if bad, ok := errors.AsType[*ShapeError](err); ok {
		return lineFault{Kind: "shape", Field: bad.Field, Message: bad.Error()}, true
	}
	return lineFault{}, false
}

func (s *stream) fault(f lineFault) error {
	return s.write(lineError{Line: s.number, Error: f})
}

func (s *stream) write(v any) error {
	line, err := strictjson.Append(s.out.AvailableBuffer(), v)
	if err == nil {
		_, err = s.out.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("vaglio: write: %w", err)
	}
	return nil
}
