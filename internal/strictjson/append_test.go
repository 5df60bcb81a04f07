package strictjson

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A plan must write what the library writes, and what it leaves to the library must come from there.

type (
	within struct {
		A string  `json:"a,omitempty"`
		N *int    `json:"n,omitzero"`
		F float64 `json:"f"`
	}
	kept struct {
		Kept string `json:"kept"`
		More []any  `json:"more,omitzero"`
	}
	// Shared is embedded in another type.
	Shared struct {
		Name string `json:"name"`
		Last bool   `json:"last,omitzero"`
	}
	word   string
	shout  string
	secret struct{}
	tagged struct {
		Odd  int `json:"'odd name'"`
		Text int `json:",string"`
	}
	twice struct {
		Shared

		Name string `json:"name"`
	}
	whole struct {
		*Shared

		Text    string            `json:"text"`
		Word    word              `json:"word,omitzero"`
		Shout   shout             `json:"shout,omitempty"`
		Any     any               `json:"any"`
		Inner   within            `json:"within,omitzero"`
		Pointer *within           `json:"pointer,omitempty"`
		List    []within          `json:"list,omitempty"`
		Words   []word            `json:"words"`
		Map     map[string]within `json:"map,omitempty"`
		Texts   map[string]string `json:"texts"`
		Keyed   map[word]int      `json:"keyed,omitzero"`
		Numbers [2]int            `json:"numbers"`
		Bytes   []byte            `json:"bytes,omitempty"`
		At      time.Time         `json:"at,omitzero"`
		Then    *time.Time        `json:"then"`
		Number  Number            `json:"number"`
		Raw     jsontext.Value    `json:"raw,omitzero"`
		Small   uint8             `json:"small,omitzero"`
		Half    float32           `json:"half,omitzero"`
		Secret  secret            `json:"-"`
		Self    *whole            `json:"self,omitzero"`
		Held    []*kept           `json:"held,omitempty"`
		Plain   int
		_       int
	}
)

// MarshalText returns the text in upper case.
func (s *shout) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(*s))), nil }

// library returns what the library itself writes for a value.
func library(v any, lossy bool) ([]byte, error) {
	return json.Marshal(v, (&writer{lossy: lossy}).options())
}

func TestPlansWriteWhatTheLibraryWrites(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 3000 {
		var v whole
		fill(r, reflect.ValueOf(&v).Elem(), 3)
		for _, lossy := range []bool{false, true} {
			want, wantErr := library(v, lossy)
			got, err := write([]byte("before"), v, lossy)
			rest, whole := strings.CutPrefix(string(got), "before")
			if !whole || (err == nil) != (wantErr == nil) || err == nil && rest != string(want) {
				t.Fatalf("lossy %t: %s, %v\nwant %s, %v", lossy, got, err, want, wantErr)
			}
			if err != nil {
				failed++
			}
		}
	}
	if failed == 0 || failed > 5000 {
		t.Errorf("%d of 6000 could not be written: the values try too little", failed)
	}
}

func TestPlansLeaveToTheLibraryWhatItKnows(t *testing.T) {
	t.Parallel()
	loop := &whole{}
	loop.Self = loop
	deep := any("end")
	for range 500 {
		deep = []any{deep}
	}
	at := time.Date(2026, 11, 23, 8, 0, 0, 5, time.FixedZone("", 3600))
	far := time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	loud := shout("a")
	for name, v := range map[string]any{
		"nothing": nil, "loop": loop, "deep": deep, "tags": tagged{1, 2}, "twice": twice{Shared{"a", true}, "b"},
		"zone": at, "far": far, "duration": time.Second, "text method": loud, "its pointer": &loud,
		"no number": math.NaN(), "function": func() {}, "number": Number("01"), "number in space": Number(" 1"),
		"word as number": Number("true"), "text as number": Number(`"1"`), "negative": Number("-0"), "exponent": Number("1e5"),
		"a point": Number("1."), "long": Number(strings.Repeat("9", 60)), "int keys": map[int]string{1: "a"},
		"not UTF-8": "\xff", "name not UTF-8": map[string]any{"\xfe": 1, "\xff": 2}, "chan": struct{ C chan int }{},
		"empty": struct{}{}, "list": []string(nil), "map": map[string]any(nil), "small": 1e-7, "large": -1e21, "zero": math.Copysign(0, -1),
	} {
		for _, lossy := range []bool{false, true} {
			want, wantErr := library(v, lossy)
			got, err := write(nil, v, lossy)
			if (err == nil) != (wantErr == nil) || err == nil && string(got) != string(want) {
				t.Errorf("%s, lossy %t: %s, %v, want %s, %v", name, lossy, got, err, want, wantErr)
			}
		}
	}
}

