package terminal

import (
	"os"
	"strings"
	"testing"
)

func TestWhatOthersWroteStaysOnItsLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		most int
		want string
	}{
		{"rm -rf x", 8, "rm -rf x"},
		{"rm -rf xy", 8, "rm -rf …"},
		{" a\nb\r\n\tc ", 20, "a b c"},
		{"àèìòù", 5, "àèìòù"},
		{"àèìòùx", 5, "àèìò…"},
		{"", 5, ""},
	} {
		if got := OneLine(tt.text, tt.most); got != tt.want {
			t.Errorf("%q in %d characters is %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
	for _, hidden := range []string{"a\x1b[2Kb", "a\x07b", "a\u202eb", "a\u200bb", "a\x9bb"} {
		got := OneLine(hidden, 40)
		if strings.ContainsAny(got, "\x1b\x07\u202e\u200b\u009b") || !strings.Contains(got, "⟨") {
			t.Errorf("%q is shown as %q", hidden, got)
		}
	}
}

func TestColumnsAreAligned(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := Table(&out, "NAME\tUSER\nann\t1\nbartholomew\t2\n"); err != nil || out.String() != "NAME         USER\nann          1\nbartholomew  2\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	if Is(f) || Is(nowhere) || Is(new(strings.Builder)) {
		t.Error("a file, a text, or what forgets everything is taken for a terminal")
	}
	// Pseudo-terminals are not available everywhere.
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer ptmx.Close()
	if !Is(ptmx) {
		t.Error("a terminal is taken for none")
	}
}

func TestWordsOfATable(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 calls", 1: "1 call", 2: "2 calls"} {
		if got := Counted(n, "call", "calls"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	for in, want := range map[string]string{"It is so": "It is so.", "It is so.": "It is so.", "Is it?": "Is it?"} {
		if got := Sentence(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	var out strings.Builder
	if err := JSON(&out, map[string]int{"a": 1}); err != nil || out.String() != "{\"a\":1}\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := JSON(&out, func() {}); err == nil {
		t.Error("what is not JSON was written")
	}
}
