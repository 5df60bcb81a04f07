package shell

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/getopt"
)

// TestCarriersMistakes checks the error messages for mistakes in a table.
func TestCarriersMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[a] unles=-x":              `t.txt:1:5: unknown attribute "unles=-x"`,
		"# b\n[a] own\nrun = frm=1": `t.txt:3:7: unknown attribute "frm=1"`,
		"[a]\n[b a]":                `t.txt:2:4: "a" is named already`,
		"[a b":                      `t.txt:1:1: want [names] attributes, words = attributes or @list = elements, got "[a"`,
		"run = from=1":              `t.txt:1:1: "run" stands below no [names]`,
		"[a] by=nothing":            `t.txt:1:5: unknown attribute "by=nothing"`,
		"[a] own\n    run=sideways": `t.txt:2:5: unknown attribute "run=sideways"`,
		"[a] from=two":              `t.txt:1:5: unknown attribute "from=two"`,
		"[a]\nrun from=1":           `t.txt:2:1: want [names] attributes, words = attributes or @list = elements, got "run"`,
		"[a]\nrun = by=shell":       `t.txt:2:7: unknown attribute "by=shell"`,
		"[a] keys=":                 `t.txt:1:5: unknown attribute "keys="`,
		"[a] own=yes":               `t.txt:1:5: unknown attribute "own=yes"`,
		"[a] keys=-b,\n  -c own ow": `t.txt:2:10: unknown attribute "ow"`,
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
@some = run.* !alias
[nice] may=first,x*
[listed] own
[kubectl] own
go|do = from=1
task run = run=line
[each] by=options run=each
[flock] by=options mixed line=--command/exec=,-c after=--then
[scp] by=options mixed settings=-o keys=@some
[typed] by=options escapes=!,go_
[given] by=options dash run=argv with=sh
[sh] by=shell
`)
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		"nice -n 1 --adjustment 2 rm x": "rm x",
		"nice first -n 1 x9 rm x":       "rm x",
		"listed rm x":                   "rm x",
		"kubectl -n 1 go a rm x":        "rm x",
		"kubectl go -- rm x":            "rm x",
		"kubectl stop a rm x":           "kubectl stop a rm x",
		"kubectl task -q run rm x":      "rm x",
		"each 'rm x' 'rm y'":            "each rm x rm y; rm x; rm y",
		"flock f --command=exec='rm x'": "flock f --command=exec=rm x; rm x",
		"flock f --command=print":       "flock f --command=print",
		"flock f -c 'rm x'":             "flock f -c rm x; rm x",
		"flock f --then rm x":           "flock f --then rm x; rm x",
		"scp -o run.it='rm x'":          "scp -o run.it=rm x; rm x",
		"scp -o run.it=true":            "scp -o run.it=true",
		"scp -o alias='rm x'":           "scp -o alias=rm x",
		"scp -o alias='!rm x'":          "scp -o alias=!rm x; rm x",
		"typed '!rm x'":                 "typed !rm x; rm x",
		"typed <<< 'go rm x'":           "typed; rm x",
		"given a -- -c 'rm x'":          "given a -- -c rm x; rm x",
		"given a -c 'rm x'":             "given a -c rm x",
		"nice2 rm x":                    "rm x",
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

// TestCarriersOptionsTakeValues checks that each option whose value has a meaning takes one
// according to the table of options, at least in one of the programs.
func TestCarriersOptionsTakeValues(t *testing.T) {
	t.Parallel()
	var names []string
	err := rows.ReadJoined("carriers.txt", carriersText, func(row string) error {
		words := strings.Fields(row)
		if words[0][0] == '[' {
			end := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "]") })
			names = strings.Fields(strings.Trim(strings.Join(words[:end+1], " "), "[]"))
		}
		for _, w := range words {
			attribute, list, _ := strings.Cut(w, "=")
			if list == "" || !slices.Contains([]string{"line", "settings", "text", "program", "file", "chdir", "root", "to"}, attribute) {
				continue
			}
			for option := range strings.SplitSeq(list, ",") {
				option = strings.TrimSuffix(regexp.MustCompile(`(.)/.*`).ReplaceAllString(option, "$1"), "?")
				takes := func(name string) bool { return getopt.Of(name).Takes(option) }
				if option[0] == '-' && !slices.ContainsFunc(names, takes) {
					return rows.Wrong(option, "%s takes no value", option)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
