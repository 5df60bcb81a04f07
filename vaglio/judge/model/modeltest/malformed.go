package modeltest

import (
	_ "embed" // the replies
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

//go:embed malformed.jsonl
var builtin string

// Malformed returns replies, by name, that no judge may accept as a verdict. members are the members
// that a verdict needs besides its score, such as "reason":"r".
func Malformed(t *testing.T, members string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(builtin) {
		var row struct {
			ID    string `json:"id"`
			Reply string `json:"reply"`
		}
		if err := strictjson.UnmarshalLoose([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		all[row.ID] = strings.ReplaceAll(row.Reply, "@", members)
	}
	return all
}
