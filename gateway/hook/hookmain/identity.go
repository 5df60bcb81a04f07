package hookmain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/internal/datafolder"
)

// sharedSocket is where agents find a daemon that runs as a user of its own.
const sharedSocket = "/run/vaglio/agent.sock"

// socketOf returns where the daemon's socket for agents is: where the environment
// says, else in the data folder, else where it is for everybody's agents.
func socketOf(dir string, env Lookup) (string, error) {
	if path, set := env("METNOS_AGENT_SOCKET"); set {
		if !filepath.IsAbs(path) {
			return "", errors.New("METNOS_AGENT_SOCKET: must be an absolute path")
		}
		return path, datafolder.CheckSocketPath(path)
	}
	own := filepath.Join(dir, datafolder.AgentSocket)
	if _, err := os.Stat(own); err != nil {
		if _, err := os.Stat(sharedSocket); err == nil {
			return sharedSocket, nil
		}
	}
	return own, datafolder.CheckSocketPath(own)
}

// TokenFile is where the token is kept of an agent that `vaglio install` named.
func TokenFile(dir, agent string) string { return filepath.Join(dir, "agents", agent+".token") }

// tokenOf returns the token of the agent that the hook is of: what the environment
// says, or that of the agent that it was installed as. "" is the agent of the user who
// runs it.
func tokenOf(dir, agent string, env Lookup) (string, error) {
	token, set := env("METNOS_AGENT_TOKEN")
	file, inFile := env("METNOS_AGENT_TOKEN_FILE")
	switch {
	case set && inFile:
		return "", errors.New("METNOS_AGENT_TOKEN: is set, and so is METNOS_AGENT_TOKEN_FILE; set one of them")
	case set && token == "":
		return "", errors.New("METNOS_AGENT_TOKEN: is set but empty; unset it, or give the token")
	case set:
		return token, nil
	case inFile:
		secret, err := datafolder.ReadSecret(file)
		return string(secret), err
	case agent == "":
		return "", nil
	case agent != filepath.Base(agent):
		return "", errors.New("--agent: is no agent's name")
	}
	secret, err := datafolder.ReadSecret(TokenFile(dir, agent))
	if err != nil {
		return "", fmt.Errorf("the token of the agent %s cannot be read (%w); run `vaglio install` again", agent, err)
	}
	return string(secret), nil
}
