package vaglio

import (
	"context"
	"time"
)

// Gate is a judge with what it must give for a call to pass. Both limits are
// in [0,1] and inclusive.
type Gate struct {
	Judge         Judge
	MinScore      float64
	MinConfidence float64
	// Timeout bounds one answer; 0 leaves it to the judge and the caller.
	Timeout time.Duration
	// Discreet says that the judge's reasoning names no argument's value, so
	// that the audit log may hold it. Of another judge's the log holds what the
	// signals are about.
	Discreet bool
	// Needs are what the judge wants besides the proposal.
	Needs Needs
	// Instead is asked in this judge's place, with its own limits, when the judge
	// says [FaultInstead]; nil lets that be a rejection.
	Instead *Gate
	// Reads says that the judge itself reads the call, and so needs memory as
	// the call is large: large calls are put to it a few at a time.
	Reads bool
	// Settled says that the judge asks nobody and goes by nothing but the proposal,
	// without its agent, turn and step: of equal calls it says the same each time.
	Settled bool
	// Network says what network the judge's tools reach, such as "open"; empty is
	// none. Who reads the verdict is told.
	Network string
}

// Judge grades proposals. Grade must end soon after ctx does. An error, a
// panic, or a result out of range rejects the proposal: a judge that says
// nothing useful approves nothing. An error of type [*JudgeError] is told in
// the verdict; the text of any other is not.
type Judge interface {
	// Kind names the judge in verdicts, the same for its whole life.
	Kind() string
	Grade(ctx context.Context, p Proposal) (GradientResult, error)
}

// Needs are what judges want besides the proposal. What no judge needs is not
// gathered.
type Needs struct {
	// Turn asks for [Context.Turn].
	Turn bool
	// Slow says that an answer may take so long that a caller should be able to
	// come back for it.
	Slow bool
}

func needsOf(gates []Gate) (n Needs) {
	for i := range gates {
		n.Turn = n.Turn || gates[i].Needs.Turn
		n.Slow = n.Slow || gates[i].Needs.Slow
	}
	return n
}

// Needs are what any of the judges want.
func (e *Engine) Needs() Needs { return e.needs }

// Needed are what the judges want of this call: nothing when they are skipped.
func (e *Engine) Needed(executor string) Needs {
	if e.needs == (Needs{}) {
		return e.needs
	}
	if ex, ok := e.catalog.Find(executor); ok && ex.SkipJudge {
		return Needs{}
	}
	return e.needs
}

// Meter counts what judges do beside verdicts. It is safe for concurrent use.
type Meter interface {
	// Faulted counts a judge that gave no verdict, by the class of its fault.
	Faulted(judge, fault string)
	// Skipped counts a call that its executor's skip_judge kept from the judges.
	Skipped(executor string)
	// Repeated counts a call that was given the verdict of an equal one before it.
	Repeated()
}

// Fault is the class of what kept a judge from a verdict.
type Fault string

// The classes of faults. Each rejects the call.
const (
	// FaultTimeout is an answer that did not come in time.
	FaultTimeout Fault = "timeout"
	// FaultCancelled is a judge that was ended.
	FaultCancelled Fault = "cancelled"
	// FaultCrashed is a judge that panicked.
	FaultCrashed Fault = "crashed"
	// FaultFailed is anything else that failed.
	FaultFailed Fault = "failed"
	// FaultRange is a score or a confidence that is not from 0 to 1.
	FaultRange Fault = "range"
	// FaultMalformed is an answer that is no verdict.
	FaultMalformed Fault = "malformed"
	// FaultRefused is a model that declined to answer.
	FaultRefused Fault = "refused"
	// FaultCut is an answer that broke off.
	FaultCut Fault = "cut"
	// FaultModel is a model's server that cannot be asked.
	FaultModel Fault = "model"
	// FaultDown is a model's server that is not asked, as it keeps failing.
	FaultDown Fault = "down"
	// FaultLimit is a judge that used up its turns or tokens.
	FaultLimit Fault = "limit"
	// FaultDepth is a judge below too many others.
	FaultDepth Fault = "depth"
	// FaultMount is a workspace that may not be shown to a judge.
	FaultMount Fault = "mount"
	// FaultSandbox is a machine on which a judge's tools cannot be kept in.
	FaultSandbox Fault = "sandbox"
	// FaultBudget is a day's budget that is spent.
	FaultBudget Fault = "budget"
	// FaultInstead is a spent budget above which another judge answers.
	FaultInstead Fault = "instead"
)

// JudgeError says in one safe sentence part why a judge gave no verdict, such
// as "the model refused".
type JudgeError struct {
	Fault string
	// Class is the fault's, for those who count; empty is [FaultFailed].
	Class Fault
	Err   error
}

// Error tells the fault and its cause.
func (e *JudgeError) Error() string {
	if e.Err == nil {
		return e.Fault
	}
	return e.Fault + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *JudgeError) Unwrap() error { return e.Err }
