// Package jsonrpc reads JSON-RPC 2.0 messages without re-encoding them. A proxy between two
// programs forwards the very bytes that it received, so that no member is lost that a later
// version of the protocol adds. It must therefore be certain that the other side reads those
// bytes as it did. Anything that two readers could read differently is refused: a duplicate
// key, or a known key in other letter case.
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
	// ID is not set in a notification.
	ID ID
	// Params, Result and Error are as they were written; nil if absent.
	Params, Result, Error strictjson.Value
}

// ID is the id of a request. The zero value means that there is none.
type ID struct {
	raw string
	key string
}

// Given reports whether there is an id.
func (id ID) Given() bool { return id.raw != "" }

// Raw returns the id as it was written, or null if there is none.
func (id ID) Raw() string {
	if id.raw == "" {
		return "null"
	}
	return id.raw
}

// Key returns the same string for equal ids. A string is not equal to a number with the same
// digits.
func (id ID) Key() string { return id.key }

// members returns the known members of a message. A message may have others.
func members() []string { return []string{"jsonrpc", "id", "method", "params", "result", "error"} }

// Parse parses one message. Its error does not quote the message.
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

// Cancels returns the key of the request that the message cancels, "" if it cannot be read.
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

// whole reports whether the message is exactly one thing: a request or notification, a result,
// or an error.
func (m *Message) whole() bool {
	things := 0
	for _, is := range []bool{m.Method != "", m.Result != nil, m.Error != nil} {
		if is {
			things++
		}
	}
	return things == 1
}

// ParseID parses an id, which must be a string or an integer.
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

// Object returns the members of an object as they were written. known are the names that mean
// something: a name that differs from one of them only in letter case is refused, because some
// readers would take it for that one.
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

// usual is how many members an object of the protocol usually has.
const usual = 4

// object collects the members of data without copying their values.
type object struct {
	data []byte
	all  map[string]strictjson.Value
}

// UnmarshalJSONFrom collects the members.
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

// Batch returns the messages of a batch. ok reports whether data is a batch.
func Batch(data []byte) (all []strictjson.Value, ok bool, err error) {
	if strictjson.Value(data).Kind() != '[' {
		return nil, false, nil
	}
	if err := strictjson.UnmarshalLoose(data, &all); err != nil || len(all) == 0 {
		return nil, true, errors.New("is a batch that is empty or cannot be read")
	}
	return all, true, nil
}

// The error codes that a gate answers with.
const (
	CodeParse   = -32700
	CodeInvalid = -32600
)

// Failure returns the response that refuses a request.
func Failure(id ID, code int, why string) []byte {
	text, err := strictjson.MarshalLossy(why)
	if err != nil {
		text = []byte(`"refused"`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id.Raw(), code, text)
}

// Response returns the response to a request; result must be JSON.
func Response(id ID, result []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id.Raw(), result)
}
