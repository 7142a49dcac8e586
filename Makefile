# Tasks for developers and CI. `make` without a target lists them.
#
# scripts/setup installs missing packages first and reports each; if nothing is missing, it does
# nothing. Environment variables: CARGO, CARGO_FLAGS, CARGO_TARGET_DIR, PREFIX.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# One target at a time: cargo and the kernel's make use all cores by themselves, and must not
# inherit our flags.
.NOTPARALLEL:
unexport MAKEFLAGS MFLAGS MAKEOVERRIDES

CARGO ?= cargo
CARGO_FLAGS ?=
CARGO_TARGET_DIR ?= target
PREFIX ?= /usr/local
MUSL := x86_64-unknown-linux-musl
RELEASE := $(CARGO_TARGET_DIR)/release
PATHTWIN := $(RELEASE)/pathtwin
PACKAGE := $(RELEASE)/pathtwin-package
# Builds the kernel of the guests in which changes of hosts are interrupted, and prints its path.
HOST_KERNEL = env -u MAKELEVEL $(PATHTWIN) lab kernel build --config crates/tune/tests/host.config
AGENTS := x86_64 aarch64
AGENT_PARTS := -p pathtwin --no-default-features --features quic,tune,watch
AGENT_FLAGS := --profile agent $(AGENT_PARTS)
# The linker that comes with Rust folds equal functions and packs relocations: 5 % of the size. A panic
# aborts, so that nothing searches the table of frames: 90 kB. Panics
# name the files of libraries without the folder of this user's registry: 5 kB, and the same for all.
AGENT_LINK := -C linker=rust-lld -C link-arg=--icf=all -C link-arg=--pack-dyn-relocs=relr \
	-C link-arg=--no-eh-frame-hdr \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src=
