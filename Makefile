# `make help` lists the targets.

GO    ?= go
# The linters are pinned in a module of their own, which keeps their two hundred
# dependencies out of our go.mod.
TOOL   = $(GO) tool -modfile=$(CURDIR)/tools/go.mod

# The tests that open a real browser are a separate module as well, which keeps
# chromedp out of our go.mod. The checks of the sources also run there.
BROWSER = internal/browser

# How tests are run. With TESTS=again a failed test is retried once by itself; if it
# then passes, it is listed at the end as flaky. Tests that start a real daemon or a
# real browser can time out on a busy machine: that must not block a change, and it
# must not go unnoticed either. A data race is never retried.
#
# Otherwise Go takes the results of packages whose tests passed from its cache, unless
# something changed that they use. Tests in random order, which TESTS=again also asks for,
# are never taken from there. GOFLAGS=-count=1 runs everything again.
#
# Without DWARF and symbols (-s -w), which no test reads, linking takes two fifths less.
# 'make check' vets the same files with more analyzers: here it would take a tenth of the
# time.
FLAGS  = -vet=off -ldflags='-s -w'
TESTS ?= once
once   = $(GO) test $(FLAGS) $(1) $(2)
again  = $(TOOL) gotestsum --format=standard-quiet --rerun-fails=1 --rerun-fails-max-failures=3 \
	--rerun-fails-run-root-test --rerun-fails-abort-on-data-race --packages="$(2)" -- -shuffle=on $(FLAGS) $(1)
SHORTENED  = $$(grep -rl --include='*_test.go' --exclude-dir=browser 'testing.Short()' .)
FOLDERS    = $$(dirname $(SHORTENED) | sort -u | tr '\n' ' ')
# The tests that call testing.Short() themselves; internal/archtest checks that no
# helper does so for them.
LONGER     = ^($$(awk '/^func Test/ {name = $$2; sub(/\(.*/, "", name)} /testing\.Short\(\)/ {print name}' $(SHORTENED) | sort -u | paste -sd'|' -))$$
CONCURRENT = $$(grep -rlE '\bgo func\(|\.Go\(|\bsync\.(Mutex|RWMutex|Map|Pool|Cond|WaitGroup|Once\b)|"sync/atomic"' --include='*.go' . | xargs -n1 dirname | sort -u \
	| grep -vE '^\./(tools|internal/browser|gateway/mcp/sdks|cmd/vaglio$$)' | tr '\n' ' ')

BENCH ?= .
COUNT ?= 6
FUZZ  ?= 30s
FUZZIN ?= .
CORPORA ?= ../shared/corpora

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A short test run empties both: with -trimpath Go shares no compiled package with the
# tests, and a first 'make test' would compile everything twice.
STATIC ?= CGO_ENABLED=0
TRIM   ?= -trimpath

.PHONY: build
build: ## build bin/vaglio and bin/vaglio-hook, statically linked, without debug information
	$(STATIC) $(GO) build $(TRIM) -ldflags='-s -w' -o bin/ ./cmd/vaglio ./cmd/vaglio-hook

.PHONY: run
run: build ## build and serve; prints the inbox's one-time link
	exec bin/vaglio serve

# Slow tests do less under -short (testing.Short); each says there what the full run
# adds. Even the short run kills a real daemon and walks a real browser through the
# README.
.PHONY: test
test: ## run every test, the slow ones shortened; but for test-browser
	$(call $(TESTS),-short,./...)

# TestBrowserAxe needs axe-core: see 'make axe'.
.PHONY: test-browser
test-browser: ## use every page of the inbox in a real browser
	cd $(BROWSER) && $(call $(TESTS),-count=1 -timeout=30m -skip='^TestBrowserAxe$$',./...)

.PHONY: test-long
test-long: ## run in full the tests that 'make test' shortens
	$(call $(TESTS),-timeout=30m -run="$(LONGER)",$(FOLDERS))

.PHONY: ladder
ladder: ## kill the daemon at random instants under load, KILLS=100 times: nothing acknowledged may be lost; check what people and agents saw of asks, permits, grants and brakes against models
	$(GO) test -timeout=3h -run 'TestKilledWhileCallsPass|TestKilledWhileAnswersHold' -v ./cmd/vaglio -ladder.kills=$(or $(KILLS),100)

