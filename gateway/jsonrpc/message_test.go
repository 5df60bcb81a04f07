package jsonrpc

import (
	"bytes"
	"encoding/json" //nolint:depguard // It stands for another reader.
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1.50},"later":[1]}`: `a id=1 {"x":1.50}`,
		`{"jsonrpc":"2.0","id":"1","method":"a"}`:                               `a id="1" `,
		`{"jsonrpc":"2.0","method":"a"}`:                                        `a id=null `,
		`{"jsonrpc":"2.0","id":9007199254740993,"result":null}`:                 ` id=9007199254740993 `,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1}}`:                        ` id=null `,

		`{"jsonrpc":"2.0","id":null,"method":"a"}`:                               "neither a text nor a whole number",
		`{"jsonrpc":"2.0","id":1.0,"method":"a"}`:                                "neither a text nor a whole number",
		`{"jsonrpc":"2.0","id":true,"method":"a"}`:                               "neither a text nor a whole number",
		`{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`:                     "given twice",
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1,"\u0078":2}}`:      "given twice",
		`{"jsonrpc":"2.0","id":1,"method":"a","params":[{"y":[{"x":1,"x":2}]}]}`: "given twice",
		`{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}`:                     `spells "method"`,
		`{"jsonrpc":"2.0","id":1,"method":"a","param\u017f":{}}`:                 `spells "params"`,
		`{"jsonrpc":"2.0","id":1,"method":"a","result":1}`:                       "neither a request nor a response",
		`{"jsonrpc":"2.0","id":1}`:                                               "neither a request nor a response",
		`{"jsonrpc":"2.0","id":1,"method":""}`:                                   "not a text",
		`{"jsonrpc":"2.0","id":1,"method":["a"]}`:                                "not a text",
		`{"jsonrpc":"1.0","id":1,"method":"a"}`:                                  `"jsonrpc"`,
		`{"id":1,"method":"a"}`:                                                  `"jsonrpc"`,
		`{"jsonrpc":"2.0","id":1,"method":"a"} x`:                                "cannot be read",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}":                     "cannot be read",
		`[]`: "not a JSON object",
		``:   "not a JSON object",
	} {
		m, err := Parse([]byte(in))
		got := m.Method + " id=" + m.ID.Raw() + " " + string(m.Params)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestIDsAreEqualAsTheyMean(t *testing.T) {
	t.Parallel()
	key := func(raw string) string {
		id, err := ParseID([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return id.Key()
	}
	if key(`"a"`) != key(`"\u0061"`) || key(`1`) == key(`"1"`) || key(`"1"`) == key(`"\"1"`) {
		t.Error("ids are mixed up")
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	all, ok, err := Batch([]byte(` [{"a":1}, {"b":2}]`))
	if err != nil || !ok || len(all) != 2 || string(all[1]) != `{"b":2}` {
		t.Errorf("%q %v %v", all, ok, err)
	}
	for _, bad := range []string{`[]`, `[{"a":1,"a":2}]`, `[1`} {
		if _, ok, err := Batch([]byte(bad)); !ok || err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if _, ok, _ := Batch([]byte(`{}`)); ok {
		t.Error("an object is not a batch")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	r := NewReader(strings.NewReader("one\n\n \r\n" + strings.Repeat("x", 100<<10) + "\n" + strings.Repeat("y", 300<<10) + "\nlast"))
	r.max = 200 << 10
	var got []string
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line = []byte(err.Error())
		}
		got = append(got, string(line[:min(len(line), 4)]))
	}
	if strings.Join(got, " ") != "one xxxx is l last" {
		t.Errorf("%q", got)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := errors.Join(w.Send(Response(ID{}, []byte(`{}`))), w.Send(Failure(ID{`"é"`, ""}, CodeParse, "a\nb\xff"))); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("writes %q", line)
		}
	}
}

// FuzzParse compares what is accepted with another reader, encoding/json, which ignores letter
// case and takes the last of duplicate keys.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"tools":[]}}`, `{"jsonrpc":"2.0","id":1,"Method":"a","method":"b"}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}`, `[{"jsonrpc":"2.0"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		var other struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(data, &other); err != nil {
			t.Fatalf("another reader refuses: %v", err)
		}
		if other.Method != m.Method || !bytes.Equal(other.Params, m.Params) && m.Params.Kind() != 'n' {
			t.Errorf("reads %q %s, another %q %s", m.Method, m.Params, other.Method, other.Params)
		}
		if m.ID.Given() && string(other.ID) != m.ID.Raw() {
			t.Errorf("the id is %s, another reads %s", m.ID.Raw(), other.ID)
		}
	})
}

// The end of the input and an error in it are reported; a line that is too long is answered where
// that is possible.
func TestEachLine(t *testing.T) {
	t.Parallel()
	const text = "a\n\nlonger\nb"
	for answers, want := range map[bool]string{true: "a|the answer|b", false: "a"} {
		r := NewReader(strings.NewReader(text))
		r.max = len("long")
		var got []string
		var answer func([]byte)
		if answers {
			answer = func(m []byte) {
				if strings.Contains(string(m), "-32600") && strings.Contains(string(m), "longer than") {
					got = append(got, "the answer")
				}
			}
		}
		err := r.Each(func(line []byte) { got = append(got, strings.TrimSpace(string(line))) }, answer)
		if s := strings.Join(got, "|"); s != want || (err == nil) != answers {
			t.Errorf("%s, %v", s, err)
		}
	}
	broken := NewReader(iotest.ErrReader(io.ErrUnexpectedEOF))
	if err := broken.Each(func([]byte) { t.Error("a line") }, func([]byte) { t.Error("an answer") }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// Object copies no values, and appending to one leaves the message unchanged.
func TestObjectLeavesTheMessageAlone(t *testing.T) {
	const text = ` {"a" : [1, "]"] ,"\u0062":{"c":"}"}, "d":null,"e":-1.50e3 } `
	data := []byte(text)
	all, err := Object(data, "a")
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	for name, want := range map[string]string{"a": `[1, "]"]`, "b": `{"c":"}"}`, "d": "null", "e": "-1.50e3"} {
		if got := string(all[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		_ = append(all[name], "!!!!"...)
	}
	if string(data) != text {
		t.Errorf("the message became %s", data)
	}
	for _, bad := range []string{`{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":1}{}`, `{"a":1`, `{"a"}`, `{"a":1,}`, `{1:2}`, "{\"a\":\"\xff\"}"} {
		if all, err := Object([]byte(bad)); err == nil {
			t.Errorf("%s is read as %v", bad, all)
		}
	}
}

// TestAMessageIsOneLineToEveryReader checks that readers that end lines at more than a line
// feed, as Python's and Node's do, read the message that was written and no other.
func TestAMessageIsOneLineToEveryReader(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/x","params":` + "\r" + call + "\r}",
		"\r" + call + "\r\r",
		"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[\"\u2028[1]\u2029[2]\u0085[3]\u00854\"]}",
		`{"jsonrpc":"2.0","method":"x","params":["\\\r","é \u2028"]}`,
	} {
		var out bytes.Buffer
		if err := NewWriter(&out).Send([]byte(message)); err != nil {
			t.Fatal(err)
		}
		line, ended := strings.CutSuffix(out.String(), "\n")
		if !ended || strings.ContainsAny(line, "\n\r\v\f\u0085\u2028\u2029") {
			t.Errorf("%q is written as %q", message, out.String())
		}
		var before, after any
		if json.Unmarshal([]byte(message), &before) != nil || json.Unmarshal([]byte(line), &after) != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q", message, line)
		}
	}
}
