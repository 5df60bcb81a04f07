# Vaglio's chores. `make help` lists them.

GO    ?= go
# The linters are pinned in a module of their own, so that their two hundred
# requirements stay out of ours.
TOOL   = $(GO) tool -modfile=$(CURDIR)/tools/go.mod

# The tests that open a real browser are a module of their own too: what drives a
# browser is none of our requirements. What runs over all packages runs there too.
BROWSER = internal/browser

# How the tests are run. With TESTS=again what fails is run once more, alone, and
# named at the end if it passed then: a real daemon and a real browser on a busy
# machine must not hold up a change, and a test that fails now and then must not
# stay unseen. A data race is never tried again.
TESTS ?= once
once   = $(GO) test $(1) $(2)
again  = $(TOOL) gotestsum --format=standard-quiet --rerun-fails=1 --rerun-fails-max-failures=3 \
	--rerun-fails-run-root-test --rerun-fails-abort-on-data-race --packages="$(2)" -- $(1)
SHORTENED  = $$(grep -rl --include='*_test.go' --exclude-dir=browser 'testing.Short()' .)
FOLDERS    = $$(dirname $(SHORTENED) | sort -u | tr '\n' ' ')
# The tests that say testing.Short() themselves; internal/archtest holds them to that.
LONGER     = ^($$(awk '/^func Test/ {name = $$2; sub(/\(.*/, "", name)} /testing\.Short\(\)/ {print name}' $(SHORTENED) | sort -u | paste -sd'|' -))$$
CONCURRENT = $$(grep -rlE '\bgo func\(|\.Go\(|\bsync\.(Mutex|RWMutex|Map|Pool|Cond|WaitGroup|Once\b)|"sync/atomic"' --include='*.go' . | xargs -n1 dirname | sort -u \
	| grep -vE '^\./(tools|internal/browser|gateway/mcp/sdks)' | tr '\n' ' ')

BENCH ?= .
COUNT ?= 6
FUZZ  ?= 30s
FUZZIN ?= .
CORPORA ?= ../shared/corpora

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/vaglio and bin/vaglio-hook, static, without debugger's tables
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/ ./cmd/vaglio ./cmd/vaglio-hook

.PHONY: run
run: build ## build and serve; prints the inbox's one-time link
	exec bin/vaglio serve

# What takes long is shorter under -short (testing.Short), and says there what the
# long run has besides. A real daemon is killed, and a real browser walks through
# the README, in both.
.PHONY: test
test: ## run every test, the longest ones shorter
	cd $(BROWSER) && $(call $(TESTS),-short -shuffle=on,./...)
	$(call $(TESTS),-short -shuffle=on,./...)

# 'make axe' looks at the pages with axe-core.
.PHONY: test-long
test-long: ## run in full the tests that 'make test' shortens
	cd $(BROWSER) && $(call $(TESTS),-timeout=30m -shuffle=on -skip='^TestBrowserAxe$$',./...)
	$(call $(TESTS),-timeout=30m -shuffle=on -run="$(LONGER)",$(FOLDERS))

.PHONY: ladder
ladder: ## kill the daemon at random instants under load, KILLS=100 times: count what was acknowledged, hold grants and brakes against a model
	$(GO) test -timeout=3h -run 'TestKilledWhileCallsPass|TestKilledWhileAnswersHold' -v ./cmd/vaglio -ladder.kills=$(or $(KILLS),100)

.PHONY: powercut
powercut: ## cut the power at each step of a store's life, COUNT=6 times over; needs strace
	$(GO) test -timeout=1h -count=$(COUNT) -run 'TestPowerCuts' -v ./store/bolt

.PHONY: kill-judges
kill-judges: ## kill the daemon KILLS=200 times while a judge's command runs, and look for what is left
	$(GO) test -timeout=1h -run 'TestKilledWhileJudgesRun' -v ./cmd/vaglio -judge.kills=$(or $(KILLS),200)

.PHONY: million
million: ## have CALLS=1000000 calls approved by a real daemon, and print what they cost and how long its pages take
	$(GO) test -timeout=5h -run 'TestManyCalls' -v ./cmd/vaglio -calls=$(or $(CALLS),1000000)

.PHONY: bench-ratio
bench-ratio: ## have CALLS=20000 calls approved, in turns with a bare JSON handler, and print the processor time of each
	$(GO) test -timeout=1h -count=1 -run 'TestRatio' -v ./cmd/vaglio -ratio=$(or $(CALLS),20000)

