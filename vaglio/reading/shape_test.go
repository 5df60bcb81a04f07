package reading

import (
	"strings"
	"testing"
)

// TestShapes checks that programs are recognized by what one language has and the shell has not,
// and that look-alikes are not.
func TestShapes(t *testing.T) {
	for lang, texts := range map[string][]string{
		langNode: {
			"const x = 1", "let y = f(2);", "var a = {}", "let x = y", "let a =1", "import x from 'y'", `import x from "y"`, "console.log(1)",
			"require('fs')", "(() => 1)()", "await f()", "new Promise(r => r())", "process.exit(1)", "JSON.parse(x)", "module.exports = 1",
			"x.map(require('y'))", `f(require("y"))`, "#!/usr/bin/env node\nx", "#!/usr/bin/node", strings.Repeat("ls\n", 199) + "const x = 1", "# a note\n\n  const x = 1",
		},
		"perl": {"use strict;", "my $x = 1;", "my @a;", "use warnings", "#!/usr/bin/perl -w"},
		"ruby": {"require 'x'", `require "x"`, "puts 1", "FileUtils.rm_rf('x')", "a.each do |x|", "a.each {|x| p x}", "a.each { |x| p x }"},
		langPython: {
			"import os", "import x", "import os.path as p", "import os, sys", "import os; x", "import os # it", "from os import path", "def f(x):", "class A:",
			"async def f():", "def f(x): return x", "with open('x') as f:", "while True:", "if x:", "for i in x:", "for i in range(3): print(i)", "try:",
			"raise x", "assert x", "lambda x: x", "print(1)", "os.system('ls')", "x[0](1)", "f.g()", "x = 1", "a, b = 1, 2", "a += 1", "a -= 1", "a *= 2",
			"a[1] = 2", "a: int = 1", "x.y = 1", "1 + 1", "2*3", "(1, 2)", "[1, 2]", "9 - 8", "8 % 3", "0.5*2", "1,2", "a , b = 1, 2", "a_b(1)", "_ = 1", "f(x", "#!/usr/bin/python3\nx", "#!/usr/bin/env python3",
		},
		"php":     {"<?php echo 1;", "  <?php", "#!/usr/bin/php"},
		langShell: {"#!/bin/sh\nls", "#!/bin/bash", "#!/bin/sh\nconst x = 1", "#!/opt/x/y z", "#!/usr/bin/env -S x"},
		"": {
			"ls", "let x=1", "let y=2 z=3", "const x", "echo require", "node -e \"require('fs')\"", "console", "process", "0", "f(", "print(", "a.b(", "(1)+2", "[1]", "1+é", "9a(1)", "0x = 1", "await x", "async x", "import -window root from-x.png",
			"put s", "ls | while read x; do rm $x; done", "import 'x'", "import -w x", "import", "from x", "def", "class", "if true; then ls; fi",
			"for i in *; do ls; done", "for i in 1", "while true", "with x", "f()", "f ()", "(x)", "-f(1)", "1a(2)", ".a(1)", "a-b(1)", "x=1", "x =1", "x= 1",
			"a-b = 1", "1x = 1", ".x = 1", " = 1", "x = ", "", "#x = 1", "(", "12", "12 34", "12 3; 4", "(ls)", "[ -f x ]", "my x", "use x", "ls {", "",
			strings.Repeat("ls\n", 200) + "const x = 1",
		},
	} {
		for _, text := range texts {
			if got := shapeOf(text); got != lang {
				t.Errorf("%q looks like %q, want %q", text, got, lang)
			}
		}
	}
}
