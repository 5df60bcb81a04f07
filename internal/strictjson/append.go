package strictjson

import (
	"bytes"
	"encoding"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Values are encoded by a plan for their type: the fields and their names are looked up once, and
// text is appended to a reused buffer. The library looks them up again for each value, and checks
// every token against the previous ones. A plan leaves what it does not know to the library. If a
// plan cannot encode a value, the library encodes it as a whole, so that errors are the same.
// Tests compare the bytes of both.

// Appender is implemented by types that encode themselves.
type Appender interface {
	// AppendJSON appends the value to dst, as its MarshalJSON would encode it.
	AppendJSON(dst []byte) ([]byte, error)
}

// Append appends v to dst as [Marshal] encodes it. If it fails, dst is unchanged.
func Append(dst []byte, v any) ([]byte, error) { return write(dst, v, false) }

// AppendLossy appends v to dst as [MarshalLossy] encodes it.
func AppendLossy(dst []byte, v any) ([]byte, error) { return write(dst, v, true) }

// fresh encodes v into a new slice of the exact size.
func fresh(v any, lossy bool) ([]byte, error) {
	scratch, _ := scratches.Get().(*[]byte)
	if scratch == nil {
		scratch = new([]byte)
	}
	b, err := write((*scratch)[:0], v, lossy)
	if err != nil {
		return nil, err
	}
	own := slices.Clone(b)
	if *scratch = b; cap(b) <= mostScratch {
		scratches.Put(scratch)
	}
	return own, nil
}

// scratches holds buffers for values whose encoded length is unknown.
var scratches sync.Pool //nolint:gochecknoglobals // It holds nothing that is anything to anybody.

// mostScratch is the capacity of the largest buffer that is reused, in bytes.
const mostScratch = 64 << 10

// write appends v to dst, by a plan or else by the library.
func write(dst []byte, v any, lossy bool) ([]byte, error) {
	w, _ := writers.Get().(*writer)
	if w == nil {
		w = new(writer)
	}
	*w = writer{buf: dst, lossy: lossy}
	defer func() {
		w.buf = nil // it belongs to the caller
		writers.Put(w)
	}()
	if w.any(v) {
		return w.buf, nil
	}
	b, err := json.Marshal(v, w.options())
	return append(dst, b...), err
}

// writers holds writers for reuse.
var writers sync.Pool //nolint:gochecknoglobals // What they held is nothing to the next value.

// writer encodes one value.
type writer struct {
	buf   []byte
	depth int
	// lossy replaces invalid UTF-8 by the replacement character.
	lossy bool
}

// deepest is the depth at which plans give up: a deeper value may be cyclic.
const deepest = 100

func (w *writer) options() json.Options {
	if w.lossy {
		return json.JoinOptions(writing(), jsontext.AllowInvalidUTF8(true))
	}
	return writing()
}

// plan appends a value of its type. It returns false if it cannot.
type plan func(w *writer, v reflect.Value) bool

// planOf returns the type's plan. Plans are created once and never dropped: types are few.
func planOf(t reflect.Type) plan {
	if known, ok := plans.Load(t); ok {
		if p, is := known.(plan); is {
			return p
		}
	}
	// A recursive type finds this placeholder instead of its own plan.
	var made sync.WaitGroup
	var p plan
	made.Add(1)
	first, there := plans.LoadOrStore(t, plan(func(w *writer, v reflect.Value) bool { made.Wait(); return p(w, v) }))
	if other, is := first.(plan); there && is {
		return other
	}
	p = newPlan(t)
	made.Done()
	plans.Store(t, p)
	return p
}

// plans maps types to their plans.
var plans sync.Map //nolint:gochecknoglobals // A memory of what never changes.

type zeroer interface{ IsZero() bool }

func newPlan(t reflect.Type) plan {
	switch {
	case t == reflect.TypeFor[Number]():
		return writeNumber
	case t == reflect.TypeFor[time.Time]():
		return writeTime
	case t.Kind() == reflect.Pointer:
		return pointerPlan(planOf(t.Elem()))
	case t.Implements(reflect.TypeFor[Appender]()):
		return writeAppender
	case hasMethods(t) || t == reflect.TypeFor[time.Duration]():
		return writeByLibrary
	}
	if p := plainPlan(t.Kind()); p != nil {
		return p
	}
	return wholePlan(t)
}

// wholePlan returns the plan for a type that holds other values.
func wholePlan(t reflect.Type) plan {
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return slicePlan(planOf(t.Elem()))
	case t.Kind() == reflect.Map && t.Key() == reflect.TypeFor[string]():
		return mapPlan(planOf(t.Elem()))
	case t.Kind() == reflect.Struct:
		if fields, ok := fieldsOf(t, nil); ok && unique(fields) {
			return structPlan(fields)
		}
	}
	return writeByLibrary
}

