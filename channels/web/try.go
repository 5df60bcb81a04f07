package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// tryView is what the page Try it shows.
type tryView struct {
	Samples []sampleView
	// Text is the content of the form.
	Text string
	// Mistake is what is wrong with the text; empty if nothing is.
	Mistake string
	Result  *tryResult
	// Limit says why the session may not propose anything; zero if it may.
	Limit text
}

type sampleView struct {
	Sample
	JSON string
}

// tryResult is what became of a proposed call.
type tryResult struct {
	Sent, Answer string
	Word, Tone   string
	Says         text
	// Ask is the address of the ask's page; empty if nobody is asked.
	Ask string
	// Waits says that the ask waits for a person.
	Waits bool
}

// maxProposal is the largest proposal that agents may send, in bytes.
const maxProposal = 1 << 20

func (w *Web) tryPage(rw http.ResponseWriter, r *http.Request) error {
	return w.renderTry(rw, r, http.StatusOK, tryView{})
}

// try proposes a sample or the reader's own call, and shows what an agent is told. It
// answers with the page itself: the answer to a call that was approved or stopped exists
// nowhere else.
func (w *Web) try(rw http.ResponseWriter, r *http.Request, _ Session, f url.Values) error {
	v := tryView{Text: f.Get("proposal")}
	var p vaglio.Proposal
	if name := f.Get("sample"); name != "" {
		s, ok := w.sample(name)
		if !ok {
			return &pageError{
				Status: http.StatusNotFound, Title: text{Key: "web.fault.sample.title"},
				Text: text{Key: "web.fault.sample"}, Link: "/inbox/try",
			}
		}
		p, v.Text = s.Proposal, ""
	} else if v.Mistake = w.readProposal(r, v.Text, &p); v.Mistake != "" {
		return w.renderTry(rw, r, http.StatusUnprocessableEntity, v)
	}
	p.Agent = TryAgent
	answer, err := w.propose(r.Context(), TryAgent, p)
	if bad, ok := errors.AsType[*InputError](err); ok {
		v.Mistake = bad.Error()
		return w.renderTry(rw, r, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	v.Result = resultOf(p, answer)
	return w.renderTry(rw, r, http.StatusOK, v)
}

// readProposal reads the reader's own text, as strictly as an agent's.
func (w *Web) readProposal(r *http.Request, text string, p *vaglio.Proposal) (mistake string) {
	if len(text) > maxProposal {
		return w.textsFor(r).Plain("web.try.long", nil)
	}
	if err := strictjson.Unmarshal([]byte(text), p); err != nil {
		return err.Error()
	}
	if p.Executor == "" {
		return `field "/executor" is missing: it names the tool that the agent wants to call`
	}
	return ""
}

func (w *Web) sample(name string) (Sample, bool) {
	for _, s := range w.samples {
		if s.Name == name {
			return s, true
		}
	}
	return Sample{}, false
}

func resultOf(p vaglio.Proposal, a approval.Answer) *tryResult {
	p.Agent = ""
	t := &tryResult{Sent: indented(p), Answer: indented(a)}
	if a.Approval != nil {
		t.Ask = askURL(approval.AskID(a.Approval.ID))
	}
	switch {
	case a.Decision == approval.RulingAllow && a.Permit != nil:
		t.Word, t.Tone = "allow", "yes"
		t.Says = text{Key: "web.try.says.permit"}
	case a.Decision == approval.RulingAllow:
		t.Word, t.Tone = "allow", "done"
		t.Says = text{Key: "web.try.says.approved"}
	case a.Decision == approval.RulingPending:
		t.Word, t.Tone, t.Waits = "pending", "waiting", true
		t.Says = text{Key: "web.try.says.asked"}
	case a.Verdict.BlockedBy == vaglio.PhaseGuard:
		t.Word, t.Tone = "deny", "final"
		t.Says = text{Key: "web.try.says.guard"}
	case a.Approval != nil:
		word, _, says := words(a.Approval.State)
		t.Word, t.Tone = "deny", "no"
		t.Says = text{"web.try.says.before", templates.Values{"word": word, "says": says}}
	default:
		t.Word, t.Tone = "deny", "no"
		t.Says = text{Key: "web.try.says.refused"}
	}
	return t
}

func (w *Web) renderTry(rw http.ResponseWriter, r *http.Request, status int, v tryView) error {
	who, _ := w.session(r)
	v.Limit = who.right().limit()
	for _, s := range w.samples {
		p := s.Proposal
		p.Agent = "" // set by us, not by the form
		v.Samples = append(v.Samples, sampleView{s, indented(p)})
	}
	if v.Text == "" && len(v.Samples) > 0 {
		v.Text = v.Samples[min(1, len(v.Samples)-1)].JSON
	}
	return w.render(rw, r, page{Status: status, Name: "try", Title: text{Key: "web.try"}, Nav: "try", Body: v})
}
