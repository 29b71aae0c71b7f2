# Needs Go, git, make and a C compiler (for the race detector), and a Go module proxy on the first run. Nothing else; only
# make web and make pages want node and a browser.

include hack/envtest/envtest.mk
include conformance/conformance.mk
include reports/reports.mk

.DEFAULT_GOAL := help
# go test vets by itself, all that is imported included, which takes minutes where nothing is cached. Here make vet does it, once.
# Test binaries have no debug information, which takes a quarter of the time to link them. Compiled packages keep theirs, so make
# and a plain go test share them.
export GOFLAGS := $(shell go env GOFLAGS) -vet=off -ldflags=-w
# go vet without its look at what is imported, which takes minutes for each version and platform.
GO_VET = VET=$$(go tool -n vet) go vet -vettool=$(CURDIR)/bin/vet
# The time limit of a test binary where the longest takes five minutes on a quiet machine with two cores. It holds on one with a
# load of 15. Steps that take as long as they are told have -timeout 0.
TIMEOUT ?= 3h
# All packages of the workspace, which are those of several modules.
ALL := github.com/wavetank/wavetank/...
# The directories of its other modules.
WORKSPACE := cmd/wavetank conformance controllers fuzz hack scenarios sim/simginkgo
# Modules outside the workspace with tests of their own. hack/ only pins tools.
NESTED := $(patsubst %/go.mod,%,$(shell find examples models -name go.mod))
EXAMPLES := $(sort $(filter examples/%,$(NESTED)))
# The tests that compare histories run by run: once more under the race detector, at one and at two CPUs.
DETERMINISM := TestEverySeedReplays TestEverySeedReplaysUnderEveryFault TestEverySeedReplaysWithAWindow TestScenariosDoNotTouchEachOther

