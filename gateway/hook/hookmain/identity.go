package hookmain

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/metnos/vaglio/internal/datafolder"
)

// SocketVariable names the environment variable with the agents' socket. It wins over an address.
const SocketVariable = "METNOS_AGENT_SOCKET"

// socketOf returns the path of the daemon's socket for agents: the environment's, else the one
// in the data folder, else, if only that exists, the one shared by all users' agents.
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

// TokenFile returns the file with the token of an agent that `vaglio install` named.
func TokenFile(dir, agent string) string { return filepath.Join(dir, "agents", agent+".token") }

// KeepToken stores an agent's token for the hook that was installed under its name.
func KeepToken(dir, agent, token string) error {
	path := TokenFile(dir, agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return datafolder.Plain(err)
	}
	return datafolder.Write(path, token+"\n")
}

// agentVariable names the environment variable with an agent's token.
const agentVariable = "METNOS_AGENT_TOKEN"

// within returns an environment in which the daemon is the one that the hook was installed for. What
// an agent, or a file that it wrote, puts into the hook's environment must not have it ask another.
// Who knows the agent's token may name another daemon, as `vaglio doctor` does. A file that holds
// the token proves nothing: the hook could read it for anybody.
func (r Reach) within(env Lookup) Lookup {
	if r.Data == "" || r.Agent == "" {
		return env
	}
	stored, err := datafolder.ReadSecret(TokenFile(r.Data, filepath.Base(r.Agent)))
	if given, _ := env(agentVariable); err == nil && stored != "" && subtle.ConstantTimeCompare([]byte(given), []byte(stored)) == 1 {
		return env
	}
	return func(name string) (value string, set bool) {
		switch name {
		case datafolder.FolderVariable:
			return r.Data, true
		case SocketVariable:
			return "", false
		}
		return env(name)
	}
}

// TokenOf returns the token for the hook: the environment's, else that of the agent it was
// installed as. If agent is "", there may be no token: the hook then acts as the agent of the
// user who runs it.
func TokenOf(dir, agent string, env Lookup) (datafolder.Secret, error) {
	token, err := datafolder.SecretOf(agentVariable, setting(env, agentVariable), setting(env, agentVariable+"_FILE"))
	switch {
	case err != nil || token != "" || agent == "":
		return token, err
	case agent != filepath.Base(agent):
		return "", errors.New("--agent: must be the name of an agent")
	}
	token, err = datafolder.ReadSecret(TokenFile(dir, agent))
	if err != nil {
		return "", fmt.Errorf("the token of the agent %s cannot be read (%w); run `vaglio install` again", agent, err)
	}
	return token, nil
}
