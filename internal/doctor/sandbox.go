package doctor

import (
	"context"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio/judge/sandbox"
)

// Sandbox proves what keeps the tools of judge agents in, by running a command in
// it. Who has no such judges needs none, so nothing of it is wrong. A service is
// fenced in otherwise than its user's shell, so where there is a daemon, it looks.
func (c *Chart) Sandbox(ctx context.Context) {
	const subject = "sandbox"
	host, err := sandbox.Find(ctx, sandbox.HostConfig{})
	if err != nil {
		c.Found(subject, approval.Unseen, terminal.Sentence(err.Error()), "")
		return
	}
	const remedy = "Install bubblewrap, and let its user make user namespaces (a unit of systemd by 'sudo vaglio setup --judge-agents'): docs/judges.md, \"The sandbox\"."
	switch layer := host.Layer(); layer.Name {
	case sandbox.LayerBubblewrap:
		c.Found(subject, approval.Fine, "Tools of judge agents are kept in by "+layer.String()+".", "")
	case sandbox.LayerLandlock:
		c.Found(subject, approval.Noted, "Judge agents can read files, kept in by "+layer.String()+", and run no commands: "+layer.Why+".", remedy)
	default:
		c.Found(subject, approval.Noted, "Judge agents have no tools: "+layer.Why+".", remedy)
	}
}
