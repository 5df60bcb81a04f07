package vaglio

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Approved verdicts are cached for calls that repeat, from the second time on: most calls
// come only once, and caching them would not pay. A verdict is reused if everything that
// guard and judges consider in the proposal is the same, and the machine still answers all
// their questions as it did: then they would decide the same.

// The limits of the cache: in bytes for all verdicts and for each, and how many.
const (
	mostKeptBytes = 8 << 20
	mostKeptOne   = 512 << 10
	mostKept      = 4096
	// mostKeptFacts is how many facts of its session a proposal may have to be looked up.
	mostKeptFacts = 256
)

// verdicts is a cache of approved calls. It is safe for concurrent use.
type verdicts struct {
	mu sync.Mutex
	// newer are the verdicts used last, older the others, both by callKey.quick.
	newer, older map[uint64]*judged
	// once holds the quick keys of calls that came once recently.
	once  [1 << 12]uint64
	bytes int // of newer
	seed  maphash.Seed
	// rooms are buffers for encoding calls.
	rooms sync.Pool
}

// callKey identifies a call. quick tells it from most other calls at little cost, full from
// all of them.
type callKey struct {
	quick uint64
	full  [sha256.Size]byte
}

// judged is a call that was approved. It is immutable.
type judged struct {
	key     callKey
	verdict Verdict
	logged  string
	asked   *asked
	bytes   int
}

// find returns the cached verdict on a call, or nil.
func (k *verdicts) find(key callKey) *judged {
	k.mu.Lock()
	defer k.mu.Unlock()
	j := cmp.Or(k.newer[key.quick], k.older[key.quick])
	if j == nil || j.key != key {
		return nil
	}
	k.put(j)
	return j
}

