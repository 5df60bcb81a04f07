package effects

import (
	"path"
	"strings"
)

// rebuildable reports whether what a pattern names can be made again by a
// build, an install or a download, so that its loss costs only time. The path
// is clean; it may hold shell patterns.
func rebuildable(p string) bool {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		if i > 0 && segments[i-1] == "vendor" && s == "bundle" || i > 0 && segments[i-1] == ".yarn" && s == "cache" {
			return true
		}
		if rebuildDir(s) && (i > 0 || len(segments) == 1 || !path.IsAbs(p)) {
			return true
		}
	}
	return rebuildFile(segments[len(segments)-1])
}

func rebuildDir(s string) bool {
	switch strings.TrimSuffix(s, "*") {
	case "build", "dist", "out", "output", "target", "node_modules", "__pycache__", ".cache", ".next", ".nuxt", ".turbo", ".parcel-cache", ".output", ".vercel",
		"coverage", "htmlcov", ".coverage", ".nyc_output", ".tox", ".nox", ".venv", "venv", ".virtualenv", "virtualenv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints",
		".gradle", ".svelte-kit", ".angular", ".astro", ".docusaurus", ".serverless", ".webpack", ".vite", ".rollup.cache", ".rpt2_cache", ".eslintcache", ".stylelintcache", ".sass-cache", ".jest-cache", "bower_components",
		"DerivedData", "Pods", ".dart_tool", ".build", "cmake-build", "cmake-build-debug", "cmake-build-release", "CMakeFiles", "obj", "_build", ".bundle", ".terraform", ".terragrunt-cache", "cdk.out", ".aws-sam",
		"storybook-static", "test-results", "playwright-report", "tmp", "temp", ".tmp", ".temp", ".yarn/cache", ".pnpm-store", ".npm", "_cacache", ".eggs", "pip-wheel-metadata", "site-packages",
		".stack-work", "dist-newstyle", "elm-stuff", ".elixir_ls", "zig-cache", "zig-out", ".zig-cache", "bazel-bin", "bazel-out", "bazel-testlogs", ".expo", ".metro", ".ccache", ".scannerwork", ".idea_modules",
		"blib", "lib-cov", ".fusebox", ".dynamodb", ".cargo-cache", ".phpunit.cache", ".php-cs-fixer.cache", "Debug", "Release", "x64", "reports", "allure-results", "allure-report", "jscpd-report", "target-debug", ".swc", ".wrangler", ".netlify", "logs", "log", "artifacts", "cache", "caches", "Caches", "release-builds", ".pdm-build", ".direnv", "result", ".nx", "vendor/bundle", "junit", "generated", ".metals", ".bloop", ".bsp", "nohup.out", ".kotlin", ".cxx", ".externalNativeBuild", ".mvn-cache", "bin-debug", "intermediates":
		return true
	}
	return strings.HasSuffix(s, ".egg-info") || strings.HasSuffix(s, ".dist-info") || strings.HasPrefix(s, "build-") || strings.HasPrefix(s, "cmake-build-") || strings.HasPrefix(s, "dist-") || strings.HasPrefix(s, "bazel-") || strings.HasSuffix(s, ".dSYM") || strings.HasSuffix(s, "-cache") || strings.HasSuffix(s, "_cache") || strings.HasSuffix(s, ".xcresult")
}

func rebuildFile(s string) bool {
	switch s {
	case ".DS_Store", "Thumbs.db", "desktop.ini", "a.out", "core", "coverage.xml", "coverage.out", "cover.out", "cobertura.xml", "lcov.info", "junit.xml", "report.xml", "nosetests.xml", ".coverage", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "bun.lock", "npm-shrinkwrap.json",
		"Cargo.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "composer.lock", "Gemfile.lock", "nohup.out", "vgcore", "gmon.out", "cpu.prof", "mem.prof", "profile.out", "tags", "TAGS", ".eslintcache", ".tsbuildinfo", "tsconfig.tsbuildinfo", "compile_commands.json", "config.status", "config.log", "config.cache", "CMakeCache.txt", "MANIFEST", ".terraform.lock.hcl", "debug.log", "error.log", "bundle.js", "coverage.json", "test-report.xml", "results.xml", "pytest.xml", "tests.xml", "lint.txt":
		return true
	}
	for _, suffix := range []string{".o", ".obj", ".lo", ".la", ".a", ".so", ".dylib", ".dll", ".lib", ".ko", ".gch", ".pch", ".d", ".pyc", ".pyo", ".pyd", ".class", ".tmp", ".temp", ".swp", ".swo", ".swn", "~", ".orig", ".rej", ".gcda", ".gcno", ".gcov", ".profraw", ".profdata", ".tsbuildinfo", ".egg", ".whl", ".prof", ".test", ".out", ".pid", ".cover", ".cache", ".log", ".log.*", ".map", ".aux", ".toc", ".bbl", ".blg", ".fls", ".fdb_latexmk", ".synctex.gz", ".nupkg", ".min.js", ".min.css", ".stackdump", ".hi", ".dyn_o", ".beam", ".cmi", ".cmo", ".cmx", ".ilk", ".pdb", ".idb", ".tlog", ".crswap", ".pyc*", ".o*", ".lock.tmp", ".part", ".crdownload", ".elc", ".rlib", ".rmeta"} {
		if strings.HasSuffix(s, suffix) && s != suffix[1:] {
			return true
		}
	}
	for _, prefix := range []string{"core.", "npm-debug.log", "yarn-error.log", "yarn-debug.log", "pnpm-debug.log", "hs_err_pid", ".coverage.", "vgcore.", "heapdump", "~$", ".#", "._", "__debug_bin", "TEST-"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// rebuildableHome reports whether a clean path lies in a cache of the user
// that fills itself again.
func (w *world) rebuildableHome(p string) bool {
	if w.home == "" {
		return false
	}
	rest, ok := strings.CutPrefix(p, w.home+"/")
	if !ok {
		return false
	}
	for _, dir := range []string{".cache/", ".npm/_", ".npm/_cacache", ".gradle/caches", ".m2/repository", ".cargo/registry", "go/pkg/mod", "Library/Caches/", ".yarn/cache", ".pnpm-store", ".nuget/packages", ".ccache", ".sbt/", ".ivy2/cache", ".expo/", "Library/Developer/Xcode/DerivedData", ".bun/install/cache", ".cocoapods/", ".pub-cache", ".local/share/pnpm/store"} {
		if strings.HasPrefix(rest+"/", dir) && rest+"/" != ".cache/" {
			return true
		}
	}
	return false
}
