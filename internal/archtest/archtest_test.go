package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/metnos/vaglio"

// room says what one package may import. The lists contain our own packages without the module's
// path, and external modules with their full path; a module includes the packages below it.
type room struct {
	// may lists our own packages. "*" means any.
	may []string
	// modules lists external modules.
	modules []string
	// tests lists what the package's tests may import in addition.
	tests []string
}

const (
	bbolt      = "go.etcd.io/bbolt"
	breaker    = "github.com/sony/gobreaker/v2"
	goopenai   = "github.com/sashabaranov/go-openai"
	cobra      = "github.com/spf13/cobra"
	pflag      = "github.com/spf13/pflag"
	cronlib    = "github.com/robfig/cron/v3"
	envconfig  = "github.com/kelseyhightower/envconfig"
	gotoml     = "github.com/pelletier/go-toml/v2"
	hujson     = "github.com/tailscale/hujson"
	udiff      = "github.com/aymanbagabas/go-udiff"
	gocmp      = "github.com/google/go-cmp"
	jsonlib    = "github.com/go-json-experiment/json"
	landlock   = "github.com/landlock-lsm/go-landlock"
	jsonschema = "github.com/santhosh-tekuri/jsonschema/v6"
	seccomp    = "github.com/elastic/go-seccomp-bpf"
	shparser   = "mvdan.cc/sh/v3"
	slackgo    = "github.com/slack-go/slack"
	sqllexer   = "github.com/DataDog/go-sqllexer"
	tgbotapi   = "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	vmetrics   = "github.com/VictoriaMetrics/metrics"
	websocket  = "github.com/gorilla/websocket"
	ximage     = "golang.org/x/image"
	webauthn   = "github.com/go-webauthn/webauthn"
	xmod       = "golang.org/x/mod"
	xnet       = "golang.org/x/net"
	xsync      = "golang.org/x/sync"
	porcupine  = "github.com/anishathalye/porcupine"
	xsys       = "golang.org/x/sys"
	xtext      = "golang.org/x/text"
	yaml       = "github.com/goccy/go-yaml"
	zstd       = "github.com/klauspost/compress"
)