// keep caches a verdict.
func (k *verdicts) keep(j *judged) {
	if j.asked.lost || j.bytes > mostKeptOne {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(j)
}

// put counts a verdict as used. If that makes too many, those that were not used since the last
// time that there were too many are dropped.
func (k *verdicts) put(j *judged) {
	was := k.newer[j.key.quick]
	if was == j {
		return
	}
	if was != nil {
		k.bytes -= was.bytes
	}
	if k.bytes+j.bytes > mostKeptBytes/2 || len(k.newer) >= mostKept/2 {
		k.older, k.newer, k.bytes = k.newer, map[uint64]*judged{}, 0
	}
	k.newer[j.key.quick] = j
	k.bytes += j.bytes
}

// comesAgain reports whether a call is cached or was seen recently, and remembers that it was
// seen now.
func (k *verdicts) comesAgain(quick uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := &k.once[quick%uint64(len(k.once))]
	seen := *at == quick || k.newer[quick] != nil || k.older[quick] != nil
	*at = quick
	return seen
}

// asking returns an engine for one call that asks the machine what something is only once, and
// records all that it asks if the verdict is to be kept.
func (e *Engine) asking(kept bool) (*Engine, *asked) {
	a := &asked{of: cmp.Or[machine](e.machine, disk{Files: e.files}), answers: map[question]answer{}, kept: kept}
	own := *e
	own.machine = a
	if e.files != nil {
		own.files, own.spaces.files = a, a
	}
	if e.runs != nil {
		own.runs = running{e.runs, a}
	}
	return &own, a
}

// again returns a cached verdict that still holds, dated now, or nil.
func (e *Engine) again(ctx context.Context, key callKey) (*judged, Verdict) {
	j := e.verdicts.find(key)
	if j == nil || ctx.Err() != nil || !j.asked.holds() {
		return nil, Verdict{}
	}
	if e.meter != nil {
		e.meter.Repeated()
	}
	v := j.verdict.detached()
	v.TS = now()
	return j, v
}

// detached returns a copy of v that shares no list with it.
func (v Verdict) detached() Verdict {
	v.Results, v.Sources, v.Did = slices.Clone(v.Results), slices.Clone(v.Sources), slices.Clone(v.Did)
	for i := range v.Results {
		r := &v.Results[i]
		r.Signals, r.Did = slices.Clone(r.Signals), slices.Clone(r.Did)
	}
	return v
}

// size estimates the memory that a verdict needs, in bytes.
func (v *Verdict) size() int {
	const each = 256
	n := each + len(v.Reason)
	for i := range v.Results {
		r := &v.Results[i]
		args, err := measure(r.Metadata)
		if err != nil {
			return mostKeptOne + 1
		}
		n += each + len(r.Reasoning) + 4*args // a value needs more than its text
		for j := range r.Signals {
			n += each + 5*len(r.Signals[j].Message) // as text and as data
		}
	}
	for i := range v.Sources {
		n += each + len(v.Sources[i].Path) + len(v.Sources[i].Real) + len(v.Sources[i].Head)
	}
	for i := range v.Did {
		f := &v.Did[i]
		n += 2 * (each/2 + len(f.Path) + len(f.text)) // counted for the judge's result, too
		for _, w := range f.Words {
			n += len(w)
		}
	}
	return n
}

// repeats reports whether a call may be looked up: not if guard and judges depend on more
// than its key covers, or if it must be counted each time.
func (e *Engine) repeats(p *Proposal, size int) bool {
	c := &p.Context
	made := c.Site != nil || c.Clashes || c.Running != nil || c.Known != nil || c.Reading != nil || c.Turn != nil
	if made || size > smallCall || len(p.Facts) > mostKeptFacts || len(c.Concerns) > 0 {
		return false
	}
	ex, known := e.catalog.Find(p.Executor)
	return !known || !ex.SkipJudge
}

// key returns the key of a call that repeats. A call has none if it comes for the first time,
// as most do, or holds a value that JSON has not. The session's facts are encoded only
// for a call that repeats: their number and the time of the last one tell most sessions
// apart.
func (k *verdicts) key(p *Proposal) (key callKey, ok bool) {
	w, _ := k.rooms.Get().(*naming)
	if w == nil {
		w = new(naming)
	}
	var err error
	w.call = named(p)
	w.buf, err = strictjson.Append(w.buf[:0], &w.call)
	w.call = Proposal{}
	w.number(uint64(len(p.Facts)))
	if n := len(p.Facts); n > 0 {
		w.number(uint64(p.Facts[n-1].At.UnixNano()))
	}
	key.quick = maphash.Bytes(k.seed, w.buf)
	if ok = err == nil && k.comesAgain(key.quick); ok {
		for i := range p.Facts {
			w.fact(&p.Facts[i])
		}
		key.full = sha256.Sum256(w.buf)
	}
	if cap(w.buf) <= mostNaming {
		k.rooms.Put(w)
	}
	return key, ok
}

// mostNaming is the largest buffer that is kept for reuse, in bytes.
const mostNaming = 64 << 10

// named returns a proposal with all that guard and judges consider in one that [Engine.repeats],
// except for its session's facts.
func named(p *Proposal) Proposal {
	q := *p
	if q.Agent, q.TurnID, q.Step = "", "", 0; p.SessionID() != "" {
		q.Session = "some"
	}
	return q
}

// naming encodes values so that no two have the same encoding.
type naming struct {
	buf  []byte
	call Proposal // what is being encoded
}

func (w *naming) number(n uint64) { w.buf = binary.AppendUvarint(w.buf, n) }

func (w *naming) mark(b bool) {
	if w.number(0); b {
		w.buf[len(w.buf)-1] = 1
	}
}

func (w *naming) text(s string) {
	w.number(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *naming) texts(all ...string) {
	for _, s := range all {
		w.text(s)
	}
}

// list writes a list of texts. A nil list differs from an empty one.
func (w *naming) list(all []string) {
	w.mark(all != nil)
	w.number(uint64(len(all)))
	w.texts(all...)
}

func (w *naming) fact(f *Fact) {
	w.texts(string(f.Deed), f.Path, f.SHA256)
	w.list(f.Words)
	w.number(uint64(f.At.UnixNano()))
	w.mark(f.New)
	w.mark(f.Loaded)
	w.mark(f.Later)
	w.mark(f.weight != nil) // the fact's time tells which one
	w.mark(f.shared)
	w.number(uint64(len(f.text))) // the digest stands for the text itself
}
