package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/metnos/vaglio/gateway/acp"
	"github.com/metnos/vaglio/gateway/far"
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/gateway/mcp"
	"github.com/metnos/vaglio/internal/hosts"
)

// mcpFlags are the flags of `vaglio mcp`.
type mcpFlags struct {
	name, listen, upstream string
	limit                  time.Duration
	to                     far.Gate
}

func newMCP(std stdio) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags] -- <command>",
		Short: "Gate an MCP server: ask before each tool call",
		Long: `Gate an MCP server: a proxy between it and its client, over stdio or HTTP, that asks
before each tools/call and resources/read. All other messages pass as they were written.
A call that is not allowed is answered with the reason. While a person is asked, the
client is told of progress.

A tool whose description or schema has changed since it was first seen is asked about
once; one that declares itself destructive, each time. What a tool says about itself
spares no question.

The server's exit code becomes this command's. 1 the server could not be started or
broke off; 2 a mistake in the command line or in the configuration.`,
		Example: `  vaglio mcp -- npx -y @modelcontextprotocol/server-filesystem /srv/notes
  vaglio mcp --listen 127.0.0.1:8788 --upstream https://mcp.example.com/mcp
  vaglio mcp wrap .mcp.json`,
		Args: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(std, args)
			if err != nil {
				return err
			}
			if f.listen != "" {
				return serveMCP(cmd.Context(), std, f, o)
			}
			in, done := between(std)
			defer done()
			code, err := mcp.Serve(cmd.Context(), o, args, in, std.out, std.err)
			if code > 0 && err == nil {
				return &exitError{code: code}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "the server's name in the client's configuration")
	cmd.Flags().DurationVar(&f.limit, "limit", 0, "how long the client waits for a call, if vaglio does not know")
	cmd.Flags().StringVar(&f.listen, "listen", "", "the loopback address on which to stand before an HTTP server")
	cmd.Flags().StringVar(&f.upstream, "upstream", "", "the URL of that server")
	addCaller(cmd.Flags(), &f.to)
	cmd.AddCommand(newMCPWrap(std), newMCPUnwrap(std), newMCPApprove(std))
	return cmd
}

// inTurn prepares a command that passes messages on: it mostly waits for others, and a second thread
// would only add wake-ups.
func inTurn() { runtime.GOMAXPROCS(1) }

// between returns the input of such a command.
func between(std stdio) (in io.Reader, done func()) {
	inTurn()
	return jsonrpc.Awaited(std.in, std.out, std.err)
}

func newACP(std stdio) *cobra.Command {
	var limit time.Duration
	var to far.Gate
	cmd := &cobra.Command{
		Use:   "acp [flags] -- <agent>",
		Short: "Gate an agent in an editor (ACP): answer what it would ask its user",
		Long: `Gate an agent in an editor: a proxy between the two, which speak the Agent Client
Protocol over stdio, that answers each session/request_permission: allowed once, or not.
All other messages pass as they were written. It sees only what the agent asks about;
the hook of 'vaglio install' sees every call.

The agent's exit code becomes this command's. 1 the agent could not be started or
broke off; 2 a mistake in the command line or in the configuration.`,
		Example: "  vaglio acp -- gemini --acp",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || cmd.ArgsLenAtDash() != 0 {
				return fmt.Errorf("%s needs the agent's command behind --, as in: %s", cmd.CommandPath(), firstExample(cmd))
			}
			if limit < 0 {
				return errors.New("--limit must be more than 0, such as 1h")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			gate, _, err := hookmain.Connect(hookmain.Variables(environ()), to.Reach())
			if err != nil {
				return err
			}
			o := acp.Options{Gate: gate, Limit: limit, Log: std.err}
			in, done := between(std)
			defer done()
			code, err := acp.Serve(cmd.Context(), o, args, in, std.out, std.err)
			if code > 0 && err == nil {
				return &exitError{code: code}
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&limit, "limit", time.Hour, "how long a person may take")
	addCaller(cmd.Flags(), &to)
	return cmd
}

func newMCPWrap(std stdio) *cobra.Command {
	i := &installer{std: std}
	cmd := &cobra.Command{
		Use:   "wrap <file>",
		Short: "Gate the MCP servers in a client's configuration",
		Long: `Put 'vaglio mcp' before each MCP server that a client's configuration starts as a
process, under "mcpServers" or "servers". The change is shown, and made if you agree; a
copy of the file stays beside it. Servers that are reached by an address stay as they
are: see 'vaglio mcp --listen'. With --at, calls go to a daemon on another machine, as
with 'vaglio install'.

Exit codes: 0 done, or there was nothing to do; 1 not done, and why; 2 a mistake in the
command line.`,
		Example: "  vaglio mcp wrap .mcp.json\n  vaglio mcp wrap ~/.cursor/mcp.json --yes",
		Args:    asUsed,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := locate(&i.o); err != nil {
				return err
			}
			var err error
			if i.o.Program, err = os.Executable(); err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			if err := askedOnce(i.o, args[0]); err != nil {
				return err
			}
			if i.to.Elsewhere() {
				if err := i.nameFar(cmd.Context(), "mcp"); err != nil {
					return err
				}
			}
			s, err := install.Wrap(args[0], i.o)
			if err != nil {
				return err
			}
			for _, name := range s.Left {
				tell(std.err, "vaglio: "+name+" is reached by an address; put vaglio mcp --listen before it")
			}
			i.o.Client = args[0]
			return i.apply([]install.Change{s.Change})
		},
	}
	cmd.Flags().BoolVar(&i.yes, "yes", false, "do it without asking")
	addGate(cmd.Flags(), &i.to)
	return cmd
}

// askedOnce refuses to gate servers whose tools a hook already asks about, because a person would be
// asked twice about each call.
func askedOnce(o install.Options, file string) error {
	if base := filepath.Base(file); base != ".mcp.json" && base != ".claude.json" {
		return nil
	}
	o.Client, o.Scope = "claude-code", install.User
	state, err := install.Look(o)
	if err != nil || !state.Installed || len(state.Off) > 0 {
		return nil //nolint:nilerr // What is not there asks nothing.
	}
	return fmt.Errorf("the hook in %s asks about the tools of these servers already, and with both you would be asked twice; take it out first: vaglio uninstall claude-code", state.Path)
}

func newMCPUnwrap(std stdio) *cobra.Command {
	i := &installer{std: std}
	cmd := &cobra.Command{
		Use:   "unwrap <file>",
		Short: "Undo 'vaglio mcp wrap'",
		Long: `Remove 'vaglio mcp' from the MCP servers in a client's configuration. A file that
nobody has changed since it was wrapped is restored to the byte.

Exit codes: 0 done, or there was nothing to do; 1 not done, and why; 2 a mistake in the
command line.`,
		Example: "  vaglio mcp unwrap .mcp.json",
		Args:    asUsed,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := install.Unwrap(args[0])
			if err != nil {
				return err
			}
			i.o.Client = args[0]
			return i.apply([]install.Change{s.Change})
		},
	}
	cmd.Flags().BoolVar(&i.yes, "yes", false, "do it without asking")
	return cmd
}