func TestPlansAreMadeByMany(t *testing.T) {
	t.Parallel()
	type fresh struct {
		Self  *fresh           `json:"self,omitzero"`
		Below map[string]fresh `json:"below"`
	}
	done := make(chan string)
	for range 8 {
		go func() {
			b, err := Marshal(fresh{Self: &fresh{}, Below: map[string]fresh{"a": {}}})
			done <- string(b)
			if err != nil {
				done <- err.Error()
			}
		}()
	}
	for range 8 {
		if got, want := <-done, `{"self":{"below":{}},"below":{"a":{"below":{}}}}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestManyWriteAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), 2000)
			for range 2000 {
				if b, err := Marshal(within{A: text}); err != nil || string(b) != `{"a":"`+text+`","f":0}` {
					t.Errorf("%v: %.80s", err, b)
					return
				}
			}
		})
	}
	all.Wait()
}

// fill fills a value with something of everything that its type can hold.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	texts := []string{"", "", "a", "ä<&>", "\"\\\n\x01\u2028", "null", "\ufffd"}
	if r.IntN(60) == 0 {
		texts = []string{"\xffx"}
	}
	switch v.Interface().(type) {
	case time.Time:
		if r.IntN(3) > 0 {
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e9), r.Int64N(2)*r.Int64N(1e9)).In([]*time.Location{time.UTC, time.FixedZone("", -7200)}[r.IntN(2)])))
		}
		return
	case Number:
		v.SetString([]string{"", "0", "12", "-3", "1.50", "1e400", "9007199254740993", "18446744073709551616"}[r.IntN(8)])
		return
	case jsontext.Value:
		v.Set(reflect.ValueOf(jsontext.Value([]string{"null", `{"a": [1 ]}`, `"x"`}[r.IntN(3)])))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(r.Int64() - r.Int64())
	case reflect.Uint8:
		v.SetUint(r.Uint64N(256))
	case reflect.Float64, reflect.Float32:
		v.SetFloat([]float64{0, 1, 0.1, 1.0 / 3, 1e20, 1e21, 1e-6, 9e-7, -2.5, 1777300000.125}[r.IntN(10)])
	case reflect.Struct:
		for _, of := range v.Fields() {
			if of.CanSet() {
				fill(r, of, depth-1)
			}
		}
	case reflect.Pointer:
		if depth > 0 && r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fill(r, v.Index(i), depth-1)
			}
		}
	case reflect.Array:
		fill(r, v.Index(0), depth)
	case reflect.Map:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for _, key := range slices.Sorted(slices.Values(texts)) {
				of := reflect.New(v.Type().Elem()).Elem()
				fill(r, of, depth-1)
				v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), of)
			}
		}
	case reflect.Interface:
		of := []any{nil, "b", true, Number("7"), map[string]any{}, []any{}, within{}, 4}[r.IntN(8)]
		switch of := of.(type) {
		case nil:
			return
		case map[string]any:
			m := reflect.ValueOf(&of).Elem()
			fill(r, m, depth)
			v.Set(m)
		case []any:
			l := reflect.ValueOf(&of).Elem()
			fill(r, l, depth)
			v.Set(l)
		default:
			v.Set(reflect.ValueOf(of))
		}
	default: // Other kinds stay empty.
	}
}