# Races are looked for where goroutines are started or state is shared. What reads
# command lines, paths and secrets does neither: it makes its tables once, and the
# rooms that use it run it side by side. 'make test' vets the same tests.
.PHONY: race
race: ## run the tests of what is concurrent under the race detector, the longest ones shorter
	$(call $(TESTS),-race -short -vet=off -timeout=30m -shuffle=on,$(CONCURRENT))

.PHONY: check
check: fmt-check lint tidy-check notice-check ## what every change must pass besides the tests

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

# The browser's module takes our requirements over, so it changes with them.
.PHONY: tidy
tidy: ## write the requirements of both modules as their code has them
	$(GO) mod tidy
	cd $(BROWSER) && $(GO) mod tidy

.PHONY: tidy-check
tidy-check:
	@$(GO) mod tidy -diff && cd $(BROWSER) && $(GO) mod tidy -diff || { echo "go.mod is not of the code: run make tidy" >&2; exit 1; }

# Whom the binary's parts are by is read from the modules that it is built from.
# The addresses of the licences, which take the network, are not printed.
NOTICE = GOOS=linux GOARCH=amd64 $(TOOL) go-licenses report ./cmd/vaglio --template tools/notice.tmpl

.PHONY: notice
notice: ## write docs/NOTICE anew, the licences of what the binary holds
	$(NOTICE) >docs/NOTICE

.PHONY: notice-check
notice-check:
	@made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
	$(NOTICE) >"$$made/NOTICE" 2>"$$made/said" || { cat "$$made/said" >&2; exit 1; }; \
	cmp -s docs/NOTICE "$$made/NOTICE" || { diff docs/NOTICE "$$made/NOTICE" | grep -E '^[<>] [^ ]+/.* \([^ ]+\)$$'; \
		echo "docs/NOTICE is not of what is built: run make notice" >&2; exit 1; }

.PHONY: vuln
vuln: ## look for known vulnerabilities in what is used; skipped where their list cannot be reached
	@said=$$($(TOOL) govulncheck ./... 2>&1 && cd $(BROWSER) && $(TOOL) govulncheck -test ./... 2>&1); code=$$?; echo "$$said"; \
	case "$$said" in *"govulncheck: fetching vulnerabilities"*) \
		echo "skipped: the list of vulnerabilities cannot be reached from here"; code=0;; esac; exit $$code

.PHONY: bench
bench: ## run the benchmarks; BENCH=pattern COUNT=6
	$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) ./...

# Go's fuzzer now and then ends with "context deadline exceeded" and no finding
# when its time is up. A finding leaves a file; without a new one a target gets
# a second try.
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

.PHONY: corpora
corpora: ## measure the shipped policy, and the masks, on labelled calls; CORPORA=folder
	VAGLIO_CORPORA="$(abspath $(CORPORA))" $(GO) test -run='^TestCorpora$$' -count=1 -v ./cmd/vaglio ./vaglio/mask

# Only what stands in the command counts: a model costs.
POLICY =
MODEL  =
TASKS  =
.PHONY: arena
arena: ## have a scripted agent meet 100 refusals, with plain text and with ours, and count what it does next; POLICY=policy.yaml MODEL=name TASKS=20 has a model of a policy meet them, too
	VAGLIO_ARENA_POLICY="$(if $(POLICY),$(abspath $(POLICY)))" VAGLIO_ARENA_MODEL="$(MODEL)" VAGLIO_ARENA_TASKS="$(TASKS)" \
		$(GO) test -run='^TestArena$$' -count=1 $(if $(POLICY),-timeout=0) -v ./dispatcher | awk '/level=/ {next} /^FAIL/ {failed = 1} {print} END {exit failed}'

MUTANTS ?= 80
SEED ?= 1
.PHONY: mutants
mutants: ## change one line at a time of what decides, and print what no test notices; MUTANTS=80 SEED=1
	cd tools && $(GO) test ./mutants && $(GO) run ./mutants -n $(MUTANTS) -seed $(SEED)

.PHONY: secrets
secrets: ## take the rules for secrets from gitleaks anew, and what it finds in samples
	$(GO) generate ./vaglio/mask

