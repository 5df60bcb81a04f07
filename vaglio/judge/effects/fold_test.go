package effects_test

import (
	"fmt"
	"strings"
	"testing"
)

// maxSignals is the maximum number of signals in one answer.
const maxSignals = 20

// said returns the messages of a command's signals.
func said(t *testing.T, command string) []string {
	t.Helper()
	out, err := newJudge(t).Grade(t.Context(), callOf(t, command))
	if err != nil {
		t.Fatal(err)
	}
	if out.Reasoning != out.Signals[0].Message && out.Reasoning != "It only reads." {
		t.Errorf("the reason %q is not the first signal %q", out.Reasoning, out.Signals[0].Message)
	}
	list := make([]string, len(out.Signals))
	for i := range out.Signals {
		list[i] = out.Signals[i].Message
	}
	return list
}

func names(pattern string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " "+pattern, i)
	}
	return b.String()
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, command string
		signals       int
		first, last   string
	}{
		{"one folder", "rm" + names("/backup/f%d", 297), 1, "Deletes 297 files below /backup outside", "Deletes 297"},
		{"as few as are counted", "rm" + names("/backup/f%d", 3), 1, "Deletes 3 files below /backup", "Deletes 3"},
		{"two are told", "rm /backup/a /backup/b", 2, "Deletes /backup/a outside", "Deletes /backup/b"},
		{"the same twice is one", "rm /backup/a /backup/a /backup/b /backup/b", 2, "Deletes /backup/a", "Deletes /backup/b"},
		{"another deed is apart", "rm" + names("/backup/f%d", 3) + "; touch /backup/x", 2, "Deletes 3 files below /backup", "Creates /backup/x"},
		{"many folders are counted", "rm" + names("/b%d/f", 60), maxSignals, "Deletes /b0/f", "And 41 more like these."},
		{"as many as fit", "rm" + names("/b%d/f", maxSignals), maxSignals, "Deletes /b0/f", "Deletes /b9/f"},
		{"one more", "rm" + names("/b%d/f", maxSignals+1), maxSignals, "Deletes /b0/f", "And 2 more like these."},
		{"what is better is counted", "wc a; head a; wc a; rm" + names("/b%d/f", maxSignals), maxSignals, "Deletes /b0/f", "And 3 more like these."},
		{"what is better is listed", "wc a; head a; wc a; rm" + names("/b%d/f", maxSignals-2), maxSignals, "Deletes /b0/f", "Reads with wc."},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			list := said(t, r.command)
			if len(list) != r.signals || !strings.HasPrefix(list[0], r.first) || !strings.HasPrefix(list[len(list)-1], r.last) {
				t.Errorf("%d signals, the first %q, the last %q", len(list), list[0], list[len(list)-1])
			}
		})
	}
}

func TestNotesAreCounted(t *testing.T) {
	t.Parallel()
	list := said(t, "true"+names("; bash s%d.sh", 50))
	if got := list[len(list)-1]; got != "And 31 more like these." {
		t.Errorf("the last of %d is %q", len(list), got)
	}
}

func TestSentencesNameObjects(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"terraform destroy -auto-approve":                 "Destroys the managed infrastructure;",
		"scp -P 22 web:/srv/x out":                        "Copies web:/srv/x to out;",
		"scp scp://web/x .":                               "Copies scp://web/x to .;",
		"rsync -a web::mod/x out":                         "Copies web::mod/x to out;",
		"kubectl cp web:/x .":                             "Copies web:/x to .;",
		"docker cp web:/x .":                              "Copies web:/x to .;",
		"docker run --rm -v /srv/a:/d alpine rm -rf /d/x": "Deletes /srv/a/x outside",
		"docker run --rm -v v:/d alpine rm -rf /d/x":      "Deletes /d/x in the volume v;",
		"docker compose run web rm -rf /d":                "Deletes /d outside the workspace on web;",
		"git branch -D old":                               "Deletes the branch old;",
		"git tag -d v1":                                   "Deletes the tag v1;",
		"kubectl delete pod web --force":                  "Deletes pod web;",
		"kubectl delete -f x.yaml":                        "Deletes what x.yaml describes in the cluster;",
		"git switch -f main":                              "Switches to main and throws",
		"kubectl delete ns x --dry-run=none":              "Deletes the namespace x;",
		"git lfs unlock --force=true a.psd -f":            "Breaks the lock of somebody else on a.psd;",
		"docker rm web":                                   "Removes the container web; it cannot be undone, and touches more than the workspace.",
		"docker rm web db":                                "Removes the containers web and db;",
		"docker rmi -f a":                                 "Removes the image a;",
		"docker volume rm a b":                            "Removes the volumes a and b with their data;",
		"aws s3 rb --force s3://shop":                     "Deletes the bucket s3://shop with all that is in it;",
		"gsutil rb gs://a gs://b":                         "Deletes the buckets gs://a and gs://b;",
		"git branch -D a b":                               "Deletes the branches a and b;",
		"git push upstream v1.4.0":                        "Pushes v1.4.0 to upstream;",
	} {
		if got := said(t, command); !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: %q, want %q", command, got[0], want)
		}
	}
}
