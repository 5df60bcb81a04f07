package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/regular"
	"github.com/metnos/vaglio/internal/strictjson"
)

// mostPrints is how many forms of one tool are remembered, the newest: a server may
// show different people different ones.
const mostPrints = 8

// maxPins bounds the file, in bytes.
const maxPins = 16 << 20

// FilePins are [Pins] in a file. Several proxies of one server may write it; the
// last one wins, so that at worst a tool is asked about once more.
type FilePins struct {
	path string
	mu   sync.Mutex
	// known is the file, nil before it was read.
	known map[string][]string
	// lost says that the file cannot be read or written: then nothing fits.
	lost bool
}

// NewFilePins returns the pins of a server, which is known by what starts it or by
// its address. They stand below the folder.
func NewFilePins(folder string, server ...string) *FilePins {
	h := sha256.New()
	for _, s := range server {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return &FilePins{path: filepath.Join(folder, hex.EncodeToString(h.Sum(nil)[:12])+".json")}
}

// pinned is the file.
type pinned struct {
	Tools map[string][]string `json:"tools"`
}

// Meet is [Pins.Meet].
func (p *FilePins) Meet(prints map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	fresh := false
	for tool, digest := range prints {
		if _, seen := p.known[tool]; !seen {
			p.known[tool], fresh = []string{digest}, true
		}
	}
	if fresh {
		p.save()
	}
}

// Fits is [Pins.Fits].
func (p *FilePins) Fits(tool, digest string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	return !p.lost && slices.Contains(p.known[tool], digest)
}

// Accept is [Pins.Accept].
func (p *FilePins) Accept(tool, digest string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	known := p.known[tool]
	if slices.Contains(known, digest) {
		return
	}
	known = append(known, digest)
	p.known[tool] = known[max(0, len(known)-mostPrints):]
	p.save()
}

func (p *FilePins) load() {
	if p.known != nil {
		return
	}
	var now pinned
	data, whole, err := regular.Read(p.path, maxPins)
	if err == nil && !whole {
		err = fmt.Errorf("is larger than %d bytes", maxPins)
	}
	if err == nil {
		err = strictjson.Unmarshal(data, &now)
	}
	p.lost = err != nil && !errors.Is(err, fs.ErrNotExist)
	if p.known = now.Tools; p.known == nil || p.lost {
		p.known = map[string][]string{}
	}
}

// save writes the file, unless it is one that could not be read.
func (p *FilePins) save() {
	if p.lost {
		return
	}
	data, err := strictjson.MarshalIndent(pinned{p.known})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(p.path), 0o700)
	}
	if err == nil {
		err = datafolder.Write(p.path, string(data)+"\n")
	}
	p.lost = err != nil
}
