package project_test

import (
	"fmt"
	"strings"
	"testing"
)

const container = "sh 'docker' 'run' '--rm' "

func TestDockerfiles(t *testing.T) {
	t.Parallel()
	run := container + "'image' 'sh' '-c' "
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		{"docker build sub", files{"sub/Dockerfile": "RUN a", "Dockerfile": "RUN b"}, "sub/Dockerfile:1 " + run + "'a'"},
		{"docker build nowhere", files{"Containerfile": "run b"}, "Containerfile:1 " + run + "'b'"},
		{"docker build -f d.x .", files{"d.x": "RUN a", "Dockerfile": "RUN b"}, "d.x:1 " + run + "'a'"},
		{"docker build --file=d.x .", files{"d.x": "RUN a", "Dockerfile": "RUN b"}, "d.x:1 " + run + "'a'"},
		{"docker build", files{"Dockerfile": "RUN --mount=a  --network=b ls --c\nRUNS no\nCOPY a b"}, "Dockerfile:1 " + run + "'ls --c'"},
		{"docker build", files{"Dockerfile": "RUN it's"}, "Dockerfile:1 " + run + `'it'\''s'`},
		{"docker build", files{"Dockerfile": "RUN --mount=a"}, "Dockerfile:1 " + run + "''"},
		{"docker build", files{"Dockerfile": "RUN [\"a\", \"b c\"]\nRUN [a"}, "Dockerfile:1 " + container + "'image' 'a' 'b c'\nDockerfile:2 " + run + "'[a'"},
		{"docker build", files{"Dockerfile": "RUN a \\\n\t# one\n  # two\n b\nRUN c"}, "Dockerfile:1 " + run + "'a  b'\nDockerfile:5 " + run + "'c'"},
		{"docker build", files{"Dockerfile": "RUN <<-'EOF' x\n\ta\n\tEOF\nRUN b"}, "Dockerfile:1 " + run + "'sh <<-'\\''EOF'\\'' x\n\ta\n\tEOF\n'\nDockerfile:4 " + run + "'b'"},
		{"docker build", files{"Dockerfile": "RUN cat <<EOF >x\na\nEOF\nRUN b"}, "Dockerfile:1 " + run + "'cat <<EOF >x\na\nEOF\n'\nDockerfile:4 " + run + "'b'"},
		{"docker build", files{"Dockerfile": "RUN cat <<EOF\n" + strings.Repeat("RUN a\n", 999) + "EOF\n"}, "Dockerfile:1 " + run + "'cat <<EOF\n" + strings.Repeat("RUN a\n", 999) + "EOF\n'"},
		{"docker build", files{"Dockerfile": "COPY a.sh b.py /x/\nCOPY . /app\nCOPY c.sh /e.sh\nRUN sh /x/a.sh", "a.sh": "ls", "b.py": "no"}, "Dockerfile:4 " + run + "'sh /x/a.sh'\na.sh:1 " + run + "'ls'"},
		{"docker build", files{"Dockerfile": "COPY . /app\nCOPY [\"c.sh\", \"/e.sh\"]\nRUN python3 /app/t/b.py && /e.sh", "t/b.py": "x", "c.sh": "y"}, "Dockerfile:3 " + run + "'python3 /app/t/b.py && /e.sh'\nt/b.py:1 " + container + "'image' 'python3' '-c' 'x'\nc.sh:1 " + run + "'y'"},
		{
			"docker build",
			files{"Dockerfile": "COPY s/ t/ /x/\nCOPY ./bin /usr/bin\nRUN /x/a.sh; tool", "s/a.sh": "ls", "t/a.sh": "id", "bin/tool": "x"},
			"Dockerfile:3 " + run + "'/x/a.sh; tool'\ns/a.sh:1 " + run + "'ls'\nt/a.sh:1 " + run + "'id'\nbin/tool:1 " + run + "'x'",
		},
		{"docker build", files{"Dockerfile": "COPY a.sh run.sh\nRUN sh run.sh", "a.sh": "ls", "run.sh": "no"}, "Dockerfile:2 " + run + "'sh run.sh'\na.sh:1 " + run + "'ls'"},
		{"docker build", files{"Dockerfile": "COPY x.d /x\nRUN sh /x/a.sh", "x.d/a.sh": "ls"}, "Dockerfile:2 " + run + "'sh /x/a.sh'"}, // by its name it is a file
		{"docker build", files{"Dockerfile": "COPY x. /x\nRUN sh /x/a.sh", "x./a.sh": "ls"}, "Dockerfile:2 " + run + "'sh /x/a.sh'\nx./a.sh:1 " + run + "'ls'"},
		{"docker buildx bake", files{"docker-bake.hcl": "target \"a\" {\n  output = [\"type=local,dest=/x\", \"y\"]\n}"}, "docker-bake.hcl:2 sh docker buildx build --output \"type=local,dest=/x\" .\ndocker-bake.hcl:2 sh docker buildx build --output \"y\" ."},
		{"docker build", nil, ""},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
}