// rooms is the design's table: imports point down only. A package that is not listed here fails the
// test, so that adding one is a deliberate decision.
var rooms = map[string]room{
	"internal/archtest":      {tests: []string{xmod}},
	"internal/golden":        {modules: []string{gocmp}},
	"internal/strictjson":    {modules: []string{jsonlib}},
	"internal/race":          {},
	"internal/realpath":      {},
	"internal/filemode":      {},
	"internal/databasefiles": {},
	"internal/buildxml":      {},
	"internal/notebook":      {},
	"internal/imports":       {},
	"internal/packed":        {},
	"internal/unixtext":      {},
	"internal/lists":         {},
	"internal/rows":          {},
	"internal/sourcetext":    {},
	"internal/settings":      {may: []string{"internal/memo"}, modules: []string{gotoml, yaml}},
	"internal/hosts":         {},
	"internal/regular":       {},
	"internal/seals":         {may: []string{"internal/regular"}},
	"internal/memo":          {},
	"internal/itself":        {may: []string{"gateway/install", "internal/own", "internal/regular", "internal/seals"}},
	"internal/own":           {may: []string{"internal/hosts"}},
	"internal/repeats":       {},
	"internal/privacy":       {modules: []string{xsys}},
	"internal/resident":      {},
	"internal/peers":         {modules: []string{xsys}},
	"internal/lineage":       {},
	"internal/processes":     {may: []string{"internal/lineage", "vaglio"}},
	"internal/setup":         {may: []string{"internal/agents", "internal/datafolder", "internal/hosts", "internal/regular", "internal/strictjson"}},

	"internal/nearest":    {},
	"internal/terminal":   {may: []string{"approval/visible", "internal/strictjson"}},
	"internal/datafolder": {may: []string{"internal/durable", "internal/regular"}},
	"internal/eval":       {may: []string{"channels/chart", "vaglio", "internal/strictjson"}},
	"internal/judging": {
		may: []string{
			"approval", "vaglio", "vaglio/judge", "vaglio/judge/agent", "vaglio/judge/budget", "vaglio/judge/effects", "vaglio/judge/llm", "vaglio/judge/model",
			"vaglio/judge/model/openai", "vaglio/judge/model/anthropic", "vaglio/judge/sandbox", "vaglio/mask",
			"internal/own", "internal/policyfile", "internal/strictjson", "internal/workfiles",
		},
		tests: []string{"store/bolt", "store/storetest", "vaglio/judge/model/modeltest"},
	},
	"internal/policyfile": {
		may: []string{
			"approval", "vaglio/catalog", "vaglio/operation", "vaglio/judge/effects", "vaglio/wording", "channels/slack", "channels/telegram", "channels/web",
			"vaglio/judge/agent", "vaglio/judge/budget", "vaglio/judge/model", "vaglio/clients", "vaglio/reading", "internal/datafolder", "internal/hosts", "internal/nearest",
			"internal/workfiles", "internal/regular", "vaglio", "vaglio/place",
		},
		modules: []string{yaml},
	},
	"internal/agents":   {may: []string{"approval", "internal/datafolder", "internal/strictjson"}, tests: []string{"store/storetest"}},
	"internal/instance": {may: []string{"approval", "approval/report", "channels/slack", "channels/telegram", "channels/web", "channels/web/passkey", "internal/strictjson"}, tests: []string{"store/storetest"}},
	"internal/doctor": {
		may: []string{
			"dispatcher", "store/bolt", "store/keyring", "approval", "approval/visible", "channels/slack", "channels/telegram",
			"internal/datafolder", "internal/regular", "internal/seals", "internal/strictjson", "internal/terminal", "vaglio/judge/sandbox",
		},
		modules: []string{xsys},
	},
	"internal/digestcheck": {
		may:   []string{"approval", "approval/report", "vaglio", "vaglio/audit", "internal/strictjson", "internal/terminal"},
		tests: []string{"dispatcher", "store/storetest", "vaglio/judge", "vaglio/judge/effects"},
	},
	"internal/logverify": {
		may: []string{"approval/history", "approval/visible", "store/bolt", "internal/datafolder", "internal/terminal"},
	},
	"internal/replay": {
		may: []string{
			"approval", "gateway/hook", "gateway/jsonrpc", "internal/policyfile", "internal/regular", "internal/strictjson", "internal/terminal", "templates",
			"vaglio", "vaglio/judge/effects", "vaglio/operation", "vaglio/place",
		},
		modules: []string{udiff},
		tests:   []string{xnet},
	},
	"internal/unasked": {may: []string{"internal/replay", "vaglio"}},
	"internal/explain": {
		may: []string{
			"approval", "approval/headline", "approval/visible", "channels/cardtext", "templates", "vaglio", "vaglio/judge/effects", "vaglio/operation", "vaglio/place", "vaglio/reading", "vaglio/shell",
			"vaglio/wording",
		},
		tests: []string{"vaglio/catalog"},
	},

	"vaglio/wordclass":      {may: []string{"internal/rows"}},
	"vaglio/wording":        {},
	"vaglio/wording/spoken": {may: []string{"internal/rows", "vaglio/wording"}},
	"vaglio/getopt":         {may: []string{"internal/lists", "internal/rows"}},
	"vaglio/shell":          {may: []string{"vaglio/getopt", "internal/lists", "internal/rows", "internal/unixtext", "vaglio/shell/filter", "vaglio/shell/search", "vaglio/shell/word", "vaglio/wordclass", "vaglio/wording"}, modules: []string{shparser}, tests: []string{"vaglio/code", "vaglio/project"}},
	"vaglio/code": {may: []string{
		"internal/imports", "internal/memo", "internal/lists", "internal/rows", "internal/settings", "internal/sourcetext", "internal/unixtext", "vaglio/code/dial", "vaglio/code/lex", "vaglio/code/page", "vaglio/code/unfold", "vaglio/shell", "vaglio/wordclass", "vaglio/wording",
	}},
	"vaglio/code/dial":        {may: []string{"vaglio/shell", "vaglio/wordclass"}},
	"vaglio/code/lex":         {},
	"vaglio/code/page":        {may: []string{"vaglio/code/lex", "vaglio/wordclass"}},
	"vaglio/code/unfold":      {may: []string{"vaglio/shell"}},
	"vaglio/shell/filter":     {may: []string{"internal/strictjson", "internal/unixtext", "vaglio/getopt", "vaglio/wordclass"}},
	"vaglio/shell/search":     {may: []string{"vaglio/shell/word"}},
	"vaglio/shell/word":       {may: []string{"internal/unixtext", "vaglio/shell/filter"}, modules: []string{shparser}},
	"vaglio/shell/powershell": {may: []string{"internal/lists", "internal/rows", "vaglio/shell", "vaglio/shell/word", "vaglio/wordclass", "vaglio/wording"}},
	"vaglio/patch":            {may: []string{"vaglio/getopt", "vaglio/shell", "vaglio/wording"}},
	"vaglio/place":            {may: []string{"internal/lists", "internal/rows", "internal/unixtext"}, modules: []string{xtext}},
	"vaglio/operation":        {may: []string{"vaglio/shell"}},
	"vaglio/commands":         {may: []string{"vaglio/getopt", "internal/lists", "internal/rows", "vaglio/operation", "vaglio/shell", "vaglio/shell/search"}},
	"vaglio/reading":          {may: []string{"vaglio/operation", "vaglio/place", "vaglio/patch", "vaglio/shell", "vaglio/shell/powershell", "vaglio/code", "vaglio/wordclass", "internal/hosts", "internal/lists", "internal/memo", "internal/notebook", "internal/rows", "internal/strictjson", "vaglio/wording", "vaglio/project"}},
	"vaglio/project":          {may: []string{"vaglio/getopt", "internal/lists", "internal/rows", "vaglio/shell", "vaglio/code", "vaglio/code/unfold", "vaglio/commands", "vaglio/wordclass", "internal/buildxml", "internal/imports", "internal/memo", "internal/notebook", "internal/settings"}},
	"internal/workfiles":      {may: []string{"vaglio"}},
	"vaglio/clients":          {may: []string{"internal/rows", "vaglio/commands", "vaglio/operation", "vaglio/reading"}},
	"vaglio/guard": {
		may:     []string{"vaglio/shell", "vaglio/reading", "vaglio/operation", "vaglio/commands", "vaglio/place", "internal/realpath", "internal/rows", "internal/own", "internal/filemode", "internal/lists", "vaglio/wordclass", "vaglio/wording"},
		modules: []string{xtext},
	},
	"internal/filetest": {may: []string{"vaglio"}},
	"vaglio/catalog":    {may: []string{"vaglio/place", "internal/strictjson", "internal/realpath"}, modules: []string{jsonschema, xtext}},
	"vaglio/audit":      {may: []string{"internal/durable", "internal/strictjson"}, modules: []string{xsys}},
	"vaglio/mask":       {may: []string{"internal/rows", "internal/strictjson"}},
	"vaglio": {
		may: []string{
			"vaglio/guard", "vaglio/reading", "vaglio/clients", "vaglio/catalog", "vaglio/audit", "vaglio/place", "vaglio/shell", "internal/own", "internal/rows",
			"internal/packed", "internal/strictjson", "internal/realpath", "vaglio/wordclass", "vaglio/wording",
		},
		modules: []string{xsync},
		tests:   []string{"vaglio/judge", "vaglio/judge/effects", "internal/workfiles"},
	},
	"vaglio/judge":                 {may: []string{"vaglio", "internal/strictjson"}, modules: []string{xtext}},
	"internal/sql":                 {modules: []string{sqllexer}},
	"vaglio/judge/sandbox":         {may: []string{"internal/strictjson"}, modules: []string{landlock, seccomp, shparser, xnet, xsys}},
	"vaglio/judge/effects/servers": {may: []string{"internal/lists", "internal/settings"}},
	"vaglio/judge/effects/urls":    {may: []string{"internal/hosts", "vaglio/wording"}},
	"vaglio/judge/effects": {
		may: []string{
			"vaglio", "vaglio/catalog", "vaglio/clients", "vaglio/patch", "vaglio/place", "vaglio/reading", "vaglio/operation", "vaglio/commands", "vaglio/shell", "internal/sql", "vaglio/judge/effects/servers", "vaglio/judge/effects/urls", "internal/databasefiles", "internal/filemode", "internal/hosts",
			"internal/lists", "internal/rows", "internal/strictjson", "vaglio/wordclass", "vaglio/wording", "vaglio/wording/spoken",
		},
		modules: []string{xtext},
		tests:   []string{"vaglio/getopt", "vaglio/judge", "templates"},
	},

	"vaglio/judge/model": {
		may: []string{"vaglio", "internal/strictjson"}, modules: []string{breaker, vmetrics, xsync},
	},
	"vaglio/judge/model/openai":    {may: []string{"vaglio/judge/model", "internal/strictjson"}, modules: []string{goopenai}, tests: []string{"vaglio/judge/model/modeltest"}},
	"vaglio/judge/model/anthropic": {may: []string{"vaglio/judge/model", "internal/strictjson"}, tests: []string{"vaglio/judge/model/modeltest"}},
	"vaglio/judge/model/modeltest": {may: []string{"vaglio/judge/model", "internal/strictjson"}},
	"vaglio/judge/budget":          {may: []string{"vaglio"}},
	"vaglio/judge/llm": {
		may:   []string{"vaglio", "vaglio/judge/budget", "vaglio/judge/model", "vaglio/mask", "internal/strictjson"},
		tests: []string{"vaglio/judge/model/modeltest", "vaglio/judge/model/openai"},
	},
	"vaglio/judge/agent": {
		may:   []string{"vaglio", "vaglio/judge/budget", "vaglio/judge/llm", "vaglio/judge/model", "vaglio/judge/sandbox", "vaglio/mask", "vaglio/reading", "internal/strictjson"},
		tests: []string{"vaglio/judge", "vaglio/judge/effects", "vaglio/judge/model/modeltest", "vaglio/judge/model/openai"},
	},

	"approval/visible": {may: []string{"vaglio/mask"}, modules: []string{xtext}},
	"approval": {
		may:   []string{"approval/visible", "vaglio", "approval/headline", "vaglio/mask", "vaglio/operation", "vaglio/reading", "internal/strictjson", "vaglio/wording"},
		tests: []string{"vaglio/judge", "vaglio/operation"},
	},
	"approval/headline": {may: []string{"internal/hosts", "internal/strictjson", "vaglio", "vaglio/mask", "vaglio/operation", "vaglio/place", "vaglio/reading", "vaglio/wording", "vaglio/wording/spoken"}},
	"approval/about": {
		may: []string{
			"approval", "vaglio", "vaglio/commands", "vaglio/judge/effects", "vaglio/mask", "vaglio/operation", "vaglio/place", "vaglio/reading", "vaglio/shell",
			"internal/strictjson",
		},
		modules: []string{sqllexer},
		tests:   []string{"internal/workfiles", "vaglio/judge"},
	},
	"approval/report": {may: []string{"approval", "approval/headline", "approval/visible", "vaglio"}, tests: []string{"vaglio/wording"}},
	"approval/history": {
		may:     []string{"approval", "vaglio", "internal/strictjson"},
		modules: []string{xmod},
		tests:   []string{"store/storetest"},
	},
	"dispatcher/standing":    {may: []string{"approval"}},
	"dispatcher/answerstest": {may: []string{"approval"}, modules: []string{porcupine}},
	"dispatcher/read":        {may: []string{"approval", "approval/report", "vaglio", "internal/strictjson"}, tests: []string{"store/storetest"}},
	"dispatcher": {
		may:     []string{"dispatcher/read", "dispatcher/standing", "approval", "approval/report", "approval/history", "vaglio", "vaglio/catalog", "internal/strictjson"},
		modules: []string{cronlib, xmod, xsync},
		tests: []string{
			"vaglio/judge", "vaglio/judge/effects", "approval/about", "dispatcher/answerstest", porcupine, "vaglio/audit", "store/bolt", "store/storetest", "vaglio/shell",
			"internal/judging", "internal/policyfile", "vaglio/judge/model", "vaglio/judge/model/modeltest",
		},
	},

	"internal/durable": {},
	"store/keyring":    {may: []string{"internal/durable", "internal/regular"}},
	"store/journal":    {may: []string{"approval", "internal/durable", "store/keyring"}, modules: []string{zstd}},
	"store/bolt": {
		may:     []string{"approval", "approval/history", "store/journal", "store/keyring", "internal/strictjson", "internal/durable"},
		modules: []string{bbolt, xmod, xsys},
		tests:   []string{"store/storetest", "vaglio/audit", "internal/digestcheck", "approval/report"},
	},
	"store/storetest": {may: []string{"approval", "approval/history", "internal/strictjson"}, modules: []string{gocmp, xmod}},

	"channels/chart":       {may: []string{"approval", "approval/report", "templates"}, modules: []string{ximage}},
	"channels/web/proof":   {tests: []string{"channels/web/webtest"}},
	"channels/web/webtest": {may: []string{"internal/strictjson"}},
	"channels/web/passkey": {modules: []string{webauthn}, tests: []string{"channels/web/webtest"}},
	"channels/web": {
		may:     []string{"approval", "approval/report", "approval/visible", "channels/cardtext", "channels/chart", "channels/web/passkey", "channels/web/proof", "vaglio", "internal/hosts", "internal/strictjson", "templates", "vaglio/wording"},
		modules: []string{xtext},
		tests:   []string{"approval/headline", "dispatcher", "vaglio/judge", "store/bolt", "vaglio/catalog", "channels/channeltest", "channels/web/webtest", xnet},
	},

	"channels/channeltest": {may: []string{"approval", "approval/report", "internal/race", "vaglio"}},
	"templates":            {may: []string{"internal/nearest", "vaglio/wording"}},
	"channels/platform":    {may: []string{"approval", "templates"}},
	"channels/cardtext": {
		may:   []string{"approval", "approval/headline", "approval/report", "approval/visible", "templates", "internal/nearest", "internal/strictjson", "vaglio", "vaglio/wording"},
		tests: []string{"vaglio/judge/effects"},
	},
	"channels/telegram": {
		may:     []string{"approval", "approval/report", "approval/visible", "templates", "channels/cardtext", "channels/platform", "channels/chart", "internal/strictjson"},
		modules: []string{tgbotapi},
		tests:   []string{"channels/telegram/telegramtest", "channels/channeltest", "channels/payloads", "vaglio", "vaglio/wording"},
	},
	"channels/platformtest":                 {},
	"channels/telegram/telegramtest":        {may: []string{"channels/platformtest", "internal/strictjson"}},
	"channels/telegram/telegramtest/byhand": {may: []string{"channels/telegram/telegramtest"}},
	"channels/payloads":                     {may: []string{"approval", "approval/headline", "approval/report", "vaglio", "vaglio/wording", "internal/strictjson"}},
	"channels/slack": {
		may:     []string{"approval", "approval/report", "templates", "channels/cardtext", "channels/platform", "channels/chart", "internal/strictjson"},
		modules: []string{slackgo, websocket},
		tests:   []string{"dispatcher", "store/storetest", "channels/slack/slacktest", "channels/channeltest", "channels/payloads", "vaglio"},
	},
	"channels/slack/slacktest": {may: []string{"channels/platformtest", "internal/strictjson"}, modules: []string{websocket}, tests: []string{slackgo}},

	"gateway/client": {
		may:   []string{"internal/strictjson"},
		tests: []string{"gateway/client/network"},
	},
	"gateway/client/network": {may: []string{"gateway/client", "internal/hosts"}},

	"gateway/ask":     {may: []string{"gateway/client"}},
	"gateway/resume":  {may: []string{"approval", "internal/datafolder", "internal/hosts", "internal/strictjson"}, tests: []string{"store/storetest", "vaglio"}},
	"gateway/jsonrpc": {may: []string{"internal/strictjson"}, modules: []string{xsys}},
	"gateway/acp":     {may: []string{"gateway/ask", "gateway/client", "gateway/jsonrpc", "internal/strictjson"}},
	"gateway/mcp":     {may: []string{"gateway/ask", "gateway/client", "gateway/jsonrpc", "internal/datafolder", "internal/hosts", "internal/regular", "internal/strictjson"}},
	"gateway/httpapi": {
		may:     []string{"dispatcher", "approval", "vaglio", "vaglio/catalog", "internal/peers", "internal/regular", "internal/strictjson"},
		modules: []string{vmetrics},
		tests:   []string{"approval/report", "vaglio/clients", "vaglio/judge", "store/bolt", jsonschema, yaml},
	},
	"gateway/owner": {
		may: []string{
			"dispatcher", "approval", "approval/history", "approval/report", "approval/visible", "channels/cardtext", "channels/chart", "templates", "vaglio", "vaglio/wording",
			"internal/agents", "internal/datafolder", "internal/digestcheck", "internal/doctor", "internal/lineage", "internal/peers", "internal/strictjson",
			"internal/terminal",
		},
	},
	"gateway/hook": {
		may:     []string{"gateway/ask", "gateway/client", "internal/regular", "internal/strictjson"},
		modules: []string{xsys},
		tests:   []string{"vaglio"},
	},
	"gateway/far":           {may: []string{"gateway/client", "gateway/client/network", "gateway/hook/hookmain", "internal/datafolder", "internal/regular"}},
	"gateway/hook/hookmain": {may: []string{"gateway/ask", "gateway/client", "gateway/hook", "internal/datafolder"}},
	"gateway/install": {
		may:     []string{"gateway/hook", "internal/durable", "internal/regular", "internal/strictjson"},
		modules: []string{hujson, udiff, gotoml, yaml},
	},
	"gateway/trial":    {may: []string{"gateway/scripted", "internal/strictjson"}},
	"gateway/scripted": {may: []string{"internal/strictjson"}},
	"cmd/vaglio-hook":  {may: []string{"gateway/hook/hookmain"}},

	"cmd/vaglio": {
		may:     []string{"*"},
		modules: []string{cobra, pflag, envconfig, xmod, xsync},
		tests:   []string{bbolt, porcupine, xnet, xsys, yaml},
	},
}

