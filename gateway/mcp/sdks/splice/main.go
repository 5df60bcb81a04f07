// Command splice hands on what an MCP client and its server say, and looks at nothing: what
// it costs, everything costs that stands between them. Its arguments are the server's
// command, whose lines it hands on, or its URL: it then prints its own.
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
	"strings"
)

func main() {
	if strings.HasPrefix(os.Args[1], "http://") {
		log.Fatal(serve(os.Args[1]))
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
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
	go func() { done <- pass(os.Stdout, from) }()
	err = pass(to, os.Stdin)
	if err := errors.Join(err, to.Close(), <-done, cmd.Wait()); err != nil {
		log.Fatal(err)
	}
}

// serve hands on what comes to an address of its own.
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
	return http.Serve(l, &httputil.ReverseProxy{
		FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) },
		ErrorLog: log.New(io.Discard, "", 0), // A client that goes breaks its stream off.
	})
}

func pass(to io.Writer, from io.Reader) error {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}
