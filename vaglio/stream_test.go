package vaglio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge"
)

func streamEngine(t *testing.T) *vaglio.Engine {
	return build(t, vaglio.Config{
		Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: .6}},
		Catalog: known(t, catalog.Executor{
			Name:         "scoped",
			ArgsSchema:   map[string]any{"required": []any{"path"}},
			Capabilities: []catalog.Capability{{Name: "fs:read", Hint: []string{"/tmp/**"}}},
		}),
	})
}

func TestStream(t *testing.T) {
	in := strings.Join([]string{
		"\ufeff" + `{"executor":"a","args":{"path":"/tmp/x"}}`,
		``,
		`{"executor":"b","args":{"path":"/root"}}`,
		`{"executor":"c","args":"s3cr3t"}`,
		"   \t\r",
		`{"executor":"d","args":{"path":"../x"}}` + "\r",
		`nonsense`,
		`{"executor":"e","args":{"path":"` + strings.Repeat("x", 1<<20) + `"}}`,
		`{"executor":"scoped","args":{}}`,
		`{"executor":"scoped","args":{"path":"/var/x"}}`,
		`{"executor":"f","args":{"pad":"` + strings.Repeat("x", 200_000) + `"}}`,
		`{"executor":"g"}`,
	}, "\n")
	want := []string{
		`approved`, `guard`,
		`{"line":4,"error":{"kind":"input","field":"/args","message":"field \"/args\" must be an object that maps argument names to values"}}`,
		`judge`,
		`{"line":7,"error":{"kind":"input","field":"","message":"the JSON document is not valid JSON at byte 1; check quotes, commas and braces there"}}`,
		`{"line":8,"error":{"kind":"input","field":"","message":"the line is longer than 1 MiB; give a shorter one"}}`,
		`{"line":9,"error":{"kind":"schema","field":"/path","message":"field \"/path\" is missing; it is required"}}`,
		`{"line":10,"error":{"kind":"scope","field":"/path","message":"field \"/path\" is outside allowed scope: not in any of [/tmp/**]"}}`,
		`approved`, `approved`,
	}
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "byte_by_byte": iotest.OneByteReader(strings.NewReader(in)), "eof_with_data": iotest.DataErrReader(strings.NewReader(in))} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			tally, err := vaglio.Stream(t.Context(), streamEngine(t), r, &out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(vaglio.Tally{Approved: 3, Denied: 4, Unreadable: 3}, tally); diff != "" {
				t.Error(diff)
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				var v vaglio.Verdict
				if strings.HasPrefix(line, `{"approved"`) {
					if err := strictjson.UnmarshalLoose([]byte(line), &v); err != nil {
						t.Fatal(err)
					}
					line = string(v.BlockedBy)
					if v.Approved {
						line = "approved"
					}
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStreamLongestLine(t *testing.T) {
	line := func(n int) string {
		head, tail := `{"executor":"a","args":{"x":"`, `"}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	tests := map[string]struct {
		in   string
		want vaglio.Tally
	}{
		"just_fits":        {line(1<<20) + "\n", vaglio.Tally{Approved: 1}},
		"just_fits_at_end": {line(1 << 20), vaglio.Tally{Approved: 1}},
		"too_long":         {line(1<<20+1) + "\n" + line(100) + "\n", vaglio.Tally{Approved: 1, Unreadable: 1}},
		"too_long_at_end":  {line(1<<20 + 2), vaglio.Tally{Unreadable: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tally, err := vaglio.Stream(t.Context(), streamEngine(t), strings.NewReader(tt.in), io.Discard)
			if err != nil || tally != tt.want {
				t.Errorf("got %+v %v, want %+v", tally, err, tt.want)
			}
		})
	}
}

// TestStreamAnswersWhileInputIsOpen talks line by line.
func TestStreamAnswersWhileInputIsOpen(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	e, done := newEngine(t, .3), make(chan error, 1)
	go func() {
		_, err := vaglio.Stream(t.Context(), e, inR, outW)
		outW.Close()
		done <- err
	}()
	for i := range 3 {
		if _, err := fmt.Fprintf(inW, `{"executor":"x%d"}`+"\n", i); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 4096)
		n, err := outR.Read(line) // blocks forever if the answer is held back
		if err != nil {
			t.Fatal(err)
		}
		var v vaglio.Verdict
		if err := strictjson.UnmarshalLoose(line[:n], &v); err != nil || !v.Approved {
			t.Errorf("%v %+v", err, v)
		}
	}
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestStreamErrors(t *testing.T) {
	broken := errors.New("broken")
	e := newEngine(t, .3)
	line := `{"executor":"x"}` + "\n"
	if tally, err := vaglio.Stream(t.Context(), e, io.MultiReader(strings.NewReader(line), iotest.ErrReader(broken)), io.Discard); !errors.Is(err, broken) || tally.Approved != 1 {
		t.Errorf("reading: %v %+v", err, tally)
	}
	if _, err := vaglio.Stream(t.Context(), e, strings.NewReader(line), failing{broken}); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := vaglio.Stream(ctx, e, strings.NewReader(line), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// proposals is an input of many proposals that watches the heap.
type proposals struct {
	left, total int
	rest        []byte
	early, late uint64
}

func (p *proposals) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		if p.left == 0 {
			p.late = heap()
			return 0, io.EOF
		}
		if p.left == p.total*9/10 {
			p.early = heap()
		}
		p.left--
		p.rest = fmt.Appendf(p.rest[:0], `{"executor":"fs_read","intent":"read %d","args":{"path":"/nowhere/%d","n":%d,"list":["a","b",{"c":"%s"}]}}`+"\n",
			p.left, p.left, p.left, strings.Repeat("x", p.left%200))
		if p.left%1000 == 0 {
			p.rest = fmt.Appendf(p.rest[:0], `{"executor":%d}`+"\n", p.left)
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestStreamKeepsMemoryConstant(t *testing.T) {
	race.Alone(t)
	total, slack := 100_000, uint64(1<<20) // a dozen bytes kept per line would show
	if testing.Short() {
		total, slack = total/4, slack/4
	}
	in := &proposals{left: total, total: total}
	tally, err := vaglio.Stream(t.Context(), newEngine(t, .3), in, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if want := (vaglio.Tally{Approved: total - total/1000, Unreadable: total / 1000}); tally != want {
		t.Errorf("got %+v, want %+v", tally, want)
	}
	if in.early == 0 || in.late > in.early+slack {
		t.Errorf("live heap grew from %d to %d bytes within %d lines", in.early, in.late, total*9/10)
	}
}

// endless is an input of a single very long line.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range b {
		b[i] = 'x'
	}
	e.left -= len(b)
	return len(b), nil
}

func TestStreamDoesNotBufferAnEndlessLine(t *testing.T) {
	var before, after runtime.MemStats
	engine := newEngine(t, .3) // the first one reads the tables
	runtime.ReadMemStats(&before)
	tally, err := vaglio.Stream(t.Context(), engine, &endless{256 << 20}, io.Discard)
	runtime.ReadMemStats(&after)
	if err != nil || tally.Unreadable != 1 {
		t.Errorf("got %+v %v", tally, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated for one bad line", grown)
	}
}

func BenchmarkStream(b *testing.B) {
	line := `{"executor":"fs_read","intent":"read my notes","args":{"path":"/tmp/n.txt"}}` + "\n"
	e := newEngine(b, .3)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := vaglio.Stream(b.Context(), e, strings.NewReader(line), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