.PHONY: powercut
powercut: ## simulate a power cut at every system call of a store and its audit log, COUNT=6 times over; needs strace
	$(GO) test -timeout=1h -count=$(COUNT) -run 'TestPowerCuts' -v ./store/bolt

.PHONY: kill-judges
kill-judges: ## kill the daemon KILLS=200 times while a judge's command runs: no process or folder may be left behind
	$(GO) test -timeout=1h -run 'TestKilledWhileJudgesRun' -v ./cmd/vaglio -judge.kills=$(or $(KILLS),200)

# Both measure the programs as `make build` links them.
.PHONY: million
million: ## have a real daemon approve CALLS=1000000 calls; print what they cost and how long its pages take
	$(STATIC) $(GO) test -timeout=5h -run 'TestManyCalls' -v ./cmd/vaglio -calls=$(or $(CALLS),1000000)

.PHONY: bench-ratio
bench-ratio: ## compare the CPU time of CALLS=20000 approved calls with that of a bare JSON handler; print what else costs beside its goal. LONG=1: a million calls, 10,000 waiters, 100 kills
	$(STATIC) $(GO) test -timeout=5h -count=1 -run 'TestRatio' -v ./cmd/vaglio -ratio=$(or $(CALLS),20000) $(if $(LONG),-ratio.long)

# Only packages that start goroutines or share state are run under the race detector.
# The packages that read command lines, paths and secrets do neither (they build their
# tables once), and the packages that use them run them concurrently. Of the whole
# program only the tests that load and kill a daemon are run: the others have it do one
# thing at a time.
.PHONY: race
race: ## run the tests of concurrent packages under the race detector, the slow ones shortened
	$(call $(TESTS),-race -short -timeout=30m,$(CONCURRENT))
	$(call $(TESTS),-race -short -timeout=30m -run='^TestKilled',./cmd/vaglio)

.PHONY: check
check: fmt-check lint tidy-check notice-check ## what every change must pass in addition to the tests

.PHONY: fmt
fmt: ## format the sources
	$(TOOL) golangci-lint fmt ./...
	cd $(BROWSER) && $(TOOL) golangci-lint fmt ./...

.PHONY: fmt-check
fmt-check:
	$(TOOL) golangci-lint fmt --diff ./...
	cd $(BROWSER) && $(TOOL) golangci-lint fmt --diff ./...

.PHONY: lint
lint: ## run the pinned linters
	$(TOOL) golangci-lint run ./...
	cd $(BROWSER) && $(TOOL) golangci-lint run ./...

# internal/browser requires this module, so its go.mod changes with ours.
.PHONY: tidy
tidy: ## run 'go mod tidy' in both modules
	$(GO) mod tidy
	cd $(BROWSER) && $(GO) mod tidy

.PHONY: tidy-check
tidy-check:
	@$(GO) mod tidy -diff && cd $(BROWSER) && $(GO) mod tidy -diff || { echo "go.mod is out of date: run make tidy" >&2; exit 1; }

# docs/NOTICE is generated from the modules that the binary is built from. It leaves out
# the licences' URLs, because looking those up takes the network.
NOTICE = GOOS=linux GOARCH=amd64 $(TOOL) go-licenses report ./cmd/vaglio --template tools/notice.tmpl

.PHONY: notice
notice: ## regenerate docs/NOTICE: the licences of the modules in the binary
	$(NOTICE) >docs/NOTICE

.PHONY: notice-check
notice-check:
	@made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
	$(NOTICE) >"$$made/NOTICE" 2>"$$made/said" || { cat "$$made/said" >&2; exit 1; }; \
	cmp -s docs/NOTICE "$$made/NOTICE" || { diff docs/NOTICE "$$made/NOTICE" | grep -E '^[<>] [^ ]+/.* \([^ ]+\)$$'; \
		echo "docs/NOTICE is out of date: run make notice" >&2; exit 1; }

.PHONY: vuln
vuln: ## run govulncheck; skipped where its database cannot be reached
	@said=$$($(TOOL) govulncheck ./... 2>&1 && cd $(BROWSER) && $(TOOL) govulncheck -test ./... 2>&1); code=$$?; echo "$$said"; \
	case "$$said" in *"govulncheck: fetching vulnerabilities"*) \
		echo "skipped: the vulnerability database cannot be reached from here"; code=0;; esac; exit $$code

