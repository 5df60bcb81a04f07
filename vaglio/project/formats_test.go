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
		"%%perl\\nx()":                  "",
		"x()\\n  !ls -l\\n\\n%cd y\\nz": "1 sh ls -l\n1 python x()\n\n\n\nz",
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
