package guard

import (
	"path"
	"strings"
	"testing"
)

// TestWhereAPathBegins names forbidden places from every folder above them, as an argument
// and in a command: it makes no difference that the path is relative.
func TestWhereAPathBegins(t *testing.T) {
	g := structuralGuard()
	denied := 0
	for _, place := range []string{
		"/root/x", "/root/.ssh/id_rsa", "/etc/shadow", "/etc/sudoers.d/x", "/proc/1/environ", "/proc/self/mem", "/home/user/.ssh/id_rsa", "/home/user/.aws/credentials", "/home/user/.gnupg/x",
		"/home/user/.vaglio-data/vaglio.db", "/home/ann/.ssh/id_ed25519", "/dev/sda", "/boot/vmlinuz", "/sys/power/state", "/usr/bin/x", "/home/user/project/x",
	} {
		for _, verb := range []string{"fs_read", "fs_write", "fs_delete"} {
			at := func(cwd, name string) string {
				d, _ := g.Check(Call{Executor: verb, Args: map[string]any{"path": name}, Cwd: cwd})
				return d.ID
			}
			want := at("/srv/x", place)
			if want != "" {
				denied++
			}
			for folder := path.Dir(place); ; folder = path.Dir(folder) {
				relative := strings.TrimPrefix(strings.TrimPrefix(place, folder), "/")
				inside := at("/srv/x", folder) != "" // a workspace there is allowed
				if got := at(folder, relative); got != want && !inside {
					t.Errorf("%s of %s from %s breaks %q, by its full name %q", verb, relative, folder, got, want)
				}
				if folder == "/" {
					break
				}
			}
		}
	}
	if denied < 30 {
		t.Errorf("only %d are denied", denied)
	}
}

// TestAListIsReadToItsEnd hides a forbidden place among more and more others in one text.
func TestAListIsReadToItsEnd(t *testing.T) {
	g := structuralGuard()
	for _, sign := range []string{",", "\n", ":", " ", "\", \""} {
		for n := 1; n < 5000; n *= 3 {
			before, behind := strings.Repeat("/home/user/project/a"+sign, n), strings.Repeat(sign+"/home/user/project/a", n)
			for _, list := range []string{before + "/home/user/.kube/config", "/home/user/.kube/config" + behind, before + "/home/user/.kube/config" + behind} {
				if d, _ := g.Check(Call{Executor: "read_many_files", Args: map[string]any{"paths": list}, Cwd: "/home/user/project"}); d.ID != "path.secrets" {
					t.Errorf("among %d others, with %q between them, %q", n, sign, d.ID)
				}
			}
		}
	}
}