.PHONY: bench
bench: ## run the benchmarks; BENCH=pattern COUNT=6
	$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) ./...

# When its time is up, Go's fuzzer sometimes fails with "context deadline exceeded"
# although it found nothing. A real finding leaves a file; a target that failed without
# a new file is run once more.
.PHONY: fuzz
fuzz: ## run each fuzz target in turn; FUZZ=30s FUZZIN="folder folder"
	@set -e; grep -rlE '^func Fuzz' --include='*_test.go' $(FUZZIN) | xargs -n1 dirname | sort -u | while read -r dir; do \
		grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go | sed 's/^func //' | while read -r target; do \
			echo "$$dir $$target"; \
			try() { $(GO) test "./$$dir" -vet=off -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZ) -fuzzminimizetime=1x; }; \
			found() { ls "$$dir/testdata/fuzz/$$target" 2>/dev/null | wc -l; }; \
			before=$$(found); \
			try || { [ "$$(found)" = "$$before" ] && echo "$$target: no finding, once more" && try; } || exit 1; \
		done; \
	done

PAIRED = awk '/pair|^ok|FAIL/ {print} /^FAIL/ {failed = 1} END {exit failed}'
.PHONY: injective
injective: ## show PAIRS=100000 pairs of calls that differ in one thing on every chat and, PAGES=10000, in the inbox: no two cards may be equal
	VAGLIO_PAIRS=$(or $(PAIRS),100000) $(GO) test -vet=off -count=1 -timeout=3h -run='^TestContract$$/^AnyTwo|^TestContract$$/^ItsOwnChannel$$/^AnyTwo' -v ./channels/telegram ./channels/slack | $(PAIRED)
	VAGLIO_PAIRS=$(or $(PAGES),10000) $(GO) test -vet=off -count=1 -timeout=3h -run='^TestContract$$/^AnyTwo' -v ./channels/web | $(PAIRED)

.PHONY: corpora
corpora: ## measure the default policy and the masking of secrets on labelled calls; CORPORA=folder
	VAGLIO_CORPORA="$(abspath $(CORPORA))" $(GO) test -run='^TestCorpora$$' -count=1 -v ./cmd/vaglio ./vaglio/mask

# Set here, so that a variable of the environment cannot turn on a model, which costs money.
POLICY =
MODEL  =
TASKS  =
.PHONY: arena
arena: ## give a scripted agent 100 refusals, in plain text and in ours, and count what it does next; POLICY=policy.yaml MODEL=name TASKS=20 also gives them to a model
	VAGLIO_ARENA_POLICY="$(if $(POLICY),$(abspath $(POLICY)))" VAGLIO_ARENA_MODEL="$(MODEL)" VAGLIO_ARENA_TASKS="$(TASKS)" \
		$(GO) test -run='^TestArena$$' -count=1 $(if $(POLICY),-timeout=0) -v ./dispatcher | awk '/level=/ {next} /^FAIL/ {failed = 1} {print} END {exit failed}'

MUTANTS ?= 80
SEED ?= 1
.PHONY: mutants
mutants: ## mutation testing of security-relevant files: print the changes that no test notices; MUTANTS=80 SEED=1
	cd tools && $(GO) test ./mutants && $(GO) run ./mutants -n $(MUTANTS) -seed $(SEED)

.PHONY: secrets
secrets: ## regenerate the rules for secrets, and the expected findings of the samples, from gitleaks
	$(GO) generate ./vaglio/mask

# npm install, because npm ci rejects the lock file: one client lists optional packages
# for other systems that were never published. Versions still come from the lock file.
.PHONY: agents
agents: ## install the pinned coding agents from npm and run them offline behind the gate
	# OpenClaw's install script needs the newer Node.js that is one of its dependencies.
	npm install --prefix gateway/hook/agents --no-save --no-audit --no-fund --ignore-scripts
	npm rebuild --prefix gateway/hook/agents node
	npm rebuild --prefix gateway/hook/agents
	VAGLIO_AGENTS=$(CURDIR)/gateway/hook/agents/node_modules/.bin $(GO) test -run='^TestAgent' -count=1 -timeout=60m -v ./cmd/vaglio ./vaglio/clients

