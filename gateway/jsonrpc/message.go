// Package jsonrpc reads messages of JSON-RPC 2.0 without taking them apart. Who
// stands between two programs hands on the very bytes that came, so that no
// member is lost that a later version adds; so it must be certain that the other
// side reads those bytes as it did. What two readers could read in two ways is
// refused: a key that is given twice, or a known one in other letters.
package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Message is one request, notification or response.
type Message struct {
	// Method is empty in a response.
	Method string
	// ID is not valid in a notification.
	ID ID
	// Params, Result and Error are as they were written; nil what is not there.
	Params, Result, Error strictjson.Value
}

// ID names a request. Its zero value is none.
type ID struct {
	raw string
	key string
}

// Given reports whether there is one.
func (id ID) Given() bool { return id.raw != "" }

// Raw is the id as it was written, null if there is none.
func (id ID) Raw() string {
	if id.raw == "" {
		return "null"
	}
	return id.raw
}

// Key is equal for equal ids: a text is not a number of the same digits.
func (id ID) Key() string { return id.key }

// The members that a message may have besides those that are not known yet.
func members() []string { return []string{"jsonrpc", "id", "method", "params", "result", "error"} }

// Parse reads one message. Its error holds nothing of the message's values.
func Parse(data []byte) (Message, error) {
	all, err := Object(data, members()...)
	if err != nil {
		return Message{}, err
	}
	var version string
	if strictjson.UnmarshalLoose(all["jsonrpc"], &version) != nil || version != "2.0" {
		return Message{}, errors.New(`has no member "jsonrpc" that says "2.0"`)
	}
	m := Message{Params: all["params"], Result: all["result"], Error: all["error"]}
	method, named := all["method"]
	if named && (strictjson.UnmarshalLoose(method, &m.Method) != nil || m.Method == "") {
		return Message{}, errors.New("has a method that is not a text")
	}
	if !m.whole() {
		return Message{}, errors.New("is neither a request nor a response: give a method, a result or an error")
	}
	if raw, given := all["id"]; given && (named || raw.Kind() != 'n') {
		if m.ID, err = ParseID(raw); err != nil {
			return Message{}, err
		}
	}
	return m, nil
}

// Cancels is the key of the request that a message takes back, "" if it cannot be read.
func (m *Message) Cancels() string {
	params, err := Object(m.Params, "requestId")
	if err != nil {
		return ""
	}
	id, err := ParseID(params["requestId"])
	if err != nil {
		return ""
	}
	return id.Key()
}

// whole reports whether the message is one thing: a request or a notification, a
// result, or an error.
func (m *Message) whole() bool {
	things := 0
	for _, is := range []bool{m.Method != "", m.Result != nil, m.Error != nil} {
		if is {
			things++
		}
	}
	return things == 1
}

// ParseID reads an id: a text or a whole number.
func ParseID(raw strictjson.Value) (ID, error) {
	written := string(bytes.TrimSpace(raw))
	var text string
	kind := strictjson.Value(written).Kind()
	if kind == '"' && strictjson.UnmarshalLoose(raw, &text) == nil {
		return ID{written, `"` + text}, nil
	}
	if kind == '0' && !strings.ContainsAny(written, ".eE") && written != "-0" {
		return ID{written, written}, nil
	}
	return ID{}, errors.New("has an id that is neither a text nor a whole number")
}

// Object reads the members of an object as they were written. known are those
// whose names mean something: one that differs from them only in its letters'
// case is refused, since some readers take it for them.
func Object(data []byte, known ...string) (map[string]strictjson.Value, error) {
	if strictjson.Value(data).Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	o := object{data: data, all: make(map[string]strictjson.Value, usual)}
	if err := strictjson.UnmarshalLoose(data, &o); err != nil {
		at, _, _ := strictjson.Mistake(err)
		return nil, fmt.Errorf("cannot be read at byte %d: it must be JSON in which no key is given twice", at)
	}
	all := o.all
	for name := range all {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if i >= 0 && known[i] != name {
			return nil, fmt.Errorf("spells %q in other letters", known[i])
		}
	}
	return all, nil
}

// usual is how many members an object of the protocol has.
const usual = 4

// object takes the members out of data, without a copy of what stands in them.
type object struct {
	data []byte
	all  map[string]strictjson.Value
}

// UnmarshalJSONFrom reads the members.
func (o *object) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := d.InputOffset()
		o.all[key] = o.data[end-int64(len(v)) : end : end]
	}
	_, err := d.ReadToken()
	return err
}

// Batch gives the messages of a batch, and reports whether data is one.
func Batch(data []byte) (all []strictjson.Value, ok bool, err error) {
	if strictjson.Value(data).Kind() != '[' {
		return nil, false, nil
	}
	if err := strictjson.UnmarshalLoose(data, &all); err != nil || len(all) == 0 {
		return nil, true, errors.New("is a batch that is empty or cannot be read")
	}
	return all, true, nil
}

// The codes of errors that a gate answers with.
const (
	CodeParse   = -32700
	CodeInvalid = -32600
)

// Failure is the response that refuses a request.
func Failure(id ID, code int, why string) []byte {
	text, err := strictjson.MarshalLossy(why)
	if err != nil {
		text = []byte(`"refused"`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id.Raw(), code, text)
}

// Response is the response that a request gets; result is JSON.
func Response(id ID, result []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id.Raw(), result)
}
