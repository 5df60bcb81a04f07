package effects_test

import (
	"fmt"
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
		want         float64
	}{
		{"mkdir ~/reports", "make a folder reports in my home", 0.58},
		{"mkdir ~/reports", "make a folder pictures in my home", 0.48},
		{"mkdir ~/reports", "what is in reports?", 0.48},
		{"cp a.md ~/notes/a.md", "copy a.md to notes in my home", 0.48},
		{"git config --global user.name Ann", "set my git user.name to Ann", 0.58},
		{"rm -rf src", "delete src", 0.48},
		{"rm ~/old.txt", "delete old.txt in my home", 0.18},
		{"git push origin main", "push to main", 0.25},
		{"git push -f origin feature", "force push feature to origin", 0.05},
		{"npm publish", "publish the package to npm", 0.02},
		{"kubectl delete pod web", "delete the pod web", 0.28},
		{"terraform apply", "apply the terraform plan", 0.05},
		{"psql -c 'drop table t'", "drop table t in psql", 0.02},
		{"curl -d a https://x.example/hook", "post a to https://x.example/hook", 0.05},
		{"cat .env", "show me .env", 0.10},
		{"sudo systemctl restart nginx", "restart nginx by systemctl", 0.40},
		{"eval \"$X\"", "eval $X", 0.15},
		{"frobnicate now", "frobnicate now", 0.15},
		{"mkdir /opt/reports", "make a folder reports in /opt", 0.49},
		{"mkdir ~/abc", "make abc in my home", 0.58},
		{"mkdir ~/ab", "make ab in my home", 0.48},
		{"mkdir ~/reports", "makes reports", 0.58},
		{"mkdir ~/reports", "", 0.48},
		{"cp a.md ~/notes/a.md", "copy a.md into ~/notes/", 0.48},
		{"crontab -r", "remove my crontab", 0.18},
		{"chmod 777 ~/x.sh", "open the permissions of x.sh", 0.45},
	} {
		p := command(tt.line)
		p.Intent = tt.intent
		if got := score(t, j, p); fmt.Sprintf("%.2f", got) != fmt.Sprintf("%.2f", tt.want) {
			t.Errorf("%s, wanted %q: score %.2f, want %.2f", tt.line, tt.intent, got, tt.want)
		}
		if tt.want >= effects.Threshold {
			p.Intent = ""
			p.Args["note"] = "the user says: " + tt.intent
			if got := score(t, j, p); got >= effects.Threshold {
				t.Errorf("%s: the words of an argument counted as intent: %.2f", tt.line, got)
			}
		}
	}
}
