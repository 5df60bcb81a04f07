package vaglio

import "time"

// Judgement is a child execution: what a judge agent was shown, did and said
// about one call. Secrets in it are masked.
type Judgement struct {
	ID string `json:"id"`
	// Parent is the judgement whose own call this one judges; empty below the
	// agent's call itself. Depth counts from 1.
	Parent string    `json:"parent,omitzero"`
	Depth  int       `json:"depth"`
	At     time.Time `json:"at"`
	// Took is in seconds.
	Took float64 `json:"took"`

	// Agent, TurnID, Step and Executor are the call's.
	Agent    string `json:"agent"`
	TurnID   string `json:"turn_id,omitzero"`
	Step     int    `json:"step,omitzero"`
	Executor string `json:"executor"`

	// Judge is the judge's kind, Model what it is asked of.
	Judge string `json:"judge"`
	Model string `json:"model"`
	// Layer names what its tools were kept in, Network is "open" where they
	// reached one.
	Layer   string `json:"layer,omitzero"`
	Network string `json:"network,omitzero"`

	// Turns is how often the model was asked, Input and Output are tokens, Cost is
	// in millionths of the currency unit.
	Turns  int   `json:"turns"`
	Input  int   `json:"input"`
	Output int   `json:"output"`
	Cost   int64 `json:"cost,omitzero"`

	// Result is the verdict; nil without one, and then Fault says why.
	Result *GradientResult `json:"result,omitempty"`
	Fault  Fault           `json:"fault,omitempty"`
	Why    string          `json:"why,omitzero"`

	Transcript []Said `json:"transcript"`
}

// Said is one contribution to a judgement's transcript.
type Said struct {
	// By is "system", "asked", "said", or "called" and "tool" with a tool's name.
	By   string `json:"by"`
	Text string `json:"text"`
}
