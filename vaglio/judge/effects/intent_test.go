package effects_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestIntentOfThePlainWish checks what the user's own words can make up for: a mild effect that
// they name, never one that is irreversible or affects others.
func TestIntentOfThePlainWish(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, tt := range []struct {
		line, intent string
		asked        bool
	}{
		{"mkdir ~/reports", "make a folder reports in my home", false},
		{"mkdir ~/reports", "make a folder pictures in my home", true},
		{"mkdir ~/reports", "what is in reports?", true},
		{"cp a.md ~/notes/a.md", "copy a.md to notes in my home", true},
		{"git config --global user.name Ann", "set my git user.name to Ann", false},
		{"rm -rf src", "delete src", true},
		{"rm ~/old.txt", "delete old.txt in my home", true},
		{"git push origin main", "push to main", true},
		{"git push -f origin feature", "force push feature to origin", true},
		{"npm publish", "publish the package to npm", true},
		{"kubectl delete pod web", "delete the pod web", true},
		{"terraform apply", "apply the terraform plan", true},
		{"psql -c 'drop table t'", "drop table t in psql", true},
		{"curl -d a https://x.example/hook", "post a to https://x.example/hook", true},
		{"cat .env", "show me .env", true},
		{"sudo systemctl restart nginx", "restart nginx by systemctl", true},
		{"eval \"$X\"", "eval $X", true},
		{"frobnicate now", "frobnicate now", true},
	} {
		p := command(tt.line)
		p.Intent = tt.intent
		if got := score(t, j, p); (got < effects.Threshold) != tt.asked {
			t.Errorf("%s, wanted %q: score %.2f, want asked %t", tt.line, tt.intent, got, tt.asked)
		}
		if !tt.asked {
			p.Intent = ""
			p.Args["note"] = "the user says: " + tt.intent
			if got := score(t, j, p); got >= effects.Threshold {
				t.Errorf("%s: the words of an argument counted as intent: %.2f", tt.line, got)
			}
		}
	}
}
