package strictjson

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// This package is the one door to the library, which is still an experiment:
// when it changes, or moves into Go's own, nothing else has to.
type (
	// Value is JSON as it was written.
	Value = jsontext.Value
	// Decoder is what a type's UnmarshalJSONFrom reads.
	Decoder = jsontext.Decoder
	// Encoder is what a type's MarshalJSONTo writes to.
	Encoder = jsontext.Encoder
)

// UnmarshalLoose decodes what another program wrote, which may say more than v
// has room for: unknown members pass, and a number in a value of type any is a
// float64. Its errors are the library's, and may quote the document.
func UnmarshalLoose(data []byte, v any) error { return json.Unmarshal(data, v) }

// ReadLoose is [UnmarshalLoose] over a whole stream.
func ReadLoose(r io.Reader, v any) error { return json.UnmarshalRead(r, v) }

// UnmarshalStored decodes what this program wrote: like [Unmarshal], without its
// bounds on depth and characters, which were held when the value came in and
// count from another root here. Its errors may quote the document; [Mistake]
// gives what can be told of them.
func UnmarshalStored(data []byte, v any) error {
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true), reading())
}

// Mistake says at which byte an error of [UnmarshalLoose] or [UnmarshalStored]
// lies, and whether the document is no JSON there or only not what was
// expected. It knows no other errors.
func Mistake(err error) (at int64, syntax, known bool) {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return e.ByteOffset, false, true
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return e.ByteOffset, true, true
	}
	return 0, false, false
}

// MarshalWrite is [Marshal] into w.
func MarshalWrite(w io.Writer, v any) error { return json.MarshalWrite(w, v, writing()) }

// MarshalLossy is [Marshal] for text that may not be UTF-8: what is not becomes
// the replacement character.
func MarshalLossy(v any) ([]byte, error) {
	return fresh(v, true)
}

// MarshalIndent is [Marshal] in the lines that people read.
func MarshalIndent(v any) ([]byte, error) {
	return json.Marshal(v, writing(), jsontext.WithIndent("  "))
}

// Indent breaks JSON into the lines that people read.
func Indent(data []byte) ([]byte, error) {
	lines := Value(data).Clone()
	return lines, lines.Indent(jsontext.WithIndent("  "))
}