# The program for Debian on 64-bit ARM: all but the lab.
ARM64 := aarch64-unknown-linux-gnu
ARM64_FLAGS := -p pathtwin --no-default-features --features history,manual,page,quic
# The time of everything in a package: that of the commit. Only for packages: crates with C code
# are built again, and all above them, where it differs.
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))
# Bytes: 6 MB, of which the changes of a host (tune) take 1.1 on x86-64, 0.9 on ARM64, and the watch
# 0.4 and 0.3.
AGENT_LIMIT := 6000000
SCRIPTS := .ci/run $(wildcard scripts/* packaging/debian/p* packaging/openwrt/p* crates/package/tests/*.sh bench/atlas bench/run bench/images bench/cost bench/history bench/slurm bench/cache $(addprefix bench/cache-nfs/,run server client rows))

# If rustup has just been installed, its folder is not in the caller's PATH yet.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

.PHONY: help
help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  \1 \2/p' Makefile | while read -r name what; do \
		printf '  %-14s %s\n' "$$name" "$$what"; \
	done

.PHONY: demo
demo: build kernel ## build everything; run, measure, twin and report a path
	mkdir -p out
	$(PATHTWIN) lab run cases/4-speedtest/demo.toml \
		--against cases/4-speedtest/figures.toml --graph out/demo.html --out out/speedtest
	$(PATHTWIN) measure --lab cases/home.toml --quick --out out/run.json >out/run.txt
	$(PATHTWIN) twin out/run.json --budget-time 60s --out out/twin.toml --output json >out/twin.json || [ $$? = 1 ]
	$(PATHTWIN) advise out/twin.json --budget-time 60s --output json >out/advice.json || [ $$? = 1 ]
	$(PATHTWIN) report out/twin.json out/advice.json --format text
	$(PATHTWIN) report out/run.json out/twin.json out/advice.json out/speedtest/rows.jsonl --out out/report.html

.PHONY: test
test: build agent kernel host-kernel ## build everything, then run all tests
	@scripts/setup test
	PATHTWIN_GUEST=$(abspath $(RELEASE))/pathtwin-guest PATHTWIN_TARGETS=$(abspath $(CARGO_TARGET_DIR)) \
		PATHTWIN_HOST_KERNEL=$$($(HOST_KERNEL)) $(CARGO) test $(CARGO_FLAGS) --workspace --no-fail-fast -- --show-output 2>&1 | scripts/tally

# As root, once with bbr and once with cubic as the default. Under CI, one that ordinary users of the
# host may not have is allowed to them meanwhile.
.PHONY: user
user: ## tests of network and host as an ordinary user
	@scripts/setup test
	@if [ "$$(id -u)" -ne 0 ]; then exec scripts/test-user; fi; \
	failed=0; \
	for cc in bbr cubic; do \
		status=0; \
		scripts/test-user --cc $$cc $(if $(CI),--allow) || status=$$?; \
		if [ $$status -eq 3 ]; then echo "user: NOT RUN with $$cc"; elif [ $$status -ne 0 ]; then failed=1; fi; \
	done; \
	exit $$failed

.PHONY: sameness
sameness: build kernel ## replay three cells REPLAYS times (default 20) under each of nine host conditions
	@scripts/setup test
	PATHTWIN_REPLAYS=$(or $(REPLAYS),20) PATHTWIN_GUEST=$(abspath $(RELEASE))/pathtwin-guest \
		$(CARGO) test $(CARGO_FLAGS) -p pathtwin --test sameness replays -- --nocapture

.PHONY: processors
processors: build kernel ## run the three cells on emulated processors, and compare their digests
	@scripts/setup processors
	scripts/processors $(MODELS)

# Programs with property tests, and all unit tests.
PROPERTIES := --lib $(addprefix --test ,$(sort $(notdir $(basename $(patsubst %/main.rs,%,$(shell grep -ls '^ *proptest! {' crates/*/tests/*.rs crates/*/tests/*/main.rs))))))

.PHONY: properties
properties: ## property tests with new random cases, ROUNDS times (default 5)
	for ((round = 0; round < $(or $(ROUNDS),5); round++)); do \
		PROPTEST_RNG_SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); \
		echo "PROPTEST_RNG_SEED=$$PROPTEST_RNG_SEED"; \
		export PROPTEST_RNG_SEED; \
		$(CARGO) test $(CARGO_FLAGS) -q --workspace $(PROPERTIES); \
	done

.PHONY: corpus
corpus: build kernel ## evaluate all scenarios of the corpus again (half an hour)
	for part in training evaluation; do \
		$(PATHTWIN) explain --corpus corpus --part $$part --output jsonl >corpus/judged/$$part.new; \
		mv corpus/judged/$$part.new corpus/judged/$$part.jsonl; \
	done
	UPDATE_DOCS=1 $(CARGO) test $(CARGO_FLAGS) -p pathtwin-corpus

# Whether the fuzz targets compile. A check links nothing, so the fuzzer's C++ is not compiled: its
# path only has to be given.
FUZZ_CHECK = CUSTOM_LIBFUZZER_PATH=/none/libfuzzer.a RUSTFLAGS="--cfg fuzzing" \
	$(CARGO) check $(CARGO_FLAGS) --manifest-path fuzz/Cargo.toml --target-dir $(CARGO_TARGET_DIR)/fuzz-check

.PHONY: lint
lint: ## format, clippy, documentation, source rules, fuzz targets, licences, scripts
	@scripts/setup build lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
	$(CARGO) clippy $(CARGO_FLAGS) $(AGENT_PARTS) -- -D warnings
	$(CARGO) clippy $(CARGO_FLAGS) $(ARM64_FLAGS) -- -D warnings
	$(CARGO) test $(CARGO_FLAGS) -q -p pathtwin-house
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(CARGO_FLAGS) --workspace --no-deps
	$(FUZZ_CHECK)
	scripts/deny
	@if command -v shellcheck >/dev/null; then \
		echo "shellcheck $(SCRIPTS)"; \
		for script in $(SCRIPTS); do \
			case "$$(head -n 1 "$$script")" in *bash | */sh | */rc.common) shellcheck "$$script" ;; esac; \
		done; \
	else \
		echo "lint: warning: SCRIPTS NOT CHECKED: no shellcheck" >&2; \
	fi

.PHONY: profile
profile: build ## count again by what the lab's kernel is optimised, after a change of its patches
	@scripts/setup kernel
	scripts/profile

.PHONY: bench
bench: build kernel ## speed and cost, compared with ns-3, iperf3 and irtt
	@scripts/setup bench
	bench/run
	bench/images --build
	bench/cost
	bench/history

.PHONY: atlas
atlas: build kernel ## run all cells of docs/atlas again (half an hour), or SEGMENT=K/N of them into out/atlas
	$(CARGO) build $(CARGO_FLAGS) --release -p pathtwin-atlas
	PATHTWIN=$(PATHTWIN) ATLAS=$(RELEASE)/pathtwin-atlas PATHTWIN_GUEST=$(abspath $(RELEASE))/pathtwin-guest \
		bench/atlas $(SEGMENT)

.PHONY: packages
packages: ## try the packages of make dist in bare systems, SUITES="bookworm trixie" (as root)
	@scripts/setup packages
	scripts/packages $(SUITES)

.PHONY: slurm
slurm: build kernel ## run 2,000 cells on a temporary Slurm cluster (as root)
	@scripts/setup cluster
	PATHTWIN=$(PATHTWIN) bench/slurm $(or $(CELLS),2000)

.PHONY: fuzz
fuzz: ## fuzz every parser for SECONDS each (default 60)
	scripts/fuzz --seconds $(or $(SECONDS),60)

.PHONY: real
real: build ## real tunnels over shapers between namespaces, Tailscale if there is Go (as root, 2 h)
	@scripts/setup real
	bench/real-tailscale/run || [ $$? -eq 3 ]
	bench/real