// everyTest lists what the tests of every package may import.
var everyTest = []string{"internal/race", "internal/filetest", gocmp, "internal/strictjson", "internal/golden"}

// file is one Go file of the repository.
type file struct {
	pkg  string // the folder below the module's root, with slashes
	path string
	test bool
	ast  *ast.File
	pos  *token.FileSet
}

// files parses every Go file below the module's root.
func files(t *testing.T, mode parser.Mode) []file {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var all []file
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skip(root, name)
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		pos := token.NewFileSet()
		tree, err := parser.ParseFile(pos, name, nil, mode)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, file{path.Dir(rel), rel, strings.HasSuffix(rel, "_test.go"), tree, pos})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

// skip skips the folders that Go ignores, and nested modules.
func skip(root, dir string) error {
	if dir == root {
		return nil
	}
	base := filepath.Base(dir)
	if base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// allowed reports whether the room of pkg may import target.
func allowed(pkg string, test bool, target string) bool {
	r := rooms[pkg]
	list := slices.Concat(r.may, r.modules)
	if test {
		// A package's external test imports the package itself.
		list = slices.Concat(list, r.tests, everyTest, []string{pkg})
	}
	own, ours := strings.CutPrefix(target, module+"/")
	if !ours {
		return slices.ContainsFunc(list, func(m string) bool {
			return target == m || strings.HasPrefix(target, m+"/")
		})
	}
	return slices.Contains(list, own) || slices.Contains(list, "*")
}

// outside reports whether the import path is neither ours nor the standard library's.
func outside(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return strings.Contains(first, ".")
}

func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range files(t, parser.ImportsOnly) {
		if _, ok := rooms[f.pkg]; !ok {
			t.Errorf("%s: package %s is not in the table of rooms", f.path, f.pkg)
			continue
		}
		seen[f.pkg] = true
		for _, spec := range f.ast.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", f.path, err)
			}
			if outside(target) && !allowed(f.pkg, f.test, target) {
				t.Errorf("%s: %s may not import %s", f.path, f.pkg, target)
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(rooms)) {
		if !seen[pkg] {
			t.Errorf("the table lists %s, which does not exist", pkg)
		}
	}
}

