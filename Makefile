# Everything a person does here begins with one of these.

N ?= 8
GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
VERSION ?= $(shell tools/version)
LDFLAGS = -X github.com/starling-grid/starling/internal/version.Version=$(VERSION)
# What was compiled serves in any clone, and in releases, tests and checks alike. make check vets it.
export GOFLAGS += -trimpath -vet=off
export CGO_ENABLED = 0
PLATFORMS = linux/amd64 linux/arm64 windows/amd64 darwin/arm64

.PHONY: help build packages release installer image python demo test test-all ci test-python flaky test-unprivileged test-windows test-image test-packages test-desktops test-release failover outage handbook model world kills shares feel bench growth words check lint lint-others typecheck fmt cross fuzz scenarios clean

help:
	@echo "make demo [N=8] [APP=wasm] [GPU=fake|pocl]  a project, its server and two agents compute N workunits"
	@echo "make build       the programs, in bin/"
	@echo "make packages    release files in dist/: .deb, .rpm, .tar.gz, .zip (VERSION=1.2.3)"
	@echo "make release     everything to publish, in dist/VERSION (VERSION=1.2.3 STARLING_RELEASE_KEY=file, or UNSIGNED=1)"
	@echo "make installer   dist/starling-VERSION-setup.exe for Windows, with NSIS; signed if STARLING_SIGN_KEY names a key (VERSION=1.2.3)"
	@echo "make image       the agent as an image for containers, an OCI layout in dist/image; as root (VERSION=1.2.3)"
	@echo "make python      the Python package as a wheel and a source archive, in dist/python"
	@echo "make test        install what the tests need and run those that a change can break; results are cached"
	@echo "make ci          the checks of every change, as before a merge: check, test, test-unprivileged and a short model"
	@echo "make test-all    these and the ones that need luck, hours or other systems; takes a day"
	@echo "make flaky       make test again and again, beside a load (FLAKY_ROUNDS=10 FLAKY_PROCS='1 2 4')"
	@echo "make test-unprivileged [ALL=1]  as root: some tests, or more of them, as another user"
	@echo "make test-windows [ALL=1]  tests of Windows programs, by Wine; ALL=1: those that take long, too"
	@echo "make test-desktops  presence, icon and notifications in real desktops, from Debian 13 in a folder, as root"
	@echo "make test-packages  the packages are installed, upgraded and removed, with systemd, as root"
	@echo "make test-python  the Python package with a real server and agent, with pytest and mypy"
	@echo "make test-image  the image runs in podman, is paired with and computes, as root; tasks run in containers"
	@echo "make failover    PostgreSQL's primary is killed under load, a standby promoted, by hand and by Patroni"
	@echo "make test-release  a release for this architecture is built twice and compared, verified, installed and removed, as root"
	@echo "make outage      the S3 service with a project's files is away while tasks are sent and reported (OUTAGE_MINUTES=60)"
	@echo "make handbook    the operators' handbook is followed, word for word, in part on a copy of this system, as root"
	@echo "make model       random histories of the pipeline (STEPS=200000 SEED=1, POSTGRES=1 on PostgreSQL)"
	@echo "make kills       agents and servers killed at any moment, with real work (KILLS=1000)"
	@echo "make shares      agents keep resource shares, on CPUs and on coprocessors, with real servers (SHARES_MINUTES=20)"
	@echo "make world       whole projects with many agents in virtual time (WORLD_DAYS=60000 WORLD_SEED=1)"
	@echo "make feel        how a computer feels to its user while tasks run, beside BOINC's client (FEEL_ROUNDS=5)"
	@echo "make bench       how fast the server is, as a table; takes some 10 minutes (BENCHRUNS=3)"
	@echo "make growth      how long the server's pages and commands take in a large database (GROWN=2000000)"
	@echo "make words       every text that a person may read, with its place"
	@echo "make check       formatting, lint, and whether the types are right on other systems, too"
	@echo "make scenarios   what the scheduling policies are worth, mean of five seeds"
	@echo "make fuzz        run each fuzz test for a while (FUZZTIME=30s)"

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/... ./examples/...

packages:
	tools/packages/build $(VERSION) dist

release:
	tools/release/build $(VERSION)

installer:
	tools/windows/build $(VERSION) dist

image:
	tools/image/build $(VERSION) dist/image

# A Python with the modules to build and test the package: setuptools, wheel, pytest and mypy.
PYTHON ?= $(or $(shell for p in python3 /usr/bin/python3; do $$p -c 'import pytest, wheel' 2>/dev/null && echo $$p && break; done),python3)

python:
	rm -rf dist/python
	tools/python dist/python $(PYTHON)

