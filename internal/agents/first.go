package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
)

// Begin creates the agent [Default] at the first start, and keeps its token in step with its
// source: the token that the operator chose, or else the token file in the folder. If there is
// neither, it creates the file with a new token. Once the default agent has been removed, only a
// chosen token brings it back.
func (a *Agents) Begin(ctx context.Context, chosen datafolder.Secret, dir string, log *slog.Logger) error {
	_, err := a.store.Get(ctx, approval.KindMeta, record)
	first := errors.Is(err, approval.ErrNotFound)
	if err != nil && !first {
		return fmt.Errorf("agents: %w", err)
	}
	a.mu.RLock()
	at := index(a.all, Default)
	a.mu.RUnlock()
	if at < 0 && !first && chosen == "" {
		return nil
	}
	token, made := chosen, false
	if token == "" {
		if token, made, err = fileToken(filepath.Join(dir, datafolder.TokenFile)); err != nil {
			return fmt.Errorf("agent token: %w", err)
		}
	}
	if name, ok := a.Agent(string(token)); ok && name != Default {
		return fmt.Errorf("agent token: the agent %q already has it; each agent needs a token of its own", name)
	}
	return a.follow(ctx, at < 0, token, made, log)
}

// follow makes token the default agent's token; made says that it was newly generated.
func (a *Agents) follow(ctx context.Context, first bool, token datafolder.Secret, made bool, log *slog.Logger) error {
	if first {
		return a.change(ctx, func(all []kept) ([]kept, error) {
			one := kept{Agent{Name: Default, Made: time.Now().UTC().Truncate(time.Second)}, hashText(token)}
			return append(all, one), nil
		})
	}
	if _, ok := a.Agent(string(token)); ok { // It is the default agent's: Begin refuses another agent's token.
		return nil
	}
	if err := a.setHash(ctx, Default, token); err != nil {
		return err
	}
	if made {
		log.WarnContext(ctx, "the agents' token file was missing: a new token was made, the old one no longer works", "file", datafolder.TokenFile)
		return nil
	}
	log.WarnContext(ctx, "the agents' token changed: the old one no longer works")
	return nil
}

// SaveDefault writes a new token of the agent [Default] to the folder's token file, where the
// next start reads it.
func SaveDefault(dir string, token datafolder.Secret) error {
	return datafolder.Write(filepath.Join(dir, datafolder.TokenFile), string(token)+"\n")
}

// fileToken reads the token from its file. If the file is missing, it creates one with a new token
// and returns made as true.
func fileToken(path string) (token datafolder.Secret, made bool, err error) {
	token, err = datafolder.ReadSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	token = newToken()
	if err := datafolder.Write(path, string(token)+"\n"); err != nil {
		return "", false, err
	}
	return token, true, nil
}

// Names returns the names under which proposals can come: ours and the agents'.
func Names(all []Agent, ours ...string) []string {
	names := append([]string(nil), ours...)
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// Read returns the agents in a store that is only being inspected. For a store that was never
// served, it returns the default agent, which the first start would create.
func Read(ctx context.Context, from Reader) ([]Agent, error) {
	all, err := read(ctx, from)
	if err != nil {
		return nil, err
	}
	if all == nil {
		return []Agent{{Name: Default}}, nil
	}
	return (&Agents{all: all}).List(), nil
}