// TestTableHasNoCycleUpwards walks the table: whatever it allows, in any number of steps, must still
// point down.
func TestTableHasNoCycleUpwards(t *testing.T) {
	var walk func(pkg string, path []string)
	walk = func(pkg string, path []string) {
		if slices.Contains(path, pkg) {
			t.Errorf("the table allows a circle: %s", strings.Join(append(path, pkg), " → "))
			return
		}
		for _, next := range rooms[pkg].may {
			if next != "*" {
				walk(next, append(slices.Clone(path), pkg))
			}
		}
	}
	for pkg := range rooms {
		walk(pkg, nil)
	}
	for pkg, banned := range map[string]string{
		"store/bolt": "dispatcher", "channels/web": "dispatcher", "vaglio": "approval", "approval": "dispatcher",
	} {
		if allowed(pkg, false, module+"/"+banned) {
			t.Errorf("the table allows %s to import %s", pkg, banned)
		}
	}
	if allowed("dispatcher", false, bbolt) {
		t.Error("the table allows bbolt outside of store/bolt")
	}
	for pkg := range rooms {
		if pkg != "internal/strictjson" && allowed(pkg, true, jsonlib) {
			t.Errorf("the table allows %s past internal/strictjson, the one door to the JSON library", pkg)
		}
	}
}

