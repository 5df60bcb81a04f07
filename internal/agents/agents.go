// Package agents stores who may propose calls: each agent's name, the hash of its token, the
// user it runs as, its workspaces and its route. Asks, permits, turns and routes refer to
// agents by name.
package agents

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Agents are the agents of one instance. It is safe for concurrent use, and always agrees with
// the store.
type Agents struct {
	store Store
	// own is the user who runs the daemon.
	own Self

	mu  sync.RWMutex
	all []kept
}

// Self is the user who runs the daemon.
type Self struct {
	UID uint32
	// Home is the user's home folder.
	Home string
}

// Agent is an identity under which calls are proposed.
type Agent struct {
	Name string `json:"name"`
	// UID is the user whose connections to the agents' socket belong to the agent, even
	// without a token; nil means none.
	UID *uint32 `json:"uid,omitempty"`
	// Workspaces are the absolute paths of the folders that the agent works in.
	Workspaces []string `json:"workspaces,omitempty"`
	// Route is where the agent's calls go unless a rule with conditions sends them
	// elsewhere; empty leaves it to the rules.
	Route string    `json:"route,omitempty"`
	Made  time.Time `json:"made"`
}

// Default is the agent that exists after the first start. Its token comes from that start, and
// it is the agent of the user who runs the daemon.
const Default = "default"

// Reader reads records.
type Reader interface {
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
}

// Store reads and updates records.
type Store interface {
	Reader
	Update(ctx context.Context, kind approval.Kind, idOrKey string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
}

// record is the ID of the record that holds all agents.
const record = "agents"

// kept is an agent as stored.
type kept struct {
	Agent
	SHA256 string `json:"sha256"` // hex
}

// body is the body of the record.
type body struct {
	Version int    `json:"v"`
	Agents  []kept `json:"agents"`
}

// Load returns the agents in the store. A store that never had any is empty; [Agents.Begin]
// creates the first one.
func Load(ctx context.Context, s Store, own Self) (*Agents, error) {
	a := &Agents{store: s, own: own}
	all, err := read(ctx, s)
	a.all = all
	return a, err
}

func read(ctx context.Context, s Reader) ([]kept, error) {
	r, err := s.Get(ctx, approval.KindMeta, record)
	if errors.Is(err, approval.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	return decode(r.Body)
}

func decode(text []byte) ([]kept, error) {
	var b body
	if err := strictjson.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("agents: the record cannot be read: %w", err)
	}
	if b.Version != 1 {
		return nil, errors.New("agents: the record is from a newer vaglio")
	}
	return b.Agents, nil
}

// Hash returns the form in which a token is stored. A token is random enough to need neither a
// salt nor a slow hash.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

func hashText(token datafolder.Secret) string {
	h := Hash(string(token))
	return hex.EncodeToString(h[:])
}

// newToken returns a token with 260 random bits.
func newToken() datafolder.Secret { return datafolder.Secret("vaglio_" + rand.Text() + rand.Text()) }

// Agent returns the name of the agent that holds the token. It takes the same time
// for every wrong token.
func (a *Agents) Agent(token string) (name string, ok bool) {
	h := Hash(token)
	have := []byte(hex.EncodeToString(h[:]))
	a.mu.RLock()
	defer a.mu.RUnlock()
	for i := range a.all {
		if subtle.ConstantTimeCompare([]byte(a.all[i].SHA256), have) == 1 {
			name, ok = a.all[i].Name, token != ""
		}
	}
	return name, ok
}

// Peer returns the name of the agent that the user's processes belong to.
func (a *Agents) Peer(uid uint32) (name string, ok bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.peer(uid)
}

// peer is Peer with a.mu held.
func (a *Agents) peer(uid uint32) (name string, ok bool) {
	for i := range a.all {
		one := &a.all[i]
		if one.UID != nil && *one.UID == uid || one.UID == nil && one.Name == Default && uid == a.own.UID {
			return one.Name, true
		}
	}
	return "", false
}

// List returns all agents, sorted by name.
func (a *Agents) List() []Agent {
	a.mu.RLock()
	defer a.mu.RUnlock()
	all := make([]Agent, len(a.all))
	for i := range a.all {
		all[i] = a.all[i].Agent
	}
	slices.SortFunc(all, func(x, y Agent) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// Route returns the agent's own route, "" if it has none.
func (a *Agents) Route(name string) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if i := index(a.all, name); i >= 0 {
		return a.all[i].Route
	}
	return ""
}

// Known reports whether an agent with that name exists.
func (a *Agents) Known(name string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return index(a.all, name) >= 0
}

// Add creates an agent and returns its token, which is not stored. If the description is
// invalid, the error is a [*MistakeError].
func (a *Agents) Add(ctx context.Context, one Agent) (datafolder.Secret, error) {
	if err := a.check(&one); err != nil {
		return "", err
	}
	token := newToken()
	one.Made = time.Now().UTC().Truncate(time.Second)
	err := a.change(ctx, func(all []kept) ([]kept, error) {
		return append(all, kept{one, hashText(token)}), a.taken(all, &one)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// Rotate gives an agent a new token, which invalidates the old one.
func (a *Agents) Rotate(ctx context.Context, name string) (datafolder.Secret, error) {
	token := newToken()
	if err := a.setHash(ctx, name, token); err != nil {
		return "", err
	}
	return token, nil
}

func (a *Agents) setHash(ctx context.Context, name string, token datafolder.Secret) error {
	return a.change(ctx, func(all []kept) ([]kept, error) {
		i := index(all, name)
		if i < 0 {
			return nil, missing(name, all)
		}
		all[i].SHA256 = hashText(token)
		return all, nil
	})
}

// Remove deletes an agent: neither its token nor its user may propose anything afterwards.
func (a *Agents) Remove(ctx context.Context, name string) error {
	return a.change(ctx, func(all []kept) ([]kept, error) {
		i := index(all, name)
		if i < 0 {
			return nil, missing(name, all)
		}
		return slices.Delete(all, i, i+1), nil
	})
}

// change changes the record, and then the agents in memory.
func (a *Agents) change(ctx context.Context, change func([]kept) ([]kept, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []kept
	_, err := a.store.Update(ctx, approval.KindMeta, record, func(r approval.Record) (approval.Record, error) {
		all = nil
		var err error
		if r.Exists() {
			if all, err = decode(r.Body); err != nil {
				return r, err
			}
		}
		if all, err = change(all); err != nil {
			return r, err
		}
		r.ID = record
		r.Body, err = strictjson.Marshal(body{1, append([]kept{}, all...)})
		return r, err
	})
	if _, ok := errors.AsType[*MistakeError](err); ok {
		return err
	}
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	a.all = all
	return nil
}

func index(all []kept, name string) int {
	return slices.IndexFunc(all, func(k kept) bool { return k.Name == name })
}
