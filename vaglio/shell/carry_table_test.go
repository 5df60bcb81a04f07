package shell

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestReadCarrierTable checks that each source of testdata/carriers.txt, each in a different way,
// is found to remove /.
func TestReadCarrierTable(t *testing.T) {
	text, err := os.ReadFile("testdata/carriers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for src := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n---\n") {
		s := Read(src, testOptions())
		if !slices.ContainsFunc(s.Commands, removesRoot) {
			t.Errorf("Read(%q)\n = %q %v, want a removal of /", src, shown(s), kinds(s))
		}
	}
}

// TestReadGaps checks that each source of testdata/gaps.txt, which hides what it runs in a way
// that is not followed, has a problem.
func TestReadGaps(t *testing.T) {
	text, err := os.ReadFile("testdata/gaps.txt")
	if err != nil {
		t.Fatal(err)
	}
	for src := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n---\n") {
		if s := Read(src, testOptions()); len(s.Problems) == 0 {
			t.Errorf("Read(%q) = %q, and tells no gap", src, shown(s))
		}
	}
}

// removesRoot reports whether a command removes / and everything below it.
func removesRoot(c Command) bool {
	if c.Call != nil {
		return (c.Call.Verb == VerbDeleteTree || c.Call.Verb == VerbDelete) && len(c.Call.Targets) > 0 && c.Call.Targets[0].Is("/")
	}
	if c.Wrapper || len(c.Argv) < 2 || !c.Argv[len(c.Argv)-1].Is("/") {
		return c.Name == "rm" && !c.Wrapper && strings.HasSuffix(show(c), "/")
	}
	return c.Name == "rm" || c.Name == "rimraf"
}

// TestReadCarriesNothing checks that everyday commands that look like carriers run only what they
// say.
func TestReadCarriesNothing(t *testing.T) {
	for src, want := range map[string]string{
		"git push -u origin main":                           "git push -u origin main",
		"git push --set-upstream origin x":                  "git push --set-upstream origin x",
		"git fetch -u origin":                               "git fetch -u origin",
		"git grep -n foo":                                   "git grep -n foo",
		"git commit -c HEAD":                                "git commit -c HEAD",
		"git archive -o x.tar HEAD":                         "git archive -o x.tar HEAD",
		"git remote add origin git@h:a/b":                   "git remote add origin git@h:a/b",
		"gcloud run services describe api":                  "gcloud run services describe api",
		"gcloud compute instances list":                     "gcloud compute instances list",
		"gcloud compute ssh box":                            "gcloud compute ssh box",
		"kubectl get pods -n x":                             "kubectl get pods -n x",
		"kubectl run x --image=nginx":                       "kubectl run x --image=nginx",
		"kubectl exec -it x":                                "kubectl exec -it x",
		"kubectl delete pod x":                              "kubectl delete pod x",
		"docker ps -a":                                      "",
		"docker compose up -d":                              "",
		"heroku logs --tail":                                "heroku logs --tail",
		"aws s3 ls":                                         "aws s3 ls",
		"az vm list":                                        "az vm list",
		"adb devices":                                       "adb devices",
		"fly deploy":                                        "fly deploy",
		"systemd-nspawn --machine a --hostname b -D /srv/c": "systemd-nspawn --machine a --hostname b -D /srv/c",
		"doctl databases db rm id name":                     "doctl databases db rm id name",
		"nix build .#x":                                     "nix build .#x",
		"npm run build":                                     "npm run build",
		"less +G file":                                      "less +G file",
		"vim +10 file":                                      "vim +10 file",
		"emacs -nw file":                                    "emacs -nw file",
		"Rscript plot.R":                                    "Rscript plot.R",
		"R -e 'library(x); summary(y)'":                     "R -e library(x); summary(y)",
		"julia -e 'println(1)'":                             "julia -e println(1)",
		"mise install node":                                 "mise install node",
		"conda create -n x":                                 "conda create -n x",
		"start-stop-daemon --stop --pidfile x":              "",
		"tar -xf x --checkpoint=100":                        "tar -xf x --checkpoint=100",
		"cp /bin/ls /tmp/x; ls /tmp/x":                      "cp /bin/ls /tmp/x\nls /tmp/x",
		"crontab -l":                                        "",
		"ls *.sh":                                           "ls *.sh",
		"salt-key -L":                                       "salt-key -L",
		"apt-get -o Acquire::Retries=3 update":              "apt-get -o Acquire::Retries=3 update",
		"gem install x":                                     "gem install x",
		"fzf --bind ctrl-a:select-all":                      "fzf --bind ctrl-a:select-all",
		"python3 -c 'print(\"rm -rf /\")'":                  "python3 -c print(\"rm -rf /\")",
		"perl -pe 's/rm/ls/' f":                             "perl -pe s/rm/ls/ f",
		"awk '{print $1}' f":                                "awk {print $1} f",
		"jq -r '.scripts.build' package.json":               "jq -r .scripts.build package.json",
	} {
		s := Read(src, testOptions())
		var got []string
		for _, c := range s.Commands {
			if !c.Wrapper && c.Call == nil {
				got = append(got, show(c))
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("Read(%q) runs %q, want %q", src, got, want)
		}
	}
}
