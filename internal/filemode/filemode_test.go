package filemode_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/filemode"
)

func TestModes(t *testing.T) {
	for _, row := range []struct {
		mode                                       string
		breaks, closes, opens, shows, bars, setsID bool
	}{
		{"755", false, false, false, true, false, false},
		{"0777", true, false, true, true, false, false},
		{"700", false, true, false, false, false, false},
		{"000", true, true, false, false, true, false},
		{"o+w", true, false, true, false, false, false},
		{"a-x", true, false, false, false, true, false},
		{"u+s", false, false, false, false, false, true},
		{"4755", false, false, false, true, false, true},
		{"g+r", false, false, false, false, false, false},
	} {
		for what, got := range map[string][2]bool{
			"breaks": {filemode.BreaksFolder(row.mode), row.breaks}, "closes": {filemode.ClosesFolder(row.mode), row.closes},
			"opens": {filemode.Opens(row.mode), row.opens}, "shows": {filemode.Shows(row.mode), row.shows},
			"bars": {filemode.Bars(row.mode, true), row.bars}, "sets id": {filemode.SetsID(row.mode), row.setsID},
		} {
			if got[0] != got[1] {
				t.Errorf("%s %s: %v", row.mode, what, got[0])
			}
		}
	}
}
