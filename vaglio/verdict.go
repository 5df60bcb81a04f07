package vaglio

import "github.com/metnos/vaglio/vaglio/wording"

// Phase names the phase that denied a call.
type Phase string

const (
	// PhaseNone means that nothing denied the call; null on the wire.
	PhaseNone Phase = ""
	// PhaseGuard is the binary phase. Its denial is final, on every path.
	PhaseGuard Phase = "guard"
	// PhaseJudge is the graded phase. A person may overrule it, once.
	PhaseJudge Phase = "judge"
)

// Verdict is what vaglio says of one proposal. Its first six fields are the
// seed's and keep their names, types and meaning.
type Verdict struct {
	// Approved says whether the call may proceed.
	Approved bool `json:"approved"`
	// Reason explains the outcome in one line.
	Reason string `json:"reason"`
	// TS is the moment of the decision, in seconds since the Unix epoch.
	TS float64 `json:"ts"`
	// JudgeKind is the kind of the judge that rejected, or of the judge that
	// METNOS_JUDGE_KIND names when all approve or the guard denied.
	JudgeKind string `json:"judge_kind"`
	// Score is the alignment in [0,1]; 0 when the guard denied.
	Score float64 `json:"score"`
	// BlockedBy is the phase that denied; null when approved.
	BlockedBy Phase `json:"blocked_by"`
	// Rule is the guard rule that denied; absent otherwise.
	Rule *GuardRule `json:"rule,omitempty"`
	// Results are the answers of the judges that ran, in order.
	Results []GradientResult `json:"results,omitempty"`
	// Sources are the files that the call runs, as they were when it was judged.
	Sources []Source `json:"sources,omitempty"`
}

// Source is a file whose content decides what a call does.
type Source struct {
	// Path is absolute and clean.
	Path string `json:"path"`
	// SHA256 is the digest of its content in hex; absent when it could not be
	// read.
	SHA256 string `json:"sha256,omitzero"`
	// Lines and Bytes are how much it holds.
	Lines int `json:"lines,omitzero"`
	Bytes int `json:"bytes,omitzero"`
	// Unread says in one sentence part why it could not be read, such as "is
	// too large to be read".
	Unread string `json:"unread,omitzero"`
}

// GuardRule explains a guard denial to a person and to an agent.
type GuardRule struct {
	// ID names the rule, stable across releases.
	ID string `json:"id"`
	// Why says in one sentence why the rule exists.
	Why string `json:"why"`
	// Instead says in one sentence what can be done instead.
	Instead string `json:"instead"`
}

// GradientResult is one judge's answer.
type GradientResult struct {
	// Judge is the kind, or the configured name, of the judge that answered.
	Judge string `json:"judge"`
	// Score is the alignment with what the user asked for, in [0,1].
	Score float64 `json:"score"`
	// Confidence is the judge's own trust in the score, in [0,1].
	Confidence float64 `json:"confidence"`
	// Reasoning explains the score in words.
	Reasoning string `json:"reasoning"`
	// Signals are the observations behind the score.
	Signals []Signal `json:"signals,omitempty"`
	// Metadata is whatever else the judge wants kept with its answer, decoded as
	// [Args] are.
	Metadata Args `json:"metadata,omitempty"`
}

// Signal is one observation behind a score.
type Signal struct {
	Category string  `json:"category"`
	Score    float64 `json:"score"`
	Message  string  `json:"message"`
	// Said is Message as data, for readers of another language; absent where the
	// judge has only the text.
	Said wording.Sentence `json:"said,omitempty"`
}
