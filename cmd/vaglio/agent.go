package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/agents"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/internal/terminal"
)

// agentDesk changes the agents, within what the configuration permits.
type agentDesk struct {
	*agents.Agents
	config config
	policy policyfile.Policy
}

// Add adds an agent, whose route must exist.
func (a agentDesk) Add(ctx context.Context, one agents.Agent) (datafolder.Secret, error) { //nolint:gocritic // As the interface wants it.
	if err := a.policy.CheckAgentRoute(one.Route); err != nil {
		return "", &agents.MistakeError{Field: "--route", Problem: "the agent " + err.Error()}
	}
	token, err := a.Agents.Add(ctx, one)
	if err == nil && one.Name == agents.Default && a.config.AgentToken == "" {
		err = agents.SaveDefault(a.config.DataDir, token)
	}
	return token, err
}

// Rotate gives an agent a new token, unless its token is set in the configuration.
func (a agentDesk) Rotate(ctx context.Context, name string) (datafolder.Secret, error) {
	if name == agents.Default && a.config.AgentToken != "" {
		return "", &agents.MistakeError{Field: "name", Problem: "the token of default is METNOS_AGENT_TOKEN; change it there, and restart"}
	}
	token, err := a.Agents.Rotate(ctx, name)
	if err == nil && name == agents.Default {
		err = agents.SaveDefault(a.config.DataDir, token)
	}
	return token, err
}