test-python: export STARLING_PYTHON = 1
test-python: deps
	@$(PYTHON) -c 'import mypy, pytest, setuptools, wheel' || \
		{ echo "*** The Python package is tested with python3, mypy, pytest, setuptools and wheel: install them."; exit 1; }
	cd python && $(PYTHON) -m mypy && PYTHONPATH=src $(PYTHON) -m pytest -q -p no:cacheprovider

# Podman comes from Debian, and the image's base takes some minutes the first time.
test-image:
	STARLING_IMAGE=1 tools/install-test-deps
	STARLING_IMAGE=1 $(GO) test -count=1 -timeout 60m -v -run '^Test(Image|Containers|ImagesForDocker)$$' ./e2e

# Releases of two versions are built, installed and upgraded, with systemd, in copies of this system.
test-packages:
	tools/install-test-deps
	tools/desktops/make || [ $$? = 3 ]
	STARLING_PACKAGES=1 $(GO) test -count=1 -timeout 60m -v -run '^Test(DebianPackage|ProfileForUbuntu|ServerPackage|ServiceOfSystemd|ArchiveAndRPM|RPM)$$' ./e2e

# GNOME, KWin, Sway, labwc and an X11 desktop without screens, in a folder that tools/desktops/make makes
# once, as root. They mostly wait, so all of them run at once.
test-desktops:
	tools/install-test-deps
	tools/desktops/make || [ $$? = 3 ]
	STARLING_DESKTOPS=1 $(GO) test -count=1 -timeout 60m -parallel 8 -v -run '^Test(TheDesktopIs|DesktopsAre)Seen$$' ./e2e

# A primary is killed under load and its standby promoted, by hand and by Patroni.
failover:
	STARLING_FAILOVER=1 tools/install-test-deps
	STARLING_FAILOVER=1 $(GO) test -count=1 -timeout 60m -v -run '^Test(Failover|FailoverByPatroni|PoolersAreRefused)$$' ./e2e

# The release of a clone with a different SECURITY.md.
test-release:
	STARLING_RELEASE=1 tools/install-test-deps
	STARLING_RELEASE=1 $(GO) test -count=1 -timeout 60m -v -run '^TestRelease' ./e2e

handbook:
	tools/install-test-deps
	STARLING_HANDBOOK=1 $(GO) test -count=1 -timeout 60m -v -run '^Test(Handbook|Operator)$$' ./e2e

demo: build
	@[ "$(APP)" != wasm ] || GOOS=wasip1 GOARCH=wasm $(GO) build -o bin/mersenne.wasm ./examples/mersenne
	@exec bin/demo -bin bin -n $(N) -app "$(APP)" -gpu "$(GPU)"

# Packages that start no goroutines are tested without the race detector, which makes them take
# four to sixty times as long. These are policy (lint forbids goroutines there), formats, texts, and models.
# The commands, which are run here as people run them, sim and e2e are tested without it, too,
# because other tests run their agents and servers with it.
UNRACED = boincapi/wasmhost|cmd/starling|cmd/starling-server|contact|debt|decide(/.*)?|executor/image|internal/words|jobsched|prefs|protocol(/.*)?|reason|resource|server/demand|server/match|server/modeltest|sim(/.*)?|state|workfetch

# In the other packages the detector leaves out SQLite, which is C translated to Go, and the
# arithmetic of passwords and keys. Packages with atomics must not be left out, because the linker
# may take another package's copy of a generic function from there, and the detector would miss
# the order that it establishes.
RACE = $$(command -v cc >/dev/null && echo '-race -gcflags=modernc.org/...=-race=false \
	-gcflags=golang.org/x/crypto/blowfish=-race=false -gcflags=math/big=-race=false \
	-gcflags=crypto/internal/fips140/bigmod=-race=false')

# Most tests wait for other processes most of the time, so a package runs eight of them at once, and
# the three parts of make test run at once. The raced part takes longest, so it runs as many packages at
# once as there are processors, the longest first. With more, each test waits longer, and waiting takes time
# of the processors, too. Where nothing is in Go's cache, e2e builds its programs within its time.
TESTFLAGS = -timeout 45m -parallel 8
PACKAGES = ./...

# Tests make thousands of databases and wait for the disk at each commit, so their files are in
# memory. Power cuts are tested on disks that are images.
test: deps
	+tools/in-memory $(MAKE) --no-print-directory -j3 --output-sync=target whole raced unraced

.PHONY: deps compiled whole raced unraced
deps:
	tools/install-test-deps

# Commands that start at the same time would each compile the same packages.
whole unraced lint model test-unprivileged: | compiled
compiled:
	@$(GO) list -export -test -deps $(PACKAGES) >/dev/null

