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
// number that no double holds (1e999, 9007199254740993.0, a fraction of more
// digits than a double has) is kept as written.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v, canonical())
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
	if !held(text, f) {
		return marshalNumber(enc, n)
	}
	return enc.WriteToken(jsontext.Float(f))
}

// held reports whether the double stands for the number as it was written: it
// is equal, or it is a fraction in no more digits than doubles are printed with.
func held(text string, f float64) bool {
	const mostDigits, exactBelow = 17, 1 << 53
	digits, exponent := decimal(text)
	if len(digits) <= mostDigits && math.Abs(f) < exactBelow {
		return true
	}
	nearest, at := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	return digits == nearest && exponent == at
}

// decimal splits a number into its digits, without zeros around them, and the
// power of ten of the last one.
func decimal(number string) (digits string, exponent int) {
	m, e, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	exponent, _ = strconv.Atoi(e) // none is 0; one that no int holds is no double's
	whole, fraction, _ := strings.Cut(m, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	short := strings.TrimRight(digits, "0")
	return short, exponent + len(digits) - len(short)
}

func mantissa(number string) string {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return digits
}
