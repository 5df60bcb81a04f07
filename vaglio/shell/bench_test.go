package shell

import (
	"strings"
	"testing"
)

func benchOptions() Options {
	return Options{Home: "/home/user", User: "user", Cwd: "/home/user/project"}
}

func BenchmarkReadSimple(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Read("git status --short", benchOptions())
	}
}

func BenchmarkReadPipeline(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Read(`cd build && grep -rn "func main" --include='*.go' . | head -20 > "$HOME/out.txt"`, benchOptions())
	}
}

func script40() string {
	var s strings.Builder
	s.WriteString("#!/bin/bash\nset -euo pipefail\nROOT=${ROOT:-/srv/app}\nfor f in a b c; do\n  cp \"$f\" \"$ROOT/$f\"\ndone\n")
	for range 18 {
		s.WriteString("mkdir -p \"$ROOT/bin\" && install -m 755 app \"$ROOT/bin/app\"\nif [ -f x ]; then rm -f x; fi\n")
	}
	return s.String()
}

func BenchmarkReadScript40(b *testing.B) {
	b.ReportAllocs()
	src := script40()
	for b.Loop() {
		Read(src, benchOptions())
	}
}

func BenchmarkReadLargeScript(b *testing.B) {
	b.ReportAllocs()
	src := strings.Repeat("mkdir -p \"$HOME/x\" && echo done > /tmp/log; V=$(basename /a/b)\n", MaxSource/8/63)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if s := Read(src, benchOptions()); len(s.Problems) > 0 {
			b.Fatal(s.Problems)
		}
	}
}
