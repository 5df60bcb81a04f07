// Package terminal writes what a person reads at a terminal, so that nothing
// that somebody else wrote can pass for a line of ours.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/strictjson"
)

// OneLine is an agent's text on a line of a table: made visible, and cut to most
// characters where a table has to cut.
func OneLine(s string, most int) string {
	r := []rune(visible.Text(strings.Join(strings.Fields(s), " ")))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

// Stamp is a moment on this machine's clock, to the second.
func Stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Counted says how many there are of something.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// Sentence ends a text as one.
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
