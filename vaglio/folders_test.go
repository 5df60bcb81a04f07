package vaglio_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
)

// TestAFolderBringsItsFiles holds which files bind a call that takes their folder as a whole:
// those that would change the call if swapped, added or removed, and no others.
func TestAFolderBringsItsFiles(t *testing.T) {
	const dir = "/home/u/app/"
	disk := folderOf{}
	engine, _ := sessionEngine(t, disk, "/home/u/app")
	for name, tt := range map[string]struct {
		command string
		files   folderOf
		change  folderOf // "" removes the file
		changed string   // the file that differs; "" for none
	}{
		"manifests":      {"kubectl apply -f k/", folderOf{"k/a.yaml": "a: 1\n", "k/b/c.yml": "b: 1\n"}, folderOf{"k/b/c.yml": "b: 2\n"}, "k/b/c.yml"},
		"manifest added": {"kubectl apply -f k", folderOf{"k/a.yaml": "a: 1\n"}, folderOf{"k/b.yaml": "b: 1\n"}, "k/b.yaml"},
		"manifest gone":  {"kubectl apply --filename=k", folderOf{"k/a.yaml": "a: 1\n", "k/b.yaml": "b: 1\n"}, folderOf{"k/b.yaml": ""}, "k/b.yaml"},
		"manifests here": {"cd k && sudo kubectl delete -f .", folderOf{"k/a.yaml": "a: 1\n"}, folderOf{"k/a.yaml": "a: 2\n"}, "k/a.yaml"},
		"no manifest":    {"kubectl apply -f k", folderOf{"k/a.yaml": "a: 1\n", "k/README": "a"}, folderOf{"k/README": "b"}, ""},
		"folder is read": {"kubectl get -f k", folderOf{"k/a.yaml": "a: 1\n"}, folderOf{"k/a.yaml": "a: 2\n"}, ""},
		"kustomization":  {"kubectl apply -k o/prod", folderOf{"o/prod/app.properties": "a=1\n"}, folderOf{"o/prod/app.properties": "a=2\n"}, "o/prod/app.properties"},
		"base": {
			"kubectl apply -ko/prod",
			folderOf{"o/prod/kustomization.yaml": "resources:\n- ../base\n", "o/base/dep.yaml": "a: 1\n"},
			folderOf{"o/base/dep.yaml": "a: 2\n"},
			"o/base/dep.yaml",
		},
		"base of a base": {
			"kustomize build o/prod | kubectl apply -f -",
			folderOf{"o/prod/kustomization.yaml": "resources: ['../base']\n", "o/base/kustomization.yaml": "- ../../common/x.yaml\n", "common/x.yaml": "1"},
			folderOf{"common/x.yaml": "2"},
			"common/x.yaml",
		},
		"chart":            {"helm upgrade --install web ./chart", folderOf{"chart/Chart.yaml": "n: 1\n", "chart/templates/d.yaml": "a"}, folderOf{"chart/templates/d.yaml": "b"}, "chart/templates/d.yaml"},
		"subchart":         {"helm install web ./c", folderOf{"c/Chart.yaml": "repository: file://../sub\n", "sub/t.yaml": "a"}, folderOf{"sub/t.yaml": "b"}, "sub/t.yaml"},
		"chart untouched":  {"helm install web ./chart", folderOf{"chart/Chart.yaml": "n: 1\n", "x/y.yaml": "a"}, folderOf{"x/y.yaml": "b"}, ""},
		"terraform":        {"terraform apply", folderOf{"main.tf": "a"}, folderOf{"main.tf": "b"}, "main.tf"},
		"terraform folder": {"terraform -chdir=infra apply", folderOf{"infra/main.tf": "a"}, folderOf{"infra/main.tf": "b"}, "infra/main.tf"},
		"terraform values": {"cd infra && tofu destroy", folderOf{"infra/x.auto.tfvars": "a"}, folderOf{"infra/x.auto.tfvars": "b"}, "infra/x.auto.tfvars"},
		"terraform module": {
			"terraform apply infra", folderOf{"infra/main.tf": `source = "../modules/vpc"`, "modules/vpc/main.tf": "a"}, folderOf{"modules/vpc/main.tf": "b"}, "modules/vpc/main.tf",
		},
		"terraform state": {"terraform apply", folderOf{"main.tf": "a", "terraform.tfstate": "1"}, folderOf{"terraform.tfstate": "2"}, ""},
		"image":           {"docker build img", folderOf{"img/Dockerfile": "FROM a\n", "img/run": "a"}, folderOf{"img/Dockerfile": "FROM b\n"}, "img/Dockerfile"},
		"image's folder":  {"docker build -t x img", folderOf{"img/Dockerfile": "COPY . /\n", "img/run": "a"}, folderOf{"img/run": "b"}, "img/run"},
		"image, git":      {"docker build .", folderOf{"Dockerfile": "FROM a\n", ".git/index": "a"}, folderOf{".git/index": "b"}, ""},
		"role":            {"ansible-playbook play/site.yml", folderOf{"play/site.yml": "a", "play/roles/web/tasks/main.yml": "a"}, folderOf{"play/roles/web/tasks/main.yml": "b"}, "play/roles/web/tasks/main.yml"},
		"role here":       {"ansible-playbook play/site.yml", folderOf{"play/site.yml": "a", "roles/web/files/x": "a"}, folderOf{"roles/web/files/x": "b"}, "roles/web/files/x"},
		"inventory":       {"ansible-playbook -i inv/prod site.yml", folderOf{"site.yml": "a", "inv/prod/group_vars/all.yml": "a"}, folderOf{"inv/prod/group_vars/all.yml": "b"}, "inv/prod/group_vars/all.yml"},
		"no role":         {"ansible-playbook site.yml", folderOf{"site.yml": "a", "src/x.yml": "a"}, folderOf{"src/x.yml": "b"}, ""},
		"packer":          {"packer build .", folderOf{"a.pkr.hcl": "a", "scripts/x.sh": "a"}, folderOf{"scripts/x.sh": "b"}, "scripts/x.sh"},
		"pulumi":          {"pulumi up", folderOf{"index.ts": "a"}, folderOf{"index.ts": "b"}, "index.ts"},
	} {
		clear(disk)
		disk[dir+".git/HEAD"] = "x"
		for file, text := range tt.files {
			disk[dir+file] = text
		}
		call := vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": tt.command}, Context: vaglio.Context{Cwd: "/home/u/app"}}
		was := engine.Sources(call)
		for file, text := range tt.change {
			if disk[dir+file] = text; text == "" {
				delete(disk, dir+file)
			}
		}
		is := engine.Sources(call)
		var differ []string
		for _, both := range [][2][]vaglio.Source{{was, is}, {is, was}} {
			for _, s := range both[0] {
				if !slices.Contains(both[1], s) && !slices.Contains(differ, s.Path) {
					differ = append(differ, s.Path)
				}
			}
		}
		var want []string
		if tt.changed != "" {
			want = []string{dir + tt.changed}
		}
		if !slices.Equal(differ, want) {
			t.Errorf("%s: %q differ, want %q", name, differ, want)
		}
	}
}

// TestTheFirstLinesOfASource holds that a source's head is a few whole lines of text.
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

// TestMoreThanCanBeBound holds that a folder's files are bound or reported as unbound, and
// that one file more than can be bound makes it another call.
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
		unread, digests bool // of all the folder's files as one
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
