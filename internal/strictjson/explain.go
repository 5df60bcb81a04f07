package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// scan finds, in one pass, mistakes that the decoder would accept.
func scan(data []byte) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			end, err := scanText(data, i+1)
			if err != nil {
				return err
			}
			i = end
		case '}', ']':
			depth--
		case '{', '[':
			if depth++; depth > MaxDepth {
				return &Error{where(data, i), int64(i), fmt.Sprintf("nests deeper than %d levels; flatten it", MaxDepth)}
			}
		}
	}
	return nil
}

// scanText returns where the string ends whose content starts at the given offset.
func scanText(data []byte, at int) (int, error) {
	end := bytes.IndexByte(data[at:], '"')
	for end >= 0 {
		escape := bytes.IndexByte(data[at:at+end], '\\')
		if escape < 0 {
			return at + end, nil
		}
		at += escape
		if bytes.HasPrefix(data[at+1:], []byte("u0000")) {
			return 0, &Error{where(data, at), int64(at), `holds a NUL character (\u0000), which no field accepts; leave it out`}
		}
		if at += 2; at > len(data) {
			break
		}
		if end -= escape + 2; end < 0 { // The quote itself was escaped.
			end = bytes.IndexByte(data[at:], '"')
		}
	}
	return len(data), nil
}

// where returns the pointer to the innermost value that begins before offset. It is best effort: the
// document may be broken before that.
func where(data []byte, offset int) string {
	dec := jsontext.NewDecoder(strings.NewReader(string(data)))
	path := ""
	for {
		if _, err := dec.ReadToken(); err != nil || dec.InputOffset() > int64(offset) {
			if err == nil {
				path = string(dec.StackPointer())
			}
			return path
		}
		path = string(dec.StackPointer())
	}
}

// explain turns an error of the library into a sentence that contains no value.
func explain(data []byte, err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return explainSyntax(syntax)
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return explainSemantic(semantic)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || len(strings.TrimSpace(string(data))) == 0 {
		return &Error{Msg: "is empty; give one JSON value"}
	}
	return &Error{Msg: "could not be read"}
}

func explainSyntax(e *jsontext.SyntacticError) error {
	out := &Error{Path: string(e.JSONPointer), Offset: e.ByteOffset}
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		out.Msg = "is given twice; give it once"
	case errors.Is(e.Err, jsontext.ErrNonStringName):
		out.Msg = "has a key that is not a string; write every key in double quotes"
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		out.Path, out.Msg = "", "ends before it is complete; close every string, array and object"
	case strings.Contains(text, "UTF-8"):
		out.Msg = "holds bytes that are not valid UTF-8; encode the text as UTF-8"
	case strings.Contains(text, "surrogate") || strings.Contains(text, "escape"):
		out.Msg = "holds an invalid escape sequence; write it as JSON does"
	case strings.Contains(text, "after top-level value"):
		out.Path, out.Msg = "", fmt.Sprintf("goes on after its value at byte %d; give exactly one value", e.ByteOffset)
	case strings.Contains(text, "in string"):
		out.Msg = "holds a raw control character; escape it as JSON does"
	default:
		out.Path = ""
		out.Msg = fmt.Sprintf("is not valid JSON at byte %d; check quotes, commas and braces there", e.ByteOffset)
	}
	return out
}

func explainSemantic(e *json.SemanticError) error {
	out := &Error{Path: string(e.JSONPointer), Offset: e.ByteOffset}
	own, isOwn := errors.AsType[*Error](e.Err)
	switch {
	case isOwn:
		out.Path += own.Path
		out.Msg = own.Msg
	case errors.Is(e.Err, json.ErrUnknownName):
		out.Msg = "is not known"
		if names := fieldNames(e.GoType); len(names) > 0 {
			out.Msg += "; known here are " + strings.Join(names, ", ")
		}
	case e.GoType != nil && wanted(e.GoType) != given(e.JSONKind):
		out.Msg = "must be " + wanted(e.GoType) + ", not " + given(e.JSONKind)
	case e.GoType != nil && isInteger(e.GoType):
		out.Msg = "must be a whole number within range"
	default:
		out.Msg = "has a value that is not allowed here"
	}
	return out
}

// fieldNames returns the JSON names of a struct's fields. Those of an embedded struct stand beside
// its own.
func fieldNames(t reflect.Type) []string {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case name != "":
			names = append(names, name)
		case f.Anonymous:
			names = append(names, fieldNames(f.Type)...)
		default:
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

func isInteger(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr
}

// wanted names what a Go type is decoded from, in words for a person.
func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		if isInteger(t) {
			return "a number"
		}
		return "another kind of value"
	}
}

// given names a JSON kind, in words for a person.
func given(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{', '}':
		return "an object"
	case '[', ']':
		return "a list"
	default:
		return "something else"
	}
}

// shorten keeps a hostile pointer from filling a line, since keys may be any text.
func shorten(path string) string {
	const most = 200
	if len(path) <= most {
		return path
	}
	cut := strings.ToValidUTF8(path[:most], "")
	return cut + "…"
}
