package doctor

import (
	"context"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio/judge/sandbox"
)

// Sandbox tests the sandbox for the tools of judge agents by running a command in it. An instance
// without such judges needs none, so nothing about it counts as wrong. A service is restricted in
// other ways than its user's shell, so if there is a daemon, the daemon runs the test.
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
		c.Found(subject, approval.Fine, "Tools of judge agents run in "+layer.String()+".", "")
	case sandbox.LayerLandlock:
		c.Found(subject, approval.Noted, "Judge agents can read files, in "+layer.String()+", but run no commands: "+layer.Why+".", remedy)
	default:
		c.Found(subject, approval.Noted, "Judge agents have no tools: "+layer.Why+".", remedy)
	}
}
