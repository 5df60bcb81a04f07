package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheDocumentShowsTheTable checks that docs/architecture.md lists every package, and says of
// each what it may import. There "internal" means any package below it, and "and below" whatever
// the named package may import; the door to the JSON library is not listed.
func TestTheDocumentShowsTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 5 && strings.HasPrefix(cells[1], " `") {
			for _, pkg := range quoted(cells[1]) {
				shown[pkg] = cells[3]
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(rooms)) {
		cell, ok := shown[pkg]
		if !ok && pkg != "internal/archtest" {
			t.Errorf("%s is not listed", pkg)
		}
		if !ok || strings.Contains(cell, "everything") || strings.Contains(cell, "and below") {
			continue
		}
		says := quoted(cell)
		for _, may := range rooms[pkg].may {
			of := strings.HasPrefix(may, "internal/") && slices.Contains(says, "internal")
			if !of && may != "internal/strictjson" && !slices.Contains(says, may) {
				t.Errorf("%s: that it may import %s is not said", pkg, may)
			}
		}
		for _, said := range says {
			if _, ours := rooms[said]; ours && !slices.Contains(rooms[pkg].may, said) {
				t.Errorf("%s: it may not import %s", pkg, said)
			}
		}
	}
	for pkg := range shown {
		if _, ok := rooms[pkg]; !ok && !strings.HasPrefix(pkg, "METNOS_") {
			t.Errorf("%s: there is no such package", pkg)
		}
	}
}

var inQuotes = regexp.MustCompile("`([^`{]+)(?:\\{([^}]+)\\})?`")

// quoted returns the packages in a cell: `internal/{own,rows}` stands for two.
func quoted(cell string) []string {
	var all []string
	for _, m := range inQuotes.FindAllStringSubmatch(cell, -1) {
		for end := range strings.SplitSeq(m[2], ",") {
			all = append(all, m[1]+end)
		}
	}
	return all
}
