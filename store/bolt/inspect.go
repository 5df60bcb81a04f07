package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// inspector reads through the structure of a bbolt file without mapping it: every page that
// a transaction could reach, and the list of free pages. bbolt itself trusts its pages, and
// a bad one causes a fault or a panic, sometimes in a goroutine of its own where nobody can
// recover.
type inspector struct {
	r    io.ReaderAt
	page int64
	used []bool // by page number; pages beyond do not exist
}

// The layout of a bbolt file. Integers are in native byte order.
const (
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	metaSize     = headerSize + 64
	headerSize   = 16
	elementSize  = 16
	bucketSize   = 16
	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFree     = 0x10
	elemBucket   = 0x01
	manyFree     = math.MaxUint16 // then the first entry is the number of entries
	noFreelist   = math.MaxUint64
	firstPage    = 2 // after the two meta pages
	smallestPage = 1 << 10
	largestPage  = 1 << 24
)

// damage says what is invalid in a file.
type damage string

func (d damage) Error() string { return string(d) }

// errForeign says that nothing in the file looks like a bbolt file.
var errForeign = errors.New("it does not begin like one")

// inspect returns a [*ForeignError] or a [*DamagedError] if the file of the given size
// cannot be used.
func inspect(r io.ReaderAt, size int64, path string) error {
	err := walk(r, size)
	if d, ok := errors.AsType[damage](err); ok {
		return &DamagedError{path, string(d)}
	}
	if errors.Is(err, errForeign) {
		return &ForeignError{path, err.Error()}
	}
	if err != nil {
		return fmt.Errorf("store: read %s: %w", path, err)
	}
	return nil
}

func walk(r io.ReaderAt, size int64) error {
	m, page, err := findMeta(r, size)
	if err != nil {
		return err
	}
	if m.end < firstPage+2 || m.end > uint64(size/page) { //nolint:gosec // A file has no negative size.
		return damage(fmt.Sprintf("it has %d bytes and should have at least %d pages of %d", size, m.end, page))
	}
	in := &inspector{r: r, page: page, used: make([]bool, m.end)}
	in.used[0], in.used[1] = true, true
	if err := in.tree(m.root, nil, nil); err != nil {
		return err
	}
	return in.freelist(m.free)
}

// meta is one of the two meta pages that say where everything begins.
type meta struct {
	page, root, free, end, txid uint64
}

// parseMeta reads the meta page that starts at buf[0]. found says that it is meant to be
// one, ok that it is intact.
func parseMeta(buf []byte) (m meta, found, ok bool) {
	if len(buf) < metaSize {
		return meta{}, false, false
	}
	b := buf[headerSize:]
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	h := fnv.New64a()
	_, _ = h.Write(b[:56]) // never fails
	found = u32(b) == metaMagic
	ok = found && u32(b[4:]) == metaVersion && u64(b[56:]) == h.Sum64()
	return meta{page: uint64(u32(b[8:])), root: u64(b[16:]), free: u64(b[32:]), end: u64(b[40:]), txid: u64(b[48:])}, found, ok
}

// metaAt reads the meta page at the position.
func metaAt(r io.ReaderAt, pos int64) (m meta, found, ok bool) {
	var buf [metaSize]byte
	if _, err := r.ReadAt(buf[:], pos); err != nil {
		return meta{}, false, false
	}
	return parseMeta(buf[:])
}

// findMeta returns the newer of the intact meta pages, and the page size, found as bbolt
// finds them.
func findMeta(r io.ReaderAt, size int64) (meta, int64, error) {
	first, found, whole := metaAt(r, 0)
	for page := int64(smallestPage); page <= largestPage && page < size; page <<= 1 {
		second, f, ok := metaAt(r, page)
		found = found || f
		newest := first
		if ok && (!whole || second.txid > first.txid) {
			newest = second
		}
		// Without the first meta page, the second must itself say that it is one.
		says := first
		if !whole {
			says = second
		}
		if (whole || ok) && says.page == uint64(page) {
			return newest, page, nil
		}
	}
	if found {
		return meta{}, 0, damage("neither of its two heads can be read")
	}
	return meta{}, 0, errForeign
}

