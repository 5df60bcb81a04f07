// Command splice forwards messages between an MCP client and its server without looking at them.
// It measures what any proxy costs at least. Its arguments are the server's command, or the
// server's URL: it then prints its own URL. With -ask before them, a second process that does
// nothing else must first say yes to each message of the client. That measures what asking any
// daemon costs at least.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// ask waits for a yes, if one is wanted. held is the input of the process that says it; the
// process exits when held is closed.
var (
	ask  = func() error { return nil }
	held io.Closer
)

func main() {
	runtime.GOMAXPROCS(1) // As in the proxy: a second thread would only add wake-ups.
	args := os.Args[1:]
	switch args[0] {
	case "-say-yes":
		log.Fatal(sayYes())
	case "-ask":
		args = args[1:]
		if err := askAnother(); err != nil {
			log.Fatal(err)
		}
	}
	if strings.HasPrefix(args[0], "http://") {
		log.Fatal(serve(args[0]))
	}
	if err := syscall.SetNonblock(0, true); err != nil { // Waiting for input then blocks no thread.
		log.Fatal(err)
	}
	in := os.NewFile(0, "stdin")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	to, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- pass(os.Stdout, from, func() error { return nil }) }()
	err = pass(to, in, func() error { return ask() })
	if err := errors.Join(err, to.Close(), <-done, cmd.Wait()); err != nil {
		log.Fatal(err)
	}
}

// askAnother starts the process that says yes, and sets ask to ask it over a socket.
func askAnother() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	other := exec.Command(program, "-say-yes")
	if held, err = other.StdinPipe(); err != nil {
		return err
	}
	out, err := other.StdoutPipe()
	if err != nil {
		return err
	}
	if err := other.Start(); err != nil {
		return err
	}
	path, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	conn, err := net.Dial("unix", strings.TrimSpace(path))
	if err != nil {
		return err
	}
	var one sync.Mutex
	ask = func() error {
		one.Lock()
		defer one.Unlock()
		if _, err := conn.Write([]byte("?")); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, 1))
		return err
	}
	return nil
}

// sayYes echoes every byte on its socket until its input ends.
func sayYes() error {
	dir, err := os.MkdirTemp("", "yes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		return err
	}
	fmt.Println(dir + "/s")
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		conn.Close()
	}()
	for b := make([]byte, 1); ; {
		if _, err := conn.Read(b); err != nil {
			return err
		}
		if _, err := conn.Write(b); err != nil {
			return err
		}
	}
}

// serve forwards what arrives at an address of its own.
func serve(upstream string) error {
	u, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", l.Addr(), u.Path)
	u.Path = ""
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) },
		ErrorLog: log.New(io.Discard, "", 0), // A client that disconnects breaks its stream off.
	}
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := ask(); err != nil {
			log.Fatal(err)
		}
		proxy.ServeHTTP(w, r)
	}))
}

// pass forwards each line that may says yes to.
func pass(to io.Writer, from io.Reader, may func() error) error {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = may()
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}