.PHONY: real-twin
real-twin: build kernel ## remedies that are really set against what twins predict (as root, 1 h)
	@scripts/setup real
	bench/real-twin/run

.PHONY: interruptions
interruptions: build kernel host-kernel ## interrupt CASES (default 1000) changes of random hosts
	PATHTWIN_HOST_KERNEL=$$($(HOST_KERNEL)) PATHTWIN_TUNE_CASES=$(or $(CASES),1000) $(CARGO) test $(CARGO_FLAGS) -p pathtwin-tune --test interruptions

.PHONY: attack
attack: build ## every attack once, then random ones for MINUTES (default 60)
	$(CARGO) build $(CARGO_FLAGS) --release -p pathtwin-attack
	$(RELEASE)/pathtwin-attack table --program $(PATHTWIN)
	$(RELEASE)/pathtwin-attack fuzz --program $(PATHTWIN) --minutes $(or $(MINUTES),60) \
		--messages 100000000 $(if $(SEED),--seed $(SEED))

.PHONY: setup
setup: ## install everything that the other targets need
	scripts/setup build kernel test bench fuzz lint real dist packages

.PHONY: build
build: ## build the programs, optimised, into target/release
	@scripts/setup build
	$(CARGO) build $(CARGO_FLAGS) --release -p pathtwin -p pathtwin-validation -p pathtwin-package
	$(CARGO) build $(CARGO_FLAGS) --release -p pathtwin-guest --target $(MUSL)
	install -C -m 755 $(CARGO_TARGET_DIR)/$(MUSL)/release/pathtwin-guest $(RELEASE)/pathtwin-guest

.PHONY: agent
agent: export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS := $(AGENT_LINK)
agent: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS := $(AGENT_LINK)
agent: ## build the static program for routers, without the lab
	@scripts/setup build
	env -u RUSTFLAGS $(CARGO) build $(CARGO_FLAGS) $(AGENT_FLAGS) $(AGENTS:%=--target %-unknown-linux-musl)
	for agent in $(AGENTS); do \
		built=$(CARGO_TARGET_DIR)/agent-$$agent/pathtwin; \
		install -D -C -m 755 $(CARGO_TARGET_DIR)/$$agent-unknown-linux-musl/agent/pathtwin $$built; \
		echo "$$built: $$(stat -c %s $$built) bytes, at most $(AGENT_LIMIT)"; \
		[ "$$(stat -c %s $$built)" -le $(AGENT_LIMIT) ]; \
	done
	$(CARGO_TARGET_DIR)/agent-x86_64/pathtwin --version

.PHONY: kernel
kernel: build ## build the lab's kernel image, cached until its recipe changes
	@scripts/setup kernel
	env -u MAKELEVEL $(PATHTWIN) lab kernel build

.PHONY: kernels
kernels: kernel ## build an image of SERIES (default 6.12) beside the lab's usual one
	env -u MAKELEVEL $(PATHTWIN) lab kernel build --series $(or $(SERIES),6.12)

.PHONY: host-kernel
host-kernel: kernel ## build the kernel of the guests in which changes of hosts are interrupted
	@scripts/setup test
	$(HOST_KERNEL)

.PHONY: dist
dist: export SOURCE_DATE_EPOCH := $(EPOCH)
dist: kernel agent ## pack a release into out/dist, with checksums
	@scripts/setup dist
	rm -rf out/dist
	PATHTWIN=$(PATHTWIN) scripts/dist
	$(CARGO) build $(CARGO_FLAGS) --release --target $(ARM64) $(ARM64_FLAGS)
	$(PACKAGE) dist --release $(RELEASE) --arm64 $(CARGO_TARGET_DIR)/$(ARM64)/release/pathtwin \
		$(AGENTS:%=--agent $(CARGO_TARGET_DIR)/agent-%/pathtwin)

.PHONY: notes
notes: build ## print the release notes of VERSION (default: of the sources)
	@$(PACKAGE) notes $(VERSION)

.PHONY: install
install: export SOURCE_DATE_EPOCH := $(EPOCH)
install: ## install what make build has built below PREFIX (/usr/local)
	@test -x $(PACKAGE) || { echo "install: run make build first" >&2; exit 3; }
	$(PACKAGE) install --prefix $(PREFIX) $(if $(DESTDIR),--destdir $(DESTDIR)) \
		$(PATHTWIN) $(RELEASE)/pathtwin-guest $(PATHTWIN)-validation

.PHONY: uninstall
uninstall: ## remove what make install has installed
	$(PACKAGE) uninstall --prefix $(PREFIX) $(if $(DESTDIR),--destdir $(DESTDIR))

.PHONY: clean
clean: ## remove build outputs; keep kernel images and cached cells
	$(CARGO) clean
	rm -rf out