// plainPlan returns the plan for a kind that holds no other values, or for an interface; nil for
// other kinds.
func plainPlan(kind reflect.Kind) plan {
	switch kind {
	case reflect.Bool:
		return func(w *writer, v reflect.Value) bool { w.buf = strconv.AppendBool(w.buf, v.Bool()); return true }
	case reflect.String:
		return func(w *writer, v reflect.Value) bool { return w.text(v.String()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(w *writer, v reflect.Value) bool { w.buf = strconv.AppendInt(w.buf, v.Int(), 10); return true }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(w *writer, v reflect.Value) bool { w.buf = strconv.AppendUint(w.buf, v.Uint(), 10); return true }
	case reflect.Float64:
		return func(w *writer, v reflect.Value) bool { return w.float(v.Float()) }
	case reflect.Interface:
		return writeDynamic
	default:
		return nil
	}
}

// hasMethods reports whether a type defines its own encoding.
func hasMethods(t reflect.Type) bool {
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[json.Marshaler](),
		reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler](),
	} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

func writeByLibrary(w *writer, v reflect.Value) bool {
	b, err := json.Marshal(v.Interface(), w.options())
	w.buf = append(w.buf, b...)
	return err == nil
}

func writeAppender(w *writer, v reflect.Value) bool {
	of, ok := reflect.TypeAssert[Appender](v)
	if !ok {
		return false
	}
	b, err := of.AppendJSON(w.buf)
	if err == nil {
		w.buf = b
	}
	return err == nil
}

func writeNumber(w *writer, v reflect.Value) bool {
	n := v.String()
	if n == "" {
		n = "0" // the zero Number is 0, as in encoding/json
	}
	short := len(n) < 19 && n[0] != '0' && strings.Trim(n, "0123456789") == ""
	if !short && !isNumber(n) {
		return false
	}
	w.buf = append(w.buf, n...)
	return true
}

// isNumber reports whether a text is a JSON number without surrounding whitespace.
func isNumber(text string) bool {
	return strings.IndexByte("-0123456789", text[0]) >= 0 && '0' <= text[len(text)-1] && jsontext.Value(text).IsValid()
}

func writeTime(w *writer, v reflect.Value) bool {
	at, ok := reflect.TypeAssert[time.Time](v)
	if !ok || at.Location() != time.UTC || at.Year() < 0 || at.Year() > 9999 {
		return writeByLibrary(w, v)
	}
	w.buf = append(at.AppendFormat(append(w.buf, '"'), time.RFC3339Nano), '"')
	return true
}

func writeDynamic(w *writer, v reflect.Value) bool {
	if v.IsNil() {
		w.buf = append(w.buf, "null"...)
		return true
	}
	return w.any(v.Elem().Interface())
}

// any encodes the value in an interface. The types that JSON is decoded into come first.
func (w *writer) any(v any) bool {
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
		return true
	case string:
		return w.text(v)
	case bool:
		w.buf = strconv.AppendBool(w.buf, v)
		return true
	case map[string]any:
		return w.object(v)
	}
	of := reflect.ValueOf(v)
	return planOf(of.Type())(w, of)
}

// object encodes an object that JSON was decoded into.
func (w *writer) object(of map[string]any) bool {
	var few [8]string
	names := few[:0]
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return w.members(names, func(name string) bool { return w.any(of[name]) })
}

// members encodes an object with these names and their values.
func (w *writer) members(names []string, value func(name string) bool) bool {
	if w.depth++; w.depth > deepest {
		return false
	}
	defer func() { w.depth-- }()
	w.buf = append(w.buf, '{')
	for i, name := range names {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		// Names that differ only in invalid UTF-8 would become the same.
		before := len(w.buf)
		if !w.text(name) || w.lossy && bytes.Contains(w.buf[before:], []byte("\ufffd")) {
			return false
		}
		w.buf = append(w.buf, ':')
		if !value(name) {
			return false
		}
	}
	w.buf = append(w.buf, '}')
	return true
}

func (w *writer) text(s string) bool {
	b, err := jsontext.AppendQuote(w.buf, s)
	w.buf = b
	return err == nil || w.lossy
}

// float encodes a number as the library does, in ECMAScript's form.
func (w *writer) float(f float64) bool {
	if size := math.Abs(f); math.IsNaN(f) || size != 0 && (size < 1e-6 || size >= 1e21) {
		return writeByLibrary(w, reflect.ValueOf(f))
	}
	w.buf = strconv.AppendFloat(w.buf, f, 'f', -1, 64)
	return true
}

func pointerPlan(elem plan) plan {
	return func(w *writer, v reflect.Value) bool {
		if v.IsNil() {
			w.buf = append(w.buf, "null"...)
			return true
		}
		if w.depth++; w.depth > deepest {
			return false
		}
		ok := elem(w, v.Elem())
		w.depth--
		return ok
	}
}

func slicePlan(elem plan) plan {
	return func(w *writer, v reflect.Value) bool {
		if w.depth++; w.depth > deepest {
			return false
		}
		w.buf = append(w.buf, '[')
		for i := range v.Len() {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			if !elem(w, v.Index(i)) {
				return false
			}
		}
		w.buf = append(w.buf, ']')
		w.depth--
		return true
	}
}

func mapPlan(elem plan) plan {
	return func(w *writer, v reflect.Value) bool {
		names := make([]string, 0, v.Len())
		for k := range v.Seq() {
			names = append(names, k.String())
		}
		slices.Sort(names)
		return w.members(names, func(name string) bool { return elem(w, v.MapIndex(reflect.ValueOf(name))) })
	}
}
