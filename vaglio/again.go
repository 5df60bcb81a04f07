package vaglio

import (
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Approved verdicts are kept for calls that come again and again, from their second
// time on: most come once, and would only cost what keeping costs. A verdict is used
// again where the proposal is the same in all that guard and judges go by, and the
// machine answers all that they asked as it did: then they would say the same.

// The bounds of the verdicts that are kept: of each and of all, in bytes, and how many.
const (
	mostKeptBytes = 8 << 20
	mostKeptOne   = 512 << 10
	mostKept      = 4096
	// mostKeptFacts is how much of a session a proposal may bring to be looked for.
	mostKeptFacts = 256
)

// verdicts are those that are kept, those in use first. They are safe for concurrent
// use.
type verdicts struct {
	mu    sync.Mutex
	by    map[uint64]*list.Element // by the quick parts of their keys
	order *list.List               // of *judged
	// once are calls that came once, not long ago, by the quick parts of their keys.
	once  [1 << 12]uint64
	bytes int
	seed  maphash.Seed
	// rooms are buffers in which calls are named.
	rooms sync.Pool
}

// callKey names a call: quick tells most calls from those that came before, and full,
// of those that it does not, every call from every other.
type callKey struct {
	quick uint64
	full  [sha256.Size]byte
}

// judged is a call that was approved. Nothing of it is ever changed.
type judged struct {
	key     callKey
	verdict Verdict
	logged  string
	asked   *asked
	bytes   int
}

func newVerdicts() *verdicts {
	return &verdicts{by: map[uint64]*list.Element{}, order: list.New(), seed: maphash.MakeSeed()}
}

// find gives the verdict on a call, if it is kept.
func (k *verdicts) find(key callKey) *judged {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.by[key.quick]
	if at == nil || at.Value.(*judged).key != key { //nolint:errcheck,forcetypeassert // there is nothing else in it
		return nil
	}
	k.order.MoveToFront(at)
	return at.Value.(*judged) //nolint:errcheck,forcetypeassert // there is nothing else in it
}

// keep keeps a verdict, and drops those that were used longest ago.
func (k *verdicts) keep(j *judged) {
	if j.asked.lost || j.bytes > mostKeptOne {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.by[j.key.quick]; at != nil {
		k.drop(at)
	}
	k.by[j.key.quick] = k.order.PushFront(j)
	k.bytes += j.bytes
	for k.bytes > mostKeptBytes || k.order.Len() > mostKept {
		k.drop(k.order.Back())
	}
}

// comesAgain says whether a call is kept or was seen not long ago, and remembers that it
// is now.
func (k *verdicts) comesAgain(quick uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := &k.once[quick%uint64(len(k.once))]
	seen := *at == quick || k.by[quick] != nil
	*at = quick
	return seen
}

func (k *verdicts) drop(at *list.Element) {
	j := k.order.Remove(at).(*judged) //nolint:errcheck,forcetypeassert // there is nothing else in it
	delete(k.by, j.key.quick)
	k.bytes -= j.bytes
}

// asking is the engine as it judges one call, with what it asks remembered.
func (e *Engine) asking() (*Engine, *asked) {
	a := &asked{of: cmp.Or[machine](e.machine, disk{Files: e.files}), answers: map[question]answer{}}
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

// again gives a verdict once more, of this moment.
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

// detached shares no list with v.
func (v Verdict) detached() Verdict {
	v.Results, v.Sources, v.Did = slices.Clone(v.Results), slices.Clone(v.Sources), slices.Clone(v.Did)
	for i := range v.Results {
		r := &v.Results[i]
		r.Signals, r.Did = slices.Clone(r.Signals), slices.Clone(r.Did)
	}
	return v
}

// size is about what a verdict needs, in bytes.
func (v *Verdict) size() int {
	const each = 256
	n := each + len(v.Reason)
	for i := range v.Results {
		r := &v.Results[i]
		args, err := measure(r.Metadata)
		if err != nil {
			return mostKeptOne + 1
		}
		n += each + len(r.Reasoning) + 4*args // a value is more than its text
		for j := range r.Signals {
			n += each + 5*len(r.Signals[j].Message) // in words and as data
		}
	}
	for i := range v.Sources {
		n += each + len(v.Sources[i].Path) + len(v.Sources[i].Real) + len(v.Sources[i].Head)
	}
	for i := range v.Did {
		f := &v.Did[i]
		n += 2 * (each/2 + len(f.Path) + len(f.text)) // of the judge, too
		for _, w := range f.Words {
			n += len(w)
		}
	}
	return n
}

// repeats says whether a call may be looked for: it is not where guard and judges go
// by more than can be named, or where it must be counted each time.
func (e *Engine) repeats(p *Proposal, size int) bool {
	c := &p.Context
	made := c.Site != nil || c.Running != nil || c.Known != nil || c.Reading != nil || c.Turn != nil
	if e.verdicts == nil || made || size > smallCall || len(p.Facts) > mostKeptFacts || len(c.Concerns) > 0 {
		return false
	}
	ex, known := e.catalog.Find(p.Executor)
	return !known || !ex.SkipJudge
}

// key names a proposal that comes again. There is none where it comes for the first
// time, as most do, or holds what no decoder makes. What the session did is looked at only
// where it comes again: how much that is and when it was tells most sessions apart.
func (k *verdicts) key(p *Proposal) (key callKey, ok bool) {
	w, _ := k.rooms.Get().(*naming)
	if w == nil {
		w = new(naming)
	}
	w.buf, w.strange = w.buf[:0], false
	w.proposal(p)
	w.number(uint64(len(p.Facts)))
	if n := len(p.Facts); n > 0 {
		w.number(uint64(p.Facts[n-1].At.UnixNano()))
	}
	key.quick = maphash.Bytes(k.seed, w.buf)
	if ok = !w.strange && k.comesAgain(key.quick); ok {
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

// mostNaming is the largest room for a name that is kept for the next one.
const mostNaming = 64 << 10

// proposal writes what guard and judges go by in a proposal that [Engine.repeats], but
// for what its session did.
func (w *naming) proposal(p *Proposal) {
	c := &p.Context
	w.texts(p.Executor, p.Intent, c.Mode, c.Cwd, c.Client, c.Refusal, c.SubAgent)
	w.value(map[string]any(p.Args))
	w.list(c.Capability)
	w.list(c.Mounts)
	w.list(c.Roots)
	w.mark(p.SessionID() != "")
	w.mark(p.Elsewhere)
	w.mark(c.Step != nil)
	if c.Step != nil {
		w.number(uint64(*c.Step)) //nolint:gosec // its bits
	}
	w.mark(c.Critical != nil)
	w.mark(c.Critical != nil && *c.Critical)
}

// naming writes values so that no two are written the same.
type naming struct {
	buf []byte
	// strange says that there was a value that no decoder makes.
	strange bool
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

// list writes texts; none at all is another thing than an empty list.
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
	w.mark(f.weight != nil) // of which the instant tells which it is
	w.mark(f.shared)
	w.number(uint64(len(f.text))) // what it holds, its digest tells
}

// value writes what a decoder makes of JSON.
func (w *naming) value(v any) {
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, 'z')
	case bool:
		w.buf = append(w.buf, 'b')
		w.mark(v)
	case strictjson.Number:
		w.buf = append(w.buf, 'n')
		w.text(string(v))
	case string:
		w.buf = append(w.buf, 's')
		w.text(v)
	case []any:
		w.buf = append(w.buf, 'l')
		w.number(uint64(len(v)))
		for _, e := range v {
			w.value(e)
		}
	case map[string]any:
		w.buf = append(w.buf, 'm')
		w.number(uint64(len(v)))
		for _, k := range reading.SortedKeys(v) {
			w.text(k)
			w.value(v[k])
		}
	default:
		w.strange = true
	}
}
