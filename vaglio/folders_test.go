package vaglio_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// TestTheFirstLinesOfASource holds that they are whole lines, few, and text.
func TestTheFirstLinesOfASource(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for text, want := range map[string]string{
		"": "", "ls": "ls", "a\nb\n": "a\nb", "\n\n": "", "1\n2\n3\n4\n5\n6\n": "1\n2\n3\n4\n5",
		"short\n" + long: "short", long: strings.TrimSpace(long[:400]), strings.Repeat("x", 500): "",
		"a\x00b": "", "\xff": "", strings.Repeat("é ", 300): strings.TrimSpace(strings.Repeat("é ", 133)),
	} {
		const dir = "/home/u/app"
		engine, _ := sessionEngine(t, folderOf{dir + "/.git/HEAD": "x", dir + "/x.sql": text}, dir)
		sources := engine.Sources(vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": "psql -f x.sql"}, Context: vaglio.Context{Cwd: dir}})
		at := slices.IndexFunc(sources, func(s vaglio.Source) bool { return s.Path == dir+"/x.sql" })
		if at < 0 || sources[at].Head != want {
			t.Errorf("%q: %+v, want %q", text, sources, want)
		}
	}
}

// TestMoreThanCanBeBound holds that what a folder brings is bound or said not to
// be, and that one file more than can be bound is another call.
func TestMoreThanCanBeBound(t *testing.T) {
	const dir = "/home/u/app"
	chart := func(files int) folderOf {
		f := folderOf{dir + "/.git/HEAD": "x", "/home/u/other/c/Chart.yaml": "a"}
		for i := range files {
			f[fmt.Sprintf("%s/c/f%05d.yaml", dir, i)] = "a"
		}
		return f
	}
	var words strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&words, "%d ", i)
	}
	large := chart(3)
	for i := range 3 {
		large[fmt.Sprintf("%s/c/g%d.yaml", dir, i)] = strings.Repeat("x", 1<<20)
	}
	for name, tt := range map[string]struct {
		files           folderOf
		command         string
		bound, unbound  int
		unread, digests bool // of the folder's files as one
	}{
		"all of it":            {chart(100), "helm install x ./c", 100, 0, false, false},
		"too many":             {chart(300), "helm install x ./c", 198, 1, true, true},
		"too many to be named": {chart(6000), "helm install x ./c", 0, 1, true, false},
		"too large":            {large, "helm install x ./c", 3, 3, false, false},
		"elsewhere":            {chart(0), "helm install x ../other/c", 0, 1, true, false},
		"of no concern":        {chart(100), "ls ./c", 0, 0, false, false},
		"many words":           {chart(1), "cat " + words.String(), 0, 1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := sessionEngine(t, tt.files, dir)
			call := vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": tt.command}, Context: vaglio.Context{Cwd: dir}}
			bound, unbound, all := 0, 0, vaglio.Source{}
			sources := engine.Sources(call)
			for _, s := range sources {
				switch {
				case s.IsFolder():
				case s.Unread == "":
					bound++
				default:
					unbound++
					if strings.HasSuffix(s.Path, "/*") {
						all = s
					}
				}
			}
			if bound != tt.bound || unbound != tt.unbound || (all.Unread != "") != tt.unread || (all.SHA256 != "") != tt.digests {
				t.Errorf("%d bound, %d not, of all %+v; want %+v", bound, unbound, all, tt.files)
			}
			if again := engine.Sources(call); !slices.Equal(sources, again) {
				t.Error("the same call is bound otherwise the second time")
			}
			if !tt.digests {
				return
			}
			tt.files[dir+"/c/z.yaml"] = "a"
			if slices.Equal(engine.Sources(call), sources) {
				t.Error("a file more makes no difference")
			}
		})
	}
}
