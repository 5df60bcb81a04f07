package web

import (
	"strings"
	"testing"
)

// TestASealHoldsWhatWasSealed checks that what a browser brings back is accepted only as
// this instance sealed it for its purpose. Every flaw gets the same refusal, and nothing is
// read.
func TestASealHoldsWhatWasSealed(t *testing.T) {
	sealerOf := func(first byte, purpose string) sealer {
		s, err := newSealer([32]byte{first}, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	type note struct {
		Text string `json:"text"`
	}
	sealed := func(s sealer, text string) string {
		out, err := s.seal(note{text})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	own := sealerOf(1, "told/v1")
	good, longer := sealed(own, "to /inbox"), sealed(own, "to /inbox/history")
	body, mac, _ := strings.Cut(good, ".")
	otherBody, _, _ := strings.Cut(longer, ".")
	// At most 4096 characters are read.
	long := func(length int) string {
		for n := length / 2; ; n++ {
			if text := sealed(own, strings.Repeat("x", n)); len(text) >= length {
				return text
			}
		}
	}
	if n := len(long(4096)); n != 4096 {
		t.Fatalf("the longest is %d long", n)
	}
	for name, row := range map[string]struct {
		text string
		want bool
	}{
		"as sealed":           {good, true},
		"the longest":         {long(4096), true},
		"longer":              {long(4097), false},
		"nothing":             {"", false},
		"no seal":             {body, false},
		"an empty seal":       {body + ".", false},
		"another's body":      {otherBody + "." + mac, false},
		"a body of no text":   {"!" + good, false},
		"a body and no text":  {body + "!." + mac, false},
		"a whole body, more":  {strings.Replace(sealed(own, "to /inbox/"), ".", "!.", 1), false}, // nothing of it is cut short
		"a seal and no text":  {good + "!", false},
		"a seal of no text":   {body + ".!" + mac, false},
		"a cut seal":          {good[:len(good)-2], false},
		"with something more": {good + "AA", false},
		"another purpose":     {sealed(sealerOf(1, "reads/v1"), "to /inbox"), false},
		"another instance":    {sealed(sealerOf(2, "told/v1"), "to /inbox"), false},
	} {
		var got note
		if ok := own.open(row.text, &got); ok != row.want || (got.Text != "") != row.want {
			t.Errorf("%s: %t, read %q", name, ok, got.Text)
		}
	}
	if text, err := own.seal(make(chan int)); err == nil || text != "" {
		t.Errorf("what cannot be written was sealed as %q: %v", text, err)
	}
}
