package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// MaxCalls is the maximum number of calls in a plan. A plan with more calls than a person can
// read on one card is put to them on several.
const MaxCalls = 500

// maxDetail is the maximum length of an outcome's detail, in bytes.
const maxDetail = 4000

func (a *API) propose(x *exchange) error {
	reqs, resumes, err := a.proposed(x)
	if err != nil {
		return err
	}
	began, r := time.Now(), &reqs[0]
	how := a.seat(&r.Wait)
	r.Apart = how == seated && x.mayPark()
	answers, err := a.proposals.ProposePlan(x.ctx(), x.agent, reqs)
	if err == nil && r.Apart && answers[0].Waits() {
		return x.park(answers[0].Approval.ID, began.Add(r.Wait), (*exchange).tellProposed)
	}
	a.unseat(how)
	if wrong, ok := errors.AsType[*dispatcher.CallError](err); ok {
		err = wrong.Err // The proposal is the only call.
	}
	if err != nil {
		return err
	}
	return a.tell(x, how, answers, resumes, &answers[0])
}

// proposed decodes a proposal's single call, and the address to tell how it ends. It is a
// function of its own so that the decoding does not stay on the stack: a call may wait for as
// long as people take, and the runtime halves a stack only while less than a quarter of it is
// in use.
func (a *API) proposed(x *exchange) ([]dispatcher.Request, []string, error) {
	reqs := make([]dispatcher.Request, 1)
	var err error
	if reqs[0], err = x.request(); err != nil {
		return nil, nil, err
	}
	body, err := x.body()
	if err != nil {
		return nil, nil, err
	}
	resume, err := a.decodeCall(body, &reqs[0])
	if err != nil {
		return nil, nil, located(err, body)
	}
	x.release()
	x.from(&reqs[0].Proposal)
	return reqs, []string{resume}, nil
}

// from sets whose call it is and whether it would run on another machine, whatever it claims.
func (x *exchange) from(p *vaglio.Proposal) {
	p.Agent = x.agent
	_, p.Elsewhere = x.ctx().Value(otherMachine{}).(bool)
}

// tell answers with said, which holds the answers to all calls.
func (a *API) tell(x *exchange, s seat, answers []approval.Answer, resumes []string, said any) error {
	a.meters.answered(answers...)
	for i := range answers {
		if err := a.keep(x, resumes[i], answers[i]); err != nil {
			return err
		}
	}
	x.hurry(s, answers...)
	for i := range answers {
		answers[i] = answers[i].Told()
	}
	return x.answer(said)
}

// request reads what proposals and plans have in common.
func (x *exchange) request() (dispatcher.Request, error) {
	wait, err := x.wait()
	if err != nil {
		return dispatcher.Request{}, err
	}
	key, err := x.key()
	return dispatcher.Request{Key: key, Wait: wait}, err
}

// proposed is a call as an agent proposes it, with its answer to a person who asked something
// about the call.
type proposed struct {
	vaglio.Proposal

	Answer string `json:"answer,omitzero"`
	Resume string `json:"resume_url,omitzero"`
}

// decoded holds values for decoding calls one after another.
var decoded sync.Pool //nolint:gochecknoglobals // It holds nothing that is anything to anybody.

// decodeCall decodes a proposed call and the agent's answer to a question into the request. It
// returns the address to tell how the call ends.
func (a *API) decodeCall(data []byte, into *dispatcher.Request) (resume string, err error) {
	p, _ := decoded.Get().(*proposed)
	if p == nil {
		p = new(proposed)
	}
	defer func() {
		*p = proposed{}
		decoded.Put(p)
	}()
	if err := strictjson.Unmarshal(data, p); err != nil {
		return "", err
	}
	if err := p.Complete(); err != nil {
		return "", err
	}
	switch {
	case p.Resume == "":
	case a.resumes == nil || !a.resumes.Allows(p.Resume):
		return "", &strictjson.Error{Path: "/resume_url", Msg: "must begin with an address that the owner lists in the policy, under resume_urls"}
	case into.Wait > 0:
		return "", &strictjson.Error{Path: "/resume_url", Msg: "is for an agent that does not wait: leave it out, or the parameter wait"}
	}
	if utf8.RuneCountInString(p.Answer) > approval.MaxWords {
		return "", &strictjson.Error{Path: "/answer", Msg: fmt.Sprintf("must be at most %d characters long: it is shown to a person", approval.MaxWords)}
	}
	into.Proposal, into.Answer = p.Proposal, p.Answer
	return p.Resume, nil
}

// keep stores the address to tell how the call ends, if the call waits for a person.
func (a *API) keep(x *exchange, resume string, answer approval.Answer) error {
	if resume == "" || answer.Decision != approval.RulingPending || answer.Approval == nil {
		return nil
	}
	// An agent that has already left needs it most.
	return a.resumes.Keep(context.WithoutCancel(x.ctx()), answer.Approval.ID, resume)
}

// plan is the body of POST /v1/plans.
type plan struct {
	Calls []rawCall `json:"calls"`
}

// rawCall is one call of a plan, not decoded yet, and the offset at which it ends.
type rawCall struct {
	value strictjson.Value
	end   int64
}

// UnmarshalJSONFrom keeps the call undecoded.
func (r *rawCall) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	r.value, r.end = v.Clone(), d.InputOffset()
	return nil
}

// planAnswers is the answer to POST /v1/plans.
type planAnswers struct {
	Answers []approval.Answer `json:"answers"`
}

