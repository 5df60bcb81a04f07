// Command runenames writes Unicode's names of characters, compressed, as
// approval/visible reads them: the library holds them in a megabyte that every
// start would load.
//
// A line is the name of the character after the one before; "@" and hexadecimal
// digits name the next character, and a name with "*" and a number stands for as
// many.
package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "runenames:", err)
		os.Exit(1)
	}
}

func write(to io.Writer) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(packed)
	next := rune(0)
	for c := rune(0); c <= unicode.MaxRune; {
		name := runenames.Name(c)
		end := c + 1
		for end <= unicode.MaxRune && runenames.Name(end) == name {
			end++
		}
		if name != "" {
			if c != next {
				fmt.Fprintf(w, "@%X\n", c)
			}
			if end-c > 1 {
				fmt.Fprintf(w, "%s*%d\n", name, end-c)
			} else {
				fmt.Fprintln(w, name)
			}
			next = end
		}
		c = end
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return packed.Close()
}