// TestOnlyTheCommandReadsTheProcess finds uses of the environment, the arguments and exit outside
// the command, and init functions anywhere.
func TestOnlyTheCommandReadsTheProcess(t *testing.T) {
	banned := map[string][]string{
		"os":      {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Exit", "Args", "UserHomeDir", "UserConfigDir", "UserCacheDir"},
		"syscall": {"Getenv", "Environ", "Setenv", "Exit"},
	}
	for _, f := range files(t, parser.SkipObjectResolution) {
		if f.test {
			continue
		}
		command := strings.HasPrefix(f.pkg, "cmd/")
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: init functions are not allowed", f.pos.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && !command && slices.Contains(banned[x.Name], n.Sel.Name) {
					t.Errorf("%s: only the command may use %s.%s", f.pos.Position(n.Pos()), x.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	docs := map[string]int{}
	for _, f := range files(t, parser.PackageClauseOnly|parser.ParseComments) {
		if f.test {
			continue
		}
		if _, ok := docs[f.pkg]; !ok {
			docs[f.pkg] = 0
		}
		if f.ast.Doc != nil {
			docs[f.pkg]++
		}
	}
	for pkg, n := range docs {
		if n != 1 {
			t.Errorf("%s has %d package comments; it needs one", pkg, n)
		}
	}
}

// TestFilesStayShort limits the length of files that are not tests.
func TestFilesStayShort(t *testing.T) {
	const longest = 400
	for _, f := range files(t, parser.ParseComments) {
		if lines := f.pos.Position(f.ast.FileEnd).Line; !f.test && lines > longest {
			t.Errorf("%s has %d lines; split it at a natural seam before %d", f.path, lines, longest)
		}
	}
}
