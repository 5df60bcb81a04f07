package vaglio

import (
	"context"
	"time"
)

// Gate is a judge and the limits that its answer must reach for a call to pass. Both limits
// are in [0,1] and inclusive.
type Gate struct {
	Judge         Judge
	MinScore      float64
	MinConfidence float64
	// Timeout bounds one answer; 0 leaves it to the judge and the caller.
	Timeout time.Duration
	// Discreet says that the judge's reasoning contains no argument's value, so that the
	// audit log may hold it. For other judges the log holds only the signals' categories.
	Discreet bool
	// Needs is what the judge needs besides the proposal.
	Needs Needs
	// Instead answers in this judge's place, with its own limits, when the judge fails with
	// [FaultInstead]. If nil, that fault rejects the call.
	Instead *Gate
	// Reads says that the judge reads the call itself, and so needs memory in proportion to
	// its size. Such judges get large calls only a few at a time.
	Reads bool
	// Settled says that the judge asks nobody and looks at nothing but the proposal, without
	// its agent, turn and step, so that it answers equal calls equally.
	Settled bool
	// Network says what network the judge's tools reach, such as "open"; empty is none. It is
	// shown to those who read the verdict.
	Network string
}

// Judge grades proposals. Grade must return soon after ctx ends. An error, a panic, or a
// result out of range rejects the proposal: a judge without a usable answer approves nothing.
// The verdict shows an error of type [*JudgeError], but never the text of any other.
type Judge interface {
	// Kind names the judge in verdicts. It never changes.
	Kind() string
	Grade(ctx context.Context, p Proposal) (GradientResult, error)
}

// Needs is what judges need besides the proposal. What no judge needs is not gathered.
type Needs struct {
	// Turn asks for [Context.Turn].
	Turn bool
	// Slow says that an answer may take so long that the caller should be able to come back
	// for it.
	Slow bool
}

func needsOf(gates []Gate) (n Needs) {
	for i := range gates {
		n.Turn = n.Turn || gates[i].Needs.Turn
		n.Slow = n.Slow || gates[i].Needs.Slow
	}
	return n
}

// Needed returns what the judges need for a call of the executor: nothing if it skips the
// judges.
func (e *Engine) Needed(executor string) Needs {
	if e.needs == (Needs{}) {
		return e.needs
	}
	if ex, ok := e.catalog.Find(executor); ok && ex.SkipJudge {
		return Needs{}
	}
	return e.needs
}

// Meter counts what judges do, apart from verdicts. It is safe for concurrent use.
type Meter interface {
	// Faulted counts a judge that gave no verdict, by the class of its fault.
	Faulted(judge, fault string)
	// Skipped counts a call that skipped the judges because of its executor's skip_judge.
	Skipped(executor string)
	// Repeated counts a call that was given the cached verdict of an equal call.
	Repeated()
}

// Fault classifies what kept a judge from giving a verdict.
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
	// FaultModel is a model server that cannot be asked.
	FaultModel Fault = "model"
	// FaultDown is a model server that is not asked because it keeps failing.
	FaultDown Fault = "down"
	// FaultLimit is a judge that used up its turns or tokens.
	FaultLimit Fault = "limit"
	// FaultDepth is a judge nested too deep below other judges.
	FaultDepth Fault = "depth"
	// FaultMount is a workspace that must not be shown to a judge.
	FaultMount Fault = "mount"
	// FaultSandbox is a machine that cannot sandbox a judge's tools.
	FaultSandbox Fault = "sandbox"
	// FaultBudget is a daily budget that is spent.
	FaultBudget Fault = "budget"
	// FaultInstead is a spent budget after which another judge answers.
	FaultInstead Fault = "instead"
)

// JudgeError says why a judge gave no verdict. Fault is a clause that is safe to show,
// such as "the model refused".
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
