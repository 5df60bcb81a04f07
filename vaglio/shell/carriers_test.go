package shell

import (
	"strings"
	"testing"
)

// TestCarriersMistakes checks the error messages for mistakes in a table.
func TestCarriersMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[a] unles=-x":                `t.txt:1:5: unknown attribute "unles=-x"`,
		"# b\n[a] own\nrun = frm=1":   `t.txt:3:7: unknown attribute "frm=1"`,
		"[a]\n[b a]":                  `t.txt:2:4: "a" is named already`,
		"[a b":                        `t.txt:1:1: no ] behind "[a"`,
		"run = from=1":                `t.txt:1:1: "run" stands below no [names]`,
		"[a] by=nothing":              `t.txt:1:5: unknown attribute "by=nothing"`,
		"[a] odd=nothing":             `t.txt:1:5: unknown attribute "odd=nothing"`,
		"[a] own\n    run=sideways":   `t.txt:2:5: unknown attribute "run=sideways"`,
		"[a] from=two":                `t.txt:1:5: unknown attribute "from=two"`,
		"[a]\nrun from=1":             `t.txt:2:1: want [names], words = attributes or @list = options, got "run"`,
		"@list = -a -b":               `t.txt:1:1: want one list behind @list =`,
		"[a]\nrun = by=shell":         `t.txt:2:7: unknown attribute "by=shell"`,
		"[a] values=":                 `t.txt:1:5: unknown attribute "values="`,
		"[a] own=yes":                 `t.txt:1:5: unknown attribute "own=yes"`,
		"[a] values=-b,\n  -c own ow": `t.txt:2:10: unknown attribute "ow"`,
	} {
		_, err := readCarriers("t.txt", text)
		if err == nil || err.Error() != want {
			t.Errorf("readCarriers(%q)\n = %v\nwant %s", text, err, want)
		}
	}
}

// TestCarriersNotation checks every form of the table's notation on programs of its own.
func TestCarriersNotation(t *testing.T) {
	c, err := readCarriers("t.txt", `
@some = -a,--all
[plain] values=@some,-b may=first,x*
[listed] own
[verb] values=-v
go|do = from=1
task run = run=line
[each] by=options run=each
[behind] by=options mixed line=--do/exec=,-c after=--then
[key] by=options mixed settings=-o keys=run.*,!alias
[typed] by=options escapes=!,go_
[given] by=options dash run=argv with=sh
[sh] by=shell
`)
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		"plain -a 1 --all 2 rm x":   "rm x",
		"plain first -b 1 x9 rm x":  "rm x",
		"listed rm x":               "rm x",
		"verb -v 1 go a rm x":       "rm x",
		"verb go -- rm x":           "rm x",
		"verb stop a rm x":          "verb stop a rm x",
		"verb task -q run rm x":     "rm x",
		"each 'rm x' 'rm y'":        "each rm x rm y; rm x; rm y",
		"behind f --do=exec='rm x'": "behind f --do=exec=rm x; rm x",
		"behind f --do=print":       "behind f --do=print",
		"behind f -c 'rm x'":        "behind f -c rm x; rm x",
		"behind f --then rm x":      "behind f --then rm x; rm x",
		"key -o run.it='rm x'":      "key -o run.it=rm x; rm x",
		"key -o run.it=true":        "key -o run.it=true",
		"key -o alias='rm x'":       "key -o alias=rm x",
		"key -o alias='!rm x'":      "key -o alias=!rm x; rm x",
		"typed '!rm x'":             "typed !rm x; rm x",
		"typed <<< 'go rm x'":       "typed; rm x",
		"given a -- -c 'rm x'":      "given a -- -c rm x; rm x",
		"given a -c 'rm x'":         "given a -c rm x",
		"plain2 rm x":               "rm x",
	} {
		s := run(testOptions(), func(r *reader, f *frame) {
			r.carriers = c
			r.source(f, src)
		})
		if got := strings.Join(shown(s), "; "); got != want {
			t.Errorf("%q\n runs %q\n want %q", src, got, want)
		}
	}
}
