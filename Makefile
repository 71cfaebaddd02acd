# FedSim. `make` lists the targets. A Swift toolchain and make are all that a machine must have;
# `make run` and `make test` install the rest (Scripts/deps).

SHELL := /bin/bash
.DEFAULT_GOAL := help
SWIFT := swift
# Where the toolchain has archives of Swift's own libraries, the command is linked with them: a process starts sooner, and
# an installed command needs no toolchain. Tests start this command, too: they link their program alone.
ARCHIVES := $(wildcard $(dir $(realpath $(shell command -v $(SWIFT))))../lib/swift_static/linux/libFoundation.a)
BUILD := $(if $(ARCHIVES),FEDSIM_STATIC_SWIFT=1) $(SWIFT) build -c release
FEDSIM := .build/release/fedsim
EXAMPLE := Examples/my-policy
SOURCES := Sources Tests Package.swift $(EXAMPLE)/Sources $(EXAMPLE)/Tests $(EXAMPLE)/Package.swift
SMOKE := $(wildcard scenarios/smoke/*.yaml)
# How long `make soak` may go on beginning new work.
SOAK_MINUTES ?= 30
# Below which folder `make install` installs.
PREFIX ?= /usr/local
# How long `make hunt` goes on beginning new stretches.
HUNT_MINUTES ?= 60
HUNT ?=
# Some readers or numbers of planted defects for `make planted-readers`, and options of `make sanitize`.
READERS ?=
SANITIZE ?=
# How many weeks of 10,000 iPhones `make fleet` plays.
FLEET_SEEDS ?= 2
# Further options of `fedsim run` for `make run`, such as --force, which replaces the result of other settings.
RUN ?=
# Where `make report` keeps its page and screenshots.
REPORT ?=
# How many of each kind of interruption `make crash` tries; 0: all of them.
CRASH_SAMPLE ?= 12
# What `make bench` hands to Benchmarks/scale, such as --most 100000.
SCALE ?=
# The commit that `make same-results` compares with, and further options of Scripts/same-results; no commit: recorded digests.
OLD ?= $(SAME_RESULTS_BASE)
SAME ?=
# The modules of Tests that `make loop` builds and runs, and the suite or test of them (.: all; none: all but the longest).
MODULE ?= FedSimTests
FILTER ?=
# How `make test-mpi` plays: --short is what CI plays.
TEST_MPI ?=
# What `make test-bare` runs inside the bare Debian.
BARE ?= test

.NOTPARALLEL:
.PHONY: help deps build run test loop check format lint readers notebooks test-foreign licences determinism determinism-ci figure learning scenarios page-figures docs published published-claims bench \
  example-policy install crash fuzz hunt planted-readers sanitize report fleet gboard sweep-crash mpi test-mpi test-slurm soak test-arm64 test-bare wheel test-wheel same-results house clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install what is missing (as root on Debian; elsewhere name it and stop)
	@Scripts/deps build data

build: ## build in release, .build/release/fedsim
	@Scripts/deps build
	$(BUILD)

run: deps ## build the command, run the quickstart scenario, into results/quickstart.h5; RUN=--force
	$(BUILD) --product fedsim
	$(FEDSIM) run scenarios/quickstart.yaml --output results/quickstart.h5 --restart $(RUN)

test: deps ## build and run all tests in release
	$(BUILD) --product fedsim
	$(SWIFT) test -c release --disable-xctest --disable-testable-imports --test-product FedSimPackageTests

loop: ## build one module of tests incrementally and run it, MODULE=FedSimTests FILTER=ExpiryTests
	@Scripts/deps build
	Scripts/loop $(MODULE) "$(FILTER)"

check: SWEEP_CRASH = --sample
check: TEST_MPI = --short
check: lint test readers notebooks test-foreign licences docs report determinism-ci same-results published-claims crash fleet sweep-crash test-mpi test-slurm test-arm64 example-policy ## all that CI checks: those eighteen

format: ## format the sources in place
	@Scripts/deps build
	$(SWIFT) format --in-place --recursive $(SOURCES)

lint: ## check the sources' format, and that Scripts/planted-changes still finds its places in them
	@Scripts/deps build readers
	$(SWIFT) format lint --strict --recursive $(SOURCES)
	Scripts/planted-changes --texts

readers: build ## open a result of every scenario as others would; test exports and the Python package
	@Scripts/deps data readers r
	Scripts/readers

notebooks: build ## play the notebooks of Examples/notebooks, as they are, with the package installed
	@Scripts/deps readers
	Scripts/notebooks

docs: ## build the site from the pages, searchable offline, site/index.html; check links, commands, tutorials
	Scripts/site $(FEDSIM)

licences: build ## hold docs/licences.md to the packages in use; check LICENSE, REUSE.toml, CITATION.cff and a bundle's metadata
	@Scripts/deps readers
	Tests/Readers/make-venv.sh
	Tests/Readers/make-venv.sh .venv-licences Tests/Licences/requirements.txt
	.venv-readers/bin/python Scripts/licences
	.venv-licences/bin/reuse lint --quiet || { .venv-licences/bin/reuse lint; exit 1; }
	.venv-licences/bin/cffconvert --validate
	.venv-licences/bin/python Tests/Licences/check_bundle.py .build/release/fedsim

test-foreign: build ## trainers of PyTorch, Flower's programs, and their notebooks (5 GB of Python packages)
	@Scripts/deps data readers
	Scripts/test-foreign

determinism: build ## run smoke, system, policy and quickstart scenarios in many ways, compare the result files by cmp
	@Scripts/deps data qemu
	Scripts/determinism $(SMOKE) $(wildcard scenarios/systems/*.yaml scenarios/policies/*.yaml scenarios/quickstart.yaml)

determinism-ci: build ## the same for the smoke scenarios only
	@Scripts/deps data qemu
	Scripts/determinism $(SMOKE)

same-results: build ## compare all results with an older commit's, OLD=COMMIT SAME=--short; without OLD with recorded digests
	@Scripts/deps data readers
	Scripts/same-results $(or $(OLD),--recorded) $(SAME) --new-binary $(FEDSIM)

house: ## measure the engine's rooms, HOUSE="COMMIT ." beside a commit's (Scripts/house)
	@Scripts/deps build
	Scripts/house $(HOUSE)

report: build ## write quickstart's report, look at it in headless Chromium; REPORT=FOLDER keeps the screenshots
	@Scripts/deps data readers report
	Scripts/report $(REPORT)

crash: build ## kill runs and fail their calls on files, go on, compare the results; CRASH_SAMPLE=12
	@Scripts/deps data readers
	@Tests/Readers/make-venv.sh
	.venv-readers/bin/python Scripts/crash --sample $(CRASH_SAMPLE)

fleet: build ## weeks of 10,000 iPhones, every event followed by a look; FLEET_SEEDS=2
	Scripts/fleet $(FLEET_SEEDS)

example-policy: ## test Examples/my-policy from a clean clone, as the author of a policy would; EXAMPLE=FOLDER gets its command
	@Scripts/deps build
	Scripts/example-policy $(EXAMPLE)

figure: build ## make the results and the picture of Examples/paper_figure.py
	@Scripts/deps data readers
	Examples/make_figure

learning: build ## run the scenarios that have to learn; the sequence model and its baseline in pairs
	@Scripts/deps data readers
	Scripts/learning

gboard: build ## 20 seeds of gboard-us against the figures of Bonawitz et al. 2019; GBOARD="--seeds 5"
	@Scripts/deps data readers
	@Tests/Readers/make-venv.sh
	.venv-readers/bin/python Scripts/gboard $(GBOARD)

page-figures: build ## hold the figures of docs/systems to runs of the scenarios
	@Scripts/deps data readers
	Tests/Readers/make-venv.sh
	.venv-readers/bin/python Scripts/page-figures

scenarios: build ## hold all scenarios to their claims and baselines (docs/checking.md)
	@Scripts/deps data
	$(FEDSIM) check scenarios

published: build ## play all published experiments and write docs/published.md; again: continue
	@Scripts/deps data
	set -e; for folder in scenarios/published/*/sweep.yaml; do \
	  $(FEDSIM) published $$(basename $$(dirname $$folder)) --store --quiet; done
	$(FEDSIM) published --page > docs/published.md.new && mv docs/published.md.new docs/published.md

published-claims: build ## hold the published experiments' claims in their short form, and docs/published.md to what is stored; one minute
	@Scripts/deps data
	$(FEDSIM) check scenarios/published/*/claim.yaml
	$(FEDSIM) published --page | diff docs/published.md -
	set -e; for figure in scenarios/published/*/figure.svg; do \
	  $(FEDSIM) published $$(basename $$(dirname $$figure)) --figure | cmp $$figure -; done

bench: build ## time the workloads beside floors, events beside SimPy, a million phones, a mean beside a pass; BENCH="--threads 1"
	@Scripts/deps data readers
	@Tests/Readers/make-venv.sh
	.venv-readers/bin/python Benchmarks/run $(BENCH)
	.venv-readers/bin/python Benchmarks/scale $(SCALE)
	Benchmarks/sweep
	.build/release/fedsim-aggregate
	.build/release/fedsim-bench --products

fuzz: build ## hand damaged results, runs' folders, scenarios and data to the command; FUZZ=--full, SEED=2 takes other cases
	Scripts/fuzz $(FUZZ)

hunt: build ## for HUNT_MINUTES=60, hunt for what breaks readers and worlds, with coverage; docs/hunt.csv is the log; HUNT=--short
	@Scripts/deps data
	Scripts/hunt $(HUNT_MINUTES) $(HUNT)

planted-readers: ## plant three defects in the checks of each reader; fuzzing has to find each; READERS="npz 7"
	@Scripts/deps build data
	Scripts/planted-readers $(READERS)

sanitize: ## kernels, readers and pool under clang's sanitizers, in separate builds; SANITIZE="address --full"
	@Scripts/deps build data
	Scripts/sanitize $(SANITIZE)

install: build ## install the command, its man page and completions of bash, zsh and fish below PREFIX=/usr/local
	Scripts/install "$(PREFIX)"

sweep-crash: build ## kill workers and drivers of a sweep, compare its tables; SWEEP_CRASH=--sample
	Scripts/sweep-crash $(SWEEP_CRASH)

mpi: build ## build libfedsim-mpi.so for `fedsim run --mpi` next to the command, MPICC=mpicc (docs/scale-out.md)
	@Scripts/deps mpi
	Scripts/build-mpi

test-mpi: mpi ## play smoke and policy scenarios on ranks of MPI and in worker processes, kill some; TEST_MPI=--short
	@Scripts/deps data
	Scripts/test-mpi $(TEST_MPI)

test-slurm: mpi ## play a sweep and ranks through a real Slurm on this machine, one of two nodes killed; compare
	@Scripts/deps slurm
	Scripts/test-slurm

soak: build ## the long checks, on all scenarios; SOAK_MINUTES=30 bounds them
	@Scripts/deps data readers r report qemu soak
	Scripts/soak $(SOAK_MINUTES)

test-arm64: ## compare the kernels' bits with those of arm64, cross-compiled, under qemu
	@Scripts/deps build arm64
	Scripts/test-arm64

test-bare: ## run `make test` in a bare Debian with only Swift and make (root); BARE="test run"
	Scripts/test-bare $(BARE)

wheel: ## build the Python package with the command, man page and completions, dist/pyfedsim-*.whl (Linux)
	@Scripts/deps build wheel
	Scripts/wheel

test-wheel: ## install dist's wheel in a bare Debian without Swift, run the example within a minute (root)
	Scripts/test-wheel

clean: ## remove everything that was built
	rm -rf dist .build .build-debug .build-fuzz .build-address .build-thread .build-thread-tree .build-loop .build-same-results .build-house .venv-readers .venv-foreign .venv-licences .venv-site site
