package word

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// TestWords holds what comes of words as it reads for people.
func TestWords(t *testing.T) {
	home, out := Unknown("HOME"), OutputOf("date")
	path := Glue(home, Text("/a=b/"), New(Globs("*.go")...))
	left, right, ok := path.Split("=")
	last, _ := LastStep(path)
	for got, want := range map[string]string{
		path.String():                                             "${HOME}/a=b/*.go",
		left.String():                                             "${HOME}/a",
		right.String():                                            "b/*.go",
		last.String():                                             "*.go",
		path.Cut(3).String():                                      "${HOME}/a=b/*.go",
		Text("--out=x").Cut(6).String():                           "x",
		path.Suffix():                                             ".go",
		path.MapText(strings.ToUpper).String():                    "${HOME}/A=B/*.GO",
		path.MapSuffix(strings.ToUpper).String():                  "${HOME}/a=b/*.GO",
		Glue(Text(" \t"), out).TrimLeft(" \t").String():           "$(date)",
		Join([]Word{Text("a"), home, out}, ",").String():          "a,${HOME},$(date)",
		Replace(Text("a{}b{}"), "{}", home).String():              "a${HOME}b${HOME}",
		Replace(Text("ab"), "", home).String():                    "ab",
		Replace(Text("{}{}"), "{}", Text(long)).String():          "${?}",
		Join(Glue(home, Text("/a\nb\n\n")).Lines(), "|").String(): "${HOME}/a|b|",
		Echo([]Word{Text("-ne"), Text(`a\tb`), home}).String():    "a\tb ${HOME}",
		Printf([]Word{Text("%s-%%\n"), Text("a"), out}).String():  "a-%\n$(date)-%\n",
		Printf([]Word{Text("%5d"), Text("7")}).String():           "${?}",
	} {
		if got != want {
			t.Errorf("%.80q, want %q", got, want)
		}
	}
	if !ok || path.Known() || !path.HasGlob() || !path.HasUnknown() || path.IsUnknown() || path.MayBeEmpty() || !out.MayBeEmpty() || NotEmpty("").MayBeEmpty() {
		t.Error("what is known of a word is lost")
	}
}

// long is more than half of what a word may hold.
var long = strings.Repeat("a", MaxSize/2+1)

// TestPatternsFindWhatTheShellRemoves compares what the operators ${x#p} and their like match.
func TestPatternsFindWhatTheShellRemoves(t *testing.T) {
	for op, want := range map[syntax.ParExpOperator]string{
		syntax.RemSmallPrefix: "a/", syntax.RemLargePrefix: "a/b/", syntax.RemSmallSuffix: "/c", syntax.RemLargeSuffix: "/b/c",
	} {
		pat := "*/"
		if strings.HasPrefix(want, "/") {
			pat = "/*"
		}
		re, ok := AtEnd(New(Globs(pat)...), op)
		if !ok {
			t.Fatal("no expression for", pat)
		}
		at := re.FindStringSubmatchIndex("a/b/c")
		if got := "a/b/c"[at[2]:at[3]]; got != want {
			t.Errorf("%v removes %q, want %q", op, got, want)
		}
	}
	if _, ok := AtEnd(Unknown("x"), syntax.RemSmallPrefix); ok {
		t.Error("an unknown pattern has an expression")
	}
	if _, ok := AtEnd(Text(strings.Repeat("a", MaxPattern+1)), syntax.RemSmallPrefix); ok {
		t.Error("a pattern beyond the bound has an expression")
	}
}