.PHONY: ast-grep
ast-grep: ## install the pinned ast-grep from npm, for the sandbox's tests
	npm ci --prefer-offline --prefix vaglio/judge/sandbox/astgrep --no-audit --no-fund

.PHONY: axe
axe: ## install the pinned axe-core from npm and check every page of the inbox with it
	npm ci --prefer-offline --prefix $(BROWSER)/axe --no-audit --no-fund
	cd $(BROWSER) && $(call $(TESTS),-run='^TestBrowserAxe$$' -count=1,./inbox)

.PHONY: mcp-sdks
mcp-sdks:
	$(GO) build -C gateway/mcp/sdks -o bin/ ./server ./client ./splice github.com/modelcontextprotocol/go-sdk/conformance/everything-server \
		github.com/modelcontextprotocol/go-sdk/conformance/everything-client
	npm ci --prefer-offline --prefix gateway/mcp/sdks --no-audit --no-fund

.PHONY: mcp
mcp: mcp-sdks ## run MCP's SDKs, conformance suite and Inspector through the proxy; needs npm
	VAGLIO_MCP=$(CURDIR)/gateway/mcp/sdks $(GO) test -run='^TestMCP(SDKs|Conformance|Inspector)' -count=1 -v ./cmd/vaglio

.PHONY: bench-mcp
bench-mcp: mcp-sdks ## benchmark approved calls through the proxy against direct ones; needs npm
	VAGLIO_MCP=$(CURDIR)/gateway/mcp/sdks $(GO) test -run='^$$' -bench='^BenchmarkMCP$$' -benchtime=5x -count=1 ./cmd/vaglio

.PHONY: frameworks
frameworks: ## install the agent frameworks of docs/frameworks.md from npm and run them behind the gate
	npm ci --prefer-offline --prefix gateway/client/frameworks --legacy-peer-deps --no-audit --no-fund
	VAGLIO_FRAMEWORKS=$(CURDIR)/gateway/client/frameworks $(GO) test -run='^TestFrameworks$$' -count=1 -v ./cmd/vaglio

.PHONY: demo-judge
demo-judge: ## watch a judge agent work: bubblewrap, ast-grep and go test in a sample workspace
	cd vaglio/judge/sandbox/astgrep && npm ci --prefer-offline --no-audit --no-fund --silent
	$(GO) test ./cmd/vaglio -run '^TestDemoJudge$$' -count 1 -v -timeout 10m

.PHONY: reference
reference: ## regenerate docs/reference.md from the settings, policy keys, commands and metrics in the code
	$(GO) test -run='^TestReference$$' -count=1 ./cmd/vaglio -update

.PHONY: pictures
pictures: ## redraw docs/pictures from real cards, with Chromium
	$(GO) test -run='^(TestPictures|TestSlackPictures|TestKindPictures|TestAWholeSession)$$' -count=1 ./cmd/vaglio -pictures
	cd $(BROWSER) && $(GO) test -run='^TestContactSheet$$' -count=1 ./inbox -pictures

.PHONY: payloads
payloads: ## check the messages sent to the chats against @slack/types and @grammyjs/types; needs npm
	npm ci --prefer-offline --prefix channels/payloads --no-audit --no-fund
	VAGLIO_PAYLOADS=$(CURDIR)/channels/payloads/sent $(GO) test -run='^TestPayloads$$' -count=1 ./channels/slack ./channels/telegram
	channels/payloads/node_modules/.bin/tsc -p channels/payloads

.PHONY: openapi
openapi: ## lint gateway/httpapi/openapi.yaml; needs npm
	npm ci --prefer-offline --prefix gateway/httpapi/lint --no-audit --no-fund
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true gateway/httpapi/lint/node_modules/.bin/redocly lint \
		--config gateway/httpapi/lint/redocly.yaml --max-problems 100 gateway/httpapi/openapi.yaml

.PHONY: clean
clean: ## remove build output and installed npm packages
	rm -rf bin gateway/mcp/sdks/bin gateway/mcp/sdks/node_modules vaglio/judge/sandbox/astgrep/node_modules gateway/hook/agents/node_modules gateway/client/frameworks/node_modules gateway/httpapi/lint/node_modules channels/payloads/node_modules channels/payloads/sent $(BROWSER)/axe/node_modules
