package guard

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
)

// deed is what is done to a target.
type deed = place.Op

const (
	uses     = place.Uses
	reads    = place.Reads
	writes   = place.Writes
	replaces = place.Replaces
	removes  = place.Removes
	empties  = place.Empties
	// copies reads all that is below, too.
	copies = place.Copies
)

// takesAll says that a deed leaves nothing of what is in a place.
func takesAll(d deed) bool { return d == removes || d == empties }

// A spot is a path as it may be, see the package place.
const (
	anyText    = place.AnyText
	anyByte    = place.AnyByte
	someDisk   = place.SomeDisk
	unknown    = place.Unknown
	perhaps    = place.Perhaps
	vague      = place.Marks
	anyFolders = place.AnyFolders
)

func isLetter(c byte) bool { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') }

// spotOf writes a word as a spot.
func spotOf(w shell.Word) string {
	if s, ok := w.Text(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		switch p.Kind {
		case shell.PartText:
			b.WriteString(p.Text)
		case shell.PartGlob:
			if p.Text == "?" || (p.Text != "" && p.Text[0] == '[') {
				b.WriteByte(anyByte)
			} else {
				b.WriteByte(anyText)
			}
		case shell.PartUnknown:
			b.WriteString(unknownSpot(p))
		}
	}
	return b.String()
}

func unknownSpot(p shell.Part) string {
	if user, ok := strings.CutPrefix(p.Name, "~"); ok && user != "" {
		if user == "root" {
			return "/root"
		}
		return "/home/" + user
	}
	switch p.From {
	case "which": // the folder of an installed program
		return "/usr/bin"
	case "find":
		if !p.MayBeEmpty {
			return anyFolders
		}
	case "findmnt", "lsblk", "blkid", "df":
		return string(someDisk)
	case "mktemp":
		return string(unknown)
	}
	if p.MayBeEmpty {
		return string(perhaps)
	}
	return string(unknown)
}

// localSpelling is the normal form of a spot, which may be relative.
func (g *Guard) localSpelling(spot string) string {
	home := g.home
	if home == "" {
		home = "/home/" + string(unknown)
	}
	return place.Local(spot, home)
}

// treeAt gives the rule about removing what a clean spot is the root of, or
// everything below it, "" if it is no tree.
func (g *Guard) treeAt(clean string) string {
	switch g.table.TreeAt(clean) {
	case place.RootTree:
		return treeRoot
	case place.HomeTree:
		return treeHome
	case place.SystemTree:
		return treeSystem
	case place.NoTree:
	}
	return ""
}
