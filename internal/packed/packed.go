// Package packed lists what archives hold, without unpacking anything.
package packed

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// The limits: what an archive of more entries, or with more bytes once its compression is undone, holds
// is not known.
const (
	maxEntries = 20_000
	maxPlain   = 64 << 20
)

// Names returns the names under which the entries of an archive are unpacked: clean, with .. at the
// beginning where they lead out, and with a slash at the end if they are links, which may lead to anything.
// whole is false if the archive is in a form that is not known, damaged, holds more than is listed, or
// unpacks through links of its own.
func Names(data []byte) (names []string, whole bool) {
	in, begins := bytes.NewReader(data), func(mark string) bool { return bytes.HasPrefix(data, []byte(mark)) }
	switch {
	case begins("PK"): // whatever else it may be
	case begins("BZh"):
		return inTar(bzip2.NewReader(in))
	case begins("\x1f\x8b"):
		plain, err := gzip.NewReader(in)
		if err != nil {
			return nil, false
		}
		return inTar(plain)
	case isTar(data):
		return inTar(in)
	}
	return inZip(data)
}

// inTar is [Names] for a tar archive.
func inTar(plain io.Reader) (names []string, whole bool) {
	in := &io.LimitedReader{R: plain, N: maxPlain}
	for r := tar.NewReader(in); len(names) < maxEntries; {
		h, err := r.Next()
		if err != nil {
			return names, errors.Is(err, io.EOF) && len(names) > 0 && isZero(in) && in.N > 0 && !throughLinks(names)
		}
		name := clean(h.Name)
		if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink {
			name += "/"
		}
		names = append(names, name)
	}
	return names, false
}

// isZero reports whether only zeros are left: a program may be told to go on behind the end of an archive.
func isZero(in io.Reader) bool {
	const at = 32 << 10
	for b := make([]byte, at); ; {
		n, err := in.Read(b)
		if len(bytes.Trim(b[:n], "\x00")) > 0 {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// throughLinks reports whether an entry lies below one that is a link.
func throughLinks(names []string) bool {
	links := map[string]bool{}
	for _, name := range names {
		if link, is := strings.CutSuffix(name, "/"); is {
			links[link] = true
		}
	}
	for _, name := range names {
		for at := strings.TrimSuffix(name, "/"); len(links) > 0 && len(at) > 1; {
			if at = path.Dir(at); links[at] {
				return true
			}
		}
	}
	return false
}

// isTar reports whether data begins with the header of a tar archive.
func isTar(data []byte) bool {
	const mark = 257
	return len(data) > mark+5 && string(data[mark:mark+5]) == "ustar"
}

// inZip is [Names] for a zip archive, which may stand behind anything else. Programs read either its
// directory, at the end, or what stands before each entry, so both count.
func inZip(data []byte) (names []string, whole bool) {
	const nameLength, header = 26, 30
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) > maxEntries {
		return nil, false
	}
	for _, f := range r.File {
		name := clean(f.Name)
		if f.Mode()&fs.ModeSymlink != 0 {
			name += "/"
		}
		names = append(names, name)
	}
	for len(names) < 2*maxEntries {
		at := bytes.Index(data, []byte("PK\x03\x04"))
		if at < 0 || len(data) < at+header {
			return names, !throughLinks(names)
		}
		data = data[at:]
		if n := int(binary.LittleEndian.Uint16(data[nameLength:])); header+n <= len(data) {
			names = append(names, clean(string(data[header:header+n])))
		}
		data = data[header:]
	}
	return names, false
}

// clean returns the path that a name means; programs that unpack drop what makes it absolute.
func clean(name string) string {
	return path.Clean(strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/"))
}
