package web_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// failing is a book whose history fails at a page, as a store does whose reader left or
// that is broken.
type failing struct {
	*desk
	at    int
	leave context.CancelFunc
	pages int
}

func (f *failing) History(ctx context.Context, q approval.Filter) (approval.Page, error) {
	if f.pages++; f.pages < f.at {
		return f.desk.History(ctx, q)
	}
	if f.leave == nil {
		return approval.Page{}, errors.New("the disk is away")
	}
	f.leave()
	return approval.Page{}, ctx.Err()
}

// TestAClosedTabIsNoError checks that closing a tab while its page or file is made is not
// an error of ours, while a failing store is.
func TestAClosedTabIsNoError(t *testing.T) {
	for name, row := range map[string]struct {
		path   string
		at     int
		closed bool
	}{
		"a page, closed":     {"/inbox/history", 1, true},
		"a page, broken":     {"/inbox/history", 1, false},
		"the file, closed":   {"/inbox/history/export?format=csv", 2, true},
		"the file, broken":   {"/inbox/history/export?format=csv", 2, false},
		"no file at all":     {"/inbox/history/export?format=csv", 1, false},
		"no reader any more": {"/inbox/history/export?format=csv", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := days(600)
			book := &failing{desk: d, at: row.at}
			c := config(d)
			c.Book, c.Log = book, slog.New(slog.NewTextHandler(&log, nil))
			in := inboxOf(t, d, c).signIn()
			r := in.request(http.MethodGet, row.path, nil)
			if row.closed {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				r, book.leave = r.WithContext(ctx), cancel
			}
			rec := httptest.NewRecorder()
			func() {
				defer func() {
					if cut := recover(); cut != nil && (cut != http.ErrAbortHandler || row.at == 1) { //nolint:errorlint // What was thrown, and nothing around it.
						panic(cut)
					}
				}()
				in.h.ServeHTTP(rec, r)
			}()
			if told := strings.Contains(log.String(), "level=ERROR"); told == row.closed || book.pages != row.at {
				t.Errorf("after %d pages the log says %q", book.pages, log.String())
			}
		})
	}
}
