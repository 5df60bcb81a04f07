package journal

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/metnos/vaglio/approval"
)

// Entries yields the entries that the span selects and that were appended before the call,
// in the span's order. What cannot be read comes as an [*approval.UnreadError] that names
// the segment, and the entries after it follow. Nothing is locked while an entry is
// yielded.
func (l *Log) Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		numbers := l.numbers()
		if s.Newest {
			slices.Reverse(numbers)
		}
		if s.Stretch != 0 {
			numbers = slices.DeleteFunc(numbers, func(n uint64) bool { return n != s.Stretch })
		}
		for _, number := range numbers {
			for e, err := range l.segment(ctx, number, s) {
				if _, unread := errors.AsType[*approval.UnreadError](err); err != nil && !unread {
					yield(approval.JournalEntry{}, err)
					return
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// numbers returns the numbers of the segments, oldest first.
func (l *Log) numbers() (all []uint64) {
	for _, s := range l.Stretches() {
		all = append(all, s.ID)
	}
	return all
}

// Stretches returns the segments as stretches, oldest first, identified by their numbers.
func (l *Log) Stretches() []approval.Stretch {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []approval.Stretch
	for _, s := range l.sealed {
		all = append(all, approval.Stretch{ID: s.number, From: s.from, To: s.to, Last: s.last, Unread: s.unread()})
	}
	for _, a := range l.writable() {
		all = append(all, approval.Stretch{ID: a.number, From: a.from, To: a.to, Last: a.last, Unread: a.spoilt})
	}
	slices.SortFunc(all, func(a, b approval.Stretch) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// segment yields what the span selects of one segment, in its current form, or nothing if
// it was dropped.
func (l *Log) segment(ctx context.Context, number uint64, s approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		entries, file, err := l.open(ctx, number, s)
		if err != nil {
			yield(approval.JournalEntry{}, err)
			return
		}
		if entries == nil {
			return
		}
		if file != nil {
			defer file.Close()
		}
		for e, err := range entries {
			if err == nil && !s.Holds(&e) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// open returns an iterator over a segment, nil if the span selects nothing of it, and its
// file if one is needed. The file stays readable if it is unlinked.
func (l *Log) open(ctx context.Context, number uint64, s approval.Span) (iter.Seq2[approval.JournalEntry, error], *os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, ErrClosed
	}
	for _, a := range l.writable() {
		if a.number == number && s.Overlaps(a.from, a.to) {
			return a.open(ctx, &s)
		}
	}
	for _, z := range l.sealed {
		if z.number == number && s.Overlaps(z.from, z.to) {
			return z.open(ctx, &s)
		}
	}
	return nil, nil, nil
}

func (a *active) open(ctx context.Context, s *approval.Span) (iter.Seq2[approval.JournalEntry, error], *os.File, error) {
	if s.NotesOnly && len(a.notedAt) == len(a.offsets) {
		return notes(slices.Clone(a.notedAt), a.noted, s.Newest), nil, nil
	}
	f, err := os.Open(a.path)
	if err != nil {
		return nil, nil, ioError(err)
	}
	look := a.look(f)
	if s.Key == "" && !s.Newest {
		return look.all(ctx, a.size), f, nil
	}
	return look.pick(ctx, a.chosen(s), a.size), f, nil
}

func (s *sealed) open(ctx context.Context, span *approval.Span) (iter.Seq2[approval.JournalEntry, error], *os.File, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, nil, ioError(err)
	}
	return s.entries(ctx, f, span), f, nil
}

// all yields the entries of the first size bytes.
func (a *active) all(ctx context.Context, size int64) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		gaps := a.gaps
		for at := int64(headBytes); at < size || len(gaps) > 0; {
			end := size
			if len(gaps) > 0 {
				end = gaps[0].from
			}
			if !a.stretch(ctx, at, end, yield) {
				return
			}
			at = end
			if len(gaps) > 0 {
				if !yield(approval.JournalEntry{}, a.unread(&gaps[0])) {
					return
				}
				at, gaps = gaps[0].to, gaps[1:]
			}
		}
	}
}

// stretch yields the entries of a part of the file without gaps. It reports false if the
// consumer stops.
func (a *active) stretch(ctx context.Context, from, to int64, yield func(approval.JournalEntry, error) bool) bool {
	r := bufio.NewReaderSize(io.NewSectionReader(a.file, from, to-from), 64<<10)
	for from < to {
		if err := ctx.Err(); err != nil {
			yield(approval.JournalEntry{}, err)
			return false
		}
		e, n, err := a.readFrame(r, to-from)
		if err != nil {
			err = unreadError(a.path, err, a.from, a.to)
		}
		if !yield(e, err) {
			return false
		}
		next := from + n
		if n == 0 { // what was written there since the journal was opened is found nevertheless
			if next = a.behind(from); next >= to {
				return true
			}
			r.Reset(io.NewSectionReader(a.file, next, to-next))
		}
		from = next
	}
	return true
}

// pick yields the entries at the places that chosen returned.
func (a *active) pick(ctx context.Context, places []int64, size int64) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		for _, at := range places {
			if err := ctx.Err(); err != nil {
				yield(approval.JournalEntry{}, err)
				return
			}
			if at < 0 {
				i := slices.IndexFunc(a.gaps, func(g gap) bool { return g.from == -at })
				if !yield(approval.JournalEntry{}, a.unread(&a.gaps[i])) {
					return
				}
				continue
			}
			e, _, err := a.readFrame(io.NewSectionReader(a.file, at, size-at), size-at)
			if err != nil {
				err = unreadError(a.path, err, a.from, a.to)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// readFrame reads the entry that begins here, of at most the given number of bytes. The
// length that it returns is not 0 even if only note and body cannot be read.
func (a *active) readFrame(r io.Reader, most int64) (approval.JournalEntry, int64, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return approval.JournalEntry{}, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > most-frameHead {
		return approval.JournalEntry{}, 0, errFrame
	}
	frame := a.room.some(framePart, int(frameHead+n))
	copy(frame, head[:])
	if _, err := io.ReadFull(r, frame[frameHead:]); err != nil {
		return approval.JournalEntry{}, 0, err
	}
	f, n, err := parseFrame(frame)
	if err != nil {
		return approval.JournalEntry{}, 0, err
	}
	e, err := a.entry(&f)
	return e, n, err
}

// entries yields the entries of the groups that may hold what the span selects.
func (s *sealed) entries(ctx context.Context, f io.ReaderAt, span *approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		chosen, err := s.chosen(f, span)
		if err != nil {
			yield(approval.JournalEntry{}, unreadError(s.path, err, s.from, s.to))
			return
		}
		unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(groupMost))
		if err != nil {
			yield(approval.JournalEntry{}, err)
			return
		}
		defer unzip.Close()
		for _, g := range chosen {
			if err := ctx.Err(); err != nil {
				yield(approval.JournalEntry{}, err)
				return
			}
			all, err := s.readGroup(f, unzip, g, span)
			if err != nil && !yield(approval.JournalEntry{}, unreadError(s.path, err, time.Unix(0, g.From).UTC(), time.Unix(0, g.To).UTC())) {
				return
			}
			if span.Newest {
				slices.Reverse(all)
			}
			for _, e := range all {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// chosen returns the groups that may hold what the span selects, in its order.
func (s *sealed) chosen(f io.ReaderAt, span *approval.Span) (chosen []group, err error) {
	if s.damage != nil {
		return nil, s.damage
	}
	var held map[int]bool
	if span.Key != "" {
		if held, err = s.holding(f, span.Key); err != nil {
			return nil, err
		}
	}
	for i, g := range s.groups {
		switch {
		case span.Before != 0 && g.First >= span.Before:
		case held != nil && !held[i]:
		case span.Overlaps(time.Unix(0, g.From), time.Unix(0, g.To)):
			chosen = append(chosen, g)
		}
	}
	if span.Newest {
		slices.Reverse(chosen)
	}
	return chosen, nil
}

// readGroup reads a group's entries, without their bodies if only notes are wanted, and none
// if the span selects none.
func (s *sealed) readGroup(f io.ReaderAt, unzip *zstd.Decoder, g group, span *approval.Span) ([]approval.JournalEntry, error) {
	notes, err := s.unpack(f, unzip, g.Notes)
	if err != nil {
		return nil, err
	}
	var all []approval.JournalEntry
	for len(notes) > 0 {
		var e approval.JournalEntry
		if e, notes, err = parseNote(notes); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	switch {
	case span.NotesOnly:
		return all, nil
	case !slices.ContainsFunc(all, func(e approval.JournalEntry) bool { return span.Holds(&e) }):
		return nil, nil
	}
	bodies, err := s.unpack(f, unzip, g.Body)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Body, bodies, err = chunk(bodies); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *sealed) unpack(f io.ReaderAt, unzip *zstd.Decoder, p part) ([]byte, error) {
	b, err := p.read(f)
	if err == nil && s.form != openForm {
		b, err = s.ring.Open(b, aboutPart(s.number, p.At))
	}
	if err != nil {
		return nil, err
	}
	b, err = unzip.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return b, nil
}

// appendNote appends what counting listings read of an entry.
func appendNote(to []byte, e *approval.JournalEntry) []byte {
	to = binary.AppendUvarint(to, e.Seq)
	to = binary.LittleEndian.AppendUint64(to, uint64(e.At.UnixNano()))
	to = binary.AppendUvarint(to, uint64(len(e.Key)))
	to = append(to, e.Key...)
	to = binary.AppendUvarint(to, uint64(len(e.Note)))
	return append(to, e.Note...)
}

// parseNote reads what [appendNote] wrote, and returns the rest.
func parseNote(b []byte) (e approval.JournalEntry, rest []byte, err error) {
	seq, n := binary.Uvarint(b)
	if n <= 0 || len(b) < n+8 {
		return e, nil, errDamaged
	}
	e.Seq, b = seq, b[n:]
	e.At = time.Unix(0, int64(binary.LittleEndian.Uint64(b))).UTC() //nolint:gosec // Written from an int64.
	key, rest, err := chunk(b[8:])
	if err != nil {
		return e, nil, err
	}
	e.Key = string(key)
	e.Note, rest, err = chunk(rest)
	return e, rest, err
}

// chunk reads length-prefixed bytes.
func chunk(b []byte) (data, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) { //nolint:gosec // Not negative.
		return nil, nil, errDamaged
	}
	end := size + int(n) //nolint:gosec // Not beyond the bytes.
	return b[size:end:end], b[end:], nil
}