whole:
	$(GO) list $(PACKAGES) | grep -E '/starling/e2e$$' | xargs -r $(GO) test $(TESTFLAGS)

# A program that runs under the race detector otherwise sleeps for a second at its end.
raced: export GORACE = atexit_sleep_ms=0
raced: export CGO_ENABLED = # the detector needs it
raced:
	$(GO) list $(if $(filter ./...,$(PACKAGES)),$(LONGEST)) $(PACKAGES) | grep -vE '/starling/($(UNRACED)|e2e)$$' | xargs -r $(GO) test $(TESTFLAGS) $(RACE)

LONGEST = ./server ./agent ./agent/control/dashboard ./executor ./server/web ./server/store

# Simulations have small heaps, which would be collected all the time.
unraced: export GOGC = 400
unraced:
	$(GO) list $(PACKAGES) | grep -E '/starling/($(UNRACED))$$' | xargs -r $(GO) test -p 1 $(TESTFLAGS)

# The checks of every change. Each of them waits at times, so they run side by side.
ci: deps
	+tools/in-memory $(MAKE) --no-print-directory -j --output-sync=target check whole raced unraced test-unprivileged model STEPS=20000

# Everything, nothing from the cache: the tests of each change and those that take luck, hours
# or other systems. It takes a day.
test-all:
	$(MAKE) check lint-others cross
	HOSTILE_LONG=1 $(MAKE) test TESTFLAGS='-timeout 60m -parallel 8 -count=1 -shuffle=on'
	$(MAKE) test-unprivileged ALL=1
	$(MAKE) test-windows ALL=1
	$(MAKE) test-packages
	$(MAKE) test-desktops
	$(MAKE) test-release
	$(MAKE) test-image
	$(MAKE) test-python
	$(MAKE) failover
	$(MAKE) outage
	$(MAKE) handbook
	$(MAKE) model STEPS=1000000
	$(MAKE) model STEPS=100000 POSTGRES=1
	$(MAKE) kills
	$(MAKE) shares
	$(MAKE) world
	$(MAKE) fuzz

# All tests ten times each on one, two and four processors, while other programs take all of
# them and one syncs the disk. It takes half a day.
FLAKY_ROUNDS ?= 10
FLAKY_PROCS ?= 1 2 4
flaky: deps
	FLAKY_ROUNDS='$(FLAKY_ROUNDS)' FLAKY_PROCS='$(FLAKY_PROCS)' tools/flaky

# Root may do much that is refused to the users under which most agents run. With ALL=1
# whole agents and servers are run that way, too.
test-unprivileged: deps
	tools/test-unprivileged ./executor ./executor/image ./executor/sandbox ./internal/foreigndir $(if $(ALL),./state ./agent ./server ./server/db ./server/scheduler ./server/store)

# Tests as .exe files, in a folder with Debian 13 and its Wine, which tools/wine/make
# makes once, as root. ALL=1 adds the state file's long tests, and all packages that have
# files for Windows or communicate with the system.
test-windows:
	tools/wine/test -count=1 -timeout 5m -run '$(WINDOWS_E2E)' ./e2e
	tools/wine/test -count=1 -short -timeout 5m ./agent/control ./agent/control/remote ./agent/hostinfo ./agent/logfile ./agent/settings ./boincapi ./executor ./executor/sandbox ./filexfer ./installer ./internal/atomicfile ./internal/busyfile ./internal/namedmem ./internal/neighbor ./internal/serviceuser ./internal/sharedlib ./internal/sysfault ./state
	$(if $(ALL),tools/wine/test -count=1 -timeout 15m $(WINDOWS_ALL))

# A project and its agents as Windows programs, killed and restarted during a task, and the
# installer.
WINDOWS_E2E = TestTwoAgentsAndAQuorum|TestPowerCuts|TestDetachLeavesNothing|TestSetup

WINDOWS_ALL = ./state ./executor ./agent/api ./agent/appinfo ./agent/boincconfig ./agent/boincexport ./agent/control ./agent/control/dashboard ./agent/control/guirpc ./agent/control/metrics ./agent/control/sheet ./agent/doctor ./agent/gpus ./agent/files ./agent/life ./agent/rules ./agent/usage ./agent/view ./internal/httpclient ./internal/load ./internal/logflag ./internal/opencl ./internal/release ./internal/tomlfile ./scheduler_op ./decide/storage ./prefs ./protocol/appipc ./protocol/bxml ./protocol/globalprefs ./boincapi/wasmhost ./server/blob ./server/db ./server/operate/... ./server/store ./server/upload ./server/web/...

