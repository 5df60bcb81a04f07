package httpapi

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/metnos/vaglio/approval"
)

// slots bounds how many requests wait for a person. Each holds a connection or a stream, and
// some memory, for as long as people take.
type slots struct {
	max   int64
	taken atomic.Int64
}

// seat says how a request waits.
type seat int

const (
	// passing requests do not want to wait.
	passing seat = iota
	// seated requests hold a slot.
	seated
	// standing requests want to wait but found every slot taken.
	standing
)

// seat takes a slot for a request that wants to wait. If there is none, it cuts the wait to
// zero: the call is still judged, and a decision that exists is still returned.
func (a *API) seat(wait *time.Duration) seat {
	if *wait <= 0 {
		return passing
	}
	if a.slots.taken.Add(1) > a.slots.max {
		a.slots.taken.Add(-1)
		*wait = 0
		return standing
	}
	return seated
}

func (a *API) unseat(s seat) {
	if s == seated {
		a.slots.taken.Add(-1)
	}
}

// hurry sets Retry-After if the judges have not answered yet, or if an answer is pending
// because no slot was free.
func (x *exchange) hurry(s seat, answers ...approval.Answer) {
	for i := range answers {
		if answers[i].Decision == approval.RulingPending && answers[i].Approval == nil {
			x.w.Header().Set("Retry-After", "1") // The judges are still working.
			return
		}
	}
	if s != standing {
		return
	}
	for i := range answers {
		if answers[i].Decision == approval.RulingPending {
			x.w.Header().Set("Retry-After", strconv.Itoa(tooMany().retryAfter))
			return
		}
	}
}

func (a *API) await(x *exchange) error {
	wait, err := x.wait()
	if err != nil {
		return err
	}
	id, err := x.id()
	if err != nil {
		return err
	}
	until, how := time.Now().Add(wait), a.seat(&wait)
	if how == seated && x.mayPark() {
		// A connection is taken from the server only for a call that is going to wait.
		answer, err := a.proposals.Await(x.ctx(), x.agent, id, 0)
		if err == nil && answer.Waits() {
			return x.park(id, until, (*exchange).tellAwaited)
		}
		a.unseat(how)
		return x.tellAwaited(answer, err)
	}
	answer, err := a.proposals.Await(x.ctx(), x.agent, id, wait)
	a.unseat(how)
	if err == nil && how == standing && answer.Decision == approval.RulingPending {
		return tooMany()
	}
	return x.tellAwaited(answer, err)
}

// tellAwaited answers who waited for an approval. It must not be inlined, so that its frame is not
// part of a waiting request's stack: the runtime halves a stack only while less than a quarter of
// it is in use.
//
//go:noinline
func (x *exchange) tellAwaited(answer *approval.Answer, err error) error {
	if err != nil {
		return err
	}
	return x.answer(answer.Told())
}

// tellProposed answers a proposal that waited.
func (x *exchange) tellProposed(answer *approval.Answer, err error) error {
	if err != nil {
		return err
	}
	answers := []approval.Answer{*answer}
	return x.by.api.tell(x, seated, answers, []string{""}, &answers[0])
}
