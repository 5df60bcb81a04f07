// Package far configures access to a daemon on another machine: its address, the authorities
// that vouch for it, and the agent's token, which is kept on this machine.
package far

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/client/network"
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/regular"
)

// Gate says which daemon to ask, and as whom. The zero value is the daemon of this machine,
// asked as the agent of the current user.
type Gate struct {
	// Agent is the name under which the token is kept.
	Agent string
	// At is the daemon's address. CA is a file with the certificates of the authorities that
	// may have signed the daemon's certificate; "" means the system's.
	At, CA string
}

// Elsewhere reports whether an address or an authority is set.
func (g Gate) Elsewhere() bool { return g.At != "" || g.CA != "" }

// Reach returns how hooks and proxies reach the daemon.
func (g Gate) Reach() hookmain.Reach {
	to := hookmain.Reach{Agent: g.Agent}
	if g.Elsewhere() {
		to.Far = g.Client
	}
	return to
}

// Client returns a client of the daemon for the agent that holds the token.
func (g Gate) Client(token string) (*client.Client, error) {
	const most = 1 << 20 // bytes of certificates
	switch {
	case g.At == "":
		return nil, errors.New("--ca: goes with --at")
	case g.CA == "":
		return network.New(g.At, token)
	}
	text, whole, err := regular.Read(g.CA, most)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", datafolder.Plain(err))
	}
	authorities := x509.NewCertPool()
	if !whole || !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca: %s holds no certificate in PEM", g.CA)
	}
	return network.NewTrusting(g.At, token, authorities)
}

// Check returns an error that says what keeps a hook or a proxy from reaching its daemon.
func (g Gate) Check(ctx context.Context, env hookmain.Lookup) error {
	c, _, err := hookmain.Connect(env, g.Reach())
	if err != nil {
		return err
	}
	return check(ctx, c)
}

// check checks that the daemon is running and knows the agent.
func check(ctx context.Context, c *client.Client) error {
	const patience = 15 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer c.Close()
	return c.Check(ctx)
}

// Asked is where to ask for a token that is neither stored nor in the environment: a person,
// or a line of the input.
type Asked struct {
	In  *bufio.Reader
	Out io.Writer
}

// Token finds the agent's token and checks that the daemon knows it. It takes the token from
// the environment, else from the data folder, else from whoever is asked. keep stores the
// token and says so; it is nil if the token is stored already.
func (g Gate) Token(ctx context.Context, env hookmain.Lookup, from Asked) (keep func() error, err error) {
	dir, err := hookmain.Folder(env)
	if err != nil {
		return nil, err
	}
	file := hookmain.TokenFile(dir, g.Agent)
	token, err := hookmain.TokenOf(dir, "", env)
	if err != nil {
		return nil, err
	}
	kept := false
	if token == "" {
		if token, err = datafolder.ReadSecret(file); errors.Is(err, fs.ErrNotExist) {
			token, err = from.token(g)
		} else {
			kept = err == nil
		}
	}
	if err != nil {
		return nil, err
	}
	c, err := g.Client(string(token))
	if err == nil {
		err = check(ctx, c)
	}
	switch {
	case err != nil && kept:
		return nil, fmt.Errorf("%w; the token is that of %s, as METNOS_AGENT_TOKEN gives none", err, file)
	case err != nil || kept:
		return nil, err
	}
	return func() error {
		if err := errors.Join(datafolder.Open(dir), hookmain.KeepToken(dir, g.Agent, string(token))); err != nil {
			return err
		}
		_, err := fmt.Fprintf(from.Out, "Kept the token in %s\n", file)
		return err //nolint:wrapcheck // The terminal's own.
	}, nil
}

// token asks for a daemon's token. It reports a mistake in the address first, before anybody
// types a secret.
func (a Asked) token(of Gate) (datafolder.Secret, error) {
	c, err := of.Client("not asked for yet")
	if err != nil {
		return "", err
	}
	c.Close()
	_, err = io.WriteString(a.Out, "The agent's token, as `vaglio agent add` printed it where the daemon is:\n")
	if err != nil {
		return "", err //nolint:wrapcheck // The terminal's own.
	}
	line, err := a.In.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("there is no token: give it as METNOS_AGENT_TOKEN, in the file of METNOS_AGENT_TOKEN_FILE, or on a line of the input")
	}
	return datafolder.Secret(line), nil
}

// Absolute returns g with an absolute CA path, for settings that are read elsewhere.
func (g Gate) Absolute() (Gate, error) {
	if g.CA == "" {
		return g, nil
	}
	path, err := filepath.Abs(g.CA)
	if err != nil {
		return g, fmt.Errorf("--ca: %w", err)
	}
	g.CA = path
	return g, nil
}
