// Package strictjson reads JSON that strangers wrote and writes it in one
// canonical form. It refuses whatever two readers could understand in two ways:
// duplicate keys, unknown fields, invalid UTF-8, NUL characters, trailing data
// and deep nesting. The caller bounds the size.
package strictjson

import (
	stdjson "encoding/json" //nolint:depguard // Number alone: the schema library knows no other number type.
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Error says what is wrong with a document, in one sentence that never holds
// a value out of it.
type Error struct {
	// Path is the JSON pointer of the field; empty for the whole document.
	Path string
	// Offset is the byte at or after which the mistake was noticed.
	Offset int64
	// Msg says what was wrong and what would be right; its subject is the field.
	Msg string
}

// Error names the field and what is wrong with it.
func (e *Error) Error() string {
	if e.Path == "" {
		return "the JSON document " + e.Msg
	}
	return "field " + strconv.Quote(shorten(e.Path)) + " " + e.Msg
}

// Number is a JSON number kept as it was written, so that no integer loses a
// digit. A value of type any is decoded into it.
type Number = stdjson.Number

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 64

// Unmarshal decodes one JSON document into v, strictly. Its errors are of type
// [*Error]. Numbers inside a value of type any become a [Number].
//
// A type's own UnmarshalJSONFrom may return an *Error without a path to say
// what is wrong in its own words; any other error of such a method is reported
// without its text, which could hold a value.
func Unmarshal(data []byte, v any) error {
	if err := scan(data); err != nil {
		return err
	}
	err := json.Unmarshal(data, v,
		json.RejectUnknownMembers(true), reading())
	if err != nil {
		return explain(data, err)
	}
	return nil
}

// Marshal encodes v with map keys in order and numbers as they were written.
func Marshal(v any) ([]byte, error) {
	b, err := fresh(v, false)
	if err != nil {
		return nil, fmt.Errorf("strictjson: %w", err)
	}
	return b, nil
}

// ReadValue reads the next value of dec as nil, bool, [Number], string, []any
// or map[string]any. It is for the UnmarshalJSONFrom of a type that holds such
// values, which then reads them alike however it is decoded.
func ReadValue(dec *jsontext.Decoder) (any, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		return Number(token.String()), nil
	case '[':
		return readArray(dec)
	case '{':
		return readObject(dec)
	default:
		return nil, errors.New("strictjson: no value to read")
	}
}

func readArray(dec *jsontext.Decoder) ([]any, error) {
	list := []any{}
	for dec.PeekKind() != ']' {
		v, err := ReadValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.ReadToken()
	return list, err
}

func readObject(dec *jsontext.Decoder) (map[string]any, error) {
	object := map[string]any{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := ReadValue(dec)
		if err != nil {
			return nil, err
		}
		object[key] = v
	}
	_, err := dec.ReadToken()
	return object, err
}

// WriteValue writes what [ReadValue] reads, and whatever else JSON can hold,
// with map keys in order and numbers as they were written.
func WriteValue(enc *jsontext.Encoder, v any) error {
	return json.MarshalEncode(enc, v, writing())
}

// The options are made once: they remember what they were asked about each type,
// and forgetting it costs more than the values themselves.
var (
	reading = sync.OnceValue(func() json.Options {
		return json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalAny))
	})
	writing = sync.OnceValue(func() json.Options {
		return json.JoinOptions(json.Deterministic(true), json.WithMarshalers(json.MarshalToFunc(marshalNumber)))
	})
	canonical = sync.OnceValue(func() json.Options {
		return json.WithMarshalers(json.MarshalToFunc(canonicalNumber))
	})
)

func unmarshalAny(dec *jsontext.Decoder, v *any) error {
	read, err := ReadValue(dec)
	if err != nil {
		return err
	}
	*v = read
	return nil
}

func marshalNumber(enc *jsontext.Encoder, n Number) error {
	if n == "" {
		n = "0" // the zero Number is zero, as the standard library has it
	}
	return enc.WriteValue(jsontext.Value(n))
}
