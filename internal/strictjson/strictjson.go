// Package strictjson reads JSON from untrusted sources and encodes it in one canonical form. It
// rejects anything that two readers could understand differently: duplicate keys, unknown fields,
// invalid UTF-8, NUL characters, trailing data and deep nesting. The caller must limit the size.
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

// Error says what is wrong with a document, in one sentence that never contains a value from it.
type Error struct {
	// Path is the JSON pointer of the field; empty for the whole document.
	Path string
	// Offset is the byte at or after which the mistake was noticed.
	Offset int64
	// Msg says what is wrong and what would be right; its subject is the field.
	Msg string
}

// Error names the field and what is wrong with it.
func (e *Error) Error() string {
	if e.Path == "" {
		return "the JSON document " + e.Msg
	}
	return "field " + strconv.Quote(shorten(e.Path)) + " " + e.Msg
}

// Number is a JSON number as written, so that no integer loses precision. It is what a number
// becomes in a value of type any.
type Number = stdjson.Number

// MaxDepth is the maximum nesting depth of objects and arrays.
const MaxDepth = 64

// Unmarshal strictly decodes one JSON document into v. Its errors are of type [*Error]. Numbers in a
// value of type any become a [Number].
//
// A type's UnmarshalJSONFrom may return an *Error without a path to say what is wrong in its own
// words. Any other error of such a method is reported without its text, which might contain a value.
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

// Marshal encodes v with sorted map keys and with numbers as written.
func Marshal(v any) ([]byte, error) {
	b, err := fresh(v, false)
	if err != nil {
		return nil, fmt.Errorf("strictjson: %w", err)
	}
	return b, nil
}

// ReadValue reads the next value of dec as nil, bool, [Number], string, []any or map[string]any. It
// is for the UnmarshalJSONFrom of types with such values, which are then read the same way however
// the type is decoded.
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

// WriteValue writes what [ReadValue] reads, and any other value that JSON can represent, with sorted
// map keys and with numbers as written.
func WriteValue(enc *jsontext.Encoder, v any) error {
	return json.MarshalEncode(enc, v, writing())
}

// The options are created once: they cache what they have learned about each type, and losing that
// costs more than the values themselves.
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
		n = "0" // the zero Number is 0, as in encoding/json
	}
	return enc.WriteValue(jsontext.Value(n))
}
