package wording_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio/wording"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	const one, both = "removes the volume %", "removes the volume % / removes the volumes %"
	for _, r := range []struct {
		message string
		things  []string
		form    string
		several string
	}{
		{one, nil, one, ""},
		{one, []string{"a", "b"}, one, ""},
		{both, nil, one, ""},
		{both, []string{"a b"}, one, ""},
		{both, []string{"a", "b"}, "removes the volumes %", "a, b"},
	} {
		if form, several := wording.Number(r.message, r.things); form != r.form || several != r.several {
			t.Errorf("%q of %q: %q of %q, want %q of %q", r.message, r.things, form, several, r.form, r.several)
		}
	}
}