STEPS ?= 200000
SEED ?= 1
model:
	STARLING_MODEL_SEED=$(SEED) STARLING_MODEL_STEPS=$(STEPS) STARLING_MODEL_POSTGRES=$(POSTGRES) $(GO) test ./server/modeltest -timeout 0 -run 'TestModel|TestReplay'

KILLS ?= 1000
kills:
	STARLING_KILLS=$(KILLS) $(GO) test ./e2e -count=1 -timeout 0 -v -run 'TestKills'

# The tasks only sleep, but the agent's decisions and the time that tasks get are real.
SHARES_MINUTES ?= 20
shares:
	STARLING_SHARES_MINUTES=$(SHARES_MINUTES) $(GO) test ./e2e -count=1 -timeout 0 -v -run '^Test(Mixed)?Shares$$'

# Host-days before the worlds come to rest. That takes at most as long again.
WORLD_DAYS ?= 60000
WORLD_SEED ?= 1
world:
	$(GO) test ./sim/world -count=1 -timeout 0 -v -run 'TestWorld$$' -world.seed=$(WORLD_SEED) -world.days=$(WORLD_DAYS)

# The service with a project's files is away for so long.
OUTAGE_MINUTES ?= 60
outage:
	STARLING_OUTAGE_MINUTES=$(OUTAGE_MINUTES) $(GO) test ./e2e -count=1 -timeout 0 -v -run '^TestOutageOfTheBucket$$'

# How fast the computer reacts to its user while tasks run, compared to BOINC's client. Only for quiet computers.
FEEL_ROUNDS ?= 5
feel:
	tools/install-test-deps
	$(GO) test ./executor -run '^$$' -bench '^BenchmarkShare$$' -benchtime 1x
	STARLING_FEEL=$(FEEL_ROUNDS) $(GO) test ./e2e -count=1 -timeout 0 -v -run '^TestFeel$$'

# Each run sends some 70,000 of the results that wait.
BENCHRUNS ?= 3
bench:
	$(GO) test ./server -run '^$$' -bench '^BenchmarkTable$$' -benchtime 1x -bench.runs=$(BENCHRUNS) -bench.backlog=$$(($(BENCHRUNS) * 100000 + 100000)) -timeout 0

# How long pages and commands take when so many results are finished, and a fifth as many wait. The database
# needs 1.2 KB for each.
GROWN ?= 2000000
growth:
	$(GO) test ./server -run '^$$' -bench '^BenchmarkGrowth$$' -benchtime 1x -timeout 0 -bench.growth -bench.finished=$(GROWN) -bench.backlog=$$(($(GROWN) / 5))

check: lint typecheck

lint:
	$(TOOL) golangci-lint fmt --diff
	$(TOOL) golangci-lint run

# Lints packages with files for other systems. Run it when such a file was changed. An exception
# that is needed on one system only is fine.
lint-others:
	@elsewhere=$$($(GO) list -f '{{if .IgnoredGoFiles}}{{.Dir}}{{end}}' ./...) && lint=$$($(TOOL) -n golangci-lint) && \
	for os in $(filter-out $(shell $(GO) env GOHOSTOS), windows darwin); do \
		echo "golangci-lint run for $$os"; \
		GOOS=$$os $$lint run --disable nolintlint $$elsewhere || exit 1; \
	done

# Whether a compiler for other systems takes the code. To compile it: make cross. To lint it: make lint-others.
typecheck:
	@check=$$(mktemp) && trap 'rm "$$check"' EXIT && $(GO) build -modfile=tools/go.mod -o "$$check" tools/typecheck.go && \
	for os in $(filter-out $(shell $(GO) env GOHOSTOS), linux windows darwin); do \
		echo "typecheck for $$os"; \
		GOOS=$$os "$$check" ./... || exit 1; \
	done

fmt:
	$(TOOL) golangci-lint fmt

cross:
	@for p in $(filter-out $(shell $(GO) env GOHOSTOS)/$(shell $(GO) env GOHOSTARCH), $(PLATFORMS)); do \
		echo "go vet and build for $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build ./... || exit 1; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit 1; \
	done

scenarios: build
	@bin/starling simulate --seed 1,2,3,4,5 sim/scenarios/*.toml

FUZZTIME ?= 30s
words:
	@$(GO) test ./internal/words -run TestWords -v -args -list | grep -a '	'

fuzz:
	@for f in $$(grep -rlE '^func Fuzz' --include='*_test.go' .); do \
		for t in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9]*).*/\1/p' $$f); do \
			$(GO) test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s ./$$(dirname $$f) || exit 1; \
		done; \
	done

clean:
	rm -rf bin dist