// TestALongHereDocumentIsReadToItsEnd reads a script of thousands of lines in full, and
// ignores one that is added as a file.
func TestALongHereDocumentIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("RUN b\n", 3000)
	f := files{"Dockerfile": "ADD <<EOF /x\n" + body + "EOF\nRUN <<EOF\n" + body + "last\nEOF\n"}
	want := "Dockerfile:3003 sh 'docker' 'run' '--rm' 'image' 'sh' '-c' 'sh <<EOF\n" + body + "last\nEOF\n'"
	if got := tasks(t, "docker build", f); got != want {
		t.Errorf("got %.200q, want %.200q", got, want)
	}
}

// TestTooManyCopiesAreSaid names many words in a Dockerfile that copies many folders.
func TestTooManyCopiesAreSaid(t *testing.T) {
	t.Parallel()
	var copied, named strings.Builder
	for i := range 150 {
		fmt.Fprintf(&copied, "COPY d%d /x%d\n", i, i)
		fmt.Fprintf(&named, "/x%d/a.sh ", i)
	}
	for more, want := range map[string]bool{"RUN a": false, "RUN " + named.String(): true} {
		got := tasks(t, "docker build", files{"Dockerfile": copied.String() + more})
		if strings.Contains(got, "Dockerfile:151 holds more than is read") != want {
			t.Errorf("%.20s gives %.300s", more, got)
		}
	}
}

func TestCommandsInYAML(t *testing.T) {
	t.Parallel()
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		{"docker compose up", files{"compose.yml": "services:\n  b: {command: [b, c d]}\n  a:\n    entrypoint: [x]\n    command: [a]\n"}, "compose.yml:4 " + container + "'image' 'x' 'a'\ncompose.yml:2 " + container + "'image' 'b' 'c d'"},
		{"docker compose up", files{"compose.yml": "services:\n  a:\n    entrypoint: x y\n    command: [ls]\n"}, "compose.yml:3 " + container + "'image' 'sh' '-c' 'x y'\ncompose.yml:4 " + container + "'image' 'sh' '-c' 'ls'"},
		{"docker compose up", files{"compose.yml": "a:\n  privileged: true\n  volumes: [/a:/b, 7, {source: c, target: /d}]\n  command: id\n"}, "compose.yml:4 " + container + "'-v' '/a:/b' '-v' 'c:/d' '--privileged' '--pid=host' 'image' 'sh' '-c' 'id'"},
		{"docker compose up", files{"compose.yml": "a:\n  privileged: false\n  pid: other\n  command: id x\n"}, "compose.yml:4 " + container + "'image' 'sh' '-c' 'id x'"},
		{"docker compose -f x.yml up", files{"x.yml": "- command: |\n    ls\n    b\n", "compose.yml": ""}, "x.yml:2 " + container + "'image' 'sh' '-c' 'ls\nb\n'"},
		{"docker compose up", files{"compose.yml": "a: [1, command: x"}, ""},
		{"docker compose up", files{"compose.yml": "a: &x [1\nb: *x"}, ""},
		{"docker-compose up", files{"compose.yml": "command: [ls, a]", "compose.yaml": "command: []"}, "compose.yml:1 " + container + "'image' 'ls' 'a'"},
		{"docker up", files{"compose.yml": "command: ls"}, ""},
		{"podman compose up", files{"compose.yml": "command: ls"}, "compose.yml:1 " + container + "'image' 'sh' '-c' 'ls'"},
		{"pre-commit run", files{".pre-commit-config.yaml": "a:\n- - entry: it's x\n- entry: [ls, b]\n- entry: 7\n"}, ".pre-commit-config.yaml:2 sh 'sh' '-c' 'it'\\''s x'\n.pre-commit-config.yaml:3 sh 'ls' 'b'"},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
}

