package strictjson

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical encodes v in the canonical form of RFC 8785, so that equal values have equal encodings.
// It departs from the RFC where that would make two different calls look alike: integers keep all
// their digits, even beyond 2^53, and a number that no double represents (1e999,
// 9007199254740993.0, a fraction with more digits than a double has) is kept as written.
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

// canonicalNumber encodes one number. It encodes a fraction in ECMAScript's form, with the library's
// own encoding of a float64.
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

// held reports whether the double represents the number as written: it is equal, or it is a fraction
// with no more digits than doubles are printed with.
func held(text string, f float64) bool {
	const mostDigits, exactBelow = 17, 1 << 53
	digits, exponent := decimal(text)
	if len(digits) <= mostDigits && math.Abs(f) < exactBelow {
		return true
	}
	nearest, at := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	return digits == nearest && exponent == at
}

// decimal splits a number into its digits, without leading and trailing zeros, and the power of ten
// of the last digit.
func decimal(number string) (digits string, exponent int) {
	m, e, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	exponent, _ = strconv.Atoi(e) // 0 if there is none; if no int holds it, no double does
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
