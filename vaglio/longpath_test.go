package vaglio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// asked is an empty disk that counts what is asked of it.
type asked struct {
	vaglio.Files
	looks, bytes int
}

func (a *asked) Read(_ []string, name string, _ int) ([]byte, error) {
	a.looks, a.bytes = a.looks+1, a.bytes+len(name)
	return nil, vaglio.ErrAbsent
}

func (a *asked) Look(name string) (string, vaglio.FileKind) {
	a.looks, a.bytes = a.looks+1, a.bytes+len(name)
	if name == "/" || name == "/home/u/app" {
		return name, vaglio.Folder
	}
	return name, vaglio.NoFile
}

func (a *asked) List(string, int) ([]vaglio.Entry, bool) { a.looks++; return nil, true }

// TestALongPathIsNoSource checks that what a call makes of a path longer than any system takes is
// asked about, and is not listed: git looks in each folder above it, and the answer to one call
// of 200 kB had 38 MB.
func TestALongPathIsNoSource(t *testing.T) {
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold}}, Files: outside{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"git -C /a/%s commit", "bash /a/%s"} {
		v, err := e.Judge(t.Context(), vaglio.Proposal{
			Agent: "a", Executor: "shell_exec", Context: vaglio.Context{Cwd: "/home/u/app"},
			Args: vaglio.Args{"command": fmt.Sprintf(command, strings.Repeat("a/", vaglio.LongestPath))},
		})
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, s := range v.Sources {
			size += len(s.Path)
		}
		if size > vaglio.LongestPath || v.Approved {
			t.Errorf("%s: approved %t, %d sources of %d bytes", command, v.Approved, len(v.Sources), size)
		}
	}
}

// outside is a disk on which every path leads out of the workspace.
type outside struct{}

func (outside) Read([]string, string, int) ([]byte, error) { return nil, vaglio.ErrOutside }
func (outside) Look(name string) (string, vaglio.FileKind) { return name, vaglio.NoFile }
func (outside) List(string, int) ([]vaglio.Entry, bool)    { return nil, true }

// TestALongPathIsNotLookedUpFolderByFolder checks that a path longer than any system takes costs
// no look at each of the folders that it names: that is quadratic, and one call with a path of
// 200 kB held a core for a minute.
func TestALongPathIsNotLookedUpFolderByFolder(t *testing.T) {
	judge, err := effects.New(effects.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	const folders = 10_000
	disk := &asked{}
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: judge, MinScore: effects.Threshold}}, Files: disk})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Judge(t.Context(), vaglio.Proposal{
		Agent: "a", Session: "s", Executor: "write_file", Context: vaglio.Context{Cwd: "/home/u/app"},
		Args: vaglio.Args{"path": "/home/u/app/" + strings.Repeat("a/", folders) + "x", "content": "y"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if disk.looks > folders/10 {
		t.Errorf("the disk was asked %d times, about %d bytes", disk.looks, disk.bytes)
	}
}