// take reads the page and marks it, and its overflow pages, as used.
func (in *inspector) take(id uint64) ([]byte, error) {
	all := uint64(len(in.used))
	if id < firstPage || id >= all {
		return nil, damage(fmt.Sprintf("it refers to page %d of %d", id, all))
	}
	var head [headerSize]byte
	if _, err := in.r.ReadAt(head[:], int64(id)*in.page); err != nil { //nolint:gosec // The id is below the file's size.
		return nil, err
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if self := binary.NativeEndian.Uint64(head[:]); self != id || id+more >= all {
		return nil, damage(fmt.Sprintf("page %d holds something else", id))
	}
	for i := id; i <= id+more; i++ {
		if in.used[i] {
			return nil, damage(fmt.Sprintf("page %d is used twice", i))
		}
		in.used[i] = true
	}
	buf := make([]byte, int64(more+1)*in.page)    //nolint:gosec // At most the file's size.
	_, err := in.r.ReadAt(buf, int64(id)*in.page) //nolint:gosec // As above.
	return buf, err
}

// tree reads the page and everything below it. Its keys must be in [low, high); nil means
// no bound.
func (in *inspector) tree(id uint64, low, high []byte) error {
	buf, err := in.take(id)
	if err != nil {
		return err
	}
	elems, leaf, err := elements(buf)
	if err != nil {
		return fmt.Errorf("%w (page %d)", err, id)
	}
	if len(elems) == 0 && (!leaf || low != nil) {
		return damage(fmt.Sprintf("page %d is empty", id))
	}
	for i, e := range elems {
		next := high
		if i+1 < len(elems) {
			next = elems[i+1].key
		}
		if !within(e.key, low, next) {
			return damage(fmt.Sprintf("page %d is out of order", id))
		}
		switch {
		case !leaf:
			err = in.tree(e.child, e.key, next)
		case e.bucket:
			err = in.bucket(e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// within reports whether the key is in [low, high). An empty bound is a key like any other;
// only nil means no bound.
func within(key, low, high []byte) bool {
	return (low == nil || bytes.Compare(key, low) >= 0) && (high == nil || bytes.Compare(key, high) < 0)
}

// bucket reads a bucket's tree, or the single page inside a small bucket.
func (in *inspector) bucket(value []byte) error {
	if len(value) < bucketSize {
		return damage("a part of it has no beginning")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return in.tree(root, nil, nil)
	}
	elems, leaf, err := elements(value[bucketSize:])
	if err != nil {
		return err
	}
	for i, e := range elems {
		if !leaf || e.bucket || i > 0 && bytes.Compare(elems[i-1].key, e.key) >= 0 {
			return damage("a small part of it makes no sense")
		}
	}
	return nil
}

// element is one entry of a page.
type element struct {
	key, value []byte
	child      uint64 // of a branch page
	bucket     bool   // the value of a leaf element is a bucket
}

// elements returns what the page lists, checked to be within the page.
func elements(page []byte) (list []element, leaf bool, err error) {
	if len(page) < headerSize {
		return nil, false, damage("a page is cut")
	}
	u32 := binary.NativeEndian.Uint32
	flags, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if flags != flagLeaf && flags != flagBranch {
		return nil, false, damage(fmt.Sprintf("a page has the unknown type %#x", flags))
	}
	leaf = flags == flagLeaf
	if headerSize+count*elementSize > len(page) {
		return nil, leaf, damage("a page lists more than it can hold")
	}
	list = make([]element, count)
	for i := range list {
		at := headerSize + i*elementSize
		b := page[at:]
		// A leaf element is flags, pos, key size, value size; a branch element is pos, key
		// size, page. pos is relative to the element.
		var pos, key, value uint64
		if leaf {
			pos, key, value = uint64(u32(b[4:])), uint64(u32(b[8:])), uint64(u32(b[12:]))
			list[i].bucket = u32(b)&elemBucket != 0
		} else {
			pos, key = uint64(u32(b)), uint64(u32(b[4:]))
			list[i].child = binary.NativeEndian.Uint64(b[8:])
		}
		if pos+key+value > uint64(len(b)) {
			return nil, leaf, damage("a page lists something outside of itself")
		}
		list[i].key, list[i].value = b[pos:pos+key], b[pos+key:pos+key+value]
	}
	return list, leaf, nil
}

// freelist checks that no free page is in use.
func (in *inspector) freelist(id uint64) error {
	if id == noFreelist {
		return nil
	}
	buf, err := in.take(id)
	if err != nil {
		return err
	}
	if binary.NativeEndian.Uint16(buf[8:]) != flagFree {
		return damage("its list of free pages is something else")
	}
	ids := buf[headerSize:]
	count := uint64(binary.NativeEndian.Uint16(buf[10:]))
	if count == manyFree {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return damage("its list of free pages is cut")
	}
	for ; count > 0; count, ids = count-1, ids[8:] {
		free := binary.NativeEndian.Uint64(ids)
		if free < firstPage || free >= uint64(len(in.used)) || in.used[free] {
			return damage(fmt.Sprintf("page %d counts as free and is not", free))
		}
		in.used[free] = true
	}
	return nil
}
