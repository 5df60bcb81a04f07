package reading

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Spot writes a word as the path that it may be, in the notation of the package place.
func Spot(w shell.Word) string {
	if s, ok := w.Text(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		switch p.Kind {
		case shell.PartText:
			b.WriteString(p.Text)
		case shell.PartGlob:
			b.WriteByte(patternSpot(p))
		case shell.PartUnknown:
			if p.From == "mktemp" && b.Len() == 0 {
				b.WriteString("/tmp/") // so that paths that climb out of it are noticed
			}
			b.WriteString(unknownSpot(p))
		}
	}
	return b.String()
}

func patternSpot(p shell.Part) byte {
	if p.Level {
		return place.Unknown
	}
	if p.Text == "?" || strings.HasPrefix(p.Text, "[") {
		return place.AnyByte
	}
	return place.AnyText
}

func unknownSpot(p shell.Part) string {
	if user, ok := strings.CutPrefix(p.Name, "~"); ok && user != "" {
		return "/home/" + user
	}
	switch p.From {
	case "which": // the folder of an installed program
		return "/usr/bin"
	case "find":
		if !p.MayBeEmpty {
			return place.AnyFolders
		}
	case "findmnt", "lsblk", "blkid", "df":
		return string(place.SomeDisk)
	case "mktemp":
		return string(place.Unknown)
	}
	if p.MayBeEmpty {
		return string(place.Perhaps)
	}
	return string(place.Unknown)
}
