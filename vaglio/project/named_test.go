package project

import (
	"slices"
	"strings"
	"testing"
)

// TestRowsAreFoundByAPartOfTheirNames compares the rows that are found for a file with a look at
// each, for files with the table's own names and names like them.
func TestRowsAreFoundByAPartOfTheirNames(t *testing.T) {
	r := Default()
	files := []string{"", "/", "x", "/x", "/p/", "/p//x.sh", "/p/.", "/p/..sh", "/p/spec/", "/spec/x", "/p/inspec/x", "/p/@.sh"}
	for _, rows := range r.table {
		for i := range rows {
			for _, name := range rows[i].files {
				bare := strings.TrimPrefix(name, "@")
				files = append(files, name, bare, "/"+name, "/"+bare, "/p/"+bare, "/p"+bare, "/p/x"+bare, "/p/"+bare+"x", "/p/"+bare+"/x.y", bare+"/q.toml", "/p/"+strings.TrimSuffix(bare, "/"))
			}
		}
	}
	found := 0
	for _, n := range []*named{r.named, r.clients} {
		for _, file := range files {
			var want []*row
			for i := range n.rows {
				if n.rows[i].names(file) {
					want = append(want, &n.rows[i])
				}
			}
			found += len(want)
			if got := n.rowsOf(file); !slices.Equal(got, want) {
				t.Errorf("%q: %d rows, want %d", file, len(got), len(want))
			}
		}
	}
	if found < len(files) {
		t.Errorf("%d rows name %d files", found, len(files))
	}
}
