package vaglio

import "time"

// Judgement is a child execution: what a judge agent was shown, did and said
// about one call. Secrets in it are masked.
type Judgement struct {
	ID string `json:"id"`
	// Parent is the judgement whose own tool call this one judges; empty if this one judges
	// the agent's call. Depth counts from 1.
	Parent string    `json:"parent,omitzero"`
	Depth  int       `json:"depth"`
	At     time.Time `json:"at"`
	// Took is in seconds.
	Took float64 `json:"took"`

	// Agent, TurnID, Step and Executor are those of the call.
	Agent    string `json:"agent"`
	TurnID   string `json:"turn_id,omitzero"`
	Step     int    `json:"step,omitzero"`
	Executor string `json:"executor"`

	// Judge is the judge's kind; Model is the model that it asks.
	Judge string `json:"judge"`
	Model string `json:"model"`
	// Layer names the sandbox of the judge's tools. Network is "open" if the tools reached a
	// network.
	Layer   string `json:"layer,omitzero"`
	Network string `json:"network,omitzero"`

	// Turns counts the requests to the model, Input and Output are in tokens, and Cost is in
	// millionths of the currency unit.
	Turns  int   `json:"turns"`
	Input  int   `json:"input"`
	Output int   `json:"output"`
	Cost   int64 `json:"cost,omitzero"`

	// Result is the verdict; nil if there is none, and then Fault and Why say why.
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
