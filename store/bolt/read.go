package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/keyring"
)

// pageMax is the most records, and pageBytes roughly the most bytes, that one transaction
// of a listing reads.
const (
	pageMax   = 128
	pageBytes = 1 << 20
)

// Get returns the record with the id, or else the one that holds the key, or
// [approval.ErrNotFound].
func (db *DB) Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error) {
	if err := ctx.Err(); err != nil {
		return approval.Record{}, err
	}
	if err := kind.Check(); err != nil {
		return approval.Record{}, err
	}
	var out approval.Record
	err := db.view(func(tx *bbolt.Tx) (err error) {
		records := tx.Bucket([]byte(bucketRecord))
		out, err = load(db.keys, records, kind, idOrKey)
		if !errors.Is(err, approval.ErrNotFound) {
			return err
		}
		id := tx.Bucket([]byte(bucketKey)).Get(name(kind, idOrKey))
		if id == nil {
			return err
		}
		idOrKey = string(id)
		out, err = follow(db.keys, records, kind, id)
		return err
	})
	if err != nil {
		return approval.Record{}, db.unread(kind, idOrKey, err)
	}
	return out, nil
}

// found is a record of a listing. If it cannot be read, only its name and place are known.
type found struct {
	approval.Record

	err error
}

// follow loads the record that an index names.
func follow(keys *keyring.Ring, records *bbolt.Bucket, kind approval.Kind, id []byte) (approval.Record, error) {
	r, err := load(keys, records, kind, string(id))
	if errors.Is(err, approval.ErrNotFound) {
		return r, &spoiled{damage("an index names a record that is not there")}
	}
	return r, err
}

// List yields the records that match, in the query's order, read in pages: a caller may
// write from within the loop. If ctx ends first, it ends with the error of ctx. A record
// that cannot be read comes with an [*approval.UnreadError], and does not count towards the
// query's limit.
func (db *DB) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		if err := q.Check(); err != nil {
			yield(approval.Record{}, err)
			return
		}
		l := newListing(q)
		for more := true; more; {
			page, err := l.next(ctx, db)
			for i := range page {
				if !yield(page[i].Record, db.unread(q.Kind, page[i].ID, page[i].err)) {
					return
				}
			}
			if err != nil {
				yield(approval.Record{}, db.damaged(err))
				return
			}
			more = len(page) > 0
		}
	}
}

// listing is the state of a List.
type listing struct {
	q      approval.Query
	bucket string
	prefix []byte // of the keys in the bucket
	at     []byte // the last key that was read; nil at the beginning
	left   int    // how many may still be yielded; negative for no limit
	newest uint64 // records born later are not shown
	begun  bool
}

func newListing(q approval.Query) *listing {
	l := &listing{q: q, bucket: bucketBorn, prefix: name(q.Kind, ""), left: -1}
	switch {
	case q.Prefix != "":
		l.bucket, l.prefix = bucketRecord, name(q.Kind, q.Prefix)
	case q.Open:
		l.bucket = bucketOpen
	}
	if q.After != 0 {
		l.at = number(q.Kind, q.After)
	}
	if q.Limit > 0 {
		l.left = q.Limit
	}
	return l
}

// next reads a page of records. An empty page means the end.
func (l *listing) next(ctx context.Context, db *DB) (page []found, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = db.view(func(tx *bbolt.Tx) error {
		records := tx.Bucket([]byte(bucketRecord))
		if !l.begun {
			l.begun, l.newest = true, records.Sequence()
		}
		c := tx.Bucket([]byte(l.bucket)).Cursor()
		size := 0
		for k, v := l.seek(c); k != nil && bytes.HasPrefix(k, l.prefix); k, v = l.step(c) {
			if l.left == 0 || len(page) == pageMax || size > pageBytes {
				return nil
			}
			l.at = bytes.Clone(k)
			r := l.read(db.keys, records, k, v)
			if !l.shows(&r) {
				continue
			}
			page, size = append(page, r), size+len(r.Body)
			if r.err == nil {
				l.left--
			}
		}
		return nil
	})
	return page, err
}

// shows reports whether the record matches and existed when the listing began.
func (l *listing) shows(r *found) bool {
	return r.Born <= l.newest && (r.Open || !l.q.Open)
}

// read returns the record that an entry of the bucket refers to.
func (l *listing) read(keys *keyring.Ring, records *bbolt.Bucket, k, v []byte) found {
	if l.bucket == bucketRecord {
		r, err := decode(keys, k, v)
		r.ID = string(k[len(l.q.Kind)+1:])
		return found{r, err}
	}
	r, err := follow(keys, records, l.q.Kind, v)
	if err != nil {
		r = approval.Record{ID: string(v), Born: numbered(k), Open: l.bucket == bucketOpen}
	}
	return found{r, err}
}

// numbered returns the number that [number] put into a key.
func numbered(k []byte) uint64 { return binary.BigEndian.Uint64(k[len(k)-8:]) }

// seek goes to the first entry after the last one that was read.
func (l *listing) seek(c *bbolt.Cursor) (k, v []byte) {
	switch {
	case l.at == nil && !l.q.Newest:
		return c.Seek(l.prefix)
	case !l.q.Newest:
		if k, v = c.Seek(l.at); bytes.Equal(k, l.at) {
			return c.Next()
		}
		return k, v
	}
	end := l.at
	if end == nil {
		end = behind(l.prefix)
	}
	if k, _ = c.Seek(end); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// behind returns what sorts after everything with a prefix, and before everything else that does.
// A prefix begins with a kind, so not all of it is 0xff.
func behind(prefix []byte) []byte {
	end := bytes.TrimRight(bytes.Clone(prefix), "\xff")
	end[len(end)-1]++
	return end
}

func (l *listing) step(c *bbolt.Cursor) (k, v []byte) {
	if l.q.Newest {
		return c.Prev()
	}
	return c.Next()
}

// Watch yields every record changed after the sequence number, oldest change first, then
// waits for more. It ends without an error when ctx does, and with [ErrClosed] when the
// store is closed. It does not report dropped records.
func (db *DB) Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		if err := kind.Check(); err != nil {
			yield(approval.Record{}, err)
			return
		}
		for ctx.Err() == nil {
			// Getting the news channel before reading is what makes sure that nothing is
			// lost.
			news := db.news()
			page, err := db.since(kind, after)
			for i := range page {
				if ctx.Err() != nil || !yield(page[i].Record, db.unread(kind, page[i].ID, page[i].err)) {
					return
				}
				after = page[i].Seq
			}
			if err != nil {
				yield(approval.Record{}, db.damaged(err))
				return
			}
			if len(page) > 0 {
				continue
			}
			select {
			case <-news:
			case <-ctx.Done():
			case <-db.closed:
			}
		}
	}
}

// since reads a page of the records changed after the sequence number.
func (db *DB) since(kind approval.Kind, after uint64) (page []found, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		records, prefix, size := tx.Bucket([]byte(bucketRecord)), name(kind, ""), 0
		c := tx.Bucket([]byte(bucketSeq)).Cursor()
		from := number(kind, after)
		k, id := c.Seek(from)
		if bytes.Equal(k, from) {
			k, id = c.Next()
		}
		for ; k != nil && bytes.HasPrefix(k, prefix) && len(page) < pageMax && size <= pageBytes; k, id = c.Next() {
			r, err := follow(db.keys, records, kind, id)
			if err != nil {
				r = approval.Record{ID: string(id), Seq: numbered(k)}
			}
			page, size = append(page, found{r, err}), size+len(r.Body)
		}
		return nil
	})
	return page, err
}
