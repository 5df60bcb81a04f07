package imports_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/imports"
)

func TestImportsAreFound(t *testing.T) {
	for _, row := range []struct {
		language, text string
		search         string   // further folders to search
		want           []string // the first candidate of each import
	}{
		{"python", "import a", "", []string{"/p/a.py"}},
		{"python", "x = 1; import a, b.c as d\nfrom .e import f\n    import g", "", []string{"/p/a.py", "/p/b/c.py", "/p/e.py", "/p/e/f.py", "/p/g.py"}},
		{"python", "from . import b\nfrom lib import c as d, e", "", []string{"/p/b.py", "/p/lib.py", "/p/lib/c.py", "/p/lib/e.py"}},
		{"python", "import a\nimport a", "", []string{"/p/a.py"}},
		{"python", "print('import a')", "", nil},
		{"node", "const t = require('./t.js')\nimport x from \"../lib/x\"; import('./y')", "", []string{"/lib/x", "/lib/x/package.json", "/p/t.js", "/p/y", "/p/y/package.json"}},
		{"node", "import fs from 'fs'; require('left-pad')", "", nil},
		{"node", "import './side.mjs'", "", []string{"/p/side.mjs"}},
		{"node", "require('/srv/a.js')", "", []string{"/srv/a.js"}},
		{"php", "require_once __DIR__ . '/x.php'; include 'y.php';", "", []string{"/p/x.php", "/p/y.php", "/x.php"}},
		{"node", "require('e'); require('./e')", "/lib", []string{"/lib/e", "/lib/e/package.json", "/p/e", "/p/e/package.json"}},
		{"python", "import a", "/lib /more", []string{"/lib/a.py", "/more/a.py", "/p/a.py"}},
		{"perl", "use strict; use A::B;\n require C", "/lib", []string{"/lib/A/B.pm", "/lib/C.pm", "/lib/strict.pm", "/p/A/B.pm", "/p/C.pm", "/p/strict.pm"}},
		{"ruby", "require 'a'\nrequire_relative \"b\"", "/lib", []string{"/lib/a", "/lib/b", "/p/a", "/p/b"}},
	} {
		var got []string
		for _, files := range imports.Finders()[row.language].In("/p", strings.Fields(row.search), row.text) {
			got = append(got, files[0])
		}
		slices.Sort(got)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s %q: %q", row.language, row.text, got)
		}
	}
}

func TestImportsLedElsewhere(t *testing.T) {
	t.Parallel()
	files := []string{"/p/lib/x.ts", "/p/vendor/x.py", "/p/vendor/y.py"}
	for _, row := range []struct {
		language, text string
		search         []string
		want           string
	}{
		{"node", `import "@lib/x"`, nil, "/p/lib/x.ts"},
		{"node", `import "#x"`, nil, "/p/lib/x.ts /p/vendor/x.py"},
		{"node", `import "lib/x"`, nil, ""},
		{"node", `import "./x"`, nil, ""},
		{"python", "import x", nil, ""},
		{"python", "import x", []string{"/p/vendor"}, ""},
		{"python", "import x", []string{"/p/a.zip"}, "/p/vendor/x.py"},
		{"python", "import sys; sys.path.insert(0, d); import x, os", nil, "/p/vendor/x.py"},
	} {
		var got []string
		for _, group := range imports.Finders()[row.language].Alike(row.search, files, row.text) {
			got = append(got, group...)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s %q: %q, want %q", row.language, row.text, got, row.want)
		}
	}
}
