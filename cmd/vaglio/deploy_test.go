package main

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestTheContainersShareTheAgentsSocketAlone checks the compose file against docs/setup.md. It runs
// no containers.
func TestTheContainersShareTheAgentsSocketAlone(t *testing.T) {
	t.Parallel()
	type service struct {
		Build *struct {
			Context    string `yaml:"context"`
			Dockerfile string `yaml:"dockerfile"`
		} `yaml:"build"`
		Image   string `yaml:"image"`
		User    string `yaml:"user"`
		EnvFile []struct {
			Path     string `yaml:"path"`
			Required bool   `yaml:"required"`
		} `yaml:"env_file"`
		GroupAdd []string `yaml:"group_add"`
		Volumes  []string `yaml:"volumes"`
		ReadOnly bool     `yaml:"read_only"`
		CapDrop  []string `yaml:"cap_drop"`
		Security []string `yaml:"security_opt"`
		Restart  string   `yaml:"restart"`
	}
	var f struct {
		Services map[string]service `yaml:"services"`
		Volumes  map[string]any     `yaml:"volumes"`
	}
	raw, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Strict: anything not named above, such as a network, a port or a namespace, is a mistake.
	if err := yaml.UnmarshalWithOptions(raw, &f, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	gate, agent := f.Services["gate"], f.Services["agent"]
	if len(f.Services) != 2 || gate.Build == nil || agent.Build != nil {
		t.Fatalf("the services are %v", slices.Collect(maps.Keys(f.Services)))
	}
	dockerfile, err := os.ReadFile("../../deploy/" + strings.TrimPrefix(gate.Build.Dockerfile, "deploy/"))
	if err != nil {
		t.Fatal(err)
	}
	var shared []string
	for _, v := range gate.Volumes {
		name, _, _ := strings.Cut(v, ":")
		if _, known := f.Volumes[name]; !known {
			t.Errorf("the gate is given %s, which is not a volume of the file", v)
		}
		for _, a := range agent.Volumes {
			if theirs, _, _ := strings.Cut(a, ":"); theirs == name {
				shared = append(shared, a)
			}
		}
	}
	const socket = "/run/vaglio"
	if len(agent.Volumes) != 1 || !slices.Equal(shared, []string{"agents:" + socket}) || len(agent.EnvFile) != 0 {
		t.Errorf("they share %v; the agent has %v %v", shared, agent.Volumes, agent.EnvFile)
	}
	for name, s := range f.Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.Security, "no-new-privileges:true") {
			t.Errorf("%s has rights that it does not need: %+v", name, s)
		}
	}
	user, _, _ := strings.Cut(agent.User, ":")
	for _, want := range []string{
		"METNOS_AGENT_SOCKET=" + socket + "/agent.sock", "METNOS_AGENT_GROUP=" + strings.Join(agent.GroupAdd, ""), "--chmod=2750 /made/run " + socket,
		"--chmod=0700 /made/vaglio /var/lib/vaglio", "\nUSER 64000:64000\n", "HOME=/var/lib/vaglio",
	} {
		if !strings.Contains(string(dockerfile), want) {
			t.Errorf("the image does not say %q", want)
		}
	}
	if !gate.ReadOnly || gate.User != "" || user == "64000" || user == "0" || user == "" {
		t.Errorf("the gate can write its image, or the agent is %q", agent.User)
	}
}

// TestThePropertyListOfTheDaemon checks that the LaunchDaemon only uses keys that launchd.plist(5)
// documents, and what the commands in its header create. It runs nothing.
func TestThePropertyListOfTheDaemon(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../deploy/launchd/vaglio.plist")
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		name, text string
		kids       []*node
	}
	root := &node{}
	open, head := []*node{root}, ""
	d := xml.NewDecoder(strings.NewReader(string(raw)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		at := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local}
			at.kids, open = append(at.kids, n), append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			at.text += string(token)
		case xml.Comment:
			head += string(token)
		}
	}
	if len(root.kids) != 1 || root.kids[0].name != "plist" || len(root.kids[0].kids) != 1 {
		t.Fatal("it is not a property list")
	}
	// A key precedes each value, and the types are those of the manual page.
	of := func(dict *node) map[string]*node {
		values := map[string]*node{}
		for i := 0; dict.name == "dict" && i+1 < len(dict.kids); i += 2 {
			if dict.kids[i].name != "key" {
				t.Errorf("%s stands where a key does", dict.kids[i].name)
			}
			values[dict.kids[i].text] = dict.kids[i+1]
		}
		return values
	}
	types := map[string]string{
		"Label": "string", "ProgramArguments": "array", "UserName": "string", "EnvironmentVariables": "dict", "Umask": "integer",
		"HardResourceLimits": "dict", "RunAtLoad": "true", "KeepAlive": "dict", "StandardErrorPath": "string",
	}
	top := of(root.kids[0].kids[0])
	for key, v := range top {
		if types[key] != v.name {
			t.Errorf("%s is a %s", key, v.name)
		}
	}
	for key := range types {
		if top[key] == nil {
			t.Fatalf("%s is missing", key)
		}
	}
	env := of(top["EnvironmentVariables"])
	socket, home, user := env["METNOS_AGENT_SOCKET"].text, env["HOME"].text, top["UserName"].text
	folder, _, _ := strings.Cut(socket, "/agent.sock")
	for _, want := range []string{
		"-addUser " + user + " -roleAccount", "-home " + home, "install -d -m 700 -o " + user + " " + home + "\n", "METNOS_AGENT_SOCKET=" + socket,
		"install -d -m 2750 -o " + user + " -g " + env["METNOS_AGENT_GROUP"].text + " " + folder + "\n", "/Library/LaunchDaemons/" + top["Label"].text + ".plist\n",
		"install -m 755 -o root bin/vaglio bin/vaglio-hook " + strings.TrimSuffix(top["ProgramArguments"].kids[0].text, "vaglio") + "\n",
	} {
		if !strings.Contains(head, want) {
			t.Errorf("the steps in its head do not say %q", want)
		}
	}
	if top["Umask"].text != "63" || !strings.HasPrefix(top["StandardErrorPath"].text, home+"/") || user == "root" {
		t.Errorf("it writes with umask %s to %s as %s", top["Umask"].text, top["StandardErrorPath"].text, user)
	}
}
