package vaglio_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// TestWhatWaitsToBeWeighedIsBounded holds that a text that would be asked about is found in
// the end, whatever else waits and for how long: behind more changes of a file, and beside
// more texts, than may wait, and even if the text itself is gone.
func TestWhatWaitsToBeWeighedIsBounded(t *testing.T) {
	t.Parallel()
	engine, _ := sessionEngine(t, folderOf{"/home/u/app/main.c": "x"})
	var sessions vaglio.Sessions
	write := func(executor string, args vaglio.Args) vaglio.Facts {
		t.Helper()
		p := vaglio.Proposal{Session: "s", Executor: executor, Args: args, Context: vaglio.Context{Cwd: "/home/u/app"}}
		p.Facts = sessions.Facts(&p)
		v, err := engine.Judge(t.Context(), p)
		if err != nil || !v.Approved {
			t.Fatalf("%s: %v, %v", args, v.Reason, err)
		}
		sessions.Note(&p, time.Now(), v.Did)
		return v.Did
	}
	const forced = `{"exec": "git push --force"}`
	for i := range 40 { // each changes a part, and the rest is not known
		text := "a " + strconv.Itoa(i)
		if i == 3 {
			text = forced
		}
		write("Edit", vaglio.Args{"file_path": "/home/u/app/changed.json", "old_string": "x", "new_string": text})
	}
	write("write_file", vaglio.Args{"path": "bad.json", "content": forced})
	for i := range 8 {
		write("write_file", vaglio.Args{"path": "large" + strconv.Itoa(i) + ".json", "content": strings.Repeat(" ", 20<<10) + strconv.Itoa(i)})
	}
	did := write("write_file", vaglio.Args{"path": "good.json", "content": `{"exec": "ls"}`})
	facts := sessions.Facts(&vaglio.Proposal{Session: "s"})
	if got, want := facts.Loaded(), []string{"/home/u/app/bad.json", "/home/u/app/changed.json"}; !slices.Equal(got, want) {
		t.Errorf("loaded are %q, want %q", got, want)
	}
	var b strings.Builder
	if err := strictjson.MarshalWrite(&b, did); err != nil {
		t.Fatal(err)
	}
	var kept vaglio.Facts
	if err := strictjson.Unmarshal([]byte(b.String()), &kept); err != nil {
		t.Fatal(err)
	}
	const good = "/home/u/app/good.json"
	if !slices.Contains(kept.Loaded(), good) || slices.Contains(kept.WithTexts(did).Loaded(), good) {
		t.Errorf("without its text %q is loaded, want %s; with it %q", kept.Loaded(), good, kept.WithTexts(did).Loaded())
	}
}
