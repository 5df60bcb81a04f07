package strictjson

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Path string `json:"path"`
	N    int    `json:"n,omitzero"`
}

type document struct {
	Name  string         `json:"name"`
	Inner inner          `json:"inner,omitzero"`
	Any   any            `json:"any,omitzero"`
	Map   map[string]any `json:"map,omitzero"`
	Flag  *bool          `json:"flag,omitzero"`
	List  []string       `json:"list,omitzero"`
}

func TestUnmarshalKeepsEveryDigit(t *testing.T) {
	var d document
	in := `{"name":"x","any":[9007199254740993,{"a":1.50}],"map":{"big":123456789012345678901234567890,"n":null,"t":true}}`
	if err := Unmarshal([]byte(in), &d); err != nil {
		t.Fatal(err)
	}
	want := document{
		Name: "x",
		Any:  []any{Number("9007199254740993"), map[string]any{"a": Number("1.50")}},
		Map:  map[string]any{"big": Number("123456789012345678901234567890"), "n": nil, "t": true},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	out, err := Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again document
	if err := Unmarshal(out, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Error(diff)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	deep := func(n int) string { return `{"any":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}" }
	tests := map[string]struct{ in, path, want string }{
		"duplicate":        {`{"name":"s3cr3t","name":"b"}`, "/name", `field "/name" is given twice; give it once`},
		"nested_duplicate": {`{"any":{"k":1,"k":2}}`, "/any/k", `field "/any/k" is given twice`},
		"unknown":          {`{"nome":"s3cr3t"}`, "/nome", `field "/nome" is not known; known here are any, flag, inner, list, map, name`},
		"unknown_nested":   {`{"inner":{"pfad":"s3cr3t"}}`, "/inner/pfad", `field "/inner/pfad" is not known; known here are n, path`},
		"case":             {`{"Name":"s3cr3t"}`, "/Name", `is not known`},
		"number_as_string": {`{"name":4711}`, "/name", `field "/name" must be a string, not a number`},
		"string_as_flag":   {`{"flag":"s3cr3t"}`, "/flag", `field "/flag" must be true or false, not a string`},
		"object_as_list":   {`{"list":{"a":1}}`, "/list", `field "/list" must be a list, not an object`},
		"list_item":        {`{"list":["a",4711]}`, "/list/1", `field "/list/1" must be a string, not a number`},
		"fraction_as_int":  {`{"inner":{"n":47.11}}`, "/inner/n", `field "/inner/n" must be a whole number within range`},
		"overflow":         {`{"inner":{"n":99999999999999999999}}`, "/inner/n", `must be a whole number within range`},
		"not_object":       {`["s3cr3t"]`, "", `the JSON document must be an object, not a list`},
		"trailing":         {`{"name":"a"} {"s3cr3t":1}`, "", `the JSON document goes on after its value at byte 13`},
		"half":             {`{"name":"s3cr3t`, "", `the JSON document ends before it is complete`},
		"empty":            {``, "", `the JSON document`},
		"blank":            {"  \n", "", `the JSON document`},
		"comma":            {`{"name":"s3cr3t",}`, "", `the JSON document is not valid JSON at byte`},
		"bare_word":        {`{"name":s3cr3t}`, "", `the JSON document is not valid JSON at byte`},
		"bad_utf8":         {"{\"name\":\"s3cr3t\xff\"}", "/name", `field "/name" holds bytes that are not valid UTF-8`},
		"lone_surrogate":   {`{"name":"s3cr3t\ud800"}`, "/name", `field "/name" holds an invalid escape sequence`},
		"raw_control":      {"{\"name\":\"s3cr3t\n\"}", "/name", `field "/name" holds a raw control character`},
		"raw_nul":          {"{\"name\":\"s3cr3t\x00\"}", "/name", `field "/name" holds a raw control character`},
		"nul":              {`{"name":"s3cr3t\u0000"}`, "/name", `field "/name" holds a NUL character`},
		"nul_in_key":       {`{"any":{"s\u0000":1}}`, "", `holds a NUL character`},
		"too_deep":         {deep(64), "", "nests deeper than 64 levels; flatten it"},
		"way_too_deep":     {deep(10_000), "", "nests deeper than 64 levels; flatten it"},
		"nan":              {`{"any":NaN}`, "", "is not valid JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var d document
			err := Unmarshal([]byte(tt.in), &d)
			got, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %T %v", err, err)
			}
			if tt.path != "" && got.Path != tt.path {
				t.Errorf("path %q, want %q", got.Path, tt.path)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "4711") || len(err.Error()) > 400 {
				t.Errorf("tells a value or too much: %q", err)
			}
		})
	}
}

// TestTheFieldsOfWhatIsEmbeddedAreKnown checks that an unknown field's error names the fields
// that the document may have, not the Go types that have them.
func TestTheFieldsOfWhatIsEmbeddedAreKnown(t *testing.T) {
	type Embedded struct {
		Path string `json:"path"`
	}
	var of struct {
		Embedded

		Answer string `json:"answer"`
		Bare   string
	}
	if err := Unmarshal([]byte(`{"nome":1}`), &of); err == nil || !strings.HasSuffix(err.Error(), "known here are Bare, answer, path") {
		t.Errorf("%v", err)
	}
}

func TestUnmarshalAccepts(t *testing.T) {
	for _, in := range []string{
		`{"any":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}",
		`{"name":"a backslash and digits: \\u0000"}`,
		`{"name":"[[[[ {{{{ \" [[["}`,
		" {\"name\":\"\u00e8\"}\r\n",
	} {
		var d document
		if err := Unmarshal([]byte(in), &d); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

type picky struct{}

func (p *picky) UnmarshalJSON(b []byte) error {
	if string(b) == `"plain"` {
		return errors.New("secret s3cr3t")
	}
	return &Error{Msg: "must be blue"}
}

func TestUnmarshalOwnWords(t *testing.T) {
	var d struct {
		A map[string]picky `json:"a"`
	}
	err := Unmarshal([]byte(`{"a":{"k":1}}`), &d)
	if err == nil || err.Error() != `field "/a/k" must be blue` {
		t.Errorf("got %v", err)
	}
	err = Unmarshal([]byte(`{"a":{"k":"plain"}}`), &d)
	if err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
}

func TestCanonical(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"order":      {`{"b":1,"a":{"d":[],"c":{}}}`, `{"a":{"c":{},"d":[]},"b":1}`},
		"utf16":      {`{"\ufb33":1,"\ud83d\ude00":2}`, "{\"\U0001F600\":2,\"\ufb33\":1}"},
		"big":        {`{"n":9007199254740993}`, `{"n":9007199254740993}`},
		"negzero":    {`{"n":[-0,-0.0,0e9]}`, `{"n":[0,0,0]}`},
		"float":      {`{"n":[1.0,1e2,4.50,2e-3,1E30,0.000001,1e-7,333333333.33333329]}`, `{"n":[1,100,4.5,0.002,1e+30,0.000001,1e-7,333333333.3333333]}`},
		"beyond":     {`{"n":[1e999,1e998,1e-999]}`, `{"n":[1e999,1e998,1e-999]}`},
		"notdoubles": {`{"n":[9007199254740993.0,1.00000000000000000001,12345678901234567e1,-9007199254740993e0]}`, `{"n":[9007199254740993.0,1.00000000000000000001,12345678901234567e1,-9007199254740993e0]}`},
		"doubles":    {`{"n":[9007199254740992.0,1e21,100000000000000000000.00,0.30000000000000004,123456789012345680.0,5e-324]}`, `{"n":[9007199254740992,1e+21,100000000000000000000,0.30000000000000004,123456789012345680,5e-324]}`},
		"escapes":    {`{"s":"\u20ac$\u000f\nA'B\"\\\/<>&\u2028"}`, "{\"s\":\"€$\\u000f\\nA'B\\\"\\\\/<>&\u2028\"}"},
		"whitespace": {" { \"a\" : [ 1 , 2 ] } ", `{"a":[1,2]}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var v any
			if err := Unmarshal([]byte(tt.in), &v); err != nil {
				t.Fatal(err)
			}
			got, err := Canonical(v)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := Canonical("\xff"); err == nil {
		t.Error("text that is not UTF-8 has no canonical form")
	}
	if _, err := Canonical(Number("1x")); err == nil {
		t.Error("a broken number has no canonical form")
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add(`{"b":[1,2.5,"x"],"a":null}`)
	f.Add(`[1e400,-0.0,12345678901234567890]`)
	f.Fuzz(func(t *testing.T, in string) {
		var v any
		if Unmarshal([]byte(in), &v) != nil {
			return
		}
		once, err := Canonical(v)
		if err != nil {
			t.Fatalf("no canonical form of %q: %v", in, err)
		}
		var again any
		if err := Unmarshal(once, &again); err != nil {
			t.Fatalf("canonical form %q is refused: %v", once, err)
		}
		twice, err := Canonical(again)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("not a fixed point: %q then %q (%v)", once, twice, err)
		}
		plain, err := Marshal(v)
		if err != nil || !Value(plain).IsValid() {
			t.Fatalf("cannot be written: %q %v", plain, err)
		}
	})
}

type Part struct {
	Path string `json:"path"`
	N    int    `json:"n,omitzero"`
}

// TestTheKnownNamesAreThoseOfTheDocument checks that an embedded struct is named by its fields.
func TestTheKnownNamesAreThoseOfTheDocument(t *testing.T) {
	var whole struct {
		Part
		Also string `json:"also"`
	}
	err := Unmarshal([]byte(`{"path":"x","alos":"y"}`), &whole)
	if want := `field "/alos" is not known; known here are also, n, path`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