func newMCPApprove(std stdio) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "approve",
		Short: "Serve the tool that Claude Code asks instead of its user",
		Long: `Serve, over stdio, the MCP tool "approve" for Claude Code's --permission-prompt-tool.
Claude Code asks it only where it would ask its user; the hook of 'vaglio install
claude-code' sees every call.`,
		Example: `  claude -p … --mcp-config '{"mcpServers":{"vaglio":{"command":"vaglio","args":["mcp","approve"]}}}' \
    --permission-prompt-tool mcp__vaglio__approve`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.name = "approve"
			o, err := f.options(std, nil)
			if err != nil {
				return err
			}
			in, done := between(std)
			defer done()
			return mcp.Approve(cmd.Context(), o, in, std.out)
		},
	}
	cmd.Flags().DurationVar(&f.limit, "limit", 0, "how long Claude Code waits for the tool, unless its settings say otherwise")
	addCaller(cmd.Flags(), &f.to)
	return cmd
}

func (f *mcpFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case f.limit < 0 || f.limit > 0 && f.limit < time.Second:
		return errors.New("--limit must be a second or more, such as 5m")
	case (f.listen == "") != (f.upstream == ""):
		return errors.New("--listen and --upstream go together")
	case f.listen == "":
		return checkCommand(cmd, args)
	case len(args) > 0:
		return fmt.Errorf("with --upstream no server is started; leave %q out", args[0])
	}
	return f.checkAddresses()
}

// checkCommand requires a server's command after "--".
func checkCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the server's command behind --, as in: %s", cmd.CommandPath(), firstExample(cmd))
	}
	if cmd.ArgsLenAtDash() != 0 {
		return fmt.Errorf("vaglio mcp knows no command %q%s; write -- before a server's command", args[0], meantCommand(cmd, args[0]))
	}
	return nil
}

func (f *mcpFlags) checkAddresses() error {
	u, err := url.Parse(f.upstream)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
		return errors.New("--upstream must be a URL such as https://mcp.example.com/mcp, without a user or a query")
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil || !hosts.Loopback(host) {
		return errors.New("--listen must be a loopback address such as 127.0.0.1:8788; to serve others, put a server with TLS in front")
	}
	return nil
}

// options returns the options of the proxy.
func (f *mcpFlags) options(std stdio, args []string) (mcp.Options, error) {
	o := mcp.Options{Name: f.name, Limit: f.limit, Log: std.err}
	server := args
	if f.listen != "" {
		server = []string{f.upstream}
	} else {
		cwd, err := os.Getwd()
		if err != nil {
			return o, fmt.Errorf("find this folder: %w", err)
		}
		o.Cwd = cwd
	}
	if f.name != "" {
		server = []string{"name", f.name}
	} else {
		o.Name = serverName(f.upstream, args)
	}
	gate, dir, err := hookmain.Connect(hookmain.Variables(environ()), f.to.Reach())
	if err != nil {
		return o, err
	}
	o.Gate = gate
	o.Pins = mcp.NewFilePins(filepath.Join(dir, "mcp"), server...)
	return o, nil
}

// serverName returns a name for a server without --name: its host, or the first word of its command
// that says what it is.
func serverName(upstream string, args []string) string {
	if u, err := url.Parse(upstream); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	name := ""
	for _, a := range args {
		base := filepath.Base(a)
		if strings.HasPrefix(a, "-") || name != "" && !strings.Contains(a, "/") {
			continue
		}
		if name = base; !launches(base) {
			break
		}
	}
	return name
}

// launches reports whether a program only starts other programs.
func launches(program string) bool {
	switch program {
	case "npx", "uvx", "node", "python", "python3", "env", "uv", "bunx", "deno", "docker":
		return true
	}
	return false
}

// serveMCP serves the HTTP proxy until ctx ends.
func serveMCP(ctx context.Context, std stdio, f mcpFlags, o mcp.Options) error {
	inTurn()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	tell(std.err, fmt.Sprintf("vaglio: http://%s stands before %s", l.Addr(), f.upstream))
	return mcp.ServeHTTP(ctx, o, l, f.upstream)
}
