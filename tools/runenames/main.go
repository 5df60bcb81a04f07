// Command runenames writes the Unicode names of characters, compressed, in the form that
// approval/visible reads. The library holds them in a megabyte that every start would load.
//
// Each line is the name of the character after the previous one. "@" followed by hexadecimal digits
// sets the next character, and a name with "*" and a number stands for that many characters.
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