# npm ci refuses the lock file for one client's packages for other systems, of which
# no version was published; what the lock file does hold is installed from it.
.PHONY: agents
agents: ## install the pinned coding agents from npm and run them, offline, behind the gate
	# OpenClaw's script of installation wants the newer Node.js that is installed with it.
	npm install --prefix gateway/hook/agents --no-save --no-audit --no-fund --ignore-scripts
	npm rebuild --prefix gateway/hook/agents node
	npm rebuild --prefix gateway/hook/agents
	VAGLIO_AGENTS=$(CURDIR)/gateway/hook/agents/node_modules/.bin $(GO) test -run='^TestAgent' -count=1 -timeout=60m -v ./cmd/vaglio ./vaglio/clients

.PHONY: ast-grep
ast-grep: ## install the pinned ast-grep from npm, for the sandbox's tests
	npm ci --prefix vaglio/judge/sandbox/astgrep --no-audit --no-fund

.PHONY: axe
axe: ## install the pinned axe-core from npm, and look at every page of the inbox with it
	npm ci --prefix $(BROWSER)/axe --no-audit --no-fund
	cd $(BROWSER) && $(GO) test -run='^TestBrowserAxe$$' -count=1 ./inbox

.PHONY: mcp-sdks
mcp-sdks:
	$(GO) build -C gateway/mcp/sdks -o bin/ ./server ./client ./splice github.com/modelcontextprotocol/go-sdk/conformance/everything-server \
		github.com/modelcontextprotocol/go-sdk/conformance/everything-client
	npm ci --prefix gateway/mcp/sdks --no-audit --no-fund

.PHONY: mcp
mcp: mcp-sdks ## have the SDKs of MCP, its conformance suite and its Inspector speak through the proxy; needs npm
	VAGLIO_MCP=$(CURDIR)/gateway/mcp/sdks $(GO) test -run='^TestMCP(SDKs|Conformance|Inspector)' -count=1 -v ./cmd/vaglio

.PHONY: bench-mcp
bench-mcp: mcp-sdks ## measure approved calls through the proxy, in turns with bare ones; needs npm
	VAGLIO_MCP=$(CURDIR)/gateway/mcp/sdks $(GO) test -run='^$$' -bench='^BenchmarkMCP$$' -benchtime=5x -count=1 ./cmd/vaglio

.PHONY: frameworks
frameworks: ## install the agent frameworks of docs/frameworks.md from npm and run them behind the gate
	npm ci --prefix gateway/client/frameworks --legacy-peer-deps --no-audit --no-fund
	VAGLIO_FRAMEWORKS=$(CURDIR)/gateway/client/frameworks $(GO) test -run='^TestFrameworks$$' -count=1 -v ./cmd/vaglio

.PHONY: demo-judge
demo-judge: ## show a judge agent at work: bubblewrap, ast-grep and go test in a sample workspace
	cd vaglio/judge/sandbox/astgrep && npm ci --no-audit --no-fund --silent
	$(GO) test ./cmd/vaglio -run '^TestDemoJudge$$' -count 1 -v -timeout 10m

.PHONY: reference
reference: ## write docs/reference.md anew, from the settings, policy keys, commands and metrics of the code
	$(GO) test -run='^TestReference$$' -count=1 ./cmd/vaglio -update

.PHONY: pictures
pictures: ## draw docs/pictures anew, from real cards, with Chromium
	$(GO) test -run='^(TestPictures|TestSlackPictures|TestAWholeSession)$$' -count=1 ./cmd/vaglio -pictures
	cd $(BROWSER) && $(GO) test -run='^TestContactSheet$$' -count=1 ./inbox -pictures

.PHONY: payloads
payloads: ## check what the chats are sent against @slack/types and @grammyjs/types; needs npm
	npm ci --prefix channels/payloads --no-audit --no-fund
	VAGLIO_PAYLOADS=$(CURDIR)/channels/payloads/sent $(GO) test -run='^TestPayloads$$' -count=1 ./channels/slack ./channels/telegram
	channels/payloads/node_modules/.bin/tsc -p channels/payloads

.PHONY: openapi
openapi: ## lint gateway/httpapi/openapi.yaml; needs npm
	npm ci --prefix gateway/httpapi/lint --no-audit --no-fund
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true gateway/httpapi/lint/node_modules/.bin/redocly lint \
		--config gateway/httpapi/lint/redocly.yaml --max-problems 100 gateway/httpapi/openapi.yaml

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin gateway/mcp/sdks/bin gateway/mcp/sdks/node_modules vaglio/judge/sandbox/astgrep/node_modules gateway/hook/agents/node_modules gateway/client/frameworks/node_modules gateway/httpapi/lint/node_modules channels/payloads/node_modules channels/payloads/sent $(BROWSER)/axe/node_modules
