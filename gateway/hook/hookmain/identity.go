package hookmain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/internal/datafolder"
)

// SocketVariable names the agents' socket; it goes before an address.
const SocketVariable = "METNOS_AGENT_SOCKET"

// socketOf returns where the daemon's socket for agents is: where the environment
// says, else in the data folder, else where it is for everybody's agents.
func socketOf(dir string, env Lookup) (string, error) {
	if path, set := env(SocketVariable); set {
		if !filepath.IsAbs(path) {
			return "", errors.New(SocketVariable + ": must be an absolute path")
		}
		return path, datafolder.CheckSocketPath(path)
	}
	own := filepath.Join(dir, datafolder.AgentSocket)
	if _, err := os.Stat(own); err != nil {
		if _, err := os.Stat(datafolder.SharedSocket); err == nil {
			return datafolder.SharedSocket, nil
		}
	}
	return own, datafolder.CheckSocketPath(own)
}

// TokenFile is where the token is kept of an agent that `vaglio install` named.
func TokenFile(dir, agent string) string { return filepath.Join(dir, "agents", agent+".token") }

// KeepToken keeps the token of an agent for the hook that was installed under its name.
func KeepToken(dir, agent, token string) error {
	path := TokenFile(dir, agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return datafolder.Plain(err)
	}
	return datafolder.Write(path, token+"\n")
}

// TokenOf returns the token of the agent that the hook is of: what the environment
// says, or that of the agent that it was installed as. "" is the agent of the user who
// runs it.
func TokenOf(dir, agent string, env Lookup) (datafolder.Secret, error) {
	const name = "METNOS_AGENT_TOKEN"
	token, err := datafolder.SecretOf(name, setting(env, name), setting(env, name+"_FILE"))
	switch {
	case err != nil || token != "" || agent == "":
		return token, err
	case agent != filepath.Base(agent):
		return "", errors.New("--agent: is no agent's name")
	}
	token, err = datafolder.ReadSecret(TokenFile(dir, agent))
	if err != nil {
		return "", fmt.Errorf("the token of the agent %s cannot be read (%w); run `vaglio install` again", agent, err)
	}
	return token, nil
}