// Remove removes an agent that neither the policy nor the configuration names.
func (a agentDesk) Remove(ctx context.Context, name string) error {
	switch {
	case slices.Contains(a.policy.AgentNames(), name):
		return &agents.MistakeError{Field: "name", Problem: fmt.Sprintf("%s names the agent %q; remove it there first, and restart", a.policy.Path, name)}
	case name == agents.Default && a.config.AgentToken != "":
		return &agents.MistakeError{Field: "name", Problem: "METNOS_AGENT_TOKEN is set, and would make the agent default again; unset it first"}
	}
	err := a.Agents.Remove(ctx, name)
	if err == nil && name == agents.Default {
		if err = os.Remove(filepath.Join(a.config.DataDir, datafolder.TokenFile)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// toldAgents announces changes of the agents on every channel.
type toldAgents struct {
	owner.Agents
	gate *dispatcher.Dispatcher
}

// Add adds an agent.
func (a toldAgents) Add(ctx context.Context, one agents.Agent) (datafolder.Secret, error) { //nolint:gocritic // As the interface wants it.
	token, err := a.Agents.Add(ctx, one)
	if err == nil {
		err = a.gate.Announce(ctx, approval.Announcement{Kind: approval.AgentAdded, Agent: one.Name})
	}
	return token, err
}

// Rotate gives an agent a new token.
func (a toldAgents) Rotate(ctx context.Context, name string) (datafolder.Secret, error) {
	token, err := a.Agents.Rotate(ctx, name)
	if err == nil {
		err = a.gate.Announce(ctx, approval.Announcement{Kind: approval.AgentRotated, Agent: name})
	}
	return token, err
}

// Remove removes an agent.
func (a toldAgents) Remove(ctx context.Context, name string) error {
	if err := a.Agents.Remove(ctx, name); err != nil {
		return err
	}
	return a.gate.Announce(ctx, approval.Announcement{Kind: approval.AgentRemoved, Agent: name})
}

// checkAgents rejects a policy that names agents that do not exist.
func checkAgents(p *policyfile.Policy, all []agents.Agent) error {
	routes := map[string]string{}
	for i := range all {
		if all[i].Route != "" {
			routes[all[i].Name] = all[i].Route
		}
	}
	return p.CheckAgents(agents.Names(all, web.TryAgent), routes)
}

// openAgents loads the agents, and checks the policy against them.
func openAgents(ctx context.Context, d *daemon, p *policyfile.Policy) (err error) {
	if d.agents, err = agents.Load(ctx, d.store, self(&d.config)); err != nil {
		return err
	}
	if err := d.agents.Begin(ctx, d.config.AgentToken, d.config.DataDir, d.log); err != nil {
		return err
	}
	if err := checkAgents(p, d.agents.List()); err != nil {
		return &configError{err}
	}
	p.Routing.OwnRoute = d.agents.Route
	return nil
}

// self returns the user who runs the daemon.
func self(c *config) agents.Self {
	return agents.Self{UID: uint32(os.Geteuid()), Home: c.Home} //nolint:gosec // Never negative where there are sockets of ours.
}

// withAgents changes the agents: through the daemon if one is running, else directly in the store.
func withAgents(ctx context.Context, method, path string, answer any, offline func(owner.Agents) error) error {
	err := askDaemon(ctx, method, path, answer)
	if !errors.Is(err, owner.ErrNoDaemon) {
		return err
	}
	c, err := loadConfig()
	if err != nil {
		return err
	}
	p, err := policyfile.Load(c.Policy, c.Home)
	if err != nil {
		return &configError{err}
	}
	if err := datafolder.Open(c.DataDir); err != nil {
		return err
	}
	db, err := openStore(c.path(datafolder.StoreFile))
	if err != nil {
		return err
	}
	all, err := agents.Load(ctx, db, self(&c))
	if err == nil {
		err = all.Begin(ctx, c.AgentToken, c.DataDir, slog.New(slog.DiscardHandler))
	}
	if err == nil {
		err = offline(agentDesk{all, c, p})
	}
	return errors.Join(err, db.Close())
}

// knownAgents returns the agents of the data folder; known is false if there is no store yet.
func knownAgents(ctx context.Context, dir string) (all []agents.Agent, known bool, err error) {
	var list owner.AgentList
	if err := (owner.Client{Dir: dir}).Ask(ctx, owner.AskWithin, http.MethodGet, "/agents", &list); err == nil {
		return list.Agents, true, nil
	}
	path := filepath.Join(dir, datafolder.StoreFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	look, err := lookInto(path)
	if err != nil {
		return nil, false, err
	}
	all, err = agents.Read(ctx, look)
	return all, err == nil, errors.Join(err, look.Close())
}

func newAgent(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Manage the agents that may propose calls, and their tokens",
		Long: `Manage the agents that may propose calls. Approvals, permits, turns and denials each
belong to one agent; to any other they do not exist. The policy's routes and rules use
these names.

An agent is known by its token, or by its user: calls that come over the agents'
socket from that user are the agent's. The first start makes the agent 'default'. Its
token is in the data folder; calls over the socket from the user who serves are its, too.

These commands ask the daemon. If none is running, they change the store themselves.

Exit codes: 0 done; 1 refused, with the reason in one sentence and nothing changed;
2 a mistake in the command line or in the configuration.`,
		Example: "  vaglio agent add deployer --route release\n  vaglio agent list",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAgentAdd(std), newAgentList(), newAgentRotate(std), newAgentRemove())
	return cmd
}

const agentExits = `

Exit codes: 0 done; 1 refused, with the reason in one sentence and nothing changed;
2 a mistake in the command line or in the configuration.`

func newAgentAdd(std stdio) *cobra.Command {
	var one agents.Agent
	var uid string
	cmd := &cobra.Command{
		Use:   "add <name>",
		Short: "Add an agent, and print its token once",
		Long: `Add an agent and print its token. Only the token's hash is kept. The hook of
the agent finds it in METNOS_AGENT_TOKEN, or in the file that METNOS_AGENT_TOKEN_FILE
names; an agent with a user of its own needs none on this machine.` + agentExits,
		Example: `  vaglio agent add deployer
  vaglio agent add claude --uid 1002 --workspace /srv/app --route coders`,
		Args: asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			one.Name = args[0]
			form := url.Values{"name": {one.Name}, "workspace": one.Workspaces, "route": {one.Route}, "uid": {uid}}
			for i, dir := range one.Workspaces {
				if abs, err := filepath.Abs(dir); err == nil && dir != "" {
					form["workspace"][i] = abs
				}
			}
			token, err := addAgent(cmd.Context(), form)
			if err != nil {
				return err
			}
			return printToken(std, one.Name, token)
		},
	}
	cmd.Flags().StringArrayVar(&one.Workspaces, "workspace", nil, "folder that the agent works in; may be repeated")
	cmd.Flags().StringVar(&one.Route, "route", "", "route of its calls, unless a rule with conditions sends them elsewhere")
	cmd.Flags().StringVar(&uid, "uid", "", "number of the user that it runs as, if that is not you")
	return cmd
}

// addAgent adds the agent that a form describes, and returns its token.
func addAgent(ctx context.Context, form url.Values) (string, error) {
	var made owner.NewToken
	err := withAgents(ctx, http.MethodPost, "/agents?"+form.Encode(), &made, func(all owner.Agents) error {
		asked, err := owner.AgentOf(form)
		if err != nil {
			return err
		}
		token, err := all.Add(ctx, asked)
		made.Token = string(token)
		return err
	})
	return made.Token, err
}

// printToken prints the token and, for the person, what to do with it.
func printToken(std stdio, name, token string) error {
	if _, err := fmt.Fprintln(std.out, token); err != nil {
		return err
	}
	tell(std.err, fmt.Sprintf("This is the token of %s. It is not shown again: give it to the agent as METNOS_AGENT_TOKEN, or in a file of mode 600.", name))
	return nil
}

func newAgentList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the agents",
		Long:    "List the agents: their users, routes and workspaces. Tokens are not shown: only their\nhashes are kept." + agentExits,
		Example: "  vaglio agent list\n  vaglio agent list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := loadDataDir()
			if err != nil {
				return err
			}
			all, _, err := knownAgents(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), owner.AgentList{Agents: append([]agents.Agent{}, all...)})
			}
			return owner.WriteAgents(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newAgentRotate(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "rotate <name>",
		Short: "Give an agent a new token, and void the old one",
		Long: `Give an agent a new token and print it. The old one is void at once;
what the agent asked before stays its own. The hook that 'vaglio install' wrote for it
gets the new one.` + agentExits,
		Example: "  vaglio agent rotate deployer",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			var made owner.NewToken
			err := withAgents(cmd.Context(), http.MethodPost, "/agents/"+url.PathEscape(args[0])+"/rotate", &made, func(all owner.Agents) error {
				token, err := all.Rotate(cmd.Context(), args[0])
				made.Token = string(token)
				return err
			})
			if err != nil {
				return err
			}
			// Keep the hook that was installed under this name working.
			if dir, err := loadDataDir(); err == nil {
				if _, err := os.Stat(hookmain.TokenFile(dir, args[0])); err == nil {
					if err := hookmain.KeepToken(dir, args[0], made.Token); err != nil {
						return err
					}
				}
			}
			return printToken(std, args[0], made.Token)
		},
	}
}

func newAgentRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove <name>",
		Short: "Remove an agent",
		Long: `Remove an agent. Its token and its user can propose nothing more. What it
asked stays in the history. What waits is denied, and its unused permits and grants
are revoked, if the daemon runs; if not, they end with their time. If the policy names
the agent, change the policy first.` + agentExits,
		Example: "  vaglio agent remove deployer",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			var none owner.AgentList
			return withAgents(cmd.Context(), http.MethodDelete, "/agents/"+url.PathEscape(args[0]), &none, func(all owner.Agents) error {
				return all.Remove(cmd.Context(), args[0])
			})
		},
	}
}

// checkKnownAgents checks the policy against the agents of the data folder. If there is no instance
// yet, it returns a line with the agents that the policy names.
func checkKnownAgents(ctx context.Context, p *policyfile.Policy, dir string) (unchecked string, err error) {
	all, known, err := knownAgents(ctx, dir)
	if err != nil {
		return "", err
	}
	if named := p.AgentNames(); !known && len(named) > 0 {
		return "unchecked  the agents " + strings.Join(named, ", ") + ": there is no instance here that has agents\n", nil
	}
	if !known {
		return "", nil
	}
	return "", checkAgents(p, all)
}

// tokenHere returns the token that is stored for a client's agent, "" if there is none: its hook was
// installed before any daemon ran.
func tokenHere(client string) string {
	dir, err := loadDataDir()
	if err != nil {
		return ""
	}
	token, _ := datafolder.ReadSecret(hookmain.TokenFile(dir, client))
	return string(token)
}
