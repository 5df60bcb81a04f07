package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
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
	// asked are the client's requests for a page, by the keys of their ids; true marks the first.
	asked map[string]bool
	// shown are the digests of what the client was told of each tool, which may differ from what
	// the server lists when we ask. unseen says that the client was told more than we could read.
	shown  map[string]string
	unseen bool
}

// mostShown is how many tools shown may hold, and how many requests asked.
const mostShown = 10_000

// toolSaid is how a tool describes itself.
type toolSaid struct {
	digest      string
	destructive bool
}

func newToolset(pins Pins) *toolset {
	return &toolset{
		pins: pins, listed: map[string]toolSaid{}, next: map[string]toolSaid{}, asked: map[string]bool{}, shown: map[string]string{},
	}
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

// asks notes that the client requests a page of the listing, under the key of its id.
func (t *toolset) asks(key string, m jsonrpc.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked) >= mostShown { // nobody answers them
		t.asked, t.unseen = map[string]bool{}, true
	}
	t.asked[key] = !bytes.Contains(m.Params, []byte(`"cursor"`))
}

// told takes the server's answer to such a request, and reports whether it is one.
func (t *toolset) told(key string, m jsonrpc.Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, ok := t.asked[key]
	delete(t.asked, key)
	if !ok || m.Error != nil {
		return ok
	}
	p := pageOf(m.Result)
	t.unseen = p.unread || t.unseen && !first
	for _, one := range p.tools {
		if _, known := t.shown[one.name]; !known && len(t.shown) >= mostShown {
			t.unseen = true
			break
		}
		t.shown[one.name] = one.said.digest
	}
	t.take(p, first)
	return true
}

// lost notes that the client got what may be the answer to such a request, and that it could not be
// read. An empty key stands for any request.
func (t *toolset) lost(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, waits := t.asked[key]; waits || key == "" && len(t.asked) > 0 {
		t.unseen = true
	}
}

// page is a page of a listing.
type page struct {
	tools []namedTool
	next  string
	// unread says that some of it could not be read.
	unread bool
}

type namedTool struct {
	name string
	said toolSaid
}

func pageOf(result strictjson.Value) (p page) {
	var raw struct {
		Tools []strictjson.Value `json:"tools"`
		Next  string             `json:"nextCursor"`
	}
	if result == nil || strictjson.UnmarshalLoose(result, &raw) != nil {
		return page{unread: true}
	}
	p.next = raw.Next
	for _, one := range raw.Tools {
		name, said, ok := toolOf(one)
		if p.unread = p.unread || !ok; ok {
			p.tools = append(p.tools, namedTool{name, said})
		}
	}
	return p
}

// learn takes a page of a listing that we asked for; first marks the first page. It returns the
// cursor of the next page, "" if there is none.
func (t *toolset) learn(result strictjson.Value, first bool) (cursor string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := pageOf(result)
	t.take(p, first)
	return p.next, !p.unread
}

// take adds a page, if it could be read, to the listing that is arriving.
func (t *toolset) take(p page, first bool) {
	if p.unread {
		return
	}
	if first {
		t.next = map[string]toolSaid{}
	}
	for _, one := range p.tools {
		if before, twice := t.next[one.name]; twice && before != one.said { // It is unknown which of the two would run.
			one.said = toolSaid{digest: "twice", destructive: true}
		}
		t.next[one.name] = one.said
	}
	if p.next != "" {
		return
	}
	t.listed, t.next, t.whole = t.next, map[string]toolSaid{}, true
	prints := make(map[string]string, len(t.listed))
	for name, said := range t.listed {
		prints[name] = said.digest
	}
	t.pins.Meet(prints)
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

// concerns returns the reasons to ask that lie in the tool itself, and the digests under which a
// person's yes is remembered.
func (t *toolset) concerns(name string) (all []client.Concern, digests []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	said, listed := t.listed[name]
	if !t.whole || !listed {
		return []client.Concern{client.ToolUnlisted}, nil
	}
	digests = []string{said.digest}
	if shown, told := t.shown[name]; told && shown != said.digest {
		digests = append(digests, shown)
	}
	if t.unseen || slices.ContainsFunc(digests, func(d string) bool { return !t.pins.Fits(name, d) }) {
		all = append(all, client.ToolChanged)
	}
	if said.destructive {
		all = append(all, client.ToolDestructive)
	}
	return all, digests
}

// accept records a tool's descriptions as ones that a person has allowed.
func (t *toolset) accept(name string, digests []string) {
	for _, digest := range digests {
		t.pins.Accept(name, digest)
	}
}