func TestCMake(t *testing.T) {
	t.Parallel()
	if got := tasks(t, "cmake .", nil); got != "" {
		t.Errorf("of no file: %s", got)
	}
	for text, want := range map[string]string{
		"add_custom_command(OUTPUT x COMMAND a \"b \\\"c\\\"\" DEPENDS d COMMAND e ARGS f)":           "1 sh 'a' 'b \"c\"'\n1 sh 'e' 'f'",
		"add_custom_target(x\n # COMMAND no\n COMMAND # no\n ls (a) b)":                               "3 sh 'ls'",
		"execute_process(COMMAND ${CMAKE_COMMAND} -E rm ${PROJECT_BINARY_DIR}/x ${CMAKE_SOURCE_DIR})": "1 sh 'cmake' '-E' 'rm' '/p/build/x' '/p'",
		"execute_process(COMMAND ${Python_EXECUTABLE} $<TARGET_FILE:x> WORKING_DIRECTORY a)":          "1 sh 'python' ''\"${cmake_value:?}\"''",
		"set(A COMMAND_X b)\nCOMMAND":            "",
		"COMMAND a COMMENT b COMMAND c VERBATIM": "1 sh 'a'\n1 sh 'c'",
	} {
		got := strings.ReplaceAll(tasks(t, "cmake --build . -t x", files{"CMakeLists.txt": text}), "CMakeLists.txt:", "")
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	for command, want := range map[string]string{ // whoever configures builds no target
		"cmake -B build":          "CMakeLists.txt:2 sh 'id'",
		"cmake --install build":   "CMakeLists.txt:1 sh 'ls'\nCMakeLists.txt:2 sh 'id'",
		"cmake --workflow preset": "CMakeLists.txt:1 sh 'ls'\nCMakeLists.txt:2 sh 'id'",
	} {
		if got := tasks(t, command, files{"CMakeLists.txt": "add_custom_target(x COMMAND ls)\nexecute_process(COMMAND id)"}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", command, got, want)
		}
	}
}

// TestManyCopies looks for a limited number of files, whatever a Dockerfile copies and runs.
func TestManyCopies(t *testing.T) {
	t.Parallel()
	const most = 20_000
	for name, line := range map[string]string{"files": "COPY s/f%[1]d.sh /x/f%[1]d.sh\n", "folders": "COPY d%d /x/\n", "one": "COPY s%d/b.sh b.sh /x/\n"} {
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, line, i)
		}
		for i := range 3000 {
			fmt.Fprintf(&b, "RUN sh /x/f%[1]d.sh && echo a%[1]d b.sh c%[1]d\n", i)
		}
		var looked []string
		got := call{command: "docker build", files: files{"Dockerfile": b.String()}, looked: &looked}.tasks(t)
		if len(looked) > most || strings.Count(got, "holds more than is read") != 1 {
			t.Errorf("%s: %d looks, told %d times", name, len(looked), strings.Count(got, "holds more than is read"))
		}
	}
}
