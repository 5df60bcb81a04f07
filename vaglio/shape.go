package vaglio

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/reading"
)

// ShapeError says why a call was not judged: part of its arguments cannot be read. It is no
// verdict and not final; the agent may propose the same work in a form that can be read. It
// contains no value from the arguments.
type ShapeError struct {
	// Field is a JSON pointer into the arguments to what cannot be read; "" means the
	// arguments as a whole.
	Field string
	// Line and Col count from 1 in the text at Field, Col in characters; both are 0 if no
	// line is to blame.
	Line, Col int
	// Excerpt is the line with its words replaced by "…"; "" if there is no line.
	Excerpt string
	// What says what is wrong.
	What string
}

// Error says in one sentence where the problem is, what it is, and what to do.
func (e *ShapeError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d cannot be read: ", e.Line, e.Col)
	} else {
		b.WriteString("the arguments cannot be read: ")
	}
	b.WriteString(e.What)
	if e.Excerpt != "" {
		b.WriteString(" (" + e.Excerpt + ")")
	}
	b.WriteString("; nothing was judged and the call must not run: send one that can be read")
	return b.String()
}

// Mistake returns the [*catalog.Error] or [*ShapeError] in err, which is the caller's own
// mistake, or nil.
func Mistake(err error) error {
	if bad, ok := errors.AsType[*catalog.Error](err); ok {
		return bad
	}
	if bad, ok := errors.AsType[*ShapeError](err); ok {
		return bad
	}
	return nil
}

// unreadable returns the error for what the guard could not read in a proposal.
func unreadable(p Proposal, u *reading.Unreadable) *ShapeError {
	e := &ShapeError{Line: u.Line, Col: u.Col, Excerpt: u.Excerpt, What: u.What}
	key := u.Key
	if i := strings.IndexAny(key, ".["); i > 0 {
		key = key[:i]
	}
	if _, top := p.Args[key]; top && key != "" {
		e.Field = "/" + escapePointer(key)
	}
	return e
}

// maxDepth is how deep args may nest. Decoded JSON stays below; values built in memory could
// be cyclic.
const maxDepth = 128

// measure returns the size of args in bytes of text, or an error if JSON cannot hold them.
func measure(args Args) (size int, err *ShapeError) {
	return measureMap(args, 0)
}

func measureMap(m map[string]any, depth int) (size int, err *ShapeError) {
	for k, v := range m {
		n, err := measureText(k)
		if err != nil {
			return 0, err
		}
		size += n
		if n, err = measureValue(v, depth+1); err != nil {
			err.Field = "/" + escapePointer(k) + err.Field
			return 0, err
		}
		size += n
	}
	return size, nil
}

func measureValue(v any, depth int) (size int, err *ShapeError) {
	if depth > maxDepth {
		return 0, &ShapeError{What: "they nest deeper than " + strconv.Itoa(maxDepth) + " levels"}
	}
	switch v := v.(type) {
	case nil, bool, int, int64, uint64, float64:
		return 1, nil
	case string:
		return measureText(v)
	case map[string]any:
		return measureMap(v, depth)
	case []string:
		return measureList(v, depth)
	case []any:
		return measureList(v, depth)
	default:
		return measureOther(reflect.ValueOf(v))
	}
}

func measureList[T any](list []T, depth int) (size int, err *ShapeError) {
	for i, e := range list {
		n, err := measureValue(e, depth+1)
		if err != nil {
			err.Field = "/" + strconv.Itoa(i) + err.Field
			return 0, err
		}
		size += 1 + n
	}
	return size, nil
}

// measureOther measures a value that a program put into args, not a decoder.
func measureOther(v reflect.Value) (size int, err *ShapeError) {
	switch k := v.Kind(); {
	case k == reflect.String:
		return measureText(v.String())
	case k == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat():
		return 1, nil
	default:
		return 0, &ShapeError{What: "a value is of no kind that JSON knows"}
	}
}

func measureText(s string) (size int, err *ShapeError) {
	switch {
	case !utf8.ValidString(s):
		return 0, &ShapeError{What: "a text holds bytes that are not valid UTF-8"}
	case strings.IndexByte(s, 0) >= 0:
		return 0, &ShapeError{What: "a text holds a NUL character"}
	}
	return len(s), nil
}

// escapePointer escapes a key as a step of a JSON pointer. It cuts a long key, which is free
// text.
func escapePointer(key string) string {
	const longest = 100
	if len(key) > longest {
		key = strings.ToValidUTF8(key[:longest], "") + "…"
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