func (a *API) proposePlan(x *exchange) error {
	common, err := x.request()
	if err != nil {
		return err
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	reqs, resumes, err := a.decodePlan(x, body, common)
	if err != nil {
		return err
	}
	x.release()
	seated := a.seat(&common.Wait)
	for i := range reqs {
		reqs[i].Wait = common.Wait
	}
	answers, err := a.proposals.ProposePlan(x.ctx(), x.agent, reqs)
	a.unseat(seated)
	if err != nil {
		return err
	}
	return a.tell(x, seated, answers, resumes, planAnswers{answers})
}

// decodePlan decodes the calls. They all carry the plan's key, from which the dispatcher
// derives one for each call, so that repeating the plan finds each call again.
func (a *API) decodePlan(x *exchange, body []byte, common dispatcher.Request) (reqs []dispatcher.Request, resumes []string, err error) {
	var p plan
	if err := strictjson.Unmarshal(body, &p); err != nil {
		return nil, nil, located(err, body)
	}
	if len(p.Calls) == 0 || len(p.Calls) > MaxCalls {
		return nil, nil, &problemError{
			Type: "body", Title: "The body cannot be read", Status: http.StatusBadRequest,
			Detail: fmt.Sprintf("a plan has 1 to %d calls", MaxCalls), Field: "/calls",
		}
	}
	reqs, resumes = make([]dispatcher.Request, len(p.Calls)), make([]string, len(p.Calls))
	for i, raw := range p.Calls {
		reqs[i] = common
		if resumes[i], err = a.decodeCall(raw.value, &reqs[i]); err != nil {
			return nil, nil, inCall(err, i, raw, body)
		}
		x.from(&reqs[i].Proposal)
	}
	return reqs, resumes, nil
}

// inCall makes an error about one call of a plan point to its place in the plan.
func inCall(err error, index int, raw rawCall, body []byte) error {
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	start := raw.end - int64(len(raw.value))
	return located(&strictjson.Error{
		Path: fmt.Sprintf("/calls/%d%s", index, e.Path), Offset: start + e.Offset, Msg: e.Msg,
	}, body)
}

// id returns the approval that the path names. A malformed ID is reported as not found.
func (x *exchange) id() (approval.ID, error) {
	id := approval.ID(x.r.PathValue("id"))
	if cmp.Or(approval.CheckName("id", string(id)), approval.CheckName("id", string(id.Ask()))) != nil {
		return "", approval.ErrNotFound
	}
	return id, nil
}

func (a *API) withdraw(x *exchange) error {
	if _, err := x.query(""); err != nil {
		return err
	}
	id, err := x.id()
	if err != nil {
		return err
	}
	answer, err := a.proposals.Withdraw(x.ctx(), x.agent, id)
	if err != nil {
		return err
	}
	return x.answer(answer.Told())
}

func (a *API) redeem(x *exchange) error {
	if _, err := x.query(""); err != nil {
		return err
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	proposal, err := vaglio.DecodeProposal(body)
	if err != nil {
		return located(err, body)
	}
	x.from(&proposal)
	if err := a.permits.Redeem(x.ctx(), x.agent, x.r.PathValue("permit"), proposal); err != nil {
		return err
	}
	x.done()
	return nil
}

// outcome is the body of POST /v1/approvals/{id}/outcome.
type outcome struct {
	Succeeded *bool  `json:"succeeded"`
	Ran       *bool  `json:"ran"`
	Detail    string `json:"detail"`
}

func (a *API) report(x *exchange) error {
	if _, err := x.query(""); err != nil {
		return err
	}
	body, err := x.body()
	if err != nil {
		return err
	}
	var o outcome
	if err := strictjson.Unmarshal(body, &o); err != nil {
		return located(err, body)
	}
	p := &problemError{Type: "body", Title: "The body cannot be read", Status: http.StatusBadRequest}
	switch {
	case o.Succeeded == nil:
		p.Field, p.Detail = "/succeeded", `"succeeded" is missing: it must be true or false`
		return p
	case *o.Succeeded && o.Ran != nil && !*o.Ran:
		p.Field, p.Detail = "/ran", `"ran" is false and "succeeded" is true: what did not run has not succeeded`
		return p
	case len(o.Detail) > maxDetail:
		p.Field, p.Detail = "/detail", fmt.Sprintf(`"detail" is longer than %d bytes`, maxDetail)
		return p
	}
	id, err := x.id()
	if err != nil {
		return err
	}
	told := approval.Outcome{Succeeded: *o.Succeeded, NotRun: o.Ran != nil && !*o.Ran, Detail: o.Detail, At: time.Now().UTC()}
	if err := a.permits.Report(x.ctx(), x.agent, id, told); err != nil {
		return err
	}
	x.done()
	return nil
}

// turnLog is the answer to GET /v1/turns/{id}.
type turnLog struct {
	TurnID string          `json:"turn_id"`
	Steps  []approval.Step `json:"steps"`
	More   bool            `json:"more,omitempty"`
	// Older is the value of the parameter before with which the earlier steps are read.
	Older  string               `json:"older,omitempty"`
	Unread approval.UnreadParts `json:"unread,omitempty"`
}

func (a *API) turn(x *exchange) error {
	q := approval.TurnQuery{Agent: x.agent, Turn: x.r.PathValue("id")}
	before, err := x.query("before")
	if err != nil {
		return err
	}
	if before != "" {
		if q.Before, err = strconv.ParseUint(before, 10, 64); err != nil {
			return badParameter(`before must be what an answer about this turn has under "older"`)
		}
	}
	page, err := a.turns.Turn(x.ctx(), q)
	if err != nil {
		return err
	}
	if len(page.Steps)+len(page.Unread) == 0 {
		return approval.ErrNotFound
	}
	log := turnLog{TurnID: q.Turn, Steps: page.Steps, More: page.Older != 0, Unread: page.Unread}
	if log.More {
		log.Older = strconv.FormatUint(page.Older, 10)
	}
	return x.answer(log)
}
