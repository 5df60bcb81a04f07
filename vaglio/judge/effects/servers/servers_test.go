package servers

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatContainersPublish(t *testing.T) {
	t.Parallel()
	known := func(image string) bool { return image == "postgres" }
	const compose = `
services:
  db: {image: "postgres:16", ports: ["5433:5432", "127.0.0.1:5434:5432/tcp", 5435]}
  long:
    image: docker.io/library/postgres@sha256:0
    command: -c fsync=off
    ports: [{target: 5432, published: 5436}]
    volumes: [/data, {type: tmpfs, target: /x}, "./init:/docker-entrypoint-initdb.d", {source: a, target: /b, read_only: true}]
  kept: &kept {image: postgres, ports: ["5437:5432"], volumes: ["data:/var/lib/postgresql/data"]}
  bound: {image: postgres, ports: ["5438:5432"], volumes: [{type: bind, source: ./data, target: /docker-entrypoint-initdb.d/../data}]}
  other: {image: "acme/postgres:16", ports: ["5439:5432"]}
  runs: {image: postgres, command: [sleep, "1"], ports: ["5440:5432"]}
  merged: {<<: *kept, ports: ["5442:5432"]}
  built: {image: postgres, build: ., ports: ["5441:5432"]}
`
	list, project, volumes, all := InCompose(compose)
	if !all || project || volumes {
		t.Error("the file is not all understood")
	}
	fresh := map[string]bool{}
	for i := range list {
		ports, all := list[i].Published()
		if !all {
			t.Errorf("not all ports are known: %v", list[i].Ports)
		}
		for _, p := range ports {
			fresh[p.Port] = list[i].New(known)
		}
	}
	want := map[string]bool{"5433": true, "5434": true, "5436": true, "5437": false, "5438": false, "5439": false, "5440": false, "5441": false, "5442": false}
	if fmt.Sprint(fresh) != fmt.Sprint(want) {
		t.Errorf("new databases are at %v, want %v", fresh, want)
	}
	for _, ports := range [][]string{{"5432-5440:5432-5440"}, {"$P:5432"}, {"5432:x"}, {"a"}} {
		if _, all := (&Container{Ports: ports}).Published(); all {
			t.Errorf("%v is all known", ports)
		}
	}
	for _, text := range []string{"include: [a.yml]\nservices: {}", "services: {a: {image: b}}\n---\nname: c", "services: [", "\t"} {
		if _, _, _, all := InCompose(text); all {
			t.Errorf("%q is all known", text)
		}
	}
}

func TestWhereAClientLooks(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		"postgres localhost 5433 x":                                "5433",
		"postgres 127.0.0.1 - x":                                   "5432",
		"postgres - - postgres://u:p@localhost:5433/x?sslmode=off": "5433",
		"postgres - - postgresql://localhost/x":                    "5432",
		"postgres - - x PGHOST=localhost PGPORT=5433":              "5433",
		"mysql 127.0.0.1 3307 x":                                   "3307",
		"redis - 6390 -":                                           "6390",
		"redis - - redis://localhost:6390/0":                       "6390",
		"mongo - - localhost:27018/x":                              "27018",
		"mongo - - x":                                              "27017",
		"postgres - 5433 x":                                        "",
		"postgres /run/postgresql 5433 x":                          "",
		"postgres localhost 5433 x PGHOSTADDR=10.0.0.1":            "",
		"postgres localhost 5433 x PGSERVICE=":                     "",
		"postgres localhost - x PGPORT=":                           "",
		"postgres localhost 5433 host=db":                          "",
		"postgres localhost 5433 service=db":                       "",
		"postgres localhost 5433 postgres://db/x":                  "",
		"postgres localhost 5433 postgres://localhost:5434/x":      "",
		"postgres - - postgres://localhost:5433/x?host=db":         "",
		"postgres - - postgres://localhost:5433/x?%68ost=db":       "",
		"postgres - - postgres://localhost:5433,db/x":              "",
		"postgres - - mysql://localhost:5433/x":                    "",
		"mysql localhost 3307 x":                                   "",
		"redis db 6390 -":                                          "",
		"mongo - - mongodb+srv://localhost/x":                      "",
		"oracle localhost 1521 x":                                  "",
	} {
		f := strings.Fields(row)
		c := Client{Family: f[0], Env: map[string]string{}}
		if f[1] != "-" {
			c.Hosts = f[1:2]
		}
		if f[2] != "-" {
			c.Ports = f[2:3]
		}
		if f[3] != "-" {
			c.Names = f[3:4]
		}
		for _, v := range f[4:] {
			name, value, _ := strings.Cut(v, "=")
			c.Env[name] = value
		}
		if port, ok := c.Port(); port != want && ok || ok != (want != "") {
			t.Errorf("%s: looks at %q, %v, want %q", row, port, ok, want)
		}
	}
	if port, ok := (&Client{Family: "mysql", Hosts: []string{"localhost"}, Ports: []string{"3307"}, TCP: true}).Port(); !ok || port != "3307" {
		t.Errorf("over the network, mysql looks at %q, %v", port, ok)
	}
}

// TestComposeFilesAreBounded gives a compose file whose aliases stand for more than can be read: nothing in
// it is known.
func TestComposeFilesAreBounded(t *testing.T) {
	t.Parallel()
	text := "x0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("x%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	if list, _, _, all := InCompose(text + "services: {db: {image: postgres, command: *a9}}\n"); all || len(list) > 0 {
		t.Errorf("%d services, all of them: %v", len(list), all)
	}
}
