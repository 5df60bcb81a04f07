package strictjson

import (
	"bytes"
	"strings"
	"testing"
)

func TestLooseLetsStrangersSayMore(t *testing.T) {
	var d struct {
		Name string `json:"name"`
	}
	const more = `{"name":"a","more":[1]}`
	if err := UnmarshalLoose([]byte(more), &d); err != nil || d.Name != "a" {
		t.Errorf("%v, %+v", err, d)
	}
	if err := ReadLoose(strings.NewReader(more), &d); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{"name":"a","name":"b"}`, "{\"name\":\"\xff\"}", `{"name":"a"} x`} {
		if UnmarshalLoose([]byte(bad), &d) == nil {
			t.Errorf("reads %q", bad)
		}
	}
}

func TestStoredKeepsDigitsAndDepth(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+6) + "9007199254740993" + strings.Repeat("]", MaxDepth+6)
	var d document
	if err := UnmarshalStored([]byte(`{"any":`+deep+`}`), &d); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := MarshalWrite(&out, d.Any); err != nil || out.String() != deep {
		t.Errorf("%v: %q", err, out.String())
	}
	if err := UnmarshalStored([]byte(`{"new":1}`), &d); err == nil {
		t.Error("reads a member that it would drop")
	}
}

func TestMistakeTellsThePlaceAlone(t *testing.T) {
	var d document
	tests := map[string]struct {
		in     string
		at     int64
		syntax bool
	}{
		"syntax":  {`{"name":"a",}`, 11, true},
		"another": {`{"name":4711}`, 8, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			at, syntax, known := Mistake(UnmarshalLoose([]byte(tt.in), &d))
			if at != tt.at || syntax != tt.syntax || !known {
				t.Errorf("byte %d, syntax %t, known %t", at, syntax, known)
			}
		})
	}
	if _, _, known := Mistake(nil); known {
		t.Error("nothing is a mistake")
	}
}

func TestLinesForPeople(t *testing.T) {
	v := map[string]any{"b": Number("1.50"), "a": "x\xff"}
	const want = "{\n  \"a\": \"x\ufffd\",\n  \"b\": 1.50\n}"
	if _, err := MarshalIndent(v); err == nil {
		t.Error("writes what is not UTF-8")
	}
	raw, err := MarshalLossy(v)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := Indent(raw)
	if err != nil || string(lines) != want {
		t.Errorf("%v: %q", err, lines)
	}
	v["a"] = "x\ufffd"
	if lines, err = MarshalIndent(v); err != nil || string(lines) != want {
		t.Errorf("%v: %q", err, lines)
	}
	if bytes.ContainsRune(raw, '\n') {
		t.Errorf("Indent writes into what it was given: %q", raw)
	}
}
