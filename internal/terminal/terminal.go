// Package terminal formats what a person reads at a terminal, so that no text by others can pass for
// a line of ours.
package terminal

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Is reports whether w is a terminal. The null device is not.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	nowhere, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, nowhere)
}

// Table writes lines in columns. Each cell ends in a tab.
func Table(w io.Writer, lines string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(t, lines); err != nil {
		return err
	}
	return t.Flush()
}

// OneLine returns an agent's text for a cell of a table: made visible, on one line, and cut to at
// most most characters.
func OneLine(s string, most int) string {
	r := []rune(visible.Text(strings.Join(strings.Fields(s), " ")))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

// Stamp returns a time in this machine's time zone, to the second.
func Stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Counted returns a number with the noun in singular or plural.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// Sentence ends s with a full stop if it has no end.
func Sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// JSON writes a value on a line of its own.
func JSON(w io.Writer, v any) error {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
