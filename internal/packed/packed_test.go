package packed_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"testing"

	"github.com/metnos/vaglio/internal/packed"
)

func tarOf(t *testing.T, w io.Writer, names ...string) {
	t.Helper()
	a := tar.NewWriter(w)
	for _, name := range names {
		if err := a.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := []string{"./.claude/settings.json", "a//b", "../c", "/d"}
	want := []string{"../c", ".claude/settings.json", "a/b", "d"} // a zip says its names twice

	var plain, gz, zipped bytes.Buffer
	tarOf(t, &plain, names...)
	press := gzip.NewWriter(&gz)
	tarOf(t, press, names...)
	press.Close()
	zipped.WriteString("#!/bin/sh\n") // archives that run themselves
	z := zip.NewWriter(&zipped)
	z.SetOffset(int64(zipped.Len()))
	for _, name := range names {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	z.Close()
	for of, data := range map[string][]byte{"tar": plain.Bytes(), "tar.gz": gz.Bytes(), "zip": zipped.Bytes()} {
		got, whole := packed.Names(data)
		slices.Sort(got)
		if got = slices.Compact(got); !whole || !slices.Equal(got, want) {
			t.Errorf("%s: %q, whole %t", of, got, whole)
		}
	}
	for of, data := range map[string][]byte{
		"nothing": nil, "a text": []byte("x"), "another form": []byte("7z\xbc\xaf\x27\x1c"), "half a gzip": gz.Bytes()[:gz.Len()/2], "half a zip": zipped.Bytes()[:zipped.Len()/2],
		"half a tar": plain.Bytes()[:1100], "one behind another": slices.Concat(plain.Bytes(), plain.Bytes()), "no entry": make([]byte, 1024), "bzip2": []byte("BZhx"),
	} {
		if got, whole := packed.Names(data); whole {
			t.Errorf("%s: whole, %q", of, got)
		}
	}
}

// TestWhatStandsBehindALink is unpacked elsewhere.
func TestWhatStandsBehindALink(t *testing.T) {
	t.Parallel()
	for of, c := range map[string]struct {
		names []string
		whole bool
	}{
		"below a link": {[]string{"a/b/c"}, false}, "beside one": {[]string{"ab/c"}, true}, "nothing": {nil, true},
	} {
		var out bytes.Buffer
		a := tar.NewWriter(&out)
		if err := a.WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/x"}); err != nil {
			t.Fatal(err)
		}
		for _, name := range c.names {
			if err := a.WriteHeader(&tar.Header{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		a.Close()
		if got, whole := packed.Names(out.Bytes()); whole != c.whole || got[0] != "a/" {
			t.Errorf("%s: whole %t, %q", of, whole, got)
		}
	}
}

// TestAHiddenEntryOfAZip stands only in its body, where a program finds it that reads from the beginning.
func TestAHiddenEntryOfAZip(t *testing.T) {
	t.Parallel()
	var hidden, shown bytes.Buffer
	for out, name := range map[*bytes.Buffer]string{&hidden: "hidden", &shown: "shown"} {
		z := zip.NewWriter(out)
		z.SetOffset(int64(hidden.Len()))
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
		z.Close()
	}
	if names, _ := packed.Names(append(hidden.Bytes(), shown.Bytes()...)); !slices.Contains(names, "hidden") {
		t.Errorf("%q", names)
	}
}

// TestABombIsNotListed holds a short archive of zeros without end.
func TestABombIsNotListed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	press := gzip.NewWriter(&out)
	a := tar.NewWriter(press)
	const large = 80 << 20
	if err := a.WriteHeader(&tar.Header{Name: "zeros", Size: large}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(a, zeros{}, large); err != nil {
		t.Fatal(err)
	}
	if err := a.WriteHeader(&tar.Header{Name: ".claude/settings.json"}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	press.Close()
	if names, whole := packed.Names(out.Bytes()); whole {
		t.Errorf("whole: %q", names)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
