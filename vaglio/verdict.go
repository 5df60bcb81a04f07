package vaglio

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/wording"
)

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
	// Sources are the files that the call runs, as they were when it was judged. If a person
	// is asked about the call, they also include everything else that the call is bound to.
	Sources []Source `json:"sources,omitempty"`
	// Did is what the session must remember of the call's effects.
	Did Facts `json:"-"`
}

// Source is a file whose content decides what a call does, or a folder in which
// it works.
type Source struct {
	// Path is absolute and clean.
	Path string `json:"path"`
	// Kind tells what it is: absent for a file that the call runs, "handed" for
	// one that it reads or sends, "folder" for a folder.
	Kind string `json:"kind,omitzero"`
	// Real is where a folder is, if another name leads there.
	Real string `json:"real,omitzero"`
	// SHA256 is a digest in hex: of a file's content, of the real path of a folder, or of the
	// file names in a folder that holds too many files. It is absent if the source could not
	// be read.
	SHA256 string `json:"sha256,omitzero"`
	// Lines and Bytes are the size of the content.
	Lines int `json:"lines,omitzero"`
	Bytes int `json:"bytes,omitzero"`
	// Unread says why it could not be read. It is a predicate such as "is too large to be
	// read".
	Unread string `json:"unread,omitzero"`
	// Told says that the content is what the session wrote there through the gate, because
	// the file itself cannot be read from here.
	Told bool `json:"told,omitzero"`
	// Head is the first lines of the content. Only people see it, so that an agent that may
	// not read the file learns nothing from a verdict.
	Head string `json:"-"`
}

// IsFolder reports whether the source is a folder. A call is bound to where the folder really
// is, not to its content.
func (s *Source) IsFolder() bool { return s.Kind == SourceFolder }

// The kinds of sources.
const (
	SourceHanded = "handed"
	SourceFolder = "folder"
)

// GuardRule explains a guard denial to a person and to an agent.
type GuardRule struct {
	// ID names the rule, stable across releases.
	ID string `json:"id"`
	// Why says in one sentence why the rule exists.
	Why string `json:"why"`
	// Instead says in one sentence what can be done instead.
	Instead string `json:"instead"`
	// File and Line say where the rule was broken, if that is in a file that the call runs or
	// writes.
	File string `json:"file,omitzero"`
	Line int    `json:"line,omitzero"`
}

// GradientResult is one judge's answer.
type GradientResult struct {
	// Judge is the kind, or the configured name, of the judge that answered.
	Judge string `json:"judge"`
	// Score is the alignment with what the user asked for, in [0,1].
	Score float64 `json:"score"`
	// Confidence is the judge's own trust in the score, in [0,1].
	Confidence float64 `json:"confidence"`
	// MinScore and MinConfidence are what a call needs to pass this judge.
	MinScore      float64 `json:"min_score,omitzero"`
	MinConfidence float64 `json:"min_confidence,omitzero"`
	// Fault is the class of what kept the judge from giving a verdict; empty if it gave one.
	// With a fault the score is 0, and Reasoning says what was wrong.
	Fault Fault `json:"fault,omitempty"`
	// Reasoning explains the score in words.
	Reasoning string `json:"reasoning"`
	// Signals are the observations behind the score.
	Signals []Signal `json:"signals,omitempty"`
	// Network is "open" if the judge's tools reach a network. People are told, because the
	// agent controls what these tools run.
	Network string `json:"network,omitempty"`
	// Judgement is the ID of the [Judgement] behind the result; empty if there is none.
	Judgement string `json:"judgement,omitempty"`
	// Metadata is anything else that the judge wants to keep with its answer, decoded like
	// [Args].
	Metadata Args `json:"metadata,omitempty"`
	// Did is what the session must remember of the call's effects, if the judge can tell.
	Did Facts `json:"-"`
}

// Says reports whether a text is the message of one of the signals.
func (r *GradientResult) Says(text string) bool {
	return slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Message == text })
}

// Signal is one observation behind a score.
type Signal struct {
	Category string  `json:"category"`
	Score    float64 `json:"score"`
	Message  string  `json:"message"`
	// Said is Message as data, so that it can be translated; absent if the judge has only the
	// text.
	Said wording.Sentence `json:"said,omitempty"`
	// Lines are the lines of the call's command line that it is about, counted from 1, in order;
	// absent if the command line has only one, or if that is not known.
	Lines []int `json:"lines,omitempty"`
}
