package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/metnos/vaglio/gateway/client"
	"github.com/metnos/vaglio/gateway/jsonrpc"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Pins remember how the tools of a server described themselves, beyond the life of the proxy.
// They are safe for concurrent use.
type Pins interface {
	// Meet records the digests of the tools that it has never seen, by name.
	Meet(prints map[string]string)
	// Fits reports whether the tool has described itself the same way before.
	Fits(tool, digest string) bool
	// Accept records the tool's current description, because a person has allowed a call of it.
	Accept(tool, digest string)
}

// toolset is what is known about a server's tools.
type toolset struct {
	pins Pins
	mu   sync.Mutex
	// whole says that listed is complete and current.
	whole  bool
	listed map[string]toolSaid
	// next is a listing whose pages have not all arrived.
	next map[string]toolSaid
}

// toolSaid is how a tool describes itself.
type toolSaid struct {
	digest      string
	destructive bool
}

func newToolset(pins Pins) *toolset {
	return &toolset{pins: pins, listed: map[string]toolSaid{}, next: map[string]toolSaid{}}
}

// stale marks the list as outdated, because the server's tools have changed.
func (t *toolset) stale() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.whole = false
}

// knows reports whether the current list has the tool.
func (t *toolset) knows(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, listed := t.listed[name]
	return t.whole && listed
}

// learn takes a page of the listing; first marks the first page. It returns the cursor of the
// next page, "" if there is none.
func (t *toolset) learn(result strictjson.Value, first bool) (cursor string, ok bool) {
	var page struct {
		Tools []strictjson.Value `json:"tools"`
		Next  string             `json:"nextCursor"`
	}
	if result == nil || strictjson.UnmarshalLoose(result, &page) != nil {
		return "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if first {
		t.next = map[string]toolSaid{}
	}
	for _, raw := range page.Tools {
		name, said, ok := toolOf(raw)
		if !ok {
			return "", false
		}
		if before, twice := t.next[name]; twice && before != said { // It is unknown which of the two would run.
			said = toolSaid{digest: "twice", destructive: true}
		}
		t.next[name] = said
	}
	if page.Next == "" {
		t.listed, t.next, t.whole = t.next, map[string]toolSaid{}, true
		prints := make(map[string]string, len(t.listed))
		for name, said := range t.listed {
			prints[name] = said.digest
		}
		t.pins.Meet(prints)
	}
	return page.Next, true
}

// toolOf parses one tool of a listing. Its digest covers everything that tells a model what the
// tool is for and what it takes.
func toolOf(raw strictjson.Value) (name string, said toolSaid, ok bool) {
	all, err := jsonrpc.Object(raw, "name", "annotations")
	if err != nil || strictjson.UnmarshalLoose(all["name"], &name) != nil || name == "" {
		return "", said, false
	}
	about := map[string]any{}
	for _, key := range []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"} {
		if v, given := all[key]; given {
			about[key] = v
		}
	}
	form, err := strictjson.Canonical(about)
	if err != nil {
		return "", said, false
	}
	sum := sha256.Sum256(form)
	said.digest = hex.EncodeToString(sum[:])
	said.destructive = destroys(all["annotations"])
	return name, said, true
}

// destroys reports whether a tool declares itself destructive, or its annotations cannot be read.
func destroys(annotations strictjson.Value) bool {
	var hints struct {
		Destroys bool `json:"destructiveHint"`
		Reads    bool `json:"readOnlyHint"`
	}
	if annotations == nil {
		return false
	}
	return strictjson.UnmarshalLoose(annotations, &hints) != nil || hints.Destroys && !hints.Reads
}

// concerns returns the reasons to ask that lie in the tool itself, and the digest under which a
// person's yes is remembered.
func (t *toolset) concerns(name string) (all []client.Concern, digest string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	said, listed := t.listed[name]
	if !t.whole || !listed {
		return []client.Concern{client.ToolUnlisted}, ""
	}
	if !t.pins.Fits(name, said.digest) {
		all = append(all, client.ToolChanged)
	}
	if said.destructive {
		all = append(all, client.ToolDestructive)
	}
	return all, said.digest
}

// accept records a tool's description as one that a person has allowed.
func (t *toolset) accept(name, digest string) {
	if digest != "" {
		t.pins.Accept(name, digest)
	}
}
