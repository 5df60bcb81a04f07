package hookmain

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/internal/datafolder"
)

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
		if _, err := os.Stat(datafolder.SharedSocket); err == nil {
			return datafolder.SharedSocket, nil
		}
	}
	return own, datafolder.CheckSocketPath(own)
}

// tokenOf returns the token of the agent that the hook is of; "" is the agent of
// the user who runs it.
func tokenOf(env Lookup) (string, error) {
	token, set := env("METNOS_AGENT_TOKEN")
	file, inFile := env("METNOS_AGENT_TOKEN_FILE")
	switch {
	case set && inFile:
		return "", errors.New("METNOS_AGENT_TOKEN: is set, and so is METNOS_AGENT_TOKEN_FILE; set one of them")
	case set && token == "":
		return "", errors.New("METNOS_AGENT_TOKEN: is set but empty; unset it, or give the token")
	case inFile:
		secret, err := datafolder.ReadSecret(file)
		return string(secret), err
	}
	return token, nil
}
