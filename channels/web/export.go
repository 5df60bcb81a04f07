package web

import (
	"encoding/csv"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
)

// exporter writes entries of the history to a file, one after the other.
type exporter interface {
	put(e *approval.Entry) error
	// lack says that a part of the turn log cannot be read, so that entries may be missing.
	lack(u *approval.Unread) error
	// flush sends what was put.
	flush() error
}

const (
	// exportPage is how many entries are read at a time for a file.
	exportPage = 500
	// exportWithin limits how long a reader may take for them.
	exportWithin = 30 * time.Second
)

// exportURL returns the address of a file with what a filter selects.
func exportURL(format string, filter url.Values) string {
	q := url.Values{"format": {format}}
	maps.Copy(q, filter)
	return "/inbox/history/export?" + q.Encode()
}

// export sends everything in the history that a filter selects, newest first, masked like
// the pages. It is read and sent piece by piece, so that it may be long.
func (w *Web) export(rw http.ResponseWriter, r *http.Request) error {
	f, err := w.filterOf(r.URL.Query())
	if err != nil {
		return err
	}
	f.Limit = exportPage
	format := r.URL.Query().Get("format")
	var to exporter
	kind := ""
	switch format {
	case "csv":
		to, kind = newSheet(rw, w.zone), "text/csv; charset=utf-8; header=present"
	case "jsonl":
		to, kind = lines{rw}, "application/jsonl; charset=utf-8"
	default:
		return badFilter("web.fault.filter.format")
	}
	// What fails before the first piece is reported on a page.
	past, err := w.book.History(r.Context(), f)
	if err != nil {
		return err
	}
	rw.Header().Set("Content-Type", kind)
	rw.Header().Set("Content-Disposition", `attachment; filename="vaglio-history.`+format+`"`)
	c, lacks := http.NewResponseController(rw), map[string]bool{}
	for {
		// A writer without deadlines has other means; only the limit is lost.
		_ = c.SetWriteDeadline(time.Now().Add(exportWithin))
		if err := send(to, &past, lacks); err != nil {
			return nil //nolint:nilerr // The reader is gone; there is nobody to tell.
		}
		if f.Before = past.Older; f.Before == 0 {
			return nil
		}
		if past, err = w.book.History(r.Context(), f); err != nil {
			if r.Context().Err() == nil { // otherwise the reader has left
				w.log.ErrorContext(r.Context(), "an export of the history was cut short", "error", err)
			}
			panic(http.ErrAbortHandler) // a file that ends normally would pass for complete
		}
	}
}

// send writes a page, and each part that it lacks, unless an earlier page did: said holds their names.
func send(to exporter, page *approval.Page, said map[string]bool) error {
	for i := range page.Entries {
		if err := to.put(&page.Entries[i]); err != nil {
			return err
		}
	}
	for i := range page.Unread {
		u := &page.Unread[i]
		if said[u.Part] {
			continue
		}
		said[u.Part] = true
		if err := to.lack(u); err != nil {
			return err
		}
	}
	return to.flush()
}

// lines writes an entry as a line of JSON.
type lines struct{ w io.Writer }

func (l lines) put(e *approval.Entry) error { return l.write(e) }

func (l lines) lack(u *approval.Unread) error {
	return l.write(map[string]*approval.Unread{"unread": u})
}

func (l lines) write(value any) error {
	line, err := strictjson.Marshal(value)
	if err != nil {
		return err
	}
	_, err = l.w.Write(append(line, '\n'))
	return err
}

func (lines) flush() error { return nil }

// sheet writes an entry as a row of CSV. Its columns do not depend on the reader's
// language.
type sheet struct {
	*csv.Writer
	zone *time.Location
	// begun says that the column names were written.
	begun bool
}

func newSheet(to io.Writer, zone *time.Location) *sheet {
	return &sheet{Writer: csv.NewWriter(to), zone: zone}
}

func (s *sheet) head() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.Write([]string{"at", "agent", "turn", "step", "executor", "wanted", "outcome", "reason", "ask", "decided_at", "decided_by", "choice", "words"})
}

func (s *sheet) put(e *approval.Entry) error {
	if err := s.head(); err != nil {
		return err
	}
	p := &e.Step.Proposal
	row := []string{e.Step.At.In(s.zone).Format(time.RFC3339), p.Agent, p.TurnID, "", p.Executor, wantedOf(&e.Step), e.Outcome(), "", string(e.Step.Approval), "", "", "", ""}
	if p.Step != 0 {
		row[3] = strconv.Itoa(p.Step)
	}
	if v := e.Step.Verdict; v != nil {
		row[7] = v.Reason
	}
	if e.Approval != nil && e.Approval.Decision != nil {
		d := e.Approval.Decision
		row[9], row[10], row[11], row[12] = d.At.In(s.zone).Format(time.RFC3339), d.By.Name+" ("+d.Channel+")", string(d.Choice), d.Words
	}
	for i := range row {
		row[i] = harmless(row[i])
	}
	return s.Write(row)
}

// lack writes a row with the outcome "unread", which no entry has.
func (s *sheet) lack(u *approval.Unread) error {
	if err := s.head(); err != nil {
		return err
	}
	at := func(t time.Time) string { return t.In(s.zone).Format(time.RFC3339) }
	return s.Write([]string{
		at(u.From), "", "", "", "", "", "unread", "entries until " + at(u.To) + " may be missing: " + harmless(u.Part) + " cannot be read", "", "", "", "", "",
	})
}

func (s *sheet) flush() error {
	if err := s.head(); err != nil {
		return err
	}
	s.Flush()
	return s.Error()
}

// formula matches what a program that opens the file may take for the beginning of a formula: a cell's
// first character, also in the wide forms that it reads as the plain ones, and what follows a mark at
// which it may split the cell, as many do at semicolons.
var formula = regexp.MustCompile(`(^|[;\t\r\n])([=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}])`)

// harmless keeps a cell with foreign text from becoming a formula in the program that opens
// the file.
func harmless(cell string) string { return formula.ReplaceAllString(cell, "$1'$2") }
