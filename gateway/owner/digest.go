package owner

import (
	"context"
	"net/http"
	"strings"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/internal/digestcheck"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// judgements writes each verdict in a digest's window on a line, and the digest on the last line.
func (a *admin) judgements(w http.ResponseWriter, r *http.Request) {
	out := jsonLines{w: w}
	d, err := a.Desk.Judgements(r.Context(), r.FormValue("date"), func(j report.Judgement) { out.tell(j) })
	var crashes []report.Crash
	if err == nil {
		crashes, err = a.Crashes(r.Context())
	}
	switch {
	case err == nil:
		out.tell(digestcheck.End{Digest: &d, Crashes: crashes})
		err = out.failure
	case !out.begun:
		a.answer(w, r, nil, err)
		return
	}
	if err != nil {
		a.Log.ErrorContext(r.Context(), "an answer was cut off", "call", r.Pattern, "error", err)
	}
}

// jsonLines is an answer with one JSON value per line.
type jsonLines struct {
	w       http.ResponseWriter
	begun   bool
	failure error // the first
}

func (l *jsonLines) tell(v any) {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", "application/jsonl")
	}
	if l.failure != nil {
		return
	}
	line, err := strictjson.Marshal(v)
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	l.failure = err
}

func (a *admin) sendDigest(ctx context.Context, day string) (Sending, error) {
	all, err := a.Desk.SendDigest(ctx, day)
	answer := Sending{[]string{}, []Failure{}}
	for _, s := range all {
		if s.Err == nil {
			answer.Channels = append(answer.Channels, s.Channel)
			continue
		}
		a.Log.WarnContext(ctx, "a digest sent by hand failed", "channel", s.Channel, "error", s.Err)
		answer.Failed = append(answer.Failed, Failure{s.Channel, s.Err.Error()})
	}
	return answer, err
}

// DigestText returns a digest for a terminal, as the chats tell it. Text by others is made visible
// and stays on its line.
func DigestText(texts *templates.Texts, d *report.Digest) string {
	var b strings.Builder
	lines := d.Lines()
	for i := range lines {
		if i > 0 && lines[i].Head {
			b.WriteByte('\n')
		}
		b.WriteString(cardtext.DigestLine(texts, &lines[i]).String() + "\n")
	}
	return b.String()
}

// picture draws a digest as the chats show it, in the configured language and time zone.
func (a *admin) picture(ctx context.Context, day string) (Picture, error) {
	d, err := a.Desk.Digest(ctx, day)
	if err != nil {
		return Picture{}, err
	}
	p := chart.OfDigest(&d, a.Texts)
	png, err := p.PNG()
	return Picture{png, p.Alt()}, err
}
