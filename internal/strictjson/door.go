package strictjson

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// This package is the only one that uses the library, which is still experimental: if the library
// changes or moves into the standard library, nothing else has to change.
type (
	// Value is JSON as it was written.
	Value = jsontext.Value
	// Decoder is what a type's UnmarshalJSONFrom reads from.
	Decoder = jsontext.Decoder
	// Encoder is what a type's MarshalJSONTo writes to.
	Encoder = jsontext.Encoder
)

// UnmarshalLoose decodes what another program wrote, which may contain more than v has room for: it
// ignores unknown members, and a number in a value of type any becomes a float64. Its errors are the
// library's, and may quote the document.
func UnmarshalLoose(data []byte, v any) error { return json.Unmarshal(data, v) }

// ReadLoose is [UnmarshalLoose] for a whole stream.
func ReadLoose(r io.Reader, v any) error { return json.UnmarshalRead(r, v) }

// UnmarshalStored decodes what this program wrote. It is like [Unmarshal] without the limits on
// depth and characters: these were enforced when the value came in, and would be measured from
// another root here. Its errors may quote the document; [Mistake] returns what may be told about
// them.
func UnmarshalStored(data []byte, v any) error {
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true), reading())
}

// Mistake returns the byte offset of an error from [UnmarshalLoose] or [UnmarshalStored], and
// whether the document is invalid JSON there or only not what was expected. known is false for
// other errors.
func Mistake(err error) (at int64, syntax, known bool) {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return e.ByteOffset, false, true
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return e.ByteOffset, true, true
	}
	return 0, false, false
}

// MarshalWrite is [Marshal] to w.
func MarshalWrite(w io.Writer, v any) error { return json.MarshalWrite(w, v, writing()) }

// MarshalLossy is [Marshal] for text that may not be UTF-8: invalid bytes become the replacement
// character.
func MarshalLossy(v any) ([]byte, error) {
	return fresh(v, true)
}

// MarshalIndent is [Marshal] with line breaks and indentation.
func MarshalIndent(v any) ([]byte, error) {
	return json.Marshal(v, writing(), jsontext.WithIndent("  "))
}

// Indent adds line breaks and indentation to JSON.
func Indent(data []byte) ([]byte, error) {
	lines := Value(data).Clone()
	return lines, lines.Indent(jsontext.WithIndent("  "))
}
