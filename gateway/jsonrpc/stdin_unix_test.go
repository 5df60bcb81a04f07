//go:build unix

package jsonrpc

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A blocking pipe, such as a program's stdin, is read to its end without a thread of its own, and
// blocks again afterwards; anything but a pipe stays as it is.
func TestAwaited(t *testing.T) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	stdin, out := os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "out")
	defer stdin.Close()
	in, done := Awaited(stdin)
	f := in.(*os.File)
	defer f.Close()
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		t.Errorf("whoever reads it holds up a thread: %v", err)
	}
	go func() {
		_, _ = io.WriteString(out, "a message\n")
		_ = out.Close()
	}()
	if all, err := io.ReadAll(in); err != nil || string(all) != "a message\n" {
		t.Errorf("%q %v", all, err)
	}
	done()
	fd, err := syscall.Dup(ends[0])
	if err != nil {
		t.Fatal(err)
	}
	again := os.NewFile(uintptr(fd), "in")
	defer again.Close()
	if err := again.SetReadDeadline(time.Time{}); !errors.Is(err, os.ErrNoDeadline) {
		t.Errorf("it does not block any more: %v", err)
	}
	text := strings.NewReader("x")
	if in, done := Awaited(text); in != text {
		t.Errorf("%v", in)
	} else {
		done()
	}
	plain, err := os.Open("stdin_unix_test.go")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if in, done := Awaited(plain); in != plain {
		t.Errorf("%v", in)
	} else {
		done()
	}
}

// TestAwaitedBesideItsOutput uses one socket for both ends, as inetd does: writes to it must still
// wait for the reader.
func TestAwaitedBesideItsOutput(t *testing.T) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	stdin, client := os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "client")
	defer client.Close()
	defer stdin.Close()
	fd, err := syscall.Dup(ends[0])
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.NewFile(uintptr(fd), "out")
	defer stdout.Close()
	in, done := Awaited(stdin, io.Discard, stdout)
	defer done()
	if in != stdin {
		t.Errorf("its output waits no more: %v", in)
	}
	const size = 4 << 20 // more than a socket's buffer holds
	read := make(chan int64)
	go func() {
		n, _ := io.CopyN(io.Discard, client, size)
		read <- n
	}()
	if _, err := stdout.Write(make([]byte, size)); err != nil {
		t.Errorf("%v", err)
		_ = stdin.Close()
		_ = stdout.Close()
	}
	if n := <-read; n != size {
		t.Errorf("%d bytes arrived", n)
	}
}
