// Command splice hands on, line by line, what an MCP client and its server say, and looks
// at nothing: what it costs, everything costs that stands between them. Its arguments are
// the server's command.
package main

import (
	"bufio"
	"errors"
	"io"
	"log"
	"os"
	"os/exec"
)

func main() {
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
