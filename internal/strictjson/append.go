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

// What is written often is written by a plan of its type: which field stands behind
// which name, found out once, and text appended to a buffer that is used again. The
// library finds that out for each value anew, and checks every token that it writes
// against the ones before. What a plan does not know it leaves to the library, and a
// value that it cannot write is the library's as a whole, so that both say the same of
// what is wrong; the tests hold their bytes against each other.

// Appender is what a type of its own form writes itself with.
type Appender interface {
	// AppendJSON appends the value behind dst, as its MarshalJSON would write it.
	AppendJSON(dst []byte) ([]byte, error)
}

// Append appends v behind dst as [Marshal] writes it. Where it fails dst is as it was.
func Append(dst []byte, v any) ([]byte, error) { return write(dst, v, false) }

// AppendLossy appends v behind dst as [MarshalLossy] writes it.
func AppendLossy(dst []byte, v any) ([]byte, error) { return write(dst, v, true) }

// fresh writes v into bytes of its own, as many as it needs.
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

// scratches are buffers in which values are written whose length nobody knows before.
var scratches sync.Pool //nolint:gochecknoglobals // It holds nothing that is anything to anybody.

// mostScratch is the largest buffer that is kept: a rare one need not be.
const mostScratch = 64 << 10

// write appends v, by a plan or else by the library.
func write(dst []byte, v any, lossy bool) ([]byte, error) {
	w, _ := writers.Get().(*writer)
	if w == nil {
		w = new(writer)
	}
	*w = writer{buf: dst, lossy: lossy}
	defer func() {
		w.buf = nil // which is the caller's
		writers.Put(w)
	}()
	if w.any(v) {
		return w.buf, nil
	}
	b, err := json.Marshal(v, w.options())
	return append(dst, b...), err
}

// writers write one value after the other.
var writers sync.Pool //nolint:gochecknoglobals // What they held is nothing to the next value.

// writer is one value on its way.
type writer struct {
	buf   []byte
	depth int
	// lossy lets what is not UTF-8 become the replacement character.
	lossy bool
}

// deepest is where plans end: what is nested deeper may have no end.
const deepest = 100

func (w *writer) options() json.Options {
	if w.lossy {
		return json.JoinOptions(writing(), jsontext.AllowInvalidUTF8(true))
	}
	return writing()
}

// plan appends a value of its type, and reports false where it cannot.
type plan func(w *writer, v reflect.Value) bool

// planOf returns the type's plan. It is made once: types are few, and none is dropped.
func planOf(t reflect.Type) plan {
	if known, ok := plans.Load(t); ok {
		if p, is := known.(plan); is {
			return p
		}
	}
	// A type that holds itself finds this in the place of its own plan.
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

// plans are the plans of types that were written before, which depend on nothing else.
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

// wholePlan is the plan of what holds other values.
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

// plainPlan is the plan of values that hold no others of their own type's, nil for those
// that do.
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

// hasMethods says whether a type says itself how it is written.
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
		n = "0" // the zero Number is zero, as the standard library has it
	}
	short := len(n) < 19 && n[0] != '0' && strings.Trim(n, "0123456789") == ""
	if !short && !isNumber(n) {
		return false
	}
	w.buf = append(w.buf, n...)
	return true
}

// isNumber says whether a text is a number as JSON has it, without anything around it.
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

// any writes what stands in an interface. What JSON is decoded into comes first.
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

// object writes what a JSON object is decoded into.
func (w *writer) object(of map[string]any) bool {
	var few [8]string
	names := few[:0]
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return w.members(names, func(name string) bool { return w.any(of[name]) })
}

// members writes an object of such names, each with its value.
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
		// Names that differ in what is not UTF-8 alone would become the same.
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

// float writes a number as the library does, which is as ECMAScript has it.
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
