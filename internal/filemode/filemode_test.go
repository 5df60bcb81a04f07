package filemode_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/filemode"
)

func TestModes(t *testing.T) {
	for _, row := range []struct {
		mode                                                string
		breaks, closes, opens, shows, bars, setsID, private bool
	}{
		{"755", false, false, false, true, false, false, false},
		{"0777", true, false, true, true, false, false, false},
		{"700", false, true, false, false, false, false, true},
		{"000", true, true, false, false, true, false, true},
		{"o+w", true, false, true, false, false, false, false},
		{"a-x", true, false, false, false, true, false, false},
		{"u+s", false, false, false, false, false, true, false},
		{"4755", false, false, false, true, false, true, false},
		{"600", true, true, false, false, true, false, true},
		{"go-rwx", false, false, false, false, false, false, true},
		{"o=", true, false, false, false, false, false, true},
		{"go-rwx,u+x", false, false, false, false, false, false, true},
		{"u=rw,go=", true, false, false, false, true, false, true},
		{"u+x", false, false, false, false, false, false, false},
		{"u+s,go=", true, false, false, false, false, true, false},
		{"-r", true, false, false, false, true, false, false},
		{"g+r", false, false, false, false, false, false, false},
	} {
		for what, got := range map[string][2]bool{
			"breaks": {filemode.BreaksFolder(row.mode), row.breaks}, "closes": {filemode.ClosesFolder(row.mode), row.closes},
			"opens": {filemode.Opens(row.mode), row.opens}, "shows": {filemode.Shows(row.mode), row.shows},
			"bars": {filemode.Bars(row.mode, true), row.bars}, "sets id": {filemode.SetsID(row.mode), row.setsID},
			"private": {filemode.Private(row.mode), row.private},
		} {
			if got[0] != got[1] {
				t.Errorf("%s %s: %v", row.mode, what, got[0])
			}
		}
	}
}
