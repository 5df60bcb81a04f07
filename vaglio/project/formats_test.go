package project_test

import (
	"strings"
	"testing"
)

func TestNotebooks(t *testing.T) {
	t.Parallel()
	cells := func(sources ...string) string {
		var b strings.Builder
		for _, s := range sources {
			b.WriteString(`,{"cell_type": "code", "source": "` + strings.ReplaceAll(s, "\n", `\n`) + `"}`)
		}
		return `{"cells": [{"cell_type": "markdown", "source": "!rm"}` + b.String() + "]}"
	}
	for source, want := range map[string]string{
		"%%script x\\nls":               "1 sh ls",
		"  \\n%%sh\\nls\\nid":           "1 sh ls\nid",
		"%%!\\nls":                      "1 sh ls",
		"%%system\\nls":                 "1 sh ls",
		"%%sx\\nls":                     "1 sh ls",
		"%%bash":                        "",
		"%%\\nx = 1":                    "1 python x = 1",
		"%%time\\n%%bash\\nx()":         "1 python x()",
		"%%timeit -n 2\\nx()":           "1 python x()",
		"%%capture\\nx()":               "1 python x()",
		"%%prun\\nx()":                  "1 python x()",
		"%%python3\\nx()":               "1 python x()",
		"%%python\\nx()":                "1 python x()",
		"%%perl\\nx()":                  "1 perl x()",
		"%%script perl\\nx()":           "1 perl x()",
		"%%writefile x.sh\\nls":         "1 sh tee x.sh",
		"%%html\\n<b>":                  "",
		"%%magic\\nx()":                 "",
		"%%time\\n!ls":                  "1 sh ls",
		"%run x.py\\ny = !ls":           "1 sh python3 x.py\n1 sh ls",
		"x()\\n  !ls -l\\n\\n%cd y\\nz": "1 sh ls -l\n1 sh cd y\n1 python x()\n\n\n\nz",
		"x = a ! b\\n":                  "1 python x = a ! b",
	} {
		got := strings.ReplaceAll(tasks(t, "papermill a.ipynb", files{"a.ipynb": cells(source)}), "a.ipynb:", "")
		if got != want {
			t.Errorf("%q:\n got %q\nwant %q", source, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"cells": [`: "",
		"!ls -l\nx()": "a.ipynb:1 sh ls -l\na.ipynb:1 python x()", // a cell, before it is put into the file
		`{"cells": [{"cell_type":"code","source":["a\n", 7, "b"]}, {"cell_type":"code","source":"c"}, {"cell_type":"code"}]}`: "a.ipynb:1 python a\nb\nc",
	} {
		if got := tasks(t, "papermill a.ipynb", files{"a.ipynb": text}); got != want {
			t.Errorf("%s:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestXML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<p><exec command="ls"/></p>`: "1 sh 'ls'",
		"<p>\n\n<apply executable='a b'><arg value='c'/><arg file='d'/><arg path='e'/><arg line='f g'/><arg other='h'/><env value='i'/></apply></p>": "3 sh 'a b'  'c'  'd'  'e' f g",
		`<p><java executable="no"/></p>`:     "",
		`<exec executable="a" command="b"/>`: "1 sh 'a'",
		`<p><configuration><executable> x </executable><commandlineArgs>-a b</commandlineArgs><commandlineArgs>c</commandlineArgs></configuration></p>`: "1 sh 'x' -a b c",
		`<p><a><executable>x</executable><arguments><argument> y z </argument><argument>w</argument></arguments></a></p>`:                               "1 sh 'x' 'y z' 'w'",
		`<p><a><arguments><argument>y</argument></arguments></a></p>`:                                                                                   "",
		`<p><configuration><executable></executable></configuration></p>`:                                                                               "",
		"<p>\n<exec executable='x&amp;y'/></p>":                                                                                                         "1 sh 'x&y'",
	} {
		got := strings.ReplaceAll(tasks(t, "ant", files{"build.xml": text}), "build.xml:", "")
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	if got := tasks(t, "ant", nil); got != "" {
		t.Errorf("of no file: %s", got)
	}
	many := files{"build.xml": "<p>" + strings.Repeat("<exec executable='ls'/>", 300) + "</p>"}
	if got := strings.Split(tasks(t, "ant", many), "\n"); len(got) != 200 || !strings.Contains(got[199], "more than is read") {
		t.Errorf("of 300 commands %d are kept, and at last %s", len(got), got[len(got)-1])
	}
	if got := tasks(t, "mvn -f x.xml", files{"x.xml": "<a><executable>x</executable></a>"}); got != "x.xml:1 sh 'x'" {
		t.Error(got)
	}
}

// TestFilesOfOtherForms reads lines as words of a command, values of keys, and whole files
// of which nobody knows the form.
func TestFilesOfOtherForms(t *testing.T) {
	t.Parallel()
	picture := deciding(t)
	for _, row := range []struct {
		command string
		files   files
		want    string
	}{
		{"hurl a.hurl", files{"a.hurl": "GET http://a\nPOST http://b\n DELETE http://c\nPOSTED x"}, "a.hurl:2 sh curl -X POST http://b\na.hurl:3 sh curl -X DELETE http://c\na.hurl:1  GET http://a\nPOST http://b\n DELETE http://c\nPOSTED x"},
		{"pip install -r r.txt", files{"r.txt": "a\n-e ./b\n#-c x\n--pre"}, "r.txt:2 sh pip install -e ./b\nr.txt:4 sh pip install --pre"},
		{"pip list -r r.txt", files{"r.txt": "-e ./b"}, ""},
		{"curl -K a.cfg", files{"a.cfg": "url = x"}, "a.cfg:1  url = x"},
		{"curl -K a.cfg", nil, ""},
		{"php x", files{"php.ini": "a = b\nauto_prepend_file = \"p.php\"\n", "p.php": "<?php p();"}, "p.php:1 php <?php p();"},
		{"php x", files{"php.ini": "auto_prepend_file=p.php", "p.php": "<?php p();"}, "p.php:1 php <?php p();"},
		{"php x", files{"php.ini": ";auto_prepend_file=p.php", "p.php": "<?php p();"}, ""},
		{
			"docker compose up",
			files{"compose.yml": "a:\n  network_mode: host\n  extra_hosts: [x=host-gateway, 'y:1.2.3.4', 7]\n  command: id\n"},
			"compose.yml:4 sh 'docker' 'run' '--rm' '--network=host' '--add-host=x:host-gateway' '--add-host=y:1.2.3.4' 'image' 'sh' '-c' 'id'",
		},
		{"docker compose up", files{"compose.yml": "a:\n  network_mode: [host]\n  extra_hosts: x\n  pid: host\n  command: id\n"}, "compose.yml:4 sh 'docker' 'run' '--rm' '--privileged' '--pid=host' 'image' 'sh' '-c' 'id'"},
	} {
		c := call{command: row.command, files: row.files}
		picture.add(c)
		if got := c.tasks(t); got != row.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", row.command, row.files, got, row.want)
		}
	}
	// A whole file is read only for what it names: it may still be found.
	if got, want := (call{command: "newman a.json", files: files{"a.json": "x: y.rb", "y.rb": "y()"}, changed: "a.json y.rb"}).tasks(t), "a.json:1  x: y.rb\na.json:1 ? x: y.rb\ny.rb:1 ruby? y()"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
