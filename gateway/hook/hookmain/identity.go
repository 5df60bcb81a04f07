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
func tokenOf(env Lookup) (datafolder.Secret, error) {
	const name = "METNOS_AGENT_TOKEN"
	return datafolder.SecretOf(name, setting(env, name), setting(env, name+"_FILE"))
}
