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

// mostPrints is how many descriptions of one tool are remembered, the newest ones: a server may
// show different people different ones.
const mostPrints = 8

// maxPins is the maximum size of the file, in bytes.
const maxPins = 16 << 20

// FilePins keeps [Pins] in a file. Several proxies of one server may write the file. The last
// one wins: at worst, people are asked about a tool once more.
type FilePins struct {
	path string
	mu   sync.Mutex
	// known is the content of the file, nil before it is read.
	known map[string][]string
	// lost says that the file could not be read or written. Then nothing fits.
	lost bool
}

// NewFilePins returns the pins of a server, kept in a file below folder. The server is
// identified by its command or its address.
func NewFilePins(folder string, server ...string) *FilePins {
	h := sha256.New()
	for _, s := range server {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return &FilePins{path: filepath.Join(folder, hex.EncodeToString(h.Sum(nil)[:12])+".json")}
}

// pinned is the format of the file.
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

// save writes the file, unless it could not be read.
func (p *FilePins) save() {
	if p.lost {
		return
	}
	data, err := strictjson.MarshalIndent(pinned{p.known})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(p.path), 0o700) //nolint:gosec // The folder is the data folder's.
	}
	if err == nil {
		err = datafolder.Write(p.path, string(data)+"\n")
	}
	p.lost = err != nil
}
