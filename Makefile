# Vaglio's chores. `make help` lists them.

GO    ?= go
# The linters are pinned in a module of their own, so that their two hundred
# requirements stay out of ours.
TOOL   = $(GO) tool -modfile=tools/go.mod
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
build: ## build bin/vaglio, one static binary that knows its tag, without debugger's tables
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/vaglio ./cmd/vaglio

.PHONY: run
run: build ## build and serve; prints the inbox's one-time link
	exec bin/vaglio serve

# What takes long is shorter under -short (testing.Short), and says there what the
# long run has besides. A real daemon is killed, and a real browser walks through
# the README, in both.
.PHONY: test
test: ## run every test, the longest ones shorter
	$(GO) test -short -shuffle=on ./...

.PHONY: test-long
test-long: ## run every test in full, as the continuous integration does
	$(GO) test -timeout=30m -shuffle=on ./...

# What reads command lines starts no goroutine and shares nothing; the engine's
# and the gateways' tests run it side by side.
.PHONY: race
race: ## run the tests under the race detector, the longest ones shorter
	$(GO) test -race -short -shuffle=on $$($(GO) list ./... | grep -vE '/vaglio/(shell|shell/powershell|code|patch|place|commands|reading|guard|judge/effects)$$')

.PHONY: check
check: fmt-check vet lint ## what every change must pass besides the tests

.PHONY: fmt
fmt: ## format the sources
	$(TOOL) golangci-lint fmt ./...

.PHONY: fmt-check
fmt-check:
	$(TOOL) golangci-lint fmt --diff ./...

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint: ## run the pinned linters
	$(TOOL) golangci-lint run ./...

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
			try() { $(GO) test "./$$dir" -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZ) -fuzzminimizetime=1x; }; \
			found() { ls "$$dir/testdata/fuzz/$$target" 2>/dev/null | wc -l; }; \
			before=$$(found); \
			try || { [ "$$(found)" = "$$before" ] && echo "$$target: no finding, once more" && try; } || exit 1; \
		done; \
	done

.PHONY: corpora
corpora: ## measure the shipped policy, and the masks, on labelled calls; CORPORA=folder
	VAGLIO_CORPORA="$(abspath $(CORPORA))" $(GO) test -run='^TestCorpora$$' -count=1 -v ./cmd/vaglio ./vaglio/mask

MUTANTS ?= 80
.PHONY: mutants
mutants: ## change one line at a time of what decides, and print what no test notices; MUTANTS=80
	cd tools && $(GO) run ./mutants -n $(MUTANTS)

.PHONY: secrets
secrets: ## take the rules for secrets from gitleaks anew, and what it finds in samples
	$(GO) generate ./vaglio/mask

.PHONY: agents
agents: ## install the pinned coding agents from npm and run them, offline, behind the gate
	npm ci --prefix gateway/hook/agents --no-audit --no-fund
	VAGLIO_AGENTS=$(CURDIR)/gateway/hook/agents/node_modules/.bin $(GO) test -run='^TestAgent' -count=1 -v ./cmd/vaglio ./vaglio/clients

.PHONY: pictures
pictures: ## draw docs/pictures anew, from real cards, with Chromium
	$(GO) test -run='^TestPictures$$' -count=1 ./cmd/vaglio -pictures

.PHONY: payloads
payloads: ## check what the chats are sent against @slack/types and @grammyjs/types; needs npm
	npm ci --prefix channels/payloads --no-audit --no-fund
	VAGLIO_PAYLOADS=$(CURDIR)/channels/payloads/sent $(GO) test -run='^TestPayloads$$' -count=1 ./channels/slack ./channels/telegram
	channels/payloads/node_modules/.bin/tsc -p channels/payloads

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin gateway/hook/agents/node_modules channels/payloads/node_modules channels/payloads/sent
