package strictjson

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical encodes v in the canonical form of RFC 8785, so that equal values
// give equal bytes. It departs from the RFC where the RFC lets two different
// calls look alike: integers keep all their digits, also beyond 2^53, and a
// fraction that no double can hold even roughly (1e999) is kept as written.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v, json.WithMarshalers(json.MarshalToFunc(canonicalNumber)))
	if err != nil {
		return nil, fmt.Errorf("strictjson: canonical form: %w", err)
	}
	form := jsontext.Value(raw)
	if err := form.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return nil, fmt.Errorf("strictjson: canonical form: %w", err)
	}
	return form, nil
}

// canonicalNumber writes one number. A fraction takes the shape that
// ECMAScript gives it, through the library's own encoding of a float64.
func canonicalNumber(enc *jsontext.Encoder, n Number) error {
	text := string(n)
	if text == "-0" {
		text = "0"
	}
	if !strings.ContainsAny(text, ".eE") {
		return marshalNumber(enc, Number(text))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || (f == 0 && strings.ContainsAny(mantissa(text), "123456789")) {
		return marshalNumber(enc, n)
	}
	if f == 0 {
		return enc.WriteToken(jsontext.Int(0))
	}
	return enc.WriteToken(jsontext.Float(f))
}

func mantissa(number string) string {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return digits
}