# The specs of what must hold however long one looks. In the package's own directory go test lets progress through.
HELD = $(sort $(dir $(shell grep -l 'Label("hold")' scenarios/*/*_suite_test.go)))
SUITE = $$(sed -n 's/.*RunSpecs(t, "\([A-Za-z]*\)".*/Test\1/p' *_suite_test.go)
CURE = -run "^$(SUITE)\$$" -ginkgo.v -ginkgo.label-filter=hold -ginkgo.timeout=24h

# Tests that take long: make test leaves them out, and .ci/run makes them all, by make campaigns and make reprove. Those of
# the first kind have //make:campaigns above them.
CAMPAIGNS = $(shell git grep -hA1 '^//make:campaigns' -- '*_test.go' | sed -n 's/^func \(Test[A-Za-z0-9_]*\).*/\1/p' | sort -u)
# Those of exact mode compile Go's standard library and all else anew: make exact has them.
EXACT = $(shell git grep -hA1 '^//make:exact' -- '*_test.go' | sed -n 's/^func \(Test[A-Za-z0-9_]*\).*/\1/p' | sort -u)
# Those of the second kind make the results of the reference scenarios: TestMatrix, and the suites whose specs are its cells.
RESULTS = TestMatrix TestReposync TestBundledeployment TestClusterExtension TestPromotion TestThrottle
empty :=
names = ($(subst $(empty) $(empty),|,$(strip $(1))))
# The packages that have tests of these names.
packages = $(sort $(foreach d,$(dir $(shell git grep -lwE '^func $(names)' -- '*_test.go')),./$(d)))

# sim has the longest tests: they begin first, so that no CPU is idle at the end.
.PHONY: test
test: vet tidy ## What to run before a push: all tests but the long ones.
	go test -timeout $(TIMEOUT) -shuffle=on -skip '^$(call names,$(CAMPAIGNS) $(RESULTS) $(EXACT))$$' ./sim $(ALL)

.PHONY: campaigns
campaigns: ## The long tests, which make test leaves out.
	go test -timeout $(TIMEOUT) -shuffle=on -run '^$(call names,$(CAMPAIGNS))$$' $(call packages,$(CAMPAIGNS))

.PHONY: race
race: ## The tests that compare runs, under the race detector.
	go test -race -timeout $(TIMEOUT) -cpu 1,2 -run '^$(call names,$(DETERMINISM))$$' $(call packages,$(DETERMINISM))

.PHONY: race-operators
race-operators: # The fixed reference controllers under every fault and the race detector, 50 runs each.
	go test -race -timeout $(TIMEOUT) -run '^$(call names,$(RESULTS))$$' $(addprefix ./,$(MATRICES)) -ginkgo.focus=' every fault: ' -matrix.runs=50

.PHONY: nested
nested: $(NESTED:%=nested-%) ## The tests of examples/ and of the other nested modules.

.PHONY: $(NESTED:%=nested-%)
$(NESTED:%=nested-%): nested-%: bin/vet
	export GOWORK=off; cd $* && $(GO_VET) ./... && go test -timeout $(TIMEOUT) -shuffle=on ./...

.PHONY: examples
examples: ## The operators of examples/: 50 runs of each scenario.
	@export GOWORK=off SIM_RUNS=50 SIM_FOR=0; set -e; for m in $(EXAMPLES); do echo "$$m"; (cd $$m && go test -count=1 -timeout $(TIMEOUT) ./...); done

.PHONY: released
released: RUNS = 5000
released: FOR = 1h
released: # What the released operators of examples/ promise: RUNS (5000) runs of each or FOR (1h) of CPU time, in plain and in exact mode.
	@mkdir -p bin/overlay
	overlay=$$(go run ./cmd/wavetank overlay bin/overlay) && export GOWORK=off SIM_RUNS=$(RUNS) SIM_FOR=$(FOR) && set -e && \
	for m in $(EXAMPLES); do for exact in "" -overlay=$$overlay; do echo "$$m $$exact"; \
		(cd $$m && go test $$exact -count=1 -timeout 0 -run '^TestPromises$$' ./...); done; done

.PHONY: known-bugs
known-bugs: RUNS = 300
known-bugs: # Public bugs of released operators: each test fails at an older version, and makes RUNS (300) runs without a violation at a newer one.
	sh hack/known-bugs.sh $(OUT)/known-bugs $(RUNS)

# What a user's versions may change: the engine, the models, and whether two runs of a seed are alike.
ENGINE := ./sim ./sim/fault ./sim/property ./sim/internal/... ./models/... ./history/... ./internal/...

.PHONY: oldest
oldest: bin/vet # The tests of the engine at the oldest versions, those of the modules' own go.mod files.
	export GOWORK=off; $(GO_VET) $(ENGINE) && go test -timeout $(TIMEOUT) -shuffle=on $(ENGINE)

# A workspace like that of the repository at another pair of versions: see hack/pairs/README.md.
bin/pairs/%/go.work: go.work hack/pairs/%/go.mod
	@mkdir -p $(@D)
	sed -e 's#hack/pairs/0.37#hack/pairs/$*#' -e 's#\./#$(CURDIR)/#' -e 's#^\t\.$$#\t$(CURDIR)#' go.work >$@

# That of the oldest pair has no module that lifts it, and none of those that need newer versions.
bin/pairs/0.35/go.work: go.work
	@mkdir -p $(@D)
	printf 'go 1.26.0\n\nuse (\n\t%s\n\t%s\n)\n\nreplace github.com/wavetank/wavetank v0.1.0 => %s\n' $(CURDIR) $(CURDIR)/conformance $(CURDIR) >$@

# With the stories of two scenarios. A variant that needs controller-runtime 0.25, promotion's V5, is left out.
.PHONY: versions-%
versions-%: bin/pairs/%/go.work
	GOWORK=$(CURDIR)/$< go test -timeout $(TIMEOUT) -shuffle=on $(ENGINE)
	GOWORK=$(CURDIR)/$< go test -timeout $(TIMEOUT) -run '^$(call names,$(RESULTS))$$' ./scenarios/reposync
	GOWORK=$(CURDIR)/$< go test -timeout $(TIMEOUT) -run '^$(call names,$(RESULTS))$$' ./scenarios/promotion -ginkgo.label-filter='!V5'

.PHONY: modules
modules: ## What Wavetank changes in an operator's go.mod: docs/modules.md.
	go run ./hack/modules $(ARGS)

.PHONY: next-go
next-go: # Doubled runs with the newest Go that is known, which the go command downloads.
	GOTOOLCHAIN=go1.27.0 go test -count=1 -timeout $(TIMEOUT) ./sim/internal/determinism

# What is compiled is not run: without inlining and debug information it takes a third less.
.PHONY: platforms
platforms: bin/vet ## Compile what users import for other platforms.
	@set -e; for p in darwin/arm64 linux/arm64 windows/amd64; do echo "$$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 GOFLAGS="'-gcflags=all=-l -dwarf=false'" $(GO_VET) ./sim/... ./models/... ./history/... ./reports ./cmd/wavetank/...; done

.PHONY: versions
versions: next-go oldest versions-0.36 ## The engine at older modules and at the next Go.

.PHONY: bench-auto
bench-auto: # Measure what package auto finds of the planted bugs, and write the table of docs/auto.md.
	cd fuzz/planted && go test -run '^TestAuto$$' -timeout 0 -v . -auto.runs=$(or $(RUNS),40) -auto.fixed=$(or $(RUNS),40)

.PHONY: bench-auto-mutants
bench-auto-mutants: RUNS = 100
bench-auto-mutants: # Which mistakes in released operators package auto finds in RUNS (100) runs or 60 s of CPU time each (30 minutes): writes docs/auto.md.
	@mkdir -p bin/mutants
	go test -count=1 -timeout 0 -run '^TestBenchAuto$$' -v ./hack/mutants -mutants.auto=$(RUNS) -mutants.name='$(ONLY)' -mutants.dir=$(CURDIR)/bin/mutants

VERSION ?= v0.1.0
.PHONY: consume
consume: # Use what is committed as a stranger would: from a module proxy, by the README's commands (minutes: nothing is cached).
	go run ./hack/release consume $(VERSION)

.PHONY: release
release: ## Print what VERSION still lacks, or the tags to push.
	go run ./hack/release check $(VERSION)

.PHONY: demo
demo: ## Search the reference operators for their bugs; writes a page.
	@rm -rf reports/out/demo.json reports/out/demo
	@sh hack/demo.sh

SHOWN = $(patsubst scenarios/%/demo_test.go,demo-%,$(wildcard scenarios/*/demo_test.go))
.PHONY: $(SHOWN)
$(SHOWN): demo-%:
	@cd scenarios/$* && DEMO=1 $(CURDIR)/bin/demo/$*.test -test.timeout=0 -test.run='^TestDemo$$'

bin/vet: hack/vet/main.go
	go build -o $@ ./hack/vet

.PHONY: vet
vet: bin/vet # gofmt and go vet, which are quick.
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "run gofmt -w on:"; echo "$$out"; exit 1; }
	$(GO_VET) $(ALL)
	$(GO_VET) -tags conformance ./conformance ./models/apiserver/serve ./sim/controlplane ./fuzz/planted ./cmd/wavetank

# golangci-lint is compiled first. actionlint runs without shellcheck and pyflakes, which not every machine has.
.PHONY: lint
lint: vet ## gofmt, go vet, golangci-lint, and a check of the workflows.
	$$(GOWORK=off go -C hack/lint tool -n golangci-lint) run --timeout $(TIMEOUT) ./... $(WORKSPACE:%=./%/...)
	GOWORK=off go -C hack/workflows tool actionlint -shellcheck= -pyflakes= $(wildcard $(CURDIR)/.github/workflows/*.yml)

.PHONY: tidy
tidy: ## The rules of this repository, and go.mod files (FIX=1 corrects these).
	go test -count=1 -timeout $(TIMEOUT) ./hack/tidy
	sh hack/tidy.sh $(if $(FIX),,-diff)
	@set -e; for m in $(NESTED); do echo "cd $$m && go mod tidy -diff"; (cd $$m && GOWORK=off go mod tidy -diff); done

.PHONY: bench
bench: ## Runs and steps per second; bench-NAME: see CONTRIBUTING.md.
	@mkdir -p bin
	go test -timeout $(TIMEOUT) -run '^$$' -bench . -cpu 1 -o bin/bench.test -cpuprofile bin/cpu.prof ./scenarios/promotion
	go run ./hack/share bin/cpu.prof
	go test -timeout $(TIMEOUT) -run '^$$' -bench . -cpu 1 -o bin/bench.test -cpuprofile bin/cpu.prof ./fuzz/website
	go run ./hack/share bin/cpu.prof

.PHONY: bench-heavy
bench-heavy: # Runs per CPU second of an operator with large statuses and of one with many small reconciles, and what takes the CPU.
	@mkdir -p bin
	@set -e; for b in LargeStatuses SmallReconciles; do \
		go test -timeout $(TIMEOUT) -run '^$$' -bench $$b -benchtime 50x -cpu 1 -o bin/bench.test -cpuprofile bin/cpu.prof ./fuzz/heavy; \
		go run ./hack/share -parts bin/cpu.prof; done

FOR ?= 1m
# Go fuzzes one target at a time, so each has a package of its own.
FUZZED = $(sort $(dir $(shell grep -l '^func Fuzz' fuzz/*/*_test.go sim/internal/*/*_test.go)))
.PHONY: fuzz
fuzz: ## Every fuzz target for FOR (1m) each.
	@set -e; for d in $(FUZZED); do echo "$$d for $(FOR)"; go test -timeout $(TIMEOUT) ./$$d -run '^$$' -fuzz . -fuzztime $(FOR) -fuzzminimizetime 5x; done

# RUNS=0 FOR=30m SIM_SEED=random tries new seeds for half an hour.
.PHONY: hold
hold: RUNS = 10000
hold: FOR = 0
hold: ## The fixed operators under every fault: RUNS (10000) runs each.
	@set -e; for d in $(HELD); do (cd $$d && SIM_RUNS=$(RUNS) SIM_FOR=$(FOR) $(if $(SIM_SEED),SIM_SEED=$(SIM_SEED)) go test -count=1 -timeout 0 $(CURE)); done

.PHONY: soak
soak: # Ten controllers, 1,000 objects each, every fault, ten virtual hours, twice (some minutes, 3 GB).
	go test -count=1 -timeout $(TIMEOUT) -run '^TestSoak$$' -v ./fuzz/endurance -soak.full -sim.hang=10m -sim.memory=4Gi

.PHONY: determinism
determinism: # Compares runs of unlike programs between processes, idle, busy, pinned and under -race (BOUND="-groups=1" for less): writes docs/determinism.md.
	go run ./hack/determinism $(BOUND)

SEEDS ?= 5
CAP ?= 1000
.PHONY: bench-search
bench-search: # What each strategy finds of the planted bugs, and how soon, from SEEDS (5) base seeds and in at most CAP (1000) runs: writes docs/search.md.
	@mkdir -p docs
	go test -count=1 -cpu 1 -timeout 0 -run '^TestBenchSearch$$' -v ./fuzz/planted -search.write=$(CURDIR)/docs/search.md -search.seeds=$(SEEDS) -search.cap=$(CAP) -search.commit=$$(git rev-parse --short HEAD)

.PHONY: bench-correct
bench-correct: RUNS = 1000
bench-correct: FOR = 10m
bench-correct: # Alarms that correct operators raise, in RUNS (1000) runs of each and at most FOR (10m) of CPU time: writes docs/false-alarms.md.
	go test -count=1 -timeout 0 -run '^TestBenchCorrect$$' -v ./fuzz/correct -correct.runs=$(RUNS) -correct.for=$(FOR) -correct.only='$(ONLY)' -correct.commit=$$(git rev-parse --short HEAD)

STRATEGIES ?= portfolio
.PHONY: bench-mutants
bench-mutants: SEEDS = 3
bench-mutants: CAP = 500
bench-mutants: # Which mistakes in released operators the STRATEGIES (portfolio) find, from SEEDS (3) base seeds and in at most CAP (500) runs: writes docs/mutants.md.
	@mkdir -p bin/mutants
	go test -count=1 -timeout 0 -run '^TestBenchMutants$$' -v ./hack/mutants -mutants.write=$(CURDIR)/docs/mutants.md -mutants.seeds=$(SEEDS) -mutants.cap=$(CAP) -mutants.strategies='$(STRATEGIES)' -mutants.half=$(HALF) -mutants.dir=$(CURDIR)/bin/mutants -mutants.commit=$$(git rev-parse --short HEAD)

.PHONY: mutants-replay
mutants-replay: SEEDS = 17
mutants-replay: # Shrinks and replays findings on mutants of released operators, from SEEDS (17) base seeds each: nothing may be flaky.
	go test -count=1 -timeout 0 -run '^TestFindingsOnMutantsReplay$$' -v ./hack/mutants -mutants.findings=$(SEEDS) -mutants.dir=$(CURDIR)/bin/mutants

.PHONY: mutants-causes
mutants-causes: SEEDS = 1
mutants-causes: # Compares the messages of findings on mutants of released operators, from base seed SEEDS (1), with what causes them; half an hour.
	@mkdir -p bin/mutants
	go test -count=1 -timeout 0 -run '^TestMessagesOnMutantsNameTheirCauses$$' -v ./hack/mutants -mutants.causes=$(SEEDS) -mutants.dir=$(CURDIR)/bin/mutants

.PHONY: bench-scale
bench-scale: # What a step costs in worlds of 1, 100 and 10,000 objects with 50 controllers (minutes): writes docs/scale.md.
	go test -count=1 -cpu 1 -timeout 0 -run '^TestScale$$' -v ./fuzz/scale -scale.write=$(CURDIR)/docs -scale.commit=$$(git rev-parse --short HEAD)

.PHONY: bench-shrinking
bench-shrinking: # How short the stories of planted bugs become, from SEEDS (5) base seeds (6 minutes): writes docs/shrinking.md.
	go test -count=1 -cpu 1 -timeout 0 -run '^TestBenchShrinking$$' -v ./hack/mutants -shrinking.write=$(CURDIR)/docs/shrinking.md -shrinking.seeds=$(SEEDS) -shrinking.commit=$$(git rev-parse --short HEAD)

STORY ?= *
MATRICES = $(sort $(dir $(shell grep -l '^func TestMatrix' scenarios/$(STORY)/*_test.go)))
MATRIX = go test -count=1 -timeout 0 -run '^TestMatrix$$'
CELLS = go test -count=1 -timeout 0 -run '^$(call names,$(RESULTS))$$'

.PHONY: matrices
# AGAIN=1 makes all runs again; PAGES=1 makes none; CPU=60s limits those of a cell in one call. Stopped, it continues.
matrices: ## Runs that scenarios' results.json lack; writes their pages (STORY=name).
	@set -e; test -z "$(AGAIN)" || rm -f scenarios/$(STORY)/results.json
	@set -e; c=$$(git rev-parse --short HEAD)$$(git diff --quiet HEAD -- '*.go' '*.yaml' || echo -dirty); for d in $(MATRICES); do (cd $$d && $(MATRIX) $(if $(PAGES),-matrix.page,-matrix.write -matrix.cpu=$(or $(CPU),0) -matrix.commit=$$c)); done; \
		echo "CPU time of the shell and of all that it ran, user and system:"; times
	go test -count=1 -timeout $(TIMEOUT) ./scenarios/internal/catalogue -update

.PHONY: story-texts
story-texts: ## Replay the stored stories; writes their texts and pages (STORY=name).
	@set -e; for d in $(MATRICES); do (cd $$d && $(MATRIX) -matrix.texts); done
	go test -count=1 -timeout $(TIMEOUT) ./scenarios/internal/catalogue -update

PROVE ?= 100
.PHONY: reprove
reprove: ## Replay the stored stories; repeat each passing cell PROVE times (100).
	@for d in scenarios/$(STORY)/testdata/catalogue; do case " $(MATRICES) " in *" $${d%testdata/catalogue} "*) ;; *) echo "$$d has stories, but no TestMatrix next to it replays them"; exit 1;; esac; done
	@rm -rf $(OUT)/catalogue
	@$(MAKE) --no-print-directory -j2 $(PROVEN)
	@$(MAKE) --no-print-directory classes

PROVEN = $(MATRICES:%/=reprove-%)
.PHONY: $(PROVEN)
$(PROVEN): reprove-%:
	cd $* && SIM_REPORT=$(CURDIR)/$(OUT)/catalogue/$(notdir $*) $(CELLS) -matrix.runs=$(PROVE)

.PHONY: mutants
mutants: # Common mistakes planted in the operators of examples/: which properties see them (10 minutes).
	go test -count=1 -timeout 0 -v -run '^TestMutants$$' ./hack/mutants -mutants.all

.PHONY: mutants-controllers
mutants-controllers: # One-line mistakes planted in the fixed variants of the reference scenarios: which of them the runs of every change find (ONLY=throttle).
	go test -count=1 -timeout 0 -v -run '^TestMistakesInControllers$$' ./hack/mutants -mutants.controllers='$(or $(ONLY),.)'

.PHONY: projects
projects: # wavetank init on ten projects as scaffolds lay them out, and 1,000 runs of each (15 minutes): writes docs/projects.md.
	go run ./hack/projects

.PHONY: generate
generate: ## Write what is made from the code: deep copies, CRDs, tables, licences.
	$$(GOWORK=off go -C hack/tools tool -n controller-gen) object paths=./controllers/...
	for c in bundledeployment clusterextension promotion reposync; do \
		$$(GOWORK=off go -C hack/tools tool -n controller-gen) crd:maxDescLen=0 paths=./controllers/$$c/... \
			output:crd:dir=controllers/$$c/crds || exit 1; done
	go run ./hack/docs
	mkdir -p $(OUT)
	$$(GOWORK=off go -C hack/tools tool -n go-licenses) report --ignore github.com/wavetank/wavetank \
		--template hack/release/licences.tpl ./sim/... ./models/... ./history/... ./reports ./cmd/wavetank ./sim/simginkgo \
		>docs/licences.md 2>$(OUT)/licences.log # which warns of addresses that it does not find
	! grep '| Unknown |' docs/licences.md

# What guards every change, and the rest. A step that passed on this commit is not run again: see hack/steps.sh.
STEPS = test lint campaigns oldest modules generate next-go platforms 'race nested-examples/backup' 'reprove PROVE=5' demo pages conformance
NIGHTLY = nested released known-bugs 'reprove PROVE=2000' exact race-operators 'hold RUNS=100000' 'hold RUNS=0 FOR=30m SIM_SEED=random' 'fuzz FOR=10m' mutants mutants-controllers soak \
	'conformance OPS=20000' conformance-0.36 conformance-0.35 versions consume projects determinism bench-correct bench-search bench-shrinking bench-mutants mutants-replay bench-scale \
	confirm-planted scale-out
COMMIT = $(shell git rev-parse --short HEAD)

.PHONY: nightly
nightly: committed ## The steps of .ci/run, then the long ones (NIGHTLY= for none).
	@sh hack/steps.sh $(OUT)/nightly/$(COMMIT) $(STEPS) $(NIGHTLY)

.PHONY: ci
ci: ## What every change must pass, from a fresh clone: .ci/run.
	sh .ci/run

.PHONY: committed
committed:
	@test -z "$$(git status --porcelain --untracked-files=no -- . ':!docs')" || { echo "commit first: results are kept by commit"; exit 1; }

PAIRS ?= 200
.PHONY: exact
exact: # Programs and campaigns in exact mode, in which Go's runtime leaves nothing to chance: PAIRS (200) doubled runs of each program.
	@mkdir -p bin/overlay
	overlay=$$(go run ./cmd/wavetank overlay bin/overlay) && \
	go test -overlay=$$overlay -count=1 -timeout 0 ./sim/internal/determinism -determinism.pairs=$(PAIRS) && \
	go test -overlay=$$overlay -count=1 -timeout 0 -run '^$(call names,$(CAMPAIGNS))$$' $(call packages,$(CAMPAIGNS))
	go test -count=1 -timeout 0 -run '^$(call names,$(EXACT))$$' $(call packages,$(EXACT))

.PHONY: clean
clean: ## Remove what was built; stored stories stay.
	rm -rf bin reports/out

.PHONY: help
help: ## This list.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 15
	@echo; echo "CONTRIBUTING.md has the targets that make nightly adds."
