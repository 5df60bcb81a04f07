package project_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/project"
)

// TestPartsOfFiles checks what runs of files of tasks of which only some parts are asked for, and how what stands there is
// read as command lines.
func TestPartsOfFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		// lists of words, and a program with what it is given
		{"nx run x", files{"project.json": `{"targets": {"x": {"command": "ls", "args": ["a b", "c"]}, "y": {"command": "id"}}}`}, "project.json:1 sh? ls  'a b' 'c'"},
		{"nx run x", files{"project.json": `{"targets": {"x": {"command": "ls", "args": "-l c"}}}`}, "project.json:1 sh? ls -l c"},
		{"nx run x", files{"project.json": `{"targets": {"x": {"command": "ls -l"}}}`}, "project.json:1 sh? ls -l"},
		{"moon run x", files{"moon.yml": "tasks:\n  x: {command: [ls, a b]}\n  y: {command: [id]}\n"}, "moon.yml:2 sh? ls 'a b'"},
		{"moon run y", files{"moon.yml": "tasks:\n  x: {command: [ls, a b]}\n  y: {command: [id, 7, a b]}\n"}, "moon.yml:3 sh? id 'a b'"},
		// scripts that a rule names
		{"bazel run //:a", files{"BUILD": "sh_binary(\n  name = \"a\",\n  srcs = [\"x.sh\", \"y.bash\", \"z.txt\"],\n)\n", "x.sh": "ls", "y.bash": "id", "z.txt": "pwd"}, "x.sh:1 sh? ls\ny.bash:1 sh? id"},
		{"bazel run //:b", files{"BUILD": "sh_binary(\n  name = \"a\",\n  srcs = [\"x.sh\"],\n)\nsh_binary(\n  name = \"b\",\n  srcs = [\"y.sh\"],\n)\n", "x.sh": "ls", "y.sh": "id"}, "y.sh:1 sh? id"},
		{"bazel run //lib:a", files{"lib/BUILD": "sh_binary(\n  name = \"a\",\n  srcs = [\"x.sh\"],\n)\n", "lib/x.sh": "ls", "x.sh": "id"}, "lib/x.sh:1 sh? ls"},
		{"bazel test //lib/...", files{"lib/BUILD": "sh_test(\n  name = \"a\",\n  srcs = [\"x.sh\"],\n)\n", "lib/x.sh": "ls", "lib/low/BUILD": "sh_test(\n  name = \"b\",\n  srcs = [\"y.sh\"],\n)\n", "lib/low/y.sh": "id"}, "lib/x.sh:1 sh? ls\nlib/low/y.sh:1 sh? id"},
		// folders of a workspace
		{"npm test --workspaces", files{"package.json": `{"workspaces": ["a", "!b", "c/*"]}`, "a/package.json": `{"scripts": {"test": "ls -l"}}`, "b/package.json": `{"scripts": {"test": "id -u"}}`, "c/d/package.json": `{"scripts": {"test": "pwd -P"}}`}, "a/package.json:1 sh? ls -l\nc/d/package.json:1 sh? pwd -P"},
		// plays
		{"ansible-playbook --check p.yml", files{"p.yml": "- tasks:\n  - shell: ls\n    check_mode: false\n  - command: id\n  - shell: pwd\n    check_mode: yes\n"}, "p.yml:2 sh 'sh' '-c' 'ls'"},
		{"ansible-playbook --check p.yml", files{"p.yml": "- check_mode: no\n  tasks:\n  - shell: ls\n  - command: {argv: [id, a b]}\n  - debug: {msg: x}\n  - block:\n    - shell: pwd\n      check_mode: true\n"}, "p.yml:3 sh 'sh' '-c' 'ls'\np.yml:4 sh 'id' 'a b'\np.yml:4 sh 'id' 'a b'"},
		{"ansible-playbook --check p.yml", files{"p.yml": "- tasks:\n  - ansible.builtin.shell: ls\n    check_mode: no\n  - file: {path: x, state: absent}\n    check_mode: no\n"}, "p.yml:2 sh 'sh' '-c' 'ls'\np.yml:1 sh ansible-playbook '/p/p.yml'"},
		// pods
		{
			"devcontainer up --workspace-folder .",
			files{".devcontainer/devcontainer.json": "{// as it is made\n\"image\": \"x\", \"initializeCommand\": \"a b\",\n" +
				"\"mounts\": [\"source=/,target=/h\"], \"runArgs\": [\"--privileged\"],\n\"postCreateCommand\": {\"one\": \"c d\", \"two\": [\"e\", \"f\"]}}"},
			".devcontainer/devcontainer.json:2 sh 'sh' '-c' 'a b'\n.devcontainer/devcontainer.json:4 " + container + "'--privileged' '--mount=source=/,target=/h' 'image' 'sh' '-c' 'c d'\n" +
				".devcontainer/devcontainer.json:1 " + container + "'--privileged' '--mount=source=/,target=/h' 'image' 'e' 'f'",
		},
		{"mise install", files{"mise.toml": "[hooks]\nenter = \"a b\"\npreinstall = \"c d\"\n"}, "mise.toml:2 sh 'sh' '-c' 'a b'\nmise.toml:3 sh 'sh' '-c' 'c d'"},
		{"podman kube play p.yml", files{"p.yml": "spec:\n  containers:\n  - command: [ls, a]\n    securityContext: {privileged: true}\n"}, "p.yml:3 " + container + "'--privileged' '--pid=host' 'image' 'ls' 'a'"},
		{"podman kube play p.yml", files{"p.yml": "spec:\n  hostPID: true\n  containers:\n  - command: [ls, a]\n"}, "p.yml:4 " + container + "'--privileged' '--pid=host' 'image' 'ls' 'a'"},
		{"podman kube play p.yml", files{"p.yml": "spec:\n  containers:\n  - command: [ls, a]\n    volumeMounts: [{name: v, mountPath: /m}, {name: w, mountPath: /n}]\n  volumes: [{name: v, hostPath: {path: /}}]\n"}, "p.yml:3 " + container + "'-v' '/:/m' 'image' 'ls' 'a'"},
		// what cmake builds itself, and what it takes in
		{"cmake --build b", files{"CMakeLists.txt": "add_executable(gen g.c)\nadd_custom_command(OUTPUT x COMMAND gen a)\nadd_custom_command(OUTPUT y COMMAND id)\n"}, "CMakeLists.txt:2 sh* 'gen' 'a'\nCMakeLists.txt:3 sh 'id'"},
		// just: paths of variables, folders, what only shows
		{"just b", files{"justfile": "v := 'x'\nw := v / 'y' / 'z'\nb:\n ls {{w}}"}, "justfile:4 sh ls x/y/z"},
		{"just b", files{"justfile": "w := v / 'y'\nb:\n ls {{w}}"}, "justfile:3 sh ls ${make_just}"},
		{"just b", files{"justfile": "v := `id`\nb:\n ls"}, "justfile:1 sh id\njustfile:3 sh ls"},
		{"just --list", files{"justfile": "v := `id`\nb:\n ls"}, "justfile:3 sh ls"},
		// make: patterns that may end so, and variables that the call gives
		{"make", files{"Makefile": "S = *\na: ; ls $(S:.c=.o)"}, "Makefile:2 sh ls ${make_patsubst}"},
		{"make B=id", files{"Makefile": "define B\nls\nendef\na: ; $(B)"}, "Makefile:4 sh id"},
		{"make", files{"Makefile": "override define B\nls\nendef\na: ; $(B)"}, "Makefile:4 sh ls"},
		// git: what is switched off
		{"git push", files{".git/config": "[remote \"o\"]\n\tmirror = true\n"}, ".git/config:2 sh git push --mirror o"},
		{"git push", files{".git/config": "[remote \"o\"]\n\tmirror = false\n"}, ""},
		{"git fetch", files{".git/config": "[remote \"o\"]\n\tmirror = true\n"}, ""},
	} {
		got, _, _ := strings.Cut(tasks(t, tt.command, tt.files), "\np.yml:1  -") // what is behind it is the whole play, as data
		if got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
}

// TestSettingsOfTheGate tells the lines that give the gate's own variables a value, and no remarks.
func TestSettingsOfTheGate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"METNOS_POLICY=x": true, "export METNOS_POLICY=x": true, `"METNOS_POLICY": "x"`: true, "setenv METNOS_POLICY, x": true,
		"# METNOS_POLICY=x": false, "// METNOS_POLICY=x": false, "see METNOS_POLICY": false, "OTHER=x": false,
	} {
		if got := written(project.Default().Ungated("/p/.env", "A=1\n"+text+"\n")); (got != "") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
